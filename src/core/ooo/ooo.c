/* Set-up, and the hand-over from the input side to timing. */
#include "core/ooo/issue.h"
#include "core/ooo/wrong_path.h"

#include <stdlib.h>
#include <string.h>

#include "util/power_of_two.h"

/* calloc, of elements that do not lie across cache lines. */
static void *whole_lines(size_t count, size_t size) {
    void *memory = aligned_alloc(64, count * size);
    return memory ? memset(memory, 0, count * size) : NULL;
}

static bool allocate_rings(struct ooo *core) {
    /* A flush takes as many µops back as may be in flight: what came before them is kept. */
    const uint64_t in_flight = core->lookahead + 256;
    const uint32_t ring = power_of_two_from(2 * in_flight);
    core->mask = ring - 1;
    core->far_capacity = ring;
    core->window = in_flight;
    core->origin = -in_flight;
    const size_t window = 2 * in_flight + WINDOW_STRIDE;
    bool room = (core->dispatch = calloc(window, sizeof *core->dispatch)) != NULL;
    room &= (core->commit = calloc(window, sizeof *core->commit)) != NULL;
    if (room)
        core->earlier = (struct earlier){.fetch = core->dispatch - core->fetch_capacity,
                                         .dispatch = core->dispatch - core->machine.dispatch_width,
                                         .rob = core->commit - core->machine.rob,
                                         .commit = core->commit - core->machine.commit_width};
    for (unsigned kind = 0; kind < HELD_KINDS; kind++)
        room &= (core->held[kind] = calloc(ring, sizeof *core->held[kind])) != NULL;
    room &= (core->packet_commit = calloc(ring, sizeof *core->packet_commit)) != NULL;
    room &= (core->far = calloc(ring, sizeof *core->far)) != NULL;
    if (core->limited & U_BRANCH_ENTRY)
        room &= (core->branch_slots = calloc(SLOT_CYCLES, sizeof *core->branch_slots)) != NULL;
    return room;
}

static bool allocate_records(struct ooo *core) {
    core->merge = core->tap_kinds & (1 << TAP_FETCH | 1 << TAP_DISPATCH);
    const uint64_t records = core->merge ? core->mask + 1 : NOBODYS_WORDS; /* or those of a cycle */
    core->record_mask = records - 1;
    bool room = (core->words = calloc(records, sizeof *core->words)) != NULL;
    if (core->tap_kinds & 1 << TAP_LIFE)
        room &= (core->lives = whole_lines(records, sizeof *core->lives)) != NULL;
    struct record_queue *queues[] = {&core->closings, &core->dispatches, &core->fetches};
    for (unsigned i = 0; core->merge && i < 3; i++)
        room &= (queues[i]->items = calloc(records, sizeof *queues[i]->items)) != NULL;
    return room;
}

static bool allocate_stores(struct ooo *core) {
    /* Lives tell of the write of the store that had their entry: it is kept until they commit. */
    const uint32_t stores = power_of_two_from(2 * (uint64_t)core->machine.store_queue);
    core->store_mask = stores - 1;
    core->store_reach = core->machine.store_queue;
    if (core->lives)
        core->store_reach =
            (uint32_t)lesser((uint64_t)core->store_reach * LIFE_STORES_BACK, ORDER_MAX);
    const uint32_t ranges =
        power_of_two_from((uint64_t)core->store_reach + core->machine.store_queue);
    core->store_range_mask = ranges - 1;
    return (core->stores = calloc(stores, sizeof *core->stores)) != NULL &&
           (core->store_ranges = calloc(ranges, sizeof *core->store_ranges)) != NULL;
}

static bool allocate_stream(struct ooo *core) {
    /* What timing leaves when it has run a chunk, and the chunks under way. */
    const uint64_t held = core->lookahead, chunks = core->executor ? CHUNKS : 1;
    const uint32_t stream = power_of_two_from(held + chunks * (CHUNK_UOPS + BLOCK_UOPS));
    core->stream_mask = stream - 1;
    const uint32_t gathers =
        power_of_two_from(GATHER_MAX * held + chunks * (CHUNK_UOPS + GATHER_MAX * INSN_MAX_UOPS));
    core->gather_mask = gathers - 1;
    assert(gathers <= 1 << 24); /* as many bits has an index in a µop */
    return (core->stream = whole_lines(stream, sizeof *core->stream)) != NULL &&
           (core->gathers = calloc(gathers, sizeof *core->gathers)) != NULL;
}

static bool allocate(struct ooo *core) {
    core->lookahead = ((uint64_t)core->machine.rob + core->fetch_capacity) * core->most_of_place;
    if (core->kept)
        return allocate_stream(core);
    if (core->machine.wrong_path && !core->one_of_several &&
        !(core->wrong_paths = wrong_paths_new()))
        return false;
    return allocate_rings(core) && allocate_records(core) && allocate_stores(core) &&
           allocate_stream(core);
}

void begin_input(struct ooo *core) {
    core->last_begin = core->last_end = UNKNOWN;
    core->at_block = true;
    core->stack_moved = core->is_waiting = false;
    core->rep_piece = 0;
    core->fused_operands = NULL;
}

/* Room for what it predecodes, and no more. */
static bool keep_input(struct ooo *core, const struct machine *machine) {
    core->branch = &machine->branch;
    return (core->kept = predecoded_new()) != NULL;
}

