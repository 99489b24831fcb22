/* Of each block it is known which markers lie in it, for the emulator's blocks overlap: most have
 * none. A marker is looked at when its count is the next that is wanted, or when a bound is open.
 */
#include "region/work_bounds.h"

#include <stdlib.h>
#include <string.h>

#include "trace/event.h"
#include "util/array.h"
#include "util/order.h"

/* A marker that was noted, as the second run looks for it. */
struct sought {
    uint32_t marker;
    uint64_t time;
    struct noted_marker *noted;
};

struct work_walk {
    const struct trace *trace;
    uint32_t process, thread;
    unsigned side;
    const struct work_markers *markers;
    struct work_bounds *bounds;
    uint32_t *marker_of; /* by static instruction: marker + 1; 0: none */
    size_t insn_capacity;
    uint64_t *times, *next; /* by marker: executed so far; looked at then */
    struct walked_block {
        uint32_t insns, first, count; /* its markers, in inside[] */
    } * blocks;
    size_t block_count, block_capacity;
    struct inside {
        uint32_t marker, insn;
    } * inside;
    size_t inside_count, inside_capacity;
    struct sought *sought; /* by marker and time */
    size_t sought_count, sought_at;
    size_t *sought_of;  /* by marker: its next in sought[] */
    size_t left;        /* to be found */
    size_t bound;       /* side 0: the first that is not passed yet */
    uint64_t open_from; /* where that begins; UINT64_MAX: none is left */
};

ORDER(by_marker, struct sought, ascending(a->marker, b->marker) ?: ascending(a->time, b->time))

/* ---- what is looked for ---- */

static bool list_sought(struct work_walk *walk) {
    const struct work_bounds *bounds = walk->bounds;
    walk->sought = calloc(bounds->count * BOUND_MARKERS + 1, sizeof *walk->sought);
    walk->sought_of = calloc(walk->markers->count + 1, sizeof *walk->sought_of);
    if (!walk->sought || !walk->sought_of)
        return false;
    for (size_t i = 0; i < bounds->count; i++)
        for (uint32_t k = 0; k < bounds->items[i].noted_count; k++) {
            struct noted_marker *noted = &bounds->items[i].noted[k];
            walk->sought[walk->sought_count++] = (struct sought){noted->marker, noted->time, noted};
        }
    qsort(walk->sought, walk->sought_count, sizeof *walk->sought, by_marker);
    for (size_t i = walk->sought_count; i-- > 0;) {
        walk->sought_of[walk->sought[i].marker] = i;
        walk->next[walk->sought[i].marker] = walk->sought[i].time;
    }
    walk->left = walk->sought_count;
    return true;
}

static void open_bound(struct work_walk *walk) {
    while (walk->bound < walk->bounds->count && walk->bounds->items[walk->bound].exact)
        walk->bound++;
    walk->open_from =
        walk->bound < walk->bounds->count ? walk->bounds->items[walk->bound].wanted : UINT64_MAX;
}

static bool fill(struct work_walk *walk) {
    const struct work_markers *markers = walk->markers;
    uint32_t most = 0;
    for (size_t i = 0; i < markers->count; i++)
        most =
            markers->items[i].insns[walk->side] > most ? markers->items[i].insns[walk->side] : most;
    walk->insn_capacity = (size_t)most + 1;
    walk->marker_of = calloc(walk->insn_capacity, sizeof *walk->marker_of);
    walk->times = calloc(markers->count + 1, sizeof *walk->times);
    walk->next = malloc((markers->count + 1) * sizeof *walk->next);
    if (!walk->marker_of || !walk->times || !walk->next)
        return false;
    memset(walk->next, 0xff, (markers->count + 1) * sizeof *walk->next);
    for (size_t i = 0; i < markers->count; i++)
        walk->marker_of[markers->items[i].insns[walk->side]] = (uint32_t)i + 1;
    walk->open_from = UINT64_MAX;
    if (walk->side)
        return list_sought(walk);
    open_bound(walk);
    return true;
}

struct work_walk *work_walk_new(const struct trace *trace, uint32_t process, uint32_t thread,
                                unsigned side, const struct work_markers *markers,
                                struct work_bounds *bounds) {
    struct work_walk *walk = calloc(1, sizeof *walk);
    if (!walk)
        return NULL;
    walk->trace = trace;
    walk->process = process;
    walk->thread = thread;
    walk->side = side;
    walk->markers = markers;
    walk->bounds = bounds;
    if (fill(walk))
        return walk;
    work_walk_free(walk);
    return NULL;
}

