/* culprit explain: the whole run of a command in bounded time, in plain words. */
#include <string.h>
#include <sys/stat.h>

#include "cmd/cmd.h"
#include "cmd/explain.h"
#include "options/together_options.h"

void explain_begin(void *verb) {
    struct explain *explain = verb;
    run_begin(&explain->run);
    explain->run.study.options.sampling = sampling_default();
    explain->run.study.forecasts = true;
    explain->run.input.repeatable = true;
    explain->over = EXPLAIN_OVER;
    explain->kept = EXPLAIN_KEPT;
    explain->regions = EXPLAIN_REGIONS;
    explain->warm_up = EXPLAIN_WARM_UP;
}

static void take_one_pass(const struct argp_state *state, struct explain *explain,
                          const char *option) {
    if (explain->one_pass && strcmp(explain->one_pass, option) != 0)
        options_fail(state, "--exact and --systematic: one or the other");
    explain->one_pass = option;
}

static void take_exact(struct argp_state *state, void *request, char *value) {
    (void)value;
    struct explain *explain = request;
    take_one_pass(state, explain, "--exact");
    explain->run.study.options.sampling = sampling_everything();
}

static void take_systematic(struct argp_state *state, void *request, char *value) {
    (void)value;
    take_one_pass(state, request, "--systematic");
}

#define REQUEST struct explain
static const struct option_row OPTIONS[] = {
    HEADING(4, "How much to simulate:"),
    TAKE("exact", NULL, take_exact, "Every instruction, however long it takes"),
    EXPLAIN_REGIONS(regions, enough),
    COUNT("regions-over", "N", over,
          "A run of more than N instructions is explained by representative regions of it (default "
          "80M)",
          GIVEN(over_given)),
    COUNT(
        "keep", "N", kept,
        "A run of up to N instructions is kept in a temporary file meanwhile; regions of a longer "
        "one are simulated in a second run (default 1G)"),
    COUNT(
        "warm-up", "N", warm_up,
        "Warm caches and predictors by simulating N instructions before each region (default: 1M; "
        "what caches hold is rebuilt from when lines were accessed in the 15M before it)",
        GIVEN(simulate_warm_up)),
    LAYOUTS_ROWS(layout_count, layouts.jobs,
                 "What N layouts of the program's memory do to its cycles, in place of the report"),
    TEXT("relink", "COMMAND", layouts.relinks[0], RELINK_HELP, .least = 1, .not_again = true),
    RERUN_ROW(rerun),
    NO_REPEATABLE_ROW(run.input.repeatable),
    NO_FLAG("no-what-if", run.study.forecasts,
            "Do not simulate again what would be saved without each cause: faster, without advice"),
    TAKE("systematic", NULL, take_systematic,
         "One run, whatever its length, sampled systematically"),
    COUNT("warm", "N", run.study.options.sampling.warm,
          "Warm caches and predictors with N instructions before each window of systematic "
          "sampling (default 4M)",
          GIVEN(warm_given)),
    {0}};

/* The option that has all simulated in one pass; NULL: none was given. */
static const char *one_pass_option(const struct explain *explain) {
    return explain->one_pass                   ? explain->one_pass
           : explain->run.struct_options.given ? "--fields"
                                               : NULL;
}

