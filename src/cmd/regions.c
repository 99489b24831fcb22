/* culprit regions: chooses the slices of a run that stand for all of it, from its basic block
 * vectors. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "cmd/cmd.h"
#include "cmd/next.h"
#include "cmd/options.h"
#include "cmd/output.h"
#include "region/choose.h"
#include "report/regions.h"
#include "util/text.h"

enum { MAX_RUNS = 1000 };

enum key {
    KEY_DIMENSIONS = 1024,
    KEY_MAX_CLUSTERS,
    KEY_MAXK,
    KEY_SEEDS,
    KEY_SEED,
    KEY_ITERATIONS,
    KEY_THRESHOLD,
    KEY_EARLY,
    KEY_COVERAGE,
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
};

struct request {
    struct choose_settings settings;
    bool max_clusters_given, merge, run_given, json;
    uint32_t run;
    const char **vectors;
    uint32_t vector_count;
    const char *output, *simpoints, *weights, *load_simpoints, *load_weights, *labels, *svg;
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
    {"early", KEY_EARLY, "X", 0,
     "Not the nearest to the centroid, but the earliest that is farther by at most X times the "
     "spread of the cluster (default 0)",
     0},
    {"coverage", KEY_COVERAGE, "SHARE", 0,
     "Only the heaviest clusters, that together have this share of the run (default 1)", 0},
    {"method", KEY_METHOD, "NAME", 0, "simpoint (default), or to compare with: random, systematic",
     0},
    {"count", KEY_COUNT, "N", 0,
     "Slices that random and systematic take (default: as many as simpoint would)", 0},
    {"draw", KEY_DRAW, "N", 0, "Which of their draws (default 1)", 0},
    {NULL, 0, NULL, 0, "From what:", 2},
    {"merge", KEY_MERGE, NULL, 0, "Of several runs of a program together", 0},
    {"run", KEY_RUN, "N", 0,
     "With --merge: write the regions in the N-th run (the first is 0), for it alone", 0},
    {"merge-slices", KEY_MERGE_SLICES, "N", 0, "Take N slices in a row as one", 0},
    {"load-simpoints", KEY_LOAD_SIMPOINTS, "FILE", 0,
     "Take the choice that SimPoint made of these vectors", 0},
    {"load-weights", KEY_LOAD_WEIGHTS, "FILE", 0, "Its weights", 0},
    {NULL, 0, NULL, 0, "What to write:", 3},
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

static error_t parse_choice(int key, char *value, struct argp_state *state) {
    struct request *request = state->input;
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
    case KEY_EARLY:
        clusters->early = fraction(state, "--early", value, 1000);
        return 0;
    case KEY_COVERAGE:
        selection->coverage = fraction(state, "--coverage", value, 1);
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

static void check(const struct request *request, const struct argp_state *state) {
    const struct selection_settings *selection = &request->settings.selection;
    if (request->vector_count == 0)
        options_fail(state, "which vectors? (culprit regions FILE.bb, from 'culprit bbv')");
    if (request->vector_count > 1 && !request->merge)
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
    struct request *request = state->input;
    switch (key) {
    case KEY_MERGE:
        request->merge = true;
        return 0;
    case KEY_RUN:
        request->run = whole(state, "--run", value, 0, MAX_RUNS);
        request->run_given = true;
        return 0;
    case 'o':
        request->output = value;
        return 0;
    case KEY_SIMPOINTS:
        request->simpoints = value;
        return 0;
    case KEY_WEIGHTS:
        request->weights = value;
        return 0;
    case KEY_LOAD_SIMPOINTS:
        request->load_simpoints = value;
        return 0;
    case KEY_LOAD_WEIGHTS:
        request->load_weights = value;
        return 0;
    case KEY_LABELS:
        request->labels = value;
        return 0;
    case KEY_SVG:
        request->svg = value;
        return 0;
    case KEY_JSON:
        request->json = true;
        return 0;
    case ARGP_KEY_ARG:
        request->vectors[request->vector_count++] = value;
        return 0;
    case ARGP_KEY_END:
        check(request, state);
        if (request->merge && !request->max_clusters_given)
            request->settings.selection.clusters.max_clusters = 20;
        return 0;
    default:
        return parse_choice(key, value, state);
    }
}

static const struct argp ARGP = {
    .options = OPTIONS,
    .parser = parse,
    .args_doc = "FILE.bb [FILE.bb...]",
    .doc = "Chooses slices of a run that together stand for all of it (SimPoint): slices that "
           "execute the same code are one phase, and of each phase one slice is enough."
           "\vExample:\n  culprit bbv -o gzip.bb -- gzip -9 -c /bin/bash > /dev/null && culprit "
           "regions -o gzip.csv gzip.bb\n\n"
           "FILE.bb.slices, where it is there, says where in the run the slices are; SimPoint's "
           "own files and those of valgrind's exp-bbv do without."};

/* ---- the choice ---- */

struct work {
    const struct request *request;
    struct profiled_runs runs;
    struct region_choice choice;
    struct regions_report report;
};

