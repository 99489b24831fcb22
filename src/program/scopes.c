#include "program/scopes.h"

#include <dwarf.h>
#include <stddef.h>

bool scope_holds_code(int tag) {
    switch (tag) {
    case DW_TAG_namespace:
    case DW_TAG_module:
    case DW_TAG_structure_type:
    case DW_TAG_class_type:
    case DW_TAG_union_type:
    case DW_TAG_subprogram:
    case DW_TAG_inlined_subroutine:
    case DW_TAG_lexical_block:
    case DW_TAG_try_block:
    case DW_TAG_catch_block:
        return true;
    default:
        return false;
    }
}

const char *scope_symbol(Dwarf_Die *die) {
    static const unsigned names[] = {DW_AT_linkage_name, DW_AT_MIPS_linkage_name, DW_AT_name};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        Dwarf_Attribute attribute;
        const char *name = dwarf_formstring(dwarf_attr_integrate(die, names[i], &attribute));
        if (name && name[0])
            return name;
    }
    return NULL;
}
