/* culprit compare --suite: the pairs of a file, one after the other, each as compare takes it. */
#include <stdlib.h>
#include <string.h>

#include "cmd/compare.h"
#include "cmd/interrupt.h"
#include "options/exit_status.h"
#include "report/suite_report.h"
#include "study/suite_file.h"
#include "util/text.h"

struct pair {
    struct compare_job job; /* as typed, of this pair */
    char **arguments;       /* words in the entry's text, which is cut into them */
    struct error failure;
    bool compared;
};

struct suite {
    struct suite_file file;
    struct pair *pairs;
    size_t done; /* pairs compared, or tried */
};

/* ---- one pair ---- */

static void take_side(struct compare_job *job, unsigned side, const char *word) {
    job->sides[side] =
        (struct compare_side){.word = word, .report = text_ends_with(word, ".json") ? word : NULL};
}

/* Whether it is told is for the caller: what failed is kept in the pair. */
static bool compare_pair(struct pair *pair) {
    struct compare_job *job = &pair->job;
    struct error *error = &pair->failure;
    pair->compared = compare_prepare_pair(job, error) && compare_run_pair(job, error) &&
                     compare_report_build(&job->report, error) &&
                     (!job->judged || compare_taken_can_be_judged(&job->taken, error));
    return pair->compared;
}

/* ---- the suite ---- */

static bool prepare(void *verb, struct error *error) {
    struct compare_job *job = verb;
    struct suite *suite = job->several = calloc(1, sizeof *suite);
    if (job->judged)
        job->verb.failed = STATUS_BROKEN;
    if (!suite)
        return error_set(error, "out of memory for the suite");
    if (!suite_file_read(&suite->file, job->suite, error))
        return false;
    suite->pairs = calloc(suite->file.count, sizeof *suite->pairs);
    for (size_t i = 0; suite->pairs && i < suite->file.count; i++) {
        const struct suite_entry *entry = &suite->file.entries[i];
        struct pair *pair = &suite->pairs[i];
        pair->job = *job;
        take_side(&pair->job, 0, entry->old);
        take_side(&pair->job, 1, entry->new);
        if (entry->arguments && !(pair->arguments = text_words(entry->arguments, 0)))
            return error_set(error, "out of memory for the suite");
        pair->job.arguments = pair->arguments;
    }
    return (suite->pairs || error_set(error, "out of memory for the suite")) &&
           verb_open_report(&job->verb, error);
}

static bool run(void *verb, struct error *error) {
    struct compare_job *job = verb;
    struct suite *suite = job->several;
    (void)error;
    while (suite->done < suite->file.count && !verb_watch.signal) {
        struct pair *pair = &suite->pairs[suite->done++];
        const bool compared = compare_pair(pair);
        if ((job->verb.ended_by = pair->job.verb.ended_by))
            break;
        if (compared || verb_watch.signal)
            continue;
        struct error what = pair->failure;
        error_prefix(&what, "[%s]", suite->file.entries[suite->done - 1].name);
        verb_report_late(&job->verb, &what);
    }
    job->verb.measured = true;
    if (!job->verb.ended_by)
        job->verb.ended_by = verb_watch.signal;
    return true;
}

/* 1: one is slower. */
static int status_of(const struct compare_job *job) {
    const struct suite *suite = job->several;
    for (size_t i = 0; job->judged && i < suite->done; i++)
        if (suite->pairs[i].compared &&
            compare_is_slower(&suite->pairs[i].job.report, 100 * job->fail_above))
            return 1;
    return 0;
}

#define PUT_MARKDOWN(report_, page_) suite_report_markdown(report_, (page_)->file)
REPORT_FORMS(SUITE, suite_report_json, suite_report_text, NULL);
REPORT_FORMS(MARKDOWN, suite_report_json, PUT_MARKDOWN, NULL);

static bool write_report(void *verb, struct error *error) {
    struct compare_job *job = verb;
    struct suite *suite = job->several;
    struct suite_row *rows = calloc(suite->done + 1, sizeof *rows);
    struct suite_report report = {.report = {.verb = "compare"}, .rows = rows};
    for (size_t i = 0; rows && i < suite->done; i++) {
        const struct pair *pair = &suite->pairs[i];
        if (!pair->compared && job->verb.ended_by)
            continue; /* what was interrupted is no failure */
        rows[report.count++] =
            (struct suite_row){.name = suite->file.entries[i].name,
                               .report = pair->compared ? &pair->job.report : NULL,
                               .failure = pair->failure.message};
    }
    if (job->verb.ended_by)
        report_note(&report.report, "interrupted after %zu of %zu pairs", report.count,
                    suite->file.count);
    if (!job->verb.ended_by)
        job->verb.exit = (struct trace_exit){.known = true, .status = status_of(job)};
    const bool good =
        rows ? verb_write_report(&job->verb, job->markdown ? &MARKDOWN : &SUITE, &report, error)
             : error_set(error, "out of memory for the suite");
    report_free(&report.report);
    free(rows);
    return good;
}

static void clean_up(void *verb) {
    struct compare_job *job = verb;
    struct suite *suite = job->several;
    for (size_t i = 0; suite && suite->pairs && i < suite->file.count; i++) {
        compare_clean_up_pair(&suite->pairs[i].job);
        free(suite->pairs[i].arguments);
    }
    if (suite) {
        free(suite->pairs);
        suite_file_free(&suite->file);
    }
    free(suite);
}

const struct verb compare_suite = {
    .prepare = prepare, .run = run, .report = write_report, .free = clean_up};
