/* Runs paths on a core in which nothing dynamic happens. The machine has no caches, TLBs and
 * predictors, which would have no effect, so that a core is quickly made; its write buffer has
 * room. */
#include "analyze/scheduler.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/scheduler_code.h"
#include "attribute/attribute.h"
#include "util/array.h"

enum {
    IN_ORDER_CONTEXT = 64,   /* instructions: some 30 cycles, more than most results take */
    IN_ORDER_WINDOW = 64,    /* a short loop runs as many times as fit */
    WINDOW = 256,            /* out of order, where rounds differ by how commits group */
    CONTEXT_BEYOND_ROB = 64, /* and twice the ROB, until it is as full as it will be */
    OUTSIDE_WORKS = 7,
    WRITE_BUFFER = 32, /* lines, written one a cycle */
    TAIL = 32          /* so that the last measured instructions commit together with others */
};

static struct machine_cache only_hits(struct machine_cache cache) {
    cache.size = cache.line;
    cache.ways = 1;
    machine_without_prefetchers(&cache);
    return cache;
}

static struct machine without_caches(const struct machine *machine) {
    struct machine stripped = *machine;
    stripped.l1i = only_hits(machine->l1i);
    stripped.l1d = only_hits(machine->l1d);
    stripped.l2.present = stripped.llc.present = false;
    stripped.itlb = stripped.dtlb = stripped.l2tlb = (struct machine_tlb){0};
    stripped.branch.direction = DIRECTION_PERFECT;
    stripped.branch.btb_entries = stripped.branch.indirect_entries = 0;
    stripped.dram = (struct machine_dram){.latency = 1};
    if (machine->core.in_order && machine->core.store_queue < WRITE_BUFFER)
        stripped.core.store_queue = WRITE_BUFFER;
    return stripped;
}

struct scheduler *scheduler_new(const struct machine *machine, enum schedule_view view,
                                struct error *error) {
    struct scheduler *scheduler = calloc(1, sizeof *scheduler);
    if (!scheduler)
        return error_null(error, "out of memory for a schedule");
    bool in_order = machine->core.in_order;
    scheduler->machine = without_caches(machine);
    scheduler->watch.view = view;
    scheduler->context = in_order ? IN_ORDER_CONTEXT : 2 * machine->core.rob + CONTEXT_BEYOND_ROB;
    scheduler->window = in_order ? IN_ORDER_WINDOW : WINDOW;
    scheduler->by_causes = in_order && view == VIEW_HEAD;
    scheduler->tail = scheduler->by_causes ? 0 : TAIL;
    return scheduler;
}

void scheduler_drop_core(struct scheduler *scheduler) {
    core_free(scheduler->core);
    tap_free(scheduler->tap);
    stall_causes_free(scheduler->causes);
    scheduler->core = NULL;
    scheduler->tap = NULL;
    scheduler->causes = NULL;
}

void scheduler_free(struct scheduler *scheduler) {
    if (!scheduler)
        return;
    scheduler_drop_core(scheduler);
    free(scheduler->watch.units);
    free(scheduler->code.insns);
    free(scheduler->code.uops);
    free(scheduler->templates);
    free(scheduler);
}

/* Makes what observes whose cycles they were. */
static bool make_eyes(struct scheduler *scheduler, struct error *error) {
    if (scheduler->by_causes) {
        scheduler->causes = stall_causes_new();
        return scheduler->causes || error_set(error, "out of memory for a schedule");
    }
    struct tap_worker worker = schedule_watch_worker(&scheduler->watch);
    scheduler->tap = tap_new(NULL);
    if (!scheduler->tap)
        return error_set(error, "out of memory for a schedule");
    return tap_add_worker(scheduler->tap, &worker, error);
}

static bool make_core(struct scheduler *scheduler, struct error *error) {
    if (!make_eyes(scheduler, error))
        return false;
    struct core_options options = {.ideal = IDEAL_IMISS | IDEAL_DMISS | IDEAL_BMISP,
                                   .tap = scheduler->tap,
                                   .causes = scheduler->causes};
    scheduler->core = core_new(&scheduler->machine, &options, error);
    return scheduler->core != NULL;
}

