/* A check takes sets in the order of what the report says of them, as long as there is room; those
 * that no longer fit are passed over, since a smaller one may. */
#include "study/icost_sets.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "simulate/category_machine.h"
#include "util/array.h"

/* ---- which sets ---- */

struct check {
    const struct breakdown *graph;
    uint32_t *sets, count, most;
};

static bool has(const struct check *check, uint32_t set) {
    return any_where(i, check->count, check->sets[i] == set);
}

/* A set with all its subsets, if there is room. */
static void take(struct check *check, uint32_t set) {
    uint32_t missing = 0;
    for (uint32_t part = set; part; part = (part - 1) & set)
        missing += !has(check, part);
    for (uint32_t part = set; part && check->count + missing <= check->most;
         part = (part - 1) & set)
        if (!has(check, part)) {
            check->sets[check->count++] = part;
            missing--;
        }
}

/* The set of so many members that costs most. */
static uint32_t costliest(const struct breakdown *graph, int members) {
    uint32_t best = 0;
    for (uint32_t set = 1; set < breakdown_sets(graph); set++)
        if (__builtin_popcount(set) == members &&
            (!best || graph->cycles[set] < graph->cycles[best]))
            best = set;
    return best;
}

/* Sets of `least` to `most` members from a part of the time on; with `of` those that have it. */
static void take_ranked(struct check *check, uint32_t least, uint32_t most, double threshold,
                        uint32_t of) {
    uint32_t sets = breakdown_sets(check->graph);
    double *icosts = calloc(sets, sizeof *icosts);
    uint32_t *ranked = calloc(sets, sizeof *ranked), count = 0;
    if (icosts && ranked) {
        breakdown_icosts(check->graph, icosts);
        count = breakdown_rank(check->graph, icosts, least, most, ranked);
    }
    for (uint32_t i = 0; i < count; i++)
        if (fabs(icosts[ranked[i]]) >= threshold * check->graph->cycles[0] &&
            (ranked[i] & of) == of)
            take(check, ranked[i]);
    free(icosts);
    free(ranked);
}

static uint32_t sets_to_check(const struct icost_wanted *wanted, const struct breakdown *graph,
                              uint32_t *sets) {
    uint64_t room = ICOST_CHECKED / (graph->instructions ? graph->instructions : 1);
    struct check check = {
        .graph = graph,
        .sets = sets,
        .count = 1,
        .most = 1 + (uint32_t)(room < ICOST_CHECKED_SETS ? room : ICOST_CHECKED_SETS)};
    sets[0] = 0;
    take(&check, costliest(graph, 1));
    if (graph->count > 1)
        take(&check, costliest(graph, 2));
    take_ranked(&check, 1, 1, 0, 0);
    take_ranked(&check, 2, 2, wanted->threshold, 0);
    take_ranked(&check, 2, 2, 0, 1u << wanted->focus);
    take_ranked(&check, 3, wanted->largest, wanted->threshold, 0);
    return check.count;
}

uint32_t icost_wanted_sets(const struct icost_wanted *wanted, const struct breakdown *graph,
                           uint32_t *sets) {
    uint32_t count = 0;
    if (wanted->sets == ICOST_CHECK)
        return sets_to_check(wanted, graph, sets);
    for (uint32_t set = 0; set < breakdown_sets(graph); set++) {
        int members = __builtin_popcount(set);
        if (wanted->sets == ICOST_ALL || members < 2 ||
            (members == 2 && (wanted->sets == ICOST_PAIRS || set & 1u << wanted->focus)))
            sets[count++] = set;
    }
    return count;
}

/* ---- simulating them ---- */

/* Of the runs that are done; none when the first is not. */
static bool take_runs(const struct breakdown *graph, const uint32_t *sets,
                      const struct multisim_run *runs, uint32_t count, struct breakdown *breakdown,
                      struct error *error) {
    const char *names[BREAKDOWN_CATEGORIES];
    if (!runs[0].done)
        return true;
    for (uint32_t i = 0; i < graph->count; i++)
        names[i] = graph->names[i];
    if (!breakdown_init(breakdown, graph->count, names, error))
        return false;
    breakdown->instructions = runs[0].instructions;
    for (uint32_t i = 0; i < count; i++)
        if (runs[i].done)
            breakdown->cycles[sets[i]] = (double)runs[i].cycles;
    return true;
}

bool icost_simulate_sets(const struct icost_again *again, const struct breakdown *graph,
                         const uint32_t *sets, uint32_t count, struct breakdown *breakdown,
                         uint32_t *done, struct error *error) {
    struct multisim_run *runs = calloc(count, sizeof *runs);
    struct machine *machines = calloc(count, sizeof *machines);
    if (!runs || !machines) {
        free(runs);
        free(machines);
        return error_set(error, "out of memory for %" PRIu32 " simulations", count);
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t ideal = sets[i];
        machines[i] = *again->machine;
        if (again->own)
            category_machine_apply(again->own, sets[i], &machines[i], &ideal);
        runs[i] = (struct multisim_run){.machine = &machines[i], .ideal = again->ideal | ideal};
    }
    if (again->cycles) {
        runs[0].done = true;
        runs[0].cycles = again->cycles;
        runs[0].instructions = again->instructions;
    }
    const struct multisim_options options = {.trace = again->path,
                                             .selection = *again->selection,
                                             .jobs = again->jobs,
                                             .watcher = watcher_of(again->watch)};
    watch_begin(again->watch, "simulating sets", "instructions",
                again->instructions * (count - runs[0].done));
    bool good = multisim(&options, runs, count, error);
    watch_end(again->watch);
    for (uint32_t i = again->cycles ? 1 : 0; i < count; i++)
        *done += runs[i].done;
    good = good && take_runs(graph, sets, runs, count, breakdown, error);
    free(machines);
    free(runs);
    return good;
}
