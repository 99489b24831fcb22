/* culprit regions: chooses the slices of a run that stand for all of it, from its basic block
 * vectors. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/next.h"
#include "cmd/options.h"
#include "cmd/output.h"
#include "cmd/regions_request.h"
#include "report/regions.h"
#include "util/text.h"

bool regions_print_json(json_t *object, struct error *error) {
    bool good = object && json_dumpf(object, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(15)) == 0;
    json_decref(object);
    putchar('\n');
    return good || error_set(error, "out of memory for the report");
}

/* ---- the choice ---- */

struct work {
    const struct regions_request *request;
    struct profiled_runs runs;
    struct region_costs costs; /* of --predict */
    struct prediction prediction;
    struct region_choice choice;
    struct regions_report report;
};

/* What SimPoint chose has no clusters of slices, only points. */
static bool load_points(struct work *work, struct error *error) {
    const struct regions_request *request = work->request;
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
    const struct regions_request *request = work->request;
    const struct choose_settings *settings = &request->settings;
    for (uint32_t i = 0; i < request->vector_count; i++)
        if (!profiled_runs_add(&work->runs, request->vectors[i], error))
            return false;
    profiled_runs_merge_slices(&work->runs, settings->merge_slices);
    bool good = request->load_simpoints
                    ? load_points(work, error)
                    : selection_choose(&work->runs, &settings->selection, &work->choice, error);
    return good &&
           (regions_report_init(&work->report, &work->runs, &work->choice, settings,
                                request->load_simpoints != NULL) ||
            error_set(error, "out of memory for %" PRIu32 " regions", work->choice.point_count));
}

static bool predict(struct work *work, struct error *error) {
    const struct regions_request *request = work->request;
    for (uint32_t i = 0; i < request->cost_count; i++)
        if (!region_costs_add(&work->costs, &work->runs, i, request->costs[i], error))
            return false;
    return !request->cost_count ||
           prediction_make(&work->prediction, &work->costs, &work->runs.points, &work->choice,
                           request->draws, request->settings.selection.draw, error);
}

/* ---- what is written ---- */

static bool put_list(struct work *work, FILE *out, struct error *error) {
    const struct regions_request *request = work->request;
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
    const struct regions_request *request = work->request;
    return (!request->simpoints && !request->weights) ||
           region_points_write(work->choice.points, work->choice.point_count,
                               request->simpoints ? request->simpoints : "/dev/null",
                               request->weights ? request->weights : "/dev/null", error);
}

static void print_next(const struct work *work, int argc, char **argv) {
    const struct regions_request *request = work->request;
    const struct profiled_run *run = &work->runs.runs[request->run];
    if (request->output) {
        /* How a command was quoted is not known: only one that needs no quotes is repeated. */
        static const char special[] = "\"'\\$`;&|<>()*?[]{}#~!\n\t";
        bool plain = run->has_table && !strpbrk(run->table.command, special);
        fputs("\nnext: culprit trace --regions ", stdout);
        text_put_word(stdout, request->output);
        printf(" -- %s\n", plain ? run->table.command : "COMMAND");
        return;
    }
    const char *option = !request->merge      ? "-o regions.csv"
                         : request->run_given ? "-o run.csv"
                                              : "-o run0.csv --run 0";
    char *next = next_with_option(option, argc, argv);
    if (next)
        printf("\nnext: %s\n", next);
    free(next);
}

static bool print_report(const struct work *work, int argc, char **argv, struct error *error) {
    bool predicted = work->request->predict;
    if (work->request->json) {
        json_t *object = regions_json(&work->report);
        if (predicted)
            json_object_set_new(object, "prediction", prediction_json(&work->prediction));
        return regions_print_json(object, error);
    }
    regions_text(&work->report, stdout);
    if (predicted)
        prediction_text(&work->prediction, stdout);
    print_next(work, argc, argv);
    return true;
}

static bool run(const struct regions_request *request, int argc, char **argv, struct error *error) {
    struct work work = {.request = request};
    profiled_runs_init(&work.runs, request->settings.dimensions,
                       request->settings.selection.clusters.seed, request->merge);
    bool good = choose(&work, error) && predict(&work, error) &&
                write_file(&work, "--output", request->output, put_list, error) &&
                write_file(&work, "--labels", request->labels, put_labels, error) &&
                write_file(&work, "--svg", request->svg, put_svg, error) &&
                write_simpoint_files(&work, error) && print_report(&work, argc, argv, error);
    regions_report_free(&work.report);
    region_choice_free(&work.choice);
    prediction_free(&work.prediction);
    region_costs_free(&work.costs);
    profiled_runs_free(&work.runs);
    return good;
}

int cmd_regions(int argc, char **argv) {
    struct regions_request request = {.settings = CHOOSE_DEFAULTS, .draws = 100};
    struct error error = {0};
    request.vectors = calloc((size_t)argc, sizeof *request.vectors);
    request.costs = calloc((size_t)argc, sizeof *request.costs);
    bool good =
        (request.vectors && request.costs) || error_set(&error, "out of memory for arguments");
    if (good) {
        free(options_parse(&regions_line, argc, argv, &request));
        good = request.sweep ? regions_sweep(&request, &error) : run(&request, argc, argv, &error);
    }
    if (good && fflush(stdout) != 0)
        good = error_errno(&error, "standard output: cannot write");
    if (!good)
        print_error(&error);
    regions_request_free(&request);
    return good ? 0 : STATUS_FAILED;
}
