/* The reference is reduced once per grain and set of events that some profiler supports; every
 * profile is then reduced likewise and compared. Shares of single instructions are looked up in the
 * profiles' cells, which are sorted. */
#include "report/comparison.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/order.h"

/* A reference reduced to one grain and set of events. */
struct reference {
    enum grain grain;
    uint32_t events;
    struct reduced_profile profile;
    double spread;
};

struct builder {
    const struct comparison_request *request;
    const struct simulation *simulation;
    const struct code *code;
    struct program *program;
    struct comparison *comparison;
    struct reference *references;
    size_t reference_count;
};

/* ---- errors ---- */

static const struct reference *reference_of(struct builder *builder, enum grain grain,
                                            uint32_t events) {
    for (size_t i = 0; i < builder->reference_count; i++)
        if (builder->references[i].grain == grain && builder->references[i].events == events)
            return &builder->references[i];
    struct reference *grown =
        realloc(builder->references, (builder->reference_count + 1) * sizeof *grown);
    if (!grown)
        return NULL;
    builder->references = grown;
    struct reference *reference = &grown[builder->reference_count];
    struct units units = code_map_units(&builder->comparison->map, grain);
    *reference = (struct reference){.grain = grain, .events = events};
    if (!profile_reduce(builder->simulation->cells, builder->simulation->cell_count, &units, events,
                        &reference->profile))
        return NULL;
    reference->spread = profile_spread(&reference->profile);
    builder->reference_count++;
    return reference;
}

/* The error and the floor at one grain; events 0: of the profile. NaN when there is no sample: that
 * says nothing of the profiler. */
static bool compare(struct builder *builder, const struct compared *row, enum grain grain,
                    uint32_t events, double *error, double *floor) {
    const struct reference *reference = reference_of(builder, grain, events);
    struct units units = code_map_units(&builder->comparison->map, grain);
    struct reduced_profile profile;
    if (!reference || !profile_reduce(row->cells, row->cell_count, &units, events, &profile))
        return false;
    uint64_t samples = row->result.samples;
    *error = samples ? profile_error(&profile, &reference->profile) : NAN;
    *floor = !samples ? NAN : row->result.period == 1 ? 0 : error_floor(reference->spread, samples);
    reduced_profile_free(&profile);
    return true;
}

static const struct grain_errors NO_ERRORS = {{NAN, NAN, NAN}, {NAN, NAN, NAN}};

static bool measure(struct builder *builder, struct compared *row) {
    row->cells = pics_cells(row->result.pics, &row->cell_count);
    row->error = row->floor = row->systematic = NO_ERRORS;
    bool room = row->cells;
    uint32_t events = row->profiler->events;
    for (int grain = 0; grain < GRAIN_COUNT && room; grain++) {
        room =
            compare(builder, row, grain, 0, &row->error.profile[grain], &row->floor.profile[grain]);
        if (room && events)
            room = compare(builder, row, grain, events, &row->error.stacks[grain],
                           &row->floor.stacks[grain]);
    }
    return room;
}

static struct compared compared_of(const struct builder *builder, uint32_t index) {
    const struct simulation_profile *profile = &builder->simulation->profiles[index];
    return (struct compared){.profiler = profile->options.profiler,
                             .label = profile->options.profiler->name,
                             .sampling = profile->options.sampling,
                             .result = profile->result};
}

/* The profiles behind those asked for sample every cycle: the systematic part of their profiler's
 * error. */
static bool measure_systematic(struct builder *builder) {
    struct comparison *comparison = builder->comparison;
    for (uint32_t i = builder->request->count; i < builder->simulation->profile_count; i++) {
        struct compared every = compared_of(builder, i);
        bool room = measure(builder, &every);
        for (uint32_t row = 0; row < comparison->count; row++)
            if (comparison->rows[row].profiler == every.profiler)
                comparison->rows[row].systematic = every.error;
        free(every.cells);
        if (!room)
            return false;
    }
    return true;
}

static bool measure_all(struct builder *builder) {
    struct comparison *comparison = builder->comparison;
    uint32_t count = builder->request->count;
    comparison->rows = calloc(count ? count : 1, sizeof *comparison->rows);
    if (!comparison->rows)
        return false;
    for (uint32_t i = 0; i < count; i++, comparison->count++) {
        comparison->rows[i] = compared_of(builder, i);
        comparison->rows[i].label = builder->request->labels[i];
        if (!measure(builder, &comparison->rows[i])) {
            free(comparison->rows[i].cells);
            return false;
        }
    }
    for (int grain = 0; grain < GRAIN_COUNT; grain++) {
        const struct reference *profile = reference_of(builder, grain, 0);
        comparison->spread[grain] = profile ? profile->spread : NAN;
        comparison->units[grain] = profile ? profile->profile.count : 0;
        const struct reference *stacks = reference_of(builder, grain, PSV_COMBINATIONS - 1);
        comparison->stack_spread[grain] = stacks ? stacks->spread : NAN;
        if (!profile || !stacks)
            return false;
    }
    return measure_systematic(builder);
}

/* ---- events ---- */

static bool correlate(struct builder *builder) {
    const struct simulation *simulation = builder->simulation;
    const struct commit_summary *summary = &simulation->commits;
    for (unsigned event = 0; event < PSV_BITS; event++) {
        struct event_correlation *result = &builder->comparison->events[event];
        for (uint64_t i = 0; i < summary->event_count; i++)
            if (summary->events[i].psv & 1u << event)
                result->executions += summary->events[i].units;
        for (uint64_t i = 0; i < simulation->cell_count; i++)
            if (simulation->cells[i].psv & 1u << event)
                result->units += simulation->cells[i].units;
        if (!commit_summary_correlation(summary, simulation->cells, simulation->cell_count, event,
                                        &result->correlation, &result->instructions))
            return false;
    }
    return true;
}

