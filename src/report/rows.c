/* Every instruction that executed is a site. Sites sorted by image and offset fall into groups;
 * looking a site up in the debug information is dear, so a function is looked up once and then
 * holds for all sites up to its end, or to a function inside it. The cells are then summed twice:
 * per group to find the costliest, and per (rank, signature) for the stacks of those. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "report/report.h"
#include "util/array.h"

enum { TEXT_BYTES = 96 };

struct site {
    uint32_t insn, image, group, line;
    uint64_t offset, units;
    const char *file;
};

/* Small: by instruction there is one per site, and few of them become rows. */
struct group {
    uint64_t offset, units, executions, hottest_units;
    const char *function, *file;
    uint32_t line, image, hottest; /* as in a report_row; image: index into code->images */
};
static_assert(sizeof(struct group) == 64, "no larger than it need be");

struct builder {
    enum report_by by;
    const struct simulation *simulation;
    const struct code *code;
    struct program *program;
    uint32_t *images; /* number in `program` of each image of the code */
    struct site *sites;
    size_t site_count;
    struct group *groups;
    size_t group_count, group_capacity;
};

static bool no_memory(struct error *error) {
    return error_set(error, "out of memory for the report");
}

static const char *base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

/* ---- sites ---- */

/* One site per executed instruction, also those that no cycle went to (the compare of a fused
 * compare-and-branch). Cells are sorted by instruction. */
static bool make_sites(struct builder *builder) {
    const struct simulation *simulation = builder->simulation;
    uint32_t known = builder->code->insn_count;
    builder->sites = calloc(known ? known : 1, sizeof *builder->sites);
    if (!builder->sites)
        return false;
    uint64_t cell = 0;
    for (uint32_t insn = 0; insn < known; insn++) {
        struct site *site = &builder->sites[builder->site_count];
        *site = (struct site){.insn = insn,
                              .image = builder->code->insns[insn].image,
                              .offset = builder->code->insns[insn].offset};
        for (; cell < simulation->cell_count && simulation->cells[cell].insn == insn; cell++)
            site->units += simulation->cells[cell].units;
        bool executed = insn < simulation->execution_count && simulation->executions[insn];
        builder->site_count += executed || site->units;
    }
    return true;
}

static int by_place(const void *left, const void *right) {
    const struct site *a = left, *b = right;
    if (a->image != b->image)
        return a->image < b->image ? -1 : 1;
    if (a->offset != b->offset)
        return a->offset < b->offset ? -1 : 1;
    return a->insn < b->insn ? -1 : a->insn > b->insn;
}

/* Lines that are known first, then the others by place. */
static int by_line(const void *left, const void *right) {
    const struct site *a = left, *b = right;
    if (a->image != b->image)
        return a->image < b->image ? -1 : 1;
    if (!a->file != !b->file)
        return a->file ? -1 : 1;
    int order = a->file ? strcmp(a->file, b->file) : 0;
    if (order)
        return order;
    if (a->line != b->line)
        return a->line < b->line ? -1 : 1;
    return by_place(left, right);
}

/* ---- groups ---- */

static struct group *new_group(struct builder *builder, uint32_t image) {
    if (!array_reserve((void **)&builder->groups, &builder->group_capacity,
                       builder->group_count + 1, sizeof *builder->groups))
        return NULL;
    struct group *group = &builder->groups[builder->group_count++];
    *group = (struct group){.image = image, .hottest = UINT32_MAX};
    return group;
}

static bool is_file(const struct builder *builder, uint32_t image) {
    return image < builder->code->image_count && builder->code->images[image].kind == IMAGE_FILE;
}

static bool locate(struct builder *builder, uint32_t image, uint64_t offset,
                   struct location *location) {
    memset(location, 0, sizeof *location);
    return is_file(builder, image) &&
           program_locate(builder->program, builder->images[image], offset, location);
}

