/* The name of a result is a hash of the region's trace, of where the region lies in it and how it
 * is warmed, of the machine as a whole and of what simulates. A node finds the machine by its name
 * and settings, and makes the same hash. */
#include "study/region_tasks.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cluster/cluster.h"
#include "simulate/region_result.h"
#include "study/design_kept.h"
#include "study/work.h"
#include "util/array.h"

static const double INSTRUCTIONS_PER_SECOND = 2e6;
enum { MEGABYTES = 2048, LABEL = 96, RESULT = DESIGN_KEY + 16 };
static const char ENDING[] = ".region";

/* What a region is simulated with. */
struct place {
    const char *version;
    const struct machine *machine;
    uint32_t ideal;
    enum isa isa;
    bool graph, top_down;
};

struct region_task {
    struct region_trace trace; /* path, name and result are its own */
    char name[REGION_NAME];
    char key[DESIGN_KEY], result[RESULT];
};

struct gathering {
    const struct region_tasks *request;
    char *folder;
    int lock; /* of it; below 0: none */
    struct region_task *regions;
    size_t count;
    struct cluster_task *tasks; /* of those whose result is not there */
    size_t *of;                 /* regions, by task */
    size_t task_count, failed;
    double cycles_per_instruction; /* of the first region; 0: not known */
    struct error why;              /* of the first that failed */
    char *trace_path, trace_key[DESIGN_KEY];
    char label[LABEL];
};

/* ---- names ---- */

static void hash_figures(XXH3_state_t *state, const uint64_t *figures, size_t count) {
    XXH3_128bits_update(state, figures, count * sizeof *figures);
}

static bool hash_trace(const char *path, char key[DESIGN_KEY], struct error *error) {
    XXH3_state_t *state = XXH3_createState();
    if (!state)
        return error_set(error, "out of memory for the regions");
    XXH3_128bits_reset(state);
    const bool good = design_hash_file(state, path, error);
    design_key(XXH3_128bits_digest(state), key);
    XXH3_freeState(state);
    return good;
}

static bool find_key(const struct place *place, const struct region_trace *trace,
                     const char trace_key[DESIGN_KEY], char key[DESIGN_KEY], struct error *error) {
    XXH3_state_t *state = XXH3_createState();
    char version[WORK_VERSION];
    const uint64_t figures[] = {trace->start,          trace->end,   trace->warm, trace->stamped,
                                (uint64_t)trace->only, place->ideal, place->isa,  place->graph,
                                place->top_down};
    const double pace = trace->cycles_per_instruction;
    if (!state)
        return error_set(error, "out of memory for the regions");
    XXH3_128bits_reset(state);
    work_version(place->version, version);
    XXH3_128bits_update(state, version, strlen(version) + 1);
    hash_figures(state, figures, sizeof figures / sizeof *figures);
    XXH3_128bits_update(state, &pace, sizeof pace);
    XXH3_128bits_update(state, trace_key, DESIGN_KEY);
    const bool good = design_hash_machine(state, place->machine, error);
    design_key(XXH3_128bits_digest(state), key);
    XXH3_freeState(state);
    return good;
}

static bool is_there(const char *path) {
    struct simulation simulation;
    struct region_code_extent extent;
    struct error error;
    const bool good = region_result_read(path, &simulation, &extent, &error);
    simulation_free(&simulation);
    return good;
}

/* ---- tasks ---- */

/* Of the last trace that was looked at: of windows of one trace that is all of them. */
static bool find_trace(struct gathering *gathering, const char *path, struct error *error) {
    if (gathering->trace_path && !strcmp(gathering->trace_path, path))
        return true;
    free(gathering->trace_path);
    gathering->trace_path = strdup(path);
    if (!gathering->trace_path)
        return error_set(error, "out of memory for the regions");
    return hash_trace(path, gathering->trace_key, error);
}

