/* Function by function, each instruction finds its row by a key of what distinguishes rows. Its
 * cells are collected with the row's number, and sorted into stacks at the end. */
#include "query/field_rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/cfg.h"
#include "program/types.h"
#include "query/function_code.h"
#include "query/function_walk.h"
#include "util/array.h"
#include "util/intern.h"
#include "util/order.h"

enum { KEY_BYTES = 2048 };

struct row_cell {
    uint32_t row, psv;
    uint64_t units;
};

struct finding {
    const struct report_rows *functions;
    struct field_rows *fields;
    size_t capacity;
    struct intern keys; /* number: of the row */
    struct row_cell *cells;
    size_t cell_count, cell_capacity;
    uint64_t *bare; /* units of accesses in code without debugging information, by image */
};

/* ---- rows ---- */

static const char *kept(struct finding *finding, const char *text) {
    const uint32_t number = intern_add(finding->fields->names, text, strlen(text));
    return number == INTERN_NONE ? NULL : intern_text(finding->fields->names, number);
}

static uint32_t row_of_key(struct finding *finding, const char *key, int length,
                           const struct field_row *row) {
    struct field_rows *fields = finding->fields;
    const uint32_t size = length < KEY_BYTES ? (uint32_t)length : KEY_BYTES - 1;
    const uint32_t number = intern_add(&finding->keys, key, size);
    if (number == INTERN_NONE || number < fields->total)
        return number;
    struct field_row added = *row;
    if ((row->type && !(added.type = kept(finding, row->type))) ||
        !(added.field = kept(finding, row->field)) ||
        !array_push(fields->rows, finding->capacity, fields->total, added))
        return INTERN_NONE;
    return number;
}

static uint32_t unknown_row(struct finding *finding, uint32_t image, enum access_reason reason) {
    char key[KEY_BYTES];
    struct field_row row = {.field = "", .reason = (uint8_t)reason};
    if (reason == ACCESS_NO_DEBUG_INFO)
        row.image = code_image_name(finding->functions->code, image);
    const int length = snprintf(key, sizeof key, "?%d %s", reason, row.image ? row.image : "");
    return row_of_key(finding, key, length, &row);
}

static uint32_t known_row(struct finding *finding, struct types *types, uint32_t image,
                          const struct accessed *accessed) {
    char key[KEY_BYTES];
    struct type_field field;
    if (!type_find_field(types, accessed->type, accessed->offset, accessed->stride,
                         accessed->size_bytes, &field))
        return unknown_row(finding, image,
                           type_at(types, accessed->type)->kind == TYPE_OPAQUE ? ACCESS_OPAQUE
                                                                               : ACCESS_OUTSIDE);
    const struct type *type = type_at(types, accessed->type);
    if (accessed->meets && !field.is_element && (!type->size || accessed->stride % type->size))
        return unknown_row(finding, image, ACCESS_MEETING);
    const struct field_row row = {.type = type->name[0] ? type->name : "(unnamed)",
                                  .field = field.path,
                                  .is_element = field.is_element,
                                  .offset = field.offset,
                                  .size = field.size,
                                  .type_size = type->size,
                                  .types = types,
                                  .type_number = accessed->type};
    const int length = snprintf(key, sizeof key, "%s\n%s\n%llu %llu %llu", row.type, row.field,
                                (unsigned long long)row.offset, (unsigned long long)row.size,
                                (unsigned long long)row.type_size);
    return row_of_key(finding, key, length, &row);
}

static bool add_insn(struct finding *finding, uint32_t number, uint32_t to) {
    struct field_rows *fields = finding->fields;
    const struct simulation *simulation = finding->functions->simulation;
    uint64_t count;
    if (to == INTERN_NONE)
        return false;
    struct field_row *row = &fields->rows[to];
    const struct pics_cell *cells =
        insn_cells(simulation->cells, simulation->cell_count, number, &count);
    fields->row_of[number] = to;
    row->executions += number < simulation->execution_count ? simulation->executions[number] : 0;
    for (uint64_t i = 0; i < count; i++) {
        const struct row_cell cell = {to, cells[i].psv % PSV_COMBINATIONS, cells[i].units};
        row->units += cell.units;
        row->miss_units += cell.psv & PSV_DATA_MISS ? cell.units : 0;
        if (!array_push(finding->cells, finding->cell_capacity, finding->cell_count, cell))
            return false;
    }
    return true;
}

