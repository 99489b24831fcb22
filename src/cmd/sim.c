/* culprit sim: simulates a command or a trace on a machine, every instruction. */
#include <stdlib.h>

#include "attribute/tracers.h"
#include "cmd/cmd.h"
#include "cmd/legend.h"
#include "cmd/run.h"
#include "cmd/sim_regions.h"
#include "report/kanata.h"

enum key {
    KEY_KANATA = 1024,
    KEY_KANATA_FROM,
    KEY_KANATA_CYCLES,
    KEY_TAP,
    KEY_SLICES,
    KEY_SLICE_SIZE,
    KEY_SLICES_LIKE,
    KEY_REGIONS,
    KEY_JOBS,
    KEY_WARM_UP
};

enum { MAX_JOBS = 1024 };

static const struct argp_option OPTIONS[] = {
    {NULL, 0, NULL, 0, "The whole run from regions of it:", 4},
    {"regions", KEY_REGIONS, "LIST", 0,
     "Simulate the regions of this list, captured by 'culprit trace --regions', and combine them; "
     "once for each of several runs whose regions were chosen together ('culprit regions --merge')",
     0},
    {"jobs", KEY_JOBS, "N", 0, "N regions at once (default: as many as processors)", 0},
    {"warm-up", KEY_WARM_UP, "N", 0,
     "Warm caches and predictors with at most N instructions before each region (default: all that "
     "were captured)",
     0},
    {NULL, 0, NULL, 0, "Pipeline picture:", 5},
    {"kanata", KEY_KANATA, "FILE", 0, "Write a window of cycles for the Konata viewer", 0},
    {"kanata-from", KEY_KANATA_FROM, "CYCLE", 0, "It begins at this cycle (default 0)", 0},
    {"kanata-cycles", KEY_KANATA_CYCLES, "N", 0, "It lasts N cycles (default 1000, at most 100K)",
     0},
    {NULL, 0, NULL, 0, "What the core shows, as files:", 6},
    {"tap", KEY_TAP, "KIND:FILE[,SETTING...]", 0,
     "Write a trace; may be repeated. KIND: binary, csv (a line per commit), life (a line per "
     "µop), "
     "calls (cycles by call stack, folded for flame graphs), counters (a line per interval), bbv "
     "(basic block vectors for SimPoint), tip, tea (samples, for 'culprit samples'), shotgun "
     "(samples, for 'culprit icost --shotgun-file'). SETTING: "
     "start=TRIGGER, stop=TRIGGER, interval=N; of tip and tea also sampling=random (a random cycle "
     "of each interval in place of its last) and seed=N. "
     "TRIGGER: cycle:N, insn:N, 0xADDRESS, 0xADDRESS:N (its N-th execution)",
     0},
    {NULL, 0, NULL, 0, "What each slice took:", 7},
    {"slices", KEY_SLICES, "FILE", 0, "Write cycles, events and misses of each slice, as CSV", 0},
    {"slice-size", KEY_SLICE_SIZE, "N", 0, "A slice is N instructions of its thread (default 10M)",
     0},
    {"slices-like", KEY_SLICES_LIKE, "FILE", 0,
     "Slices as in this table, which lies beside basic block vectors (NAME.bb.slices)", 0},
    {0}};

static void add_tracer(struct run_request *request, struct argp_state *state, const char *text) {
    struct error error = {"out of memory"};
    if (!request->tracers)
        request->tracers = tracers_new(tracer_kinds);
    if (!request->tracers || !tracers_add(request->tracers, text, &error))
        options_fail(state, "--tap %s: %s", text, error.message);
}

/* Positions of slices count from the beginning of a thread. */
static void check_slices(const struct run_request *request, const struct argp_state *state) {
    const struct slices_request *slices = &request->slices;
    const char *option = slices->like ? "--slices-like" : "--slice-size";
    if ((slices->size || slices->like) && !slices->path)
        options_fail(state, "%s: it says where slices end, not what to write (add --slices FILE)",
                     option);
    if (slices->size && slices->like)
        options_fail(state, "--slice-size and --slices-like: one or the other");
    if (slices->path && (request->input.skip || request->input.from || request->input.on_signal))
        options_fail(state, "--slices: slices count from the beginning of the run (without --skip, "
                            "--from and --on-signal)");
}

static void check_regions(const struct run_request *request, const struct argp_state *state) {
    const struct regions_request *regions = &request->regions;
    if (!regions->list_count && (regions->jobs || regions->warm_up != UINT64_MAX))
        options_fail(state, "%s: it is about regions (add --regions LIST)",
                     regions->jobs ? "--jobs" : "--warm-up");
    if (!regions->list_count)
        return;
    options_check_regions(state, &request->input, "simulated");
    if (request->kanata || request->tracers || request->slices.path)
        options_fail(state, "--regions: --kanata, --tap and --slices are for a single run "
                            "(give one region's trace instead)");
}

