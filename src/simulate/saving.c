/* Cells are numbered by static instruction; in the store they lie by image and offset, and the same
 * code at one offset (of anonymous memory that changed) is one. */
#include "simulate/saving.h"

#include <stdlib.h>
#include <string.h>

#include "simulate/saving_calls.h"
#include "util/array.h"
#include "util/clock.h"
#include "util/file_name.h"
#include "util/order.h"
#include "util/quoted_command.h"

static const char CYCLES[] = "cycles", EXECUTIONS[] = "executions";

/* ---- values ---- */

struct cell {
    uint32_t image;
    struct store_value value;
};

ORDER(by_place, struct cell, ascending(a->image, b->image) ?: ascending(a->value.offset, b->value.offset) ?:
           ascending(a->value.signature, b->value.signature))

/* One after the other as the store wants them; how many are left when those of one place are one.
 */
static size_t order_cells(struct cell *cells, size_t count) {
    size_t kept = 0;
    qsort(cells, count, sizeof *cells, by_place);
    for (size_t i = 0; i < count; i++) {
        if (kept && by_place(&cells[kept - 1], &cells[i]) == 0)
            cells[kept - 1].value.value += cells[i].value.value;
        else
            cells[kept++] = cells[i];
    }
    return kept;
}

/* Numbers in the store of a run being saved. */
struct session {
    struct store *store;
    const struct code *code;
    int64_t id, process;
    int64_t *images; /* of the code; 0: not used yet */
    int64_t event;   /* the last one added; 0: none */
    struct store_estimate estimate;
};

static bool image_of(struct session *session, uint32_t index, int64_t *id, struct error *error) {
    static const enum image_kind KINDS[] = {[CODE_IMAGE_FILE] = IMAGE_FILE,
                                            [CODE_IMAGE_VDSO] = IMAGE_VDSO,
                                            [CODE_IMAGE_ANONYMOUS] = IMAGE_JIT};
    if (!session->images[index]) {
        const struct code_image *image = &session->code->images[index];
        struct store_image stored = {.kind = KINDS[image->kind],
                                     .path = image->path,
                                     .build_id_size = image->build_id_size,
                                     .root = ""};
        memcpy(stored.build_id, image->build_id, image->build_id_size);
        if (!store_image(session->store, &stored, &session->images[index], error))
            return false;
    }
    *id = session->images[index];
    return true;
}

static bool add_profile(struct session *session, int64_t event, const struct cell *cells,
                        size_t count, struct store_value *values, struct error *error) {
    int64_t image;
    for (size_t i = 0; i < count; i++)
        values[i] = cells[i].value;
    for (size_t first = 0, end; first < count; first = end) {
        for (end = first + 1; end < count && cells[end].image == cells[first].image;)
            end++;
        if (!image_of(session, cells[first].image, &image, error) ||
            !store_add_values(session->store, session->id, session->process, image, event,
                              values + first, end - first, error))
            return false;
    }
    return true;
}

/* Orders the cells. An event that nothing happened to is not there. */
static bool add_event(struct session *session, const struct store_event *event, struct cell *cells,
                      size_t count, struct error *error) {
    int64_t id;
    struct store_event estimated = *event;
    session->event = 0;
    if (!count)
        return true;
    estimated.estimate = session->estimate;
    struct store_value *values = malloc(count * sizeof *values);
    if (!values)
        return error_set(error, "out of memory for the profile");
    count = order_cells(cells, count);
    bool good = store_add_event(session->store, session->id, &estimated, &id, error) &&
                add_profile(session, id, cells, count, values, error);
    session->event = id;
    free(values);
    return good;
}

static struct cell cell_of(const struct session *session, uint32_t insn, uint32_t signature,
                           uint64_t value) {
    const struct static_insn *place = &session->code->insns[insn];
    return (struct cell){place->image, {place->offset, signature, value}};
}

static bool add_cycles(struct session *session, const struct saved_event *saved, struct cell *cells,
                       struct error *error) {
    const struct store_event event = {.name = saved->name,
                                      .unit = "1/840 cycles",
                                      .period = saved->period > 1 ? saved->period : 0,
                                      .period_unit = "cycles",
                                      .precise = true};
    for (uint64_t i = 0; i < saved->cell_count; i++) {
        const struct pics_cell *cell = &saved->cells[i];
        cells[i] = cell_of(session, cell->insn, cell->psv, cell->units);
    }
    return add_event(session, &event, cells, saved->cell_count, error);
}

