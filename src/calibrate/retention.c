/* What others leave of the last cache (memory/retention.h), from how many lines are still there
 * after a wait.
 *
 * Of lines that were loaded once, those that are there at once were admitted; of those that were
 * not, readmission is the part that is there after the second load. After four loads nearly all
 * were used there. Half of the lines are gone after the retention, by straight lines between the
 * waits. */
#include <math.h>
#include <stdio.h>

#include "calibrate/parts.h"
#include "host/retention.h"

/* Cycles are told in millions: they vary with what others do. */
static const double WHOLE = 1e6;

/* Of lines that were loaded four times, so many are there at once, where anything can be said. */
static const double MOST_ARE_THERE = 0.5;

/* Cycles after which half of the lines that were there at once are gone; INFINITY: they are not,
 * after the longest wait. */
static double half_life(const struct host_retention *retention, enum host_loads loads) {
    const double *kept = retention->kept[loads], *cycles = retention->cycles;
    const double half = kept[0] / 2;
    for (unsigned i = 1; i < HOST_WAITS; i++)
        if (kept[i] < half) {
            const double part = (kept[i - 1] - half) / (kept[i - 1] - kept[i]);
            const double half_of_them = cycles[i - 1] + part * (cycles[i] - cycles[i - 1]);
            return WHOLE * fmax(round(half_of_them / WHOLE), 1); /* 0 means something else */
        }
    return INFINITY;
}

static double percent(double share) {
    return fmin(fmax(round(100 * share), 1), 100);
}

struct finding_list {
    struct finding used, first, admission, readmission;
};

static void conclude(const struct host_retention *retention, struct finding_list *list) {
    const double once = retention->kept[HOST_LOADED_ONCE][0];
    const double twice = retention->kept[HOST_LOADED_TWICE][0];
    list->used.value = half_life(retention, HOST_LOADED_OFTEN);
    list->first.value = fmin(half_life(retention, HOST_LOADED_ONCE), list->used.value);
    list->admission.value = percent(once);
    list->readmission.value = percent(once < 1 ? (twice - once) / (1 - once) : 1);
}

/* Whether all four hold, and why not. */
static void judge(const struct host_retention *retention, const struct finding_list *list,
                  enum finding_state *state, char *note, size_t bytes) {
    const double most = retention->cycles[HOST_WAITS - 1];
    *state = FINDING_UNKNOWN;
    if (retention->state == HOST_UNSUPPORTED)
        *state = FINDING_UNSUPPORTED;
    if (retention->state == HOST_NOT_RUN)
        snprintf(note, bytes, "it was not reached");
    else if (retention->state != HOST_MEASURED)
        snprintf(note, bytes, "%s", retention->failure);
    else if (retention->kept[HOST_LOADED_OFTEN][0] < MOST_ARE_THERE)
        snprintf(note, bytes, "lines that were loaded four times were not there at once");
    else if (isinf(list->used.value))
        snprintf(note, bytes, "more than %.0fM cycles: nobody takes much of the last cache",
                 most / 1e6);
    else
        *state = FINDING_MEASURED;
}

static bool run(struct calibration *calibration, struct error *error) {
    struct host_meter *meter = calibration->meter;
    struct host_retention retention = {.state = HOST_UNSUPPORTED};
    struct finding_list list = {
        {.key = "llc.retention", .what = "line that was used in the LLC stays", .unit = "cycles"},
        {.key = "llc.first_retention", .what = "line that was not", .unit = "cycles"},
        {.key = "llc.admission", .what = "lines from memory that the LLC keeps", .unit = "%"},
        {.key = "llc.readmission", .what = "lines that come again", .unit = "%"}};
    struct finding *all[] = {&list.used, &list.first, &list.admission, &list.readmission};
    char note[sizeof list.used.note] = "";
    enum finding_state state;
    snprintf(retention.failure, sizeof retention.failure,
             "nobody else uses the simulated machine's caches");
    if (meter->measure_retention && !meter->measure_retention(meter, &retention, error))
        return false;
    if (retention.state == HOST_MEASURED)
        conclude(&retention, &list);
    judge(&retention, &list, &state, note, sizeof note);
    for (unsigned i = 0; i < sizeof all / sizeof *all; i++) {
        all[i]->state = state;
        snprintf(all[i]->note, sizeof all[i]->note, "%s", note);
        calibration_found(calibration, all[i]);
    }
    return true;
}

static const char *const KEYS[] = {"llc.retention", "llc.first_retention", "llc.admission",
                                   "llc.readmission", NULL};
const struct calibrate_part calibrate_retention = {
    .name = "retention",
    .measures = "how long the last cache, which others use too, keeps lines",
    .keys = KEYS,
    .run = run};
