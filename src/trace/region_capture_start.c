/* What is checked before a capture of regions, what the emulator is asked for, and the end. */
#include "trace/region_capture_parts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "program/elf_image.h"

enum { LEAST_SKIP = 1000000 }; /* instructions: fewer are captured for nothing, but at once */

bool region_capture_out_of_memory(struct error *error) {
    return error_set(error, "out of memory while capturing regions");
}

bool region_capture_changed(const char *path, struct error *error) {
    return error_set(error,
                     "%s is another file than the one that the regions were chosen in (its build "
                     "id differs): profile the command again",
                     path);
}

/* Whether no file at the path of an image has another build id. */
static bool check_files(const struct region_capture_options *options, struct error *error) {
    for (size_t i = 0; i < options->image_count; i++) {
        const struct capture_image *image = &options->images[i];
        struct elf_image file = {0};
        struct error ignored;
        if (*image->path != '/' || !elf_image_open(&file, image->path, &ignored))
            continue;
        uint8_t id[sizeof image->build_id] = {0};
        size_t size = file.build_id_size < sizeof id ? file.build_id_size : sizeof id;
        memcpy(id, file.build_id, size);
        elf_image_close(&file);
        if (capture_image_match(image, image->path, id, (uint8_t)size) == CAPTURE_CHANGED)
            return region_capture_changed(image->path, error);
    }
    return true;
}

static bool list_markers(struct region_capture *capture, struct capture_markers *markers,
                         struct error *error) {
    const struct region_windows *windows = &capture->windows;
    capture->markers = calloc(2 * windows->count + 1, sizeof *capture->markers);
    capture->marked = calloc(2 * windows->count + 1, sizeof *capture->marked);
    if (!capture->markers || !capture->marked)
        return region_capture_out_of_memory(error);
    *markers = (struct capture_markers){.processes = capture->options.processes,
                                        .process_count = capture->options.process_count,
                                        .images = capture->options.images,
                                        .image_count = capture->options.image_count,
                                        .markers = capture->markers,
                                        .all_threads = capture->options.other_threads > 0};
    for (size_t i = 0; i < 2 * windows->count; i++) {
        const struct capture_region *region = &windows->regions[i / 2];
        const struct capture_marker *marker = i % 2 ? &region->end : &region->start;
        if (!marker->count && i % 2 == 0)
            return error_set(error,
                             "region %" PRIu32 " has no markers (its profile had no file of "
                             "slices): it cannot be found in a run",
                             region->id);
        if (!marker->count)
            continue;
        capture->marked[markers->count] = (uint32_t)i;
        capture->markers[markers->count] = *marker;
        capture->markers[markers->count].process = region->process;
        capture->markers[markers->count++].thread = region->ordinal;
    }
    return true;
}

static bool prepare(struct region_capture *capture, struct capture_region *regions, size_t count,
                    struct capture_markers *markers, struct error *error) {
    if (count < 1 || count > REGION_CAPTURE_MAX)
        return error_set(error, "%zu regions: 1 to %d can be captured at once", count,
                         REGION_CAPTURE_MAX);
    for (size_t i = 0; i < count; i++) {
        regions[i].state = REGION_AWAITED;
        regions[i].started = regions[i].ended = false;
        regions[i].failure[0] = 0;
    }
    capture->windows = (struct region_windows){.regions = regions,
                                               .count = count,
                                               .images = capture->options.images,
                                               .image_count = capture->options.image_count,
                                               .warm_up = capture->options.warm_up,
                                               .told = capture->options.before != NULL,
                                               .written = capture->options.written};
    capture->writers = calloc(count, sizeof *capture->writers);
    if (capture->options.before && !(capture->held = calloc(count, sizeof *capture->held)))
        return region_capture_out_of_memory(error);
    return capture->writers ? region_windows_init(&capture->windows, error) &&
                                  list_markers(capture, markers, error)
                            : region_capture_out_of_memory(error);
}

static struct region_capture *begin(const struct region_capture_options *options,
                                    struct capture_region *regions, size_t count,
                                    struct capture_markers *markers, struct error *error) {
    struct region_capture *capture = calloc(1, sizeof *capture);
    if (!capture) {
        region_capture_out_of_memory(error);
        return NULL;
    }
    capture->options = *options;
    if (prepare(capture, regions, count, markers, error))
        return capture;
    region_capture_close(capture);
    return NULL;
}

struct region_capture *region_capture_from(const struct region_capture_options *options,
                                           struct capture_region *regions, size_t count,
                                           const struct item_source *source, struct error *error) {
    struct capture_markers markers;
    struct region_capture *capture = begin(options, regions, count, &markers, error);
    if (!capture) {
        source->close(source->context);
        return NULL;
    }
    capture->source = *source;
    capture->started = true;
    return capture;
}

struct region_capture *region_capture_start(const struct region_capture_options *options,
                                            struct capture_region *regions, size_t count,
                                            int *exec_status, struct error *error) {
    struct capture_markers markers;
    *exec_status = 125;
    if (!check_files(options, error))
        return NULL;
    struct region_capture *capture = begin(options, regions, count, &markers, error);
    if (!capture)
        return NULL;
    struct capture_options what = options->capture;
    uint64_t skip = region_windows_skip(&capture->windows);
    what.skip = skip < LEAST_SKIP ? 0 : skip;
    what.addresses = true;
    what.limit = 0;
    what.from_symbol = NULL;
    what.thread = -1;
    what.markers = &markers;
    capture->progress.instructions = what.skip;
    if (capture_start(&what, &capture->source, exec_status, error)) {
        capture->started = true;
        return capture;
    }
    region_capture_close(capture);
    return NULL;
}

void region_capture_close(struct region_capture *capture) {
    if (!capture)
        return;
    if (capture->started)
        capture->source.close(capture->source.context);
    for (size_t i = 0; capture->writers && i < capture->windows.count; i++)
        region_writer_discard(&capture->writers[i]);
    for (size_t i = 0; capture->held && i < capture->windows.count; i++)
        held_chunks_free(&capture->held[i]);
    free(capture->held);
    for (size_t i = 0; i < capture->process_count; i++)
        kept_process_free(capture->processes[i].kept);
    event_queue_free(&capture->events);
    free(capture->taken);
    free(capture->processes);
    free(capture->threads);
    free(capture->writers);
    free(capture->markers);
    free(capture->marked);
    free((char *)capture->header.command);
    free((char *)capture->header.host);
    region_windows_free(&capture->windows);
    free(capture->symbols);
    arena_free(&capture->names);
    free(capture);
}
