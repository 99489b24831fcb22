/* A path belongs to the innermost line of Python at or above it. Code objects of the same name,
 * file and line are one: a program may make them anew, and each process has its own. */
#include "query/python_rows.h"

#include <stdlib.h>
#include <string.h>

#include "util/order.h"

#define GROUP_NONE UINT32_MAX

/* A line, or a function, of the paths. */
struct key {
    const char *path, *name;
    uint32_t line, first_line;
    uint32_t function; /* index into the paths' functions */
};

ORDER(by_place, struct key,
      strcmp(a->path, b->path) ?: strcmp(a->name, b->name) ?: ascending(a->line, b->line))

struct groups {
    struct key *keys;
    size_t key_count;
    uint32_t *of; /* by function of the paths: group, or GROUP_NONE */
    struct python_row *rows;
    uint32_t count;
};

static struct key key_of(const struct call_path_result *paths, const struct code *code,
                         uint32_t function, bool lines) {
    const struct call_path_function *of = &paths->functions[function];
    const struct python_source *source = of->python ? &code->python[of->python - 1] : NULL;
    const uint32_t first = source ? source->first_line : 0;
    return (struct key){source ? source->path : "", source ? source->name : "[not known]",
                        lines ? of->line : first, first, function};
}

static bool make_groups(struct groups *groups, const struct call_path_result *paths,
                        const struct code *code, bool lines) {
    *groups = (struct groups){.keys = malloc((paths->function_count + 1) * sizeof *groups->keys),
                              .of = malloc((paths->function_count + 1) * sizeof *groups->of),
                              .rows = calloc(paths->function_count + 1, sizeof *groups->rows)};
    if (!groups->keys || !groups->of || !groups->rows)
        return false;
    for (uint32_t i = 0; i < paths->function_count; i++) {
        groups->of[i] = GROUP_NONE;
        if (paths->functions[i].is_python)
            groups->keys[groups->key_count++] = key_of(paths, code, i, lines);
    }
    if (groups->key_count)
        qsort(groups->keys, groups->key_count, sizeof *groups->keys, by_place);
    for (size_t i = 0; i < groups->key_count; i++) {
        const struct key *key = &groups->keys[i];
        if (!i || by_place(key - 1, key))
            groups->rows[groups->count++] = (struct python_row){.function = key->name,
                                                                .path = key->path,
                                                                .line = key->line,
                                                                .first_line = key->first_line};
        groups->of[key->function] = groups->count - 1;
    }
    return true;
}

static void free_groups(struct groups *groups) {
    free(groups->keys);
    free(groups->of);
    free(groups->rows);
}

/* By path: the function of the innermost line at or above it; GROUP_NONE: there is none. Callers
 * come before callees. */
static void find_lines(const struct call_path_result *paths, uint32_t *lines) {
    for (uint32_t i = 0; i < paths->count; i++) {
        const struct call_path *path = &paths->paths[i];
        const bool own = path->function != PATH_NONE && paths->functions[path->function].is_python;
        lines[i] = own                         ? path->function
                   : path->parent == PATH_NONE ? GROUP_NONE
                                               : lines[path->parent];
    }
}

static void sum(struct groups *groups, const struct call_path_result *paths,
                const uint32_t *lines) {
    for (uint32_t i = 0; i < paths->count; i++) {
        const struct call_path *path = &paths->paths[i];
        if (lines[i] == GROUP_NONE)
            continue;
        struct python_row *row = &groups->rows[groups->of[lines[i]]];
        row->units += path->units;
        row->executions += path->instructions;
        row->calls += path->kind == PATH_PYTHON ? path->calls : 0;
    }
}

struct costly {
    uint64_t units;
    uint32_t group;
};
ORDER(by_cost, struct costly, descending(a->units, b->units) ?: ascending(a->group, b->group))

