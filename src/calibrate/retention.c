/* What others leave of the last cache (memory/retention.h), from how many lines are still there
 * after a wait.
 *
 * Of lines that were loaded once, those that are there at once were admitted; of those that were
 * not, readmission is the part that is there after the second load. After four loads nearly all
 * were used there. Half of the lines are gone after the retention, by straight lines between the
 * waits, and how far the times differ after which a quarter and three quarters are tells the
 * shape. */
#include <math.h>
#include <stdio.h>

#include "calibrate/parts.h"
#include "host/retention.h"
#include "util/erlang.h"

/* Cycles are told in millions: they vary with what others do. */
static const double WHOLE = 1e6;

/* Of lines that were loaded four times, so many are there at once, where anything can be said. */
static const double MOST_ARE_THERE = 0.5;

/* As few that are left after the longest wait are none: loads that were timed wrongly. */
static const double FEW = 0.1;

/* Cycles after which this share is left of the lines that were there at once; INFINITY: more are,
 * after the longest wait. */
static double cycles_until(const struct host_retention *retention, enum host_loads loads,
                           double left) {
    const double *kept = retention->kept[loads], *cycles = retention->cycles;
    const double last = kept[HOST_WAITS - 1], wrong = last < FEW ? last : 0;
    const double border = wrong + left * (kept[0] - wrong);
    for (unsigned i = 1; i < HOST_WAITS; i++)
        if (kept[i] < border) {
            const double part = (kept[i - 1] - border) / (kept[i - 1] - kept[i]);
            return cycles[i - 1] + part * (cycles[i] - cycles[i - 1]);
        }
    return INFINITY;
}

static double half_life(const struct host_retention *retention, enum host_loads loads) {
    const double half_of_them = cycles_until(retention, loads, 0.5);
    return isinf(half_of_them) ? INFINITY
                               : WHOLE * fmax(round(half_of_them / WHOLE), 1); /* 0: see there */
}

/* Of the Erlang distribution which has the same ratio between the times until a quarter and three
 * quarters are gone. */
static double shape(const struct host_retention *retention, enum host_loads loads) {
    enum { MOST = 64 };
    const double ratio =
        cycles_until(retention, loads, 0.25) / cycles_until(retention, loads, 0.75);
    unsigned nearest = 1;
    double least = INFINITY;
    for (unsigned i = 1; i <= MOST; i++) {
        const double off = fabs(log(erlang_quantile(i, 0.25) / erlang_quantile(i, 0.75) / ratio));
        if (off < least) {
            least = off;
            nearest = i;
        }
    }
    return nearest;
}

static double percent(double share) {
    return fmin(fmax(round(100 * share), 1), 100);
}

struct finding_list {
    struct finding used, first, used_shape, first_shape, admission, readmission;
};

static void conclude(const struct host_retention *retention, struct finding_list *list) {
    const double once = retention->kept[HOST_LOADED_ONCE][0];
    const double twice = retention->kept[HOST_LOADED_TWICE][0];
    list->used.value = half_life(retention, HOST_LOADED_OFTEN);
    list->first.value = fmin(half_life(retention, HOST_LOADED_ONCE), list->used.value);
    list->used_shape.value = shape(retention, HOST_LOADED_OFTEN);
    list->first_shape.value = shape(retention, HOST_LOADED_ONCE);
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
        {.key = "llc.retention_shape", .what = "shape of its distribution", .unit = ""},
        {.key = "llc.first_shape", .what = "shape of that", .unit = ""},
        {.key = "llc.admission", .what = "lines from memory that the LLC keeps", .unit = "%"},
        {.key = "llc.readmission", .what = "lines that come again", .unit = "%"}};
    struct finding *all[] = {&list.used,        &list.first,     &list.used_shape,
                             &list.first_shape, &list.admission, &list.readmission};
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

static const char *const KEYS[] = {"llc.retention",
                                   "llc.first_retention",
                                   "llc.retention_shape",
                                   "llc.first_shape",
                                   "llc.admission",
                                   "llc.readmission",
                                   NULL};
const struct calibrate_part calibrate_retention = {
    .name = "retention",
    .measures = "how long the last cache, which others use too, keeps lines",
    .keys = KEYS,
    .run = run};
