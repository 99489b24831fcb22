/* culprit icost: what each cause costs, which causes overlap and which are in series. */

#include "cmd/icost.h"
#include "cmd/cmd.h"
#include "cmd/interrupt.h"
#include "graph/breakdown.h"
#include "simulate/category_machine.h"

static void begin(void *verb) {
    struct icost *job = verb;
    job->input.traces_allowed = true;
    job->input.more_allowed = INPUT_MOST_TRACES;
    job->request = (struct icost_study_request){.watch = &verb_watch,
                                                .input = &job->input,
                                                .machine = &job->machine,
                                                .warm_up = UINT64_MAX,
                                                .shotgun = &job->shotgun,
                                                .pieces = &job->path,
                                                .category = &job->category,
                                                .threshold = 0.02,
                                                .largest = 3,
                                                .multisim = ICOST_CHECK};
}

static const char *const SETS[] = {
    [ICOST_NONE] = "none", [ICOST_FOCUS] = "focus", [ICOST_PAIRS] = "pairs", [ICOST_ALL] = "all"};

static void take_list(struct argp_state *state, void *icost, char *value) {
    const char **list = &((struct icost *)icost)->request.regions;
    if (*list)
        options_fail(state, "--regions: one list at a time");
    *list = value;
}

static void take_sensitivity(struct argp_state *state, void *request, char *value) {
    struct error error = {0};
    if (!sensitivity_add(&((struct icost *)request)->sensitivity.study, value, &error))
        options_fail(state, "--sensitivity %s", error.message);
}

static void take_cluster(struct argp_state *state, void *request, char *value) {
    struct icost *job = request;
    options_take_cluster(state, &job->cluster, value);
    job->request.cluster = &job->cluster;
    job->request.version = CULPRIT_VERSION;
}

#define REQUEST struct icost
static const struct option_row OPTIONS[] = {
    HEADING(4, "Which sets of causes:"),
    TEXT("focus", "CATEGORY", request.focus,
         "Show the pairs of this one: imiss, dmiss, dl1, shalu, lgalu, bw, bmisp, win or stfwd "
         "(see --ideal; default: the costliest)"),
    PERCENT("threshold", request.threshold,
            "Show, and read out, other sets from this part of the time on (default 2)"),
    COUNT("sets", "N", request.largest, "Of at most N causes (default 3)", .least = 1,
          .most = BREAKDOWN_CATEGORIES),
    HEADING(5, "How it is measured:"),
    CHOICE(
        "multisim", "SETS", request.multisim,
        "Also simulate anew for each set, the reference: focus (single causes and the pairs of "
        "the focus), pairs (all pairs; the default) or all (512 simulations); none: not even what "
        "the report says of short runs, which is checked so otherwise",
        SETS, .optional = true, .least = ICOST_PAIRS, GIVEN(multisim_given)),
    TAKE("sensitivity", "KEY[+KEY...]=A,B...", take_sensitivity,
         "In place of a breakdown: simulate with other values of a figure of the machine (several "
         "keys get the same value); twice for a grid"),
    JOBS_ROW(request.jobs, "simulations"),
    HEADING(6, "The whole run from regions of it:"),
    TAKE("regions", "LIST", take_list,
         "Simulate the regions of this list, captured by 'culprit trace --regions', and combine "
         "them"),
    REGIONS_WARM_UP_ROW(request.warm_up),
    CLUSTER_ROW(take_cluster, "the regions, whose results lie in LIST.results"),
    HEADING(9, "Picture:"),
    SVG_ROW(verb.output, "Draw the breakdown, or the study, as SVG"),
    {0}};

static void check_regions(const struct icost *job, const struct argp_state *state) {
    options_check_regions(state, &job->input, job->request.regions, job->request.warm_up,
                          "simulated");
    if (job->request.cluster && !job->request.regions)
        options_fail(state, "--cluster: nodes simulate regions that were captured (add --regions "
                            "LIST)");
    if (!job->request.regions)
        return;
    if (job->request.multisim > ICOST_CHECK || job->sensitivity.study.parameter_count ||
        job->shotgun.wanted)
        options_fail(state, "--regions: --multisim, --shotgun and --sensitivity are for a single "
                            "run (give one region's trace instead)");
}

/* The graph is walked as it was observed, in one piece of code with its names. */
static void check_path(const struct icost *job, const struct argp_state *state) {
    if (!job->path.parts)
        return;
    if (job->machine.ideal)
        options_fail(state, "--ideal: --critical, --slack and --loads look at the machine as it is "
                            "(without --ideal)");
    if (job->request.regions)
        options_fail(state, "--regions: --critical, --slack and --loads are for a single run (give "
                            "one region's trace instead)");
    if (job->sensitivity.study.parameter_count)
        options_fail(state, "--sensitivity: it takes the place of a breakdown (without --critical, "
                            "--slack and --loads)");
}

