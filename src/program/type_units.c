/* One walk over the units: what is named outside of functions, and which code belongs to which
 * function. What is within functions is read with them (variables.c). */
#include <dwarf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program/type_store.h"
#include "util/array.h"
#include "util/order.h"

struct walk {
    struct types *types;
    const char *scope; /* "std", "" */
    unsigned depth;
    bool good;
};

static const char *scoped(struct walk *walk, const char *name) {
    const size_t length = strlen(walk->scope) + strlen(name) + sizeof "::";
    if (!walk->scope[0])
        return name;
    char *text = arena_alloc(&walk->types->arena, length);
    if (text)
        snprintf(text, length, "%s::%s", walk->scope, name);
    return text ? text : name;
}

static bool add_definition(struct walk *walk, Dwarf_Die *die, const char *name) {
    struct types *types = walk->types;
    const struct type_entity entity = {.name = name, .die = *die};
    const uint32_t number = (uint32_t)types->definition_count;
    return types->definition_count < TYPES_MOST &&
           array_push(types->definitions, types->definition_capacity, types->definition_count,
                      entity) &&
           hash_index_add(&types->definition_index, type_name_hash(name), number) &&
           hash_index_add(&types->scope_index, hash_number((uintptr_t)die->addr), number);
}

static bool add_code(struct walk *walk, Dwarf_Die *die) {
    struct types *types = walk->types;
    const uint32_t number = (uint32_t)types->procedure_count;
    Dwarf_Addr base, start, end;
    ptrdiff_t at = 0;
    const size_t before = types->range_count;
    while ((at = dwarf_ranges(die, at, &base, &start, &end)) > 0) {
        if (start >= end)
            continue;
        const struct span span = {start, end, number};
        if (types->range_count >= TYPES_MOST ||
            !array_push(types->ranges, types->range_capacity, types->range_count, span))
            return false;
    }
    return types->range_count == before ||
           array_push(types->procedures, types->procedure_capacity, types->procedure_count, *die);
}

static const char *symbol_of(Dwarf_Die *die) {
    Dwarf_Attribute attribute;
    const char *name = dwarf_formstring(dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute));
    return name ? name : dwarf_formstring(dwarf_attr_integrate(die, DW_AT_name, &attribute));
}

static bool add_function(struct walk *walk, Dwarf_Die *die) {
    struct types *types = walk->types;
    const char *name = symbol_of(die);
    const struct type_entity entity = {.name = name, .die = *die};
    if (!add_code(walk, die))
        return false;
    return !name || types->function_count >= TYPES_MOST ||
           (hash_index_add(&types->function_index, type_name_hash(name),
                           (uint32_t)types->function_count) &&
            array_push(types->functions, types->function_capacity, types->function_count, entity));
}

static bool add_global(struct walk *walk, Dwarf_Die *die) {
    struct types *types = walk->types;
    Dwarf_Attribute attribute, address;
    Dwarf_Op *operations;
    size_t count;
    struct type_global global = {.die = *die};
    if (!dwarf_attr(die, DW_AT_location, &attribute) ||
        dwarf_getlocation(&attribute, &operations, &count) || count != 1)
        return true;
    if (operations[0].atom == DW_OP_addr)
        global.start = operations[0].number;
    else if (operations[0].atom != DW_OP_addrx ||
             dwarf_getlocation_attr(&attribute, operations, &address) ||
             dwarf_formaddr(&address, &global.start))
        return true;
    return types->global_count >= TYPES_MOST ||
           array_push(types->globals, types->global_capacity, types->global_count, global);
}

static bool visit(void *context, Dwarf_Die *die);

static void walk_below(struct walk *walk, Dwarf_Die *die, const char *scope) {
    const char *outer = walk->scope;
    walk->scope = scope;
    if (walk->depth++ < TYPE_DEPTH_MOST)
        type_children(die, visit, walk);
    walk->depth--;
    walk->scope = outer;
}

static bool visit(void *context, Dwarf_Die *die) {
    struct walk *walk = context;
    const char *name = dwarf_diename(die);
    switch (dwarf_tag(die)) {
    case DW_TAG_namespace:
    case DW_TAG_module:
        walk_below(walk, die, name ? scoped(walk, name) : walk->scope);
        break;
    case DW_TAG_structure_type:
    case DW_TAG_class_type:
    case DW_TAG_union_type:
        if (name) {
            const char *full = scoped(walk, name);
            walk->good = add_definition(walk, die, full);
            walk_below(walk, die, full);
        }
        break;
    case DW_TAG_subprogram:
        walk->good = add_function(walk, die);
        break;
    case DW_TAG_variable:
        walk->good = add_global(walk, die);
        break;
    default:
        break;
    }
    return walk->good;
}

static int by_start(const void *left, const void *right) {
    const struct type_global *a = left, *b = right;
    return ascending(a->start, b->start);
}

bool type_units_read(struct types *types) {
    struct walk walk = {.types = types, .scope = "", .good = true};
    uint8_t type;
    Dwarf_Die die, split;
    for (Dwarf_CU *cu = NULL;
         walk.good && dwarf_get_units(types->dwarf, cu, &cu, NULL, &type, &die, &split) == 0;) {
        if (type == DW_UT_skeleton && split.addr)
            die = split;
        type_children(&die, visit, &walk);
    }
    if (types->global_count)
        qsort(types->globals, types->global_count, sizeof *types->globals, by_start);
    const bool good =
        walk.good && span_table_build(&types->spans, types->ranges, types->range_count);
    free(types->ranges);
    types->ranges = NULL;
    return good;
}
