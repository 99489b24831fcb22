/* culprit sim: simulates a command or a trace on a machine, every instruction. */
#include "cmd/sim.h"

#include <string.h>

#include "cmd/cmd.h"
#include "options/together_options.h"
#include "study/tracers.h"

static void begin(void *verb) {
    struct sim *sim = verb;
    run_begin(&sim->run);
    sim->regions.warm_up = UINT64_MAX;
    sim->kanata_from = KANATA_FIRST;
    sim->kanata_cycles = 1000;
    sim->run.study.threads.over = 2000000000;
}

static void take_tracer(struct argp_state *state, void *request, char *value) {
    struct tracers **tracers = &((struct sim *)request)->tracers;
    struct error error = {.message = "out of memory"};
    if (!*tracers)
        *tracers = tracers_new(tracer_kinds);
    if (!*tracers || !tracers_add(*tracers, value, &error))
        options_fail(state, "--tap %s: %s", value, error.message);
}

static void take_cluster(struct argp_state *state, void *request, char *value) {
    struct sim *sim = request;
    options_take_cluster(state, &sim->cluster, value);
    sim->regions.cluster = &sim->cluster;
    sim->regions.version = CULPRIT_VERSION;
    sim->regions.options = &sim->run.machine;
}

#define REQUEST struct sim
static const struct option_row OPTIONS[] = {
    HEADING(4, "The whole run from regions of it:"),
    LIST("regions", "LIST", regions.lists, regions.list_count,
         "Simulate the regions of this list, captured by 'culprit trace --regions', and combine "
         "them; once for each of several runs whose regions were chosen together ('culprit "
         "regions --merge'). With the trace of the whole run they are cut out of that, with what "
         "was called and allocated before each",
         .must = " lists"),
    JOBS_ROW(regions.jobs, "regions"),
    CLUSTER_ROW(take_cluster, "the regions, whose results lie in LIST.results"),
    REGIONS_WARM_UP_ROW(regions.warm_up),
    COUNT("regions-over", "N", run.study.threads.over,
          "A program whose threads are simulated together, and of more than N instructions, is "
          "simulated by regions (default 2G; 0: never)"),
    HEADING(5, "Pipeline picture:"),
    WRITTEN_FILE("kanata", "FILE", kanata_path, "Write a window of cycles for the Konata viewer",
                 .not_again = true),
    COUNT("kanata-from", "CYCLE", kanata_from,
          "It begins at this cycle (default: where the first instruction is fetched)",
          .not_again = true, GIVEN(kanata_window)),
    COUNT("kanata-cycles", "N", kanata_cycles, "It lasts N cycles (default 1000, at most 100K)",
          .least = 1, .most = KANATA_MAX_CYCLES, .not_again = true, GIVEN(kanata_window)),
    HEADING(6, "What the core shows, as files:"),
    TAKE("tap", "KIND:FILE[,SETTING...]", take_tracer,
         "Write a trace; may be repeated. KIND: binary, csv (a line per commit), life (a line per "
         "µop), calls (cycles by call stack, folded for flame graphs), counters (a line per "
         "interval), bbv (basic block vectors for SimPoint), tip, tea (samples, for 'culprit "
         "samples'), shotgun (samples, for 'culprit icost --shotgun-file'). SETTING: "
         "start=TRIGGER, stop=TRIGGER, interval=N; of tip and tea also sampling=random (a random "
         "cycle of each interval in place of its last) and seed=N. "
         "TRIGGER: cycle:N, insn:N, 0xADDRESS, 0xADDRESS:N (its N-th execution)",
         .not_again = true),
    HEADING(7, "What each slice took:"),
    WRITTEN_FILE("slices", "FILE", slices_request.path,
                 "Write cycles, events and misses of each slice, as CSV", .not_again = true),
    COUNT("slice-size", "N", slices_request.size,
          "A slice is N instructions of its thread (default 10M)", .least = 1,
          .must = "a slice has at least one instruction", .not_again = true),
    TEXT("slices-like", "FILE", slices_request.like,
         "Slices as in this table, which lies beside basic block vectors (NAME.bb.slices)",
         .not_again = true),
    HEADING(11, "Pictures of threads:"),
    WRITTEN_FILE("speedup-stack", "FILE", speedup_path,
                 "Draw what cores were used, or idle, for, as SVG", .not_again = true),
    WRITTEN_FILE("bottle-graph", "FILE", bottle_path,
                 "Draw each thread's share of the run time and its parallelism, as SVG",
                 .not_again = true),
    {0}};

