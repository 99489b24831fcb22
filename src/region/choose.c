/* A region begins at the marker of its first slice and ends at that of the slice that follows it in
 * its thread. */
#include "region/choose.h"

#include <stdlib.h>
#include <string.h>

#include "util/array.h"
#include "util/order.h"

static int by_slice(const void *a, const void *b) {
    uint32_t x = ((const struct region_point *)a)->slice;
    uint32_t y = ((const struct region_point *)b)->slice;
    return ascending(x, y);
}

static bool take_marker(struct region_list *list, const struct slice_table *table, size_t slice,
                        struct region_marker *marker) {
    *marker = table->slices[slice].start;
    if (marker->image == MARKER_NO_IMAGE)
        return true;
    marker->image = region_list_image(list, &table->images[marker->image]);
    return marker->image != UINT32_MAX;
}

/* The markers of a region; a run without a table has none. */
static bool take_markers(struct region_list *list, const struct profiled_run *run,
                         const struct run_slice *slice, struct region *region) {
    const struct slice_table *table = &run->table;
    region->start.image = region->end.image = MARKER_NO_IMAGE;
    if (!table->slices)
        return true;
    size_t next = (size_t)slice->first_slice + slice->slice_count;
    const struct slice_place *after = next < table->slice_count ? &table->slices[next] : NULL;
    bool goes_on = after && after->process == slice->process && after->thread == slice->thread &&
                   after->first == slice->first + slice->instructions;
    return take_marker(list, table, slice->first_slice, &region->start) &&
           (!goes_on || take_marker(list, table, next, &region->end));
}

static bool add_region(struct region_list *list, const struct profiled_runs *profile,
                       const struct region_point *point, uint64_t total) {
    const struct run_slice *slice = &profile->slices[point->slice];
    const struct profiled_run *run = &profile->runs[slice->run];
    struct region *region = &list->regions[list->region_count++];
    *region = (struct region){.id = (uint32_t)list->region_count,
                              .cluster = point->whole,
                              .slice = slice->first_slice,
                              .process = slice->process,
                              .thread = slice->thread,
                              .first = slice->first,
                              .instructions = slice->instructions,
                              .weight = point->weight};
    region->multiplier = point->weight * (double)total / (double)slice->instructions;
    return take_markers(list, run, slice, region);
}

static const struct slice_thread *find_thread(const struct slice_table *table, uint32_t number) {
    const size_t i = index_where(k, table->thread_count, table->threads[k].thread == number);
    return i < table->thread_count ? &table->threads[i] : NULL;
}

/* Processes, all of them, for among those that are alike the order tells; and the regions' threads.
 */
static bool add_origins(struct region_list *list, const struct slice_table *table) {
    list->processes = calloc(table->process_count + 1, sizeof *list->processes);
    list->threads = calloc(list->region_count + 1, sizeof *list->threads);
    if (!list->processes || !list->threads)
        return false;
    for (size_t i = 0; i < table->process_count; i++) {
        struct slice_process *process = &list->processes[list->process_count++];
        *process = table->processes[i];
        process->executable = strdup(process->executable);
        process->command = process->command ? strdup(process->command) : NULL;
        if (!process->executable || (table->processes[i].command && !process->command))
            return false;
    }
    uint32_t last = UINT32_MAX; /* regions are in the order of slices: thread by thread */
    for (size_t i = 0; i < list->region_count; i++) {
        const struct slice_thread *thread = find_thread(table, list->regions[i].thread);
        if (thread && thread->thread != last)
            list->threads[list->thread_count++] = *thread;
        last = list->regions[i].thread;
    }
    return true;
}

static bool begin_list(struct region_list *list, const struct profiled_runs *profile,
                       const struct profiled_run *run, uint32_t count, const char *method) {
    const struct run_slice *last = &profile->slices[run->first + run->count - 1];
    *list = (struct region_list){
        .isa = run->has_table ? run->table.isa : ISA_X86_64,
        .command = strdup(run->has_table ? run->table.command : ""),
        .method = strdup(method),
        .instructions = run->instructions,
        .slice_count = (uint64_t)last->first_slice + last->slice_count,
        .regions = calloc(count + 1, sizeof *list->regions),
        .region_capacity = count + 1,
    };
    return list->command && list->method && list->regions;
}

bool region_list_build(struct region_list *list, const struct profiled_runs *profile, uint32_t run,
                       const struct region_point *points, uint32_t count, const char *method,
                       struct error *error) {
    const struct profiled_run *of = &profile->runs[run];
    struct region_point *order = malloc((count + 1) * sizeof *order);
    const uint64_t total = profiled_runs_instructions(profile);
    bool good = begin_list(list, profile, of, count, method) && order;
    if (good && profile->run_count > 1) {
        list->run = run;
        list->runs = (uint32_t)profile->run_count;
        list->all_instructions = total;
    }
    double sum = 0;
    for (uint32_t i = 0; i < count && good; i++)
        sum += (order[i] = points[i]).weight;
    for (uint32_t i = 0; i < count && good; i++)
        order[i].weight /= sum;
    if (good)
        qsort(order, count, sizeof *order, by_slice);
    for (uint32_t i = 0; i < count && good; i++)
        if (profile->slices[order[i].slice].run == run)
            good = add_region(list, profile, &order[i], total);
    good = good && (!of->has_table || !of->table.thread_count || add_origins(list, &of->table));
    free(order);
    if (!good)
        return error_set(error, "out of memory for %u regions", count);
    return list->region_count || error_set(error, "%s: no region lies in this run", of->path);
}

bool region_list_choose(struct region_list *list, const char *vectors,
                        const struct choose_settings *settings, struct error *error) {
    struct profiled_runs profile;
    struct region_choice choice = {0};
    *list = (struct region_list){0};
    profiled_runs_init(&profile, settings->dimensions, settings->selection.clusters.seed, false);
    bool good = profiled_runs_add(&profile, vectors, error);
    if (good) {
        profiled_runs_merge_slices(&profile, settings->merge_slices);
        good = selection_choose(&profile, &settings->selection, &choice, error) &&
               region_list_build(list, &profile, 0, choice.points, choice.point_count,
                                 SELECTION_METHODS[settings->selection.method], error);
    }
    region_choice_free(&choice);
    profiled_runs_free(&profile);
    return good;
}
