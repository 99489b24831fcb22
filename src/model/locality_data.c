#include "model/locality_data.h"

#include <stdlib.h>

#include "core/multithreaded/penalties.h"
#include "memory/frame.h"
#include "model/series.h"
#include "util/array.h"

/* ---- private levels ---- */

/* The level that a machine's threads have for themselves beside the L1D: an L2 before a last level
 * that is shared. */
static const struct machine_cache *inner_cache(const struct machine *machine) {
    return machine->l2.present && machine->llc.present ? &machine->l2 : NULL;
}

static bool new_private(struct locality_data *data, const struct machine *machine, bool core,
                        struct error *error) {
    const struct machine_cache *inner = inner_cache(machine);
    const struct cache_shape l1d = {
        (uint32_t)(machine->l1d.size / machine->l1d.line / machine->l1d.ways), machine->l1d.ways,
        machine->l1d.line};
    if (inner) {
        struct machine_cache plain = *inner;
        plain.replacement = REPLACE_LRU;
        machine_without_prefetchers(&plain);
        if (!cache_new(&data->inner, &plain, "l2", LEVEL_L2, error))
            return false;
    }
    if (core && !circular_new_tlb(&data->dtlb_circular, &machine->dtlb, machine->page_size))
        return error_set(error, "out of memory for the DTLB");
    return tlb_new(&data->dtlb, &machine->dtlb, machine->page_size, "dtlb", error) &&
           (circular_new(&data->l1d, l1d, true) || error_set(error, "out of memory for the L1D"));
}

/* The L1D when it is not the thread's alone. */
static bool crowded_new(struct locality_data *data, const struct locality_options *options,
                        struct error *error) {
    data->crowded = calloc(options->foreign_count + 1, sizeof *data->crowded);
    if (!data->crowded)
        return error_set(error, "out of memory for a profile");
    for (uint32_t i = 0; i < options->foreign_count; i++) {
        data->crowded_count++;
        if (!crowded_l1_new(&data->crowded[i], data->l1d.shape, options->foreign[i], options,
                            error))
            return false;
    }
    return true;
}

static void follow_pace(struct locality_data *data) {
    circular_follow(&data->l1d, &data->pace);
    circular_follow(&data->dtlb_circular, &data->pace);
    shared_caches_follow(&data->shared, &data->pace);
    for (uint32_t k = 0; k < data->crowded_count; k++)
        shared_caches_follow(&data->crowded[k].shared, &data->pace);
}

bool locality_data_new(struct locality_data *data, const struct locality_options *options,
                       struct error *error) {
    const struct machine *machine = options->machine;
    *data = (struct locality_data){.page_shift = (uint32_t)__builtin_ctz(machine->page_size),
                                   .frames = options->frames,
                                   .page = UINT64_MAX,
                                   .machine = machine};
    if (!new_private(data, machine, options->core, error) ||
        !shared_caches_new(&data->shared, options->shared, options->shared_count, error) ||
        !crowded_new(data, options, error))
        return false;
    follow_pace(data);
    return true;
}

void locality_data_free(struct locality_data *data) {
    for (uint32_t i = 0; data->crowded && i < data->crowded_count; i++)
        crowded_l1_free(&data->crowded[i]);
    free(data->crowded);
    shared_caches_free(&data->shared);
    circular_free(&data->l1d);
    circular_free(&data->dtlb_circular);
    if (data->inner.tags)
        cache_free(&data->inner);
    tlb_free(&data->dtlb);
    pace_free(&data->pace);
}

/* ---- accesses ---- */

static bool miss(struct locality_data *data, uint64_t physical, uint64_t time) {
    data->l1d_misses++;
    if (data->inner.tags) {
        const size_t index = cache_find(&data->inner, physical);
        uint64_t victim;
        if (index != CACHE_NONE) {
            cache_touch(&data->inner, index);
            return true;
        }
        cache_insert(&data->inner, physical, 0, UINT64_MAX, 0, &victim);
    }
    return shared_caches_add(&data->shared, physical, time);
}

static inline uint64_t translate(struct locality_data *data, uint64_t address, uint64_t time) {
    const uint32_t shift = data->page_shift;
    if (address >> shift != data->page) {
        data->page = address >> shift;
        data->frame =
            data->frames ? frame_address(0, address, shift) - address : 0; /* modulo 2^64 */
        if (data->dtlb_circular.stacks)
            data->dtlb_misses +=
                circular_add(&data->dtlb_circular, address, time) > data->dtlb_circular.shape.ways;
        else if (!tlb_quick_hit(&data->dtlb, address, UINT64_MAX) &&
                 tlb_use(&data->dtlb, address) == TLB_NONE) {
            data->dtlb_misses++;
            tlb_insert(&data->dtlb, address, 0, 0);
        }
    }
    return address + data->frame;
}