static void check_samples(const struct icost *job, const struct argp_state *state) {
    const struct shotgun_choice *shotgun = &job->shotgun;
    const struct input_options *input = &job->input;
    if (!shotgun->path)
        return;
    if (input->command || input->trace || job->request.regions)
        options_fail(state, "--shotgun-file: it takes the place of a command, trace or regions");
    if (input->skip || input->limit || input->from || input->thread >= 0 || input->follow ||
        input->no_follow || job->request.multisim > ICOST_CHECK ||
        shotgun->design == SHOTGUN_PERFECT || shotgun->options.pc_bit ||
        shotgun->options.period != SHOTGUN_PERIOD)
        options_fail(state, "--shotgun-file: samples were taken before (without --skip, --limit, "
                            "--from, --thread, --follow, --multisim, --shotgun-design 1, "
                            "--shotgun-pc-bit and --shotgun-period)");
    if (job->path.parts)
        options_fail(state,
                     "--shotgun-file: --critical, --slack and --loads are of a run (give its "
                     "command or trace)");
}

static void check_categories(const struct icost *job, const struct argp_state *state) {
    if (!job->category.categories.count)
        return;
    struct error error;
    if (job->request.multisim > ICOST_CHECK &&
        !category_machine_knows(&job->category.categories, &error))
        options_fail(state, "--multisim: %s", error.message);
    if (job->shotgun.wanted || job->shotgun.path || job->sensitivity.study.parameter_count ||
        job->request.regions)
        options_fail(state, "--category: only the graph of a run, and --multisim, know it (without "
                            "--shotgun, --sensitivity and --regions)");
    if (job->machine.ideal)
        options_fail(state, "--ideal: --category says what is idealised (without --ideal)");
}

/* Calls are followed in the run itself. */
static void check_calls(const struct icost *job, const struct argp_state *state) {
    if (!path_options_any(&job->path_options))
        return;
    if (job->request.regions || job->shotgun.path || job->sensitivity.study.parameter_count ||
        job->input.more_count)
        options_fail(state, "--tree, --callers and --folded: they are of a single run (without "
                            "--regions, --shotgun-file, --sensitivity and further traces)");
}

static void check(struct argp_state *state, void *given) {
    struct icost *job = given;
    options_check_output(state, &job->verb.output);
    check_calls(job, state);
    check_categories(job, state);
    check_regions(job, state);
    check_path(job, state);
    check_samples(job, state);
    if (!job->input.command && !job->input.trace && !job->request.regions && !job->shotgun.path)
        options_fail(state, "what to simulate? (culprit icost [OPTION...] -- COMMAND..., "
                            "culprit icost FILE.ctrace..., or culprit icost --regions LIST)");
    struct error error;
    bool alone = job->shotgun.wanted || job->shotgun.path || job->request.regions ||
                 !category_machine_knows(&job->category.categories, &error);
    if (job->request.multisim == ICOST_CHECK && alone)
        job->request.multisim = ICOST_NONE;
    if (!job->sensitivity.study.parameter_count)
        return;
    if (job->request.multisim > ICOST_CHECK || job->request.focus || job->shotgun.wanted)
        options_fail(state, "--sensitivity: it takes the place of a breakdown (without --focus, "
                            "--multisim and --shotgun)");
    if (job->input.more_count)
        options_fail(state, "--sensitivity: of one trace at a time");
}

static const struct option_part PARTS[] = {
    {&input_group, offsetof(struct icost, input)},
    {&machine_group, offsetof(struct icost, machine)},
    {&output_group, offsetof(struct icost, verb.output)},
    {&icost_shotgun_group, offsetof(struct icost, shotgun)},
    {&icost_path_group, offsetof(struct icost, path)},
    {&icost_category_group, offsetof(struct icost, category)},
    {&path_group, offsetof(struct icost, path_options)},
    {0}};

static const struct command_line LINE = {
    .own = {.options = OPTIONS, .begin = begin, .end = check},
    .parts = PARTS,
    .arguments = "[--] COMMAND...\nTRACE.ctrace...\n--regions LIST",
    .help = "Breaks the time of a command, or of traces, down into what each cause costs (what "
            "removing it would save) and how causes interact: those in series cost the same "
            "cycles, so that removing one is enough; those that overlap hide each other, so that "
            "only removing both saves anything.\v"
            "Example:\n  culprit icost --limit 2M -- gzip -9 -c /bin/bash > /dev/null\n\n"
            "The report goes to standard error, the command keeps standard output and its exit "
            "status; 125 when culprit failed."};

static const struct verb *choose(void *verb) {
    return ((struct icost *)verb)->sensitivity.study.parameter_count ? &icost_sensitivity
                                                                     : &verb_icost;
}

const struct verb verb_icost = {.line = &LINE,
                                .size = sizeof(struct icost),
                                .command = offsetof(struct icost, input.command),
                                .choose = choose,
                                .prepare = icost_prepare,
                                .run = icost_run,
                                .report = icost_report,
                                .free = icost_clean_up};
