/* culprit icost: what each cause costs, which causes overlap and which are in series. */
#include "cmd/icost.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "graph/breakdown.h"
#include "simulate/category_machine.h"

/* "1.5%" or "1.5" */
static void take_threshold(struct argp_state *state, void *request, char *value) {
    char *end;
    double percent = strtod(value, &end);
    if (end == value || (*end && strcmp(end, "%")) || !(percent >= 0 && percent <= 100))
        options_fail(state, "--threshold %s: a percentage from 0 to 100", value);
    ((struct icost_request *)request)->threshold = percent / 100;
}

static void take_multisim(struct argp_state *state, void *request, char *value) {
    static const char *const NAMES[] = {[ICOST_NONE] = "none",
                                        [ICOST_FOCUS] = "focus",
                                        [ICOST_PAIRS] = "pairs",
                                        [ICOST_ALL] = "all"};
    enum icost_sets *sets = &((struct icost_request *)request)->multisim;
    *sets = ICOST_PAIRS;
    for (int i = ICOST_NONE; value && i <= ICOST_ALL; i++)
        if (NAMES[i] && !strcmp(value, NAMES[i])) {
            *sets = (enum icost_sets)i;
            return;
        }
    if (value)
        options_fail(state, "--multisim=%s: one of none, focus, pairs, all", value);
}

static void take_list(struct argp_state *state, void *request, char *value) {
    struct regions_request *regions = &((struct icost_request *)request)->regions;
    if (regions->list_count)
        options_fail(state, "--regions: one list at a time");
    regions->lists[regions->list_count++] = value;
}

static void take_sensitivity(struct argp_state *state, void *request, char *value) {
    struct error error = {0};
    if (!sensitivity_add(&((struct icost_request *)request)->study, value, &error))
        options_fail(state, "--sensitivity %s", error.message);
}

#define REQUEST struct icost_request
static const struct option_row OPTIONS[] = {
    HEADING(4, "Which sets of causes:"),
    TEXT("focus", "CATEGORY", focus,
         "Show the pairs of this one: imiss, dmiss, dl1, shalu, lgalu, bw, bmisp, win or stfwd "
         "(see --ideal; default: the costliest)"),
    TAKE("threshold", "PERCENT", take_threshold,
         "Show, and read out, other sets from this part of the time on (default 2)"),
    COUNT("sets", "N", largest, "Of at most N causes (default 3)", .least = 1,
          .most = BREAKDOWN_CATEGORIES),
    HEADING(5, "How it is measured:"),
    TAKE("multisim", "SETS", take_multisim,
         "Also simulate anew for each set, the reference: focus (single causes and the pairs of "
         "the focus), pairs (all pairs; the default) or all (512 simulations); none: not even what "
         "the report says of short runs, which is checked so otherwise",
         .optional = true, GIVEN(multisim_given)),
    TAKE("sensitivity", "KEY[+KEY...]=A,B...", take_sensitivity,
         "In place of a breakdown: simulate with other values of a figure of the machine (several "
         "keys get the same value); twice for a grid"),
    JOBS_ROW(jobs, "simulations"),
    HEADING(6, "The whole run from regions of it:"),
    TAKE("regions", "LIST", take_list,
         "Simulate the regions of this list, captured by 'culprit trace --regions', and combine "
         "them"),
    REGIONS_WARM_UP_ROW(regions.warm_up),
    HEADING(9, "Picture:"),
    SVG_ROW(output, "Draw the breakdown, or the study, as SVG"),
    {0}};

static void check_regions(const struct icost_request *request, const struct argp_state *state) {
    options_check_regions(state, &request->input, request->regions.list_count,
                          request->regions.warm_up, "simulated");
    if (!request->regions.list_count)
        return;
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

static void check(struct argp_state *state, void *given) {
    struct icost_request *request = given;
    options_check_output(state, &request->output);
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

static const struct option_part PARTS[] = {
    {&input_group, offsetof(struct icost_request, input)},
    {&machine_group, offsetof(struct icost_request, machine)},
    {&output_group, offsetof(struct icost_request, output)},
    {&shotgun_group, offsetof(struct icost_request, shotgun)},
    {&path_group, offsetof(struct icost_request, path)},
    {&category_group, offsetof(struct icost_request, category)},
    {0}};

static const struct command_line LINE = {
    .own = {.options = OPTIONS, .end = check},
    .parts = PARTS,
    .arguments = "[--] COMMAND...\nTRACE.ctrace...\n--regions LIST",
    .help = "Breaks the time of a command, or of traces, down into what each cause costs (what "
            "removing it would save) and how causes interact: those in series cost the same "
            "cycles, so that removing one is enough; those that overlap hide each other, so that "
            "only removing both saves anything.\v"
            "Example:\n  culprit icost --limit 2M -- gzip -9 -c /bin/bash > /dev/null\n\n"
            "The report goes to standard error, the command keeps standard output and its exit "
            "status; 125 when culprit failed."};

int cmd_icost(int argc, char **argv) {
    struct icost_request request = {.argc = argc,
                                    .threshold = 0.02,
                                    .multisim = ICOST_CHECK,
                                    .largest = 3,
                                    .shotgun = shotgun_choice_default(),
                                    .regions = {.warm_up = UINT64_MAX}};
    request.input.traces_allowed = true;
    request.input.more_allowed = INPUT_MOST_TRACES;
    request.output.words = options_parse(&LINE, argc, argv, &request);
    int status =
        request.study.parameter_count ? icost_sensitivity(&request) : icost_breakdown(&request);
    sensitivity_free(&request.study);
    categories_free(&request.category.categories);
    free(request.output.words);
    return status;
}
