/* culprit icost: what each cause costs, which causes overlap and which are in series. */
#include "cmd/icost.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "graph/breakdown.h"
#include "simulate/category_machine.h"

enum key {
    KEY_FOCUS = 1024,
    KEY_THRESHOLD,
    KEY_SETS,
    KEY_MULTISIM,
    KEY_JOBS,
    KEY_SENSITIVITY,
    KEY_REGIONS,
    KEY_WARM_UP
};

enum { MAX_JOBS = 1024 };

static const struct argp_option OPTIONS[] = {
    {NULL, 0, NULL, 0, "Which sets of causes:", 4},
    {"focus", KEY_FOCUS, "CATEGORY", 0,
     "Show the pairs of this one: imiss, dmiss, dl1, shalu, lgalu, bw, bmisp, win or stfwd (see "
     "--ideal; "
     "default: the costliest)",
     0},
    {"threshold", KEY_THRESHOLD, "PERCENT", 0,
     "Show, and read out, other sets from this part of the time on (default 2)", 0},
    {"sets", KEY_SETS, "N", 0, "Of at most N causes (default 3)", 0},
    {NULL, 0, NULL, 0, "How it is measured:", 5},
    {"multisim", KEY_MULTISIM, "SETS", OPTION_ARG_OPTIONAL,
     "Also simulate anew for each set, the reference: focus (single causes and the pairs of the "
     "focus), pairs (all pairs; the default) or all (512 simulations); none: not even what the "
     "report says of short runs, which is checked so otherwise",
     0},
    {"sensitivity", KEY_SENSITIVITY, "KEY[+KEY...]=A,B...", 0,
     "In place of a breakdown: simulate with other values of a figure of the machine (several keys "
     "get the same value); twice for a grid",
     0},
    {"jobs", KEY_JOBS, "N", 0, "N simulations at once (default: one for each processor)", 0},
    {NULL, 0, NULL, 0, "The whole run from regions of it:", 6},
    {"regions", KEY_REGIONS, "LIST", 0,
     "Simulate the regions of this list, captured by 'culprit trace --regions', and combine them",
     0},
    {"warm-up", KEY_WARM_UP, "N", 0,
     "Warm caches and predictors with at most N instructions before each region (default: all that "
     "were captured)",
     0},
    {0}};

static const struct argp_option PICTURE_OPTIONS[] = {
    {NULL, 0, NULL, 0, "Picture:", 9},
    {"svg", OUTPUT_SVG, "FILE", 0, "Draw the breakdown, or the study, as SVG", 0},
    {0}};
static const struct argp PICTURE_ARGP = {.options = PICTURE_OPTIONS,
                                         .parser = options_parse_output};

static enum icost_sets sets_of(const struct argp_state *state, const char *value) {
    static const char *const NAMES[] = {[ICOST_NONE] = "none",
                                        [ICOST_FOCUS] = "focus",
                                        [ICOST_PAIRS] = "pairs",
                                        [ICOST_ALL] = "all"};
    for (int i = ICOST_NONE; value && i <= ICOST_ALL; i++)
        if (NAMES[i] && !strcmp(value, NAMES[i]))
            return (enum icost_sets)i;
    if (value)
        options_fail(state, "--multisim=%s: one of none, focus, pairs, all", value);
    return ICOST_PAIRS;
}

/* "1.5%" or "1.5" */
static double take_percent(const struct argp_state *state, const char *option, const char *value) {
    char *end;
    double percent = strtod(value, &end);
    if (end == value || (*end && strcmp(end, "%")) || !(percent >= 0 && percent <= 100))
        options_fail(state, "%s %s: a percentage from 0 to 100", option, value);
    return percent / 100;
}

static uint32_t take_count(const struct argp_state *state, const char *option, const char *value,
                           uint32_t most) {
    uint64_t count = options_count(state, option, value);
    if (!count || count > most)
        options_fail(state, "%s %s: from 1 to %u", option, value, most);
    return (uint32_t)count;
}

static void check_regions(const struct icost_request *request, const struct argp_state *state) {
    if (!request->regions.list_count && request->regions.warm_up != UINT64_MAX)
        options_fail(state, "--warm-up: it is about regions (add --regions LIST)");
    if (!request->regions.list_count)
        return;
    options_check_regions(state, &request->input, "simulated");
    if (request->multisim > ICOST_CHECK || request->study.parameter_count ||
        request->shotgun.wanted)
        options_fail(state, "--regions: --multisim, --shotgun and --sensitivity are for a single "
                            "run (give one region's trace instead)");
}

/* The graph is walked as it was observed, in one piece of code with its names. */
static void check_path(const struct icost_request *request, const struct argp_state *state) {
    if (!request->path.parts)
        return;
    if (request->machine.ideal)
        options_fail(state, "--ideal: --critical, --slack and --loads look at the machine as it is "
                            "(without --ideal)");
    if (request->regions.list_count)
        options_fail(state, "--regions: --critical, --slack and --loads are for a single run (give "
                            "one region's trace instead)");
    if (request->study.parameter_count)
        options_fail(state, "--sensitivity: it takes the place of a breakdown (without --critical, "
                            "--slack and --loads)");
}

