/* culprit stat: a command run as it is, once or several times, and what the kernel accounts of it.
 */
#include <stdlib.h>

#include "cmd/cmd.h"
#include "cmd/interrupt.h"
#include "cmd/stat.h"
#include "options/live_options.h"
#include "report/usage_report.h"
#include "util/quoted_command.h"

enum { RUNS_MOST = 100000 };

static void take_events(struct argp_state *state, void *request, char *value) {
    (void)state;
    options_list_events(value);
    ((struct stat_job *)request)->events = value;
}

#define REQUEST struct stat_job
static const struct option_row OPTIONS[] = {
    HEADING(1, "What to run:"),
    COUNT("repeat", "N", runs, "So many times: medians, the least and the most (1)", .letter = 'r',
          .least = 1, .most = RUNS_MOST),
    TAKE("events", "LIST", take_events,
         "Count these events, too, as culprit record names them; \"list\": which there are here",
         .group = 1),
    FLAG("simulated", simulated,
         "Counts of the simulated machine: cycles, instructions, branches, caches, TLBs, and what "
         "its slots of dispatch were lost to. Exact, or of long runs by regions",
         .group = 1),
    EXPLAIN_REGIONS(explain.regions, explain.enough),
    {0}};

static void begin(void *request) {
    struct stat_job *job = request;
    explain_begin(&job->explain);
    job->runs = 1;
}

static bool take_command(struct argp_state *state, void *request, char *value) {
    (void)value;
    ((struct stat_job *)request)->command = options_take_command(state);
    return true;
}

static void check(struct argp_state *state, void *request) {
    struct stat_job *job = request;
    const bool machine = job->explain.run.machine.machine ||
                         job->explain.run.machine.setting_count || job->explain.run.machine.ideal;
    if (!job->command)
        options_fail(state, "which command? (culprit stat [OPTION...] -- COMMAND...)");
    if (job->simulated && (job->runs > 1 || job->events))
        options_fail(state, "--simulated: every run has the same counts, without --repeat and "
                            "--events");
    if (!job->simulated && (job->explain.enough || machine))
        options_fail(state, "%s: of what is simulated (add --simulated)",
                     machine ? "--machine, --set, --ideal" : "--regions");
    if (job->simulated)
        stat_simulated_begin(job);
}

static const struct option_part PARTS[] = {
    {&machine_group, offsetof(struct stat_job, explain.run.machine)},
    {&report_group, offsetof(struct stat_job, explain.run.verb.output)},
    {0}};

static const struct command_line LINE = {
    .own = {.options = OPTIONS, .begin = begin, .argument = take_command, .end = check},
    .parts = PARTS,
    .arguments = "[--] COMMAND...",
    .help = "Runs a command as it is and tells how long it took, on how many processors, with how "
            "much memory, how many page faults and context switches: with what the kernel accounts "
            "everywhere, so that it works where there are no hardware events."
            "\vExamples:\n  culprit stat -r 5 -- gzip -9 -c /bin/bash > /dev/null\n"
            "  culprit stat --simulated -- gzip -9 -c /bin/bash > /dev/null\n\n"
            "The figures are of the command and those of its processes that it waits for."};

static bool prepare(void *verb, struct error *error) {
    struct stat_job *job = verb;
    job->name = quoted_command(job->command);
    return (job->name || error_set(error, "out of memory for the command")) &&
           verb_open_report(&job->explain.run.verb, error);
}

static bool run(void *verb, struct error *error) {
    struct stat_job *job = verb;
    const struct usage_request request = {
        .watch = &verb_watch, .command = job->command, .runs = job->runs, .events = job->events};
    const bool good = usage_measure(&request, &job->usages, &job->explain.run.verb.failed, error);
    job->explain.run.verb.exit = job->usages.exit;
    job->explain.run.verb.observes = true;
    job->explain.run.verb.measured = job->usages.count;
    return good || (job->usages.count && verb_report_late(&job->explain.run.verb, error));
}

static bool write_report(void *verb, struct error *error) {
    struct stat_job *job = verb;
    const struct output *output = &job->explain.run.verb.files.report;
    const struct page page = output_page(output);
    if (job->explain.run.verb.output.json)
        return usage_json(&job->usages, job->name, output->file, error);
    return usage_text(&job->usages, job->name, &page, error) &&
           usage_next_text(job->name, &page, error);
}

static void free_job(void *verb) {
    struct stat_job *job = verb;
    free(job->name);
    usages_free(&job->usages);
}

/* What is simulated takes the place of what is measured. */
static const struct verb *choose(void *verb) {
    static const struct verb measured = {
        .prepare = prepare, .run = run, .report = write_report, .free = free_job};
    return ((const struct stat_job *)verb)->simulated ? &stat_simulated : &measured;
}

const struct verb verb_stat = {.line = &LINE,
                               .size = sizeof(struct stat_job),
                               .command = offsetof(struct stat_job, command),
                               .choose = choose};
