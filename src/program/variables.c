/* Where variables are, from their location lists: those that one register, or memory at a constant
 * distance from one, holds. Others (values that are computed, or those before a call) have no
 * place. */
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "program/type_store.h"
#include "util/array.h"
#include "util/order.h"

enum { PLACES_MOST = 1 << 18, SCOPE_RANGES = 64 };

struct scope_range {
    uint64_t start, end;
};

struct reading {
    struct types *types;
    struct variable_list *list;
    struct scope_range ranges[SCOPE_RANGES];
    unsigned range_count, depth;
    uint8_t frame_register; /* REG_NONE: the frame base is the canonical frame address */
    int64_t frame_offset;
    bool has_frame, good;
};

/* ---- registers ---- */

static uint8_t register_of(const struct types *types, uint64_t number) {
    static const uint8_t X86_64[] = {0, 2, 1, 3, 6, 7, 5, 4, 8, 9, 10, 11, 12, 13, 14, 15};
    if (types->isa == ISA_RISCV64)
        return number > 0 && number < 32 ? (uint8_t)number : REG_NONE;
    return number < sizeof X86_64 ? X86_64[number] : REG_NONE;
}

/* The register of DW_OP_reg (breg: DW_OP_breg) and its offset. */
static bool is_register(const struct types *types, const Dwarf_Op *operation, uint8_t *reg) {
    if (operation->atom >= DW_OP_reg0 && operation->atom <= DW_OP_reg31)
        *reg = register_of(types, operation->atom - DW_OP_reg0);
    else if (operation->atom == DW_OP_regx)
        *reg = register_of(types, operation->number);
    else
        return false;
    return *reg != REG_NONE;
}

static bool is_based(const struct types *types, const Dwarf_Op *operation, uint8_t *reg,
                     int64_t *offset) {
    if (operation->atom >= DW_OP_breg0 && operation->atom <= DW_OP_breg31) {
        *reg = register_of(types, operation->atom - DW_OP_breg0);
        *offset = (int64_t)operation->number;
    } else if (operation->atom == DW_OP_bregx) {
        *reg = register_of(types, operation->number);
        *offset = (int64_t)operation->number2;
    } else {
        return false;
    }
    return *reg != REG_NONE;
}

static void find_frame(struct reading *reading, Dwarf_Die *procedure) {
    Dwarf_Attribute attribute;
    Dwarf_Op *operations;
    size_t count;
    reading->frame_register = REG_NONE;
    reading->frame_offset = 0;
    reading->has_frame = false;
    if (!dwarf_attr(procedure, DW_AT_frame_base, &attribute) ||
        dwarf_getlocation(&attribute, &operations, &count) || count != 1)
        return;
    reading->has_frame =
        operations[0].atom == DW_OP_call_frame_cfa ||
        is_register(reading->types, operations, &reading->frame_register) ||
        is_based(reading->types, operations, &reading->frame_register, &reading->frame_offset);
}

/* ---- places ---- */

static bool add_place(struct reading *reading, struct variable_place place) {
    struct variable_list *list = reading->list;
    if (place.type == TYPE_NONE || place.start >= place.end || list->count >= PLACES_MOST)
        return true;
    reading->good = array_push(list->places, list->capacity, list->count, place);
    return reading->good;
}

/* In all of its scope, or in one of a list's ranges. */
static bool add_in_scope(struct reading *reading, bool everywhere, uint64_t start, uint64_t end,
                         struct variable_place place) {
    if (!everywhere) {
        place.start = start;
        place.end = end;
        return add_place(reading, place);
    }
    for (unsigned i = 0; i < reading->range_count; i++) {
        place.start = reading->ranges[i].start;
        place.end = reading->ranges[i].end;
        if (!add_place(reading, place))
            return false;
    }
    return true;
}

/* The address that one operation stands for. */
static bool set_memory(const struct reading *reading, Dwarf_Attribute *attribute,
                       const Dwarf_Op *operation, struct variable_place *place) {
    const struct types *types = reading->types;
    Dwarf_Attribute indexed;
    Dwarf_Addr address;
    if (operation->atom == DW_OP_fbreg) {
        place->kind = reading->frame_register == REG_NONE ? PLACE_FRAME : PLACE_BASED;
        place->reg = reading->frame_register;
        place->offset = (int64_t)((uint64_t)reading->frame_offset + (uint64_t)operation->number);
        return reading->has_frame;
    }
    if (is_based(types, operation, &place->reg, &place->offset)) {
        place->kind = PLACE_BASED;
        return true;
    }
    place->kind = PLACE_FIXED;
    place->offset = (int64_t)operation->number;
    if (operation->atom == DW_OP_addr)
        return true;
    if (operation->atom != DW_OP_addrx || dwarf_getlocation_attr(attribute, operation, &indexed) ||
        dwarf_formaddr(&indexed, &address))
        return false;
    place->offset = (int64_t)address;
    return true;
}

/* What one expression says of a variable that is in one place. */
static bool understand(const struct reading *reading, Dwarf_Attribute *attribute,
                       const Dwarf_Op *operations, size_t count, struct variable_place *place) {
    if (count == 1 && is_register(reading->types, operations, &place->reg)) {
        place->kind = PLACE_REGISTER;
        return true;
    }
    if (count == 2 && operations[1].atom == DW_OP_stack_value &&
        is_based(reading->types, operations, &place->reg, &place->offset)) {
        place->kind = PLACE_REGISTER;
        return true;
    }
    place->is_reference = count == 2 && operations[1].atom == DW_OP_deref;
    return (count == 1 || place->is_reference) && set_memory(reading, attribute, operations, place);
}