bool scheduler_load(struct scheduler *scheduler, const struct cfg *cfg, struct error *error) {
    struct schedule_watch *watch = &scheduler->watch;
    if (!scheduler_add_code(scheduler, cfg, error))
        return false;
    watch->first = scheduler->first + cfg->insn_count;
    watch->count = cfg->insn_count;
    watch->waited = 0;
    if (!array_room(watch->units, watch->capacity, watch->count))
        return error_set(error, "out of memory for a schedule");
    memset(watch->units, 0, watch->count * sizeof *watch->units);
    if (scheduler->core || make_core(scheduler, error))
        return true;
    scheduler_drop_core(scheduler);
    return false;
}

/* ---- what is executed ---- */

static bool push(struct scheduler *scheduler, struct error *error) {
    const struct core_input input = {
        &scheduler->code, scheduler->batch, scheduler_accesses, scheduler->batched, 2, 0};
    scheduler->batched = 0;
    return core_push(scheduler->core, &input, error);
}

static bool put(struct scheduler *scheduler, struct dynamic_insn insn, struct error *error) {
    scheduler->batch[scheduler->batched++] = insn;
    return scheduler->batched < SCHEDULER_BATCH || push(scheduler, error);
}

/* Runs a full stop; then control comes from outside, at the end of two packets of four. If two of
 * those instructions issued in a cycle, fetch would get ahead and hide the bubble of the jump, as
 * in most real callers and callees. */
static bool come_from_outside(struct scheduler *scheduler, struct error *error) {
    bool good = put(scheduler, scheduler->outside[OUTSIDE_STOP], error);
    for (int i = 0; i < OUTSIDE_WORKS && good; i++)
        good = put(scheduler, scheduler->outside[OUTSIDE_WORK], error);
    return good && put(scheduler, scheduler->outside[OUTSIDE_JUMP], error);
}

/* Instructions [begin, end) of a block, which is left by `next`, an edge or CFG_NONE. */
static bool run_block(struct scheduler *scheduler, uint32_t number, uint32_t begin, uint32_t end,
                      uint32_t next, bool measured, struct error *error) {
    const struct cfg *cfg = scheduler->cfg;
    const struct cfg_block *block = &cfg->blocks[number];
    for (uint32_t i = begin; i < end; i++) {
        const struct insn *insn = &cfg->insns[block->first_insn + i].insn;
        struct dynamic_insn execution = scheduler->templates[block->first_insn + i];
        execution.insn += measured ? cfg->insn_count : 0;
        if (insn->branch == BRANCH_CONDITIONAL && i + 1 == block->insn_count && next != CFG_NONE &&
            cfg->edges[next].kind != EDGE_FALL)
            execution.flags |= DYN_TAKEN;
        if (!put(scheduler, execution, error) ||
            (insn_is_call(insn) && !come_from_outside(scheduler, error)))
            return false;
    }
    return true;
}

static bool run_steps(struct scheduler *scheduler, const struct path *path, uint32_t leave,
                      struct error *error) {
    const struct cfg *cfg = scheduler->cfg;
    const struct path_step *first = &path->steps[path->count - 1];
    bool from_outside =
        !path->skipped && (first->edge == CFG_NONE || cfg->edges[first->edge].from == CFG_NONE);
    if (from_outside ? !come_from_outside(scheduler, error)
                     : !put(scheduler, scheduler->outside[OUTSIDE_STOP], error))
        return false;
    uint32_t begin = path->skipped;
    for (size_t k = path->count; k-- > 0; begin = 0) {
        const struct path_step *step = &path->steps[k];
        if (!run_block(scheduler, step->block, begin, cfg->blocks[step->block].insn_count,
                       k ? path->steps[k - 1].edge : leave, step->measured, error))
            return false;
    }
    return true;
}

