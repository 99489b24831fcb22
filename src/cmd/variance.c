/* culprit variance: how much procedures differ between runs (DCPI's dcpistats). */
#include <stdlib.h>

#include "cmd/cmd.h"
#include "cmd/options.h"
#include "cmd/profile_options.h"
#include "report/profile_report.h"
#include "report/variance_report.h"
#include "util/text.h"

static const struct option_part PARTS[] = {COMPARE_PARTS(0), {0}};

static const struct command_line LINE = {
    .parts = PARTS,
    .arguments = "--epoch LIST\nSTORE STORE...",
    .help = "Shows which procedures differ most between several profiles, as of runs of one "
            "program. A set is each epoch of the LIST, each LIST when --epoch is repeated, or each "
            "STORE."
            "\vExample:\n  for i in 1 2 3; do culprit record -- gzip -9 -c /bin/bash > /dev/null; "
            "done\n  culprit variance --epoch 1..3"};

/* The two sets between which the first row differs most. */
static char *next_of(const struct compare_request *request, const struct profile_sets *sets,
                     const struct variance_report *report) {
    const double *values = report->variances.count ? report->variances.rows[0].row->values : NULL;
    size_t least = 0, most = 0, size;
    char *text = NULL;
    FILE *file = values ? open_memstream(&text, &size) : NULL;
    if (!file)
        return NULL;
    for (size_t i = 0; i < sets->count; i++) {
        least = values[i] < values[least] ? i : least;
        most = values[i] > values[most] ? i : most;
    }
    bool stores = request->store.store_count > 0;
    fputs("culprit diff", file);
    profile_set_arguments(&sets->sets[least], stores, file);
    profile_set_arguments(&sets->sets[most], stores && sets->store_count > 1, file);
    if (fclose(file) == 0 && least != most)
        return text;
    free(text);
    return NULL;
}

static bool write_report(const void *context, const struct profile_sets *sets,
                         const struct profile_table *table, FILE *file, struct error *error) {
    const struct compare_request *request = context;
    struct variance_report report = {.report = {.verb = "variance"},
                                     .sets = sets->sets,
                                     .events = sets->events,
                                     .variances = {.table = table, .set_count = sets->count},
                                     .by = request->rows.by,
                                     .top = request->output.top};
    const struct page page = page_of(file);
    bool good = variance_report_build(&report) || error_set(error, "out of memory for the report");
    if (good)
        report.report.next = next_of(request, sets, &report);
    if (good && request->output.json)
        good = variance_report_json(&report, file, error);
    else if (good)
        variance_report_text(&report, &page);
    variance_report_free(&report);
    return good;
}

int cmd_variance(int argc, char **argv) {
    struct compare_request request = {.most_stores = STORE_OPTIONS_MAX};
    free(options_parse(&LINE, argc, argv, &request));
    return profile_sets_report(&request, write_report, &request);
}