static bool make_folder(struct gathering *gathering, const char *list, struct error *error) {
    char whole[PATH_MAX];
    if (!realpath(list, whole))
        return error_errno(error, "%.300s", list);
    if (asprintf(&gathering->folder, "%s.results", whole) < 0) {
        gathering->folder = NULL;
        return error_set(error, "out of memory for the regions");
    }
    return (mkdir(gathering->folder, 0777) == 0 || errno == EEXIST ||
            error_errno(error, "--cluster: cannot make %.300s", gathering->folder)) &&
           (design_lock(gathering->folder, &gathering->lock, error) ||
            error_prefix(error, "--cluster"));
}

static bool add_region(struct gathering *gathering, const struct region_trace *trace,
                       struct error *error) {
    const struct region_tasks *request = gathering->request;
    const struct place place = {request->version, request->machine, request->ideal,
                                request->isa,     request->graph,   request->top_down};
    struct region_task *region = &gathering->regions[gathering->count++];
    char whole[PATH_MAX], *result;
    region->trace = *trace;
    snprintf(region->name, sizeof region->name, "%s", trace->name);
    region->trace.name = region->name;
    region->trace.path = region->trace.result = NULL;
    region->trace.cycles_per_instruction = gathering->cycles_per_instruction;
    if (trace->warm > trace->start)
        region->trace.warm = trace->start;
    if (!realpath(trace->path, whole))
        return error_errno(error, "%s: %.300s", region->name, trace->path);
    if (!(region->trace.path = strdup(whole)))
        return error_set(error, "out of memory for the regions");
    if (!find_trace(gathering, region->trace.path, error) ||
        !find_key(&place, &region->trace, gathering->trace_key, region->key, error))
        return error_prefix(error, "%s", region->name);
    snprintf(region->result, sizeof region->result, "%s%s", region->key, ENDING);
    if (asprintf(&result, "%s/%s", gathering->folder, region->result) < 0)
        return error_set(error, "out of memory for the regions");
    region->trace.result = result;
    return true;
}

static json_t *settings_of(const struct machine_options *options) {
    json_t *settings = json_array();
    for (uint32_t i = 0; i < options->setting_count; i++)
        json_array_append_new(settings, json_string(options->settings[i]));
    return settings;
}

/* A file by its whole path; the default by the name of what it has come to. */
static json_t *machine_of(const struct region_tasks *request) {
    const char *name = request->options->machine;
    return name ? work_machine_name(name) : json_string(request->machine->name);
}

static char *line_of(const struct region_tasks *request, const struct region_task *region) {
    const struct region_trace *trace = &region->trace;
    json_t *task =
        json_pack("{s:s, s:s, s:s, s:I, s:I, s:I, s:b, s:f, s:i, s:i, s:i, s:b, s:b, s:o, s:o}",
                  "result", region->result, "region", region->key, "trace", trace->path, "start",
                  (json_int_t)trace->start, "end", (json_int_t)trace->end, "warm",
                  (json_int_t)trace->warm, "stamped", trace->stamped, "cycles_per_instruction",
                  trace->cycles_per_instruction, "only", trace->only, "ideal", (int)request->ideal,
                  "isa", (int)request->isa, "graph", request->graph, "top_down", request->top_down,
                  "machine", machine_of(request), "settings", settings_of(request->options));
    char *line = task ? json_dumps(task, JSON_COMPACT) : NULL;
    json_decref(task);
    return line;
}

static bool make_tasks(struct gathering *gathering, struct error *error) {
    gathering->tasks = calloc(gathering->count + 1, sizeof *gathering->tasks);
    gathering->of = calloc(gathering->count + 1, sizeof *gathering->of);
    if (!gathering->tasks || !gathering->of)
        return error_set(error, "out of memory for the regions");
    for (size_t i = 0; i < gathering->count; i++) {
        struct region_task *region = &gathering->regions[i];
        if (is_there(region->trace.result))
            continue;
        const size_t number = gathering->task_count++;
        gathering->of[number] = i;
        gathering->tasks[number] =
            (struct cluster_task){region->result, line_of(gathering->request, region)};
        if (!gathering->tasks[number].line)
            return error_set(error, "--cluster: a name of a trace, machine or setting is no UTF-8, "
                                    "which tasks cannot tell to nodes");
    }
    return true;
}

