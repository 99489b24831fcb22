/* A source between the file and the capture, which tells of each marker before the chunk that holds
 * its position, as a live capture does. */
#include "trace/region_file.h"

#include <stdlib.h>

#include "trace/region_source.h"

struct marked {
    struct item_source file;
    struct point {
        uint32_t thread, marker;
        uint64_t position;
        bool told;
    } * points; /* in the order of the run */
    size_t point_count;
    struct item data;
    bool holding; /* `data` is still to be given */
};

/* The next point in the chunk that is held; NULL: there is none. */
static const struct point *next_point(struct marked *marked) {
    const struct item_data *data = &marked->data.data;
    for (size_t i = 0; i < marked->point_count; i++) {
        struct point *point = &marked->points[i];
        if (!point->told && point->thread == data->thread && point->position >= data->first_insn &&
            point->position - data->first_insn < data->insn_count) {
            point->told = true;
            return point;
        }
    }
    return NULL;
}

static int marked_next(void *context, struct item *item, struct error *error) {
    struct marked *marked = context;
    if (!marked->holding) {
        int status = marked->file.next(marked->file.context, item, error);
        if (status <= 0 || item->kind != ITEM_DATA)
            return status;
        marked->data = *item;
        marked->holding = true;
    }
    const struct point *point = next_point(marked);
    if (point) {
        *item = (struct item){.kind = ITEM_MARKER, .marker = {point->marker, point->position}};
        return 1;
    }
    marked->holding = false;
    *item = marked->data;
    return 1;
}

static void marked_where(void *context, char *text, size_t text_size) {
    const struct marked *marked = context;
    marked->file.where(marked->file.context, text, text_size);
}

static void marked_interrupt(void *context) {
    const struct marked *marked = context;
    marked->file.interrupt(marked->file.context);
}

static void marked_close(void *context) {
    struct marked *marked = context;
    marked->file.close(marked->file.context);
    free(marked->points);
    free(marked);
}

/* Numbered as region_capture_from() wants them: of each region the start and, if it has one, the
 * end. */
static void set_points(struct marked *marked, struct capture_region *regions, size_t count) {
    uint32_t marker = 0;
    for (size_t i = 0; i < count; i++) {
        struct capture_region *region = &regions[i];
        region->start.count += region->start.count == 0; /* nobody counts */
        marked->points[marked->point_count++] =
            (struct point){region->thread, marker++, region->first, false};
        if (region->end.count)
            marked->points[marked->point_count++] = (struct point){
                region->thread, marker++, region->first + region->instructions, false};
    }
}

struct region_capture *region_capture_file(const struct region_capture_options *options,
                                           struct capture_region *regions, size_t count,
                                           const char *path, struct error *error) {
    struct marked *marked = calloc(1, sizeof *marked);
    if (marked)
        marked->points = calloc(2 * count + 1, sizeof *marked->points);
    if (!marked || !marked->points) {
        free(marked);
        return error_null(error, "out of memory for regions");
    }
    if (!file_source_open(path, &marked->file, error)) {
        free(marked->points);
        free(marked);
        return NULL;
    }
    set_points(marked, regions, count);
    const struct item_source source = {.next = marked_next,
                                       .where = marked_where,
                                       .interrupt = marked_interrupt,
                                       .close = marked_close,
                                       .context = marked};
    return region_capture_from(options, regions, count, &source, error);
}
