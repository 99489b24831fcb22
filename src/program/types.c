/* A type is entered when it is met, by the address of its DIE; a record's members when they are
 * asked for, so that types that refer to each other end. */
#include "program/types.h"

#include <dwarf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "program/source.h"
#include "program/type_store.h"
#include "util/array.h"

static const struct type OPAQUE = {.kind = TYPE_OPAQUE, .name = "", .target = TYPE_NONE};

uint64_t type_name_hash(const char *name) {
    return XXH3_64bits(name, strlen(name));
}

void type_children(Dwarf_Die *above, bool (*visit)(void *context, Dwarf_Die *child),
                   void *context) {
    Dwarf_Die die;
    if (dwarf_child(above, &die))
        return;
    for (unsigned i = 0; i < TYPE_CHILDREN_MOST && visit(context, &die); i++) {
        const Dwarf_Off offset = dwarf_dieoffset(&die);
        if (dwarf_siblingof(&die, &die) || dwarf_dieoffset(&die) <= offset)
            return;
    }
}

/* ---- entering types ---- */

static bool is_looked_through(int tag) {
    switch (tag) {
    case DW_TAG_typedef:
    case DW_TAG_const_type:
    case DW_TAG_volatile_type:
    case DW_TAG_restrict_type:
    case DW_TAG_atomic_type:
    case DW_TAG_immutable_type:
    case DW_TAG_packed_type:
    case DW_TAG_shared_type:
        return true;
    default:
        return false;
    }
}

static enum type_kind kind_of(int tag) {
    switch (tag) {
    case DW_TAG_base_type:
    case DW_TAG_enumeration_type:
    case DW_TAG_subrange_type:
    case DW_TAG_ptr_to_member_type:
        return TYPE_SCALAR;
    case DW_TAG_pointer_type:
    case DW_TAG_reference_type:
    case DW_TAG_rvalue_reference_type:
        return TYPE_POINTER;
    case DW_TAG_structure_type:
    case DW_TAG_class_type:
        return TYPE_RECORD;
    case DW_TAG_union_type:
        return TYPE_UNION;
    case DW_TAG_array_type:
        return TYPE_ARRAY;
    case DW_TAG_subroutine_type:
    case DW_TAG_subprogram:
        return TYPE_FUNCTION;
    default:
        return TYPE_OPAQUE;
    }
}

static uint64_t number_of(Dwarf_Die *die, unsigned name, uint64_t otherwise) {
    Dwarf_Attribute attribute;
    Dwarf_Word value;
    return dwarf_formudata(dwarf_attr(die, name, &attribute), &value) ? otherwise : value;
}

static bool is_declaration(Dwarf_Die *die) {
    Dwarf_Attribute attribute;
    bool flag;
    return !dwarf_formflag(dwarf_attr(die, DW_AT_declaration, &attribute), &flag) && flag;
}

/* "struct " of a unit in C. */
static const char *word_of(Dwarf_Die *die, int tag) {
    Dwarf_Die unit;
    if (!dwarf_diecu(die, &unit, NULL, NULL))
        return "";
    switch (dwarf_srclang(&unit)) {
    case DW_LANG_C:
    case DW_LANG_C89:
    case DW_LANG_C99:
    case DW_LANG_C11:
        return tag == DW_TAG_union_type ? "union " : "struct ";
    default:
        return "";
    }
}

static const char *joined(struct types *types, const char *word, const char *name) {
    const size_t length = strlen(word) + strlen(name);
    char *text = arena_alloc(&types->arena, length + 1);
    if (!text)
        return "";
    snprintf(text, length + 1, "%s%s", word, name);
    return text;
}

/* With its scope where the units' index has it. */
static const char *full_name(const struct types *types, Dwarf_Die *die) {
    size_t at;
    const uint64_t hash = hash_number((uintptr_t)die->addr);
    for (uint32_t i = hash_index_first(&types->scope_index, hash, &at); i != HASH_INDEX_NONE;
         i = hash_index_next(&types->scope_index, hash, &at))
        if (types->definitions[i].die.addr == die->addr)
            return types->definitions[i].name;
    const char *name = dwarf_diename(die);
    return name ? name : "";
}

/* The definition of that name; NULL: there is none. */
static const struct type_entity *type_definition(const struct types *types, const char *name) {
    size_t at;
    const uint64_t hash = type_name_hash(name);
    for (uint32_t i = hash_index_first(&types->definition_index, hash, &at); i != HASH_INDEX_NONE;
         i = hash_index_next(&types->definition_index, hash, &at))
        if (!strcmp(types->definitions[i].name, name) &&
            !is_declaration(&types->definitions[i].die))
            return &types->definitions[i];
    return NULL;
}

/* The product of the counts of an array's dimensions; 0: not known. */
struct dimensions {
    uint64_t count;
    bool any;
};

