/* Slices are looked up by place: as lines mostly come in their order, the one after the last is
 * tried first. */
#include "region/costs.h"

#include <float.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "util/array.h"
#include "util/csv.h"
#include "util/order.h"

enum { PROCESS, THREAD, FIRST, INSTRUCTIONS, CYCLES, FIXED_COLUMNS = CYCLES };
static const char *const NAMES[] = {"process", "thread", "first", "instructions", "cycles"};

void region_costs_free(struct region_costs *costs) {
    array_free_each(costs->names, costs->column_count);
    free(costs->values);
    *costs = (struct region_costs){0};
}

struct reader {
    struct csv csv;
    struct region_costs *costs;
    const struct profiled_runs *runs;
    const struct profiled_run *run;
    size_t *order;          /* its slices, by place */
    uint64_t *instructions; /* that their costs are of */
    size_t last;            /* in order[]: where the last line belonged */
};

/* ---- the columns ---- */

static bool take_names(struct reader *reader, struct error *error) {
    struct region_costs *costs = reader->costs;
    uint32_t count = reader->csv.field_count;
    char **fields = reader->csv.fields;
    if (count <= CYCLES)
        return csv_error(&reader->csv, error,
                         "not costs of slices (process,thread,first,instructions,cycles)");
    for (uint32_t i = 0; i <= CYCLES; i++)
        if (strcmp(fields[i], NAMES[i]) != 0)
            return csv_error(&reader->csv, error,
                             "not costs of slices (process,thread,first,instructions,cycles)");
    if (costs->names) {
        bool same = count - FIXED_COLUMNS == costs->column_count;
        for (uint32_t i = 0; same && i < costs->column_count; i++)
            same = !strcmp(fields[FIXED_COLUMNS + i], costs->names[i]);
        return same ||
               csv_error(&reader->csv, error, "not the columns of the costs of the run before");
    }
    costs->column_count = count - FIXED_COLUMNS;
    costs->names = calloc(costs->column_count, sizeof *costs->names);
    bool good = costs->names != NULL;
    for (uint32_t i = 0; good && i < costs->column_count; i++)
        good = (costs->names[i] = strdup(fields[FIXED_COLUMNS + i]));
    return good || csv_error(&reader->csv, error, "out of memory");
}

/* Room for the slices of this run, all 0. */
static bool make_room(struct reader *reader, struct error *error) {
    struct region_costs *costs = reader->costs;
    size_t count = reader->run->first + reader->run->count, row = costs->column_count;
    double *values = reallocarray(costs->values, count * row, sizeof *values);
    if (!values)
        return csv_error(&reader->csv, error, "out of memory");
    costs->values = values;
    memset(values + costs->slice_count * row, 0,
           (count - costs->slice_count) * row * sizeof *values);
    costs->slice_count = count;
    return true;
}

/* ---- a line ---- */

static int compare_places(const struct run_slice *slice, uint64_t process, uint64_t thread,
                          uint64_t first) {
    return ascending(slice->process, process) ?: ascending(slice->thread, thread) ?:
           (slice->first > first) - (slice->first + slice->instructions <= first);
}

static int by_place(const void *a, const void *b, void *slices) {
    const struct run_slice *x = (const struct run_slice *)slices + *(const size_t *)a;
    const struct run_slice *y = (const struct run_slice *)slices + *(const size_t *)b;
    return compare_places(x, y->process, y->thread, y->first);
}

/* The number of the slice that has this instruction; SIZE_MAX: none. */
static size_t find_slice(struct reader *reader, const uint64_t *place) {
    const struct run_slice *slices = reader->runs->slices;
    for (size_t at = reader->last; at < reader->run->count && at < reader->last + 2; at++)
        if (compare_places(&slices[reader->order[at]], place[PROCESS], place[THREAD],
                           place[FIRST]) == 0)
            return reader->order[reader->last = at];
    const size_t at = first_where(i, reader->run->count,
                                  compare_places(&slices[reader->order[i]], place[PROCESS],
                                                 place[THREAD], place[FIRST]) >= 0);
    if (at == reader->run->count || compare_places(&slices[reader->order[at]], place[PROCESS],
                                                   place[THREAD], place[FIRST]) != 0)
        return SIZE_MAX;
    return reader->order[reader->last = at];
}

