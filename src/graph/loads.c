/* A fragment is evaluated again for each load and each pair, with the parts of a miss taken out of
 * its µops. A fragment that has no miss of a set of loads is not evaluated for it, so a pair costs
 * time only in fragments where both miss. */
#include "graph/loads.h"

#include <stdlib.h>
#include <string.h>

#include "graph/icost.h"
#include "graph/insn_rows.h"
#include "util/array.h"
#include "util/order.h"

/* ---- which loads ---- */

static bool misses(const struct graph_uop *uop) {
    return uop->flags & GRAPH_LOAD && (uop->walk || uop->miss || uop->fetched_by || uop->mshr_wait);
}

bool load_tally_add(struct load_tally *tally, const struct graph_machine *machine,
                    const struct graph_fragment *fragment, const struct graph_nodes *nodes,
                    struct error *error) {
    if (!insn_rows_reserve((void **)&tally->insns, &tally->count, &tally->capacity,
                           sizeof *tally->insns, fragment))
        return error_set(error, "out of memory for the misses of loads");
    for (uint32_t i = 0; i < fragment->count; i++) {
        const struct graph_uop *uop = &fragment->uops[i];
        struct load_tally_insn *row = &tally->insns[uop->insn];
        if (uop->flags & GRAPH_LOAD)
            row->executions++;
        if (!misses(uop))
            continue;
        int64_t hit = nodes[i].execute + uop->execution + graph_l1_latency(machine, uop);
        int64_t wait = nodes[i].complete > hit ? nodes[i].complete - hit : 0;
        row->wait += (uint64_t)wait + uop->mshr_wait;
        row->misses += wait || uop->mshr_wait;
    }
    return true;
}

void load_tally_free(struct load_tally *tally) {
    free(tally->insns);
    *tally = (struct load_tally){0};
}

ORDER(by_path, struct load_cost, descending(a->path, b->path) ?: ascending(a->insn, b->insn))

ORDER(by_wait, struct load_cost,
      descending(a->tally.wait, b->tally.wait) ?: ascending(a->insn, b->insn))

ORDER(by_cost, struct load_cost, descending(a->cost, b->cost) ?: by_wait(a, b))

/* Moves `most` of `count` loads, or all, to the front: half of them the first by `order`, then
 * those that waited longest. Returns how many. */
static uint32_t choose(struct load_cost *loads, size_t count, uint32_t most,
                       int (*order)(const void *, const void *)) {
    if (count <= most)
        return (uint32_t)count;
    uint32_t half = (most + 1) / 2;
    qsort(loads, count, sizeof *loads, order);
    qsort(loads + half, count - half, sizeof *loads, by_wait);
    return most;
}

static bool choose_loads(const struct load_tally *tally, const struct critical *critical,
                         uint32_t most, struct load_costs *costs) {
    size_t count = sum_over(size_t, i, tally->count, tally->insns[i].misses != 0);
    struct load_cost *loads = malloc((count + 1) * sizeof *loads);
    if (!loads)
        return false;
    count = 0;
    for (uint32_t i = 0; i < tally->count; i++) {
        const struct critical_insn *row = critical_find(critical, i);
        if (tally->insns[i].misses)
            loads[count++] = (struct load_cost){
                .insn = i, .tally = tally->insns[i], .path = row ? critical_misses(row) : 0};
    }
    costs->count = choose(loads, count, most, by_path);
    memcpy(costs->loads, loads, costs->count * sizeof *loads);
    free(loads);
    return true;
}

/* ---- what they cost ---- */

struct measure {
    struct load_costs *costs;
    const struct graph_fragments *fragments;
    struct graph_evaluation *evaluation,
        *dmiss;                        /* with nothing idealised; with all data misses idealised */
    uint8_t *number_of;                /* by static instruction: of a load + 1; 0: another */
    int64_t (*single)[LOADS_MOST + 1]; /* [fragment]: its length without each load's misses; the
                                          last: as it is */
    uint64_t *present;                 /* [fragment]: loads that miss in it */
};

/* Length of a fragment with a set of loads idealised. */
static int64_t length(const struct measure *measure, struct graph_evaluation *evaluation,
                      const struct graph_fragment *fragment, uint64_t set) {
    int64_t commit = 0;
    graph_evaluation_begin(evaluation);
    for (uint32_t i = 0; i < fragment->count; i++) {
        const struct graph_uop *uop = &fragment->uops[i];
        struct graph_uop hit;
        uint8_t number = measure->number_of[uop->insn];
        if (number && set >> (number - 1) & 1 && uop->flags & GRAPH_LOAD) {
            hit = *uop;
            hit.walk = hit.miss = hit.mshr_wait = hit.fetched_by = hit.fill = 0;
            uop = &hit;
        }
        commit = graph_evaluate(evaluation, uop)->commit;
    }
    return commit;
}