static bool fill_stacks(struct python_row *rows, uint32_t count, const uint32_t *place,
                        const struct groups *groups, const struct call_path_result *paths,
                        const uint32_t *lines) {
    uint64_t *units = calloc((size_t)count + 1, PSV_COMBINATIONS * sizeof *units);
    bool room = units;
    for (uint64_t i = 0; room && i < paths->cell_count; i++) {
        const struct pics_cell *cell = &paths->cells[i];
        const uint32_t line = lines[cell->insn];
        const uint32_t at = line == GROUP_NONE ? GROUP_NONE : place[groups->of[line]];
        if (at != GROUP_NONE)
            units[(size_t)at * PSV_COMBINATIONS + cell->psv % PSV_COMBINATIONS] += cell->units;
    }
    for (uint32_t i = 0; room && i < count; i++) {
        struct stack *stack = &rows[i].stack;
        stack->parts = malloc(PSV_COMBINATIONS * sizeof *stack->parts);
        room = stack->parts;
        if (!room)
            break;
        stack_fill(stack, units + (size_t)i * PSV_COMBINATIONS);
        void *less = realloc(stack->parts, (stack->count + 1) * sizeof *stack->parts);
        stack->parts = less ? less : stack->parts;
    }
    free(units);
    return room;
}

/* The costliest, with their stacks. */
static bool choose(const struct groups *groups, const struct call_path_result *paths,
                   const uint32_t *lines, uint32_t top, struct python_row **rows, uint32_t *count) {
    struct costly *order = malloc((groups->count + 1) * sizeof *order);
    uint32_t *place = malloc((groups->count + 1) * sizeof *place);
    *rows = calloc(groups->count + 1, sizeof **rows);
    bool room = order && place && *rows;
    for (uint32_t i = 0; room && i < groups->count; i++)
        order[i] = (struct costly){groups->rows[i].units, i};
    if (room && groups->count)
        qsort(order, groups->count, sizeof *order, by_cost);
    for (uint32_t i = 0; room && i < groups->count; i++) {
        const bool kept = (!top || i < top) && order[i].units;
        place[order[i].group] = kept ? i : GROUP_NONE;
        if (kept)
            (*rows)[(*count)++] = groups->rows[order[i].group];
    }
    room = room && fill_stacks(*rows, *count, place, groups, paths, lines);
    free(order);
    free(place);
    return room;
}

static bool build(const struct call_path_result *paths, const struct code *code,
                  const uint32_t *lines, uint32_t top, struct python_rows *rows) {
    struct groups by_line = {0}, by_function = {0};
    bool room =
        make_groups(&by_line, paths, code, true) && make_groups(&by_function, paths, code, false);
    if (room) {
        sum(&by_line, paths, lines);
        sum(&by_function, paths, lines);
        room = choose(&by_line, paths, lines, top, &rows->lines, &rows->line_count) &&
               choose(&by_function, paths, lines, top, &rows->functions, &rows->function_count);
        for (uint32_t i = 0; i < by_line.count; i++) {
            rows->units += by_line.rows[i].units;
            rows->line_total += by_line.rows[i].units > 0;
        }
        for (uint32_t i = 0; i < by_function.count; i++)
            rows->function_total += by_function.rows[i].units > 0;
    }
    free_groups(&by_line);
    free_groups(&by_function);
    return room;
}

bool python_rows_build(const struct call_path_result *paths, const struct code *code, uint32_t top,
                       struct python_rows *rows) {
    *rows = (struct python_rows){0};
    uint32_t *lines = malloc((paths->count + 1) * sizeof *lines);
    if (lines)
        find_lines(paths, lines);
    const bool room = lines && build(paths, code, lines, top, rows);
    free(lines);
    return room;
}

static void free_rows(struct python_row *rows, uint32_t count) {
    for (uint32_t i = 0; rows && i < count; i++)
        free(rows[i].stack.parts);
    free(rows);
}

void python_rows_free(struct python_rows *rows) {
    free_rows(rows->lines, rows->line_count);
    free_rows(rows->functions, rows->function_count);
    *rows = (struct python_rows){0};
}
