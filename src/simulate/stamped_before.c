#include "simulate/stamped_before.h"

#include <stdlib.h>

#include "memory/stamps.h"
#include "trace/event.h"

struct before_region {
    struct stamps *stamps;
    uint64_t instructions;
};

void stamped_before_free(struct stamped_before *before) {
    free(before->lines);
    *before = (struct stamped_before){0};
}

uint32_t stamped_line_bytes(const struct machine *machine) {
    const uint32_t data = machine->l1d.line, code = machine->l1i.line;
    return machine->l1i.present && code < data ? code : data;
}

uint64_t stamped_inner_lines(const struct machine *machine) {
    if (!machine->llc.retention)
        return 0;
    const struct machine_cache *last = machine->l2.present ? &machine->l2 : &machine->l1d;
    return last->size / stamped_line_bytes(machine);
}

struct before_region *before_region_new(const struct machine *machine) {
    struct before_region *before = calloc(1, sizeof *before);
    if (!before)
        return NULL;
    before->stamps = stamps_new(stamped_line_bytes(machine), stamped_inner_lines(machine));
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

/* Events of the first so many instructions. The few blocks that were left before their end count as
 * whole. */
static uint32_t events_of(const struct item_data *data, const struct kept_code *code,
                          uint64_t insns) {
    uint64_t executed = 0;
    for (uint32_t i = 0; i < data->event_count; i++) {
        const uint32_t block = event_block_number(data->events[i]);
        if (event_kind(data->events[i]) != EVENT_BLOCK || block >= code->count)
            continue;
        if (executed >= insns)
            return i;
        executed += code->blocks[block].insn_count;
    }
    return data->event_count;
}

bool before_region_add(struct before_region *before, const struct item_data *data,
                       const struct kept_code *code, uint64_t until, struct error *error) {
    if (data->first_insn >= until)
        return true;
    const bool whole = data->insn_count <= until - data->first_insn;
    const uint64_t insns = whole ? data->insn_count : until - data->first_insn;
    before->instructions += insns;
    return stamps_events(before->stamps, data->events,
                         whole ? data->event_count : events_of(data, code, insns),
                         (uint32_t)code->count) ||
           error_set(error, "out of memory for time stamps");
}

static void span_of_block(void *context, uint32_t block, uint64_t *start, uint64_t *end) {
    const struct kept_code *code = context;
    *start = code->blocks[block].address;
    *end = *start + code->blocks[block].size;
}

bool before_region_end(const struct before_region *before, const struct kept_code *code,
                       struct stamped_before *result, struct error *error) {
    *result = (struct stamped_before){.events = stamps_events_seen(before->stamps),
                                      .instructions = before->instructions};
    result->lines = stamps_lines(before->stamps, span_of_block, (void *)code, &result->count);
    return result->lines || error_set(error, "out of memory for time stamps");
}
