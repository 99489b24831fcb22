/* culprit variance: how much procedures differ between runs (DCPI's dcpistats). */
#include "cmd/cmd.h"
#include "cmd/profile_options.h"
#include "report/profile_report.h"
#include "report/variance_report.h"
#include "util/text.h"

static const struct option_part PARTS[] = {COMPARE_PARTS, {0}};

static void begin(void *compare) {
    ((struct compare *)compare)->most_stores = STORE_OPTIONS_MAX;
}

static const struct command_line LINE = {
    .own = {.begin = begin},
    .parts = PARTS,
    .arguments = "--epoch LIST\nSTORE STORE...",
    .help = "Shows which procedures differ most between several profiles, as of runs of one "
            "program. A set is each epoch of the LIST, each LIST when --epoch is repeated, or each "
            "STORE."
            "\vExample:\n  for i in 1 2 3; do culprit record -- gzip -9 -c /bin/bash > /dev/null; "
            "done\n  culprit variance --epoch 1..3"};

/* The two sets between which the first row differs most. */
static char *next_of(const struct compare *compare, const struct variance_report *report) {
    const struct profile_sets *sets = &compare->sets;
    const double *values = report->variances.count ? report->variances.rows[0].row->values : NULL;
    size_t least = 0, most = 0;
    for (size_t i = 0; values && i < sets->count; i++) {
        least = values[i] < values[least] ? i : least;
        most = values[i] > values[most] ? i : most;
    }
    struct text_printer printer;
    FILE *file = least != most ? text_printer_begin(&printer) : NULL;
    if (!file)
        return NULL;
    bool stores = compare->store.store_count > 0;
    fputs("culprit diff", file);
    profile_set_arguments(&sets->sets[least], stores, file);
    profile_set_arguments(&sets->sets[most], stores && sets->store_count > 1, file);
    return text_printer_end(&printer);
}

REPORT_FORMS(VARIANCE, variance_report_json, variance_report_text, NULL);

static bool write_report(void *verb, struct error *error) {
    struct compare *compare = verb;
    struct variance_report report = {
        .report = {.verb = "variance"},
        .sets = compare->sets.sets,
        .events = compare->sets.events,
        .variances = {.table = compare->table, .set_count = compare->sets.count},
        .by = compare->rows.by,
        .top = compare->verb.output.top};
    bool good = variance_report_build(&report) || error_set(error, "out of memory for the report");
    if (good)
        report.report.next = next_of(compare, &report);
    good = good && verb_write_report(&compare->verb, &VARIANCE, &report, error);
    variance_report_free(&report);
    return good;
}

const struct verb verb_variance = {.line = &LINE,
                                   .size = sizeof(struct compare),
                                   .prepare = compare_prepare,
                                   .report = write_report,
                                   .free = compare_free};
