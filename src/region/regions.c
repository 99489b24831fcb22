/* Lists of regions in memory: images, where threads come from, what regions stand for. Their file:
 * regions_read.c, regions_write.c. */
#include "region/regions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/array.h"

uint32_t region_list_image(struct region_list *list, const struct region_image *image) {
    return region_images_find(&list->images, &list->image_count, &list->image_capacity, image);
}

void region_list_free(struct region_list *list) {
    for (size_t i = 0; i < list->region_count; i++)
        free(list->regions[i].trace);
    region_images_free(list->images, list->image_count);
    slice_processes_free(list->processes, list->process_count);
    free(list->threads);
    free(list->regions);
    free(list->command);
    free(list->method);
    *list = (struct region_list){0};
}

/* ---- origins ---- */

static const struct slice_thread *find_thread(const struct region_list *list, uint32_t number) {
    const size_t i = index_where(k, list->thread_count, list->threads[k].thread == number);
    return i < list->thread_count ? &list->threads[i] : NULL;
}

bool region_list_has_origins(const struct region_list *list) {
    for (size_t i = 0; i < list->region_count; i++) {
        const struct region *region = &list->regions[i];
        const struct slice_thread *thread = find_thread(list, region->thread);
        if (!thread || thread->process != region->process ||
            region->process >= list->process_count || !list->processes[region->process].command)
            return false;
    }
    return true;
}

/* In older lists: the command's own threads by number, those of others as if the first of them had
 * regions. */
uint32_t region_list_ordinal(const struct region_list *list, const struct region *region) {
    const struct slice_thread *thread = find_thread(list, region->thread);
    uint32_t first = region->process ? region->thread : 0;
    if (thread)
        return thread->ordinal;
    for (size_t i = 0; i < list->region_count; i++)
        if (list->regions[i].process == region->process && list->regions[i].thread < first)
            first = list->regions[i].thread;
    return region->thread - first;
}

/* ---- regions ---- */

double region_list_weights(const struct region_list *list) {
    return sum_over(double, i, list->region_count, list->regions[i].weight);
}

uint64_t region_list_stands_for(const struct region_list *list) {
    return list->runs ? (uint64_t)round(region_list_weights(list) * (double)list->all_instructions)
                      : list->instructions;
}

char *region_trace_path(const struct region *region, const char *list_path) {
    const char *slash = strrchr(list_path, '/');
    char *joined;
    if (region->trace[0] == '/' || !slash)
        return strdup(region->trace);
    return asprintf(&joined, "%.*s/%s", (int)(slash - list_path), list_path, region->trace) < 0
               ? NULL
               : joined;
}

/* One that has no end marker was captured to the end of its thread, which may come later than in
 * the run that was profiled, or limited. */
uint64_t region_trace_stop(const struct region *region) {
    const uint64_t left = region->trace_end - region->trace_start;
    return !region->end.count && region->instructions < left
               ? region->trace_start + region->instructions
               : region->trace_end;
}
