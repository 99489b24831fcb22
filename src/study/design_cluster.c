/* A point is a task: its machine and settings as they were written, and the capture in the folder.
 * Whoever does it makes of these the key of the point anew, which must be the same: so a machine
 * file that is another one on a node is noticed. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/cluster.h"
#include "study/design_kept.h"
#include "study/design_pool.h"
#include "study/work.h"
#include "util/array.h"

/* For time limits, and how many points are worth a job. */
static const double INSTRUCTIONS_PER_SECOND = 2e6;
enum { MEGABYTES = 2048, LABEL = 96 };

struct gathering {
    struct design *design;
    struct cluster_task *tasks;
    char (*names)[DESIGN_KEY + 16]; /* of results */
    size_t *points;                 /* of each task */
    size_t count;
    char label[LABEL];
};

/* ---- tasks ---- */

static json_t *machine_of(const struct design *design, const struct design_point *point) {
    const char *name = design->machines.count ? design->machines.values[point->machine] : NULL;
    return name ? work_machine_name(name) : json_null();
}

static char *task_line(const struct design *design, const struct design_point *point,
                       const char *result) {
    const struct design_program *program = &design->programs[point->program];
    const struct design_capture *capture = &program->capture;
    json_t *settings = json_array();
    for (size_t i = 0; i < design->axis_count; i++) {
        char *text;
        if (asprintf(&text, "%s=%s", design->axes[i].key, design_value(design, point, i)) < 0)
            continue;
        json_array_append_new(settings, json_string(text));
        free(text);
    }
    const bool given = !capture->trace && program->input.trace;
    json_t *task = json_pack("{s:s, s:s, s:s, s:o, s:I, s:o, s:o}", "result", result, "point",
                             point->key, "capture", capture->key, "trace",
                             given ? work_file_name(program->input.trace) : json_null(), "limit",
                             (json_int_t)(given ? program->input.limit : 0), "machine",
                             machine_of(design, point), "settings", settings);
    char *line = task && json_array_size(settings) == design->axis_count
                     ? json_dumps(task, JSON_COMPACT)
                     : NULL;
    json_decref(task);
    return line;
}

static bool make_tasks(struct gathering *gathering, struct error *error) {
    const struct design *design = gathering->design;
    gathering->tasks = calloc(design->point_count + 1, sizeof *gathering->tasks);
    gathering->names = calloc(design->point_count + 1, sizeof *gathering->names);
    gathering->points = calloc(design->point_count + 1, sizeof *gathering->points);
    if (!gathering->tasks || !gathering->names || !gathering->points)
        return error_set(error, "out of memory for points");
    for (size_t i = 0; i < design->point_count; i++) {
        const struct design_point *point = &design->points[i];
        const size_t number = gathering->count;
        if (point->state != DESIGN_OPEN)
            continue;
        snprintf(gathering->names[number], sizeof *gathering->names, "%s" DESIGN_POINT_ENDING,
                 point->key);
        gathering->points[number] = i;
        gathering->tasks[number] = (struct cluster_task){
            gathering->names[number], task_line(design, point, gathering->names[number])};
        gathering->count++;
        if (!gathering->tasks[number].line)
            return error_set(error, "--cluster: a name of a trace, machine or value is no UTF-8, "
                                    "which tasks cannot tell to nodes");
    }
    return true;
}

/* ---- what comes of them ---- */

static bool take(void *context, size_t task) {
    struct gathering *gathering = context;
    struct design *design = gathering->design;
    struct design_point *point = &design->points[gathering->points[task]];
    if (!design_kept_point(design->folder, point->key, &point->result))
        return false;
    point->state = DESIGN_DONE;
    design->simulated++;
    return true;
}

static void fail(void *context, size_t task, const struct error *why) {
    struct gathering *gathering = context;
    struct design_point *point = &gathering->design->points[gathering->points[task]];
    point->state = DESIGN_FAILED;
    point->failure = *why;
    gathering->design->failed++;
}

static void note(void *context, size_t run, size_t wait) {
    struct gathering *gathering = context;
    struct progress *progress = &gathering->design->watch->progress;
    snprintf(gathering->label, sizeof gathering->label, "%zu on nodes, %zu to come:", run, wait);
    progress->label = gathering->label;
}

static void tell(void *context, const char *text) {
    const struct watch *watch = ((struct gathering *)context)->design->watch;
    if (watch->tell)
        watch->tell(text);
}

/* ---- all of them ---- */

