/* Who called whom in two profiles. */
#include <stdio.h>

#include "query/profile_diff.h"

static void name_unit(const struct profile_diff *diff, char *unit, size_t size) {
    const char *of = diff->events[0].unit;
    if (diff->measure == DIFF_SHARE)
        snprintf(unit, size, "%% of all %s", of);
    else
        snprintf(unit, size, "%s%s", of, diff->measure == DIFF_RATE ? " a second" : "");
}

bool profile_diff_calls(const struct profile_diff *diff, const char *process,
                        struct program *program, struct call_difference *calls,
                        struct error *error) {
    bool good = true;
    name_unit(diff, calls->unit, sizeof calls->unit);
    for (unsigned side = 0; good && side < 2; side++) {
        struct call_profile profile = {0};
        struct error none; /* there are no stacks */
        const struct call_query query = {.process = process, .event = &diff->events[side]};
        if (call_profile_read(&profile, &diff->sets[side], &query, program, &none))
            good = call_difference_add(calls, side, &profile, error);
        call_profile_free(&profile);
        calls->scales[side] = diff->scales[side];
    }
    return good;
}
