/* The functions of both runs are matched, then the lines of each pair. */
#include <string.h>

#include "query/compared_lines.h"
#include "util/array.h"
#include "util/order.h"

/* ---- builds ---- */

/* Of sorted places: the program, or library, with most units that the other run has not. */
static const char *own_image(const struct compared_run *run, const struct compared_run *other,
                             bool library) {
    const char *best = NULL;
    uint64_t most = 0;
    for (size_t i = 0; i < run->count;) {
        const char *name = run->places[i].image;
        uint64_t units = 0;
        for (; i < run->count && !strcmp(run->places[i].image, name); i++)
            units += run->places[i].cost.units;
        const size_t at = first_where(k, other->count, strcmp(other->places[k].image, name) >= 0);
        const bool there = at < other->count && !strcmp(other->places[at].image, name);
        if (!there && *name && !strstr(name, ".so") != library && units > most) {
            most = units;
            best = name;
        }
    }
    return best;
}

/* The later build gets the name of the earlier one. A library is no build of a program, though a
 * program may have its cycles there that had them in its own code before. */
static void match_builds(struct compared_run *before, struct compared_run *after,
                         struct compared_runs *runs) {
    const char *old = NULL, *new = NULL;
    for (unsigned library = 0; library < 2 && (!old || !new); library++) {
        old = own_image(before, after, library);
        new = own_image(after, before, library);
    }
    if (!old || !new)
        return;
    runs->builds[0] = old;
    runs->builds[1] = new;
    for (size_t i = 0; i < after->count; i++)
        if (!strcmp(after->places[i].image, new))
            after->places[i].image = old;
    compared_places_sort(after);
}

/* ---- changes ---- */

static int64_t difference(uint64_t after, uint64_t before) {
    return (int64_t)after - (int64_t)before;
}

/* What a line of the later run that is none of the earlier one had there at most: it may be one
 * that is not kept. */
static uint64_t left_out(const struct compared_function *before, const struct compared_line *after,
                         unsigned cause) {
    const uint64_t most = before && before->rest ? before->rest->most : 0;
    return after->cost.causes[cause] < most ? after->cost.causes[cause] : most;
}

/* Keeps the line, of one or both runs, if its cause changed more than that of those before. */
static void consider(struct compared_change *change, const struct compared_line *before,
                     const struct compared_line *after, int64_t *most) {
    const unsigned cause = change->cause;
    const uint64_t old = before  ? before->cost.causes[cause]
                         : after ? left_out(change->sides[0], after, cause)
                                 : 0;
    const int64_t units =
        difference(after ? after->cost.causes[cause] : 0, old) * (change->units < 0 ? -1 : 1);
    if (units <= *most)
        return;
    *most = units;
    change->lines[0] = before;
    change->lines[1] = after;
}

static bool find_line(struct compared_change *change) {
    static const struct compared_function NONE;
    const struct compared_function *before = change->sides[0] ? change->sides[0] : &NONE;
    const struct compared_function *after = change->sides[1] ? change->sides[1] : &NONE;
    uint32_t *matches = malloc((before->line_count + 1) * sizeof *matches);
    bool *taken = calloc(after->line_count + 1, sizeof *taken);
    const bool good = matches && taken && compared_lines_match(before, after, matches);
    int64_t most = 0;
    for (size_t i = 0; good && i < before->line_count; i++) {
        const bool matched = matches[i] != NO_LINE;
        if (matched)
            taken[matches[i]] = true;
        consider(change, &before->lines[i], matched ? &after->lines[matches[i]] : NULL, &most);
    }
    for (size_t i = 0; good && i < after->line_count; i++)
        if (!taken[i])
            consider(change, NULL, &after->lines[i], &most);
    free(matches);
    free(taken);
    return good;
}