static void check(struct argp_state *state, void *request) {
    struct explain *explain = request;
    struct input_options *input = &explain->run.input;
    if (explain->run.verb.output.legend && !input->command && !input->trace)
        options_explain_words();
    if (!input->command && !input->trace)
        options_fail(state, "what to explain? (culprit explain [OPTION...] -- COMMAND..., or "
                            "culprit explain FILE.ctrace)");
    const char *one_pass = one_pass_option(explain);
    if (one_pass && (explain->over_given || explain->enough))
        options_fail(state, "%s: all in one pass, without --regions%s", one_pass,
                     explain->over_given ? "-over" : "");
    if (one_pass && explain->simulate_warm_up)
        options_fail(state, "%s: all in one pass, without regions to --warm-up for", one_pass);
    if (explain->warm_given && explain->one_pass && !strcmp(explain->one_pass, "--exact"))
        options_fail(state, "--exact: every instruction is simulated, without --warm");
    explain_check_layouts(state, explain);
    structs_check(state, &explain->run.struct_options, input);
    path_options_check(state, &explain->run.path_options, explain->run.verb.output.by);
    run_check_levels(&explain->run, state);
    explain->run.study.forecasts &= !explain->run.levels_asked; /* nothing is shown of them */
    struct together_request *threads = &explain->run.study.threads;
    threads->over = explain->one_pass ? 0 : explain->over;
    threads->in_place_of_sampling = !explain->one_pass;
    if (explain->enough)
        threads->regions = explain->regions;
    if (explain->simulate_warm_up)
        threads->warm_up = explain->warm_up;
    if (explain->one_pass)
        explain->over = UINT64_MAX;
    input->follow |= input->command && !input->no_follow && input->thread < 0;
}

static const struct option_part PARTS[] = {
    RUN_PARTS,
    MACHINE_USAGE_PART,
    {&together_group, offsetof(struct explain, run.study.threads)},
    {0}};

static const struct command_line LINE = {
    .own = {.options = OPTIONS, .begin = explain_begin, .end = check},
    .parts = PARTS,
    .arguments = "[--] COMMAND...\nTRACE.ctrace",
    .help = "Explains where the cycles of a command, or a trace, go: functions, source lines and "
            "instructions, and what each waited for.\v"
            "Examples:\n  culprit explain -- gzip -9 -c /bin/bash > /dev/null\n"
            "  culprit explain --layouts 10 -- sort /etc/services\n\n"
            "A run of up to 80 million instructions is simulated in full. Of a longer one "
            "representative regions are chosen (SimPoint) and simulated; beyond 1000 million "
            "instructions, in a second run of the command. Processes that the command starts are "
            "included. A command that changes the "
            "world, or starts processes, is not run twice: it is sampled in its only run, the "
            "first 50 million instructions in full, then windows of 250,000 in ever longer "
            "periods, 64 of each length. The report says which it was. It goes to standard error, "
            "the command keeps standard output and its exit status; 125 when culprit failed."};

static bool may_be_run_twice(const struct explain *explain) {
    const struct input_options *input = &explain->run.input;
    struct stat status;
    if (explain->over == UINT64_MAX || explain->run.struct_options.given || input_is_part(input) ||
        input->seconds || input->on_signal)
        return false;
    return input->command ||
           (!input->limit && stat(input->trace, &status) == 0 && S_ISREG(status.st_mode));
}

static bool report_one_pass(void *explain, struct error *error) {
    return run_report_begin(explain, NULL, error) && run_report_write(explain, error);
}

static const struct verb ONE_PASS = {
    .prepare = run_prepare, .run = run_go, .report = report_one_pass, .free = run_free};

/* Explained as study/explain.h says: a command, unless a part of its run is asked for by --skip,
 * --from, --thread, --for or --on-signal; and the whole of a trace in a regular file. All else, and
 * what --exact, --systematic or --fields asks for, is simulated in one pass. */
static const struct verb *choose(void *verb) {
    struct run *run = &((struct explain *)verb)->run;
    if (((const struct explain *)verb)->layout_count)
        return &explain_layouts;
    path_options_look(&run->path_options, &run->input);
    return may_be_run_twice(verb) ? &verb_explain : &ONE_PASS;
}

const struct verb verb_explain = {.line = &LINE,
                                  .size = sizeof(struct explain),
                                  .command = offsetof(struct explain, run.input.command),
                                  .choose = choose,
                                  .prepare = run_prepare,
                                  .run = explain_run,
                                  .report = explain_report,
                                  .free = explain_free};