static bool take_line(struct reader *reader, struct error *error) {
    struct region_costs *costs = reader->costs;
    uint64_t place[FIXED_COLUMNS];
    if (reader->csv.field_count != costs->column_count + FIXED_COLUMNS)
        return csv_error(&reader->csv, error, "not as many fields as columns");
    for (uint32_t i = 0; i < FIXED_COLUMNS; i++)
        if (!csv_decimal(&reader->csv, i, NAMES[i], UINT64_MAX, &place[i], error))
            return false;
    size_t slice = find_slice(reader, place);
    if (slice == SIZE_MAX)
        return csv_error(&reader->csv, error, "of no slice: these are not the costs of this run");
    const struct run_slice *of = &reader->runs->slices[slice];
    if (place[INSTRUCTIONS] > of->instructions - (place[FIRST] - of->first))
        return csv_error(&reader->csv, error,
                         "reaches beyond its slice: these are not the costs of these slices");
    reader->instructions[slice - reader->run->first] += place[INSTRUCTIONS];
    for (uint32_t i = 0; i < costs->column_count; i++) {
        double value;
        if (!csv_number(&reader->csv, FIXED_COLUMNS + i, costs->names[i], 0, DBL_MAX, &value,
                        error))
            return false;
        costs->values[slice * costs->column_count + i] += value;
    }
    return true;
}

/* ---- a file ---- */

static bool take_all(struct reader *reader, struct error *error) {
    bool named = false;
    int got;
    while ((got = csv_next(&reader->csv, error)) > 0) {
        bool good =
            reader->csv.comment || (named ? take_line(reader, error)
                                          : take_names(reader, error) && make_room(reader, error));
        if (!good)
            return false;
        named |= !reader->csv.comment;
    }
    if (got < 0)
        return false;
    if (!named)
        return error_set(error, "%s: no costs of slices in it", reader->csv.path);
    for (size_t i = 0; i < reader->run->count; i++) {
        const struct run_slice *slice = &reader->runs->slices[reader->run->first + i];
        if (reader->instructions[i] != slice->instructions)
            return error_set(error,
                             "%s: has the costs of %" PRIu64 " instructions of slice %" PRIu32
                             ", which is of %" PRIu64,
                             reader->csv.path, reader->instructions[i], slice->first_slice,
                             slice->instructions);
    }
    return true;
}

bool region_costs_add(struct region_costs *costs, const struct profiled_runs *runs, uint32_t run,
                      const char *path, struct error *error) {
    struct reader reader = {.costs = costs, .runs = runs, .run = &runs->runs[run]};
    size_t count = reader.run->count;
    if (!csv_open(&reader.csv, path, error))
        return false;
    reader.order = calloc(count, sizeof *reader.order);
    reader.instructions = calloc(count, sizeof *reader.instructions);
    bool good = reader.order && reader.instructions;
    if (!good)
        error_set(error, "%s: out of memory for %zu slices", path, count);
    for (size_t i = 0; good && i < count; i++)
        reader.order[i] = reader.run->first + i;
    if (good)
        qsort_r(reader.order, count, sizeof *reader.order, by_place, runs->slices);
    good = good && take_all(&reader, error);
    free(reader.order);
    free(reader.instructions);
    csv_close(&reader.csv);
    return good;
}

double region_costs_cpi(const struct region_costs *costs, const struct projection *slices,
                        size_t slice) {
    return costs->values[slice * costs->column_count + COSTS_CYCLES] /
           (double)slices->instructions[slice];
}

double region_costs_total_cpi(const struct region_costs *costs, const struct projection *slices) {
    double cycles = 0, instructions = 0;
    for (size_t i = 0; i < slices->count; i++) {
        cycles += costs->values[i * costs->column_count + COSTS_CYCLES];
        instructions += (double)slices->instructions[i];
    }
    return cycles / instructions;
}
