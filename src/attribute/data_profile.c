/* What an instruction accesses is found when it is read, as the map of objects changes with every
 * allocation; whether it missed is known when it commits. In between, objects wait in a list of
 * chunks, of which the reader of the trace writes the last and the worker reads the first. */
#include "attribute/data_profile.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "attribute/pics.h"
#include "attribute/span.h"
#include "util/array.h"
#include "util/order.h"

/* ---- accesses that wait ---- */

struct seen {
    uint32_t position;    /* low bits of the instructions of the thread before it that count */
    uint32_t load, store; /* objects; of an instruction that does only one both are that */
};
static_assert(sizeof(struct seen) == 12, "one for each instruction that accesses memory");

enum { CHUNK_SEEN = 2048 };

struct seen_chunk {
    _Atomic(struct seen_chunk *) next;
    atomic_uint count;
    struct seen items[CHUNK_SEEN];
};

struct data_profile {
    struct memory_objects *objects;
    bool told;
    /* The workers': since the last collection, by object; and by instruction, of code. */
    struct pics *gained, *code_gained;
    struct pics *total, *code_total;
};

struct data_lane {
    struct data_profile *profile;
    struct memory_view view;
    uint64_t position; /* the reader's */
    struct seen_chunk *first, *last;
    _Atomic(struct seen_chunk *) spare; /* that the worker has read; or NULL */
    /* The worker's. */
    uint32_t taken; /* of the first chunk */
    uint64_t ended; /* instructions */
    uint32_t last_object;
};

/* An empty one: that which is given, unless it is NULL. */
static struct seen_chunk *chunk_of(struct seen_chunk *used) {
    struct seen_chunk *chunk = used ? used : malloc(sizeof *chunk);
    if (chunk) {
        atomic_init(&chunk->next, NULL);
        atomic_init(&chunk->count, 0);
    }
    return chunk;
}

static bool put_seen(struct data_lane *lane, struct seen seen) {
    struct seen_chunk *chunk = lane->last;
    unsigned count = atomic_load_explicit(&chunk->count, memory_order_relaxed);
    if (count == CHUNK_SEEN) {
        struct seen_chunk *more = chunk_of(atomic_exchange(&lane->spare, NULL));
        if (!more)
            return false;
        atomic_store_explicit(&chunk->next, more, memory_order_release);
        lane->last = chunk = more;
        count = 0;
    }
    chunk->items[count] = seen;
    atomic_store_explicit(&chunk->count, count + 1, memory_order_release);
    return true;
}

/* What the instruction at `position` accesses; NULL: nothing that was seen. What was before it is
 * forgotten. */
static const struct seen *seen_at(struct data_lane *lane, uint64_t position) {
    for (;;) {
        struct seen_chunk *chunk = lane->first;
        const unsigned count = atomic_load_explicit(&chunk->count, memory_order_acquire);
        while (lane->taken < count &&
               (int32_t)(chunk->items[lane->taken].position - (uint32_t)position) < 0)
            lane->taken++;
        if (lane->taken < count)
            return chunk->items[lane->taken].position == (uint32_t)position
                       ? &chunk->items[lane->taken]
                       : NULL;
        struct seen_chunk *next =
            count == CHUNK_SEEN ? atomic_load_explicit(&chunk->next, memory_order_acquire) : NULL;
        if (!next)
            return NULL;
        free(atomic_exchange(&lane->spare, chunk));
        lane->first = next;
        lane->taken = 0;
    }
}

/* ---- the run ---- */

struct data_profile *data_profile_new(const struct object_names *names) {
    struct data_profile *profile = calloc(1, sizeof *profile);
    if (!profile)
        return NULL;
    if ((profile->objects = memory_objects_new(names)) && (profile->gained = pics_new()) &&
        (profile->code_gained = pics_new()) && (profile->total = pics_new()) &&
        (profile->code_total = pics_new()))
        return profile;
    data_profile_free(profile);
    return NULL;
}

void data_profile_free(struct data_profile *profile) {
    if (!profile)
        return;
    memory_objects_free(profile->objects);
    pics_free(profile->gained);
    pics_free(profile->code_gained);
    pics_free(profile->total);
    pics_free(profile->code_total);
    free(profile);
}

bool data_profile_collect(struct data_profile *profile, uint64_t weight) {
    return pics_move(profile->total, profile->gained, weight) &&
           pics_move(profile->code_total, profile->code_gained, weight);
}

bool data_profile_fork(struct data_profile *profile, uint32_t process, uint32_t parent) {
    return memory_objects_fork(profile->objects, process, parent);
}

/* ---- the result ---- */

void data_result_free(struct data_result *result) {
    free(result->objects);
    free(result->cells);
    *result = (struct data_result){0};
}

