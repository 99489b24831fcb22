/* Executions are counted by block while a slice lasts; at its end they become a vector, its
 * projection, and part of the totals. A marker counts executions of one instruction, which several
 * blocks may contain: each static instruction has a list of those that do. */
#include "region/chunk_profile.h"

#include <stdlib.h>
#include <string.h>

#include "trace/counts.h"
#include "trace/event.h"
#include "util/array.h"

enum { NONE = UINT32_MAX, OTHERS = 8 };

struct containing {
    uint32_t block, next; /* index of the next; NONE: the last */
};

struct chunk_profile {
    const struct trace *trace;
    struct chunk_profile_settings settings;
    struct projection projection;
    struct slice_table table;
    struct bbv_set vector;

    uint32_t process, thread; /* NONE: no chunk yet */
    bool threaded, children;
    uint64_t instructions;   /* of all chunks */
    uint64_t before;         /* of them, of the programs before exec started this one */
    uint32_t blocks_before;  /* likewise: ids of blocks go on from there */
    struct slice_place open; /* the slice being made; 0 instructions: none */

    uint32_t block_count; /* known */
    uint64_t *executions; /* by block, in this slice; behind them OTHERS for what are none */
    uint64_t *totals;     /* by block, in the slices before */
    size_t execution_capacity, total_capacity;
    uint32_t *containers; /* by static instruction: first in containing[], or NONE */
    struct containing *containing;
    size_t container_count, container_capacity, containing_count, containing_capacity;
};

struct chunk_profile *chunk_profile_new(const struct trace *trace,
                                        const struct chunk_profile_settings *settings) {
    struct chunk_profile *profile = calloc(1, sizeof *profile);
    if (!profile)
        return NULL;
    profile->trace = trace;
    profile->settings = *settings;
    profile->process = profile->thread = NONE;
    profile->table.isa = trace_isa(trace);
    projection_init(&profile->projection, settings->dimensions, settings->seed);
    return profile;
}

void chunk_profile_free(struct chunk_profile *profile) {
    if (!profile)
        return;
    projection_free(&profile->projection);
    slice_table_free(&profile->table);
    bbv_set_free(&profile->vector);
    free(profile->executions);
    free(profile->totals);
    free(profile->containers);
    free(profile->containing);
    free(profile);
}

bool chunk_profile_begins(const struct chunk_profile *profile, uint32_t thread, uint64_t *first) {
    *first = profile->open.first;
    return profile->thread != NONE && profile->open.thread == thread && profile->thread == thread;
}

uint64_t chunk_profile_instructions(const struct chunk_profile *profile) {
    return profile->instructions;
}

bool chunk_profile_threaded(const struct chunk_profile *profile) {
    return profile->threaded;
}

bool chunk_profile_has_children(const struct chunk_profile *profile) {
    return profile->children;
}

bool chunk_profile_reached(const struct chunk_profile *profile, uint32_t thread,
                           uint64_t position) {
    /* Threads are numbered as they come: of an earlier program's all instructions are there. */
    return profile->thread != NONE &&
           (thread < profile->thread ||
            (thread == profile->thread && position <= profile->instructions - profile->before));
}

uint32_t chunk_profile_process(const struct chunk_profile *profile) {
    return profile->process;
}

bool chunk_profile_has_exec(const struct chunk_profile *profile) {
    return profile->blocks_before > 0;
}

/* ---- blocks ---- */

static bool contain(struct chunk_profile *profile, uint32_t insn, uint32_t block) {
    size_t old = profile->container_count;
    if (insn >= old) {
        if (!array_room(profile->containers, profile->container_capacity, (size_t)insn + 1))
            return false;
        memset(profile->containers + old, 0xff, (insn + 1 - old) * sizeof *profile->containers);
        profile->container_count = (size_t)insn + 1;
    }
    if (!array_room(profile->containing, profile->containing_capacity,
                    profile->containing_count + 1))
        return false;
    profile->containing[profile->containing_count] =
        (struct containing){block, profile->containers[insn]};
    profile->containers[insn] = (uint32_t)profile->containing_count++;
    return true;
}