/* ---- functions ---- */

/* Ties in order of place, as functions are numbered. */
ORDER(by_cost, struct function_commits, descending(a->units, b->units) ?: strcmp(a->image, b->image) ?:
           ascending(a->offset, b->offset))

static bool sum_functions(struct builder *builder) {
    const struct simulation *simulation = builder->simulation;
    const struct code_map *map = &builder->comparison->map;
    struct comparison *comparison = builder->comparison;
    size_t count = map->walk.count;
    struct function_commits *functions = calloc(count ? count : 1, sizeof *functions);
    comparison->functions = functions;
    if (!functions)
        return false;
    for (size_t i = 0; i < count; i++) {
        const struct walked_function *walked = &map->walk.functions[i];
        functions[i] =
            (struct function_commits){.image = code_image_name(builder->code, walked->image),
                                      .name = walked->name,
                                      .offset = walked->offset};
    }
    for (uint64_t i = 0; i < simulation->cell_count; i++) {
        struct function_commits *function = &functions[map->function_of[simulation->cells[i].insn]];
        function->units += simulation->cells[i].units;
        function->categories[CATEGORY_EXECUTE] += simulation->cells[i].units;
    }
    for (uint64_t i = 0; i < simulation->commits.wait_count; i++) {
        const struct pics_cell *wait = &simulation->commits.waits[i];
        struct function_commits *function = &functions[map->function_of[wait->insn]];
        function->categories[wait->psv] += wait->units;
        function->categories[CATEGORY_EXECUTE] -= wait->units;
    }
    qsort(functions, count, sizeof *functions, by_cost);
    while (comparison->function_total < count && functions[comparison->function_total].units)
        comparison->function_total++;
    uint32_t top = builder->request->top, total = comparison->function_total;
    comparison->function_count = top && top < total ? top : total;
    return true;
}

/* ---- instructions ---- */

static bool describe(struct builder *builder, uint32_t number, struct compared_insn *row) {
    struct comparison *comparison = builder->comparison;
    const struct code *code = builder->code;
    const struct static_insn *insn = &code->insns[number];
    const struct code_map *map = &comparison->map;
    uint64_t address = insn->offset;
    if (code_image_is_file(code, insn->image))
        program_offset_to_address(builder->program, map->walk.images[insn->image], insn->offset,
                                  &address);
    *row = (struct compared_insn){
        .number = number,
        .image = code_image_name(builder->code, insn->image),
        .function = map->walk.functions[map->function_of[number]].name,
        .offset = insn->offset,
        .shares = calloc(comparison->count ? comparison->count : 1, sizeof *row->shares)};
    static_insn_text(code->isa, insn, address, row->text, sizeof row->text);
    for (uint32_t i = 0; row->shares && i < comparison->count; i++) {
        const struct compared *compared = &comparison->rows[i];
        uint64_t total = pics_total(compared->result.pics);
        row->shares[i] = total ? (double)insn_units(compared->cells, compared->cell_count, number) /
                                     (double)total
                               : 0;
    }
    return row->shares;
}

ORDER(by_units, struct pics_cell, descending(a->units, b->units) ?: ascending(a->insn, b->insn))

static bool list_insns(struct builder *builder) {
    struct comparison *comparison = builder->comparison;
    const struct simulation *simulation = builder->simulation;
    struct reduced_profile oracle;
    if (!profile_reduce(simulation->cells, simulation->cell_count, NULL, 0, &oracle))
        return false;
    qsort(oracle.cells, oracle.count, sizeof *oracle.cells, by_units);
    uint64_t top = builder->request->top;
    uint64_t count = top && top < oracle.count ? top : oracle.count;
    comparison->insns = calloc(count ? count : 1, sizeof *comparison->insns);
    bool room = comparison->insns;
    for (uint64_t i = 0; room && i < count; i++, comparison->insn_count++) {
        struct compared_insn *row = &comparison->insns[i];
        room = describe(builder, oracle.cells[i].insn, row);
        row->share = (double)oracle.cells[i].units / (double)oracle.total;
    }
    reduced_profile_free(&oracle);
    return room;
}

/* ---- the door ---- */

bool comparison_build(const struct comparison_request *request, const struct simulation *simulation,
                      const struct code *code, struct program *program,
                      struct comparison *comparison, struct error *error) {
    struct builder builder = {.request = request,
                              .simulation = simulation,
                              .code = code,
                              .program = program,
                              .comparison = comparison};
    if (!code_map_build(&comparison->map, code, program, error))
        return false;
    comparison->program_class = program_class_of(simulation->commits.categories);
    bool good = measure_all(&builder) && correlate(&builder) && sum_functions(&builder) &&
                list_insns(&builder);
    for (size_t i = 0; i < builder.reference_count; i++)
        reduced_profile_free(&builder.references[i].profile);
    free(builder.references);
    return good || error_set(error, "out of memory for the comparison");
}

void comparison_free(struct comparison *comparison) {
    for (uint32_t i = 0; i < comparison->count; i++)
        free(comparison->rows[i].cells);
    for (uint32_t i = 0; i < comparison->insn_count; i++)
        free(comparison->insns[i].shares);
    free(comparison->rows);
    free(comparison->functions);
    free(comparison->insns);
    code_map_free(&comparison->map);
    report_free(&comparison->report);
    memset(comparison, 0, sizeof *comparison);
}