static void check_samples(const struct icost_request *request, const struct argp_state *state) {
    const struct shotgun_choice *shotgun = &request->shotgun;
    const struct input_options *input = &request->input;
    if (!shotgun->path)
        return;
    if (input->command || input->trace || request->regions.list_count)
        options_fail(state, "--shotgun-file: it takes the place of a command, trace or regions");
    if (input->skip || input->limit || input->from || input->thread >= 0 || input->follow ||
        input->no_follow || request->multisim > ICOST_CHECK || shotgun->design == SHOTGUN_PERFECT ||
        shotgun->options.pc_bit || shotgun->options.period != SHOTGUN_PERIOD)
        options_fail(state, "--shotgun-file: samples were taken before (without --skip, --limit, "
                            "--from, --thread, --follow, --multisim, --shotgun-design 1, "
                            "--shotgun-pc-bit and --shotgun-period)");
    if (request->path.parts)
        options_fail(state,
                     "--shotgun-file: --critical, --slack and --loads are of a run (give its "
                     "command or trace)");
}

static void check_categories(const struct icost_request *request, const struct argp_state *state) {
    if (!request->category.categories.count)
        return;
    struct error error;
    if (request->multisim > ICOST_CHECK &&
        !category_machine_knows(&request->category.categories, &error))
        options_fail(state, "--multisim: %s", error.message);
    if (request->shotgun.wanted || request->shotgun.path || request->study.parameter_count ||
        request->regions.list_count)
        options_fail(state, "--category: only the graph of a run, and --multisim, know it (without "
                            "--shotgun, --sensitivity and --regions)");
    if (request->machine.ideal)
        options_fail(state, "--ideal: --category says what is idealised (without --ideal)");
}

static void check(struct icost_request *request, const struct argp_state *state) {
    check_categories(request, state);
    check_regions(request, state);
    check_path(request, state);
    check_samples(request, state);
    if (!request->input.command && !request->input.trace && !request->regions.list_count &&
        !request->shotgun.path)
        options_fail(state, "what to simulate? (culprit icost [OPTION...] -- COMMAND..., "
                            "culprit icost FILE.ctrace..., or culprit icost --regions LIST)");
    struct error error;
    bool alone = request->shotgun.wanted || request->shotgun.path || request->regions.list_count ||
                 !category_machine_knows(&request->category.categories, &error);
    if (request->multisim == ICOST_CHECK && alone)
        request->multisim = ICOST_NONE;
    if (!request->study.parameter_count)
        return;
    if (request->multisim > ICOST_CHECK || request->focus || request->shotgun.wanted)
        options_fail(state, "--sensitivity: it takes the place of a breakdown (without --focus, "
                            "--multisim and --shotgun)");
    if (request->input.more_count)
        options_fail(state, "--sensitivity: of one trace at a time");
}

static error_t parse(int key, char *value, struct argp_state *state) {
    struct icost_request *request = state->input;
    struct error error = {0};
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &request->input;
        state->child_inputs[1] = &request->machine;
        state->child_inputs[2] = &request->output;
        state->child_inputs[3] = &request->shotgun;
        state->child_inputs[4] = &request->path;
        state->child_inputs[5] = &request->category;
        state->child_inputs[6] = &request->output;
        return 0;
    case KEY_FOCUS:
        request->focus = value;
        return 0;
    case KEY_THRESHOLD:
        request->threshold = take_percent(state, "--threshold", value);
        return 0;
    case KEY_SETS:
        request->largest = take_count(state, "--sets", value, BREAKDOWN_CATEGORIES);
        return 0;
    case KEY_MULTISIM:
        request->multisim = sets_of(state, value);
        request->multisim_given = true;
        return 0;
    case KEY_REGIONS:
        if (request->regions.list_count)
            options_fail(state, "--regions: one list at a time");
        request->regions.lists[request->regions.list_count++] = value;
        return 0;
    case KEY_WARM_UP:
        request->regions.warm_up = options_count(state, "--warm-up", value);
        return 0;
    case KEY_JOBS:
        request->jobs = take_count(state, "--jobs", value, MAX_JOBS);
        return 0;
    case KEY_SENSITIVITY:
        if (!sensitivity_add(&request->study, value, &error))
            options_fail(state, "--sensitivity %s", error.message);
        return 0;
    case ARGP_KEY_END:
        check(request, state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child CHILDREN[] = {
    {&input_argp, 0, NULL, 0},   {&machine_argp, 0, NULL, 0},
    {&output_argp, 0, NULL, 0},  {&shotgun_argp, 0, NULL, 0},
    {&path_argp, 0, NULL, 0},    {&category_argp, 0, NULL, 0},
    {&PICTURE_ARGP, 0, NULL, 0}, {0}};

static const struct argp ARGP = {
    .options = OPTIONS,
    .parser = parse,
    .args_doc = "[--] COMMAND...\nTRACE.ctrace...\n--regions LIST",
    .doc = "Breaks the time of a command, or of traces, down into what each cause costs (what "
           "removing it would save) and how causes interact: those in series cost the same "
           "cycles, so that removing one is enough; those that overlap hide each other, so that "
           "only removing both saves anything.\v"
           "Example:\n  culprit icost --limit 2M -- gzip -9 -c /bin/bash > /dev/null\n\n"
           "The report goes to standard error, the command keeps standard output and its exit "
           "status; 125 when culprit failed.",
    .children = CHILDREN};

int cmd_icost(int argc, char **argv) {
    struct icost_request request = {.argc = argc,
                                    .output.words = options_words(argc, argv),
                                    .threshold = 0.02,
                                    .multisim = ICOST_CHECK,
                                    .largest = 3,
                                    .shotgun = shotgun_choice_default(),
                                    .regions = {.warm_up = UINT64_MAX}};
    request.input.traces_allowed = true;
    request.input.more_allowed = INPUT_MOST_TRACES;
    options_parse(&ARGP, argc, argv, &request);
    int status =
        request.study.parameter_count ? icost_sensitivity(&request) : icost_breakdown(&request);
    sensitivity_free(&request.study);
    categories_free(&request.category.categories);
    free(request.output.words);
    return status;
}
