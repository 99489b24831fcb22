/* Moves wait in a list (path_moves.h). The worker counts the instructions that have ended; a move
 * is due when as many have as there were before it. In between, all µops belong to one node, whose
 * cycles without an event are summed apart and added once. */
#include "attribute/call_paths.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "attribute/path_moves.h"
#include "attribute/pics.h"
#include "attribute/span.h"
#include "tap/copy.h"
#include "util/array.h"

/* ---- the run ---- */

struct call_paths {
    struct path_tree tree;
    struct path_functions functions;
    const struct stack_starts *starts; /* or NULL */
    bool followed;                     /* other workers see nodes */
    /* The workers': since the last collection, by node. */
    struct pics *gained;
    uint64_t *ended; /* instructions */
    size_t ended_capacity;
    /* Weighted. */
    struct pics *total;
    uint64_t *instructions, *calls;
    size_t instruction_capacity, call_capacity;
    uint64_t instruction_total;
    struct shadow_counts counts; /* of threads that are done */
};

struct call_paths *call_paths_new(const struct path_extents *extents,
                                  const struct stack_starts *starts) {
    struct call_paths *paths = calloc(1, sizeof *paths);
    if (!paths)
        return NULL;
    paths->functions.extents = *extents;
    paths->functions.base = starts ? stack_starts_code(starts) : NULL;
    paths->starts = starts;
    if ((paths->gained = pics_new()) && (paths->total = pics_new()))
        return paths;
    call_paths_free(paths);
    return NULL;
}

void call_paths_free(struct call_paths *paths) {
    if (!paths)
        return;
    path_tree_free(&paths->tree);
    path_functions_free(&paths->functions);
    pics_free(paths->gained);
    pics_free(paths->total);
    free(paths->ended);
    free(paths->instructions);
    free(paths->calls);
    free(paths);
}

bool call_paths_collect(struct call_paths *paths, uint64_t weight) {
    const size_t count = paths->tree.node_count;
    if (!array_zeroed_room(paths->instructions, paths->instruction_capacity, count) ||
        !array_zeroed_room(paths->calls, paths->call_capacity, count) ||
        !pics_move(paths->total, paths->gained, weight))
        return false;
    for (size_t i = 0; i < count; i++) {
        paths->calls[i] += paths->tree.nodes[i].calls * weight;
        paths->tree.nodes[i].calls = 0;
    }
    for (size_t i = 0; i < count && i < paths->ended_capacity; i++) {
        paths->instructions[i] += paths->ended[i] * weight;
        paths->instruction_total += paths->ended[i] * weight;
        paths->ended[i] = 0;
    }
    return true;
}

void call_paths_total(const struct call_paths *paths, uint64_t *units, uint64_t *instructions) {
    *units = pics_total(paths->total);
    *instructions = paths->instruction_total;
}

/* ---- the result ---- */

void call_path_result_free(struct call_path_result *result) {
    for (uint32_t i = 0; i < result->function_count; i++)
        free(result->functions[i].inlined);
    free(result->paths);
    free(result->functions);
    free(result->cells);
    free(result->node_paths);
    *result = (struct call_path_result){0};
}

/* Marks a node and its callers as worth telling. */
static void keep(const struct path_tree *tree, uint32_t node, uint8_t *kept) {
    for (; node != PATH_NONE && !kept[node]; node = tree->nodes[node].parent)
        kept[node] = 1;
}

/* Numbers a kept node behind its callers, which may have been found later than it. */
static void number(struct call_paths *paths, uint32_t node, uint32_t *numbers,
                   struct call_path_result *result) {
    const struct path_node *nodes = paths->tree.nodes;
    for (;;) {
        uint32_t outermost = node;
        while (nodes[outermost].parent != PATH_NONE &&
               numbers[nodes[outermost].parent] == PATH_NONE)
            outermost = nodes[outermost].parent;
        const struct path_node *from = &nodes[outermost];
        numbers[outermost] = result->count;
        result->paths[result->count++] = (struct call_path){
            .parent = from->parent == PATH_NONE ? PATH_NONE : numbers[from->parent],
            .site = from->site,
            .function = from->function,
            .kind = from->kind,
            .beside = from->beside,
            .instructions = paths->instructions[outermost],
            .calls = paths->calls[outermost]};
        if (outermost == node)
            return;
    }
}

