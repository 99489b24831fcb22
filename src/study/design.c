#include "study/design.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "machine/processor.h"
#include "study/design_kept.h"
#include "study/design_pool.h"
#include "study/kept_input.h"
#include "util/arithmetic.h"
#include "util/array.h"

/* ---- what varies ---- */

/* Values between commas, with the spaces around them taken away. */
static bool add_values(struct design_axis *axis, const char *text, struct error *error) {
    for (const char *at = text;; at++) {
        const size_t length = strcspn(at, ",");
        size_t from = 0, to = length;
        while (from < to && (at[from] == ' ' || at[from] == '\t'))
            from++;
        while (to > from && (at[to - 1] == ' ' || at[to - 1] == '\t'))
            to--;
        if (from == to)
            return error_set(error, "%.200s: there is an empty value in it", text);
        char *value = strndup(at + from, to - from);
        if (!value || !array_push(axis->values, axis->capacity, axis->count, value)) {
            free(value);
            return error_set(error, "out of memory for values");
        }
        for (size_t i = 0; i + 1 < axis->count; i++)
            if (machine_same_value(axis->values[i], value))
                return error_set(error, "%.200s: %.100s is there twice", text, axis->values[i]);
        at += length;
        if (!*at)
            return true;
    }
}

bool design_add_machines(struct design *design, const char *text, struct error *error) {
    return design->machines.count
               ? error_set(error, "%.200s: machines are named once, with commas between them", text)
               : add_values(&design->machines, text, error);
}

bool design_add_setting(struct design *design, const char *text, struct error *error) {
    const char *equals = strchr(text, '=');
    if (!equals || equals == text)
        return error_set(error, "%.200s: not SECTION.KEY=VALUE,..., like core.rob=128,256", text);
    size_t length = (size_t)(equals - text);
    while (length > 1 && text[length - 1] == ' ')
        length--;
    for (size_t i = 0; i < design->axis_count; i++)
        if (strlen(design->axes[i].key) == length && !strncmp(design->axes[i].key, text, length))
            return error_set(error,
                             "%.200s: the values of %s are named once, with commas between "
                             "them",
                             text, design->axes[i].key);
    if (design->axis_count == DESIGN_MOST_AXES)
        return error_set(error, "%.200s: more than %d keys", text, DESIGN_MOST_AXES);
    struct design_axis *axis = &design->axes[design->axis_count++];
    return ((axis->key = strndup(text, length)) != NULL ||
            error_set(error, "out of memory for values")) &&
           (add_values(axis, equals + 1, error) || error_prefix(error, "%.100s", axis->key));
}

const char *design_value(const struct design *design, const struct design_point *point,
                         size_t axis) {
    return design->axes[axis].values[point->values[axis]];
}

const struct design_point *design_configuration(const struct design *design, size_t number) {
    const size_t program = index_where(i, design->program_count, design->programs[i].captured);
    const size_t of = program < design->program_count ? program : 0;
    return &design->points[of * design_configurations(design) + number];
}

/* ---- machines ---- */

/* The same machine everywhere, as what the command can see is. */
static struct machine_options options_of(const struct design *design, uint32_t machine) {
    return (struct machine_options){
        .machine = design->machines.count ? design->machines.values[machine] : NULL,
        .everywhere = true};
}

struct machine_choice *design_machine(const struct design *design, const struct design_point *point,
                                      struct error *error) {
    struct machine_choice *choice = calloc(1, sizeof *choice);
    struct machine_options options = options_of(design, point->machine);
    char *settings[DESIGN_MOST_AXES] = {0};
    bool good = choice != NULL;
    for (size_t i = 0; i < design->axis_count; i++) {
        good &= asprintf(&settings[i], "%s=%s", design->axes[i].key,
                         design_value(design, point, i)) >= 0;
        options.settings[options.setting_count++] = good ? settings[i] : "";
    }
    if (!good)
        error_set(error, "out of memory for a machine");
    good = good && machine_choice_load(choice, &options, error);
    for (size_t i = 0; i < design->axis_count; i++)
        free(settings[i]);
    if (!good)
        free(choice);
    return good ? choice : NULL;
}