static bool multiply(void *context, Dwarf_Die *child) {
    struct dimensions *dimensions = context;
    if (dwarf_tag(child) != DW_TAG_subrange_type)
        return true;
    const uint64_t bound = number_of(child, DW_AT_upper_bound, UINT64_MAX);
    const uint64_t count = number_of(child, DW_AT_count, bound == UINT64_MAX ? 0 : bound + 1);
    dimensions->any = true;
    if (__builtin_mul_overflow(dimensions->count, count, &dimensions->count))
        dimensions->count = 0;
    return true;
}

static uint64_t array_size(struct types *types, Dwarf_Die *die, uint32_t target) {
    struct dimensions dimensions = {.count = 1};
    const uint64_t given = number_of(die, DW_AT_byte_size, 0);
    uint64_t size;
    if (given)
        return given;
    type_children(die, multiply, &dimensions);
    return dimensions.any &&
                   !__builtin_mul_overflow(dimensions.count, type_at(types, target)->size, &size)
               ? size
               : 0;
}

static uint32_t find_entry(const struct types *types, const Dwarf_Die *die) {
    size_t at;
    const uint64_t hash = hash_number((uintptr_t)die->addr);
    for (uint32_t i = hash_index_first(&types->entry_index, hash, &at); i != HASH_INDEX_NONE;
         i = hash_index_next(&types->entry_index, hash, &at))
        if (types->entries[i]->die.addr == die->addr)
            return i;
    return TYPE_NONE;
}

static uint32_t enter_at(struct types *types, Dwarf_Die *from, const char *alias, unsigned depth);

static uint32_t attribute_at(struct types *types, Dwarf_Die *die, unsigned depth) {
    Dwarf_Attribute attribute;
    Dwarf_Die target;
    if (!dwarf_formref_die(dwarf_attr_integrate(die, DW_AT_type, &attribute), &target))
        return TYPE_NONE;
    return enter_at(types, &target, NULL, depth + 1);
}

static void describe(struct types *types, struct type *type, Dwarf_Die *die, const char *alias,
                     unsigned depth) {
    const int tag = dwarf_tag(die);
    Dwarf_Attribute attribute;
    const char *name = full_name(types, die);
    type->kind = (uint8_t)kind_of(tag);
    type->size = number_of(die, DW_AT_byte_size, type->kind == TYPE_POINTER ? 8 : 0);
    switch (type->kind) {
    case TYPE_ARRAY:
        type->target = attribute_at(types, die, depth);
        type->size = array_size(types, die, type->target);
        if (dwarf_hasattr(die, DW_AT_GNU_vector))
            type->kind = TYPE_SCALAR;
        break;
    case TYPE_POINTER:
        type->target = attribute_at(types, die, depth);
        if (!name[0])
            name = joined(types,
                          type->target == TYPE_NONE ? "void" : type_at(types, type->target)->name,
                          " *");
        break;
    case TYPE_FUNCTION:
        type->target = attribute_at(types, die, depth);
        name = "function";
        break;
    case TYPE_RECORD:
    case TYPE_UNION:
        if (dwarf_attr(die, DW_AT_declaration, &attribute) && is_declaration(die))
            type->kind = TYPE_OPAQUE;
        if (name[0])
            name = joined(types, word_of(die, tag), name);
        break;
    default:
        break;
    }
    type->name = name[0] ? name : alias ? joined(types, "", alias) : "";
}

/* The definition of what is only declared. */
static bool complete(const struct types *types, Dwarf_Die *die) {
    const char *name;
    if ((kind_of(dwarf_tag(die)) != TYPE_RECORD && kind_of(dwarf_tag(die)) != TYPE_UNION) ||
        !is_declaration(die) || !(name = full_name(types, die))[0])
        return false;
    const struct type_entity *found = type_definition(types, name);
    if (found)
        *die = found->die;
    return found;
}

static uint32_t enter_at(struct types *types, Dwarf_Die *from, const char *alias, unsigned depth) {
    Dwarf_Die die = *from;
    Dwarf_Attribute attribute;
    for (unsigned i = 0; is_looked_through(dwarf_tag(&die)); i++) {
        if (dwarf_tag(&die) == DW_TAG_typedef && dwarf_diename(&die))
            alias = dwarf_diename(&die);
        Dwarf_Die next;
        if (i == TYPE_DEPTH_MOST ||
            !dwarf_formref_die(dwarf_attr(&die, DW_AT_type, &attribute), &next))
            return TYPE_NONE;
        die = next;
    }
    complete(types, &die);
    const uint32_t known = find_entry(types, &die);
    if (known != TYPE_NONE || depth > TYPE_DEPTH_MOST || types->entry_count >= TYPES_MOST)
        return known;
    struct type_entry *entry = arena_alloc(&types->arena, sizeof *entry);
    const uint32_t number = (uint32_t)types->entry_count;
    if (!entry || !hash_index_reserve(&types->entry_index, types->entry_count + 1) ||
        !array_push(types->entries, types->entry_capacity, types->entry_count, entry))
        return TYPE_NONE;
    *entry = (struct type_entry){.type = OPAQUE, .die = die};
    hash_index_add(&types->entry_index, hash_number((uintptr_t)die.addr), number);
    describe(types, &entry->type, &die, alias, depth);
    return number;
}

