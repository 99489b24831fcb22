/* What an instruction accesses is found when it is read, as the map of objects changes with every
 * allocation; whether it missed is known when it commits. In between, objects wait in a list of
 * chunks, by the number of the instruction, of which the reader of the trace writes the last and
 * the worker reads the first. */
#include "attribute/data_profile.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "attribute/pics.h"
#include "attribute/span.h"
#include "util/array.h"
#include "util/order.h"
#include "util/power_of_two.h"

/* ---- accesses that wait ---- */

/* What each instruction accesses that counts. */
enum { CHUNK_INSNS = 4096 };
static const uint32_t TWO = 1u << 31; /* objects: what it loads, what it stores; by number */

struct seen_pair {
    uint32_t load, store;
};

struct seen_chunk {
    _Atomic(struct seen_chunk *) next;
    uint32_t objects[CHUNK_INSNS]; /* OBJECT_NONE: nothing, or not known; with TWO a pair */
    uint32_t pair_count;           /* the reader's */
    struct seen_pair pairs[CHUNK_INSNS];
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
    uint64_t position; /* the reader's: instructions that count */
    struct seen_chunk *last;
    struct seen_chunk *idle;            /* a list of those that the reader may fill again */
    _Atomic(struct seen_chunk *) spare; /* another, of those that the worker has read since */
    /* The worker's. */
    struct seen_chunk *first;
    uint64_t begun; /* position of its first instruction */
    uint64_t ended; /* instructions */
    uint32_t last_object;
    uint64_t stores;      /* µops that have committed */
    uint32_t store_queue; /* of these; 0: not in order of the program */
    uint32_t *stored;     /* objects of the last ones; a power of 2, and more than the queue */
    uint64_t stored_mask;
};

/* An empty one: that which is given, unless it is NULL. */
static struct seen_chunk *chunk_of(struct seen_chunk *used) {
    struct seen_chunk *chunk = used ? used : malloc(sizeof *chunk);
    if (chunk) {
        atomic_init(&chunk->next, NULL);
        memset(chunk->objects, 0, sizeof chunk->objects);
        chunk->pair_count = 0;
    }
    return chunk;
}

/* Where the reader's next instruction is told. NULL: out of memory. */
static struct seen_chunk *next_chunk(struct data_lane *lane) {
    struct seen_chunk *used = lane->idle ? lane->idle : atomic_exchange(&lane->spare, NULL);
    lane->idle = used ? atomic_load_explicit(&used->next, memory_order_relaxed) : NULL;
    struct seen_chunk *more = chunk_of(used);
    if (more) {
        atomic_store_explicit(&lane->last->next, more, memory_order_release);
        lane->last = more;
    }
    return more;
}

static void put_pair(struct seen_chunk *chunk, uint32_t at, struct seen_pair pair) {
    chunk->objects[at] = pair.load == pair.store ? pair.load : TWO | chunk->pair_count;
    if (pair.load != pair.store)
        chunk->pairs[chunk->pair_count++] = pair;
}

/* Forgets what lies before those that ended. */
static void forget_seen(struct data_lane *lane) {
    while (lane->ended - lane->begun >= CHUNK_INSNS) {
        struct seen_chunk *chunk = lane->first,
                          *next = atomic_load_explicit(&chunk->next, memory_order_acquire);
        if (!next)
            return;
        struct seen_chunk *others = atomic_load(&lane->spare);
        do
            atomic_store_explicit(&chunk->next, others, memory_order_relaxed);
        while (!atomic_compare_exchange_weak(&lane->spare, &others, chunk));
        lane->first = next;
        lane->begun += CHUNK_INSNS;
    }
}

/* What the instruction behind those that ended accesses. Its place here was filled in before the
 * core was given it. */