/* Each value by itself: what is wrong with it is wrong at every point. */
static bool try_values(const struct design *design, const struct machine *machine,
                       struct machine *changed, struct error *error) {
    for (size_t i = 0; i < design->axis_count; i++)
        for (size_t k = 0; k < design->axes[i].count; k++) {
            char text[512];
            const int size = snprintf(text, sizeof text, "%s=%s", design->axes[i].key,
                                      design->axes[i].values[k]);
            *changed = *machine;
            if ((size_t)size >= sizeof text)
                return error_set(error, "--set %.200s: too long", text);
            if (!machine_set(changed, text, error))
                return error_prefix(error, "--set %s", text);
        }
    return true;
}

static bool cost_key(void *context, const char *name, double *value, struct error *error) {
    return machine_number(context, name, value, error);
}

static bool cost_of(const struct design *design, const struct machine *machine, double *cost,
                    struct error *error) {
    *cost = NAN;
    return !design->cost ||
           arithmetic_value(design->cost, cost_key, (void *)machine, cost, error) ||
           error_prefix(error, "--cost");
}

static bool try_machine(const struct design *design, uint32_t number, struct machine_choice *choice,
                        struct machine *changed, struct error *error) {
    const struct machine_options options = options_of(design, number);
    double cost;
    memset(choice, 0, sizeof *choice);
    if (!machine_choice_load(choice, &options, error))
        return false;
    const size_t good = index_where(isa, ISA_COUNT, choice->candidates[isa].good);
    const struct machine *machine = &choice->candidates[good].machine;
    return try_values(design, machine, changed, error) && cost_of(design, machine, &cost, error);
}

static bool try_machines(const struct design *design, struct error *error) {
    struct machine_choice *choice = malloc(sizeof *choice);
    struct machine *changed = malloc(sizeof *changed);
    bool good = (choice && changed) || error_set(error, "out of memory for machines");
    const uint32_t count = design->machines.count ? (uint32_t)design->machines.count : 1;
    for (uint32_t i = 0; good && i < count; i++)
        good = try_machine(design, i, choice, changed, error);
    free(changed);
    free(choice);
    return good;
}

/* ---- points ---- */

static bool make_points(struct design *design, struct error *error) {
    const size_t machines = design->machines.count ? design->machines.count : 1;
    size_t count = design->program_count * machines;
    for (size_t i = 0; i < design->axis_count && count <= DESIGN_MOST_POINTS; i++)
        count *= design->axes[i].count;
    if (count > DESIGN_MOST_POINTS)
        return error_set(error, "more than %d points: name fewer values", DESIGN_MOST_POINTS);
    if (!(design->points = calloc(count + 1, sizeof *design->points)))
        return error_set(error, "out of memory for points");
    design->point_count = count;
    for (size_t i = 0; i < count; i++) {
        struct design_point *point = &design->points[i];
        size_t rest = i;
        for (size_t axis = design->axis_count; axis-- > 0;) {
            point->values[axis] = (uint32_t)(rest % design->axes[axis].count);
            rest /= design->axes[axis].count;
        }
        point->machine = (uint32_t)(rest % machines);
        point->program = (uint32_t)(rest / machines);
        point->cost = NAN;
    }
    return true;
}

bool design_prepare(struct design *design, struct error *error) {
    return try_machines(design, error) && make_points(design, error);
}

static bool find_key(const struct design *design, struct design_point *point,
                     const struct machine *machine, struct error *error) {
    XXH3_state_t *state = XXH3_createState();
    if (!state)
        return error_set(error, "out of memory for a machine");
    const char *identity = design->programs[point->program].capture.identity;
    XXH3_128bits_reset(state);
    XXH3_128bits_update(state, identity, DESIGN_KEY);
    XXH3_128bits_update(state, design->version, strlen(design->version) + 1);
    const bool good = design_hash_machine(state, machine, error);
    design_key(XXH3_128bits_digest(state), point->key);
    XXH3_freeState(state);
    return good;
}