struct ooo *ooo_new(const struct machine *machine, const struct core_options *options,
                    struct error *error) {
    struct ooo *core = calloc(1, sizeof *core);
    if (!core) {
        error_set(error, "out of memory for a core");
        return NULL;
    }
    core->ideal = options->ideal;
    core->executor = options->executor;
    core->tap = options->tap;
    core->tap_kinds = core->tap ? tap_kinds(core->tap) : 0;
    core->one_of_several = options->memory != NULL;
    core->until = core->others = UNKNOWN;
    resume_fetch(&core->now, 1);
    if ((options->predecodes && !keep_input(core, machine)) || !configure(core, machine) ||
        !allocate(core)) {
        error_set(error, "out of memory for a core with a window of %u µops", core->machine.rob);
        ooo_free(core);
        return NULL;
    }
    begin_input(core);
    if (core->kept)
        return core;
    struct core_learned learned;
    bool made = core_learned_new(&learned, machine, options, error);
    core->memory = learned.memory;
    core->predictor = learned.predictor;
    if (!made) {
        ooo_free(core);
        return NULL;
    }
    if (core->tap) {
        core->buffer = tap_current(core->tap);
        core->buffer->start = core->tap_state;
        core->buffer->used = 0;
    }
    open_buffer(core);
    plan_sweep(core);
    core->far_earliest = core->end_of_time = core->drain_due = UNKNOWN;
    core->awaited_line = UNKNOWN;
    for (uint32_t reg = 0; reg < RENAME_COUNT; reg++)
        core->registers.writer[reg] = -(uint64_t)ORDER_MAX - 1; /* nobody in reach, ever */
    memory_in_program_order(core->memory);
    return core;
}

void wait_for_pipeline(const struct ooo *core) {
    if (core->executor && core->handed_over)
        executor_wait(core->executor, core->chunks[(core->handed_over - 1) % CHUNKS].ticket);
}

void ooo_give(struct ooo *core, struct core_learned *learned) {
    wait_for_pipeline(core);
    *learned = (struct core_learned){core->memory, core->predictor};
    memory_restart(learned->memory);
    core->memory = NULL;
    core->predictor = NULL;
}

void ooo_warm_tables(struct ooo *core, uint64_t address, uint64_t bytes) {
    wait_for_pipeline(core);
    memory_warm_tables(core->memory, address, bytes);
}

void ooo_pass(struct ooo *core, uint64_t cycles) {
    wait_for_pipeline(core);
    memory_pass(core->memory, cycles);
}

const struct memory *ooo_memory(const struct ooo *core) {
    wait_for_pipeline(core);
    return core->memory;
}

/* It is trained where instructions are predecoded: by the caller. */
const struct branch_predictor *ooo_predictor(const struct ooo *core) {
    return core->predictor;
}

void ooo_free(struct ooo *core) {
    if (!core)
        return;
    wait_for_pipeline(core);
    if (!core->one_of_several)
        memory_free(core->memory);
    branch_free(core->predictor);
    free(core->dispatch);
    free(core->commit);
    for (unsigned kind = 0; kind < HELD_KINDS; kind++)
        free(core->held[kind]);
    free(core->packet_commit);
    free(core->branch_slots);
    free(core->far);
    free(core->wrong_paths);
    free(core->stores);
    free(core->store_ranges);
    free(core->words);
    free(core->lives);
    free(core->squashed);
    free(core->closings.items);
    free(core->dispatches.items);
    free(core->fetches.items);
    free(core->stream);
    free(core->gathers);
    free(core->waiting_accesses);
    for (uint32_t insn = 0; insn < core->known_count; insn++)
        free(core->known[insn].block);
    free(core->known);
    free(core->described);
    for (uint32_t chunk = 0; chunk < PREPARED_CHUNKS && core->prepared[chunk]; chunk++)
        free(core->prepared[chunk]);
    predecoded_free(core->kept);
    free(core);
}

/* ---- hand-over ---- */

static void run_chunk(void *context, uint64_t number) {
    struct ooo *core = context;
    const struct chunk *chunk = &core->chunks[number % CHUNKS];
    core->available = chunk->produced;
    if (!atomic_load(&core->failed)) /* a worker of the tap: the error is there */
        run_timing(core, chunk->all);
}

/* The stream has room for another chunk: the one CHUNKS − 1 before has run. If it has not, so have
 * half of them when this returns: the two threads wake each other seldom. */
static void wait_for_room(const struct ooo *core) {
    if (!core->executor || core->handed_over < CHUNKS)
        return;
    const struct chunk *oldest = &core->chunks[core->handed_over % CHUNKS];
    if (!executor_has_run(core->executor, oldest->ticket))
        executor_wait(core->executor,
                      core->chunks[(core->handed_over + CHUNKS / 2) % CHUNKS].ticket);
}

/* Hands the stream over as far as it is filled. */
bool hand_over(struct ooo *core, bool all, struct error *error) {
    struct chunk *chunk = &core->chunks[core->handed_over % CHUNKS];
    *chunk = (struct chunk){.produced = core->produced, .all = all};
    if (core->kept) { /* another core times it */
        if (!predecoded_add_chunk(core, error))
            return false;
    } else if (core->executor) {
        chunk->ticket = executor_submit(core->executor, run_chunk, core, core->handed_over);
    } else {
        run_chunk(core, core->handed_over);
    }
    core->handed_over++;
    core->chunk_start = core->produced;
    core->gather_start = core->gather_end;
    if (all)
        wait_for_pipeline(core);
    else
        wait_for_room(core);
    if (!atomic_load(&core->failed))
        return true;
    *error = core->error;
    return false;
}