static bool add_executions(struct session *session, const struct simulation *simulation,
                           struct cell *cells, struct error *error) {
    const struct store_event event = {
        .name = EXECUTIONS, .unit = "executions", .period_unit = "", .precise = true};
    size_t count = 0;
    for (uint32_t i = 0; i < simulation->execution_count; i++)
        if (simulation->executions[i])
            cells[count++] = cell_of(session, i, 0, simulation->executions[i]);
    return add_event(session, &event, cells, count, error);
}

/* Of one cause, or of all: what a sample at the head of the issue queue would hit. */
static bool add_cause(struct session *session, const struct simulation *simulation,
                      const char *name, int cause, struct cell *cells, struct error *error) {
    const struct store_event event = {
        .name = name, .unit = "cycles", .period_unit = "", .precise = true};
    size_t count = 0;
    for (size_t i = 0; i < simulation->stall_count; i++) {
        const struct stall_cell *stall = &simulation->stalls[i];
        if (cause == STALL_CAUSES || stall->cause == (uint32_t)cause)
            cells[count++] = cell_of(session, stall->insn, 0, stall->cycles);
    }
    return add_event(session, &event, cells, count, error);
}

static bool add_stalls(struct session *session, const struct simulation *simulation,
                       struct cell *cells, struct error *error) {
    bool good = add_cause(session, simulation, "head", STALL_CAUSES, cells, error);
    for (int cause = STALL_NONE + 1; good && cause < STALL_CAUSES; cause++) {
        char name[64];
        snprintf(name, sizeof name, "stall:%s", stall_cause_key(cause));
        good = add_cause(session, simulation, name, cause, cells, error);
    }
    return good;
}

static bool add_counts(struct session *session, const struct simulation *simulation,
                       struct cell *cells, struct error *error) {
    for (int kind = 0; kind < STALL_EVENTS; kind++) {
        const struct store_event event = {
            .name = stall_event_name(kind), .unit = "events", .period_unit = "", .precise = true};
        size_t count = 0;
        for (size_t i = 0; i < simulation->stall_event_count; i++)
            if (simulation->stall_events[i].times[kind])
                cells[count++] =
                    cell_of(session, (uint32_t)i, 0, simulation->stall_events[i].times[kind]);
        if (!add_event(session, &event, cells, count, error))
            return false;
    }
    return true;
}

static bool number_images(struct session *session, const struct call_path_result *paths,
                          struct error *error) {
    int64_t id;
    for (uint32_t i = 0; i < paths->function_count; i++)
        if (!paths->functions[i].inlined && !paths->functions[i].is_python &&
            !image_of(session, session->code->insns[paths->functions[i].insn].image, &id, error))
            return false;
    for (uint32_t i = 0; i < paths->count; i++)
        if (paths->paths[i].parent != PATH_NONE && paths->paths[i].site != PATH_NONE &&
            !image_of(session, session->code->insns[paths->paths[i].site].image, &id, error))
            return false;
    return true;
}

/* Of paths, what is added to a tree: saved_calls_add() or its like. */
typedef bool calls_adder(struct call_tree *tree, const struct call_path_result *result,
                         const struct code *code, const int64_t *images);

/* The calls that led to what the event counts, which was added last. */
static bool add_calls(struct session *session, const struct call_path_result *paths,
                      calls_adder *add, struct error *error) {
    struct call_tree tree = {.most = STORE_CALLS_MAX};
    if (!paths->count || !session->event)
        return true;
    bool good = number_images(session, paths, error);
    if (good && !add(&tree, paths, session->code, session->images))
        good = error_set(error, "out of memory for the calls");
    good = good && store_add_calls(session->store, session->id, session->process, session->event,
                                   tree.calls, tree.count, error);
    call_tree_free(&tree);
    return good;
}