/* The group that a function of this image already has, from `first` on; group_count: none. A
 * function that is left and entered again has others inside it (entries of the linkage table within
 * its unwind range): these, and only these, begin behind it. Code that no function covers is one
 * group per image, `uncovered`. */
static size_t find_function_group(const struct builder *builder, size_t first, size_t uncovered,
                                  const struct location *location) {
    if (!location->function_size)
        return uncovered;
    for (size_t i = builder->group_count; i-- > first;) {
        const struct group *group = &builder->groups[i];
        if (i == uncovered)
            continue;
        if (group->offset == location->function_offset)
            return i;
        if (group->offset < location->function_offset)
            break;
    }
    return builder->group_count;
}

static bool group_functions(struct builder *builder) {
    uint32_t image = UINT32_MAX;
    uint64_t end = 0; /* up to where the last function reaches without a gap */
    size_t first = 0, group = 0, uncovered = SIZE_MAX;
    for (size_t i = 0; i < builder->site_count; i++) {
        struct site *site = &builder->sites[i];
        if (site->image != image) {
            image = site->image;
            end = 0;
            first = builder->group_count;
            uncovered = SIZE_MAX;
        }
        if (site->offset >= end) {
            struct location location;
            locate(builder, image, site->offset, &location);
            group = find_function_group(builder, first, uncovered, &location);
            if (group >= builder->group_count) {
                group = builder->group_count;
                struct group *row = new_group(builder, image);
                if (!row)
                    return false;
                row->function = location.function;
                row->offset = location.function_offset;
                if (!location.function_size)
                    uncovered = group;
            }
            end = site->offset + location.function_rest;
        }
        site->group = (uint32_t)group;
    }
    return true;
}

static bool group_lines(struct builder *builder) {
    for (size_t i = 0; i < builder->site_count; i++) {
        struct location location;
        locate(builder, builder->sites[i].image, builder->sites[i].offset, &location);
        builder->sites[i].file = location.file;
        builder->sites[i].line = location.line;
    }
    qsort(builder->sites, builder->site_count, sizeof *builder->sites, by_line);
    for (size_t i = 0; i < builder->site_count; i++) {
        struct site *site = &builder->sites[i], *last = site - 1;
        bool same = i > 0 && site->image == last->image && site->line == last->line &&
                    !site->file == !last->file && (!site->file || !strcmp(site->file, last->file));
        if (!same) {
            struct group *group = new_group(builder, site->image);
            if (!group)
                return false;
            group->offset = site->offset;
            group->file = site->file;
            group->line = site->line;
        }
        site->group = (uint32_t)builder->group_count - 1;
    }
    return true;
}

static bool group_plainly(struct builder *builder) {
    for (size_t i = 0; i < builder->site_count; i++) {
        struct site *site = &builder->sites[i];
        bool same = builder->by == BY_IMAGE && i > 0 && site->image == site[-1].image;
        if (!same) {
            struct group *group = new_group(builder, site->image);
            if (!group)
                return false;
            group->offset = builder->by == BY_IMAGE ? 0 : site->offset;
        }
        site->group = (uint32_t)builder->group_count - 1;
    }
    return true;
}

static bool make_groups(struct builder *builder) {
    qsort(builder->sites, builder->site_count, sizeof *builder->sites, by_place);
    bool good = builder->by == BY_FUNCTION ? group_functions(builder)
                : builder->by == BY_LINE   ? group_lines(builder)
                                           : group_plainly(builder);
    if (!good)
        return false;
    for (size_t i = 0; i < builder->site_count; i++) {
        const struct site *site = &builder->sites[i];
        struct group *group = &builder->groups[site->group];
        group->units += site->units;
        if (site->insn < builder->simulation->execution_count)
            group->executions += builder->simulation->executions[site->insn];
        if (group->hottest == UINT32_MAX || site->units > group->hottest_units) {
            group->hottest = site->insn;
            group->hottest_units = site->units;
        }
    }
    return true;
}

/* ---- the costliest ---- */

