/* The options of `culprit regions`. */
#include <inttypes.h>
#include <stdlib.h>

#include "cmd/regions_request.h"

enum { MAX_RUNS = 1000 };

static void take_iterations(struct argp_state *state, void *request, char *value) {
    const uint64_t most = options_count_within(state, "--iterations", value, 0, KMEANS_MAX_PASSES);
    ((struct regions_request *)request)->settings.selection.clusters.iterations =
        most ? (uint32_t)most : KMEANS_MAX_PASSES;
}

static void take_grid(const struct argp_state *state, const char *option, const char *list,
                      double least, double most, bool whole, struct sweep_grid *grid) {
    struct error error;
    if (!sweep_grid_read(grid, list, least, most, whole, &error))
        options_fail(state, "%s %s: %s", option, list, error.message);
}

/* Before options change them. */
static void begin(void *verb) {
    struct regions_request *request = verb;
    struct sweep_settings *grids = &request->grids;
    const size_t words = (size_t)request->verb.argc;
    struct sweep_grid *others = grids->others;
    request->settings = CHOOSE_DEFAULTS;
    request->draws = 100;
    request->vectors = calloc(words, sizeof *request->vectors);
    request->costs = calloc(words, sizeof *request->costs);
    if (!request->vectors || !request->costs)
        abort(); /* no room for a few words */
    take_grid(NULL, "", "1:50:1", 1, KMEANS_MAX_CLUSTERS, true, &grids->max_clusters);
    take_grid(NULL, "", "1,2,3,5,8,10,15,20,30,40,50", 1, PROJECTION_MAX_DIMENSIONS, true,
              &others[SWEEP_DIMENSIONS]);
    take_grid(NULL, "", "0:1:0.05", 0, 1, false, &others[SWEEP_THRESHOLD]);
    take_grid(NULL, "", "0.1:1:0.1", 0, 1, false, &others[SWEEP_COVERAGE]);
}

static void take_costs(struct argp_state *state, void *given, char *value) {
    (void)state;
    struct regions_request *request = given;
    request->costs[request->cost_count++] = value;
}

static struct sweep_settings *grids_of(void *request) {
    return &((struct regions_request *)request)->grids;
}

static void take_max_clusters(struct argp_state *state, void *request, char *value) {
    take_grid(state, "--sweep-max-clusters", value, 1, KMEANS_MAX_CLUSTERS, true,
              &grids_of(request)->max_clusters);
}

static void take_dimensions(struct argp_state *state, void *request, char *value) {
    take_grid(state, "--sweep-dimensions", value, 1, PROJECTION_MAX_DIMENSIONS, true,
              &grids_of(request)->others[SWEEP_DIMENSIONS]);
}

static void take_thresholds(struct argp_state *state, void *request, char *value) {
    take_grid(state, "--sweep-thresholds", value, 0, 1, false,
              &grids_of(request)->others[SWEEP_THRESHOLD]);
}

static void take_coverages(struct argp_state *state, void *request, char *value) {
    take_grid(state, "--sweep-coverages", value, 0, 1, false,
              &grids_of(request)->others[SWEEP_COVERAGE]);
}