/* ---- functions ---- */

static enum access_reason bare_reason(const struct finding *finding, uint32_t number) {
    const struct static_insn *insn = &finding->functions->code->insns[number];
    return !insn->memory_count                                         ? ACCESS_NONE
           : code_image_is_file(finding->functions->code, insn->image) ? ACCESS_NO_DEBUG_INFO
                                                                       : ACCESS_NO_CODE;
}

static uint32_t row_of_insn(struct finding *finding, struct types *types, const struct cfg *cfg,
                            const struct accessed *accessed, const struct group *group,
                            uint32_t number) {
    const struct static_insn *insn = &finding->functions->code->insns[number];
    const uint32_t at = cfg ? cfg_insn_at(cfg, (uint32_t)(insn->offset - group->offset)) : CFG_NONE;
    enum access_reason reason;
    if (!insn->memory_count)
        reason = ACCESS_NONE;
    else if (!types)
        reason = bare_reason(finding, number);
    else
        reason = at == CFG_NONE ? ACCESS_NO_CODE : (enum access_reason)accessed[at].reason;
    if (reason == ACCESS_KNOWN)
        return known_row(finding, types, group->image, &accessed[at]);
    if (reason == ACCESS_NO_DEBUG_INFO)
        finding->bare[insn->image] +=
            insn_units(finding->functions->simulation->cells,
                       finding->functions->simulation->cell_count, number);
    return unknown_row(finding, group->image, reason);
}

static bool add_function(struct finding *finding, struct types *types, const struct cfg *cfg,
                         const struct accessed *accessed, const struct group *group) {
    for (uint32_t i = 0; i < group->insn_count; i++) {
        const uint32_t number = finding->functions->members[group->first + i];
        if (!add_insn(finding, number, row_of_insn(finding, types, cfg, accessed, group, number)))
            return false;
    }
    return true;
}

static bool look_at(struct finding *finding, uint32_t number) {
    const struct report_rows *functions = finding->functions;
    const struct group *group = &functions->groups[number];
    struct function_code function;
    struct cfg cfg = {0};
    struct error ignored;
    struct accessed *accessed = NULL;
    struct types *types = code_image_is_file(functions->code, group->image)
                              ? program_types(functions->program, functions->images[group->image])
                              : NULL;
    bool good = true;
    const bool built = types && function_code_read(functions, number, &function) &&
                       cfg_build(&cfg, &function.code, &ignored);
    if (built) {
        accessed = calloc(cfg.insn_count + (size_t)1, sizeof *accessed);
        good = accessed && access_types_find(&cfg, types, accessed);
    }
    good = good && add_function(finding, types, built ? &cfg : NULL, accessed, group);
    free(accessed);
    cfg_free(&cfg);
    if (types)
        function_code_free(&function);
    return good;
}

/* ---- order ---- */

ORDER(by_row, struct row_cell, ascending(a->row, b->row) ?: ascending(a->psv, b->psv))

static bool fill_stack(struct field_row *row, const struct row_cell *cells, size_t count) {
    uint64_t *units = calloc(PSV_COMBINATIONS, sizeof *units);
    size_t parts = 1;
    for (size_t i = 0; units && i < count; i++) {
        parts += !units[cells[i].psv];
        units[cells[i].psv] += cells[i].units;
    }
    row->stack.parts = units ? calloc(parts, sizeof *row->stack.parts) : NULL;
    if (row->stack.parts)
        stack_fill(&row->stack, units);
    free(units);
    return row->stack.parts;
}

static bool fill_stacks(struct finding *finding) {
    if (finding->cell_count)
        qsort(finding->cells, finding->cell_count, sizeof *finding->cells, by_row);
    for (size_t i = 0, end; i < finding->cell_count; i = end) {
        const uint32_t row = finding->cells[i].row;
        for (end = i; end < finding->cell_count && finding->cells[end].row == row; end++)
            continue;
        if (!fill_stack(&finding->fields->rows[row], finding->cells + i, end - i))
            return false;
    }
    return true;
}

struct numbered {
    struct field_row row;
    uint32_t number;
};
ORDER(by_cost, struct numbered, descending(a->row.units, b->row.units) ?:
           descending(a->row.executions, b->row.executions) ?: ascending(a->number, b->number))

