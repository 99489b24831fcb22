#include "simulate/stamped_before.h"

#include <stdlib.h>

#include "trace/event.h"

struct before_region {
    struct stamps *stamps;
    uint64_t instructions;
};

void stamped_before_free(struct stamped_before *before) {
    free(before->lines);
    *before = (struct stamped_before){0};
}

static uint32_t shortest_line(const struct machine *machine) {
    const uint32_t data = machine->l1d.line, code = machine->l1i.line;
    return machine->l1i.present && code < data ? code : data;
}

/* That the levels before the last one hold, if it matters. */
static uint64_t inner_lines(const struct machine *machine) {
    if (!machine->llc.retention)
        return 0;
    const struct machine_cache *last = machine->l2.present ? &machine->l2 : &machine->l1d;
    return last->size / shortest_line(machine);
}

struct before_region *before_region_new(const struct machine *machine) {
    struct before_region *before = calloc(1, sizeof *before);
    if (!before)
        return NULL;
    before->stamps = stamps_new(shortest_line(machine), inner_lines(machine));
    if (before->stamps)
        return before;
    free(before);
    return NULL;
}

void before_region_free(struct before_region *before) {
    if (!before)
        return;
    stamps_free(before->stamps);
    free(before);
}

void before_region_clear(struct before_region *before) {
    stamps_clear(before->stamps);
    before->instructions = 0;
}

/* Events of the first so many instructions. The few blocks that were left before their end count as
 * whole. */
static uint32_t events_of(const struct stamped_chunk *chunk, const struct stamped_blocks *blocks,
                          uint64_t insns) {
    uint64_t executed = 0;
    for (uint32_t i = 0; i < chunk->event_count; i++) {
        const uint32_t block = event_block_number(chunk->events[i]);
        if (event_kind(chunk->events[i]) != EVENT_BLOCK || block >= blocks->count)
            continue;
        if (executed >= insns)
            return i;
        executed += blocks->insns(blocks->context, block);
    }
    return chunk->event_count;
}

bool before_region_add(struct before_region *before, const struct stamped_chunk *chunk,
                       uint64_t insns, const struct stamped_blocks *blocks, struct error *error) {
    const bool whole = insns >= chunk->insn_count;
    before->instructions += whole ? chunk->insn_count : insns;
    return stamps_events(before->stamps, chunk->events,
                         whole ? chunk->event_count : events_of(chunk, blocks, insns),
                         blocks->count) ||
           error_set(error, "out of memory for time stamps");
}

bool before_region_end(const struct before_region *before, const struct stamped_blocks *blocks,
                       struct stamped_before *result, struct error *error) {
    *result = (struct stamped_before){.events = stamps_events_seen(before->stamps),
                                      .instructions = before->instructions};
    result->lines = stamps_lines(before->stamps, blocks->span, blocks->context, &result->count);
    return result->lines || error_set(error, "out of memory for time stamps");
}

/* ---- of a capture ---- */

static uint32_t insns_of_kept(void *context, uint32_t block) {
    return ((const struct kept_code *)context)->blocks[block].insn_count;
}

static void span_of_kept(void *context, uint32_t block, uint64_t *start, uint64_t *end) {
    const struct kept_code *code = context;
    *start = code->blocks[block].address;
    *end = *start + code->blocks[block].size;
}

struct stamped_blocks stamped_blocks_of(const struct kept_code *code) {
    return (struct stamped_blocks){(void *)code, (uint32_t)code->count, insns_of_kept,
                                   span_of_kept};
}