/* The cells of code become some of the files that the code is of. */
static bool add_code(struct data_profile *profile, const struct code *code, struct data_cell *cells,
                     size_t *cell_count, const struct pics_cell *code_cells, uint64_t count) {
    for (uint64_t i = 0; i < count; i++) {
        const struct memory_object object = {.kind = OBJECT_CODE,
                                             .image = code->insns[code_cells[i].insn].image,
                                             .path = PATH_NONE,
                                             .function = FUNCTION_NONE};
        const uint32_t number = memory_objects_number(profile->objects, &object);
        if (number == UINT32_MAX)
            return false;
        cells[(*cell_count)++] = (struct data_cell){number, code_cells[i].psv, code_cells[i].units};
    }
    return true;
}

ORDER(by_object, struct data_cell, ascending(a->object, b->object) ?: ascending(a->psv, b->psv))

static void join_cells(struct data_result *result) {
    size_t kept = 0;
    struct data_cell *cells = result->cells;
    if (result->cell_count)
        qsort(cells, result->cell_count, sizeof *cells, by_object);
    for (size_t i = 0; i < result->cell_count; i++)
        if (kept && by_object(&cells[kept - 1], &cells[i]) == 0)
            cells[kept - 1].units += cells[i].units;
        else
            cells[kept++] = cells[i];
    result->cell_count = kept;
}

/* Objects that have no cells are left out. */
static bool keep_objects(const struct data_profile *profile, struct data_result *result) {
    const uint32_t count = memory_objects_count(profile->objects);
    uint32_t *numbers = calloc((size_t)count + 1, sizeof *numbers);
    result->objects = calloc((size_t)count + 1, sizeof *result->objects);
    if (!numbers || !result->objects) {
        free(numbers);
        return false;
    }
    result->objects[result->object_count++] = *memory_object_at(profile->objects, OBJECT_NONE);
    for (size_t i = 0; i < result->cell_count; i++) {
        struct data_cell *cell = &result->cells[i];
        if (cell->object != OBJECT_NONE && !numbers[cell->object]) {
            numbers[cell->object] = result->object_count;
            result->objects[result->object_count++] =
                *memory_object_at(profile->objects, cell->object);
        }
        cell->object = numbers[cell->object];
    }
    free(numbers);
    return true;
}

bool data_profile_finish(struct data_profile *profile, const struct code *code,
                         struct data_result *result) {
    uint64_t data_count = 0, code_count = 0;
    struct pics_cell *data_cells = pics_cells(profile->total, &data_count);
    struct pics_cell *code_cells = pics_cells(profile->code_total, &code_count);
    *result = (struct data_result){.dropped = memory_objects_dropped(profile->objects),
                                   .told = profile->told};
    result->cells = malloc((data_count + code_count + 1) * sizeof *result->cells);
    bool good = data_cells && code_cells && result->cells;
    for (uint64_t i = 0; good && i < data_count; i++)
        result->cells[result->cell_count++] =
            (struct data_cell){data_cells[i].insn, data_cells[i].psv, data_cells[i].units};
    good =
        good && add_code(profile, code, result->cells, &result->cell_count, code_cells, code_count);
    if (good)
        join_cells(result);
    good = good && keep_objects(profile, result);
    free(data_cells);
    free(code_cells);
    return good;
}

/* ---- instructions ---- */

struct data_lane *data_lane_new(struct data_profile *profile, uint32_t process) {
    struct data_lane *lane = calloc(1, sizeof *lane);
    if (!lane || !(lane->first = lane->last = chunk_of(NULL))) {
        free(lane);
        return NULL;
    }
    lane->profile = profile;
    lane->view.process = process;
    return lane;
}

void data_lane_free(struct data_lane *lane) {
    if (!lane)
        return;
    for (struct seen_chunk *chunk = lane->first, *next; chunk; chunk = next) {
        next = atomic_load_explicit(&chunk->next, memory_order_relaxed);
        free(chunk);
    }
    free(atomic_load(&lane->spare));
    free(lane);
}

static bool find_object(struct data_lane *lane, const struct code *code,
                        const struct memory_access *access, uint32_t *object) {
    struct memory_place place;
    if (!memory_objects_find(lane->profile->objects, &lane->view, code, access->address, &place))
        return false;
    *object = place.object;
    return true;
}

/* The first load and the first store. */
static bool see_accesses(struct data_lane *lane, const struct code *code,
                         const struct memory_access *accesses, uint32_t count) {
    struct seen seen = {(uint32_t)lane->position, UINT32_MAX, UINT32_MAX};
    uint64_t address = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t *object = accesses[i].is_store ? &seen.store : &seen.load;
        if (*object != UINT32_MAX)
            continue;
        if (i && accesses[i].address == address)
            *object = accesses[i].is_store ? seen.load : seen.store;
        else if (!find_object(lane, code, &accesses[i], object))
            return false;
        address = accesses[i].address;
    }
    if (seen.load == UINT32_MAX)
        seen.load = seen.store;
    if (seen.store == UINT32_MAX)
        seen.store = seen.load;
    return put_seen(lane, seen);
}

