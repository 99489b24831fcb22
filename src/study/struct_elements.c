#include "study/struct_elements.h"

#include <stdlib.h>
#include <string.h>

#include "simulate/element_layout.h"
#include "util/hash_index.h"
#include "util/order.h"

enum { VISITED = 4096, MASK_WORDS = MAP_FIELDS / 64, LINE = 64, FIRST_SLOTS = 1024 };

struct visit {
    uint64_t base, last; /* the latter: instruction */
    uint64_t mask[MASK_WORDS];
};

struct reading {
    const struct struct_map *map;
    struct struct_elements *elements;
    uint64_t *slots; /* bases, by hash; 0: free */
    size_t slot_mask, used;
    struct visit *visits; /* by hash */
    uint64_t now;         /* instruction */
    bool any;
};

/* ---- the set of elements ---- */

static void enter(uint64_t *slots, size_t mask, uint64_t base) {
    size_t at = hash_number(base) & mask;
    while (slots[at] && slots[at] != base)
        at = (at + 1) & mask;
    slots[at] = base;
}

static bool grow(struct reading *reading) {
    const size_t mask = reading->slots ? 2 * reading->slot_mask + 1 : FIRST_SLOTS - 1;
    uint64_t *slots = calloc(mask + 1, sizeof *slots);
    if (!slots)
        return false;
    for (size_t i = 0; reading->slots && i <= reading->slot_mask; i++)
        if (reading->slots[i])
            enter(slots, mask, reading->slots[i]);
    free(reading->slots);
    reading->slots = slots;
    reading->slot_mask = mask;
    return true;
}

static bool add_element(struct reading *reading, uint64_t base) {
    if ((!reading->slots || 2 * (reading->used + 1) > reading->slot_mask) && !grow(reading))
        return false;
    size_t at = hash_number(base) & reading->slot_mask;
    while (reading->slots[at] && reading->slots[at] != base)
        at = (at + 1) & reading->slot_mask;
    if (reading->slots[at] || !base)
        return true;
    if (reading->used >= ELEMENTS_MOST) {
        reading->elements->too_many = true;
        return true;
    }
    reading->slots[at] = base;
    reading->used++;
    return true;
}

/* ---- visits ---- */

static void end_visit(const struct reading *reading, struct visit *visit) {
    struct struct_elements *elements = reading->elements;
    const uint32_t count = reading->map->count;
    if (!visit->base)
        return;
    elements->visits++;
    for (uint32_t i = 0; i < count; i++) {
        if (!(visit->mask[i / 64] >> i % 64 & 1))
            continue;
        elements->touched[i]++;
        for (uint32_t k = 0; k < count; k++)
            elements->together[(size_t)i * count + k] += visit->mask[k / 64] >> k % 64 & 1;
    }
    memset(visit, 0, sizeof *visit);
}

static void touch(struct reading *reading, uint64_t base, uint32_t field) {
    struct visit *visit = &reading->visits[hash_number(base) % VISITED];
    if (visit->base != base || reading->now - visit->last > TOGETHER_INSTRUCTIONS)
        end_visit(reading, visit);
    visit->base = base;
    visit->last = reading->now;
    visit->mask[field / 64] |= UINT64_C(1) << field % 64;
}

/* ---- the trace ---- */

static bool read_batch(struct reading *reading, const struct trace_batch *batch,
                       uint32_t insn_count) {
    for (uint32_t i = 0; i < batch->insn_count; i++) {
        const struct dynamic_insn *insn = &batch->insns[i];
        reading->now++;
        if (insn->insn >= insn_count || !insn->memory_count ||
            reading->map->field_of[insn->insn] == FIELD_NONE ||
            reading->map->offset_of[insn->insn] == UINT64_MAX)
            continue;
        if (!reading->any)
            reading->elements->process = batch->process;
        reading->any = true;
        if (batch->process != reading->elements->process)
            continue;
        const uint64_t base =
            batch->accesses[insn->memory - (uint32_t)batch->first_access].address -
            reading->map->offset_of[insn->insn];
        if (!add_element(reading, base))
            return false;
        touch(reading, base, reading->map->field_of[insn->insn]);
    }
    return true;
}

static bool read_trace(struct reading *reading, struct watch *watch, struct trace *trace,
                       uint32_t insn_count, struct error *error) {
    struct trace_batch batch;
    int status;
    while ((status = trace_next(trace, &batch, error)) > 0) {
        if (!read_batch(reading, &batch, insn_count))
            return error_set(error, "out of memory for the elements of a struct");
        watch_progress(watch, reading->now);
        if (watch->signal)
            break;
    }
    for (unsigned i = 0; i < VISITED; i++)
        end_visit(reading, &reading->visits[i]);
    return status >= 0;
}

