/* What instructions wait for besides their data, counted as they run: lines of code, branches, long
 * operations, the system. Functional, as a chip has them for a thread that is alone
 * (core/multithreaded/chip.h); from machines that are none the same is taken. */
#pragma once

#include "branch/branch.h"
#include "core/multithreaded/penalties.h"
#include "memory/cache.h"
#include "memory/tlb.h"
#include "model/circular.h"
#include "model/locality.h"
#include "util/key_numbers.h"

/* A static instruction. */
struct event_recipe {
    uint64_t line;            /* of the L1I, its first byte's; UINT64_MAX: there is no L1I */
    uint64_t physical, after; /* address of that line; of the next one, 0: it stays in the first */
    uint32_t long_cycles, system_cycles;
    uint8_t branch, length;
    bool special; /* any of the last three, or `after` */
};

struct event_counter {
    const struct machine *machine;
    struct chip_penalties penalties;
    struct locality_events counts;
    struct cache l1i; /* absent: no tags */
    struct tlb itlb;
    uint64_t lookups; /* of lines of code */
    /* Their circular sequences; no stacks: not counted (locality.h). */
    struct circular l1i_circular, itlb_circular;
    struct key_numbers code_lines;
    bool failed; /* for want of memory for these */
    uint32_t line_shift, shared_line_shift, page_shift;
    bool frames;
    uint64_t page; /* of code, translated last */
    struct branch_predictor *predictor;
    struct event_recipe *recipes;
    size_t recipe_count, recipe_capacity;
    uint64_t line; /* of code, fetched last; UINT64_MAX: none, or there is no L1I */
    struct {
        bool waiting; /* for its successor */
        bool taken;
        uint64_t address;
        uint8_t kind, length;
    } branch;
};

/* event_counter_free() either way. `machine` takes the place of that of the options and must live
 * as long. */
bool event_counter_new(struct event_counter *counter, const struct machine *machine,
                       const struct locality_options *options, struct error *error);
void event_counter_free(struct event_counter *counter);

/* More static code. */
bool event_counter_learn(struct event_counter *counter, const struct code *code,
                         struct error *error);

/* ---- pieces of event_counter_add() ---- */
void event_counter_resolve(struct event_counter *counter, uint64_t next);
void event_counter_fetch(struct event_counter *counter, uint64_t line, uint64_t physical);
void event_counter_special(struct event_counter *counter, const struct static_insn *is,
                           const struct event_recipe *recipe, const struct dynamic_insn *insn);

/* One instruction of known code that did not fault. */
static inline void event_counter_add(struct event_counter *counter, const struct code *code,
                                     const struct dynamic_insn *insn) {
    const struct event_recipe *recipe = &counter->recipes[insn->insn];
    counter->counts.instructions++;
    if (counter->branch.waiting)
        event_counter_resolve(counter, code->insns[insn->insn].address);
    if (recipe->line != counter->line)
        event_counter_fetch(counter, recipe->line, recipe->physical);
    if (recipe->special | (insn->flags & DYN_SIGNAL))
        event_counter_special(counter, &code->insns[insn->insn], recipe, insn);
}
