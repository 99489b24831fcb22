#include "region/captured.h"

#include <inttypes.h>
#include <math.h>

struct regions_lost region_list_lost(const struct region_list *list) {
    struct regions_lost lost = {0};
    double sum = 0;
    for (size_t i = 0; i < list->region_count; i++) {
        const struct region *region = &list->regions[i];
        sum += region->weight;
        lost.count += !region->trace;
        lost.share += region->trace ? 0 : region->weight;
    }
    lost.share = sum > 0 ? lost.share / sum : 0;
    return lost;
}

bool region_list_can_spare(const struct regions_lost *lost) {
    return lost->share <= REGIONS_MOST_LOST;
}

bool region_list_do_without(struct region_list *list, const char *path, struct regions_lost *lost,
                            struct error *error) {
    *lost = region_list_lost(list);
    if (lost->count == list->region_count)
        return error_set(
            error, "%s: no region has a trace (capture them with 'culprit trace --regions')", path);
    if (!region_list_can_spare(lost))
        return error_set(error,
                         "%s: %" PRIu32 " of %zu regions have no trace, %.0f %% of the run, which "
                         "is too much to do without (capture them again with 'culprit trace "
                         "--regions')",
                         path, lost->count, list->region_count, 100 * lost->share);
    size_t kept = 0;
    for (size_t i = 0; i < list->region_count; i++) {
        struct region *region = &list->regions[i];
        if (!region->trace)
            continue;
        region->weight /= 1 - lost->share;
        region->multiplier /= 1 - lost->share;
        list->regions[kept++] = *region;
    }
    list->region_count = kept;
    return true;
}

static bool are_of_one_choice(const struct region_list *lists, const char *const *paths,
                              uint32_t count, struct error *error) {
    for (uint32_t i = 0; i < count; i++) {
        if (lists[i].isa != lists[0].isa)
            return error_set(error, "%s and %s are of different architectures", paths[0], paths[i]);
        if (count > 1 && lists[i].runs <= 1)
            return error_set(error,
                             "%s: its weights are of its own run alone; lists to be combined are "
                             "chosen with 'culprit regions --merge'",
                             paths[i]);
        if (lists[i].runs != lists[0].runs ||
            lists[i].all_instructions != lists[0].all_instructions)
            return error_set(error, "%s and %s are not of the same merged runs", paths[0],
                             paths[i]);
        for (uint32_t k = 0; k < i; k++)
            if (lists[k].run == lists[i].run)
                return error_set(error, "%s and %s are both of run %" PRIu32, paths[k], paths[i],
                                 lists[i].run);
    }
    return true;
}

bool region_lists_are_whole(const struct region_list *lists, const char *const *paths,
                            uint32_t count, struct error *error) {
    double sum = 0;
    if (!are_of_one_choice(lists, paths, count, error))
        return false;
    for (uint32_t i = 0; i < count; i++)
        for (size_t k = 0; k < lists[i].region_count; k++)
            sum += lists[i].regions[k].weight;
    return fabs(sum - 1) <= REGIONS_WEIGHTS_OFF ||
           error_set(error,
                     "%s%s: regions that stand for %.1f %% of %" PRIu32 " merged runs: the lists "
                     "of the others are missing",
                     paths[0], count > 1 ? " and others" : "", 100 * sum, lists[0].runs);
}