/* ---- the result ---- */

static int by_value(const void *left, const void *right) {
    const uint64_t *a = left, *b = right;
    return ascending(*a, *b);
}

static bool sort_elements(const struct reading *reading) {
    struct struct_elements *elements = reading->elements;
    size_t count = 0, kept = 0, at[LINE] = {0};
    elements->bases = malloc((reading->used + 1) * sizeof *elements->bases);
    if (!elements->bases)
        return false;
    for (size_t i = 0; reading->slots && i <= reading->slot_mask; i++)
        if (reading->slots[i])
            elements->bases[count++] = reading->slots[i];
    if (count)
        qsort(elements->bases, count, sizeof *elements->bases, by_value);
    for (size_t i = 0; i < count; i++) {
        const uint64_t base = elements->bases[i];
        if (kept && base - elements->bases[kept - 1] < reading->map->size) {
            elements->overlapping++;
            continue;
        }
        at[base % LINE]++;
        elements->bases[kept++] = base;
    }
    elements->count = kept;
    for (uint32_t i = 0; i < LINE; i++)
        if (at[i] > at[elements->line_offset])
            elements->line_offset = i;
    elements->line_share = kept ? (double)at[elements->line_offset] / (double)kept : 0;
    return true;
}

bool struct_elements_find(struct watch *watch, const char *file, const struct struct_map *map,
                          uint64_t instructions, struct struct_elements *elements,
                          struct error *error) {
    struct reading reading = {.map = map, .elements = elements};
    *elements = (struct struct_elements){.untyped = UINT64_MAX};
    struct trace *trace = trace_open(file, error);
    if (!trace)
        return false;
    elements->touched = calloc((size_t)map->count + 1, sizeof *elements->touched);
    elements->together = calloc((size_t)map->count * map->count + 1, sizeof *elements->together);
    reading.visits = calloc(VISITED, sizeof *reading.visits);
    bool good = elements->touched && elements->together && reading.visits;
    if (!good)
        error_set(error, "out of memory for the elements of a struct");
    watch_begin(watch, "finding its elements", "instructions", instructions);
    good = good && read_trace(&reading, watch, trace, map->insn_count, error) &&
           (sort_elements(&reading) || error_set(error, "out of memory for elements"));
    watch_end(watch);
    trace_close(trace);
    free(reading.slots);
    free(reading.visits);
    return good;
}

/* ---- accesses without a type ---- */

static uint64_t untyped_in(const struct trace_batch *batch, const struct struct_map *map,
                           const struct element_layout *layout) {
    uint64_t count = 0;
    for (uint32_t i = 0; i < batch->insn_count && batch->process == layout->process; i++) {
        const struct dynamic_insn *insn = &batch->insns[i];
        if (!insn->memory_count || insn->insn >= map->insn_count || !map->is_untyped[insn->insn])
            continue;
        const struct memory_access *first =
            &batch->accesses[insn->memory - (uint32_t)batch->first_access];
        for (uint32_t k = 0; k < insn->memory_count; k++)
            count += element_layout_has(layout, first[k].address);
    }
    return count;
}

bool struct_elements_count_untyped(struct watch *watch, const char *file,
                                   const struct struct_map *map, uint64_t instructions,
                                   struct struct_elements *elements, struct error *error) {
    struct element_layout layout = {.bases = elements->bases,
                                    .count = elements->count,
                                    .size = map->size,
                                    .process = elements->process};
    struct trace_batch batch;
    uint64_t count = 0, done = 0;
    int status = -1;
    struct trace *trace = trace_open(file, error);
    if (!trace)
        return false;
    watch_begin(watch, "looking at its elements", "instructions", instructions);
    if (!element_layout_place(&layout, false, 0, 0))
        error_set(error, "out of memory for the elements of a struct");
    else
        while ((status = trace_next(trace, &batch, error)) > 0 && !watch->signal) {
            count += untyped_in(&batch, map, &layout);
            done += batch.insn_count;
            watch_progress(watch, done);
        }
    watch_end(watch);
    if (status == 0)
        elements->untyped = count;
    element_layout_free(&layout);
    trace_close(trace);
    return status >= 0;
}

void struct_elements_free(struct struct_elements *elements) {
    free(elements->bases);
    free(elements->touched);
    free(elements->together);
}