static bool use_line(struct locality_data *data, uint64_t address, uint64_t time) {
    const uint64_t physical = translate(data, address, time);
    const uint32_t depth = circular_add(&data->l1d, physical, time);
    if (depth == 0 || (depth > data->l1d.shape.ways && !miss(data, physical, time)))
        return false;
    return all_where(k, data->crowded_count, crowded_l1_add(&data->crowded[k], physical, time));
}

/* ---- its pace ---- */

/* Cycles until now. */
static double clock_of(const struct locality_data *data, double elsewhere) {
    const struct locality_events events = {
        .turns = data->turns, .l1d_misses = data->l1d_misses, .dtlb_misses = data->dtlb_misses};
    uint64_t reach, misses;
    shared_caches_count(&data->shared, &reach, &misses);
    return elsewhere + series_cycles(data->machine, &events, (double)reach, (double)misses);
}

/* What there was since the current interval began. */
static bool pass_interval(struct locality_data *data, double elsewhere, double *clock) {
    const uint64_t begun = pace_begun(&data->pace);
    if (!shared_caches_take(&data->shared))
        return false;
    *clock = clock_of(data, elsewhere);
    const double cycles = (*clock - pace_clock(&data->pace, begun)) / (double)(data->time - begun);
    circular_pass(&data->l1d, cycles);
    if (data->dtlb_circular.stacks)
        circular_pass(&data->dtlb_circular, cycles);
    shared_caches_pass(&data->shared, cycles);
    for (uint32_t k = 0; k < data->crowded_count; k++)
        shared_caches_pass(&data->crowded[k].shared, cycles);
    return true;
}

static bool end_interval(struct locality_data *data, double elsewhere) {
    double clock;
    return pass_interval(data, elsewhere, &clock) && pace_end_interval(&data->pace, clock);
}

/* The last interval is over when all is taken. */
static bool end_pace(struct locality_data *data) {
    for (uint32_t k = 0; k < data->crowded_count; k++)
        if (!shared_caches_take(&data->crowded[k].shared))
            return false;
    double clock = pace_clock(&data->pace, pace_begun(&data->pace));
    if (data->time > pace_begun(&data->pace) && !pass_interval(data, data->elsewhere, &clock))
        return false;
    data->pace.mean = clock / (double)data->time;
    return true;
}

bool locality_data_add(struct locality_data *data, const struct memory_access *accesses,
                       uint32_t count, double elsewhere) {
    const uint32_t shift = data->l1d.line_shift;
    const double each = count ? (elsewhere - data->elsewhere) / count : 0;
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t lines = chip_lines(&accesses[i], shift);
        const uint64_t first = accesses[i].address >> shift;
        data->turns += lines;
        for (uint64_t line = 0; line < lines; line++) {
            if (!use_line(data, (first + line) << shift, data->time++))
                return false;
            if (data->time % (1u << PACE_SHIFT) == 0 &&
                !end_interval(data, data->elsewhere + each * (i + 1)))
                return false;
        }
    }
    data->elsewhere = elsewhere;
    return true;
}

/* ---- the result ---- */

/* shared[i].crowded[k] := what the L1D at the k-th rate lets through, to the i-th shape. */
static bool fill_crowded(struct locality_data *data, struct locality_level *shared) {
    const uint32_t shapes = data->shared.shape_count, rates = data->crowded_count;
    struct locality_level *levels = calloc(shapes, sizeof *levels);
    bool good = levels;
    for (uint32_t i = 0; good && i < shapes; i++) {
        good = (shared[i].crowded = calloc(rates + 1, sizeof *shared[i].crowded)) != NULL;
        shared[i].crowded_count = good ? rates : 0;
    }
    for (uint32_t k = 0; good && k < rates; k++) {
        good = shared_caches_levels(&data->crowded[k].shared, data->time, levels);
        for (uint32_t i = 0; i < shapes; i++) {
            shared[i].crowded[k] = levels[i];
            shared[i].crowded[k].foreign = data->crowded[k].foreign;
            levels[i] = (struct locality_level){0};
        }
    }
    free(levels);
    return good;
}

bool locality_data_levels(struct locality_data *data, struct locality_level *levels) {
    return end_pace(data) && circular_end(&data->l1d, data->time) &&
           circular_level(&data->l1d, data->l1d.shape.ways, &levels[0]) &&
           shared_caches_levels(&data->shared, data->time, &levels[1]) &&
           (!data->crowded_count || fill_crowded(data, &levels[1]));
}