bool design_open_point(struct design *design, struct design_point *point, struct error *error) {
    const struct design_program *program = &design->programs[point->program];
    if (!program->captured) {
        *error = program->failure;
        return false;
    }
    struct machine_choice *machines = design_machine(design, point, error);
    const struct machine *machine =
        machines ? machine_choice_of(machines, program->capture.isa, error) : NULL;
    const bool good = machine && cost_of(design, machine, &point->cost, error) &&
                      find_key(design, point, machine, error);
    if (machine) {
        memcpy(point->machine_name, machine->name, sizeof point->machine_name);
        point->clock_ghz = machine->clock_ghz;
    }
    free(machines);
    if (good && design_kept_point(design->folder, point->key, &point->result)) {
        point->state = DESIGN_KEPT;
        design->kept++;
    }
    return good;
}

static void open_points(struct design *design) {
    for (size_t i = 0; i < design->point_count; i++) {
        struct design_point *point = &design->points[i];
        if (!design_open_point(design, point, &point->failure)) {
            point->state = DESIGN_FAILED;
            design->failed++;
        }
    }
}

/* ---- programs ---- */

static bool open_folder(struct design *design, int *lock, struct error *error) {
    if (!design->keep)
        return (design->folder = temporary_folder(&design->watch->temporaries, error)) != NULL;
    if (mkdir(design->keep, 0777) != 0 && errno != EEXIST)
        return error_errno(error, "--keep %.300s", design->keep);
    /* Nodes of a cluster are not where this runs. */
    design->folder = design->cluster ? realpath(design->keep, NULL) : strdup(design->keep);
    if (!design->folder)
        return error_errno(error, "--keep %.300s", design->keep);
    return design_lock(design->folder, lock, error) || error_prefix(error, "--keep");
}

static bool capture_all(struct design *design, int *exec_status, struct error *error) {
    bool any = false;
    for (size_t i = 0; i < design->program_count && !design->watch->signal; i++) {
        struct design_program *program = &design->programs[i];
        const struct design_capture_request request = {.watch = design->watch,
                                                       .version = design->version,
                                                       .input = &program->input,
                                                       .folder = design->folder,
                                                       .over = design->over,
                                                       .regions = design->regions};
        program->captured = design_capture_go(&request, &program->capture, &program->exec_status,
                                              &program->failure);
        any |= program->captured;
    }
    if (any)
        return true;
    *exec_status = design->programs[0].exec_status;
    *error = design->programs[0].failure;
    return error->message[0] ? false
                             : error_set(error, "interrupted before any point was simulated");
}

static bool go(struct design *design, int *exec_status, struct error *error) {
    bool commands = false;
    for (size_t i = 0; i < design->program_count; i++) {
        commands |= design->programs[i].input.command != NULL;
        design->programs[i].input.fixed = true;
    }
    if ((commands && !kept_input_read_all(design->watch, error)) ||
        !capture_all(design, exec_status, error))
        return false;
    open_points(design);
    if (!design->watch->signal && !(design->cluster ? design_simulate_on_cluster(design, error)
                                                    : design_simulate_all(design, error)))
        return false;
    design->signal = watch_take(design->watch);
    if (design->simulated + design->kept)
        return true;
    if (design->signal)
        return error_set(error, "interrupted before any point was simulated");
    *error = design->points[0].failure;
    return design->point_count > 1 ? error_prefix(error, "all points failed, the first one")
                                   : false;
}

bool design_go(struct design *design, int *exec_status, struct error *error) {
    int lock = -1;
    const bool good = open_folder(design, &lock, error) && go(design, exec_status, error);
    if (lock >= 0)
        close(lock);
    return good;
}

static void free_axis(struct design_axis *axis) {
    array_free_each(axis->values, axis->count);
    free(axis->key);
}

void design_free(struct design *design) {
    for (size_t i = 0; i < design->program_count; i++)
        design_capture_free(&design->programs[i].capture);
    if (design->keep)
        free(design->folder);
    else if (design->watch)
        temporary_remove(&design->watch->temporaries, design->folder);
    free_axis(&design->machines);
    for (size_t i = 0; i < design->axis_count; i++)
        free_axis(&design->axes[i]);
    free(design->points);
}