static uint32_t seen_now(struct data_lane *lane, bool load) {
    forget_seen(lane);
    if (lane->ended - lane->begun >= CHUNK_INSNS)
        return OBJECT_NONE; /* it was never told of */
    const uint32_t object = lane->first->objects[lane->ended - lane->begun];
    if (!(object & TWO))
        return object;
    const struct seen_pair *pair = &lane->first->pairs[object & ~TWO];
    return load ? pair->load : pair->store;
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

struct memory_objects *data_profile_objects(struct data_profile *profile) {
    return profile->objects;
}

void data_profile_told(struct data_profile *profile) {
    profile->told = true;
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

struct data_lane *data_lane_new(struct data_profile *profile, uint32_t process,
                                uint32_t store_queue) {
    struct data_lane *lane = calloc(1, sizeof *lane);
    const uint64_t room = power_of_two_from((uint64_t)store_queue + 1);
    if (!lane || !(lane->stored = calloc(room, sizeof *lane->stored)) ||
        !(lane->first = lane->last = chunk_of(NULL))) {
        data_lane_free(lane);
        return NULL;
    }
    lane->store_queue = store_queue;
    lane->stored_mask = room - 1;
    lane->profile = profile;
    lane->view.process = process;
    return lane;
}

static void free_chunks(struct seen_chunk *chunk) {
    for (struct seen_chunk *next; chunk; chunk = next) {
        next = atomic_load_explicit(&chunk->next, memory_order_relaxed);
        free(chunk);
    }
}

void data_lane_free(struct data_lane *lane) {
    if (!lane)
        return;
    free_chunks(lane->first);
    free_chunks(lane->idle);
    free_chunks(atomic_load(&lane->spare));
    free(lane->stored);
    free(lane);
}

static uint32_t object_at(const struct data_lane *lane, const struct code *code,
                          const struct memory_access *access) {
    return memory_objects_at(lane->profile->objects, &lane->view, code, access->address);
}

/* Of the first load and the first store; of an instruction that does only one, both are that. */
static bool see_accesses(const struct data_lane *lane, const struct code *code,
                         const struct memory_access *accesses, uint32_t count,
                         struct seen_pair *pair) {
    pair->load = pair->store = object_at(lane, code, accesses);
    for (uint32_t i = 1; i < count; i++)
        if (accesses[i].is_store != accesses[0].is_store) {
            const uint32_t other = accesses[i].address == accesses[0].address
                                       ? pair->load
                                       : object_at(lane, code, &accesses[i]);
            *(accesses[i].is_store ? &pair->store : &pair->load) = other;
            break;
        }
    return pair->load != UINT32_MAX && pair->store != UINT32_MAX;
}

/* Instructions of one function, and which of them count and access memory. */
struct stretch {
    uint32_t count, accessing;
    uint32_t faults; /* that do not count: the last one, or none */
    uint16_t indices[CHUNK_INSNS];
};

/* From `begin` on: up to a call, a return or a jump whose target is not in the function; and `most`
 * at most. */
static void find_stretch(struct stretch *stretch, const struct code *code,
                         const struct trace_batch *piece, uint32_t begin, uint32_t most) {
    const struct dynamic_insn *insns = piece->insns + begin;
    uint32_t count = 0, accessing = 0;
    stretch->faults = 0;
    most = most < CHUNK_INSNS ? most : CHUNK_INSNS;
    while (count < most) {
        const struct dynamic_insn *insn = &insns[count];
        stretch->indices[accessing] = (uint16_t)count++;
        accessing += insn->memory_count != 0;
        if (__builtin_expect(!(insn->flags & (DYN_TAKEN | DYN_SIGNAL | DYN_GAP | DYN_FAULT)), 1))
            continue;
        if (insn->flags & DYN_FAULT) {
            stretch->faults = 1;
            accessing -= insn->memory_count != 0;
            break;
        }
        if (insn->flags & (DYN_SIGNAL | DYN_GAP) || code->insns[insn->insn].branch > BRANCH_JUMP)
            break;
    }
    stretch->count = count;
    stretch->accessing = accessing;
}

static bool see_one(struct data_lane *lane, const struct code *code,
                    const struct trace_batch *piece, uint32_t begin, uint32_t index) {
    const struct dynamic_insn *insn = &piece->insns[begin + index];
    const uint32_t first = insn->memory - (uint32_t)piece->first_access;
    struct seen_pair pair;
    if (first >= piece->access_count || insn->memory_count > piece->access_count - first)
        return true;
    if (!see_accesses(lane, code, piece->accesses + first, insn->memory_count, &pair))
        return false;
    put_pair(lane->last, (uint32_t)((lane->position + index) % CHUNK_INSNS), pair);
    return true;
}

/* The chunk that a position lies in is made when the position is reached. */
static bool see_stretch(struct data_lane *lane, const struct code *code,
                        const struct trace_batch *piece, uint32_t begin,
                        const struct stretch *stretch) {
    const uint64_t behind = lane->position + stretch->count - stretch->faults;
    const uint64_t room = CHUNK_INSNS - lane->position % CHUNK_INSNS;
    uint32_t i = 0;
    if (!memory_objects_stand(lane->profile->objects, &lane->view))
        return false;
    for (; i < stretch->accessing && stretch->indices[i] < room; i++)
        if (!see_one(lane, code, piece, begin, stretch->indices[i]))
            return false;
    if (behind - lane->position >= room && !next_chunk(lane))
        return false;
    for (; i < stretch->accessing; i++)
        if (!see_one(lane, code, piece, begin, stretch->indices[i]))
            return false;
    lane->position = behind;
    return true;
}

/* Instructions between two events of memory. */
static bool see_part(struct data_lane *lane, struct shadow_stack *stack, const struct code *code,
                     const struct trace_batch *piece, uint32_t begin, uint32_t end) {
    struct stretch stretch;
    for (; begin < end; begin += stretch.count) {
        struct trace_batch part = *piece;
        find_stretch(&stretch, code, piece, begin, end - begin);
        part.insns += begin;
        part.first_insn += begin;
        part.insn_count = stretch.count;
        if (!shadow_stack_walk(stack, code, &part, true) ||
            !see_stretch(lane, code, piece, begin, &stretch))
            return false;
    }
    return true;
}

static bool pass_part(struct shadow_stack *stack, const struct code *code,
                      const struct trace_batch *piece, uint32_t begin, uint32_t end) {
    struct trace_batch part = *piece;
    part.insns += begin;
    part.first_insn += begin;
    part.insn_count = end - begin;
    return shadow_stack_walk(stack, code, &part, false);
}

bool data_lane_see(struct data_lane *lane, struct shadow_stack *stack, const struct code *code,
                   const struct trace_batch *piece, bool simulated) {
    struct memory_objects *objects = lane->profile->objects;
    const struct trace_memory *event = piece->memory, *last = event + piece->memory_count;
    uint32_t begin = 0;
    lane->view.stack = stack;
    if (!memory_objects_learn(objects, code))
        return false;
    do {
        const bool more = event < last && event->position - piece->first_insn < piece->insn_count;
        const uint32_t end =
            more ? (uint32_t)(event->position - piece->first_insn) : piece->insn_count;
        if (simulated ? !see_part(lane, stack, code, piece, begin, end)
                      : !pass_part(stack, code, piece, begin, end))
            return false;
        begin = end;
        for (; event < last && event->position <= piece->first_insn + begin; event++) {
            lane->profile->told = true;
            if (!memory_objects_note(objects, &lane->view, event))
                return false;
        }
    } while (begin < piece->insn_count);
    return true;
}

/* ---- what the tap shows ---- */

/* The object that a µop of the instruction behind those that ended waited for. Where the store
 * queue was full that is where the store writes whose entry it got: as entries are given and given
 * back in the order of the program, the one that is as many stores before as the queue has entries.
 */
static uint32_t awaited(struct data_lane *lane, uint64_t uop) {
    if (tap_uop_psv(uop) & PSV_DR_SQ && lane->store_queue && lane->stores >= lane->store_queue)
        return lane->stored[(lane->stores - lane->store_queue) & lane->stored_mask];
    return seen_now(lane, tap_uop_flags(uop) & TAP_UOP_LOAD);
}

/* Adds what such a µop gained; *object: if that is of data. */
static bool add(struct data_lane *lane, uint64_t uop, uint64_t units, uint32_t *object) {
    const uint32_t psv = tap_uop_psv(uop);
    if (psv & PSV_OF_DATA) {
        *object = awaited(lane, uop);
        return pics_add_event(lane->profile->gained, *object, psv, units);
    }
    return !(psv & PSV_OF_CODE) ||
           pics_add_event(lane->profile->code_gained, tap_uop_insn(uop), psv, units);
}

static bool add_last(struct data_lane *lane, uint64_t uop, uint64_t units) {
    const uint32_t psv = tap_uop_psv(uop);
    if (psv & PSV_OF_DATA)
        return pics_add_event(lane->profile->gained, lane->last_object, psv, units);
    return !(psv & PSV_OF_CODE) ||
           pics_add_event(lane->profile->code_gained, tap_uop_insn(uop), psv, units);
}

/* A µop has committed. */
static inline void end_uop(struct data_lane *lane, uint64_t uop) {
    if (tap_uop_flags(uop) & TAP_UOP_STORE)
        lane->stored[lane->stores++ & lane->stored_mask] = seen_now(lane, false);
    lane->ended += instructions_ended(uop);
}

static bool take_events(struct data_lane *lane, const struct closings *at) {
    const struct tap_record *record = &at->record;
    const bool commits = record->kind == TAP_COMMIT;
    uint64_t units = at->span.next;
    uint32_t object = lane->last_object;
    bool room = true;
    for (unsigned i = 0; i < record->count; i++) {
        units += at->span.share + (i < at->span.rest);
        room &= add(lane, record->uops[i], units, &object);
        units = 0;
        if (commits)
            end_uop(lane, record->uops[i]);
    }
    if (commits)
        lane->last_object = object;
    return room;
}

/* Most records have no event of memory. */
static inline bool take(struct data_lane *lane, const struct closings *at) {
    const struct tap_record *record = &at->record;
    uint64_t all = 0, ended = 0;
    for (unsigned i = 0; i < record->count; i++) {
        all |= record->uops[i];
        ended += instructions_ended(record->uops[i]);
    }
    if (tap_uop_psv(all) & PSV_OF_MEMORY)
        return take_events(lane, at);
    if (record->kind != TAP_COMMIT)
        return true;
    if (!(tap_uop_flags(all) & TAP_UOP_STORE))
        lane->ended += ended;
    else
        for (unsigned i = 0; i < record->count; i++)
            end_uop(lane, record->uops[i]);
    return true;
}

static bool consume(void *context, const struct tap_buffer *buffer, struct error *error) {
    struct data_lane *lane = context;
    bool room = true;
    for (struct closings at = closings_of(buffer); closings_next(&at);) {
        if (at.span.last)
            room &= add_last(lane, at.last_uop, at.span.last);
        room &= take(lane, &at);
    }
    forget_seen(lane);
    return room || error_set(error, "out of memory for data objects");
}

struct tap_worker data_lane_worker(struct data_lane *lane) {
    return (struct tap_worker){.name = "data objects", .consume = consume, .context = lane};
}
