#include "query/missing_slices.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct told_apart {
    bool pid, thread, processor, cgroup;
    int64_t begin, end; /* of all samples: ns since 1970 */
};

static bool wants_none(void *context, const struct store_image *image) {
    (void)context, (void)image;
    return false;
}

static bool look(void *context, const struct store_profile *profile) {
    struct told_apart *told = context;
    const struct store_slice *slice = &profile->process->slice;
    told->pid |= slice->pid;
    told->thread |= slice->thread;
    told->processor |= slice->processor;
    told->cgroup |= slice->cgroup[0];
    if (slice->begin && (!told->begin || slice->begin < told->begin))
        told->begin = slice->begin;
    if (slice->end > told->end)
        told->end = slice->end;
    return true;
}

bool missing_slices(const struct profile_set *set, struct error *error) {
    const struct sample_choice *choice = &set->choice;
    struct told_apart told = {0};
    struct store_filter filter = profile_set_filter(set, NULL);
    filter.choice = NULL;
    filter.wants_values = wants_none;
    filter.context = &told;
    if (!store_each_profile(set->store, &filter, look, &told, error))
        return false;
    const char *by = choice->pid && !told.pid               ? "pid"
                     : choice->thread && !told.thread       ? "thread"
                     : choice->processor && !told.processor ? "cpu"
                     : choice->cgroup && !told.cgroup       ? "cgroup"
                                                            : NULL;
    if (by)
        return error_set(error,
                         "%s: its samples are not told apart by %s (record and daemon do with "
                         "--slices %s)",
                         set->label, by, by);
    if ((choice->since || choice->until) && !told.begin)
        return error_set(error,
                         "%s: its samples are not told apart by time, and as a whole they "
                         "lie outside of what is asked for",
                         set->label);
    return error_set(error, "%s: no such samples (see 'culprit top --by pid', thread, cpu, cgroup)",
                     set->label);
}