static void measure_singles(const struct measure *measure) {
    struct load_costs *costs = measure->costs;
    for (uint32_t f = 0; f < graph_fragments_count(measure->fragments); f++) {
        struct graph_fragment fragment = graph_fragments_get(measure->fragments, f);
        uint64_t present = 0;
        for (uint32_t i = 0; i < fragment.count; i++) {
            uint8_t number = measure->number_of[fragment.uops[i].insn];
            if (number && misses(&fragment.uops[i]))
                present |= UINT64_C(1) << (number - 1);
        }
        int64_t whole = length(measure, measure->evaluation, &fragment, 0);
        for (uint32_t i = 0; i < costs->count; i++) {
            uint64_t set = UINT64_C(1) << i & present;
            measure->single[f][i] =
                set ? length(measure, measure->evaluation, &fragment, set) : whole;
            costs->loads[i].cost += whole - measure->single[f][i];
        }
        measure->single[f][LOADS_MOST] = whole;
        measure->present[f] = present;
        costs->cycles += whole;
        costs->dmiss += whole - length(measure, measure->dmiss, &fragment, 0);
        costs->together +=
            whole - (present ? length(measure, measure->evaluation, &fragment, present) : whole);
    }
}

/* The icost of one pair in one fragment, in whole cycles. */
static int64_t pair_icost(const struct measure *measure, uint32_t f, const struct load_cost *first,
                          const struct load_cost *second) {
    uint32_t a = measure->number_of[first->insn] - 1u, b = measure->number_of[second->insn] - 1u;
    uint64_t set = UINT64_C(1) << a | UINT64_C(1) << b;
    if ((measure->present[f] & set) != set)
        return 0;
    struct graph_fragment fragment = graph_fragments_get(measure->fragments, f);
    const int64_t *single = measure->single[f];
    const int64_t both = length(measure, measure->evaluation, &fragment, set);
    const double times[] = {(double)single[LOADS_MOST], (double)single[a], (double)single[b],
                            (double)both};
    return (int64_t)icost(times, ICOST_PAIR);
}

static void measure_pairs(const struct measure *measure) {
    struct load_costs *costs = measure->costs;
    for (uint32_t f = 0; f < graph_fragments_count(measure->fragments); f++)
        for (uint32_t a = 0; a < costs->paired; a++)
            for (uint32_t b = a + 1; b < costs->paired; b++) {
                int64_t cycles = pair_icost(measure, f, &costs->loads[costs->pairs[a]],
                                            &costs->loads[costs->pairs[b]]);
                costs->icost[a][b] += cycles;
                costs->icost[b][a] += cycles;
            }
}

static bool contains(const struct load_cost *loads, uint32_t count, uint32_t insn) {
    return any_where(i, count, loads[i].insn == insn);
}

static void choose_pairs(struct load_costs *costs) {
    struct load_cost loads[LOADS_MOST];
    memcpy(loads, costs->loads, sizeof loads);
    uint32_t paired = choose(loads, costs->count, LOADS_PAIRED, by_cost);
    for (uint32_t i = 0; i < costs->count; i++)
        if (contains(loads, paired, costs->loads[i].insn))
            costs->pairs[costs->paired++] = i;
}

static void measure_all(const struct measure *measure) {
    struct load_costs *costs = measure->costs;
    for (uint32_t i = 0; i < costs->count; i++)
        measure->number_of[costs->loads[i].insn] = (uint8_t)(i + 1);
    measure_singles(measure);
    qsort(costs->loads, costs->count, sizeof *costs->loads, by_cost);
    choose_pairs(costs);
    measure_pairs(measure);
}

bool load_costs_measure(const struct graph_machine *machine,
                        const struct graph_fragments *fragments, const struct load_tally *tally,
                        const struct critical *critical, uint32_t most, struct load_costs *costs,
                        struct error *error) {
    uint32_t count = graph_fragments_count(fragments);
    *costs = (struct load_costs){0};
    struct measure measure = {.costs = costs,
                              .fragments = fragments,
                              .evaluation = graph_evaluation_new(machine, 0),
                              .dmiss = graph_evaluation_new(machine, IDEAL_DMISS),
                              .number_of = calloc(tally->count + 1, 1),
                              .single = calloc(count + 1, sizeof *measure.single),
                              .present = calloc(count + 1, sizeof *measure.present)};
    bool good = measure.evaluation && measure.dmiss && measure.number_of && measure.single &&
                measure.present && choose_loads(tally, critical, most, costs);
    if (good)
        measure_all(&measure);
    graph_evaluation_free(measure.evaluation);
    graph_evaluation_free(measure.dmiss);
    free(measure.number_of);
    free(measure.single);
    free(measure.present);
    return good || error_set(error, "out of memory for the costs of loads");
}