struct ranked {
    uint64_t units;
    uint32_t group;
};

/* Groups are in the order of images and offsets: ties keep it. */
static int by_cost(const void *left, const void *right) {
    const struct ranked *a = left, *b = right;
    if (a->units != b->units)
        return a->units > b->units ? -1 : 1;
    return a->group < b->group ? -1 : a->group > b->group;
}

struct ranked_part {
    uint32_t rank, psv;
    uint64_t units;
};

static int by_rank(const void *left, const void *right) {
    const struct ranked_part *a = left, *b = right;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    return a->psv < b->psv ? -1 : a->psv > b->psv;
}

static int by_units(const void *left, const void *right) {
    const struct stack_part *a = left, *b = right;
    if (a->units != b->units)
        return a->units > b->units ? -1 : 1;
    return a->psv < b->psv ? -1 : a->psv > b->psv;
}

/* Stack of one row from parts that are sorted by signature. */
static bool make_stack(const struct ranked_part *parts, size_t count, struct stack *stack) {
    stack->parts = malloc((count ? count : 1) * sizeof *stack->parts);
    if (!stack->parts)
        return false;
    stack->count = 0;
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && parts[i].psv == parts[i - 1].psv)
            stack->parts[stack->count - 1].units += parts[i].units;
        else
            stack->parts[stack->count++] = (struct stack_part){parts[i].psv, parts[i].units};
    }
    qsort(stack->parts, stack->count, sizeof *stack->parts, by_units);
    struct stack_part *fitted = realloc(stack->parts, stack->count * sizeof *fitted);
    if (fitted)
        stack->parts = fitted;
    return true;
}

/* rank_of: per static instruction, UINT32_MAX of those not shown. */
static bool make_stacks(const struct builder *builder, const uint32_t *rank_of,
                        struct report_rows *rows) {
    const struct simulation *simulation = builder->simulation;
    size_t shown = 0, count = 0;
    for (uint64_t i = 0; i < simulation->cell_count; i++)
        shown += rank_of[simulation->cells[i].insn] != UINT32_MAX;
    struct ranked_part *parts = malloc((shown ? shown : 1) * sizeof *parts);
    if (!parts)
        return false;
    for (uint64_t i = 0; i < simulation->cell_count; i++) {
        const struct pics_cell *cell = &simulation->cells[i];
        if (rank_of[cell->insn] != UINT32_MAX)
            parts[count++] = (struct ranked_part){rank_of[cell->insn], cell->psv, cell->units};
    }
    qsort(parts, count, sizeof *parts, by_rank);
    bool good = true;
    for (size_t begin = 0, end; begin < count && good; begin = end) {
        for (end = begin; end < count && parts[end].rank == parts[begin].rank; end++)
            ;
        good = make_stack(parts + begin, end - begin, &rows->rows[parts[begin].rank].stack);
    }
    free(parts);
    return good;
}

/* Names, source and text of a row that will be shown. */
static struct report_row describe(struct builder *builder, const struct group *group) {
    const struct code *code = builder->code;
    uint32_t image = group->image;
    struct report_row row = {.offset = group->offset,
                             .function = group->function,
                             .file = group->file,
                             .line = group->line,
                             .units = group->units,
                             .executions = group->executions,
                             .hottest = group->hottest,
                             .hottest_units = group->hottest_units};
    row.image = image >= code->image_count ? "[anon]"
                : is_file(builder, image)  ? base_name(code->images[image].path)
                                           : code->images[image].path;
    row.address = row.offset;
    if (is_file(builder, image))
        program_offset_to_address(builder->program, builder->images[image], row.offset,
                                  &row.address);
    struct location location;
    if (builder->by != BY_IMAGE) {
        locate(builder, image, row.offset, &location);
        row.function = location.function;
        if (builder->by != BY_LINE) {
            row.file = location.file;
            row.line = location.line;
        }
    }
    const struct static_insn *insn = &code->insns[row.hottest];
    uint64_t address = insn->offset;
    if (is_file(builder, insn->image))
        program_offset_to_address(builder->program, builder->images[insn->image], insn->offset,
                                  &address);
    char text[TEXT_BYTES];
    insn_text(code->isa, insn->bytes, insn->length, address, text, sizeof text);
    row.text = strdup(text);
    return row;
}

