/* Functions and lines are ranked, each by the cycles of the run, and kept in the order of names, so
 * that two summaries can be laid side by side. */
#include "query/compared_summary.h"

#include <stdlib.h>
#include <string.h>

#include "query/compared_lines.h"
#include "util/order.h"

const char COMPARED_OTHERS[] = "(other functions)";

struct summary {
    const struct compared_limits *limits;
    const struct compared_run *run;
    struct compared_function *functions;
    struct compared_line *lines;
    size_t function_count;
    bool *kept_functions, *told_functions, *kept_lines;
    struct compared_run *made;
};

/* ---- what is kept ---- */

struct ranked {
    uint64_t units;
    size_t index;
};

ORDER(by_units, struct ranked, descending(a->units, b->units) ?: ascending(a->index, b->index))

/* Of the `count` ranked items: the costliest, at most so many, with a share of all at least. */
static void choose(struct ranked *ranked, size_t count, const struct compared_run *run, size_t most,
                   double share, bool *chosen) {
    const double least = share * (double)run->all.units;
    if (count)
        qsort(ranked, count, sizeof *ranked, by_units);
    for (size_t i = 0; i < count && i < most && (double)ranked[i].units >= least; i++)
        chosen[ranked[i].index] = true;
}

static void choose_functions(const struct summary *summary, struct ranked *ranked) {
    const struct compared_limits *limits = summary->limits;
    for (size_t i = 0; i < summary->function_count; i++)
        ranked[i] = (struct ranked){summary->functions[i].cost.units, i};
    choose(ranked, summary->function_count, summary->run, limits->functions, limits->function_share,
           summary->kept_functions);
    choose(ranked, summary->function_count, summary->run, limits->kinds, limits->kinds_share,
           summary->told_functions);
}

/* Of functions that are kept. */
static void choose_lines(const struct summary *summary, struct ranked *ranked) {
    size_t count = 0;
    for (size_t i = 0; i < summary->function_count; i++) {
        const struct compared_function *function = &summary->functions[i];
        for (size_t k = 0; summary->kept_functions[i] && k < function->line_count; k++) {
            const struct compared_line *line = &function->lines[k];
            ranked[count++] = (struct ranked){line->cost.units, (size_t)(line - summary->lines)};
        }
    }
    choose(ranked, count, summary->run, summary->limits->lines, summary->limits->line_share,
           summary->kept_lines);
}

/* ---- the run that is made ---- */

/* A sum of the run that is made. NULL: out of memory. */
static struct compared_sum *new_sum(struct compared_run *made) {
    struct compared_sum *sum = arena_alloc(&made->names, sizeof *sum);
    if (sum)
        *sum = (struct compared_sum){0};
    return sum;
}

static bool no_memory(struct error *error) {
    return error_set(error, "out of memory for what is kept of a run");
}

static bool add_line(const struct summary *summary, const struct compared_line *line,
                     struct error *error) {
    struct compared_sum *sum = new_sum(summary->made);
    if (!sum)
        return no_memory(error);
    sum->shape = line->shape;
    sum->distance = line->distance;
    struct compared_place place = *line->place;
    place.sum = sum;
    place.cost = line->cost;
    return compared_run_add(summary->made, &place, error);
}

static void take_away(struct compared_cost *cost, const struct compared_cost *part) {
    cost->units -= part->units;
    cost->executions -= part->executions;
    for (int i = 0; i < COMPARED_CAUSES; i++)
        cost->causes[i] -= part->causes[i];
}

static bool fill_kinds(const struct summary *summary, const struct compared_function *function,
                       struct compared_sum *sum) {
    if (function->place_count > UINT16_MAX)
        return true;
    uint16_t *kinds = arena_alloc(&summary->made->names, COMPARED_KINDS * sizeof *kinds);
    if (!kinds)
        return false;
    memset(kinds, 0, COMPARED_KINDS * sizeof *kinds);
    for (size_t i = 0; i < function->place_count; i++)
        kinds[compared_kind(function->places[i].text)]++;
    sum->instructions = (uint32_t)function->place_count;
    sum->kinds = kinds;
    return true;
}

