/* How many µops enter the core per cycle: as many as of the mix of which most do. */
#include <stdio.h>

#include "calibrate/dispatch.h"
#include "calibrate/parts.h"

static void conclude(struct finding *width, const struct dispatch *dispatch, bool simulated) {
    width->spread = 0;
    width->value = dispatch->width;
    if (!dispatch->whole) {
        width->state = FINDING_UNKNOWN;
        snprintf(width->note, sizeof width->note, "%s",
                 simulated ? "no mix of instructions comes near a whole number"
                           : "no whole number: another thread of the core has its part");
    } else if (dispatch->no_ops_share) {
        snprintf(width->note, sizeof width->note, "no-ops share µops");
    }
}

static bool run(struct calibration *calibration, struct error *error) {
    static const char *const WHAT[MIXES] = {"no-ops",
                                            "additions",
                                            "moves",
                                            "zeroing",
                                            "additions and no-ops",
                                            "additions of vectors",
                                            "additions, of integers and vectors"};
    struct finding width = {.key = "core.dispatch_width", .what = "dispatch width", .unit = "µops"};
    struct dispatch dispatch = {0};
    if (!dispatch_measure(calibration, &dispatch, error))
        return false;
    for (unsigned mix = 0; mix < MIXES; mix++) {
        struct finding finding = {.what = WHAT[mix], .unit = "per cycle"};
        if (finding_rests_on(&finding, &dispatch.results[mix], 1)) {
            finding.value = 1 / dispatch.results[mix].cycles;
            finding.spread *= finding.value / dispatch.results[mix].cycles;
        }
        calibration_found(calibration, &finding);
    }
    if (finding_rests_on(&width, dispatch.results, 1))
        conclude(&width, &dispatch, calibration->meter->simulated);
    calibration_found(calibration, &width);
    return true;
}

static const char *const KEYS[] = {"core.dispatch_width", NULL};
const struct calibrate_part calibrate_width = {.name = "width",
                                               .measures =
                                                   "instructions per cycle that wait for nothing",
                                               .keys = KEYS,
                                               .run = run};
