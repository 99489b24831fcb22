/* The core runs a path for each edge that enters a block; the schedule is the mean of what it
 * reports. */
#include "analyze/schedule.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/scheduler.h"
#include "core/places.h"
#include "util/order.h"

/* The edges that a block is scheduled for, the likeliest first. */
struct entries {
    uint32_t edge[SCHEDULE_EDGES];
    uint32_t count;
};

static void choose_entries(struct entries *entries, const struct cfg *cfg, const struct ways *ways,
                           const struct cfg_block *block) {
    uint32_t most = block->insn_count > SCHEDULE_LONG_BLOCK ? 1 : SCHEDULE_EDGES;
    entries->count = 0;
    for (uint32_t k = 0; k < block->in_count; k++) {
        uint32_t edge = cfg->in_edges[block->first_in + k], at = entries->count;
        while (at > 0 && ways_likelier_in(ways, cfg, edge, entries->edge[at - 1]))
            at--;
        if (at == most)
            continue;
        if (entries->count < most)
            entries->count++;
        memmove(entries->edge + at + 1, entries->edge + at,
                (entries->count - 1 - at) * sizeof *entries->edge);
        entries->edge[at] = edge;
    }
}

/* ---- room ---- */

/* Gives each scheduled edge its rows in `by_edge`, and one to those of a block that are not
 * scheduled. Returns how many. */
static size_t place_edges(struct schedule *schedule, const struct cfg *cfg,
                          const struct ways *ways) {
    size_t used = 0;
    for (uint32_t e = 0; e < cfg->edge_count; e++)
        schedule->entered[e] = SIZE_MAX;
    for (uint32_t b = 0; b < cfg->block_count; b++) {
        const struct cfg_block *block = &cfg->blocks[b];
        struct entries entries;
        choose_entries(&entries, cfg, ways, block);
        for (uint32_t k = 0; k < entries.count; k++) {
            schedule->scheduled[entries.edge[k]] = true;
            schedule->entered[entries.edge[k]] = used;
            used += block->insn_count;
        }
        for (uint32_t k = 0; k < block->in_count; k++)
            if (!schedule->scheduled[cfg->in_edges[block->first_in + k]])
                schedule->entered[cfg->in_edges[block->first_in + k]] = used;
        used += block->in_count > entries.count ? block->insn_count : 0;
    }
    return used;
}

static bool allocate(struct schedule *schedule, const struct cfg *cfg, const struct ways *ways) {
    size_t insns = (size_t)cfg->insn_count + 1, edges = (size_t)cfg->edge_count + 1;
    schedule->cycles = calloc(insns, sizeof *schedule->cycles);
    schedule->least = calloc(insns, sizeof *schedule->least);
    schedule->most = calloc(insns, sizeof *schedule->most);
    schedule->entered = calloc(edges, sizeof *schedule->entered);
    schedule->scheduled = calloc(edges, sizeof *schedule->scheduled);
    schedule->edge_stall_first = calloc(edges, sizeof *schedule->edge_stall_first);
    if (!schedule->cycles || !schedule->least || !schedule->most || !schedule->entered ||
        !schedule->scheduled || !schedule->edge_stall_first)
        return false;
    schedule->by_edge = calloc(place_edges(schedule, cfg, ways) + 1, sizeof *schedule->by_edge);
    return schedule->by_edge != NULL;
}

void schedule_free(struct schedule *schedule) {
    free(schedule->cycles);
    free(schedule->least);
    free(schedule->most);
    free(schedule->soonest);
    free(schedule->stalls);
    free(schedule->entered);
    free(schedule->by_edge);
    free(schedule->edge_stalls);
    free(schedule->edge_stall_first);
    free(schedule->scheduled);
    *schedule = (struct schedule){0};
}

/* ---- over the edges that enter a block ---- */

/* The mean for the edges that are not scheduled, the range for all. */
static void summarise(struct schedule *schedule, const struct cfg *cfg,
                      const struct cfg_block *block) {
    double *least = schedule->least + block->first_insn;
    double *most = schedule->most + block->first_insn, *mean = NULL;
    uint32_t scheduled = 0;
    for (uint32_t k = 0; k < block->in_count; k++) {
        uint32_t edge = cfg->in_edges[block->first_in + k];
        const double *cycles = schedule->by_edge + schedule->entered[edge];
        if (!schedule->scheduled[edge]) {
            mean = schedule->by_edge + schedule->entered[edge];
            continue;
        }
        for (uint32_t i = 0; i < block->insn_count; i++) {
            least[i] = scheduled ? fmin(least[i], cycles[i]) : cycles[i];
            most[i] = scheduled ? fmax(most[i], cycles[i]) : cycles[i];
        }
        scheduled++;
    }
    for (uint32_t k = 0; k < block->in_count && mean; k++) {
        uint32_t edge = cfg->in_edges[block->first_in + k];
        const double *cycles = schedule->by_edge + schedule->entered[edge];
        for (uint32_t i = 0; i < block->insn_count && schedule->scheduled[edge]; i++)
            mean[i] += cycles[i] / scheduled;
    }
}

static double weight_of(const double *executions, uint32_t edge) {
    return executions && executions[edge] > 0 ? executions[edge] : 0;
}

/* What a scheduled edge weighs: its own share, and an equal part of what the edges weigh that are
 * not scheduled. */
struct weights {
    double all, others; /* the latter: of each scheduled edge */
    bool alike;
};

