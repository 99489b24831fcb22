/* Fragments of the graph are kept while the program is simulated, and looked at afterwards. */
#include "cmd/icost_path.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "cmd/options.h"
#include "simulate/graph_keeper.h"
#include "util/clock.h"
#include "util/text.h"

static void take_critical(struct argp_state *state, void *request, char *value) {
    (void)state, (void)value;
    ((struct path_choice *)request)->parts |= INSPECT_CRITICAL;
}

static void take_slack(struct argp_state *state, void *request, char *value) {
    (void)state, (void)value;
    ((struct path_choice *)request)->parts |= INSPECT_SLACK;
}

static void take_loads(struct argp_state *state, void *request, char *value) {
    struct path_choice *choice = request;
    choice->parts |= INSPECT_LOADS;
    choice->loads = value ? (uint32_t)options_count_within(state, "--loads", value, 1, LOADS_MOST)
                          : LOADS_DEFAULT;
}

static const struct option_row OPTIONS[] = {
    HEADING(8, "Where in the program, from pieces of the graph:"),
    TAKE("critical", NULL, take_critical,
         "Show the critical path: cycles by what they waited for, and by instruction"),
    TAKE("slack", NULL, take_slack,
         "Show by how much results could be later with no loss, and of which instructions"),
    TAKE("loads", "K", take_loads,
         "Show what the misses of each of K loads cost (default 16), and how pairs of them "
         "interact",
         .optional = true),
    {0}};

const struct option_group path_group = {.options = OPTIONS};

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