/* Nodes for whom a worker may have something: those without a path count for their callers. */
static bool keep_nodes(const struct call_paths *paths, uint32_t *numbers,
                       struct call_path_result *result) {
    const uint32_t count = (uint32_t)paths->tree.node_count;
    uint32_t *found = malloc((count + (size_t)1) * sizeof *found);
    for (uint32_t i = 0; found && i < count; i++) {
        uint32_t at = i;
        while (numbers[at] == PATH_NONE && paths->tree.nodes[at].parent != PATH_NONE)
            at = paths->tree.nodes[at].parent;
        found[i] = numbers[at];
    }
    free(numbers);
    result->node_paths = found;
    result->node_count = found ? count : 0;
    return found;
}

static bool number_all(struct call_paths *paths, const uint8_t *kept,
                       struct call_path_result *result, struct data_result *data) {
    const size_t count = paths->tree.node_count;
    uint32_t *numbers = malloc((count + 1) * sizeof *numbers);
    result->paths = calloc(count + 1, sizeof *result->paths);
    if (!numbers || !result->paths) {
        free(numbers);
        return false;
    }
    memset(numbers, 0xff, (count + 1) * sizeof *numbers);
    for (uint32_t i = 0; i < count; i++)
        if (kept[i] && numbers[i] == PATH_NONE)
            number(paths, i, numbers, result);
    for (uint64_t i = 0; i < result->cell_count; i++) {
        result->cells[i].insn = numbers[result->cells[i].insn];
        result->paths[result->cells[i].insn].units += result->cells[i].units;
    }
    for (uint32_t i = 0; data && i < data->object_count; i++)
        if (data->objects[i].path != PATH_NONE)
            data->objects[i].path = numbers[data->objects[i].path];
    if (paths->followed)
        return keep_nodes(paths, numbers, result);
    free(numbers);
    return true;
}

static int by_path(const void *left, const void *right) {
    const struct pics_cell *a = left, *b = right;
    return a->insn != b->insn ? (a->insn < b->insn ? -1 : 1)
                              : (a->psv > b->psv) - (a->psv < b->psv);
}

static bool tell_functions(const struct call_paths *paths, struct call_path_result *result) {
    const size_t count = paths->functions.count;
    result->functions = calloc(count + 1, sizeof *result->functions);
    if (!result->functions)
        return false;
    result->function_count = (uint32_t)count;
    for (size_t i = 0; i < count; i++) {
        const struct path_function *function = &paths->functions.items[i];
        char *inlined = function->inlined ? strdup(function->inlined) : NULL;
        if (function->inlined && !inlined)
            return false;
        result->functions[i] = (struct call_path_function){
            function->offset, function->insn, inlined,       function->is_python,
            function->python, function->line, function->loop};
    }
    return true;
}

static void find_sites(struct call_paths *paths, const struct code *code,
                       struct call_path_result *result) {
    for (uint32_t i = 0; i < result->count; i++) {
        struct call_path *path = &result->paths[i];
        if (path->parent == PATH_NONE || path->site == PATH_NONE || path->site & PATH_BASE_INSN)
            continue;
        uint32_t around = path->parent;
        while (result->paths[around].kind == PATH_INLINE ||
               result->paths[around].kind == PATH_PYTHON)
            around = result->paths[around].parent;
        const uint32_t caller = result->paths[around].function;
        path->beside = path_function_of(&paths->functions, code, path->site) != caller;
    }
}

bool call_paths_finish(struct call_paths *paths, const struct code *code,
                       struct call_path_result *result, struct data_result *data) {
    const size_t count = paths->tree.node_count;
    *result = (struct call_path_result){.counts = paths->counts, .crowded = paths->tree.crowded};
    uint8_t *kept = calloc(count + 1, 1);
    bool good = kept &&
                array_zeroed_room(paths->instructions, paths->instruction_capacity, count + 1) &&
                array_zeroed_room(paths->calls, paths->call_capacity, count + 1) &&
                (result->cells = pics_cells(paths->total, &result->cell_count));
    for (uint64_t i = 0; good && i < result->cell_count; i++)
        keep(&paths->tree, result->cells[i].insn, kept);
    for (uint32_t i = 0; good && i < count; i++)
        if (paths->instructions[i])
            keep(&paths->tree, i, kept);
    for (uint32_t i = 0; good && data && i < data->object_count; i++)
        if (data->objects[i].path != PATH_NONE)
            keep(&paths->tree, data->objects[i].path, kept);
    good = good && number_all(paths, kept, result, data);
    if (good)
        find_sites(paths, code, result);
    good = good && tell_functions(paths, result);
    if (good && result->cell_count)
        qsort(result->cells, result->cell_count, sizeof *result->cells, by_path);
    free(kept);
    return good;
}