static double seconds_of(const struct gathering *gathering) {
    const struct design *design = gathering->design;
    uint64_t most = 0;
    for (size_t i = 0; i < gathering->count; i++) {
        const struct design_point *point = &design->points[gathering->points[i]];
        const uint64_t work = design_capture_work(&design->programs[point->program].capture);
        most = work > most ? work : most;
    }
    return (double)most / INSTRUCTIONS_PER_SECOND;
}

bool design_simulate_on_cluster(struct design *design, struct error *error) {
    struct gathering gathering = {.design = design};
    char version[WORK_VERSION];
    work_version(design->version, version);
    bool good = make_tasks(&gathering, error);
    if (good && gathering.count) {
        const struct cluster_request request = {.options = design->cluster,
                                                .folder = design->folder,
                                                .verb = "sweep",
                                                .version = version,
                                                .tasks = gathering.tasks,
                                                .count = gathering.count,
                                                .at_once = design->jobs,
                                                .seconds = seconds_of(&gathering),
                                                .megabytes = MEGABYTES,
                                                .take = take,
                                                .fail = fail,
                                                .note = note,
                                                .tell = tell,
                                                .context = &gathering,
                                                .watcher = watcher_of(design->watch)};
        watch_begin(design->watch, "submitting:", "points", gathering.count);
        good = cluster_run(&request, error);
        watch_end(design->watch);
    }
    for (size_t i = 0; i < gathering.count; i++)
        free(gathering.tasks[i].line);
    free(gathering.tasks);
    free(gathering.names);
    free(gathering.points);
    return good;
}

/* ---- on a node ---- */

static bool take_settings(struct design *design, const json_t *settings, struct error *error) {
    for (size_t i = 0; i < json_array_size(settings); i++) {
        const char *text = json_string_value(json_array_get(settings, i));
        if (!text)
            return error_set(error, "a setting of it is no text");
        if (!design_add_setting(design, text, error))
            return false;
    }
    return true;
}

static bool take_machine(struct design *design, const char *name, struct error *error) {
    if (!name)
        return true;
    struct design_axis *axis = &design->machines;
    if (!array_room(axis->values, axis->capacity, 1) || !(axis->values[0] = strdup(name)))
        return error_set(error, "out of memory for machines");
    axis->count = 1;
    return true;
}

static bool take_task(struct design *design, const json_t *task, const char **key,
                      struct error *error) {
    const char *capture;
    const char *trace = json_string_value(json_object_get(task, "trace"));
    const char *machine = json_string_value(json_object_get(task, "machine"));
    json_int_t limit;
    json_t *settings;
    struct design_program *program = design->programs;
    if (json_unpack((json_t *)task, "{s:s, s:s, s:I, s:o}", "point", key, "capture", &capture,
                    "limit", &limit, "settings", &settings) != 0 ||
        limit < 0 || strchr(capture, '/'))
        return error_set(error, "it does not say what a point of a sweep is");
    program->input.trace = trace;
    program->input.limit = (uint64_t)limit;
    program->captured = design_kept_capture(design->folder, capture, &program->capture);
    return (program->captured ||
            error_set(error,
                      "%.200s/%.40s.capture.json, or a trace that it names, is not there, "
                      "or cannot be read",
                      design->folder, capture)) &&
           take_machine(design, machine, error) && take_settings(design, settings, error);
}

static bool do_point(struct design *design, const char *key, struct error *error) {
    struct design_point *point = design->points;
    if (!design_open_point(design, point, error))
        return false;
    if (strcmp(point->key, key) != 0)
        return error_set(error,
                         "%s is another machine on this node than where the sweep was begun: let "
                         "all nodes have the same files of machines",
                         point->machine_name);
    if (point->state == DESIGN_KEPT)
        return true;
    if (!design_simulate(design, point, design->watch, error))
        return false;
    if (design->watch->signal)
        return error_set(error, "interrupted");
    return design_keep_point(design->folder, point->key, &point->result, error);
}

bool design_work(const struct work_place *place, const json_t *task, struct error *error) {
    struct design_program program = {.name = ""};
    struct design design = {.watch = place->watch,
                            .version = place->version,
                            .programs = &program,
                            .program_count = 1,
                            .keep = place->folder,
                            .folder = strdup(place->folder)};
    const char *key;
    bool good = design.folder || error_set(error, "out of memory for a task");
    good = good && take_task(&design, task, &key, error) && design_prepare(&design, error) &&
           (design.point_count == 1 || error_set(error, "it is more than one point")) &&
           do_point(&design, key, error);
    design_free(&design);
    return good;
}