/* Makes room: with all rows shown there is little to spare. */
static void forget_groups(struct builder *builder) {
    free(builder->sites);
    free(builder->groups);
    builder->sites = NULL;
    builder->groups = NULL;
    builder->site_count = builder->group_count = 0;
}

static bool take_costliest(struct builder *builder, uint32_t top, struct report_rows *rows) {
    size_t groups = builder->group_count, insns = builder->code->insn_count;
    struct ranked *ranked = malloc((groups ? groups : 1) * sizeof *ranked);
    uint32_t *rank_of_group = malloc((groups ? groups : 1) * sizeof *rank_of_group);
    uint32_t *rank_of_insn = malloc((insns ? insns : 1) * sizeof *rank_of_insn);
    bool good = ranked && rank_of_group && rank_of_insn;
    rows->total = (uint32_t)groups;
    uint32_t count = top && top < groups ? top : (uint32_t)groups;
    rows->rows = calloc(count ? count : 1, sizeof *rows->rows);
    good &= rows->rows != NULL;
    if (good) {
        for (uint32_t i = 0; i < groups; i++)
            ranked[i] = (struct ranked){builder->groups[i].units, i};
        qsort(ranked, groups, sizeof *ranked, by_cost);
        rows->count = count;
        memset(rank_of_group, 0xff, groups * sizeof *rank_of_group);
        for (uint32_t rank = 0; rank < count; rank++) {
            uint32_t group = ranked[rank].group;
            rows->rows[rank] = describe(builder, &builder->groups[group]);
            rank_of_group[group] = rank;
            good &= rows->rows[rank].text != NULL;
        }
        memset(rank_of_insn, 0xff, insns * sizeof *rank_of_insn);
        for (size_t i = 0; i < builder->site_count; i++)
            rank_of_insn[builder->sites[i].insn] = rank_of_group[builder->sites[i].group];
        forget_groups(builder);
        good &= make_stacks(builder, rank_of_insn, rows);
    }
    free(ranked);
    free(rank_of_group);
    free(rank_of_insn);
    return good;
}

/* ---- the door ---- */

bool rows_build(enum report_by by, uint32_t top, const struct simulation *simulation,
                const struct code *code, struct program *program, struct report_rows *rows,
                struct error *error) {
    memset(rows, 0, sizeof *rows);
    struct builder builder = {.by = by, .simulation = simulation, .code = code, .program = program};
    builder.images = calloc(code->image_count ? code->image_count : 1, sizeof *builder.images);
    bool good = builder.images != NULL;
    for (uint32_t i = 0; good && i < code->image_count; i++)
        if (code->images[i].kind == IMAGE_FILE)
            builder.images[i] =
                program_add_image(program, code->images[i].path, code->images[i].build_id,
                                  code->images[i].build_id_size);
    good = good && make_sites(&builder) && make_groups(&builder) &&
           take_costliest(&builder, top, rows);
    free(builder.images);
    forget_groups(&builder);
    return good || no_memory(error);
}

void rows_free(struct report_rows *rows) {
    for (uint32_t i = 0; rows->rows && i < rows->count; i++) {
        free(rows->rows[i].stack.parts);
        free(rows->rows[i].text);
    }
    free(rows->rows);
    memset(rows, 0, sizeof *rows);
}

void stack_components(const struct stack *stack, uint64_t units[COMPONENT_COUNT]) {
    memset(units, 0, COMPONENT_COUNT * sizeof *units);
    for (uint32_t i = 0; i < stack->count; i++)
        units[component_of(stack->parts[i].psv)] += stack->parts[i].units;
}
