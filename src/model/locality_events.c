#include "model/locality_events.h"

#include <string.h>

#include "core/input.h"
#include "memory/frame.h"

#define NO_LINE UINT64_MAX

bool event_counter_new(struct event_counter *counter, const struct machine *machine,
                       const struct locality_options *options, struct error *error) {
    *counter =
        (struct event_counter){.machine = machine,
                               .penalties = chip_penalties(machine),
                               .page_shift = (uint32_t)__builtin_ctz(machine->page_size),
                               .shared_line_shift = (uint32_t)__builtin_ctz(options->shared->line),
                               .frames = options->frames,
                               .page = UINT64_MAX,
                               .line = NO_LINE};
    struct machine_cache l1i = machine->l1i;
    l1i.replacement = REPLACE_LRU;
    machine_without_prefetchers(&l1i);
    if (l1i.present) {
        counter->line_shift = (uint32_t)__builtin_ctz(l1i.line);
        if (!cache_new(&counter->l1i, &l1i, "l1i", LEVEL_L1, error))
            return false;
    }
    if (options->core &&
        (!circular_new_l1(&counter->l1i_circular, &machine->l1i) ||
         !circular_new_tlb(&counter->itlb_circular, &machine->itlb, machine->page_size)))
        return error_set(error, "out of memory for the L1I and ITLB");
    return tlb_new(&counter->itlb, &machine->itlb, machine->page_size, "itlb", error) &&
           (counter->predictor = branch_new(&machine->branch, error)) != NULL;
}

void event_counter_free(struct event_counter *counter) {
    if (counter->l1i.tags)
        cache_free(&counter->l1i);
    tlb_free(&counter->itlb);
    circular_free(&counter->l1i_circular);
    circular_free(&counter->itlb_circular);
    key_numbers_free(&counter->code_lines);
    branch_free(counter->predictor);
    free(counter->recipes);
    memset(counter, 0, sizeof *counter);
}

static uint64_t physical_of(const struct event_counter *counter, uint64_t line) {
    const uint64_t address = line << counter->line_shift;
    return counter->frames ? frame_address(0, address, counter->page_shift) : address;
}

static void find_lines(const struct event_counter *counter, const struct static_insn *insn,
                       struct event_recipe *recipe) {
    recipe->line = NO_LINE;
    if (!counter->l1i.tags)
        return;
    recipe->line = insn->address >> counter->line_shift;
    recipe->physical = physical_of(counter, recipe->line);
    if ((insn->address + insn->length - 1) >> counter->line_shift != recipe->line)
        recipe->after = physical_of(counter, recipe->line + 1);
}

static void make_recipe(const struct event_counter *counter, const struct code *code,
                        const struct static_insn *insn, struct event_recipe *recipe) {
    *recipe = (struct event_recipe){.long_cycles = chip_long_penalty(counter->machine, code, insn),
                                    .branch = insn->branch,
                                    .length = insn->length};
    find_lines(counter, insn, recipe);
    if (insn->flags & INSN_FLUSHING)
        recipe->system_cycles = counter->penalties.flush;
    if (machine_insn_flags(&counter->machine->core, insn->operation, insn->flags, false) &
        INSN_SYSCALL)
        recipe->system_cycles = counter->penalties.system_call;
    recipe->special = recipe->long_cycles || recipe->system_cycles ||
                      recipe->branch != BRANCH_NONE || recipe->after;
}

bool event_counter_learn(struct event_counter *counter, const struct code *code,
                         struct error *error) {
    if (!core_reserve_insns(code, (void **)&counter->recipes, &counter->recipe_capacity,
                            sizeof *counter->recipes, error))
        return false;
    for (; counter->recipe_count < code->insn_count; counter->recipe_count++)
        make_recipe(counter, code, &code->insns[counter->recipe_count],
                    &counter->recipes[counter->recipe_count]);
    return true;
}

static void translate(struct event_counter *counter, uint64_t address) {
    counter->page = address >> counter->page_shift;
    if (counter->itlb_circular.stacks) {
        counter->counts.itlb_misses +=
            circular_add(&counter->itlb_circular, address, counter->lookups) >
            counter->itlb_circular.shape.ways;
        return;
    }
    if (!tlb_quick_hit(&counter->itlb, address, UINT64_MAX) &&
        tlb_use(&counter->itlb, address) == TLB_NONE) {
        counter->counts.itlb_misses++;
        tlb_insert(&counter->itlb, address, 0, 0);
    }
}

static void miss(struct event_counter *counter, uint64_t physical) {
    counter->counts.l1i_misses++;
    counter->failed |=
        key_numbers_add(&counter->code_lines, physical >> counter->shared_line_shift) == UINT32_MAX;
    counter->counts.code_lines = counter->code_lines.count;
}

void event_counter_fetch(struct event_counter *counter, uint64_t line, uint64_t physical) {
    const uint64_t address = line << counter->line_shift;
    counter->line = line;
    if (address >> counter->page_shift != counter->page)
        translate(counter, address);
    const uint64_t time = counter->lookups++;
    if (counter->l1i_circular.stacks) {
        if (circular_add(&counter->l1i_circular, physical, time) > counter->l1i_circular.shape.ways)
            miss(counter, physical);
        return;
    }
    const size_t index = cache_find(&counter->l1i, physical);
    if (index != CACHE_NONE) {
        cache_touch(&counter->l1i, index);
        return;
    }
    uint64_t victim;
    cache_insert(&counter->l1i, physical, 0, UINT64_MAX, 0, &victim);
    miss(counter, physical);
}

void event_counter_resolve(struct event_counter *counter, uint64_t next) {
    const enum branch_outcome outcome = branch_predict(
        counter->predictor, counter->branch.address, (enum branch_kind)counter->branch.kind,
        counter->branch.length, counter->branch.taken, next);
    counter->branch.waiting = false;
    counter->counts.mispredictions += outcome == PREDICTED_WRONG;
    counter->counts.late_branches += outcome == PREDICTED_LATE;
}

void event_counter_special(struct event_counter *counter, const struct static_insn *is,
                           const struct event_recipe *recipe, const struct dynamic_insn *insn) {
    struct locality_events *counts = &counter->counts;
    if (recipe->after)
        event_counter_fetch(counter, recipe->line + 1, recipe->after);
    if (recipe->long_cycles) {
        counts->long_operations++;
        counts->long_cycles += recipe->long_cycles;
    }
    const uint32_t system_cycles = insn->flags & DYN_SIGNAL && !recipe->system_cycles
                                       ? counter->penalties.flush
                                       : recipe->system_cycles;
    if (system_cycles) {
        counts->system_events++;
        counts->system_cycles += system_cycles;
    }
    if (recipe->branch != BRANCH_NONE && !(insn->flags & (DYN_SIGNAL | DYN_GAP))) {
        counter->branch.waiting = true;
        counter->branch.taken = insn->flags & DYN_TAKEN;
        counter->branch.address = is->address;
        counter->branch.kind = recipe->branch;
        counter->branch.length = recipe->length;
    }
}