/* What SimPoint chose has no clusters of slices, only points. */
static bool load_points(struct work *work, struct error *error) {
    const struct request *request = work->request;
    struct region_choice *choice = &work->choice;
    choice->slice_count = work->runs.points.count;
    if (!region_points_read(&choice->points, &choice->point_count, request->load_simpoints,
                            request->load_weights, error))
        return false;
    double sum = 0;
    for (uint32_t i = 0; i < choice->point_count; i++) {
        sum += choice->points[i].weight;
        if (choice->points[i].slice >= choice->slice_count)
            return error_set(error, "%s: slice %" PRIu32 ": %s has only %zu",
                             request->load_simpoints, choice->points[i].slice, request->vectors[0],
                             choice->slice_count);
    }
    for (uint32_t i = 0; i < choice->point_count; i++)
        choice->points[i].weight /= sum;
    return true;
}

static bool choose(struct work *work, struct error *error) {
    const struct request *request = work->request;
    const struct choose_settings *settings = &request->settings;
    for (uint32_t i = 0; i < request->vector_count; i++)
        if (!profiled_runs_add(&work->runs, request->vectors[i], error))
            return false;
    profiled_runs_merge_slices(&work->runs, settings->merge_slices);
    bool good = request->load_simpoints ? load_points(work, error)
                                        : selection_choose(&work->runs.points, &settings->selection,
                                                           &work->choice, error);
    return good &&
           (regions_report_init(&work->report, &work->runs, &work->choice, settings,
                                request->load_simpoints != NULL) ||
            error_set(error, "out of memory for %" PRIu32 " regions", work->choice.point_count));
}

/* ---- what is written ---- */

static bool put_list(struct work *work, FILE *out, struct error *error) {
    const struct request *request = work->request;
    const char *name = request->load_simpoints
                           ? SELECTION_METHODS[SELECT_SIMPOINT]
                           : SELECTION_METHODS[request->settings.selection.method];
    struct region_list list;
    bool good = region_list_build(&list, &work->runs, request->run, work->choice.points,
                                  work->choice.point_count, name, error);
    if (good)
        region_list_print(&list, out);
    region_list_free(&list);
    return good;
}

static bool put_labels(struct work *work, FILE *out, struct error *error) {
    (void)error;
    for (size_t i = 0; i < work->choice.slice_count; i++)
        fprintf(out, "%" PRIu32 "\n", work->choice.labels[i]);
    return true;
}

static bool put_svg(struct work *work, FILE *out, struct error *error) {
    (void)error;
    phases_svg(&work->report, work->request->run, out);
    return true;
}

static bool write_file(struct work *work, const char *option, const char *path,
                       bool (*put)(struct work *work, FILE *out, struct error *error),
                       struct error *error) {
    struct output output = {0};
    if (!path)
        return true;
    bool good = output_open(&output, option, path, NULL, error) && put(work, output.file, error) &&
                output_close(&output, error);
    output_discard(&output);
    return good;
}

static bool write_simpoint_files(const struct work *work, struct error *error) {
    const struct request *request = work->request;
    return (!request->simpoints && !request->weights) ||
           region_points_write(work->choice.points, work->choice.point_count,
                               request->simpoints ? request->simpoints : "/dev/null",
                               request->weights ? request->weights : "/dev/null", error);
}

static void print_next(const struct work *work, int argc, char **argv) {
    const struct request *request = work->request;
    const struct profiled_run *run = &work->runs.runs[request->run];
    if (request->output) {
        char list[4096], command[4096] = "COMMAND";
        text_clean(list, sizeof list, request->output);
        if (run->has_table)
            text_clean(command, sizeof command, run->table.command);
        printf("\nnext: culprit trace --regions %s -- %s\n", list, command);
        return;
    }
    char *next = next_with_option("-o regions.csv", argc, argv);
    if (next)
        printf("\nnext: %s\n", next);
    free(next);
}

static bool print_report(const struct work *work, int argc, char **argv, struct error *error) {
    if (work->request->json) {
        json_t *object = regions_json(&work->report);
        bool good =
            object && json_dumpf(object, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(15)) == 0;
        json_decref(object);
        putchar('\n');
        return good || error_set(error, "out of memory for the report");
    }
    regions_text(&work->report, stdout);
    print_next(work, argc, argv);
    return true;
}

static bool run(const struct request *request, int argc, char **argv, struct error *error) {
    struct work work = {.request = request};
    profiled_runs_init(&work.runs, request->settings.dimensions,
                       request->settings.selection.clusters.seed, request->merge);
    bool good = choose(&work, error) &&
                write_file(&work, "--output", request->output, put_list, error) &&
                write_file(&work, "--labels", request->labels, put_labels, error) &&
                write_file(&work, "--svg", request->svg, put_svg, error) &&
                write_simpoint_files(&work, error) && print_report(&work, argc, argv, error);
    regions_report_free(&work.report);
    region_choice_free(&work.choice);
    profiled_runs_free(&work.runs);
    if (good && fflush(stdout) != 0)
        good = error_errno(error, "standard output: cannot write");
    return good;
}

int cmd_regions(int argc, char **argv) {
    struct request request = {.settings = CHOOSE_DEFAULTS};
    struct error error = {0};
    request.vectors = calloc((size_t)argc, sizeof *request.vectors);
    if (!request.vectors)
        error_set(&error, "out of memory for arguments");
    else
        options_parse(&ARGP, argc, argv, &request);
    bool good = request.vectors && run(&request, argc, argv, &error);
    if (!good)
        print_error(&error);
    free(request.vectors);
    return good ? 0 : STATUS_FAILED;
}
