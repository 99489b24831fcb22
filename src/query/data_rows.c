#include "query/data_rows.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/array.h"
#include "util/file_name.h"
#include "util/order.h"

enum { NAME_BYTES = 4096 };

struct building {
    const struct simulation *simulation;
    const struct code *code;
    struct program *program;
    char **functions; /* names, by number of the call paths' functions; NULL: not yet asked */
};

/* ---- names ---- */

static const char *base_name(const struct building *building, uint32_t image) {
    return image < building->code->image_count ? file_base_name(building->code->images[image].path)
                                               : NULL;
}

static void name_function(const struct building *building,
                          const struct call_path_function *function, char *name, size_t size) {
    const struct static_insn *insn = &building->code->insns[function->insn];
    const struct code_image *image = &building->code->images[insn->image];
    struct location location = {.function = NULL};
    if (image->kind == CODE_IMAGE_FILE)
        program_locate_function(building->program,
                                program_add_image(building->program, image->path, image->build_id,
                                                  image->build_id_size),
                                insn->offset, &location);
    else
        location.function = image->symbol;
    if (function->inlined)
        snprintf(name, size, "%s", function->inlined);
    else if (location.function)
        snprintf(name, size, "%s", location.function);
    else
        snprintf(name, size, "%s+0x%" PRIx64, file_base_name(image->path), function->offset);
}

/* NULL: out of memory. */
static const char *function_name(struct building *building, uint32_t number) {
    const struct call_path_result *paths = &building->simulation->paths;
    char name[NAME_BYTES];
    if (number >= paths->function_count)
        return "[thread]";
    if (!building->functions[number]) {
        name_function(building, &paths->functions[number], name, sizeof name);
        building->functions[number] = strdup(name);
    }
    return building->functions[number];
}

/* What allocates in place of malloc(), or is what malloc() and its kin are made of, says nothing of
 * who wanted the block. */
static bool passes_on(const char *name) {
    static const char *const ROUTINES[] = {
        "malloc",        "calloc",        "realloc",         "reallocarray", "posix_memalign",
        "aligned_alloc", "memalign",      "_int_malloc",     "_int_realloc", "_int_memalign",
        "_mid_memalign", "__libc_malloc", "__libc_memalign", "sysmalloc",    "sysmalloc_mmap"};
    return strncmp(name, "operator new", strlen("operator new")) == 0 || strstr(name, "__rdl_") ||
           strstr(name, "__rust_alloc") || strstr(name, "__rust_realloc") ||
           strncmp(name, "runtime.", strlen("runtime.")) == 0 || /* Go's */
           any_where(i, sizeof ROUTINES / sizeof *ROUTINES,
                     !strncmp(name, ROUTINES[i], strcspn(name, ".")) &&
                         strlen(ROUTINES[i]) == strcspn(name, "."));
}

/* " list.c:12" or "+0x1c": where in its function a call is, so that two in one are told apart. What
 * is inlined there, like an allocator of C++, is called from the line that counts; with frames of
 * its own (`inlined`) it has a line of its own. */
static void place_of(const struct building *building, uint32_t site, bool inlined, char *text,
                     size_t size) {
    struct location location = {.file = NULL};
    text[0] = 0;
    if (site >= building->code->insn_count)
        return;
    const struct static_insn *insn = &building->code->insns[site];
    const struct code_image *image = &building->code->images[insn->image];
    if (image->kind != CODE_IMAGE_FILE)
        return;
    program_locate(
        building->program,
        program_add_image(building->program, image->path, image->build_id, image->build_id_size),
        insn->offset, &location);
    const struct source_frame *outer =
        location.inline_count && !inlined ? &location.inlined[location.inline_count - 1] : NULL;
    if (outer && outer->file)
        snprintf(text, size, " %s:%" PRIu32, file_base_name(outer->file), outer->line);
    else if (location.file)
        snprintf(text, size, " %s:%" PRIu32, file_base_name(location.file), location.line);
    else if (location.function)
        snprintf(text, size, "+0x%" PRIx64, insn->offset - location.function_offset);
}

static bool is_inlined(const struct building *building, uint32_t function) {
    const struct call_path_result *paths = &building->simulation->paths;
    return function < paths->function_count && paths->functions[function].inlined;
}

static bool is_main(const char *name) {
    return strcmp(name, "main") == 0 || strcmp(name, "main.main") == 0; /* C's, Go's */
}

/* The callers of the routine, the innermost first, up to main(). */
static char *name_chain(struct building *building, uint32_t path) {
    const struct call_path *paths = building->simulation->paths.paths;
    char chain[DATA_CHAIN_FRAMES * NAME_BYTES / 2] = "", place[NAME_BYTES] = "";
    size_t used = 0;
    unsigned frames = 0;
    const char *name = "";
    while (path != PATH_NONE && frames < DATA_CHAIN_FRAMES && !is_main(name)) {
        const uint32_t site = paths[path].site;
        path = paths[path].parent;
        if (path == PATH_NONE || paths[path].function == PATH_NONE)
            break;
        if (!(name = function_name(building, paths[path].function)))
            return NULL;
        if (!frames && passes_on(name))
            continue;
        if (!frames)
            place_of(building, site, is_inlined(building, paths[path].function), place,
                     sizeof place);
        const int more = snprintf(chain + used, sizeof chain - used, "%s%s%s", frames ? " < " : "",
                                  name, frames ? "" : place);
        used += (size_t)more < sizeof chain - used ? (size_t)more : sizeof chain - used - 1;
        frames++;
    }
    return strdup(frames ? chain : "[not known by whom]");
}