static bool sort(struct finding *finding) {
    struct field_rows *fields = finding->fields;
    const uint32_t total = fields->total;
    struct numbered *sorted = calloc(total + (size_t)1, sizeof *sorted);
    uint32_t *numbers = calloc(total + (size_t)1, sizeof *numbers);
    const bool good = sorted && numbers;
    for (uint32_t i = 0; good && i < total; i++)
        sorted[i] = (struct numbered){fields->rows[i], i};
    if (good && total)
        qsort(sorted, total, sizeof *sorted, by_cost);
    for (uint32_t i = 0; good && i < total; i++) {
        fields->rows[i] = sorted[i].row;
        numbers[sorted[i].number] = i;
    }
    for (uint32_t i = 0; good && i < finding->functions->code->insn_count; i++)
        if (fields->row_of[i] != FIELD_NONE)
            fields->row_of[i] = numbers[fields->row_of[i]];
    free(sorted);
    free(numbers);
    return good;
}

static void sum(struct finding *finding, uint32_t top) {
    struct field_rows *fields = finding->fields;
    const struct code *code = finding->functions->code;
    uint64_t most = 0;
    for (uint32_t i = 0; i < fields->total; i++) {
        const struct field_row *row = &fields->rows[i];
        fields->units += row->units;
        fields->miss_units += row->miss_units;
        fields->known_units += row->type ? row->units : 0;
        fields->known_miss_units += row->type ? row->miss_units : 0;
    }
    fields->count = top && top < fields->total ? top : fields->total;
    for (uint32_t i = 0; i < code->image_count; i++)
        if (finding->bare[i] > most) {
            most = finding->bare[i];
            fields->bare_path = code->images[i].path;
            fields->bare_units = most;
        }
}

static bool build(const struct report_rows *functions, uint32_t top, struct field_rows *fields,
                  struct error *error) {
    const size_t insns = functions->code->insn_count;
    struct finding finding = {.functions = functions, .fields = fields};
    *fields = (struct field_rows){.row_of = malloc((insns + 1) * sizeof *fields->row_of),
                                  .names = calloc(1, sizeof *fields->names)};
    finding.bare = calloc(functions->code->image_count + (size_t)1, sizeof *finding.bare);
    bool good = fields->row_of && fields->names && finding.bare;
    if (good)
        memset(fields->row_of, 0xff, (insns + 1) * sizeof *fields->row_of);
    for (uint32_t i = 0; good && i < functions->count; i++)
        good = look_at(&finding, i);
    good = good && fill_stacks(&finding) && sort(&finding);
    if (good)
        sum(&finding, top);
    intern_free(&finding.keys);
    free(finding.cells);
    free(finding.bare);
    return good || error_set(error, "out of memory for the fields");
}

bool field_rows_build(const struct simulation *simulation, const struct code *code,
                      struct program *program, uint32_t top, struct field_rows *fields,
                      struct error *error) {
    struct report_rows functions;
    *fields = (struct field_rows){.rows = NULL};
    const bool good = rows_build(BY_FUNCTION, 0, simulation, code, program, &functions, error) &&
                      build(&functions, top, fields, error);
    rows_free(&functions);
    return good;
}

bool field_rows_build_own(const struct simulation *simulation, const struct code *code,
                          struct program *program, double least, struct field_rows *fields,
                          struct error *error) {
    struct report_rows functions;
    *fields = (struct field_rows){.rows = NULL};
    bool good = rows_build(BY_FUNCTION, 0, simulation, code, program, &functions, error);
    const double units = least * (double)simulation->cycles * CYCLE_UNITS;
    uint32_t kept = 0;
    for (uint32_t i = 0; good && i < functions.count && (double)functions.groups[i].units >= units;
         i++)
        if (!code_image_is_system(code, functions.groups[i].image))
            functions.groups[kept++] = functions.groups[i];
    functions.count = kept;
    good = good && build(&functions, 0, fields, error);
    rows_free(&functions);
    return good;
}

void field_rows_free(struct field_rows *fields) {
    for (uint32_t i = 0; i < fields->total && fields->rows; i++)
        free(fields->rows[i].stack.parts);
    free(fields->rows);
    free(fields->row_of);
    if (fields->names)
        intern_free(fields->names);
    free(fields->names);
    *fields = (struct field_rows){.rows = NULL};
}
