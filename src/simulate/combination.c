#include "simulate/combination.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "simulate/data_sum.h"
#include "simulate/path_sum.h"
#include "simulate/shares.h"
#include "util/array.h"
#include "util/order.h"

typedef unsigned __int128 wide;

/* ---- scaling ---- */

/* count × to / from, to the nearest. */
static bool scale(uint64_t count, uint64_t from, uint64_t to, uint64_t *scaled) {
    wide result = ((wide)count * to + from / 2) / from;
    *scaled = (uint64_t)result;
    return result <= UINT64_MAX / CYCLE_UNITS;
}

static bool scale_counters(struct core_statistics *counted, uint64_t from, uint64_t to) {
    uint64_t *counter = (uint64_t *)counted;
    bool fits = true;
    for (size_t i = 0; i < sizeof *counted / sizeof *counter; i++)
        fits &= scale(counter[i], from, to, &counter[i]);
    return fits;
}

/* Cells that are left with nothing go. */
static void scale_cells(struct pics_cell *cells, uint64_t *count, struct shares shares) {
    uint64_t kept = 0;
    for (uint64_t i = 0; i < *count; i++) {
        struct pics_cell cell = cells[i];
        cell.units = share(&shares, cell.units);
        if (cell.units)
            cells[kept++] = cell;
    }
    *count = kept;
}

/* Slots are so many in every cycle. */
static void scale_slots(struct simulation *simulation, uint64_t cycles) {
    const uint64_t slots =
        sum_over(uint64_t, i, simulation->slot_count, simulation->slots[i].units);
    if (slots)
        scale_cells(simulation->slots, &simulation->slot_count,
                    (struct shares){.whole = slots, .target = slots / simulation->cycles * cycles});
}

static void scale_threads(struct simulation *simulation, struct shares instructions,
                          struct shares cycles) {
    for (uint32_t i = 0; i < simulation->thread_count; i++) {
        struct simulation_thread *thread = &simulation->threads[i];
        thread->instructions = share(&instructions, thread->instructions);
        thread->cycles = share(&cycles, thread->cycles);
    }
}

bool simulation_scale(struct simulation *simulation, uint64_t instructions, struct error *error) {
    uint64_t from = simulation->instructions, cycles;
    if (!from || !simulation->cycles)
        return error_set(error, "no instruction was simulated");
    if (!scale(simulation->cycles, from, instructions, &cycles) ||
        !scale(simulation->uops, from, instructions, &simulation->uops) ||
        !scale_counters(&simulation->counted, from, instructions))
        return error_set(error, "%" PRIu64 " instructions are too many to stand for", instructions);
    struct shares of_instructions = {.whole = from, .target = instructions};
    struct shares of_cycles = {.whole = simulation->cycles, .target = cycles};
    struct shares of_states = of_cycles, of_splits = of_instructions;
    for (int state = 0; state < STATE_COUNT; state++)
        simulation->states[state] = share(&of_states, simulation->states[state]);
    scale_cells(
        simulation->cells, &simulation->cell_count,
        (struct shares){.whole = simulation->cycles * CYCLE_UNITS, .target = cycles * CYCLE_UNITS});
    scale_slots(simulation, cycles);
    const struct path_scale paths = {simulation->cycles * CYCLE_UNITS, cycles * CYCLE_UNITS, from,
                                     instructions};
    if (simulation->paths.count)
        path_result_scale(&simulation->paths, &paths);
    if (simulation->data.object_count)
        data_result_match(&simulation->data, simulation->cells, simulation->cell_count);
    scale_threads(simulation, of_instructions, of_cycles);
    for (uint32_t i = 0; i < simulation->execution_count; i++)
        simulation->executions[i] = share(&of_instructions, simulation->executions[i]);
    for (uint32_t i = 0; simulation->splits && i < simulation->execution_count; i++)
        simulation->splits[i] = share(&of_splits, simulation->splits[i]);
    if (simulation->breakdown.cycles)
        breakdown_scale(&simulation->breakdown, instructions, (double)instructions / (double)from);
    simulation->instructions = instructions;
    simulation->cycles = cycles;
    simulation->counted.instructions = instructions;
    simulation->counted.cycles = cycles;
    return true;
}

/* ---- summing ---- */

struct combination {
    struct simulation sum; /* but for cells, paths, and executions and threads by number */
    struct pics *cells, *slots;
    struct path_sum *paths; /* NULL: none were added */
    struct data_sum *data;  /* likewise */
    size_t execution_capacity, split_capacity, thread_capacity;
};

struct combination *combination_new(void) {
    struct combination *combination = calloc(1, sizeof *combination);
    if (combination && (!(combination->cells = pics_new()) || !(combination->slots = pics_new()))) {
        combination_free(combination);
        return NULL;
    }
    return combination;
}

void combination_free(struct combination *combination) {
    if (!combination)
        return;
    simulation_free(&combination->sum);
    pics_free(combination->cells);
    pics_free(combination->slots);
    path_sum_free(combination->paths);
    data_sum_free(combination->data);
    free(combination);
}

static bool no_memory(struct error *error) {
    return error_set(error, "out of memory for the profile");
}

static bool add_executions(struct combination *combination, const struct simulation *part,
                           const uint32_t *numbers) {
    struct simulation *sum = &combination->sum;
    uint32_t need = sum->execution_count;
    for (uint32_t i = 0; i < part->execution_count; i++)
        if (part->executions[i] && numbers[i] >= need)
            need = numbers[i] + 1;
    if (!array_zeroed_room(sum->executions, combination->execution_capacity, need))
        return false;
    if (part->splits && !array_zeroed_room(sum->splits, combination->split_capacity, need))
        return false;
    sum->execution_count = need;
    for (uint32_t i = 0; part->splits && i < part->execution_count; i++)
        if (part->executions[i])
            sum->splits[numbers[i]] += part->splits[i];
    for (uint32_t i = 0; i < part->execution_count; i++)
        if (part->executions[i])
            sum->executions[numbers[i]] += part->executions[i];
    return true;
}

