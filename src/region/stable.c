/* The other profile's slices are sorted by marker, with images numbered as in the first one, and
 * each marker of the first is looked up among them. */
#include "region/stable.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct place {
    uint32_t thread, image;
    uint64_t offset, count;
    uint64_t first;
};

static bool same_image(const struct region_image *a, const struct region_image *b) {
    if (a->build_id_size || b->build_id_size)
        return a->build_id_size == b->build_id_size &&
               memcmp(a->build_id, b->build_id, a->build_id_size) == 0;
    return strcmp(a->path, b->path) == 0;
}

/* The number of an image in a table: the first that is the same; MARKER_NO_IMAGE for code that lies
 * in no file; `none` when the table lacks it. */
static uint32_t number_image(const struct slice_table *table, const struct slice_table *from,
                             uint32_t image, uint32_t none) {
    if (image >= from->image_count)
        return MARKER_NO_IMAGE;
    for (uint32_t i = 0; i < table->image_count; i++)
        if (same_image(&table->images[i], &from->images[image]))
            return i;
    return none;
}

static int compare(const void *first, const void *second) {
    const struct place *a = first, *b = second;
    if (a->thread != b->thread)
        return a->thread < b->thread ? -1 : 1;
    if (a->image != b->image)
        return a->image < b->image ? -1 : 1;
    if (a->offset != b->offset)
        return a->offset < b->offset ? -1 : 1;
    return (a->count > b->count) - (a->count < b->count);
}

static struct place place_of(const struct slice_place *slice, const uint32_t *images,
                             size_t image_count) {
    return (struct place){.thread = slice->thread,
                          .image = slice->start.image < image_count ? images[slice->start.image]
                                                                    : MARKER_NO_IMAGE,
                          .offset = slice->start.offset,
                          .count = slice->start.count,
                          .first = slice->first};
}

static struct slice_confirmation confirm(const struct place *place, const struct place *found) {
    if (!found)
        return (struct slice_confirmation){.stability = SLICE_LOST};
    int64_t skew = (int64_t)(found->first - place->first);
    return (struct slice_confirmation){skew ? SLICE_MOVED : SLICE_STABLE, skew};
}

/* For each image of a table its number in `profile`; NULL: out of memory. */
static uint32_t *number_images(const struct slice_table *profile, const struct slice_table *table) {
    uint32_t *numbers = calloc(table->image_count + 1, sizeof *numbers);
    for (uint32_t i = 0; numbers && i < table->image_count; i++)
        numbers[i] = number_image(profile, table, i, (uint32_t)profile->image_count);
    return numbers;
}

bool slices_confirm(const struct slice_table *profile, const struct slice_table *other,
                    struct slice_confirmations *confirmations, struct error *error) {
    *confirmations = (struct slice_confirmations){0};
    if (profile->isa != other->isa)
        return error_set(error, "the two profiles are of different instruction sets");
    if (profile->size != other->size)
        return error_set(error,
                         "slices of %" PRIu64 " and of %" PRIu64
                         " instructions cannot be compared: profile with the same --size",
                         profile->size, other->size);
    uint32_t *own = number_images(profile, profile), *theirs = number_images(profile, other);
    struct place *places = calloc(other->slice_count + 1, sizeof *places);
    confirmations->slices = calloc(profile->slice_count + 1, sizeof *confirmations->slices);
    bool room = own && theirs && places && confirmations->slices;
    for (size_t i = 0; room && i < other->slice_count; i++)
        places[i] = place_of(&other->slices[i], theirs, other->image_count);
    if (room)
        qsort(places, other->slice_count, sizeof *places, compare);
    for (size_t i = 0; room && i < profile->slice_count; i++) {
        struct place place = place_of(&profile->slices[i], own, profile->image_count);
        struct slice_confirmation *slice = &confirmations->slices[i];
        *slice =
            confirm(&place, bsearch(&place, places, other->slice_count, sizeof *places, compare));
        confirmations->stable += slice->stability == SLICE_STABLE;
        confirmations->moved += slice->stability == SLICE_MOVED;
        confirmations->lost += slice->stability == SLICE_LOST;
    }
    free(own);
    free(theirs);
    free(places);
    return room || error_set(error, "out of memory for %zu slices", profile->slice_count);
}

void slice_confirmations_free(struct slice_confirmations *confirmations) {
    free(confirmations->slices);
    *confirmations = (struct slice_confirmations){0};
}