/* ---- what comes of them ---- */

static bool take(void *context, size_t task) {
    struct gathering *gathering = context;
    return is_there(gathering->regions[gathering->of[task]].trace.result);
}

static void fail(void *context, size_t task, const struct error *why) {
    struct gathering *gathering = context;
    if (gathering->failed++)
        return;
    gathering->why = *why;
    error_prefix(&gathering->why, "%s", gathering->regions[gathering->of[task]].name);
}

static void note(void *context, size_t run, size_t wait) {
    struct gathering *gathering = context;
    snprintf(gathering->label, sizeof gathering->label, "%zu on nodes, %zu to come:", run, wait);
    gathering->request->watch->progress.label = gathering->label;
}

static void tell(void *context, const char *text) {
    const struct watch *watch = ((struct gathering *)context)->request->watch;
    if (watch->tell)
        watch->tell(text);
}

static double seconds_of(const struct gathering *gathering) {
    uint64_t most = 0;
    for (size_t i = 0; i < gathering->count; i++) {
        const struct region_trace *trace = &gathering->regions[i].trace;
        const uint64_t work = trace->end - trace->start + trace->warm;
        most = work > most ? work : most;
    }
    return (double)most / INSTRUCTIONS_PER_SECOND;
}

static bool simulate(struct gathering *gathering, struct error *error) {
    const struct region_tasks *request = gathering->request;
    char version[WORK_VERSION];
    work_version(request->version, version);
    const struct cluster_request wanted = {.options = request->cluster,
                                           .folder = gathering->folder,
                                           .verb = "regions",
                                           .version = version,
                                           .tasks = gathering->tasks,
                                           .count = gathering->task_count,
                                           .at_once = request->jobs,
                                           .seconds = seconds_of(gathering),
                                           .megabytes = MEGABYTES,
                                           .take = take,
                                           .fail = fail,
                                           .note = note,
                                           .tell = tell,
                                           .context = gathering,
                                           .watcher = watcher_of(request->watch)};
    if (!gathering->task_count)
        return true;
    watch_begin(request->watch, "submitting:", "regions", gathering->task_count);
    const bool good = cluster_run(&wanted, error);
    watch_end(request->watch);
    if (!good)
        return false;
    if (gathering->failed) {
        *error = gathering->why;
        return error_prefix(error,
                            "%zu of %zu regions could not be simulated (the others are kept)",
                            gathering->failed, gathering->count);
    }
    return !request->watch->signal ||
           error_set(error, "interrupted: regions that are done are kept in %.300s",
                     gathering->folder);
}

/* ---- all of them ---- */

static bool add_all(struct gathering *gathering, struct region_run *run, struct error *error) {
    for (size_t i = 0; i < gathering->count; i++)
        if (!region_run_add(run, &gathering->regions[i].trace, error))
            return false;
    return true;
}

static bool make_room(struct gathering *gathering, const char *list, size_t count,
                      struct error *error) {
    return make_folder(gathering, list, error) &&
           ((gathering->regions = calloc(count + 1, sizeof *gathering->regions)) ||
            error_set(error, "out of memory for the regions"));
}

static void free_tasks(struct gathering *gathering) {
    for (size_t i = 0; i < gathering->task_count; i++)
        free(gathering->tasks[i].line);
    free(gathering->tasks);
    free(gathering->of);
    gathering->tasks = NULL;
    gathering->of = NULL;
    gathering->task_count = 0;
}

/* Results of the first so many regions. */
static bool gather(struct gathering *gathering, const struct region_trace *regions, size_t count,
                   struct error *error) {
    while (gathering->count < count)
        if (!add_region(gathering, &regions[gathering->count], error))
            return false;
    const bool good = make_tasks(gathering, error) && simulate(gathering, error);
    free_tasks(gathering);
    return good;
}