/* All that a simulation has; `cells` has room for the most that one event can have. */
static bool add_events(struct session *session, const struct simulation *simulation,
                       const struct saved_event *more, size_t more_count, struct cell *cells,
                       struct error *error) {
    const struct saved_event cycles = {CYCLES, 1, simulation->cells, simulation->cell_count};
    bool good = add_cycles(session, &cycles, cells, error) &&
                add_calls(session, &simulation->paths, saved_calls_add, error);
    for (size_t i = 0; good && i < more_count; i++)
        good = add_cycles(session, &more[i], cells, error);
    return good && add_executions(session, simulation, cells, error) &&
           add_calls(session, &simulation->paths, saved_calls_add_instructions, error) &&
           add_stalls(session, simulation, cells, error) &&
           add_counts(session, simulation, cells, error);
}

static size_t most_cells(const struct simulation *simulation, const struct saved_event *more,
                         size_t more_count) {
    size_t most = simulation->cell_count + simulation->execution_count + simulation->stall_count +
                  simulation->stall_event_count;
    for (size_t i = 0; i < more_count; i++)
        most = more[i].cell_count > most ? more[i].cell_count : most;
    return most + 1;
}

/* What all that is saved of it rests on. */
static struct store_estimate estimate_of(const struct simulation *simulation) {
    if (simulation->simulated >= simulation->executed)
        return (struct store_estimate){0};
    const double half = simulation_interval(simulation);
    struct store_estimate estimate = {
        .count = simulation->regions.simulated,
        .simulated = (double)simulation->simulated / (double)simulation->executed,
        .within = simulation->cycles ? half / (double)simulation->cycles : -1};
    if (!estimate.count && simulation->levels > 0) {
        estimate.count = sampling_windows(&simulation->spread);
        estimate.windows = true;
    }
    return estimate;
}

/* ---- sessions ---- */

/* The file of this name that code was executed in; "": none. */
static const char *executable_named(const struct code *code, const char *name, size_t length) {
    for (uint32_t i = 0; i < code->image_count; i++) {
        const struct code_image *image = &code->images[i];
        const char *slash = strrchr(image->path, '/');
        if (image->kind == CODE_IMAGE_FILE && slash && strlen(slash + 1) == length &&
            !strncmp(slash + 1, name, length))
            return image->path;
    }
    return "";
}

static const char *after_last_slash(const char *text, const char *end) {
    while (end > text && end[-1] != '/')
        end--;
    return end;
}

/* Where the words of a command are joined, a space may be one of the program's own: its name ends
 * where a file was executed that is called so. Moves `end` there, else to the end of the text. */
static const char *executable_of_joined(const struct code *code, const char *command,
                                        const char **end) {
    const char *executable = "";
    while (**end && !*executable) {
        *end += **end == ' ';
        *end += strcspn(*end, " ");
        const char *base = after_last_slash(command, *end);
        executable = executable_named(code, base, (size_t)(*end - base));
    }
    return executable;
}

/* The process has the name of the command, as ps shows it, and the file of that name. */
static bool add_process(struct session *session, const char *command, struct error *error) {
    enum { COMMAND_BYTES = 16 };
    char *program = quoted_command_program(command), name[COMMAND_BYTES];
    if (!program)
        return error_set(error, "out of memory for the profile");
    const char *base = file_base_name(program), *end = command;
    size_t length = strlen(base);
    const char *executable = executable_named(session->code, base, length);
    if (!*executable && *(executable = executable_of_joined(session->code, command, &end))) {
        base = after_last_slash(command, end);
        length = (size_t)(end - base);
    }
    snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : sizeof name - 1),
             base);
    free(program);
    const struct store_process process = {.command = name, .executable = executable};
    return store_process(session->store, session->id, &process, &session->process, error);
}

static struct store_session session_of(const struct saving *saving, const char *name,
                                       double weight) {
    int64_t now = clock_since_1970();
    return (struct store_session){.kind = SESSION_SIMULATED,
                                  .name = name,
                                  .processor = saving->machine,
                                  .weight = weight,
                                  .start = now,
                                  .end = now};
}

static bool add_session(struct session *session, const struct saving *saving, const char *part,
                        double weight, struct error *error) {
    char *name = NULL;
    if (asprintf(&name, part ? "%s (%s)" : "%s", saving->command, part) < 0)
        return error_set(error, "out of memory for the profile");
    const struct store_session stored = session_of(saving, name, weight);
    bool good = store_add_session(session->store, &stored, &session->id, error) &&
                add_process(session, saving->command, error);
    free(name);
    return good;
}