/* Pieces in registers: members of the variable. */
static bool add_pieces(struct reading *reading, const Dwarf_Op *operations, size_t count,
                       bool everywhere, uint64_t start, uint64_t end, uint32_t type) {
    uint64_t at = 0;
    for (size_t i = 0; i < count && at < INT32_MAX; i++) {
        struct variable_place place = {.kind = PLACE_REGISTER};
        struct type_field field;
        if (operations[i].atom == DW_OP_piece) {
            at += operations[i].number;
            continue;
        }
        if (i + 1 == count || operations[i + 1].atom != DW_OP_piece ||
            !is_register(reading->types, &operations[i], &place.reg) ||
            !type_find_field(reading->types, type, (int64_t)at, 0, operations[i + 1].number,
                             &field))
            continue;
        place.type = field.type;
        if (!add_in_scope(reading, everywhere, start, end, place))
            return false;
    }
    return true;
}

static bool add_variable(struct reading *reading, Dwarf_Die *die) {
    Dwarf_Attribute attribute;
    Dwarf_Addr base, start, end;
    Dwarf_Op *operations;
    size_t count;
    ptrdiff_t at = 0;
    if (!dwarf_attr(die, DW_AT_location, &attribute))
        return true;
    const bool everywhere = dwarf_whatform(&attribute) == DW_FORM_exprloc ||
                            dwarf_whatform(&attribute) == DW_FORM_block1 ||
                            dwarf_whatform(&attribute) == DW_FORM_block;
    const uint32_t type = type_of_attribute(reading->types, die);
    while (type != TYPE_NONE && (at = dwarf_getlocations(&attribute, at, &base, &start, &end,
                                                         &operations, &count)) > 0) {
        struct variable_place place = {.type = type};
        const bool one = understand(reading, &attribute, operations, count, &place);
        if (one ? !add_in_scope(reading, everywhere, start, end, place)
                : !add_pieces(reading, operations, count, everywhere, start, end, type))
            return false;
    }
    return true;
}

/* ---- scopes ---- */

static bool visit(void *context, Dwarf_Die *die);

static void read_scope(struct reading *reading, Dwarf_Die *die) {
    const struct reading outer = *reading;
    Dwarf_Addr base, start, end;
    ptrdiff_t at = 0;
    unsigned count = 0;
    if (reading->depth > TYPE_DEPTH_MOST)
        return;
    while (count < SCOPE_RANGES && (at = dwarf_ranges(die, at, &base, &start, &end)) > 0)
        reading->ranges[count++] = (struct scope_range){start, end};
    if (count)
        reading->range_count = count;
    reading->depth++;
    type_children(die, visit, reading);
    reading->depth--;
    memcpy(reading->ranges, outer.ranges, sizeof outer.ranges);
    reading->range_count = outer.range_count;
}

static bool visit(void *context, Dwarf_Die *die) {
    struct reading *reading = context;
    switch (dwarf_tag(die)) {
    case DW_TAG_variable:
    case DW_TAG_formal_parameter:
        return add_variable(reading, die);
    case DW_TAG_lexical_block:
    case DW_TAG_inlined_subroutine:
    case DW_TAG_try_block:
    case DW_TAG_catch_block:
        read_scope(reading, die);
        break;
    default:
        break;
    }
    return reading->good;
}

bool types_variables(struct types *types, uint64_t address, struct variable_list *list) {
    *list = (struct variable_list){.is_known = false};
    const struct span *span = span_table_find(&types->spans, address);
    if (!span || span->value >= types->procedure_count)
        return true;
    struct reading reading = {.types = types, .list = list, .good = true};
    Dwarf_Die *procedure = &types->procedures[span->value];
    Dwarf_Addr entry;
    Dwarf_Die unit;
    list->is_known = true;
    list->is_whole = !dwarf_entrypc(procedure, &entry) && entry == address;
    list->keeps_registers =
        !dwarf_diecu(procedure, &unit, NULL, NULL) || dwarf_srclang(&unit) != DW_LANG_Go;
    find_frame(&reading, procedure);
    read_scope(&reading, procedure);
    return reading.good;
}

void variable_list_free(struct variable_list *list) {
    free(list->places);
    *list = (struct variable_list){.is_known = false};
}

/* ---- globals and functions ---- */

uint32_t types_global(struct types *types, uint64_t address, uint64_t *start) {
    const size_t end = first_where(i, types->global_count, types->globals[i].start > address);
    for (size_t i = end; i-- > 0 && i + 4 > end;) { /* some are declared in several units */
        const uint32_t type = type_of_attribute(types, &types->globals[i].die);
        const uint64_t size = type_at(types, type)->size;
        *start = types->globals[i].start;
        if (type != TYPE_NONE && (address - *start < size || address == *start))
            return type;
    }
    return TYPE_NONE;
}

uint32_t types_returned(struct types *types, uint64_t address, const char *name) {
    const struct span *span = span_table_find(&types->spans, address);
    if (span && span->value < types->procedure_count)
        return type_of_attribute(types, &types->procedures[span->value]);
    size_t at;
    const uint64_t hash = name ? type_name_hash(name) : 0;
    uint32_t i = name ? hash_index_first(&types->function_index, hash, &at) : HASH_INDEX_NONE;
    for (; i != HASH_INDEX_NONE; i = hash_index_next(&types->function_index, hash, &at))
        if (!strcmp(types->functions[i].name, name))
            return type_of_attribute(types, &types->functions[i].die);
    return TYPE_NONE;
}