/* As in one run, where the next regions wait for the first one. */
static bool take_pace(struct gathering *gathering, struct error *error) {
    struct simulation simulation;
    struct region_code_extent extent;
    const bool good =
        region_result_read(gathering->regions[0].trace.result, &simulation, &extent, error);
    if (good && simulation.instructions)
        gathering->cycles_per_instruction =
            (double)simulation.cycles / (double)simulation.instructions;
    simulation_free(&simulation);
    return good;
}

bool region_tasks_add(const struct region_tasks *tasks, const char *list,
                      const struct region_trace *regions, size_t count, struct region_run *run,
                      struct error *error) {
    struct gathering gathering = {.request = tasks, .lock = -1};
    const bool first_alone = tasks->machine->llc.retention && count > 1;
    const bool good =
        make_room(&gathering, list, count, error) &&
        (!first_alone || (gather(&gathering, regions, 1, error) && take_pace(&gathering, error))) &&
        gather(&gathering, regions, count, error) && add_all(&gathering, run, error);
    for (size_t i = 0; i < gathering.count; i++) {
        free((char *)gathering.regions[i].trace.path);
        free((char *)gathering.regions[i].trace.result);
    }
    free(gathering.regions);
    free(gathering.trace_path);
    free(gathering.folder);
    if (gathering.lock >= 0)
        close(gathering.lock);
    return good;
}

/* Those of a list behind the ones that are there. */
static bool add_list(struct region_trace *regions, char (*names)[REGION_NAME], size_t *count,
                     const struct region_list *list, const char *path, uint64_t warm_up,
                     struct error *error) {
    uint64_t *shares = region_list_shares(list);
    bool good = shares || error_set(error, "out of memory for the regions");
    for (size_t i = 0; good && i < list->region_count; i++, ++*count)
        good = region_list_trace(list, i, shares[i], path, warm_up, names[*count], &regions[*count],
                                 error);
    free(shares);
    return good;
}

bool region_tasks_add_lists(const struct region_tasks *tasks, const struct region_list *lists,
                            const char *const *paths, uint32_t count, uint64_t warm_up,
                            struct region_run *run, struct error *error) {
    const size_t all = sum_over(size_t, i, count, lists[i].region_count);
    struct region_trace *regions = calloc(all + 1, sizeof *regions);
    char(*names)[REGION_NAME] = calloc(all + 1, sizeof *names);
    size_t found = 0;
    bool good = (regions && names) || error_set(error, "out of memory for the regions");
    for (uint32_t i = 0; good && i < count; i++)
        good = add_list(regions, names, &found, &lists[i], paths[i], warm_up, error);
    good = good && region_tasks_add(tasks, paths[0], regions, found, run, error);
    for (size_t i = 0; regions && i < all; i++)
        free((char *)regions[i].path);
    free(regions);
    free(names);
    return good;
}

/* ---- on a node ---- */

struct doing {
    const char *path; /* of the result */
    bool kept;
    struct error error;
};

static void keep(void *context, const struct region_trace *region,
                 const struct simulation *simulation, const struct code *code) {
    struct doing *doing = context;
    (void)region;
    doing->kept = region_result_write(doing->path, simulation, code, &doing->error);
}

static bool simulate_region(const struct work_place *work, const struct place *place,
                            const struct region_trace *trace, const char *result,
                            struct error *error) {
    struct doing doing = {.path = result};
    const struct region_run_options options = {.machine = place->machine,
                                               .ideal = place->ideal,
                                               .isa = place->isa,
                                               .jobs = 1,
                                               .graph = place->graph,
                                               .details = {.top_down = place->top_down},
                                               .watcher = watcher_of(work->watch),
                                               .keep = keep,
                                               .keep_context = &doing};
    struct region_run *run = region_run_new(&options, error);
    const bool good = run && region_run_add(run, trace, error) && region_run_wait(run, error);
    region_run_free(run);
    if (!good)
        return false;
    if (work->watch->signal)
        return error_set(error, "interrupted");
    *error = doing.error;
    return doing.kept;
}

