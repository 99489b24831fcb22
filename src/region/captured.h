/* Lists of regions as a simulation needs them: of one run, or of several that were merged when
 * their regions were chosen (PinPoints §4.4), and what stands for regions that were not captured.
 */
#pragma once

#include "region/regions.h"

/* Regions without a trace: the run that was captured went another way than the one profiled. */
struct regions_lost {
    uint32_t count;
    double share; /* of what the list's regions stand for, 0 to 1 */
};

/* The share of a run that may be lost when other regions like the lost ones can stand for them.
 * Slices of one cluster differ by some 10 % in cycles per instruction, so to have a quarter of the
 * run told by others costs 2 to 3 %, which is what systematic sampling leaves open too. */
#define REGIONS_MOST_LOST 0.25

struct regions_lost region_list_lost(const struct region_list *list);
/* Whether the others can stand for them (REGIONS_MOST_LOST). A list does not say which regions are
 * alike, so that the others stand for it each by its weight. */
bool region_list_can_spare(const struct regions_lost *lost);

/* Takes the regions without a trace out of a list read from `path`, and lets the others stand for
 * them; *lost: what they were. Fails when that is too much. */
bool region_list_do_without(struct region_list *list, const char *path, struct regions_lost *lost,
                            struct error *error);

/* Whether these lists, read from these paths, stand for all together: one list of one run, or one
 * of every merged run that has regions; programs of one architecture. */
bool region_lists_are_whole(const struct region_list *lists, const char *const *paths,
                            uint32_t count, struct error *error);