/* ---- one guest thread ---- */

struct call_lane {
    struct call_paths *paths;
    struct shadow_stack stack;
    struct move_list moves;
    struct data_lane *data;  /* or NULL */
    bool unwatched;          /* it has no worker */
    _Atomic uint64_t walked; /* instructions before which all moves are in the list */
    /* The worker's. */
    uint64_t ended, since; /* instructions, in all and before the last move */
    uint64_t due;          /* instructions before the next move */
    uint32_t node, last;   /* of the next µop; of the last committed one */
    uint64_t plain;        /* units without an event that are not yet in the profile */
    /* Those that see nodes, or none. */
    struct tap_buffer *copy;
    struct tap_worker *followers;
    size_t follower_count, follower_capacity;
};

static bool put_move(void *context, uint64_t position, uint32_t node) {
    struct call_lane *lane = context;
    return lane->unwatched || path_moves_put(&lane->moves, (struct path_move){position, node});
}

struct call_lane *call_lane_new(struct call_paths *paths, uint32_t thread) {
    struct call_lane *lane = calloc(1, sizeof *lane);
    if (!lane)
        return NULL;
    lane->paths = paths;
    if (path_moves_init(&lane->moves) &&
        shadow_stack_init(&lane->stack, &paths->tree, &paths->functions, thread, put_move, lane)) {
        lane->node = lane->last = lane->stack.root;
        return lane;
    }
    call_lane_free(lane);
    return NULL;
}

bool call_lane_begin(struct call_lane *lane, const struct code *code,
                     const struct stack_start *start, struct data_profile *data, uint32_t process) {
    if (data && stack_starts_have_data(lane->paths->starts))
        data_profile_told(data);
    return shadow_stack_begin(&lane->stack, code, lane->paths->starts, start,
                              data ? data_profile_objects(data) : NULL, process);
}

void call_lane_free(struct call_lane *lane) {
    if (!lane)
        return;
    shadow_counts_add(&lane->paths->counts, &lane->stack.counts);
    shadow_stack_free(&lane->stack);
    path_moves_free(&lane->moves);
    tap_copy_free(lane->copy);
    free(lane->followers);
    free(lane);
}

bool call_lane_see(struct call_lane *lane, const struct code *code, const struct trace_batch *piece,
                   bool simulated, struct error *error) {
    if (lane->data ? !data_lane_see(lane->data, &lane->stack, code, piece, simulated)
                   : !shadow_stack_walk(&lane->stack, code, piece, simulated))
        return error_set(error, "out of memory for call paths");
    atomic_store_explicit(&lane->walked, lane->stack.position, memory_order_release);
    return true;
}

/* Adds what the node has gained; before it is left, and at the end of a buffer. */
static bool settle(struct call_lane *lane) {
    struct call_paths *paths = lane->paths;
    if (!array_zeroed_room(paths->ended, paths->ended_capacity, (size_t)lane->node + 1))
        return false;
    paths->ended[lane->node] += lane->ended - lane->since;
    lane->since = lane->ended;
    const uint64_t plain = lane->plain;
    lane->plain = 0;
    return !plain || pics_add_fast(paths->gained, lane->node, 0, plain);
}

/* Makes the moves that are due before the next µop. */
static bool move_on(struct call_lane *lane) {
    const uint64_t walked = atomic_load_explicit(&lane->walked, memory_order_acquire);
    const struct path_move *move;
    bool room = true;
    while ((move = path_moves_first(&lane->moves)) && move->position <= lane->ended) {
        room &= settle(lane);
        lane->node = move->node;
        lane->moves.taken++;
    }
    lane->due = move ? move->position : walked;
    return room;
}

/* What a µop is for those that see nodes. */
static uint64_t with_node(uint64_t uop, uint32_t node) {
    return tap_uop(node, tap_uop_psv(uop), tap_uop_flags(uop));
}

