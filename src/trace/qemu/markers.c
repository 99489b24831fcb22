/* Markers are sorted by process, thread, image, offset and count; equal ones share a target, those
 * of one instruction a site. */
#include "trace/qemu/markers.h"

#include <stdlib.h>
#include <string.h>

#include "util/array.h"
#include "util/order.h"

enum capture_match capture_image_match(const struct capture_image *image, const char *path,
                                       const uint8_t *build_id, uint8_t build_id_size) {
    bool same_id = image->build_id_size == build_id_size &&
                   memcmp(image->build_id, build_id, build_id_size) == 0;
    bool same_path = strcmp(image->path, path) == 0;
    if (same_id && (build_id_size || same_path))
        return CAPTURE_SAME;
    return same_path ? CAPTURE_CHANGED : CAPTURE_OTHER;
}

/* The number of the first image that the list gives as the same. */
static uint32_t same_image(const struct markers *markers, uint32_t image) {
    const struct capture_image *images = markers->images;
    for (uint32_t i = 0; i < image && image < markers->image_count; i++)
        if (capture_image_match(&images[i], images[image].path, images[image].build_id,
                                images[image].build_id_size) == CAPTURE_SAME)
            return i;
    return image;
}

uint32_t markers_image(const struct markers *markers, const struct image *image) {
    if (!image)
        return (uint32_t)markers->image_count;
    const size_t i =
        index_where(k, markers->image_count,
                    capture_image_match(&markers->images[k], image->path, image->build_id,
                                        image->build_id_size) == CAPTURE_SAME);
    return i < markers->image_count ? (uint32_t)i : RING_UNMARKED;
}

/* ---- the plugin's tables ---- */

struct entry {
    struct ring_site site;
    struct ring_target target;
    uint32_t marker;
};

ORDER(by_site, struct entry,
      ascending(a->site.image, b->site.image) ?: ascending(a->site.offset, b->site.offset))

static int compare_targets(const struct ring_target *a, const struct ring_target *b) {
    return ascending(a->process, b->process) ?: ascending(a->thread, b->thread) ?:
           ascending(a->site, b->site) ?: ascending(a->count, b->count);
}

/* Equal markers are reported in the caller's order. */
ORDER(by_target, struct entry,
      compare_targets(&a->target, &b->target) ?: ascending(a->marker, b->marker))

static void number_sites(struct ring_control *control, struct entry *entries, size_t count) {
    struct ring_site *sites = ring_sites(control);
    qsort(entries, count, sizeof *entries, by_site);
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || by_site(&entries[i - 1], &entries[i]) != 0)
            sites[control->site_count++] = entries[i].site;
        entries[i].target.site = control->site_count - 1;
    }
}

static void number_targets(struct markers *markers, struct ring_control *control,
                           struct entry *entries, size_t count) {
    struct ring_target *targets = ring_targets(control);
    qsort(entries, count, sizeof *entries, by_target);
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || compare_targets(&entries[i - 1].target, &entries[i].target) != 0) {
            markers->first[control->target_count] = (uint32_t)i;
            targets[control->target_count++] = entries[i].target;
        }
        markers->order[i] = entries[i].marker;
    }
    markers->target_count = control->target_count;
    markers->first[markers->target_count] = (uint32_t)count;
}

bool markers_start(struct markers *markers, const struct capture_markers *wanted,
                   struct ring_control *control, struct error *error) {
    size_t count = wanted->count;
    if (count > RING_MARKERS)
        return error_set(error, "%zu markers are too many at once: at most %d", count,
                         RING_MARKERS);
    struct entry *entries = calloc(count + 1, sizeof *entries);
    *markers = (struct markers){.images = wanted->images, .image_count = wanted->image_count};
    markers->order = calloc(count + 1, sizeof *markers->order);
    markers->first = calloc(count + 2, sizeof *markers->first);
    if (!entries || !markers->order || !markers->first) {
        free(entries);
        markers_free(markers);
        return error_set(error, "out of memory for markers");
    }
    for (size_t i = 0; i < count; i++) {
        const struct capture_marker *marker = &wanted->markers[i];
        uint32_t image = marker->image < wanted->image_count ? same_image(markers, marker->image)
                                                             : (uint32_t)wanted->image_count;
        entries[i] = (struct entry){.site = {.image = image, .offset = marker->offset},
                                    .target = {.process = marker->process,
                                               .thread = marker->thread,
                                               .count = marker->count},
                                    .marker = (uint32_t)i};
    }
    number_sites(control, entries, count);
    number_targets(markers, control, entries, count);
    free(entries);
    if (process_match_init(&markers->processes, wanted->processes, wanted->process_count))
        return true;
    markers_free(markers);
    return error_set(error, "out of memory for markers");
}

void markers_free(struct markers *markers) {
    free(markers->order);
    free(markers->first);
    process_match_free(&markers->processes);
    *markers = (struct markers){0};
}
