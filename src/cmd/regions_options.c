/* The options of `culprit regions`. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/options.h"
#include "cmd/regions_request.h"
#include "util/array.h"

enum { MAX_RUNS = 1000 };

enum key {
    KEY_DIMENSIONS = 1024,
    KEY_MAX_CLUSTERS,
    KEY_MAXK,
    KEY_SEEDS,
    KEY_SEED,
    KEY_ITERATIONS,
    KEY_THRESHOLD,
    KEY_NEAREST_IN,
    KEY_EARLY,
    KEY_COVERAGE,
    KEY_SPLIT,
    KEY_METHOD,
    KEY_COUNT,
    KEY_DRAW,
    KEY_MERGE,
    KEY_RUN,
    KEY_MERGE_SLICES,
    KEY_SIMPOINTS,
    KEY_WEIGHTS,
    KEY_LOAD_SIMPOINTS,
    KEY_LOAD_WEIGHTS,
    KEY_LABELS,
    KEY_SVG,
    KEY_JSON,
    KEY_PREDICT,
    KEY_DRAWS,
    KEY_SWEEP,
    KEY_SWEEP_MAX_CLUSTERS,
    KEY_SWEEP_DIMENSIONS,
    KEY_SWEEP_THRESHOLDS,
    KEY_SWEEP_COVERAGES,
};

static const struct argp_option OPTIONS[] = {
    {NULL, 0, NULL, 0, "How to choose:", 1},
    {"dimensions", KEY_DIMENSIONS, "N", 0, "That vectors are projected to (default 15)", 0},
    {"max-clusters", KEY_MAX_CLUSTERS, "N", 0,
     "Most clusters, and so regions (default 30; 20 with --merge)", 0},
    {"maxk", KEY_MAXK, NULL, OPTION_ALIAS, NULL, 0},
    {"seeds", KEY_SEEDS, "N", 0, "Beginnings of k-means for each number of clusters (default 5)",
     0},
    {"seed", KEY_SEED, "N", 0, "Of projection and beginnings (default 1)", 0},
    {"iterations", KEY_ITERATIONS, "N", 0,
     "Of k-means at most (default 100, as SimPoint; 0: until nothing moves)", 0},
    {"threshold", KEY_THRESHOLD, "T", 0,
     "The fewest clusters whose score is this far from the lowest to the highest (default 0.9)", 0},
    {"nearest-in", KEY_NEAREST_IN, "SPACE", 0,
     "Where the slice that stands for a cluster is the nearest to its centroid: projected "
     "(default), or full: in the vectors before projection, which are read twice more",
     0},
    {"early", KEY_EARLY, "X", 0,
     "Not the nearest to the centroid, but the earliest that is farther by at most X times the "
     "spread of the cluster (default 0)",
     0},
    {"coverage", KEY_COVERAGE, "SHARE", 0,
     "Only the heaviest clusters, that together have this share of the run (default 1)", 0},
    {"split", KEY_SPLIT, "N", 0,
     "Split clusters in time, each into two and then the heaviest into more, until there are N: "
     "what the vectors do not show may "
     "differ within a cluster (default: as they are)",
     0},
    {"method", KEY_METHOD, "NAME", 0, "simpoint (default), or to compare with: random, systematic",
     0},
    {"count", KEY_COUNT, "N", 0,
     "Slices that random and systematic take (default: as many as simpoint would)", 0},
    {"draw", KEY_DRAW, "N", 0, "Which of their draws (default 1)", 0},
    {NULL, 0, NULL, 0, "From what:", 2},
    {"merge", KEY_MERGE, NULL, 0, "Of several runs of a program together", 0},
    {"run", KEY_RUN, "N", 0,
     "With --merge: write the regions that lie in the N-th run (the first is 0), with their "
     "weights "
     "among all runs",
     0},
    {"merge-slices", KEY_MERGE_SLICES, "N", 0, "Take N slices in a row as one", 0},
    {"load-simpoints", KEY_LOAD_SIMPOINTS, "FILE", 0,
     "Take the choice that SimPoint made of these vectors", 0},
    {"load-weights", KEY_LOAD_WEIGHTS, "FILE", 0, "Its weights", 0},
    {NULL, 0, NULL, 0, "How well it does, when the costs of all slices are known:", 3},
    {"predict", KEY_PREDICT, "COSTS.csv", 0,
     "Compare what the regions predict with what 'culprit sim --slices' recorded; once for each "
     "run",
     0},
    {"draws", KEY_DRAWS, "N", 0, "Random and systematic draws to compare with (default 100)", 0},
    {"sweep", KEY_SWEEP, "COSTS.csv", 0,
     "Vary the settings and compare; once for each FILE.bb, which are not merged", 0},
    {"sweep-max-clusters", KEY_SWEEP_MAX_CLUSTERS, "LIST", 0,
     "Of it: numbers, or FIRST:LAST:STEP (default 1:50:1)", 0},
    {"sweep-dimensions", KEY_SWEEP_DIMENSIONS, "LIST", 0,
     "Likewise (default 1,2,3,5,8,10,15,20,30,40,50)", 0},
    {"sweep-thresholds", KEY_SWEEP_THRESHOLDS, "LIST", 0, "Likewise (default 0:1:0.05)", 0},
    {"sweep-coverages", KEY_SWEEP_COVERAGES, "LIST", 0,
     "Likewise, shares of the run from its beginning that are profiled (default 0.1:1:0.1)", 0},
    {NULL, 0, NULL, 0, "What to write:", 4},
    {"output", 'o', "FILE", 0, "The list of regions (docs/region-format.md)", 0},
    {"simpoints", KEY_SIMPOINTS, "FILE", 0, "SimPoint's file of slices", 0},
    {"weights", KEY_WEIGHTS, "FILE", 0, "SimPoint's file of weights", 0},
    {"labels", KEY_LABELS, "FILE", 0, "The cluster of each slice, one per line", 0},
    {"svg", KEY_SVG, "FILE", 0, "A picture of the phases over time", 0},
    {"json", KEY_JSON, NULL, 0, "One JSON object (docs/json.md) in place of the text", 0},
    {0}};

/* ---- options ---- */