void work_walk_free(struct work_walk *walk) {
    if (!walk)
        return;
    free(walk->marker_of);
    free(walk->times);
    free(walk->next);
    free(walk->blocks);
    free(walk->inside);
    free(walk->sought);
    free(walk->sought_of);
    free(walk);
}

bool work_walk_is_done(const struct work_walk *walk) {
    return walk->side ? walk->left == 0 : walk->open_from == UINT64_MAX;
}

/* ---- blocks ---- */

static bool learn_block(struct work_walk *walk, struct trace_block block) {
    struct walked_block known = {.insns = block.insn_count, .first = (uint32_t)walk->inside_count};
    for (uint32_t i = 0; i < block.insn_count; i++) {
        const uint32_t insn = block.insns[i].insn;
        if (insn >= walk->insn_capacity || !walk->marker_of[insn])
            continue;
        if (!array_push(walk->inside, walk->inside_capacity, walk->inside_count,
                        (struct inside){walk->marker_of[insn] - 1, i}))
            return false;
        known.count++;
    }
    return array_push(walk->blocks, walk->block_capacity, walk->block_count, known);
}

static bool learn_blocks(struct work_walk *walk) {
    const uint32_t count = trace_block_count(walk->trace, walk->process);
    while (walk->block_count < count)
        if (!learn_block(walk,
                         trace_block(walk->trace, walk->process, (uint32_t)walk->block_count)))
            return false;
    return true;
}

/* ---- executions ---- */

/* Of the open bound: kept if it is executed less often than one of those that are noted. */
static void note(struct work_walk *walk, uint32_t marker, uint64_t position) {
    const struct work_marker *markers = walk->markers->items;
    struct work_bound *bound = &walk->bounds->items[walk->bound];
    const struct noted_marker noted = {marker, walk->times[marker], {position}, false};
    if (any_where(i, bound->noted_count, bound->noted[i].marker == marker))
        return;
    if (bound->noted_count < BOUND_MARKERS) {
        bound->noted[bound->noted_count++] = noted;
        return;
    }
    uint32_t most = 0;
    for (uint32_t i = 1; i < BOUND_MARKERS; i++)
        if (markers[bound->noted[i].marker].times > markers[bound->noted[most].marker].times)
            most = i;
    if (markers[marker].times < markers[bound->noted[most].marker].times)
        bound->noted[most] = noted;
}

static void look_at_open(struct work_walk *walk, uint32_t marker, uint64_t position) {
    while (position > walk->open_from && position - walk->open_from > walk->bounds->patience) {
        walk->bound++;
        open_bound(walk);
    }
    if (position >= walk->open_from)
        note(walk, marker, position);
}

/* The same execution may have been noted of several bounds. */
static void find(struct work_walk *walk, uint32_t marker, uint64_t position) {
    size_t at = walk->sought_of[marker];
    while (at < walk->sought_count && walk->sought[at].marker == marker &&
           walk->sought[at].time == walk->times[marker]) {
        walk->sought[at].noted->positions[1] = position;
        walk->sought[at].noted->found = true;
        walk->left--;
        at++;
    }
    walk->sought_of[marker] = at;
    walk->next[marker] = at < walk->sought_count && walk->sought[at].marker == marker
                             ? walk->sought[at].time
                             : UINT64_MAX;
}

static void execute(struct work_walk *walk, const struct walked_block *block, uint64_t position) {
    for (uint32_t i = 0; i < block->count; i++) {
        const struct inside *inside = &walk->inside[block->first + i];
        const uint64_t at = position + inside->insn;
        const uint64_t time = ++walk->times[inside->marker];
        if (at >= walk->open_from)
            look_at_open(walk, inside->marker, at);
        else if (time == walk->next[inside->marker])
            find(walk, inside->marker, at);
    }
}

bool work_walk_chunk(void *context, const struct trace_chunk *chunk, struct error *error) {
    struct work_walk *walk = context;
    if (chunk->process != walk->process || chunk->thread != walk->thread)
        return true;
    if (!learn_blocks(walk))
        return error_set(error, "out of memory for what the runs have in common");
    uint64_t position = chunk->first_insn;
    for (uint32_t i = 0; i < chunk->event_count; i++) {
        const uint64_t event = chunk->events[i];
        if (event >= walk->block_count)
            continue; /* no block, whose kind is 0 */
        const struct walked_block *block = &walk->blocks[event];
        execute(walk, block, position);
        position += block->insns;
    }
    return true;
}