#define REQUEST struct regions_request
#define CHOSEN  settings.selection
static const struct option_row OPTIONS[] = {
    HEADING(1, "How to choose:"),
    COUNT("dimensions", "N", settings.dimensions, "That vectors are projected to (default 15)",
          .least = 1, .most = PROJECTION_MAX_DIMENSIONS),
    COUNT("max-clusters", "N", CHOSEN.clusters.max_clusters,
          "Most clusters, and so regions (default 30; 20 with --merge)", .alias = "maxk",
          .least = 1, .most = KMEANS_MAX_CLUSTERS, GIVEN(max_clusters_given)),
    COUNT("seeds", "N", CHOSEN.clusters.seeds,
          "Beginnings of k-means for each number of clusters (default 5)", .least = 1,
          .most = 1000),
    COUNT("seed", "N", CHOSEN.clusters.seed, "Of projection and beginnings (default 1)"),
    TAKE("iterations", "N", take_iterations,
         "Of k-means at most (default 100, as SimPoint; 0: until nothing moves)"),
    FRACTION("threshold", "T", CHOSEN.clusters.threshold,
             "The fewest clusters whose score is this far from the lowest to the highest (default "
             "0.9)",
             1),
    CHOICE("nearest-in", "SPACE", CHOSEN.nearest_in,
           "Where the slice that stands for a cluster is the nearest to its centroid: projected "
           "(default), or full: in the vectors before projection, which are read twice more",
           SELECTION_SPACES),
    FRACTION("early", "X", CHOSEN.clusters.early,
             "Not the nearest to the centroid, but the earliest that is farther by at most X times "
             "the spread of the cluster (default 0)",
             1000),
    FRACTION("coverage", "SHARE", CHOSEN.coverage,
             "Only the heaviest clusters, that together have this share of the run (default 1)", 1),
    COUNT("split", "N", CHOSEN.split,
          "Split clusters in time, each into two and then the heaviest into more, until there are "
          "N: what the vectors do not show may differ within a cluster (default: as they are)",
          .least = 1, .most = REGIONS_MAX),
    CHOICE("method", "NAME", CHOSEN.method,
           "simpoint (default), or to compare with: random, systematic", SELECTION_METHODS),
    COUNT("count", "N", CHOSEN.count,
          "Slices that random and systematic take (default: as many as simpoint would)", .least = 1,
          .most = REGIONS_MAX),
    COUNT("draw", "N", CHOSEN.draw, "Which of their draws (default 1)"),
    HEADING(2, "From what:"),
    FLAG("merge", merge, "Of several runs of a program together"),
    COUNT("run", "N", run,
          "With --merge: write the regions that lie in the N-th run (the first is 0), with their "
          "weights among all runs",
          .most = MAX_RUNS, GIVEN(run_given)),
    COUNT("merge-slices", "N", settings.merge_slices, "Take N slices in a row as one", .least = 1,
          .most = BBV_MAX_SLICES),
    TEXT("load-simpoints", "FILE", load_simpoints,
         "Take the choice that SimPoint made of these vectors"),
    TEXT("load-weights", "FILE", load_weights, "Its weights"),
    HEADING(3, "How well it does, when the costs of all slices are known:"),
    TAKE("predict", "COSTS.csv", take_costs,
         "Compare what the regions predict with what 'culprit sim --slices' recorded; once for "
         "each run",
         GIVEN(predict)),
    COUNT("draws", "N", draws, "Random and systematic draws to compare with (default 100)",
          .least = 1, .most = 1000000),
    TAKE("sweep", "COSTS.csv", take_costs,
         "Vary the settings and compare; once for each FILE.bb, which are not merged",
         GIVEN(sweep)),
    TAKE("sweep-max-clusters", "LIST", take_max_clusters,
         "Of it: numbers, or FIRST:LAST:STEP (default 1:50:1)"),
    TAKE("sweep-dimensions", "LIST", take_dimensions,
         "Likewise (default 1,2,3,5,8,10,15,20,30,40,50)"),
    TAKE("sweep-thresholds", "LIST", take_thresholds, "Likewise (default 0:1:0.05)"),
    TAKE("sweep-coverages", "LIST", take_coverages,
         "Likewise, shares of the run from its beginning that are profiled (default 0.1:1:0.1)"),
    HEADING(4, "What to write:"),
    WRITTEN_FILE("output", "FILE", output, "The list of regions (docs/region-format.md)",
                 .letter = 'o'),
    WRITTEN_FILE("simpoints", "FILE", simpoints, "SimPoint's file of slices"),
    WRITTEN_FILE("weights", "FILE", weights, "SimPoint's file of weights"),
    WRITTEN_FILE("labels", "FILE", labels, "The cluster of each slice, one per line"),
    HTML_ROW(verb.output),
    WRITTEN_FILE("svg", "FILE", svg, "A picture of the phases over time"),
    FLAG("json", verb.output.json, "One JSON object (docs/json.md) in place of the text"),
    {0}};

static bool take_vectors(struct argp_state *state, void *given, char *value) {
    (void)state;
    struct regions_request *request = given;
    request->vectors[request->vector_count++] = value;
    return true;
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

static void check(struct argp_state *state, void *given) {
    struct regions_request *request = given;
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
    if (request->merge && !request->max_clusters_given)
        request->settings.selection.clusters.max_clusters = 20;
}

const struct command_line regions_line = {
    .own = {.options = OPTIONS, .begin = begin, .argument = take_vectors, .end = check},
    .arguments = "FILE.bb [FILE.bb...]",
    .help = "Chooses slices of a run that together stand for all of it (SimPoint): slices that "
            "execute the same code are one phase, and of each phase one slice is enough."
            "\vExample:\n  culprit bbv -o gzip.bb -- gzip -9 -c /bin/bash > /dev/null\n"
            "  culprit regions -o gzip.csv gzip.bb\n\n"
            "FILE.bb.slices, where it is there, says where in the run the slices are; SimPoint's "
            "own files and those of valgrind's exp-bbv do without."};
