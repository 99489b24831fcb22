/* The search and the points of its outcome are trials.c. */
#include "region/points.h"

#include <stdlib.h>

#include "region/trials.h"

bool region_choose(const struct projection *slices, const struct region_settings *settings,
                   struct region_choice *choice, struct error *error) {
    struct trials trials;
    *choice = (struct region_choice){0};
    bool good =
        trials_init(&trials, slices, settings, error) &&
        trials_search(&trials, settings->max_clusters, settings->threshold, choice, error) &&
        trials_take(&trials, choice->tried[choice->chosen].clusters, choice, error);
    trials_free(&trials);
    if (!good)
        region_choice_free(choice);
    return good;
}

void region_choice_free(struct region_choice *choice) {
    free(choice->points);
    free(choice->labels);
    *choice = (struct region_choice){0};
}
