/* culprit variance: how much procedures differ between runs (DCPI's dcpistats). */
#include "cmd/cmd.h"
#include "cmd/profile_run.h"
#include "options/store_next.h"
#include "report/variance_report.h"

struct job {
    struct compare compared;
    bool hosts;
    struct profile_run fleet; /* with hosts: what they are of */
};

static void begin(void *job) {
    ((struct job *)job)->compared.most_stores = STORE_OPTIONS_MAX;
}

#define REQUEST struct job
static const struct option_row OPTIONS[] = {
    FLAG("hosts", hosts,
         "Between hosts, of one store: how far their shares differ beyond what sampling explains; "
         "of all epochs, unless --epoch is given",
         .group = 2),
    {0}};

static void check(struct argp_state *state, void *given) {
    const struct job *job = given;
    if (!job->hosts)
        return;
    if (job->compared.store.store_count > 1)
        options_fail(state, "--hosts: of one store");
    if (job->compared.rows.by > PROFILE_BY_LINE)
        options_fail(state, "--hosts: by procedure, image or line");
    sample_options_one_build(state, &job->compared.samples);
}

static const struct option_part PARTS[] = {COMPARE_PARTS, {0}};

static const struct command_line LINE = {
    .own = {.options = OPTIONS, .begin = begin, .end = check},
    .parts = PARTS,
    .arguments = "--epoch LIST\nSTORE STORE...\n--hosts",
    .help = "Shows which procedures differ most between several profiles, as of runs of one "
            "program. A set is each epoch of the LIST, each LIST when --epoch is repeated, or each "
            "STORE."
            "\vExample:\n  for i in 1 2 3; do culprit record -- gzip -9 -c /bin/bash > /dev/null; "
            "done\n  culprit variance --epoch 1..3\n"
            "  culprit variance --hosts --host 'web-*' --since 2026-11-20"};

REPORT_FORMS(VARIANCE, variance_report_json, variance_report_text, NULL);

static bool write_report(void *verb, struct error *error) {
    struct compare *compare = verb; /* the job's first member */
    struct variance_report report = {
        .report = {.verb = "variance"},
        .sets = compare->sets.sets,
        .events = compare->sets.events,
        .variances = {.table = compare->table, .set_count = compare->sets.count},
        .by = compare->rows.by,
        .top = compare->verb.output.top};
    bool good = variance_report_build(&report) || error_set(error, "out of memory for the report");
    if (good)
        report.report.next =
            variance_next(&report, compare->store.store_count > 0, compare->sets.store_count > 1);
    good = good && verb_write_report(&compare->verb, &VARIANCE, &report, error);
    variance_report_free(&report);
    return good;
}

/* ---- hosts ---- */

static bool prepare_hosts(void *verb, struct error *error) {
    struct job *job = verb;
    job->fleet.store_options = job->compared.store;
    job->fleet.samples = job->compared.samples;
    job->fleet.by_host = job->fleet.all_hosts = true;
    return profile_read(&job->fleet, error) && verb_open_report(&job->compared.verb, error);
}

REPORT_FORMS(SPREAD, host_spread_json, host_spread_text, NULL);

static bool report_hosts(void *verb, struct error *error) {
    struct job *job = verb;
    const struct row_options *rows = &job->compared.rows;
    const char *event = rows->event_count ? rows->events[0] : NULL;
    struct fleet_report report = {.report = {.verb = "variance"},
                                  .set = &job->fleet.set,
                                  .event = profile_set_event(&job->fleet.set, event, error),
                                  .by = rows->by,
                                  .image = rows->image,
                                  .top = job->compared.verb.output.top};
    bool good = report.event &&
                fleet_report_spread(&report, job->fleet.samples.process, job->fleet.program, error);
    if (good)
        report.report.next = store_next_of_spread(&report, &job->fleet.store_options);
    good = good && verb_write_report(&job->compared.verb, &SPREAD, &report, error);
    fleet_report_free(&report);
    return good;
}

static void free_hosts(void *verb) {
    profile_free(&((struct job *)verb)->fleet);
}

static const struct verb HOSTS = {
    .prepare = prepare_hosts, .report = report_hosts, .free = free_hosts};

static const struct verb *choose(void *job) {
    return ((struct job *)job)->hosts ? &HOSTS : &verb_variance;
}

const struct verb verb_variance = {.line = &LINE,
                                   .size = sizeof(struct job),
                                   .choose = choose,
                                   .prepare = compare_prepare,
                                   .report = write_report,
                                   .free = compare_free};