static error_t parse(int key, char *value, struct argp_state *state) {
    struct run_request *request = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &request->input;
        state->child_inputs[1] = &request->machine;
        state->child_inputs[2] = &request->output;
        state->child_inputs[3] = &request->output.by;
        state->child_inputs[4] = &request->save;
        state->child_inputs[5] = &request->input;
        state->child_inputs[6] = &request->output;
        return 0;
    case KEY_KANATA:
        options_leave_out(request->argv, state, value);
        request->kanata = options_file(state, "--kanata", value);
        return 0;
    case KEY_KANATA_FROM:
        options_leave_out(request->argv, state, value);
        request->kanata_window = "--kanata-from";
        request->kanata_from = options_count(state, "--kanata-from", value);
        return 0;
    case KEY_KANATA_CYCLES:
        options_leave_out(request->argv, state, value);
        request->kanata_window = "--kanata-cycles";
        request->kanata_cycles = options_count(state, "--kanata-cycles", value);
        if (!request->kanata_cycles || request->kanata_cycles > KANATA_MAX_CYCLES)
            options_fail(state, "--kanata-cycles %s: from 1 to %d", value, KANATA_MAX_CYCLES);
        return 0;
    case KEY_REGIONS:
        if (request->regions.list_count == RUN_MOST_LISTS)
            options_fail(state, "--regions: more than %d lists", RUN_MOST_LISTS);
        request->regions.lists[request->regions.list_count++] = value;
        return 0;
    case KEY_JOBS: {
        uint64_t jobs = options_count(state, "--jobs", value);
        if (!jobs || jobs > MAX_JOBS)
            options_fail(state, "--jobs %s: from 1 to %d", value, MAX_JOBS);
        request->regions.jobs = (uint32_t)jobs;
        return 0;
    }
    case KEY_WARM_UP:
        request->regions.warm_up = options_count(state, "--warm-up", value);
        return 0;
    case KEY_SLICES:
        options_leave_out(request->argv, state, value);
        request->slices.path = options_file(state, "--slices", value);
        return 0;
    case KEY_SLICE_SIZE:
        options_leave_out(request->argv, state, value);
        if (!(request->slices.size = options_count(state, "--slice-size", value)))
            options_fail(state, "--slice-size 0: a slice has at least one instruction");
        return 0;
    case KEY_SLICES_LIKE:
        options_leave_out(request->argv, state, value);
        request->slices.like = value;
        return 0;
    case KEY_TAP:
        options_leave_out(request->argv, state, value);
        add_tracer(request, state, value);
        return 0;
    case ARGP_KEY_END:
        if (request->kanata_window && !request->kanata)
            options_fail(state, "%s: it says which cycles to write, not where (add --kanata FILE)",
                         request->kanata_window);
        check_slices(request, state);
        check_regions(request, state);
        if (request->output.legend && !request->input.command && !request->input.trace &&
            !request->regions.list_count)
            legend_alone();
        if (!request->input.command && !request->input.trace && !request->regions.list_count)
            options_fail(state, "what to simulate? (culprit sim [OPTION...] -- COMMAND..., "
                                "culprit sim FILE.ctrace, or culprit sim --regions LIST)");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child CHILDREN[] = {
    {&input_argp, 0, NULL, 0},  {&machine_argp, 0, NULL, 0},
    {&output_argp, 0, NULL, 0}, {&grain_argp, 0, NULL, 0},
    {&save_argp, 0, NULL, 0},   {&for_argp, 0, NULL, 0},
    {&legend_argp, 0, NULL, 0}, {0}};

static const struct argp ARGP = {
    .options = OPTIONS,
    .parser = parse,
    .args_doc = "[--] COMMAND...\nTRACE.ctrace\n--regions LIST",
    .doc = "Simulates a command, or a trace, on a machine: every cycle goes to the instruction "
           "that caused it, with what happened to it (Oracle and TEA's golden reference).\v"
           "Example:\n  culprit sim --limit 50M -- gzip -9 -c /bin/bash > /dev/null\n\n"
           "The report goes to standard error, the command keeps standard output and its exit "
           "status; 125 when culprit failed.",
    .children = CHILDREN};

int cmd_sim(int argc, char **argv) {
    struct run_request request = {.verb = "sim",
                                  .argc = argc,
                                  .argv = options_words(argc, argv),
                                  .sampling = sampling_everything(),
                                  .regions = {.warm_up = UINT64_MAX},
                                  .kanata_cycles = 1000};
    request.input.traces_allowed = true;
    request.output.words = request.argv;
    options_parse(&ARGP, argc, argv, &request);
    int status = request.regions.list_count ? run_regions(&request) : run_simulation(&request);
    free(request.argv);
    return status;
}