static bool learn_blocks(struct chunk_profile *profile) {
    uint32_t known = profile->block_count,
             count = trace_block_count(profile->trace, profile->process);
    if (known == count && profile->executions)
        return true;
    if (!array_room(profile->executions, profile->execution_capacity, (size_t)count + OTHERS) ||
        !array_room(profile->totals, profile->total_capacity, (size_t)count + 1))
        return false;
    memset(profile->executions + known, 0, (count + OTHERS - known) * sizeof *profile->executions);
    memset(profile->totals + known, 0, (count + 1 - known) * sizeof *profile->totals);
    for (; profile->block_count < count; profile->block_count++) {
        struct trace_block block =
            trace_block(profile->trace, profile->process, profile->block_count);
        for (uint32_t i = 0; i < block.insn_count; i++)
            if (!contain(profile, block.insns[i].insn, profile->block_count))
                return false;
    }
    return true;
}

uint64_t chunk_profile_executions(const struct chunk_profile *profile, uint32_t insn) {
    uint64_t count = 0;
    if (insn >= profile->container_count)
        return 0;
    for (uint32_t i = profile->containers[insn]; i != NONE; i = profile->containing[i].next) {
        uint32_t block = profile->containing[i].block;
        count += profile->totals[block] + profile->executions[block];
    }
    return count;
}

/* ---- slices ---- */

/* Before the first instruction of the chunk. */
static struct region_marker marker_at(const struct chunk_profile *profile,
                                      const struct trace_chunk *chunk) {
    struct region_marker marker = {.image = MARKER_NO_IMAGE};
    const size_t at =
        index_where(i, chunk->event_count, event_kind(chunk->events[i]) == EVENT_BLOCK);
    if (at == chunk->event_count || event_block_number(chunk->events[at]) >= profile->block_count)
        return marker;
    const struct code *code = trace_code(profile->trace);
    uint32_t insn =
        trace_block(profile->trace, profile->process, event_block_number(chunk->events[at]))
            .insns[0]
            .insn;
    const struct static_insn *first = &code->insns[insn];
    marker.offset = first->offset;
    if (code->images[first->image].kind == CODE_IMAGE_FILE)
        marker.image = first->image;
    marker.count = chunk_profile_executions(profile, insn) + 1;
    return marker;
}

static bool end_slice(struct chunk_profile *profile, struct error *error) {
    bbv_set_clear(&profile->vector);
    for (uint32_t block = 0; block < profile->block_count; block++) {
        uint64_t executions = profile->executions[block];
        if (!executions)
            continue;
        uint32_t insns = trace_block(profile->trace, profile->process, block).insn_count;
        if (!bbv_set_block(&profile->vector, profile->blocks_before + block + 1, executions * insns,
                           error))
            return false;
        profile->totals[block] += executions;
        profile->executions[block] = 0;
    }
    struct slice_table *table = &profile->table;
    if (!array_push(table->slices, table->slice_capacity, table->slice_count, profile->open))
        return error_set(error, "out of memory for %zu slices", table->slice_count);
    profile->open.instructions = 0;
    return bbv_set_slice(&profile->vector, error) &&
           projection_add(&profile->projection, &profile->vector, 0, error);
}

/* How many slices from this one on become one: two, or the last three of a program that goes on,
 * so that none is left short; or one that is as long already, as counts may come in slices of the
 * length that all will have. */
static size_t count_merged(const struct chunk_profile *profile, size_t first) {
    const struct slice_table *table = &profile->table;
    const struct slice_place *slices = table->slices + first;
    const uint64_t length = 2 * profile->settings.slice;
    const size_t left = table->slice_count - first;
    const bool pair =
        left > 1 && slices[0].instructions < length && slices[1].process == slices[0].process;
    const size_t count = pair ? 2 : 1;
    const bool one_more = left == count + 1 && slices[count].instructions < length &&
                          slices[count].process == slices[0].process;
    return one_more ? count + 1 : count;
}

/* Slices twice as long, half as many; but for a program's odd last one. */
static void merge_slices(struct chunk_profile *profile) {
    struct slice_table *table = &profile->table;
    struct slice_place *slices = table->slices;
    size_t merged = 0;
    for (size_t i = 0, count; i < table->slice_count; i += count, merged++) {
        count = count_merged(profile, i);
        const uint64_t instructions = sum_over(uint64_t, k, count, slices[i + k].instructions);
        slices[merged] = slices[i];
        slices[merged].instructions = instructions;
        projection_merge(&profile->projection, merged, i, count);
    }
    table->slice_count = profile->projection.count = merged;
    profile->settings.slice *= 2;
}

/* What exec put in place of the program that is profiled. */
static bool goes_on_in(const struct chunk_profile *profile, uint32_t process) {
    return trace_process_goes_on(profile->trace, process) &&
           trace_process(profile->trace, process)->parent == profile->process;
}

