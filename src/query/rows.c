/* Every instruction that executed is a site. Sites sorted by image and offset fall into groups. Of
 * the costliest groups only the numbers are kept and which instructions they have: names, text and
 * stack of a row are made when it is asked for, the stack from the cells of its instructions. */
#include "query/rows.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "query/function_walk.h"
#include "util/array.h"
#include "util/order.h"

struct site {
    uint64_t offset;
    uint32_t insn, image, group, line;
    uint32_t function; /* by line: number in the walk over functions */
    const char *file;
};

struct builder {
    struct report_rows *rows;
    struct site *sites;
    size_t site_count;
    struct group *groups;
    size_t group_count, group_capacity;
};

static bool no_memory(struct error *error) {
    return error_set(error, "out of memory for the report");
}

/* ---- sites ---- */

const struct pics_cell *insn_cells(const struct pics_cell *cells, uint64_t count, uint32_t insn,
                                   uint64_t *found) {
    size_t first = first_where(i, count, cells[i].insn >= insn);
    *found = first_where(i, count, cells[i].insn > insn) - first;
    return cells + first;
}

uint64_t insn_units(const struct pics_cell *cells, uint64_t count, uint32_t insn) {
    uint64_t found, units = 0;
    cells = insn_cells(cells, count, insn, &found);
    for (uint64_t i = 0; i < found; i++)
        units += cells[i].units;
    return units;
}

/* Walks over the instructions that executed or took time; also those that no cycle went to (the
 * compare of a fused compare-and-branch). */
struct walk {
    uint32_t insn; /* the next to look at */
    uint64_t cell; /* cells are sorted by instruction */
};
static bool walk_next(struct walk *walk, const struct report_rows *rows, uint32_t *insn) {
    const struct simulation *simulation = rows->simulation;
    while (walk->insn < rows->code->insn_count) {
        *insn = walk->insn++;
        bool executed = *insn < simulation->execution_count && simulation->executions[*insn];
        for (; walk->cell < simulation->cell_count && simulation->cells[walk->cell].insn == *insn;
             walk->cell++)
            executed |= simulation->cells[walk->cell].units != 0;
        if (executed)
            return true;
    }
    return false;
}

static bool make_sites(struct builder *builder) {
    const struct code *code = builder->rows->code;
    struct walk walk = {0};
    uint32_t insn;
    size_t count = 0;
    while (walk_next(&walk, builder->rows, &insn))
        count++;
    builder->sites = malloc((count ? count : 1) * sizeof *builder->sites);
    if (!builder->sites)
        return false;
    walk = (struct walk){0};
    while (walk_next(&walk, builder->rows, &insn))
        builder->sites[builder->site_count++] = (struct site){
            .insn = insn, .image = code->insns[insn].image, .offset = code->insns[insn].offset};
    return true;
}

ORDER(by_place, struct site, ascending(a->image, b->image) ?: ascending(a->offset, b->offset) ?:
           ascending(a->insn, b->insn))

/* Lines that are known first, then the others by function. */
ORDER(by_line, struct site, ascending(a->image, b->image) ?: descending(!!a->file, !!b->file) ?:
           (a->file ? strcmp(a->file, b->file) : ascending(a->function, b->function)) ?:
           ascending(a->line, b->line) ?: by_place(a, b))

/* ---- groups ---- */

static struct group *new_group(struct builder *builder, uint32_t image, uint64_t offset) {
    if (!array_room(builder->groups, builder->group_capacity, builder->group_count + 1))
        return NULL;
    struct group *group = &builder->groups[builder->group_count++];
    *group = (struct group){.image = image, .offset = offset};
    return group;
}

static bool locate(const struct report_rows *rows, uint32_t image, uint64_t offset,
                   struct location *location) {
    memset(location, 0, sizeof *location);
    if (image < rows->code->image_count && rows->code->images[image].symbol)
        location->function = rows->code->images[image].symbol;
    return code_image_is_file(rows->code, image) &&
           program_locate(rows->program, rows->images[image], offset, location);
}

/* A function that the walk comes to for the first time is the next group. */
static bool group_functions(struct builder *builder, struct function_walk *walk) {
    for (size_t i = 0; i < builder->site_count; i++) {
        struct site *site = &builder->sites[i];
        size_t group = function_walk_step(walk, site->image, site->offset);
        if (group == SIZE_MAX)
            return false;
        if (group == builder->group_count &&
            !new_group(builder, site->image, walk->functions[group].offset))
            return false;
        site->group = (uint32_t)group;
    }
    return true;
}

static bool find_lines(struct builder *builder, struct function_walk *walk) {
    for (size_t i = 0; i < builder->site_count; i++) {
        struct site *site = &builder->sites[i];
        size_t function = function_walk_step(walk, site->image, site->offset);
        if (function == SIZE_MAX)
            return false;
        struct location location;
        locate(builder->rows, site->image, site->offset, &location);
        site->function = (uint32_t)function;
        site->file = location.file;
        site->line = location.file ? location.line : 0;
    }
    return true;
}