static struct weights weights_of(const struct schedule *schedule, const struct cfg *cfg,
                                 const struct cfg_block *block, const double *executions) {
    double own = 0, others = 0;
    uint32_t scheduled = 0;
    for (uint32_t k = 0; k < block->in_count; k++) {
        uint32_t edge = cfg->in_edges[block->first_in + k];
        *(schedule->scheduled[edge] ? &own : &others) += weight_of(executions, edge);
        scheduled += schedule->scheduled[edge];
    }
    if (!(own + others > 0))
        return (struct weights){.all = scheduled, .alike = true};
    return (struct weights){.all = own + others, .others = others / scheduled};
}

static double share_of(const struct weights *weights, const double *executions, uint32_t edge) {
    return (weights->alike ? 1 : weight_of(executions, edge) + weights->others) / weights->all;
}

ORDER(compare_stalls, struct static_stall, ascending(a->insn, b->insn) ?: ascending(a->cause, b->cause) ?:
           ascending(a->culprit, b->culprit))

/* Sorts the stalls from `first` on, and merges those that differ in cycles alone. */
static void merge_stalls(struct schedule *schedule, size_t first) {
    struct static_stall *stalls = schedule->stalls;
    size_t count = schedule->stall_count, kept = first;
    if (count > first)
        qsort(stalls + first, count - first, sizeof *stalls, compare_stalls);
    for (size_t i = first; i < count; i++)
        if (kept > first && compare_stalls(&stalls[kept - 1], &stalls[i]) == 0)
            stalls[kept - 1].cycles += stalls[i].cycles;
        else
            stalls[kept++] = stalls[i];
    schedule->stall_count = kept;
}

static void weigh_block(struct schedule *schedule, const struct cfg *cfg,
                        const struct cfg_block *block, const double *executions) {
    struct weights weights = weights_of(schedule, cfg, block, executions);
    size_t first = schedule->stall_count;
    double *cycles = schedule->cycles + block->first_insn;
    memset(cycles, 0, block->insn_count * sizeof *cycles);
    for (uint32_t k = 0; k < block->in_count; k++) {
        uint32_t edge = cfg->in_edges[block->first_in + k];
        double share = share_of(&weights, executions, edge);
        if (!schedule->scheduled[edge] || share == 0)
            continue;
        for (uint32_t i = 0; i < block->insn_count; i++)
            cycles[i] += share * schedule->by_edge[schedule->entered[edge] + i];
        for (size_t i = schedule->edge_stall_first[edge]; i < schedule->edge_stall_first[edge + 1];
             i++) {
            struct static_stall *stall = &schedule->stalls[schedule->stall_count++];
            *stall = schedule->edge_stalls[i];
            stall->cycles *= share;
        }
    }
    merge_stalls(schedule, first);
}

void schedule_weigh(struct schedule *schedule, const struct cfg *cfg, const double *executions) {
    schedule->stall_count = 0;
    for (uint32_t b = 0; b < cfg->block_count; b++)
        weigh_block(schedule, cfg, &cfg->blocks[b], executions);
}

/* ---- making it ---- */

static bool run_edges(struct schedule *schedule, struct scheduler *scheduler, const struct cfg *cfg,
                      const struct ways *ways, struct error *error) {
    struct path path = {0};
    struct stall_list stalls = {0};
    bool good = true;
    for (uint32_t e = 0; e < cfg->edge_count && good; e++) {
        schedule->edge_stall_first[e] = stalls.count;
        if (!schedule->scheduled[e])
            continue;
        good = (path_find(&path, cfg, ways, e, scheduler->context, scheduler->window) ||
                error_set(error, "out of memory for a schedule")) &&
               scheduler_run(scheduler, &path, ways, schedule->by_edge + schedule->entered[e],
                             &stalls, error);
    }
    schedule->edge_stall_first[cfg->edge_count] = stalls.count;
    schedule->edge_stalls = stalls.items;
    free(path.steps);
    if (good && !(schedule->stalls = calloc(stalls.count + 1, sizeof *schedule->stalls)))
        return error_set(error, "out of memory for a schedule");
    return good;
}

static bool find_soonest(struct schedule *schedule, const struct scheduler *scheduler,
                         const struct cfg *cfg, struct error *error) {
    const struct static_insn *insns = scheduler->code.insns + scheduler->first;
    const struct machine_core *core = &scheduler->machine.core;
    const double width = core->commit_width;
    if (core->in_order)
        return true;
    if (!(schedule->soonest = malloc(((size_t)cfg->insn_count + 1) * sizeof *schedule->soonest)))
        return error_set(error, "out of memory for a schedule");
    for (uint32_t i = 0; i < cfg->insn_count; i++)
        schedule->soonest[i] =
            places_of(core, &scheduler->code.uops[insns[i].first_uop], insns[i].uop_count) / width;
    return true;
}

bool schedule_make(struct schedule *schedule, struct scheduler *scheduler, const struct cfg *cfg,
                   const double *cycles, struct error *error) {
    struct ways ways;
    *schedule = (struct schedule){0};
    bool good =
        ways_find(&ways, cfg, cycles, error) &&
        (allocate(schedule, cfg, &ways) || error_set(error, "out of memory for a schedule")) &&
        scheduler_load(scheduler, cfg, error) &&
        run_edges(schedule, scheduler, cfg, &ways, error) &&
        find_soonest(schedule, scheduler, cfg, error);
    ways_free(&ways);
    if (!good)
        return false;
    for (uint32_t b = 0; b < cfg->block_count; b++)
        summarise(schedule, cfg, &cfg->blocks[b]);
    schedule_weigh(schedule, cfg, NULL);
    return true;
}