static char *name_object(struct building *building, const struct memory_object *object) {
    const char *name = object->name;
    switch (object->kind) {
    case OBJECT_HEAP:
    case OBJECT_ANONYMOUS:
        return name_chain(building, object->path);
    case OBJECT_STACK:
        name = object->function == FUNCTION_NONE ? "[stack]"
                                                 : function_name(building, object->function);
        break;
    case OBJECT_ALLOCATOR:
        name = "[not allocated]";
        break;
    case OBJECT_UNKNOWN:
        name = "[not known]";
        break;
    case OBJECT_MAPPED:
    case OBJECT_CODE:
        name = base_name(building, object->image);
        break;
    default:
        break;
    }
    return name ? strdup(name) : NULL;
}

/* ---- rows ---- */

static int by_identity(const void *left, const void *right) {
    const struct data_row *a = left, *b = right;
    const char *first = a->image ? a->image : "", *second = b->image ? b->image : "";
    return ascending(a->kind, b->kind) ?: strcmp(a->name, b->name) ?: strcmp(first, second);
}

static int by_cost(const void *left, const void *right) {
    const struct data_row *a = left, *b = right;
    return ascending(b->units, a->units) ?: by_identity(left, right);
}

/* The cells of each object as units by signature, which stack_fill() makes parts of; two stacks of
 * one object are joined. */
static bool add_stack(struct stack *stack, const struct stack_part *parts, uint32_t count) {
    uint64_t units[PSV_COMBINATIONS] = {0};
    for (uint32_t i = 0; i < stack->count; i++)
        units[stack->parts[i].psv] += stack->parts[i].units;
    for (uint32_t i = 0; i < count; i++)
        units[parts[i].psv] += parts[i].units;
    const size_t different = sum_over(size_t, i, PSV_COMBINATIONS, units[i] != 0);
    struct stack_part *room = malloc((different + 1) * sizeof *room);
    if (!room)
        return false;
    free(stack->parts);
    stack->parts = room;
    stack_fill(stack, units);
    return true;
}

static bool add_row(struct building *building, struct data_rows *rows,
                    const struct data_cell *cells, size_t count) {
    const struct memory_object *object = &building->simulation->data.objects[cells[0].object];
    struct data_row *row = &rows->rows[rows->total];
    struct stack_part parts[PSV_COMBINATIONS];
    *row = (struct data_row){.kind = object->kind,
                             .name = name_object(building, object),
                             .image = base_name(building, object->image),
                             .size = object->size,
                             .sites = 1};
    if (!row->name)
        return false;
    rows->total++;
    for (size_t i = 0; i < count; i++) {
        parts[i] = (struct stack_part){cells[i].psv, cells[i].units};
        row->units += cells[i].units;
        rows->missed += cells[i].psv & PSV_DATA_MISS ? cells[i].units : 0;
        rows->code += cells[i].psv & PSV_OF_DATA ? 0 : cells[i].units;
    }
    rows->units += row->units;
    rows->unknown += row->kind == OBJECT_UNKNOWN ? row->units : 0;
    return add_stack(&row->stack, parts, (uint32_t)count);
}

static void free_row(struct data_row *row) {
    free(row->name);
    free(row->stack.parts);
}

/* Rows with the same names are one. */
static bool join_rows(struct data_rows *rows) {
    uint32_t kept = 0;
    if (rows->total)
        qsort(rows->rows, rows->total, sizeof *rows->rows, by_identity);
    for (uint32_t i = 0; i < rows->total; i++) {
        struct data_row *row = &rows->rows[i], *last = kept ? &rows->rows[kept - 1] : NULL;
        if (last && by_identity(last, row) == 0) {
            if (!add_stack(&last->stack, row->stack.parts, row->stack.count))
                return false;
            last->units += row->units;
            last->sites++;
            last->size = last->size == row->size ? row->size : 0;
            free_row(row);
            *row = (struct data_row){.name = NULL};
        } else {
            const struct data_row moved = *row;
            *row = (struct data_row){.name = NULL};
            rows->rows[kept++] = moved;
        }
    }
    rows->total = kept;
    return true;
}

static bool make_rows(struct building *building, struct data_rows *rows) {
    const struct data_result *data = &building->simulation->data;
    rows->rows = calloc((size_t)data->object_count + 1, sizeof *rows->rows);
    building->functions =
        calloc((size_t)building->simulation->paths.function_count + 1, sizeof(char *));
    if (!rows->rows || !building->functions)
        return false;
    for (size_t i = 0, next; i < data->cell_count; i = next) {
        for (next = i + 1;
             next < data->cell_count && data->cells[next].object == data->cells[i].object;)
            next++;
        if (!add_row(building, rows, &data->cells[i], next - i))
            return false;
    }
    return join_rows(rows);
}

bool data_rows_build(const struct simulation *simulation, const struct code *code,
                     struct program *program, uint32_t top, struct data_rows *rows,
                     struct error *error) {
    struct building building = {.simulation = simulation, .code = code, .program = program};
    *rows = (struct data_rows){.rows = NULL};
    const bool good = make_rows(&building, rows);
    array_free_each(building.functions, simulation->paths.function_count);
    if (!good)
        return error_set(error, "out of memory for data objects");
    if (rows->total)
        qsort(rows->rows, rows->total, sizeof *rows->rows, by_cost);
    rows->count = top && top < rows->total ? top : rows->total;
    return true;
}

void data_rows_free(struct data_rows *rows) {
    for (uint32_t i = 0; rows->rows && i < rows->total; i++)
        free_row(&rows->rows[i]);
    free(rows->rows);
    *rows = (struct data_rows){.rows = NULL};
}