uint32_t type_of_attribute(struct types *types, Dwarf_Die *die) {
    return attribute_at(types, die, 0);
}

const struct type *type_at(struct types *types, uint32_t type) {
    return type < types->entry_count ? &types->entries[type]->type : &OPAQUE;
}

/* ---- members ---- */

struct gathering {
    struct types *types;
    uint32_t found, depth;
};

/* The offset of a member or base. False: it is not constant. */
static bool location_of(Dwarf_Die *die, uint64_t *offset) {
    Dwarf_Attribute attribute;
    Dwarf_Op *operations;
    size_t count;
    Dwarf_Word value;
    *offset = 0;
    if (!dwarf_attr(die, DW_AT_data_member_location, &attribute))
        return true;
    if (!dwarf_formudata(&attribute, &value)) {
        *offset = value;
        return true;
    }
    if (dwarf_getlocation(&attribute, &operations, &count) || count != 1 ||
        operations[0].atom != DW_OP_plus_uconst)
        return false;
    *offset = operations[0].number;
    return true;
}

/* Where its bits are: as DWARF 4 and later count them, or as before, from the most significant bit
 * of its storage. */
static void set_bits(Dwarf_Die *die, uint64_t storage, struct type_member *member) {
    const uint64_t bits = number_of(die, DW_AT_bit_size, 0);
    if (!bits || bits > UINT32_MAX)
        return;
    uint64_t first = number_of(die, DW_AT_data_bit_offset, UINT64_MAX);
    if (first == UINT64_MAX) {
        const uint64_t bytes = number_of(die, DW_AT_byte_size, storage);
        const uint64_t big = number_of(die, DW_AT_bit_offset, 0);
        first = member->offset * 8 +
                (bytes < UINT32_MAX && bytes * 8 >= big + bits ? bytes * 8 - big - bits : 0);
    }
    member->offset = first / 8;
    member->bit_offset = (uint8_t)(first % 8);
    member->bit_size = (uint32_t)bits;
}

static bool add_member(void *context, Dwarf_Die *die);

static void add_variants(struct gathering *gathering, Dwarf_Die *die) {
    if (gathering->depth++ < TYPE_DEPTH_MOST)
        type_children(die, add_member, gathering);
    gathering->depth--;
}

static bool add_member(void *context, Dwarf_Die *die) {
    struct gathering *gathering = context;
    struct types *types = gathering->types;
    const int tag = dwarf_tag(die);
    if (tag == DW_TAG_variant_part || tag == DW_TAG_variant) {
        add_variants(gathering, die);
        return true;
    }
    struct type_member member = {.is_base = tag == DW_TAG_inheritance};
    if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) || is_declaration(die) ||
        dwarf_hasattr(die, DW_AT_external) || !location_of(die, &member.offset))
        return true;
    member.type = type_of_attribute(types, die);
    const char *name = member.is_base ? type_at(types, member.type)->name : dwarf_diename(die);
    member.name = name ? name : "";
    set_bits(die, type_at(types, member.type)->size, &member);
    if (types->member_count >= TYPES_MOST ||
        !array_push(types->members, types->member_capacity, types->member_count, member))
        return false;
    gathering->found++;
    return true;
}

const struct type_member *type_members(struct types *types, uint32_t type, uint32_t *count) {
    struct type_entry *entry = type < types->entry_count ? types->entries[type] : NULL;
    *count = 0;
    if (!entry || (entry->type.kind != TYPE_RECORD && entry->type.kind != TYPE_UNION))
        return NULL;
    if (!entry->has_members) {
        struct gathering gathering = {.types = types};
        const size_t first = types->member_count;
        type_children(&entry->die, add_member, &gathering);
        *entry = (struct type_entry){.type = entry->type,
                                     .die = entry->die,
                                     .first_member = (uint32_t)first,
                                     .member_count = gathering.found,
                                     .has_members = true};
    }
    *count = entry->member_count;
    return types->members ? types->members + entry->first_member : NULL;
}

/* ---- the whole ---- */

struct types *types_new(const struct elf_image *described, enum isa isa) {
    if (!source_available(described))
        return NULL;
    struct types *types = calloc(1, sizeof *types);
    if (!types)
        return NULL;
    types->isa = isa;
    types->dwarf = dwarf_begin_elf(described->elf, DWARF_C_READ, NULL);
    if (types->dwarf && type_units_read(types))
        return types;
    types_free(types);
    return NULL;
}

void types_free(struct types *types) {
    if (!types)
        return;
    free(types->entries);
    free(types->members);
    free(types->definitions);
    free(types->functions);
    free(types->globals);
    free(types->ranges);
    free(types->procedures);
    hash_index_free(&types->entry_index);
    hash_index_free(&types->definition_index);
    hash_index_free(&types->function_index);
    hash_index_free(&types->scope_index);
    span_table_free(&types->spans);
    arena_free(&types->arena);
    dwarf_end(types->dwarf);
    free(types);
}