static bool save(struct saving *saving, const char *part, double weight,
                 const struct simulation *simulation, const struct code *code,
                 const struct saved_event *more, size_t more_count, struct error *error) {
    struct session session = {.store = part ? saving->parts : saving->store, .code = code};
    if (!part)
        session.estimate = estimate_of(simulation);
    struct cell *cells = malloc(most_cells(simulation, more, more_count) * sizeof *cells);
    session.images = calloc(code->image_count + 1u, sizeof *session.images);
    bool good = cells && session.images &&
                array_room(saving->sessions, saving->capacity, saving->count + 1);
    good = good ? store_begin(session.store, error)
                : error_set(error, "out of memory for the profile");
    if (good) {
        good = add_session(&session, saving, part, weight, error) &&
               add_events(&session, simulation, more, more_count, cells, error);
        if (good)
            good = store_commit(session.store, error);
        else
            store_rollback(session.store);
    }
    if (good && part)
        saving->sessions[saving->count++] = session.id;
    else if (good)
        saving->session = session.id;
    free(session.images);
    free(cells);
    return good;
}

void saving_add(struct saving *saving, const char *part, double weight,
                const struct simulation *simulation, const struct code *code,
                const struct saved_event *more, size_t more_count) {
    if (!saving->failed)
        saving->failed =
            !save(saving, part, weight, simulation, code, more, more_count, &saving->error);
}

void saving_set_calls(struct saving *saving, const struct call_path_result *paths,
                      const struct code *code) {
    saving->paths = paths;
    saving->code = code;
}

struct found_event {
    struct session *session;
    const char *name;
};

static bool find_event(void *context, const struct store_session *stored,
                       const struct store_event *events, size_t count) {
    const struct found_event *found = context;
    for (size_t i = 0; i < count && stored->id == found->session->id; i++)
        if (!strcmp(events[i].name, found->name))
            found->session->event = events[i].id;
    return stored->id != found->session->id;
}

static bool add_calls_of(struct session *session, const char *event,
                         const struct call_path_result *paths, calls_adder *add,
                         struct error *error) {
    session->event = 0;
    return store_each_session(session->store, find_event, &(struct found_event){session, event},
                              error) &&
           add_calls(session, paths, add, error);
}

/* To the sum of the parts. */
static bool save_calls(struct saving *saving, struct error *error) {
    struct session session = {.store = saving->store, .code = saving->code, .id = saving->session};
    if (!(session.images = calloc(saving->code->image_count + 1u, sizeof *session.images)))
        return error_set(error, "out of memory for the calls");
    const bool good =
        add_process(&session, saving->command, error) &&
        add_calls_of(&session, CYCLES, saving->paths, saved_calls_add, error) &&
        add_calls_of(&session, EXECUTIONS, saving->paths, saved_calls_add_instructions, error);
    free(session.images);
    return good;
}

void saving_finish(struct saving *saving, const struct simulation *simulation) {
    if (!saving->count || saving->failed)
        return;
    const struct store_estimate estimate = estimate_of(simulation);
    const struct store_session whole = session_of(saving, saving->command, 1);
    saving->failed =
        !store_sum_sessions(saving->store, saving->parts, saving->sessions, saving->count, &whole,
                            &estimate, &saving->session, &saving->error) ||
        (saving->paths && saving->paths->count && !save_calls(saving, &saving->error));
}

void saving_keep_region(void *context, const struct region_trace *region,
                        const struct simulation *simulation, const struct code *code) {
    double weight = simulation->instructions
                        ? (double)region->stands_for / (double)simulation->instructions
                        : 0;
    saving_add(context, region->name, weight, simulation, code, NULL, 0);
}

void saving_weigh(struct saving *saving, size_t index, double weight) {
    if (index < saving->count && !saving->failed)
        saving->failed =
            !store_weigh_session(saving->parts, saving->sessions[index], weight, &saving->error);
}

void saving_undo(struct saving *saving) {
    for (size_t i = 0; i < saving->count && !saving->failed; i++)
        saving->failed = !store_remove_session(saving->parts, saving->sessions[i], &saving->error);
    saving->count = 0;
}

void saving_free(struct saving *saving) {
    free(saving->sessions);
    memset(saving, 0, sizeof *saving);
}