static uint32_t whole(const struct argp_state *state, const char *option, const char *value,
                      uint64_t least, uint64_t most) {
    uint64_t count = options_count(state, option, value);
    if (count < least || count > most)
        options_fail(state, "%s %s: from %" PRIu64 " to %" PRIu64, option, value, least, most);
    return (uint32_t)count;
}

static double fraction(const struct argp_state *state, const char *option, const char *value,
                       double most) {
    char *end;
    double number = strtod(value, &end);
    if (end == value || *end || !(number >= 0 && number <= most))
        options_fail(state, "%s %s: a number from 0 to %g", option, value, most);
    return number;
}

static enum selection_method method(const struct argp_state *state, const char *value) {
    for (int i = 0; i < SELECT_METHODS; i++)
        if (!strcmp(value, SELECTION_METHODS[i]))
            return (enum selection_method)i;
    options_fail(state, "--method %s: one of simpoint, random, systematic", value);
}

static enum selection_space space(const struct argp_state *state, const char *value) {
    for (int i = 0; i < SELECT_SPACES; i++)
        if (!strcmp(value, SELECTION_SPACES[i]))
            return (enum selection_space)i;
    options_fail(state, "--nearest-in %s: projected or full", value);
}

static error_t parse_choice(int key, char *value, struct argp_state *state) {
    struct regions_request *request = state->input;
    struct selection_settings *selection = &request->settings.selection;
    struct region_settings *clusters = &selection->clusters;
    switch (key) {
    case KEY_DIMENSIONS:
        request->settings.dimensions =
            whole(state, "--dimensions", value, 1, PROJECTION_MAX_DIMENSIONS);
        return 0;
    case KEY_MAX_CLUSTERS:
    case KEY_MAXK:
        clusters->max_clusters = whole(state, "--max-clusters", value, 1, KMEANS_MAX_CLUSTERS);
        request->max_clusters_given = true;
        return 0;
    case KEY_SEEDS:
        clusters->seeds = whole(state, "--seeds", value, 1, 1000);
        return 0;
    case KEY_SEED:
        clusters->seed = options_count(state, "--seed", value);
        return 0;
    case KEY_ITERATIONS:
        clusters->iterations = whole(state, "--iterations", value, 0, KMEANS_MAX_PASSES);
        if (clusters->iterations == 0)
            clusters->iterations = KMEANS_MAX_PASSES;
        return 0;
    case KEY_THRESHOLD:
        clusters->threshold = fraction(state, "--threshold", value, 1);
        return 0;
    case KEY_NEAREST_IN:
        selection->nearest_in = space(state, value);
        return 0;
    case KEY_EARLY:
        clusters->early = fraction(state, "--early", value, 1000);
        return 0;
    case KEY_COVERAGE:
        selection->coverage = fraction(state, "--coverage", value, 1);
        return 0;
    case KEY_SPLIT:
        selection->split = whole(state, "--split", value, 1, REGIONS_MAX);
        return 0;
    case KEY_METHOD:
        selection->method = method(state, value);
        return 0;
    case KEY_COUNT:
        selection->count = whole(state, "--count", value, 1, REGIONS_MAX);
        return 0;
    case KEY_DRAW:
        selection->draw = options_count(state, "--draw", value);
        return 0;
    case KEY_MERGE_SLICES:
        request->settings.merge_slices = whole(state, "--merge-slices", value, 1, BBV_MAX_SLICES);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static double list_number(const struct argp_state *state, const char *option, const char *list,
                          const char **at) {
    char *end;
    double number = strtod(*at, &end);
    if (end == *at || !isfinite(number))
        options_fail(state, "%s %s: numbers with commas between them, or FIRST:LAST:STEP", option,
                     list);
    *at = end;
    return number;
}

/* A list as it is, or a range; of numbers from `least` to `most` that grow. */
static void parse_list(const struct argp_state *state, const char *option, const char *list,
                       double least, double most, bool whole_numbers, struct sweep_grid *grid) {
    enum { MOST_VALUES = 10000 };
    const char *at = list;
    grid->count = 0;
    double first = list_number(state, option, list, &at), last = first, step = 1;
    bool range = *at == ':';
    if (range) {
        at++;
        last = list_number(state, option, list, &at);
        if (*at == ':') {
            at++;
            step = list_number(state, option, list, &at);
        }
        if (!(step > 0))
            options_fail(state, "%s %s: the step is not over 0", option, list);
    }
    for (double value = first;;) {
        value = round(value * 1e9) / 1e9; /* 3 × 0.1 is to be 0.3 */
        bool grows = grid->count == 0 || value > grid->values[grid->count - 1];
        if (!(value >= least && value <= most) || !grows ||
            (whole_numbers && value != floor(value)))
            options_fail(state, "%s %s: %snumbers from %g to %g that grow", option, list,
                         whole_numbers ? "whole " : "", least, most);
        if (grid->count == MOST_VALUES || !array_reserve((void **)&grid->values, &grid->capacity,
                                                         grid->count + 1, sizeof *grid->values))
            options_fail(state, "%s %s: too many", option, list);
        grid->values[grid->count++] = value;
        if (range && first + (double)grid->count * step > last + 1e-9)
            break;
        if (!range && *at != ',')
            break;
        at += !range;
        value = range ? first + (double)grid->count * step : list_number(state, option, list, &at);
    }
    if (*at)
        options_fail(state, "%s %s: numbers with commas between them, or FIRST:LAST:STEP", option,
                     list);
}

/* Before options change them. */
static void set_default_grids(const struct argp_state *state, struct sweep_settings *grids) {
    struct sweep_grid *others = grids->others;
    parse_list(state, "", "1:50:1", 1, KMEANS_MAX_CLUSTERS, true, &grids->max_clusters);
    parse_list(state, "", "1,2,3,5,8,10,15,20,30,40,50", 1, PROJECTION_MAX_DIMENSIONS, true,
               &others[SWEEP_DIMENSIONS]);
    parse_list(state, "", "0:1:0.05", 0, 1, false, &others[SWEEP_THRESHOLD]);
    parse_list(state, "", "0.1:1:0.1", 0, 1, false, &others[SWEEP_COVERAGE]);
}

static void add_costs(struct regions_request *request, const char *path) {
    request->costs[request->cost_count++] = path;
}

static error_t parse_costs(int key, char *value, struct argp_state *state) {
    struct regions_request *request = state->input;
    struct sweep_grid *others = request->grids.others;
    switch (key) {
    case KEY_PREDICT:
        request->predict = true;
        add_costs(request, value);
        return 0;
    case KEY_DRAWS:
        request->draws = whole(state, "--draws", value, 1, 1000000);
        return 0;
    case KEY_SWEEP:
        request->sweep = true;
        add_costs(request, value);
        return 0;
    case KEY_SWEEP_MAX_CLUSTERS:
        parse_list(state, "--sweep-max-clusters", value, 1, KMEANS_MAX_CLUSTERS, true,
                   &request->grids.max_clusters);
        return 0;
    case KEY_SWEEP_DIMENSIONS:
        parse_list(state, "--sweep-dimensions", value, 1, PROJECTION_MAX_DIMENSIONS, true,
                   &others[SWEEP_DIMENSIONS]);
        return 0;
    case KEY_SWEEP_THRESHOLDS:
        parse_list(state, "--sweep-thresholds", value, 0, 1, false, &others[SWEEP_THRESHOLD]);
        return 0;
    case KEY_SWEEP_COVERAGES:
        parse_list(state, "--sweep-coverages", value, 0, 1, false, &others[SWEEP_COVERAGE]);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* What goes with --sweep, and what only without. */
static void check_costs(const struct regions_request *request, const struct argp_state *state) {
    if (request->predict && request->sweep)
        options_fail(state, "--predict or --sweep, not both");
    if (request->cost_count && request->cost_count != request->vector_count)
        options_fail(state, "%s: once for each FILE.bb, in their order",
                     request->sweep ? "--sweep" : "--predict");
    if (request->sweep && (request->merge || request->output || request->simpoints ||
                           request->weights || request->labels || request->load_simpoints ||
                           request->settings.selection.method != SELECT_SIMPOINT))
        options_fail(state, "--sweep: writes no list of regions; of the files only --svg");
    if (request->sweep && request->settings.selection.nearest_in == SPACE_FULL)
        options_fail(state,
                     "--sweep: takes the nearest in the projected space, not --nearest-in full");
}

static void check(const struct regions_request *request, const struct argp_state *state) {
    const struct selection_settings *selection = &request->settings.selection;
    check_costs(request, state);
    if (request->vector_count == 0)
        options_fail(state, "which vectors? (culprit regions FILE.bb, from 'culprit bbv')");
    if (request->vector_count > 1 && !request->merge && !request->sweep)
        options_fail(state, "%s: one file at a time, or --merge", request->vectors[1]);
    if (request->run_given && request->run >= request->vector_count)
        options_fail(state, "--run %" PRIu32 ": the runs are 0 to %" PRIu32, request->run,
                     request->vector_count - 1);
    if (request->output && request->vector_count > 1 && !request->run_given)
        options_fail(state, "--output: a list is of one run: say which with --run");
    if (!request->load_simpoints != !request->load_weights)
        options_fail(state, "--load-simpoints and --load-weights: both are needed");
    if (selection->count && selection->method == SELECT_SIMPOINT)
        options_fail(state, "--count: only with --method random or systematic (else "
                            "--max-clusters)");
    if (request->labels && (selection->method != SELECT_SIMPOINT || request->load_simpoints))
        options_fail(state, "--labels: only with the clusters of --method simpoint");
}

static error_t parse(int key, char *value, struct argp_state *state) {
    struct regions_request *request = state->input;
    switch (key) {
    case KEY_MERGE:
        request->merge = true;
        return 0;
    case KEY_RUN:
        request->run = whole(state, "--run", value, 0, MAX_RUNS);
        request->run_given = true;
        return 0;
    case 'o':
        request->output = options_file(state, "--output", value);
        return 0;
    case KEY_SIMPOINTS:
        request->simpoints = options_file(state, "--simpoints", value);
        return 0;
    case KEY_WEIGHTS:
        request->weights = options_file(state, "--weights", value);
        return 0;
    case KEY_LOAD_SIMPOINTS:
        request->load_simpoints = value;
        return 0;
    case KEY_LOAD_WEIGHTS:
        request->load_weights = value;
        return 0;
    case KEY_LABELS:
        request->labels = options_file(state, "--labels", value);
        return 0;
    case KEY_SVG:
        request->svg = options_file(state, "--svg", value);
        return 0;
    case KEY_JSON:
        request->json = true;
        return 0;
    case ARGP_KEY_ARG:
        request->vectors[request->vector_count++] = value;
        return 0;
    case ARGP_KEY_INIT:
        set_default_grids(state, &request->grids);
        return 0;
    case ARGP_KEY_END:
        check(request, state);
        if (request->merge && !request->max_clusters_given)
            request->settings.selection.clusters.max_clusters = 20;
        return 0;
    default:
        return parse_choice(key, value, state) == 0 ? 0 : parse_costs(key, value, state);
    }
}

const struct argp regions_argp = {
    .options = OPTIONS,
    .parser = parse,
    .args_doc = "FILE.bb [FILE.bb...]",
    .doc = "Chooses slices of a run that together stand for all of it (SimPoint): slices that "
           "execute the same code are one phase, and of each phase one slice is enough."
           "\vExample:\n  culprit bbv -o gzip.bb -- gzip -9 -c /bin/bash > /dev/null\n"
           "  culprit regions -o gzip.csv gzip.bb\n\n"
           "FILE.bb.slices, where it is there, says where in the run the slices are; SimPoint's "
           "own files and those of valgrind's exp-bbv do without."};

void regions_request_free(struct regions_request *request) {
    free(request->vectors);
    free(request->costs);
    free(request->grids.max_clusters.values);
    for (int i = 0; i < SWEEP_KINDS; i++)
        free(request->grids.others[i].values);
}