static bool add_function(const struct summary *summary, size_t number, struct error *error) {
    const struct compared_function *function = &summary->functions[number];
    struct compared_cost rest = function->cost;
    struct compared_sum *sum = new_sum(summary->made);
    if (!sum)
        return no_memory(error);
    sum->rest = true;
    for (size_t i = 0; i < function->line_count; i++) {
        const struct compared_line *line = &function->lines[i];
        if (summary->kept_lines[line - summary->lines]) {
            take_away(&rest, &line->cost);
            if (!add_line(summary, line, error))
                return false;
        } else if (line->cost.units > sum->most) {
            sum->most = line->cost.units;
        }
    }
    if (summary->told_functions[number] && !fill_kinds(summary, function, sum))
        return no_memory(error);
    const struct compared_place place = {.image = function->image,
                                         .function = function->name,
                                         .text = "",
                                         .offset = UINT64_MAX,
                                         .sum = sum,
                                         .cost = rest};
    return compared_run_add(summary->made, &place, error);
}

static bool add_others(const struct summary *summary, struct error *error) {
    struct compared_cost rest = {0};
    uint64_t most = 0;
    struct compared_sum *sum = new_sum(summary->made);
    if (!sum)
        return no_memory(error);
    for (size_t i = 0; i < summary->function_count; i++) {
        const struct compared_cost *cost = &summary->functions[i].cost;
        if (summary->kept_functions[i])
            continue;
        compared_cost_add(&rest, cost);
        most = cost->units > most ? cost->units : most;
    }
    summary->made->most_left_out = most;
    *sum = (struct compared_sum){.rest = true, .most = most};
    const struct compared_place place = {.image = "",
                                         .function = COMPARED_OTHERS,
                                         .text = "",
                                         .offset = UINT64_MAX,
                                         .sum = sum,
                                         .cost = rest};
    return !rest.executions || compared_run_add(summary->made, &place, error);
}

static bool make(struct summary *summary, struct error *error) {
    const size_t functions = summary->function_count, places = summary->run->count;
    struct ranked *ranked = calloc(places + 1, sizeof *ranked);
    summary->kept_functions = calloc(functions + 1, sizeof(bool));
    summary->told_functions = calloc(functions + 1, sizeof(bool));
    summary->kept_lines = calloc(places + 1, sizeof(bool));
    bool good =
        (ranked && summary->kept_functions && summary->told_functions && summary->kept_lines) ||
        no_memory(error);
    if (good) {
        choose_functions(summary, ranked);
        choose_lines(summary, ranked);
    }
    for (size_t i = 0; good && i < functions; i++)
        good = !summary->kept_functions[i] || add_function(summary, i, error);
    good = good && add_others(summary, error);
    compared_places_sort(summary->made);
    free(ranked);
    free(summary->kept_functions);
    free(summary->told_functions);
    free(summary->kept_lines);
    return good;
}

bool compared_summary_make(struct compared_run *run, const struct compared_limits *limits,
                           struct compared_run *made, struct error *error) {
    struct summary summary = {.limits = limits, .run = run, .made = made};
    compared_places_sort(run);
    made->elapsed = run->elapsed;
    made->half_interval = run->half_interval;
    made->limited = run->limited;
    made->title = arena_copy(&made->names, run->title, strlen(run->title));
    made->machine = arena_copy(&made->names, run->machine, strlen(run->machine));
    const bool good = (made->title && made->machine &&
                       compared_functions_find(run, &summary.functions, &summary.function_count,
                                               &summary.lines)) ||
                      no_memory(error);
    bool kept = good && make(&summary, error);
    for (size_t i = 0; kept && i < run->library_count; i++)
        kept =
            compared_run_add_library(made, run->libraries[i].name, run->libraries[i].build, error);
    free(summary.functions);
    free(summary.lines);
    return kept;
}

/* ---- a later run against it ---- */

void compared_rest_match(const struct compared_run *before, struct compared_run *after) {
    for (size_t i = 0, end; i < after->count; i = end) {
        struct compared_place *place = &after->places[i];
        const char *image = place->image, *function = place->function;
        uint64_t units = 0;
        for (end = i; end < after->count && !strcmp(after->places[end].image, image) &&
                      !strcmp(after->places[end].function, function);
             end++)
            units += after->places[end].cost.units;
        if (units > before->most_left_out || compared_has_function(before, image, function))
            continue;
        for (size_t k = i; k < end; k++) {
            after->places[k].image = "";
            after->places[k].function = COMPARED_OTHERS;
            after->places[k].within = NULL;
        }
    }
    compared_places_sort(after);
}
