/* Fragments of the graph are kept while the program is simulated, and looked at afterwards. */
#include "cmd/icost_path.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "cmd/options.h"
#include "simulate/graph_keeper.h"
#include "util/clock.h"
#include "util/text.h"

enum { KEY_CRITICAL = 3072, KEY_SLACK, KEY_LOADS };

static const struct argp_option OPTIONS[] = {
    {NULL, 0, NULL, 0, "Where in the program, from pieces of the graph:", 8},
    {"critical", KEY_CRITICAL, NULL, 0,
     "Show the critical path: cycles by what they waited for, and by instruction", 0},
    {"slack", KEY_SLACK, NULL, 0,
     "Show by how much results could be later with no loss, and of which instructions", 0},
    {"loads", KEY_LOADS, "K", OPTION_ARG_OPTIONAL,
     "Show what the misses of each of K loads cost (default 16), and how pairs of them interact",
     0},
    {0}};

static error_t parse(int key, char *value, struct argp_state *state) {
    struct path_choice *choice = state->input;
    switch (key) {
    case KEY_CRITICAL:
        choice->parts |= INSPECT_CRITICAL;
        return 0;
    case KEY_SLACK:
        choice->parts |= INSPECT_SLACK;
        return 0;
    case KEY_LOADS: {
        uint64_t count = value ? options_count(state, "--loads", value) : LOADS_DEFAULT;
        if (!count || count > LOADS_MOST)
            options_fail(state, "--loads %s: from 1 to %d", value, LOADS_MOST);
        choice->parts |= INSPECT_LOADS;
        choice->loads = (uint32_t)count;
        return 0;
    }
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

const struct argp path_argp = {.options = OPTIONS, .parser = parse};

struct icost_path {
    struct path_choice choice;
    struct graph_machine machine;
    struct graph_keeper *keeper; /* NULL: done with */
    struct inspection inspection;
    struct program *names;
    struct inspection_report report;
};

struct icost_path *icost_path_new(const struct path_choice *choice, const struct machine *machine,
                                  enum isa isa, struct error *error) {
    struct icost_path *path = calloc(1, sizeof *path);
    if (!path || !(path->names = program_new())) {
        error_set(error, "out of memory for the critical path");
        free(path);
        return NULL;
    }
    path->choice = *choice;
    graph_machine_of(machine, &path->machine);
    if (!(path->keeper = graph_keeper_new(machine, isa, error))) {
        icost_path_free(path);
        return NULL;
    }
    return path;
}

struct simulation_observer icost_path_observer(struct icost_path *path) {
    return graph_keeper_observer(path->keeper);
}

bool icost_path_finish(struct icost_path *path, const struct code *code, uint32_t top,
                       double threshold, struct error *error) {
    const struct inspection_options options = {
        .slack = path->choice.parts & INSPECT_SLACK,
        .loads = path->choice.parts & INSPECT_LOADS ? path->choice.loads : 0};
    double begun = clock_monotonic();
    bool good = inspect(&path->machine, graph_keeper_fragments(path->keeper), &options,
                        &path->inspection, error);
    graph_keeper_free(path->keeper);
    path->keeper = NULL;
    const struct inspection_request request = {.parts = path->choice.parts,
                                               .top = top,
                                               .threshold = threshold,
                                               .seconds = clock_monotonic() - begun};
    return good && inspection_report_build(&request, &path->inspection, code, path->names,
                                           &path->report, error);
}

const struct inspection_report *icost_path_report(const struct icost_path *path) {
    return &path->report;
}

bool icost_path_note(const struct icost_path *path, struct report *report, uint64_t cycles,
                     const char *of) {
    const struct inspection *inspection = &path->inspection;
    if (!inspection->fragments || !cycles)
        return true;
    double run = (double)cycles / (double)inspection->seen;
    double pieces = (double)inspection->cycles / (double)inspection->kept;
    return report_note(report,
                       "pieces of the graph%s: %" PRIu32 " of at most %s µops, looked at in %s; "
                       "each begins with nothing under way, and their cycles per µop are %s %% "
                       "off those of the run",
                       of, inspection->fragments, text_grouped(FRAGMENT_LENGTH).s,
                       text_duration(path->report.seconds).s,
                       text_percent(fabs(pieces - run), run).s);
}

void icost_path_free(struct icost_path *path) {
    if (!path)
        return;
    inspection_report_free(&path->report);
    inspection_free(&path->inspection);
    graph_keeper_free(path->keeper);
    program_free(path->names);
    free(path);
}