static bool is_same_line(const struct site *a, const struct site *b) {
    if (a->image != b->image || !a->file != !b->file)
        return false;
    return a->file ? a->line == b->line && !strcmp(a->file, b->file) : a->function == b->function;
}

/* What has no line is told by its function. */
static bool group_lines(struct builder *builder, struct function_walk *walk) {
    if (!find_lines(builder, walk))
        return false;
    if (builder->site_count)
        qsort(builder->sites, builder->site_count, sizeof *builder->sites, by_line);
    for (size_t i = 0; i < builder->site_count; i++) {
        struct site *site = &builder->sites[i];
        if (!i || !is_same_line(site, site - 1)) {
            struct group *group =
                new_group(builder, site->image,
                          site->file ? site->offset : walk->functions[site->function].offset);
            if (!group)
                return false;
            group->file = site->file;
            group->line = site->line;
        }
        site->group = (uint32_t)builder->group_count - 1;
    }
    return true;
}

/* `group`: by function or line, of which each site has one. */
static bool walk_sites(struct builder *builder,
                       bool (*group)(struct builder *, struct function_walk *)) {
    struct function_walk walk;
    bool room = function_walk_begin(&walk, builder->rows->code, builder->rows->program) &&
                group(builder, &walk);
    function_walk_end(&walk);
    return room;
}

static bool group_instructions(struct builder *builder) {
    for (size_t i = 0; i < builder->site_count; i++) {
        if (!new_group(builder, builder->sites[i].image, builder->sites[i].offset))
            return false;
        builder->sites[i].group = (uint32_t)builder->group_count - 1;
    }
    return true;
}

/* All anonymous code is one image, named or not. */
static bool group_images(struct builder *builder) {
    const struct code *code = builder->rows->code;
    uint32_t anonymous = UINT32_MAX; /* its group */
    for (size_t i = 0; i < builder->site_count; i++) {
        struct site *site = &builder->sites[i];
        bool is_anonymous = site->image < code->image_count &&
                            code->images[site->image].kind == CODE_IMAGE_ANONYMOUS;
        if (is_anonymous && anonymous != UINT32_MAX) {
            site->group = anonymous;
            continue;
        }
        if ((!i || site->image != site[-1].image) && !new_group(builder, site->image, 0))
            return false;
        site->group = (uint32_t)builder->group_count - 1;
        if (is_anonymous)
            anonymous = site->group;
    }
    return true;
}

static bool make_groups(struct builder *builder) {
    const struct simulation *simulation = builder->rows->simulation;
    enum report_by by = builder->rows->by;
    if (builder->site_count)
        qsort(builder->sites, builder->site_count, sizeof *builder->sites, by_place);
    bool good = by == BY_FUNCTION ? walk_sites(builder, group_functions)
                : by == BY_LINE   ? walk_sites(builder, group_lines)
                : by == BY_IMAGE  ? group_images(builder)
                                  : group_instructions(builder);
    if (!good)
        return false;
    for (size_t i = 0; i < builder->site_count; i++) {
        const struct site *site = &builder->sites[i];
        struct group *group = &builder->groups[site->group];
        assert(builder->groups); /* every site was given one */
        group->insn_count++;
        group->units += insn_units(simulation->cells, simulation->cell_count, site->insn);
        if (site->insn < simulation->execution_count)
            group->executions += simulation->executions[site->insn];
    }
    return true;
}

/* ---- the costliest ---- */

/* Each group's instructions side by side, in the order of the sites, which are then done with. */
static bool list_members(struct builder *builder) {
    uint32_t *members = malloc((builder->site_count ? builder->site_count : 1) * sizeof *members);
    if (!members)
        return false;
    uint32_t begin = 0;
    for (size_t i = 0; i < builder->group_count; i++) {
        builder->groups[i].first = begin;
        begin += builder->groups[i].insn_count;
        builder->groups[i].insn_count = 0;
    }
    for (size_t i = 0; i < builder->site_count; i++) {
        struct group *group = &builder->groups[builder->sites[i].group];
        members[group->first + group->insn_count++] = builder->sites[i].insn;
    }
    builder->rows->members = members;
    free(builder->sites);
    builder->sites = NULL;
    return true;
}

/* Groups are in the order of images and offsets, and so are their first members: ties keep it. */
ORDER(by_cost, struct group, descending(a->units, b->units) ?: ascending(a->first, b->first))

