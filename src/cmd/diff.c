/* culprit diff: two profiles side by side. */
#include "cmd/cmd.h"
#include "cmd/profile_run.h"
#include "report/diff_report.h"
#include "report/html_calls.h"

struct job {
    struct compare compared;
    enum diff_measure measure;
};

static void begin(void *job) {
    ((struct job *)job)->compared.most_stores = 2;
}

#define REQUEST struct job
static const struct option_row OPTIONS[] = {
    CHOICE("compare", "MEASURE", measure,
           "share of all (default), count: the samples or cycles themselves, of runs that do the "
           "same work, or rate: per second",
           diff_measure_names, .group = 2),
    {0}};

static const struct option_part PARTS[] = {COMPARE_PARTS, {0}};

static const struct command_line LINE = {
    .own = {.options = OPTIONS, .begin = begin},
    .parts = PARTS,
    .arguments = "--epoch BEFORE --epoch AFTER\nBEFORE AFTER\n--build BEFORE --build AFTER",
    .help = "Shows which procedures changed most between two profiles: two epochs, or the last "
            "epochs of two stores. Procedures are matched by name and image, so that a program "
            "compares with itself rebuilt."
            "\vExample:\n  culprit sim --save --limit 20M -- gzip -9 -c /bin/bash > /dev/null\n"
            "  culprit sim --save --limit 20M -- gzip -1 -c /bin/bash > /dev/null\n"
            "  culprit diff --epoch 1 --epoch 2\n"
            "  culprit diff --build nginx@4e8c21 --build nginx@a07be4 --compare rate"};

/* For a page: who called whom, where both have stacks. */
static bool write_calls(const struct compare *compare, const struct diff_report *report,
                        struct html *html, struct error *error) {
    struct call_difference calls = {0};
    const bool good = profile_diff_calls(&report->diff, compare->samples.process, compare->program,
                                         &calls, error) &&
                      html_calls_write(html, &calls, error);
    call_difference_free(&calls);
    return good;
}

REPORT_FORMS(DIFFERENCE, diff_report_json, diff_report_text, NULL);

static bool prepare(void *verb, struct error *error) {
    ((struct job *)verb)->compared.by_host = true;
    return compare_prepare(verb, error);
}

static bool write_report(void *verb, struct error *error) {
    struct job *job = verb;
    struct compare *compare = &job->compared;
    struct host_matrix matrices[2] = {0};
    bool hosts = false;
    struct diff_report report = {.report = {.verb = "diff"},
                                 .diff = {.sets = compare->sets.sets,
                                          .events = compare->sets.events,
                                          .measure = job->measure,
                                          .table = compare->table},
                                 .by = compare->rows.by,
                                 .top = compare->verb.output.top};
    bool good = compare->sets.count == 2 ||
                error_set(error,
                          "two sets are compared, not %zu (--epoch 3 --epoch 4; 'culprit variance' "
                          "takes more)",
                          compare->sets.count);
    const struct profile_table_options rows = {
        .by = compare->rows.by, .process = compare->samples.process, .image = compare->rows.image};
    good = good &&
           profile_diff_read_hosts(&report.diff, &rows, compare->program, matrices, &hosts, error);
    report.matrices = hosts ? matrices : NULL;
    good = good && diff_report_build(&report, error);
    if (good)
        report.report.next = diff_next(&report, compare->store.store_count > 0);
    struct html *html = &compare->verb.files.html;
    good = good && verb_write_report(&compare->verb, &DIFFERENCE, &report, error) &&
           (!html->data || write_calls(compare, &report, html, error));
    diff_report_free(&report);
    for (int i = 0; i < 2; i++)
        host_matrix_free(&matrices[i]);
    return good;
}

const struct verb verb_diff = {.line = &LINE,
                               .size = sizeof(struct job),
                               .prepare = prepare,
                               .report = write_report,
                               .free = compare_free};
