/* The regions of a list that were captured: what each stands for, and where its trace lies. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "simulate/regions.h"

enum { MAX_THREADS = 1 << 22 /* as many as Linux has */ };

uint64_t *region_list_shares(const struct region_list *list) {
    uint64_t *shares = malloc((list->region_count ? list->region_count : 1) * sizeof *shares);
    const uint64_t all = region_list_stands_for(list);
    double sum = 0, upto = 0;
    uint64_t given = 0;
    for (size_t i = 0; i < list->region_count; i++)
        sum += list->regions[i].weight;
    for (size_t i = 0; shares && i < list->region_count; i++) {
        upto += list->regions[i].weight;
        /* The last comes to 1, and is not left to rounding. */
        uint64_t end = i + 1 == list->region_count ? all : (uint64_t)(upto / sum * (double)all);
        if (end < given)
            end = given;
        shares[i] = end - given;
        given = end;
    }
    return shares;
}

uint64_t region_list_work(const struct region_list *list, uint64_t warm) {
    uint64_t sum = 0;
    for (size_t i = 0; i < list->region_count; i++) {
        const struct region *region = &list->regions[i];
        uint64_t before = region->trace_start < warm ? region->trace_start : warm;
        sum += region->trace_end - region->trace_start + before;
    }
    return sum;
}

bool region_list_trace(const struct region_list *list, size_t index, uint64_t share,
                       const char *path, uint64_t warm, char name[REGION_NAME],
                       struct region_trace *trace, struct error *error) {
    const struct region *region = &list->regions[index];
    *trace = (struct region_trace){.path = NULL};
    snprintf(name, REGION_NAME, "region %" PRIu32, region->id);
    if (!region->trace)
        return error_set(error, "%s: %s has no trace (capture it with 'culprit trace --regions')",
                         path, name);
    if (region->thread >= MAX_THREADS)
        return error_set(error, "%s: %s: thread number %" PRIu32 " is absurd", path, name,
                         region->thread);
    *trace = (struct region_trace){.name = name,
                                   .path = region_trace_path(region, path),
                                   .start = region->trace_start,
                                   .end = region_trace_stop(region),
                                   .warm = warm,
                                   .stamped = warm == UINT64_MAX,
                                   .only = 0,
                                   .process = region->process,
                                   .thread = region->thread,
                                   .first = region->first,
                                   .cluster = region->cluster,
                                   .stands_for = share};
    return trace->path || error_set(error, "out of memory for regions");
}

static bool add_listed(struct region_run *run, const struct region_list *list, size_t index,
                       uint64_t share, const char *path, uint64_t warm, struct error *error) {
    char name[REGION_NAME];
    struct region_trace trace;
    const bool good = region_list_trace(list, index, share, path, warm, name, &trace, error) &&
                      region_run_add(run, &trace, error);
    free((char *)trace.path);
    return good;
}

bool region_run_add_list(struct region_run *run, const struct region_list *list, const char *path,
                         uint64_t warm, struct error *error) {
    uint64_t *shares = region_list_shares(list);
    if (!shares)
        return error_set(error, "out of memory for regions");
    bool good = true;
    for (size_t i = 0; good && i < list->region_count; i++)
        good = add_listed(run, list, i, shares[i], path, warm, error);
    free(shares);
    return good;
}