static void take_costliest(struct builder *builder, uint32_t top) {
    struct report_rows *rows = builder->rows;
    size_t count = builder->group_count;
    if (count)
        qsort(builder->groups, count, sizeof *builder->groups, by_cost);
    rows->total = (uint32_t)count;
    rows->count = top && top < count ? top : (uint32_t)count;
    rows->groups = builder->groups;
    builder->groups = NULL;
    struct group *fitted = realloc(rows->groups, (rows->count ? rows->count : 1) * sizeof *fitted);
    if (fitted)
        rows->groups = fitted;
}

/* ---- one row ---- */

ORDER(by_units, struct stack_part, descending(a->units, b->units) ?: ascending(a->psv, b->psv))

void stack_fill(struct stack *stack, const uint64_t units[PSV_COMBINATIONS]) {
    stack->count = 0;
    for (uint32_t psv = 0; psv < PSV_COMBINATIONS; psv++)
        if (units[psv])
            stack->parts[stack->count++] = (struct stack_part){psv, units[psv]};
    qsort(stack->parts, stack->count, sizeof *stack->parts, by_units);
}

void stack_components(const struct stack *stack, uint64_t units[COMPONENT_COUNT]) {
    memset(units, 0, COMPONENT_COUNT * sizeof *units);
    for (uint32_t i = 0; i < stack->count; i++)
        units[component_of(stack->parts[i].psv)] += stack->parts[i].units;
}

/* The stack, and the costliest instruction. */
static void sum_up(const struct report_rows *rows, const struct group *group,
                   struct report_row *row) {
    uint64_t units[PSV_COMBINATIONS] = {0};
    struct stack *stack = &row->stack;
    *stack = (struct stack){.parts = row->parts};
    row->hottest = UINT32_MAX;
    for (uint32_t i = 0; i < group->insn_count; i++) {
        uint32_t insn = rows->members[group->first + i];
        uint64_t count, sum = 0;
        const struct pics_cell *cells =
            insn_cells(rows->simulation->cells, rows->simulation->cell_count, insn, &count);
        for (uint64_t k = 0; k < count; k++) {
            const uint32_t psv = cells[k].psv % PSV_COMBINATIONS;
            if (!units[psv] && cells[k].units)
                stack->parts[stack->count++].psv = psv;
            units[psv] += cells[k].units;
            sum += cells[k].units;
        }
        if (row->hottest == UINT32_MAX || sum > row->hottest_units) {
            row->hottest = insn;
            row->hottest_units = sum;
        }
    }
    for (uint32_t i = 0; i < stack->count; i++)
        stack->parts[i].units = units[stack->parts[i].psv];
    qsort(stack->parts, stack->count, sizeof *stack->parts, by_units);
}

uint64_t rows_address(const struct report_rows *rows, uint32_t image, uint64_t offset) {
    uint64_t address = offset;
    if (code_image_is_file(rows->code, image))
        program_offset_to_address(rows->program, rows->images[image], offset, &address);
    return address;
}

void rows_get(const struct report_rows *rows, uint32_t index, struct report_row *row) {
    const struct group *group = &rows->groups[index];
    const struct code *code = rows->code;
    uint32_t image = group->image;
    memset(row, 0, offsetof(struct report_row, parts));
    row->offset = group->offset;
    row->address = rows_address(rows, image, group->offset);
    row->file = group->file;
    row->line = group->line;
    row->units = group->units;
    row->executions = group->executions;
    row->image = code_image_name(code, image);
    struct location location;
    if (rows->by != BY_IMAGE) {
        locate(rows, image, row->offset, &location);
        row->function = location.function;
        row->function_size = location.function_size;
        row->is_outside = (rows->by == BY_FUNCTION || (rows->by == BY_LINE && !row->file)) &&
                          code_image_is_file(code, image) && !location.function_size &&
                          !row->offset;
        if (rows->by != BY_LINE) {
            row->file = location.file;
            row->line = location.line;
        }
    }
    sum_up(rows, group, row);
    const struct static_insn *insn = &code->insns[row->hottest];
    static_insn_text(code->isa, insn, rows_address(rows, insn->image, insn->offset), row->text,
                     sizeof row->text);
}

/* ---- the door ---- */

bool rows_build(enum report_by by, uint32_t top, const struct simulation *simulation,
                const struct code *code, struct program *program, struct report_rows *rows,
                struct error *error) {
    *rows =
        (struct report_rows){.by = by, .simulation = simulation, .code = code, .program = program};
    rows->images = code_images_add(code, program);
    struct builder builder = {.rows = rows};
    bool good =
        rows->images && make_sites(&builder) && make_groups(&builder) && list_members(&builder);
    if (good)
        take_costliest(&builder, top);
    free(builder.sites);
    free(builder.groups);
    return good || no_memory(error);
}

void rows_free(struct report_rows *rows) {
    free(rows->groups);
    free(rows->members);
    free(rows->images);
    memset(rows, 0, sizeof *rows);
}