/* µops [first, end) of a record, all of the lane's node. */
static bool add_uops(struct call_lane *lane, const struct closings *at, unsigned first,
                     unsigned end) {
    bool room = true;
    for (unsigned i = first; i < end; i++) {
        const uint32_t psv = tap_uop_psv(at->record.uops[i]);
        const uint64_t units = at->span.share + (i < at->span.rest) + (i == 0 ? at->span.next : 0);
        if (psv)
            room &= pics_add_event(lane->paths->gained, lane->node, psv, units);
        else
            lane->plain += units;
    }
    return room;
}

/* The µops of a record, one by one. */
static bool take_each(struct call_lane *lane, const struct closings *at, uint64_t *copied) {
    const struct tap_record *record = &at->record;
    bool room = true;
    for (unsigned i = 0; i < record->count; i++) {
        if (lane->ended >= lane->due)
            room &= move_on(lane);
        if (copied)
            copied[i] = with_node(record->uops[i], lane->node);
        room &= add_uops(lane, at, i, i + 1);
        if (record->kind == TAP_COMMIT)
            lane->ended += instructions_ended(record->uops[i]);
    }
    return room;
}

/* The µops of a record, whatever they are. */
static bool take_record(struct call_lane *lane, struct closings *at, uint64_t *copied) {
    at->span = span_of(&at->record, at->cycle, at->before);
    const bool room = !at->span.last || pics_add_fast(lane->paths->gained, lane->last,
                                                      tap_uop_psv(at->last_uop), at->span.last);
    return take_each(lane, at, copied) & room;
}

/* The µops of a commit, if no move lies between them and none had an event, and all cycles since
 * the commit before are theirs: then all units go to one node, as mostly. */
static inline bool take_plain(struct call_lane *lane, const struct closings *at) {
    const struct tap_record *record = &at->record;
    uint64_t all = 0, ended = 0, last = 0;
    for (unsigned i = 0; i < record->count; i++) {
        all |= record->uops[i];
        last = instructions_ended(record->uops[i]);
        ended += last;
    }
    const bool flushed = record->empty && (record->flags & TAP_EMPTY_MASK) == TAP_FLUSHED_LAST;
    if (lane->ended + ended - last >= lane->due || tap_uop_psv(all) || flushed)
        return false;
    lane->ended += ended;
    lane->plain += (at->cycle - at->before) * CYCLE_UNITS;
    return true;
}

static void begin_copy(struct call_lane *lane, const struct tap_buffer *buffer) {
    tap_copy(lane->copy, buffer);
    lane->copy->start.last_uop = with_node(buffer->start.last_uop, lane->last);
}

static bool show_copy(const struct call_lane *lane, struct error *error) {
    return all_where(i, lane->follower_count,
                     lane->followers[i].consume(lane->followers[i].context, lane->copy, error));
}

static bool consume(void *context, const struct tap_buffer *buffer, struct error *error) {
    struct call_lane *lane = context;
    bool room = true;
    if (lane->copy)
        begin_copy(lane, buffer);
    for (struct closings at = closings_of(buffer); closings_read(&at);) {
        const bool commits = at.record.kind == TAP_COMMIT;
        if (lane->copy)
            room &= take_record(lane, &at, lane->copy->words + (at.record.uops - buffer->words));
        else if (!commits || !take_plain(lane, &at))
            room &= take_record(lane, &at, NULL);
        if (commits)
            lane->last = lane->node;
    }
    room &= settle(lane);
    return room ? show_copy(lane, error) : error_set(error, "out of memory for call paths");
}

bool call_lane_follow(struct call_lane *lane, const struct tap_worker *worker) {
    lane->paths->followed = true;
    return (lane->copy || (lane->copy = tap_copy_new())) &&
           array_push(lane->followers, lane->follower_capacity, lane->follower_count, *worker);
}

void call_lane_unwatch(struct call_lane *lane) {
    lane->unwatched = true;
}

void call_lane_watch_data(struct call_lane *lane, struct data_lane *data) {
    lane->data = data;
}

struct tap_worker call_lane_worker(struct call_lane *lane) {
    uint32_t kinds = 0;
    for (size_t i = 0; i < lane->follower_count; i++)
        kinds |= lane->followers[i].kinds;
    return (struct tap_worker){
        .name = "call paths", .kinds = kinds, .consume = consume, .context = lane};
}