static bool take_machine(struct machine_options *options, const char *name,
                         const json_t *settings) {
    options->machine = name;
    for (size_t i = 0; i < json_array_size(settings); i++) {
        const char *setting = json_string_value(json_array_get(settings, i));
        if (!setting || options->setting_count == MACHINE_MOST_SETTINGS)
            return false;
        options->settings[options->setting_count++] = setting;
    }
    return true;
}

struct told {
    const char *result, *key, *trace, *machine;
    json_int_t start, end, warm;
    int stamped, only, ideal, isa, graph, top_down;
    double cycles_per_instruction;
    json_t *settings;
};

static bool take_task(const json_t *task, struct told *told, struct machine_options *options,
                      struct error *error) {
    return (json_unpack(
                (json_t *)task,
                "{s:s, s:s, s:s, s:I, s:I, s:I, s:b, s:F, s:i, s:i, s:i, s:b, s:b, s:s, s:o}",
                "result", &told->result, "region", &told->key, "trace", &told->trace, "start",
                &told->start, "end", &told->end, "warm", &told->warm, "stamped", &told->stamped,
                "cycles_per_instruction", &told->cycles_per_instruction, "only", &told->only,
                "ideal", &told->ideal, "isa", &told->isa, "graph", &told->graph, "top_down",
                &told->top_down, "machine", &told->machine, "settings", &told->settings) == 0 &&
            told->start >= 0 && told->end > told->start && told->warm >= 0 &&
            told->warm <= told->start && told->only >= -1 && told->ideal >= 0 && told->isa >= 0 &&
            told->isa < ISA_COUNT && !strchr(told->result, '/') &&
            take_machine(options, told->machine, told->settings)) ||
           error_set(error, "it does not say what a region is");
}

static bool do_region(const struct work_place *work, const struct told *told,
                      const struct machine *machine, struct error *error) {
    const struct region_trace trace = {.name = "the region",
                                       .path = told->trace,
                                       .start = (uint64_t)told->start,
                                       .end = (uint64_t)told->end,
                                       .warm = (uint64_t)told->warm,
                                       .stamped = told->stamped,
                                       .cycles_per_instruction = told->cycles_per_instruction,
                                       .only = told->only,
                                       .stands_for = (uint64_t)(told->end - told->start)};
    const struct place place = {.version = work->version,
                                .machine = machine,
                                .ideal = (uint32_t)told->ideal,
                                .isa = (enum isa)told->isa,
                                .graph = told->graph,
                                .top_down = told->top_down};
    char trace_key[DESIGN_KEY], key[DESIGN_KEY], *result;
    if (!hash_trace(told->trace, trace_key, error) ||
        !find_key(&place, &trace, trace_key, key, error))
        return false;
    if (strcmp(key, told->key) != 0)
        return error_set(error,
                         "%s, or the trace, is another one on this node than where it was asked "
                         "for: let all nodes have the same files (a machine of this host alone is "
                         "named by --machine FILE)",
                         machine->name);
    if (asprintf(&result, "%s/%s%s", work->folder, key, ENDING) < 0)
        return error_set(error, "out of memory for the result of a region");
    const bool good = is_there(result) || simulate_region(work, &place, &trace, result, error);
    free(result);
    return good;
}

bool region_work(const struct work_place *place, const json_t *task, struct error *error) {
    struct told told;
    struct machine_options options = {0};
    struct machine_choice *choice = calloc(1, sizeof *choice);
    bool good = choice || error_set(error, "out of memory for a machine");
    good = good && take_task(task, &told, &options, error) &&
           machine_choice_load(choice, &options, error);
    const struct machine *machine =
        good ? machine_choice_of(choice, (enum isa)told.isa, error) : NULL;
    good = machine && do_region(place, &told, machine, error);
    free(choice);
    return good;
}