static bool add_thread(struct combination *combination, const struct simulation *part,
                       uint32_t process, uint32_t thread) {
    struct simulation *sum = &combination->sum;
    if (!array_zeroed_room(sum->threads, combination->thread_capacity, (size_t)thread + 1))
        return false;
    sum->thread_count = thread < sum->thread_count ? sum->thread_count : thread + 1;
    sum->threads[thread].process = process;
    for (uint32_t i = 0; i < part->thread_count; i++)
        sum->threads[thread].goes_on |= part->threads[i].goes_on;
    sum->threads[thread].instructions += part->instructions;
    sum->threads[thread].cycles += part->cycles;
    return true;
}

static void add_totals(struct simulation *sum, const struct simulation *part) {
    sum->simulated += part->simulated;
    sum->warmed += part->warmed;
    sum->instructions += part->instructions;
    sum->uops += part->uops;
    sum->cycles += part->cycles;
    for (int state = 0; state < STATE_COUNT; state++)
        sum->states[state] += part->states[state];
    uint64_t *total = (uint64_t *)&sum->counted;
    const uint64_t *counter = (const uint64_t *)&part->counted;
    for (size_t i = 0; i < sizeof sum->counted / sizeof *total; i++)
        total[i] += counter[i];
}

static bool add_cells(struct pics *sum, const struct pics_cell *cells, uint64_t count,
                      const uint32_t *numbers) {
    return all_where(i, count, pics_add(sum, numbers[cells[i].insn], cells[i].psv, cells[i].units));
}

static bool add_breakdown(struct breakdown *sum, const struct breakdown *part,
                          struct error *error) {
    if (!part->cycles)
        return true;
    if (sum->cycles) {
        breakdown_add(sum, part);
        return true;
    }
    return breakdown_copy(sum, part, error);
}

static bool add_call_paths(struct combination *combination, struct simulation *part,
                           const struct code *code) {
    struct data_result *data = part->data.object_count ? &part->data : NULL;
    if ((part->paths.count || data) &&
        (!(combination->paths || (combination->paths = path_sum_new())) ||
         !path_sum_add(combination->paths, &part->paths, code, data)))
        return false;
    return !data || ((combination->data || (combination->data = data_sum_new())) &&
                     data_sum_add(combination->data, data));
}

bool combination_add(struct combination *combination, struct simulation *part,
                     const uint32_t *numbers, const struct code *code, uint32_t process,
                     uint32_t thread, uint64_t instructions, struct error *error) {
    struct simulation *sum = &combination->sum;
    if (!simulation_scale(part, instructions, error))
        return false;
    if (part->cycles > UINT64_MAX / CYCLE_UNITS - sum->cycles ||
        instructions > UINT64_MAX - sum->instructions)
        return error_set(error, "the regions together stand for too many cycles");
    bool room = add_executions(combination, part, numbers) &&
                add_thread(combination, part, process, thread) &&
                add_call_paths(combination, part, code) &&
                add_cells(combination->cells, part->cells, part->cell_count, numbers) &&
                add_cells(combination->slots, part->slots, part->slot_count, numbers);
    if (!room)
        return no_memory(error);
    add_totals(sum, part);
    return add_breakdown(&sum->breakdown, &part->breakdown, error);
}

ORDER(by_insn, struct pics_cell, ascending(a->insn, b->insn) ?: ascending(a->psv, b->psv))

/* In the order of the new numbers. */
static void renumber_cells(struct pics_cell *cells, uint64_t count, const uint32_t *order) {
    for (uint64_t i = 0; i < count; i++)
        cells[i].insn = order[cells[i].insn];
    if (count)
        qsort(cells, count, sizeof *cells, by_insn);
}

/* One of the counts by instruction; those that were not executed have none. */
static bool renumber_counts(uint64_t **counts, const struct simulation *result, uint32_t count,
                            const uint32_t *order) {
    uint64_t *renumbered = calloc(count ? count : 1, sizeof *renumbered);
    if (!renumbered)
        return false;
    for (uint32_t i = 0; i < result->execution_count; i++)
        if ((*counts)[i])
            renumbered[order[i]] = (*counts)[i];
    free(*counts);
    *counts = renumbered;
    return true;
}

static bool renumber(struct simulation *result, const uint32_t *order) {
    renumber_cells(result->cells, result->cell_count, order);
    renumber_cells(result->slots, result->slot_count, order);
    uint32_t count = 0;
    for (uint32_t i = 0; i < result->execution_count; i++)
        if (result->executions[i] && order[i] >= count)
            count = order[i] + 1;
    const bool good = renumber_counts(&result->executions, result, count, order) &&
                      (!result->splits || renumber_counts(&result->splits, result, count, order));
    result->execution_count = count;
    return good;
}

bool combination_finish(struct combination *combination, uint64_t instructions,
                        const struct code_union *code, const uint32_t *order,
                        struct simulation *result, struct error *error) {
    *result = combination->sum;
    memset(&combination->sum, 0, sizeof combination->sum);
    result->executed = instructions;
    if (!(result->cells = pics_cells(combination->cells, &result->cell_count)) ||
        !(result->slots = pics_cells(combination->slots, &result->slot_count)) ||
        !renumber(result, order) ||
        (combination->paths && !path_sum_finish(combination->paths, order, &result->paths)) ||
        (combination->data && !data_sum_finish(combination->data, code, &result->data)))
        return no_memory(error);
    return simulation_scale(result, instructions, error);
}
