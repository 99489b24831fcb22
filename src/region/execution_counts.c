/* Edges between blocks are counted in a table with open addressing; what is asked of them, edges
 * between instructions and counts of each instruction, is made of it at the end: blocks may
 * overlap, and several have the same last instruction. */
#include "region/execution_counts.h"

#include <stdlib.h>

#include "trace/event.h"
#include "util/array.h"
#include "util/order.h"

void execution_counts_free(struct execution_counts *counts) {
    free(counts->times);
    free(counts->recent);
    free(counts->edges);
    *counts = (struct execution_counts){0};
}

/* ---- counting ---- */

static struct block_edge *find_edge(const struct execution_counts *counts,
                                    const struct block_edge *edge) {
    uint64_t key = (uint64_t)edge->from << 32 | edge->to;
    key = (key ^ (uint64_t)edge->cut << 20 ^ edge->signal) * 0x9e3779b97f4a7c15;
    for (size_t at = key >> 20 & (counts->edge_size - 1);;
         at = (at + 1) & (counts->edge_size - 1)) {
        struct block_edge *slot = counts->edges + at;
        if (!slot->from || (slot->from == edge->from && slot->to == edge->to &&
                            slot->cut == edge->cut && slot->signal == edge->signal))
            return slot;
    }
}

static bool grow_edges(struct execution_counts *counts) {
    if (2 * (counts->edge_count + 1) <= counts->edge_size)
        return true;
    struct execution_counts grown = {.edge_size =
                                         counts->edge_size ? 2 * counts->edge_size : 1 << 12};
    grown.edges = calloc(grown.edge_size, sizeof *grown.edges);
    if (!grown.edges)
        return false;
    for (size_t i = 0; i < counts->edge_size; i++)
        if (counts->edges[i].from)
            *find_edge(&grown, counts->edges + i) = counts->edges[i];
    free(counts->edges);
    counts->edges = grown.edges;
    counts->edge_size = grown.edge_size;
    return true;
}

/* `to` 0: where it went is not known. */
static bool count_edge(struct execution_counts *counts, const struct execution_place *place,
                       uint32_t to, uint64_t times) {
    if (!grow_edges(counts))
        return false;
    struct block_edge edge = {place->id, to, place->cut, place->signal, 0};
    struct block_edge *slot = find_edge(counts, &edge);
    if (!slot->from) {
        *slot = edge;
        counts->edge_count++;
    }
    slot->times += times;
    return true;
}

/* Only part of the block was executed when the next begins inside it, and no branch leads there. */
static void judge(const struct profile_code *code, struct execution_place *place, uint32_t to) {
    const struct profile_block *from = profile_code_at(code, place->id);
    const struct slice_block *next = &profile_code_at(code, to)->place;
    if (place->cut || next->image != from->place.image || next->offset < from->place.offset ||
        next->offset - from->place.offset >= from->size)
        return;
    /* After a store into its own code, QEMU repeats the instruction as a block of its own. */
    bool repeated = next->insn_count == 1 && from->place.insn_count > 1;
    if (from->target == next->offset || (from->branch >= BRANCH_INDIRECT && !repeated))
        return;
    uint32_t starts[EVENT_MAX_BLOCK_INSNS + 1];
    for (uint32_t i = 0, count = profile_code_starts(code, place->id, starts); i < count; i++)
        if (from->place.offset + starts[i] == next->offset)
            place->cut = i + 1;
}

static bool flush_recent(struct execution_counts *counts, uint32_t id, unsigned slot) {
    struct recent_edge *edge = &counts->recent[id - 1][slot];
    const struct execution_place place = {.id = id, .cut = edge->cut};
    const bool good = !edge->times || count_edge(counts, &place, edge->to, edge->times);
    *edge = (struct recent_edge){0};
    return good;
}

/* The first of the two is the one met last; the other one makes room. */
static bool count_recent(struct execution_counts *counts, const struct profile_code *code,
                         struct execution_place *place, uint32_t to) {
    struct recent_edge *recent = counts->recent[place->id - 1];
    if (recent[1].to == to) {
        const struct recent_edge other = recent[0];
        recent[0] = recent[1];
        recent[1] = other;
    } else {
        judge(code, place, to);
        if (!flush_recent(counts, place->id, 1))
            return false;
        recent[1] = recent[0];
        recent[0] = (struct recent_edge){.to = to, .cut = place->cut};
    }
    recent[0].times++;
    return true;
}

static bool count_leaving(struct execution_counts *counts, const struct profile_code *code,
                          struct execution_place *place, uint32_t to) {
    if (place->cut || place->signal) {
        judge(code, place, to);
        return count_edge(counts, place, to, 1);
    }
    struct recent_edge *recent = counts->recent[place->id - 1];
    if (recent->to != to)
        return count_recent(counts, code, place, to);
    recent->times++;
    return true;
}

