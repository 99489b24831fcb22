/* culprit diff: two profiles side by side. */
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/options.h"
#include "cmd/profile_options.h"
#include "report/diff_report.h"
#include "report/profile_report.h"
#include "util/text.h"

struct request {
    enum diff_measure measure;
    struct compare_request compared;
};

static void take_measure(struct argp_state *state, void *request, char *value) {
    for (int measure = 0; measure < DIFF_MEASURES; measure++)
        if (!strcmp(value, diff_measure_name((enum diff_measure)measure))) {
            ((struct request *)request)->measure = (enum diff_measure)measure;
            return;
        }
    options_fail(state, "--compare %s: one of share, count, rate", value);
}

static const struct option_row OPTIONS[] = {
    TAKE("compare", "MEASURE", take_measure,
         "share of all (default), count: the samples or cycles themselves, of runs that do the "
         "same work, or rate: per second",
         .group = 2),
    {0}};

static const struct option_part PARTS[] = {COMPARE_PARTS(offsetof(struct request, compared)), {0}};

static const struct command_line LINE = {
    .own = {.options = OPTIONS},
    .parts = PARTS,
    .arguments = "--epoch BEFORE --epoch AFTER\nBEFORE AFTER",
    .help = "Shows which procedures changed most between two profiles: two epochs, or the last "
            "epochs of two stores. Procedures are matched by name and image, so that a program "
            "compares with itself rebuilt."
            "\vExample:\n  culprit sim --save --limit 20M -- gzip -9 -c /bin/bash > /dev/null\n"
            "  culprit sim --save --limit 20M -- gzip -1 -c /bin/bash > /dev/null\n"
            "  culprit diff --epoch 1 --epoch 2"};

/* Where the time went afterwards, in the file that changed most. */
static char *next_of(const struct request *request, const struct profile_sets *sets,
                     const struct diff_report *report) {
    const struct profile_row *first = report->count ? report->diff.rows[0].row : NULL;
    size_t size;
    char *text = NULL;
    FILE *file = first ? open_memstream(&text, &size) : NULL;
    if (!file)
        return NULL;
    fputs("culprit top", file);
    profile_set_arguments(&sets->sets[1], request->compared.store.store_count > 0, file);
    const char *slash = strrchr(first->image, '/');
    if (first->process) /* an image may lie elsewhere there */
        text_put_option(file, "process", first->process);
    else
        text_put_option(file, "image", slash && slash[1] ? slash + 1 : first->image);
    if (fclose(file) == 0)
        return text;
    free(text);
    return NULL;
}

static bool write_report(const void *context, const struct profile_sets *sets,
                         const struct profile_table *table, FILE *file, struct error *error) {
    const struct request *request = context;
    struct diff_report report = {.report = {.verb = "diff"},
                                 .diff = {.sets = sets->sets,
                                          .events = sets->events,
                                          .measure = request->measure,
                                          .table = table},
                                 .by = request->compared.rows.by,
                                 .top = request->compared.output.top};
    const struct page page = page_of(file);
    bool good = sets->count == 2 || error_set(error,
                                              "two sets are compared, not %zu (--epoch 3 "
                                              "--epoch 4; 'culprit variance' takes more)",
                                              sets->count);
    good = good && diff_report_build(&report, error);
    if (good)
        report.report.next = next_of(request, sets, &report);
    if (good && request->compared.output.json)
        good = diff_report_json(&report, file, error);
    else if (good)
        diff_report_text(&report, &page);
    diff_report_free(&report);
    return good;
}

int cmd_diff(int argc, char **argv) {
    struct request request = {.compared.most_stores = 2};
    free(options_parse(&LINE, argc, argv, &request));
    return profile_sets_report(&request.compared, write_report, &request);
}