/* Positions of slices count from the beginning of a thread. */
static void check_slices(const struct sim *sim, const struct argp_state *state) {
    const struct slices_request *slices = &sim->slices_request;
    const char *option = slices->like ? "--slices-like" : "--slice-size";
    if ((slices->size || slices->like) && !slices->path)
        options_fail(state, "%s: it says where slices end, not what to write (add --slices FILE)",
                     option);
    if (slices->size && slices->like)
        options_fail(state, "--slice-size and --slices-like: one or the other");
    if (slices->path && (sim->run.input.skip || sim->run.input.from || sim->run.input.on_signal))
        options_fail(state, "--slices: slices count from the beginning of the run (without --skip, "
                            "--from and --on-signal)");
}

static bool asks_for_past(const struct sim *sim) {
    const struct path_options *paths = &sim->run.path_options;
    const enum report_by by = sim->run.verb.output.by;
    return path_options_any(paths) || path_options_data(paths, by) || by == BY_PATH;
}

static void check_regions(const struct sim *sim, const struct argp_state *state) {
    const struct regions_request *regions = &sim->regions;
    if (!regions->list_count && regions->jobs)
        options_fail(state, "--jobs: it is about regions (add --regions LIST)");
    if (regions->cluster && (!regions->list_count || sim->run.input.trace))
        options_fail(state,
                     "--cluster: nodes simulate regions that were captured (add --regions "
                     "LIST%s)",
                     regions->list_count ? ", without the trace of the whole run" : "");
    if (regions->cluster && save_is_wanted(&sim->run.save_options))
        options_fail(state, "--save: nodes do not tell all that a profile has (without --cluster)");
    struct input_options input = sim->run.input;
    if (regions->list_count == 1)
        input.trace = NULL; /* of the whole run */
    options_check_regions(state, &input, regions->list_count, regions->warm_up, "simulated");
    if ((sim->speedup_path || sim->bottle_path) &&
        (regions->list_count || sim->run.study.threads.alone))
        options_fail(state, "%s: it shows threads that are simulated together (without %s)",
                     sim->speedup_path ? "--speedup-stack" : "--bottle-graph",
                     regions->list_count ? "--regions" : "--alone");
    if (regions->list_count && (sim->kanata_path || sim->tracers || sim->slices_request.path ||
                                sim->run.struct_options.given))
        options_fail(state, "--regions: --kanata, --tap, --slices and --fields are for a single "
                            "run (give one region's trace instead)");
    if (regions->list_count && !sim->run.input.trace && asks_for_past(sim))
        options_fail(state,
                     "--regions: traces of regions do not tell what was called and allocated "
                     "before them: for --tree, --callers, --folded, --data, --python, --by path "
                     "and --by object give the trace of the whole run as well (sim --regions LIST "
                     "TRACE.ctrace)");
    if (sim->run.input.trace && !strcmp(sim->run.input.trace, "-") && regions->list_count)
        options_fail(state, "--regions: the trace of the whole run is read twice: from a file");
}

static void check(struct argp_state *state, void *given) {
    struct sim *sim = given;
    const bool any = sim->run.input.command || sim->run.input.trace || sim->regions.list_count;
    if (sim->kanata_window && !sim->kanata_path)
        options_fail(state, "%s: it says which cycles to write, not where (add --kanata FILE)",
                     sim->kanata_from != KANATA_FIRST ? "--kanata-from" : "--kanata-cycles");
    check_slices(sim, state);
    check_regions(sim, state);
    run_check_levels(&sim->run, state);
    path_options_check(state, &sim->run.path_options, sim->run.verb.output.by);
    structs_check(state, &sim->run.struct_options, &sim->run.input);
    if (sim->run.verb.output.legend && !any)
        options_explain_words();
    if (!any)
        options_fail(state, "what to simulate? (culprit sim [OPTION...] -- COMMAND..., "
                            "culprit sim FILE.ctrace, or culprit sim --regions LIST)");
}

static const struct option_part PARTS[] = {
    RUN_PARTS, MACHINE_USAGE_PART, {&together_group, offsetof(struct sim, run.study.threads)}, {0}};

static const struct command_line LINE = {
    .own = {.options = OPTIONS, .begin = begin, .end = check},
    .parts = PARTS,
    .arguments = "[--] COMMAND...\nTRACE.ctrace\n--regions LIST [TRACE.ctrace]",
    .help = "Simulates a command, or a trace, on a machine: every cycle goes to the instruction "
            "that caused it, with what happened to it (Oracle and TEA's golden reference).\v"
            "Example:\n  culprit sim --limit 50M -- gzip -9 -c /bin/bash > /dev/null\n\n"
            "The report goes to standard error, the command keeps standard output and its exit "
            "status; 125 when culprit failed."};

static const struct verb *choose(void *verb) {
    return ((struct sim *)verb)->regions.list_count ? &sim_regions : &verb_sim;
}

const struct verb verb_sim = {.line = &LINE,
                              .size = sizeof(struct sim),
                              .command = offsetof(struct sim, run.input.command),
                              .choose = choose,
                              .prepare = sim_prepare,
                              .run = sim_run,
                              .report = sim_report,
                              .free = sim_free};