bool execution_enter(struct execution_counts *counts, const struct profile_code *code,
                     struct execution_place *place, uint32_t id) {
    if (id > counts->capacity && (!array_zeroed_room(counts->recent, counts->recent_capacity, id) ||
                                  !array_zeroed_room(counts->times, counts->capacity, id)))
        return false;
    counts->times[id - 1]++;
    if (place->id && !count_leaving(counts, code, place, id))
        return false;
    *place = (struct execution_place){.id = id};
    return true;
}

bool execution_leave(struct execution_counts *counts, struct execution_place *place) {
    bool good = !place->id || count_edge(counts, place, 0, 1);
    *place = (struct execution_place){0};
    return good;
}

bool execution_counts_end(struct execution_counts *counts) {
    for (uint32_t id = 1; id <= counts->capacity; id++)
        if (!flush_recent(counts, id, 0) || !flush_recent(counts, id, 1))
            return false;
    return true;
}

/* ---- instructions and edges between them ---- */

static int compare_points(const struct execution_point *a, const struct execution_point *b) {
    return ascending(a->image, b->image) ?: ascending(a->offset, b->offset);
}

ORDER(compare_executed, struct executed, compare_points(&a->at, &b->at) ?: compare_points(&a->to, &b->to) ?:
           ascending(a->kind, b->kind))

/* Sorts, and makes one of those that are alike. */
static void settle(struct executed_list *list) {
    size_t kept = 0;
    if (list->count)
        qsort(list->items, list->count, sizeof *list->items, compare_executed);
    for (size_t i = 0; i < list->count; i++)
        if (kept && !compare_executed(list->items + kept - 1, list->items + i))
            list->items[kept - 1].times += list->items[i].times;
        else
            list->items[kept++] = list->items[i];
    list->count = kept;
}

static bool add(struct executed_list *list, const struct executed *item) {
    return array_push(list->items, list->capacity, list->count, *item);
}

static struct execution_point point_in(const struct profile_block *block, uint32_t distance) {
    return (struct execution_point){block->place.image, block->place.offset + distance};
}

/* What a block says of its instructions, without the first `from`: so many times more (or fewer, as
 * a number that wraps). */
static bool add_insns(struct executed_list *list, const struct profile_code *code, uint32_t id,
                      uint32_t from, uint64_t times) {
    uint32_t starts[EVENT_MAX_BLOCK_INSNS + 1];
    const struct profile_block *block = profile_code_at(code, id);
    bool good = true;
    for (uint32_t i = from, count = profile_code_starts(code, id, starts); good && i < count; i++)
        good = add(list, &(struct executed){.at = point_in(block, starts[i]),
                                            .length = (uint8_t)(starts[i + 1] - starts[i]),
                                            .times = times});
    return good;
}

bool execution_list_insns(const struct execution_counts *counts, const struct profile_code *code,
                          struct executed_list *insns) {
    for (uint32_t id = 1; id <= code->block_count && id <= counts->capacity; id++)
        if (counts->times[id - 1] && !add_insns(insns, code, id, 0, counts->times[id - 1]))
            return false;
    for (size_t i = 0; i < counts->edge_size; i++) {
        const struct block_edge *edge = counts->edges + i;
        if (edge->cut && !add_insns(insns, code, edge->from, edge->cut - 1, -edge->times))
            return false;
    }
    settle(insns);
    return true;
}

static bool list_edge(struct executed_list *edges, const struct profile_code *code,
                      const struct block_edge *edge) {
    uint32_t starts[EVENT_MAX_BLOCK_INSNS + 1];
    const struct profile_block *from = profile_code_at(code, edge->from);
    const struct profile_block *to = profile_code_at(code, edge->to);
    uint32_t count = profile_code_starts(code, edge->from, starts);
    if (edge->cut == 1)
        return true; /* nothing was executed in between */
    if (edge->cut && edge->cut <= count)
        count = edge->cut - 1;
    struct executed item = {.at = point_in(from, count ? starts[count - 1] : 0),
                            .to = point_in(to, 0),
                            .branch = edge->cut || edge->signal ? BRANCH_NONE : from->branch,
                            .times = edge->times};
    bool near = to->place.image == from->place.image;
    if (edge->signal)
        item.kind = EDGE_SIGNAL;
    else if (edge->cut || (near && to->place.offset == from->place.offset + from->size))
        item.kind = EDGE_FALL_THROUGH;
    else if (near && from->target && to->place.offset == from->target)
        item.kind = EDGE_TAKEN;
    else
        item.kind = from->branch >= BRANCH_INDIRECT ? EDGE_INDIRECT : EDGE_SIGNAL;
    return add(edges, &item);
}

bool execution_list_edges(const struct execution_counts *counts, const struct profile_code *code,
                          struct executed_list *edges) {
    for (size_t i = 0; i < counts->edge_size; i++)
        if (counts->edges[i].from && counts->edges[i].to &&
            !list_edge(edges, code, counts->edges + i))
            return false;
    settle(edges);
    return true;
}
