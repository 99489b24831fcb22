#include "study/struct_run.h"

#include <stdlib.h>

#include "query/function_walk.h"
#include "simulate/element_layout.h"
#include "tap/tap.h"

/* Where a share is asked for, functions with less than a tenth of it are not read. */
static bool find_rows(struct struct_run *run, struct error *error) {
    const bool good = run->least ? field_rows_build_own(run->simulation, run->code, run->program,
                                                        run->least / 10, &run->rows, error)
                                 : field_rows_build(run->simulation, run->code, run->program, 0,
                                                    &run->rows, error);
    return good && struct_map_build(&run->rows, run->code->insn_count, run->type, &run->map, error);
}

static bool simulate(struct struct_run *run, const struct element_layout *layout, const char *label,
                     uint64_t *cycles, struct error *error) {
    struct simulation_options options = *run->options;
    struct simulation simulation;
    struct trace *trace = trace_open(run->file, error);
    if (!trace)
        return false;
    options.layout = layout;
    options.observer_count = options.instruction_observer_count = 0;
    options.series = false;
    options.profile_count = 0;
    options.details.extents = NULL;
    watch_trace(run->watch, trace);
    watch_begin(run->watch, label, "instructions", run->simulation->executed);
    const bool good = simulation_run(trace, &options, &simulation, error);
    watch_end(run->watch);
    watch_trace(run->watch, NULL);
    *cycles = simulation.cycles;
    run->simulated += simulation.executed;
    run->interrupted |= simulation.interrupted;
    simulation_free(&simulation);
    trace_close(trace);
    return good;
}

static bool try_remedy(struct struct_run *run, bool split, uint64_t least, struct error *error) {
    const struct struct_map *map = &run->map;
    struct element_leaf *leaves = calloc((size_t)map->count + 1, sizeof *leaves);
    bool *is_hot = calloc((size_t)map->count + 1, sizeof *is_hot);
    struct struct_remedy remedy = {.split = split, .least = least};
    bool good = leaves && is_hot;
    for (uint32_t i = 0; good && i < map->count; i++) {
        leaves[i] =
            (struct element_leaf){.offset = map->fields[i].offset, .size = map->fields[i].size};
        is_hot[i] = map->fields[i].is_hot;
    }
    if (good)
        remedy.hot_size =
            element_leaves_place(leaves, is_hot, map->count, split, &remedy.cold_size);
    struct element_layout layout = {.bases = run->elements.bases,
                                    .count = run->elements.count,
                                    .size = map->size,
                                    .process = run->elements.process,
                                    .leaves = leaves,
                                    .leaf_count = map->count};
    good = (good && element_layout_place(&layout, split, remedy.hot_size, remedy.cold_size)) ||
           error_set(error, "out of memory for a struct laid out anew");
    good = good && simulate(run, &layout, split ? "with the struct split" : "with it reordered",
                            &remedy.cycles, error);
    if (good && !run->interrupted)
        run->remedies[run->remedy_count++] = remedy;
    element_layout_free(&layout);
    free(leaves);
    free(is_hot);
    return good;
}

/* Whether the last remedy saves more than the one before of its kind, which it then replaces. */
static void keep_better(struct struct_run *run) {
    struct struct_remedy *last = &run->remedies[--run->remedy_count];
    for (uint32_t i = 0; i < run->remedy_count; i++)
        if (run->remedies[i].split == last->split) {
            if (last->cycles < run->remedies[i].cycles)
                run->remedies[i] = *last;
            return;
        }
    run->remedy_count++;
}

static bool has_room(const struct struct_run *run) {
    return !run->most || run->simulated + run->simulation->executed <= run->most;
}

/* Every way to divide the fields, the widest gap first, both remedies, first the one that makes
 * elements denser; the best of each is kept. */
static bool try_remedies(struct struct_run *run, struct error *error) {
    uint64_t cuts[MAP_CUTS];
    const uint32_t count = struct_map_cuts(&run->map, cuts);
    for (uint32_t i = 0; i < count; i++) {
        struct_map_choose(&run->map, cuts[i]);
        for (int split = 1; split >= 0 && !run->interrupted && has_room(run); split--) {
            const uint32_t before = run->remedy_count;
            if (!try_remedy(run, split, cuts[i], error))
                return false;
            if (run->remedy_count > before)
                keep_better(run);
        }
    }
    const struct struct_remedy *best = struct_run_best(run);
    struct_map_choose(&run->map, best ? best->least : count ? cuts[0] : 0);
    return true;
}

const struct struct_remedy *struct_run_best(const struct struct_run *run) {
    const struct struct_remedy *best = NULL;
    for (uint32_t i = 0; i < run->remedy_count; i++)
        if (!best || run->remedies[i].cycles < best->cycles)
            best = &run->remedies[i];
    return best;
}

static bool is_enough(const struct struct_run *run, uint64_t units) {
    return (double)units >= run->least * (double)run->simulation->cycles * CYCLE_UNITS;
}

/* Of all loads in code that is no part of the system: where they are too few, those of a struct
 * are, and no debug information is read. */
static bool has_misses(const struct struct_run *run) {
    const struct simulation *simulation = run->simulation;
    uint64_t missed = 0;
    for (uint64_t i = 0; i < simulation->cell_count; i++) {
        const struct pics_cell *cell = &simulation->cells[i];
        if (cell->psv & PSV_DATA_MISS && cell->insn < run->code->insn_count &&
            !code_image_is_system(run->code, run->code->insns[cell->insn].image))
            missed += cell->units;
    }
    return is_enough(run, missed);
}

bool struct_run_go(struct struct_run *run, struct error *error) {
    run->has_threads = run->options->together;
    if (run->least && !has_misses(run))
        return true;
    if (!find_rows(run, error))
        return false;
    if (!run->map.type || !is_enough(run, run->map.miss_units))
        return true;
    if (!struct_elements_find(run->watch, run->file, &run->map, run->simulation->executed,
                              &run->elements, error))
        return false;
    if (!run->least && run->elements.count && !run->watch->signal &&
        !struct_elements_count_untyped(run->watch, run->file, &run->map, run->simulation->executed,
                                       &run->elements, error))
        return false;
    run->interrupted = run->watch->signal;
    return run->interrupted || run->has_threads || !run->elements.count || try_remedies(run, error);
}

void struct_run_free(struct struct_run *run) {
    struct_map_free(&run->map);
    struct_elements_free(&run->elements);
    field_rows_free(&run->rows);
}