/* Its blocks are others, whose executions count from none. */
static bool begin_program(struct chunk_profile *profile, const struct trace_chunk *chunk,
                          struct error *error) {
    if (profile->open.instructions && !end_slice(profile, error))
        return false;
    profile->before = profile->instructions;
    profile->blocks_before += profile->block_count;
    profile->block_count = 0;
    profile->container_count = profile->containing_count = 0;
    profile->process = chunk->process;
    profile->thread = chunk->thread;
    return true;
}

/* Events that are no blocks are counted behind the blocks, so that there is no branch to guess, and
 * each in another place than the one before it, so that none waits for that. */
static void count_events(struct chunk_profile *profile, const struct trace_chunk *chunk) {
    uint64_t *executions = profile->executions;
    const uint64_t other = profile->block_count;
    for (uint32_t i = 0; i < chunk->event_count; i++) {
        uint64_t event = chunk->events[i];
        executions[event < other ? event : other + i % OTHERS]++;
    }
    memset(executions + other, 0, OTHERS * sizeof *executions);
}

/* A block that a fault left before its end counts as a whole one, as where it is told by events. */
static bool add_counts(struct chunk_profile *profile, const struct trace_chunk *chunk,
                       struct error *error) {
    uint64_t block = profile->block_count;
    for (uint32_t i = 0; i < chunk->event_count; i++) {
        const uint64_t event = chunk->events[i];
        if (event_kind(event) == EVENT_BLOCK)
            block = event_block_number(event);
        else if (event_mark_kind(event) == MARK_TIMES && block < profile->block_count)
            profile->executions[block] += event_payload(event);
        else if (event_mark_kind(event) == MARK_TIMES)
            return counts_make_no_sense(error);
    }
    return true;
}

bool chunk_profile_chunk(void *context, const struct trace_chunk *chunk, struct error *error) {
    struct chunk_profile *profile = context;
    if (profile->thread == NONE) {
        profile->thread = chunk->thread;
        profile->process = chunk->process;
    }
    if (chunk->process != profile->process && goes_on_in(profile, chunk->process) &&
        !begin_program(profile, chunk, error))
        return false;
    profile->instructions += chunk->insn_count;
    if (chunk->thread != profile->thread || chunk->process != profile->process) {
        profile->threaded = true;
        profile->children |= chunk->process != profile->process;
        return true;
    }
    if (!learn_blocks(profile))
        return error_set(error, "out of memory for the profile of the run");
    if (!profile->open.instructions)
        profile->open = (struct slice_place){.process = chunk->process,
                                             .thread = chunk->thread,
                                             .first = chunk->first_insn,
                                             .start = marker_at(profile, chunk)};
    if (!chunk->counted)
        count_events(profile, chunk);
    else if (!add_counts(profile, chunk, error))
        return false;
    profile->open.instructions += chunk->insn_count;
    if (profile->open.instructions < profile->settings.slice || chunk->counted == CHUNK_OF_COUNTS)
        return true;
    if (!end_slice(profile, error))
        return false;
    while (profile->table.slice_count >= profile->settings.most_slices &&
           2 * profile->settings.slice <= profile->settings.longest)
        merge_slices(profile);
    return true;
}

/* ---- the end ---- */

static bool name_images(struct chunk_profile *profile) {
    const struct code *code = trace_code(profile->trace);
    struct slice_table *table = &profile->table;
    if (!array_room(table->images, table->image_capacity, code->image_count))
        return false;
    for (; table->image_count < code->image_count; table->image_count++) {
        const struct code_image *from = &code->images[table->image_count];
        struct region_image *to = &table->images[table->image_count];
        *to =
            (struct region_image){.path = strdup(from->path), .build_id_size = from->build_id_size};
        memcpy(to->build_id, from->build_id, sizeof to->build_id);
        if (!to->path)
            return false;
    }
    return true;
}

static bool complete(struct chunk_profile *profile, struct error *error) {
    if (profile->open.instructions && !end_slice(profile, error))
        return false;
    profile->table.size = profile->settings.slice;
    profile->table.command = strdup(trace_command(profile->trace));
    if (!profile->table.command || !name_images(profile))
        return error_set(error, "out of memory for the profile of the run");
    return profile->table.complete = true;
}

bool chunk_profile_finish(struct chunk_profile *profile, const struct projection **slices,
                          const struct slice_table **table, struct error *error) {
    if (!profile->table.complete && !complete(profile, error))
        return false;
    *slices = &profile->projection;
    *table = &profile->table;
    return true;
}