static bool find_change(const struct compared_function *before,
                        const struct compared_function *after, struct compared_change *change) {
    static const struct compared_cost NOTHING;
    const struct compared_cost *old = before ? &before->cost : &NOTHING;
    const struct compared_cost *new = after ? &after->cost : &NOTHING;
    *change = (struct compared_change){.sides = {before, after},
                                       .units = difference(new->units, old->units)};
    int64_t most = 0;
    for (unsigned i = 0; i < COMPARED_CAUSES; i++) {
        const int64_t units = difference(new->causes[i], old->causes[i]);
        const int64_t along = change->units < 0 ? -units : units;
        if (along <= most)
            continue;
        most = along;
        change->cause = i;
        change->cause_units = units;
    }
    compared_types_find(change);
    return most == 0 || find_line(change);
}

static uint64_t size_of(int64_t units) {
    return units < 0 ? -(uint64_t)units : (uint64_t)units;
}

static const struct compared_function *any_of(const struct compared_change *change) {
    return change->sides[0] ? change->sides[0] : change->sides[1];
}

ORDER(by_size, struct compared_change,
      descending(size_of(a->units), size_of(b->units))
          ?: strcmp(any_of(a)->image, any_of(b)->image) ?: strcmp(any_of(a)->name, any_of(b)->name))

/* Functions of the same name; both arrays are in their order. */
static void match_names(const struct compared_runs *runs, bool *const matched[2],
                        size_t *partners) {
    const size_t *counts = runs->function_counts;
    const struct compared_function *before = runs->functions[0], *after = runs->functions[1];
    for (size_t i = 0, j = 0; i < counts[0] && j < counts[1];) {
        const int order =
            strcmp(before[i].image, after[j].image) ?: strcmp(before[i].name, after[j].name);
        if (!order) {
            partners[i] = j;
            matched[0][i] = matched[1][j] = true;
        }
        i += order <= 0;
        j += order >= 0;
    }
}

static bool list_changes(struct compared_runs *runs, bool *const matched[2],
                         const size_t *partners) {
    bool good = true;
    for (size_t i = 0; good && i < runs->function_counts[0]; i++)
        good = find_change(&runs->functions[0][i],
                           matched[0][i] ? &runs->functions[1][partners[i]] : NULL,
                           &runs->changes[runs->change_count++]);
    for (size_t i = 0; good && i < runs->function_counts[1]; i++)
        if (!matched[1][i])
            good = find_change(NULL, &runs->functions[1][i], &runs->changes[runs->change_count++]);
    return good;
}

static bool match(struct compared_runs *runs) {
    const size_t *counts = runs->function_counts;
    bool *matched[2] = {calloc(counts[0] + 1, sizeof(bool)), calloc(counts[1] + 1, sizeof(bool))};
    size_t *partners = calloc(counts[0] + 1, sizeof *partners);
    runs->changes = calloc(counts[0] + counts[1] + 1, sizeof *runs->changes);
    bool good = matched[0] && matched[1] && partners && runs->changes;
    if (good) {
        match_names(runs, matched, partners);
        good =
            compared_renamed_find(runs, matched, partners) && list_changes(runs, matched, partners);
        qsort(runs->changes, runs->change_count, sizeof *runs->changes, by_size);
    }
    free(matched[0]);
    free(matched[1]);
    free(partners);
    return good;
}

static bool group(struct compared_runs *runs, int side) {
    return compared_functions_find(runs->runs[side], &runs->functions[side],
                                   &runs->function_counts[side], &runs->lines[side]);
}

bool compared_runs_find(struct compared_run *before, struct compared_run *after,
                        struct compared_runs *runs, struct error *error) {
    *runs = (struct compared_runs){.runs = {before, after}};
    compared_places_sort(before);
    compared_places_sort(after);
    match_builds(before, after, runs);
    if (compared_inlined_match(before, after)) {
        compared_places_sort(before);
        compared_places_sort(after);
    }
    if (before->most_left_out)
        compared_rest_match(before, after);
    return (group(runs, 0) && group(runs, 1) && match(runs)) ||
           error_set(error, "out of memory to compare");
}

void compared_runs_free(struct compared_runs *runs) {
    for (int side = 0; side < 2; side++) {
        free(runs->functions[side]);
        free(runs->lines[side]);
    }
    free(runs->changes);
    *runs = (struct compared_runs){0};
}
