#include "analyze/access_variables.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/cfg.h"
#include "util/array.h"

enum { PLACES_MOST = 4 << 20 };

/* What a variable tells of a value. */
struct told {
    uint32_t origin, type;
    int64_t offset; /* in the type, of the value itself */
    bool is_unsure; /* variables tell different things */
};

/* ---- places by instruction ---- */

static bool each_insn(struct access_variables *variables, bool fill) {
    const struct cfg *cfg = variables->cfg;
    const uint64_t base = cfg->code->address;
    size_t total = 0;
    for (size_t i = 0; i < variables->list.count; i++) {
        const struct variable_place *place = &variables->list.places[i];
        const uint64_t from = place->start > base ? place->start - base : 0;
        const uint64_t to = place->end > base ? place->end - base : 0;
        for (uint64_t at = from; at < to && at < cfg->code->size; at++) {
            const uint32_t insn = cfg->at[at];
            if (insn == CFG_NONE)
                continue;
            if (++total > PLACES_MOST)
                return true;
            if (fill)
                variables->places[--variables->first[insn + 1]] = (uint32_t)i;
            else
                variables->first[insn + 1]++;
        }
    }
    return true;
}

/* As a list of lists: first[i] to first[i + 1]. */
static bool list_places(struct access_variables *variables) {
    const uint32_t count = variables->cfg->insn_count;
    variables->first = calloc((size_t)count + 2, sizeof *variables->first);
    if (!variables->first || !each_insn(variables, false))
        return false;
    for (uint32_t i = 0; i <= count; i++)
        variables->first[i + 1] += variables->first[i];
    const uint32_t total = variables->first[count];
    variables->places = malloc(((size_t)total + 1) * sizeof *variables->places);
    if (!variables->places)
        return false;
    /* each end moves down to where its list begins: then they are one too far behind */
    each_insn(variables, true);
    memmove(variables->first, variables->first + 1, ((size_t)count + 1) * sizeof *variables->first);
    variables->first[count] = total;
    return true;
}

/* ---- what is told ---- */

static bool is_better(struct types *types, const struct value *known, uint32_t type) {
    if (known->kind == VALUE_POINTER && known->meets)
        return true;
    if (known->kind != VALUE_POINTER)
        return known->kind != VALUE_STACK;
    const struct type *old = type_at(types, known->type), *new = type_at(types, type);
    const bool records = old->kind == TYPE_RECORD || old->kind == TYPE_UNION;
    if (new->kind == TYPE_RECORD || new->kind == TYPE_UNION)
        return !records || new->size >= old->size;
    return !records && known->type != type && old->kind == TYPE_OPAQUE;
}

/* NULL: nothing is told of it. */
static struct told *told_of(const struct access_variables *variables, uint32_t origin) {
    const struct hash_index *index = &variables->told_index;
    size_t at;
    if (!origin || !variables->told_count)
        return NULL;
    assert(variables->told);
    for (uint32_t i = hash_index_first(index, hash_pair(origin, 0), &at); i != HASH_INDEX_NONE;
         i = hash_index_next(index, hash_pair(origin, 0), &at))
        if (variables->told[i].origin == origin)
            return &variables->told[i];
    return NULL;
}

/* A variable tells that the value of this origin is this pointer. */
static void tell(struct access_variables *variables, const struct value *known,
                 const struct value *pointer) {
    const struct told told = {
        .origin = known->origin, .type = pointer->type, .offset = pointer->offset - known->behind};
    struct told *before = told_of(variables, known->origin);
    if (!known->origin || variables->is_again)
        return;
    if (before)
        before->is_unsure |= before->type != told.type || before->offset != told.offset;
    else if (!array_push(variables->told, variables->told_capacity, variables->told_count, told) ||
             !hash_index_add(&variables->told_index, hash_pair(told.origin, 0),
                             (uint32_t)variables->told_count - 1))
        variables->has_failed = true;
}

struct value access_variables_told(const struct access_variables *variables,
                                   const struct value *value) {
    const struct told *told = value->kind == VALUE_NUMBER && variables->is_again
                                  ? told_of(variables, value->origin)
                                  : NULL;
    struct value pointer = *value;
    if (!told || told->is_unsure)
        return pointer;
    pointer = value_pointer(told->type, told->offset + value->behind);
    pointer.origin = value->origin;
    pointer.behind = value->behind;
    return pointer;
}

bool access_type_is_plain(struct types *types, uint32_t type) {
    const uint8_t kind = type_at(types, type)->kind;
    return kind != TYPE_RECORD && kind != TYPE_UNION && kind != TYPE_ARRAY;
}

void access_variables_take(struct access_variables *variables, uint32_t insn, struct state *state) {
    struct types *types = variables->types;
    for (uint32_t i = variables->first[insn]; i < variables->first[insn + 1]; i++) {
        const struct variable_place *place = &variables->list.places[variables->places[i]];
        struct value value;
        if (place->kind == PLACE_REGISTER)
            value = value_of_type(types, place->type, -place->offset);
        else if (place->kind == PLACE_BASED && !place->is_reference &&
                 !access_type_is_plain(types,
                                       place->type)) /* passed by reference; a copy tells nothing */
            value = value_pointer(place->type, -place->offset);
        else
            continue;
        struct value *known = &state->registers[place->reg % ACCESS_REGISTERS];
        if (value.kind == VALUE_POINTER && known->kind == VALUE_NUMBER)
            tell(variables, known, &value);
        if (value.kind == VALUE_POINTER
                ? is_better(types, known, value.type)
                : value.reason == ACCESS_OPAQUE && known->kind == VALUE_NUMBER) {
            value.origin = known->origin;
            value.behind = known->behind;
            *known = value;
        }
    }
}

uint32_t access_variables_on_stack(const struct access_variables *variables, uint32_t insn,
                                   const struct state *state, int64_t at, uint64_t size,
                                   int64_t *offset, bool *is_reference) {
    uint32_t best = TYPE_NONE;
    uint64_t smallest = UINT64_MAX;
    for (uint32_t i = variables->first[insn]; i < variables->first[insn + 1]; i++) {
        const struct variable_place *place = &variables->list.places[variables->places[i]];
        int64_t start = place->offset;
        if (place->kind == PLACE_BASED) {
            const struct value *base = &state->registers[place->reg % ACCESS_REGISTERS];
            if (base->kind != VALUE_STACK || base->stride)
                continue;
            start += base->offset;
        } else if (place->kind != PLACE_FRAME) {
            continue;
        }
        const uint64_t whole =
            place->is_reference ? 8 : type_at(variables->types, place->type)->size;
        if (at < start || (uint64_t)(at - start) + size > whole || whole >= smallest)
            continue;
        best = place->type;
        smallest = whole;
        *offset = at - start;
        *is_reference = place->is_reference;
    }
    return best;
}

bool access_variables_read(struct access_variables *variables, const struct cfg *cfg,
                           struct types *types) {
    *variables = (struct access_variables){.cfg = cfg, .types = types};
    return types_variables(types, cfg->code->address, &variables->list) && list_places(variables);
}

void access_variables_free(struct access_variables *variables) {
    variable_list_free(&variables->list);
    hash_index_free(&variables->told_index);
    free(variables->told);
    free(variables->first);
    free(variables->places);
}
