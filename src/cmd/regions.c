/* culprit regions: chooses the slices of a run that stand for all of it, from its basic block
 * vectors. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/interrupt.h"
#include "cmd/regions_request.h"
#include "report/next.h"
#include "report/profile_report.h"
#include "util/output.h"
#include "util/quoted_command.h"
#include "util/text.h"

/* ---- what is written ---- */

static bool put_list(struct regions_request *request, FILE *out, struct error *error) {
    struct region_list list;
    const bool good = slice_choice_list(&request->chosen, request->run, &list, error);
    if (good)
        region_list_print(&list, out);
    region_list_free(&list);
    return good;
}

static bool put_labels(struct regions_request *request, FILE *out, struct error *error) {
    (void)error;
    for (size_t i = 0; i < request->chosen.choice.slice_count; i++)
        fprintf(out, "%" PRIu32 "\n", request->chosen.choice.labels[i]);
    return true;
}

static bool put_svg(struct regions_request *request, FILE *out, struct error *error) {
    (void)error;
    phases_svg(&request->report, request->run, out);
    return true;
}

static json_t *report_object(const struct regions_request *request) {
    json_t *object = regions_json(&request->report);
    if (request->predict)
        json_object_set_new(object, "prediction", prediction_json(&request->chosen.prediction));
    return object;
}

/* Of the choice or the sweep, with its picture. */
static bool put_page(struct regions_request *request, FILE *out, struct error *error) {
    const bool swept = request->swept.count;
    json_t *object = swept ? sweep_json(&request->swept.sweep) : report_object(request);
    struct html html;
    html_begin(&html, out);
    bool good = html_data(&html, "report", error) && json_write(object, html.data, error) &&
                html_text(&html, "picture", error);
    if (good && swept)
        sweep_svg(&request->swept.sweep, request->vector_count, html.data);
    else if (good)
        phases_svg(&request->report, request->run, html.data);
    good = good && html_end(&html, error);
    html_discard(&html);
    return good;
}

static bool write_file(struct regions_request *request, const char *option, const char *path,
                       bool (*put)(struct regions_request *request, FILE *out, struct error *error),
                       struct error *error) {
    struct output output = {0};
    if (!path)
        return true;
    bool good = output_open(&output, option, path, NULL, error) &&
                put(request, output.file, error) && output_close(&output, error);
    output_discard(&output);
    return good;
}

static bool write_simpoint_files(const struct regions_request *request, struct error *error) {
    return (!request->simpoints && !request->weights) ||
           region_points_write(request->chosen.choice.points, request->chosen.choice.point_count,
                               request->simpoints ? request->simpoints : "/dev/null",
                               request->weights ? request->weights : "/dev/null", error);
}

static void print_next(const struct regions_request *request) {
    const struct profiled_run *run = &request->chosen.runs.runs[request->run];
    if (request->output) {
        /* A table of an earlier version does not tell how its command was quoted. */
        const bool repeated = run->has_table && quoted_command_is(run->table.command);
        fputs("\nnext: culprit trace --regions ", stdout);
        text_put_word(stdout, request->output);
        printf(" -- %s\n", repeated ? run->table.command : "COMMAND");
        return;
    }
    const char *option = !request->merge      ? "-o regions.csv"
                         : request->run_given ? "-o run.csv"
                                              : "-o run0.csv --run 0";
    char *next = next_with_option(option, request->verb.argc, request->verb.words);
    if (next)
        printf("\nnext: %s\n", next);
    free(next);
}

static bool print_report(const struct regions_request *request, struct error *error) {
    const bool predicted = request->predict;
    if (request->verb.output.json)
        return json_write(report_object(request), stdout, error);
    regions_text(&request->report, stdout);
    if (predicted)
        prediction_text(&request->chosen.prediction, stdout);
    print_next(request);
    return true;
}

static bool begin_report(struct regions_request *request, struct error *error) {
    const struct slice_choice *chosen = &request->chosen;
    return regions_report_init(&request->report, &chosen->runs, &chosen->choice, &request->settings,
                               request->load_simpoints != NULL) ||
           error_set(error, "out of memory for %" PRIu32 " regions", chosen->choice.point_count);
}

static bool report_choice(void *verb, struct error *error) {
    struct regions_request *request = verb;
    request->chosen = (struct slice_choice){.vectors = request->vectors,
                                            .vector_count = request->vector_count,
                                            .merge = request->merge,
                                            .settings = &request->settings,
                                            .simpoints = request->load_simpoints,
                                            .weights = request->load_weights,
                                            .costs = request->costs,
                                            .cost_count = request->cost_count,
                                            .draws = request->draws};
    return slice_choice_go(&request->chosen, error) && begin_report(request, error) &&
           write_file(request, "--output", request->output, put_list, error) &&
           write_file(request, "--labels", request->labels, put_labels, error) &&
           write_file(request, "--svg", request->svg, put_svg, error) &&
           write_file(request, "--html", request->verb.output.html, put_page, error) &&
           write_simpoint_files(request, error) && print_report(request, error) &&
           output_flush("standard output: cannot write", error);
}

static void clean_up(void *verb) {
    struct regions_request *request = verb;
    regions_report_free(&request->report);
    slice_choice_free(&request->chosen);
    sweep_run_free(&request->swept);
    free(request->vectors);
    free(request->costs);
    free(request->grids.max_clusters.values);
    for (int i = 0; i < SWEEP_KINDS; i++)
        free(request->grids.others[i].values);
}

/* ---- --sweep: each file of vectors with its costs, all settings, what is best ---- */

static bool put_sweep(struct regions_request *request, FILE *out, struct error *error) {
    (void)error;
    sweep_svg(&request->swept.sweep, request->vector_count, out);
    return true;
}

static bool report_sweep(void *verb, struct error *error) {
    struct regions_request *request = verb;
    const struct sweep *sweep = &request->swept.sweep;
    request->grids.choose = &request->settings;
    request->swept = (struct sweep_run){.watch = &verb_watch,
                                        .vectors = request->vectors,
                                        .costs = request->costs,
                                        .count = request->vector_count,
                                        .settings = request->grids};
    if (!sweep_run_go(&request->swept, error) ||
        !write_file(request, "--svg", request->svg, put_sweep, error) ||
        !write_file(request, "--html", request->verb.output.html, put_page, error))
        return false;
    if (request->verb.output.json)
        return json_write(sweep_json(sweep), stdout, error);
    sweep_text(sweep, request->vector_count, stdout);
    if (sweep->recommended_clusters != SIZE_MAX) {
        printf("\nnext: culprit regions --max-clusters %u -o regions.csv ",
               sweep->points[sweep->recommended_clusters].max_clusters);
        text_put_word(stdout, request->vectors[0]);
        putchar('\n');
    }
    return output_flush("standard output: cannot write", error);
}

static const struct verb SWEEP = {.report = report_sweep, .free = clean_up};

static const struct verb *choose_life(void *verb) {
    return ((struct regions_request *)verb)->sweep ? &SWEEP : &verb_regions;
}

const struct verb verb_regions = {.line = &regions_line,
                                  .size = sizeof(struct regions_request),
                                  .choose = choose_life,
                                  .report = report_choice,
                                  .free = clean_up};
