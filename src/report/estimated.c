#include "report/estimated.h"

#include <string.h>

#include "report/json_values.h"
#include "util/text.h"

/* What is off are the cycles: other events have other errors, which are not known. */
static double interval_of(const char *event, const struct store_estimate *estimate) {
    return strcmp(event, "cycles") != 0 ? -1 : estimate->within;
}

static const char *parts_named(const struct store_estimate *estimate) {
    return estimate->windows      ? estimate->count == 1 ? "window" : "windows"
           : estimate->count == 1 ? "region"
                                  : "regions";
}

static void put_estimate(const char *event, const struct store_estimate *estimate, FILE *file) {
    const double within = interval_of(event, estimate);
    if (!estimate->count)
        return;
    if (within >= 0)
        fprintf(file, " ± %s %%", text_percent(within, 1).s);
    fprintf(file, ", estimated from %s %s", text_grouped(estimate->count).s, parts_named(estimate));
}

double estimated_interval(const struct profile_event *event) {
    return event->estimated.epochs ? interval_of(event->name, &event->estimated.of) : 0;
}

void estimated_text(const struct profile_event *event, FILE *file) {
    put_estimate(event->name, &event->estimated.of, file);
}

void estimate_text(const struct store_event *event, FILE *file) {
    put_estimate(event->name, &event->estimate, file);
}

/* How far the sum is off, in the words of explain. */
static void put_interval(const struct profile_set *set, const struct profile_event *event,
                         char *text, size_t size) {
    const double within = interval_of(event->name, &event->estimated.of);
    if (within < 0)
        snprintf(text, size, "how far these are off is not known");
    else
        snprintf(text, size,
                 "all cycles%s are within ± %s %% in 19 of 20 such estimates, single rows may be "
                 "further off",
                 set->epoch_count > 1 ? " of each epoch" : "", text_percent(within, 1).s);
}

bool estimated_note(const struct profile_set *set, const struct profile_event *event,
                    struct report *report) {
    const struct estimated *estimated = &event->estimated;
    const struct store_estimate *of = &estimated->of;
    char interval[256], share[64] = "", epochs[256];
    if (!estimated->epochs && estimated->beside)
        return report_note(report,
                           "simulated: user code only; of %s every cycle of what was simulated is "
                           "counted",
                           set->label);
    if (!estimated->epochs)
        return report_note(report, "simulated: user code only, every cycle of what was simulated "
                                   "is counted");
    put_interval(set, event, interval, sizeof interval);
    if (of->simulated >= 0 && set->epoch_count == 1)
        snprintf(share, sizeof share, ", %s %% of the instructions",
                 text_percent(of->simulated, 1).s);
    if (set->epoch_count > 1)
        snprintf(epochs, sizeof epochs, "%zu of %s %s", estimated->epochs, set->label,
                 estimated->epochs == 1 ? "is" : "are");
    else
        snprintf(epochs, sizeof epochs, "%s is", set->label);
    return report_note(report, "simulated: user code only; %s estimated from %s %s%s: %s", epochs,
                       text_grouped(of->count).s, parts_named(of), share, interval);
}

/* "epochs": of one event in a store, 1. */
static json_t *object_of(const char *event, const struct store_estimate *estimate, size_t epochs) {
    const double within = interval_of(event, estimate);
    if (!estimate->count)
        return json_null();
    return json_pack("{s:I, s:s, s:o, s:o, s:I}", "count", (json_int_t)estimate->count, "of",
                     estimate->windows ? "windows" : "regions", "simulated",
                     estimate->simulated < 0 ? json_null() : json_real(estimate->simulated),
                     "interval", within < 0 ? json_null() : json_real(within), "epochs",
                     (json_int_t)epochs);
}

json_t *estimated_json(const struct profile_event *event) {
    return object_of(event->name, &event->estimated.of, event->estimated.epochs);
}

json_t *estimate_json(const struct store_event *event) {
    return object_of(event->name, &event->estimate, 1);
}