/* Runs so many instructions of the likeliest code behind an edge. */
static bool run_tail(struct scheduler *scheduler, const struct ways *ways, uint32_t edge,
                     struct error *error) {
    const struct cfg *cfg = scheduler->cfg;
    uint32_t left = scheduler->tail;
    while (left && edge != CFG_NONE && cfg->edges[edge].to != CFG_NONE) {
        uint32_t block = cfg->edges[edge].to, count = cfg->blocks[block].insn_count;
        uint32_t end = count < left ? count : left;
        edge = ways->out[block];
        if (!run_block(scheduler, block, 0, end, edge, false, error))
            return false;
        left -= end;
    }
    for (; left; left--)
        if (!put(scheduler, scheduler->outside[OUTSIDE_WORK], error))
            return false;
    return true;
}

/* ---- what the core said ---- */

static bool add_stall(struct stall_list *list, size_t first, struct static_stall stall) {
    for (size_t i = list->count; i > first && list->items[i - 1].insn == stall.insn; i--) {
        struct static_stall *same = &list->items[i - 1];
        if (same->cause == stall.cause && same->culprit == stall.culprit) {
            same->cycles += stall.cycles;
            return true;
        }
    }
    return array_push(list->items, list->capacity, list->count, stall);
}

/* The instruction of the graph, whether it was context or measured. */
static uint32_t culprit_of(const struct scheduler *scheduler, const struct stall_cell *cell) {
    uint32_t count = scheduler->cfg->insn_count, number = cell->culprit - scheduler->first;
    if (number >= 2 * count || (cell->culprit == cell->insn && cell->cause != STALL_DEPENDENCE))
        return CFG_NONE;
    return number < count ? number : number - count;
}

static bool take_causes(struct scheduler *scheduler, const struct cfg_block *block,
                        uint32_t executions, double *cycles, struct stall_list *stalls) {
    size_t count, first = stalls->count;
    uint32_t measured = scheduler->watch.first + block->first_insn;
    struct stall_cell *cells = stall_causes_cells(scheduler->causes, &count);
    bool room = cells != NULL;
    for (size_t i = 0; i < count && room; i++) {
        uint32_t number = cells[i].insn - measured;
        if (number >= block->insn_count)
            continue;
        if (cells[i].cause == STALL_SYNCHRONISATION)
            continue;
        assert(!stall_cause_is_dynamic(cells[i].cause));
        double mean = (double)cells[i].cycles / executions;
        cycles[number] += mean;
        if (cells[i].cause != STALL_NONE)
            room = add_stall(stalls, first,
                             (struct static_stall){.insn = block->first_insn + number,
                                                   .cause = (uint8_t)cells[i].cause,
                                                   .culprit = culprit_of(scheduler, &cells[i]),
                                                   .cycles = mean});
    }
    free(cells);
    stall_causes_clear_cycles(scheduler->causes);
    return room;
}

static void take_units(struct scheduler *scheduler, const struct cfg_block *block,
                       uint32_t executions, double *cycles) {
    uint64_t *units = scheduler->watch.units + block->first_insn;
    for (uint32_t i = 0; i < block->insn_count; i++) {
        cycles[i] = (double)units[i] / CYCLE_UNITS / executions;
        units[i] = 0;
    }
}

bool scheduler_run(struct scheduler *scheduler, const struct path *path, const struct ways *ways,
                   double *cycles, struct stall_list *stalls, struct error *error) {
    uint32_t number = path->steps[0].block;
    const struct cfg_block *block = &scheduler->cfg->blocks[number];
    uint32_t leave = scheduler->tail ? ways->out[number] : CFG_NONE;
    if (!run_steps(scheduler, path, leave, error) || !run_tail(scheduler, ways, leave, error) ||
        !push(scheduler, error) || !core_finish(scheduler->core, error)) {
        scheduler_drop_core(scheduler);
        return false;
    }
    memset(cycles, 0, block->insn_count * sizeof *cycles);
    if (!scheduler->by_causes) {
        take_units(scheduler, block, path->executions, cycles);
    } else if (!take_causes(scheduler, block, path->executions, cycles, stalls)) {
        scheduler_drop_core(scheduler);
        return error_set(error, "out of memory for a schedule");
    }
    return true;
}