static bool see_simulated(struct data_lane *lane, const struct code *code,
                          const struct trace_batch *piece) {
    for (uint32_t i = 0; i < piece->insn_count; i++) {
        const struct dynamic_insn *insn = &piece->insns[i];
        const uint32_t first = insn->memory - (uint32_t)piece->first_access;
        if (insn->flags & DYN_FAULT)
            continue;
        if (insn->memory_count && first < piece->access_count &&
            insn->memory_count <= piece->access_count - first &&
            !see_accesses(lane, code, piece->accesses + first, insn->memory_count))
            return false;
        lane->position++;
    }
    return true;
}

/* How many of the instructions, from `begin` on, are of one function: up to a call, a return or a
 * jump whose target is not in it; and `most` at most. */
static uint32_t stretch(const struct code *code, const struct trace_batch *piece, uint32_t begin,
                        uint32_t most) {
    uint32_t count = 0;
    while (count < most) {
        const struct dynamic_insn *insn = &piece->insns[begin + count++];
        if ((insn->flags & DYN_TAKEN && code->insns[insn->insn].branch > BRANCH_JUMP) ||
            insn->flags & (DYN_SIGNAL | DYN_GAP))
            break;
    }
    return count;
}

bool data_lane_see(struct data_lane *lane, struct shadow_stack *stack, const struct code *code,
                   const struct trace_batch *piece, bool simulated) {
    struct memory_objects *objects = lane->profile->objects;
    uint32_t told = 0;
    lane->view.stack = stack;
    if (!memory_objects_learn(objects, code))
        return false;
    for (uint32_t begin = 0; begin < piece->insn_count;) {
        uint32_t most = piece->insn_count - begin;
        if (told < piece->memory_count &&
            piece->memory[told].position - piece->first_insn - begin < most)
            most = (uint32_t)(piece->memory[told].position - piece->first_insn - begin);
        struct trace_batch part = *piece;
        part.insns += begin;
        part.first_insn += begin;
        part.insn_count = most ? stretch(code, piece, begin, most) : 0;
        if (!shadow_stack_walk(stack, code, &part, simulated) ||
            (simulated && !see_simulated(lane, code, &part)))
            return false;
        begin += part.insn_count;
        for (; told < piece->memory_count &&
               piece->memory[told].position <= piece->first_insn + begin;
             told++) {
            lane->profile->told = true;
            if (!memory_objects_note(objects, &lane->view, &piece->memory[told]))
                return false;
        }
    }
    return true;
}

/* ---- what the tap shows ---- */

/* Adds what a µop of the instruction behind those that ended gained; returns its object. */
static bool add(struct data_lane *lane, uint64_t uop, uint64_t units, uint32_t *object) {
    const uint32_t psv = tap_uop_psv(uop);
    *object = OBJECT_NONE;
    if (psv & PSV_OF_DATA) {
        const struct seen *seen = seen_at(lane, lane->ended);
        if (seen)
            *object = tap_uop_flags(uop) & TAP_UOP_LOAD ? seen->load : seen->store;
    }
    if (!(psv & PSV_OF_DATA))
        return !(psv & PSV_OF_CODE) ||
               pics_add_event(lane->profile->code_gained, tap_uop_insn(uop), psv, units);
    return pics_add_event(lane->profile->gained, *object, psv, units);
}

static bool add_last(struct data_lane *lane, uint64_t uop, uint64_t units) {
    const uint32_t psv = tap_uop_psv(uop);
    if (psv & PSV_OF_DATA)
        return pics_add_event(lane->profile->gained, lane->last_object, psv, units);
    return !(psv & PSV_OF_CODE) ||
           pics_add_event(lane->profile->code_gained, tap_uop_insn(uop), psv, units);
}

static bool take(struct data_lane *lane, const struct closings *at) {
    const struct tap_record *record = &at->record;
    const bool commits = record->kind == TAP_COMMIT;
    uint64_t units = at->span.next;
    uint32_t object = OBJECT_NONE;
    bool room = true;
    for (unsigned i = 0; i < record->count; i++) {
        units += at->span.share + (i < at->span.rest);
        if (tap_uop_psv(record->uops[i]) & PSV_OF_MEMORY)
            room &= add(lane, record->uops[i], units, &object);
        units = 0;
        if (commits)
            lane->ended += instructions_ended(record->uops[i]);
    }
    if (commits)
        lane->last_object = object;
    return room;
}

static bool consume(void *context, const struct tap_buffer *buffer, struct error *error) {
    struct data_lane *lane = context;
    bool room = true;
    for (struct closings at = closings_of(buffer); closings_next(&at);) {
        if (at.span.last)
            room &= add_last(lane, at.last_uop, at.span.last);
        room &= take(lane, &at);
    }
    (void)seen_at(lane, lane->ended); /* what waited for them is forgotten */
    return room || error_set(error, "out of memory for data objects");
}

struct tap_worker data_lane_worker(struct data_lane *lane) {
    return (struct tap_worker){.name = "data objects", .consume = consume, .context = lane};
}
