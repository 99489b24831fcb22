/* Blocks are worked through until nothing changes, then once more to see what each instruction
 * accesses. A state holds the registers, and the slots of the stack that registers were spilled
 * to.
 *
 * Values have origins: the instruction that made them, or the block at which ways with different
 * ones meet, and the register. Where a variable tells the type of a value of which nothing else is
 * known, that is kept by its origin, and all is done once more with what was found so. */
#include "analyze/access_types.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/access_value.h"
#include "analyze/cfg.h"
#include "analyze/formula.h"
#include "isa/access.h"
#include "isa/expression.h"
#include "util/array.h"
#include "util/hash_index.h"

enum {
    REGISTERS = 32,
    SLOTS = 24,
    BLOCKS_MOST = 1 << 15,
    VISITS_MOST = 16, /* of a block, before what still changes is given up */
    PLACES_MOST = 4 << 20,
    REG_RISCV_SP = 2,
    REG_RISCV_A0 = 10,
    REG_RAX = 0
};

struct slot {
    int64_t offset;     /* behind the canonical frame address */
    struct value value; /* unset: the slot is free */
};

struct state {
    struct value registers[REGISTERS];
    struct slot slots[SLOTS];
};

/* What a variable tells of a value. */
struct told {
    uint32_t origin, type;
    int64_t offset; /* in the type, of the value itself */
    bool is_unsure; /* variables tell different things */
};

struct following {
    const struct cfg *cfg;
    struct types *types;
    struct told *told;
    size_t told_count, told_capacity;
    struct hash_index told_index; /* by origin */
    bool is_again;                /* all is told */
    bool has_failed;              /* memory is out */
    struct variable_list variables;
    uint32_t *first, *places; /* of variables, by instruction */
    struct state *states;     /* at each block's head */
    uint8_t *visits;
    uint32_t *work;
    uint32_t work_count;
    bool *is_waiting;
    struct accessed *accessed; /* NULL: not yet */
};

const char *access_reason_text(enum access_reason reason) {
    static const char *const TEXTS[ACCESS_REASONS] = {
        [ACCESS_KNOWN] = "",
        [ACCESS_NONE] = "no memory access",
        [ACCESS_STACK] = "stack: locals and spilled registers",
        [ACCESS_NO_DEBUG_INFO] = "no debug information",
        [ACCESS_NO_CODE] = "no function or code in a file",
        [ACCESS_NO_VARIABLE] = "no variable has the address",
        [ACCESS_OPAQUE] = "pointer to void or to an undefined type",
        [ACCESS_CALLED] = "returned by a function of unknown type",
        [ACCESS_LOADED] = "loaded from where no pointer is known",
        [ACCESS_COMPUTED] = "address computed in a way not followed",
        [ACCESS_MEETING] = "several types or fields meet",
        [ACCESS_OUTSIDE] = "no field at that offset",
        [ACCESS_THREAD] = "thread-local",
        [ACCESS_DATA] = "constant address without a variable"};
    return TEXTS[reason];
}

/* ---- places by instruction ---- */

static bool each_insn(struct following *following, bool fill) {
    const struct cfg *cfg = following->cfg;
    const uint64_t base = cfg->code->address;
    size_t total = 0;
    for (size_t i = 0; i < following->variables.count; i++) {
        const struct variable_place *place = &following->variables.places[i];
        const uint64_t from = place->start > base ? place->start - base : 0;
        const uint64_t to = place->end > base ? place->end - base : 0;
        for (uint64_t at = from; at < to && at < cfg->code->size; at++) {
            const uint32_t insn = cfg->at[at];
            if (insn == CFG_NONE)
                continue;
            if (++total > PLACES_MOST)
                return true;
            if (fill)
                following->places[--following->first[insn + 1]] = (uint32_t)i;
            else
                following->first[insn + 1]++;
        }
    }
    return true;
}

/* As a list of lists: first[i] to first[i + 1]. */
static bool list_places(struct following *following) {
    const uint32_t count = following->cfg->insn_count;
    following->first = calloc((size_t)count + 2, sizeof *following->first);
    if (!following->first || !each_insn(following, false))
        return false;
    for (uint32_t i = 0; i <= count; i++)
        following->first[i + 1] += following->first[i];
    const uint32_t total = following->first[count];
    following->places = malloc(((size_t)total + 1) * sizeof *following->places);
    if (!following->places)
        return false;
    /* each end moves down to where its list begins: then they are one too far behind */
    each_insn(following, true);
    memmove(following->first, following->first + 1, ((size_t)count + 1) * sizeof *following->first);
    following->first[count] = total;
    return true;
}

/* ---- variables ---- */

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
static struct told *told_of(const struct following *following, uint32_t origin) {
    const struct hash_index *index = &following->told_index;
    size_t at;
    if (!origin || !following->told_count)
        return NULL;
    assert(following->told);
    for (uint32_t i = hash_index_first(index, hash_pair(origin, 0), &at); i != HASH_INDEX_NONE;
         i = hash_index_next(index, hash_pair(origin, 0), &at))
        if (following->told[i].origin == origin)
            return &following->told[i];
    return NULL;
}

/* A variable tells that the value of this origin is this pointer. */
static void tell(struct following *following, const struct value *known,
                 const struct value *pointer) {
    const struct told told = {
        .origin = known->origin, .type = pointer->type, .offset = pointer->offset - known->behind};
    struct told *before = told_of(following, known->origin);
    if (!known->origin || following->is_again)
        return;
    if (before)
        before->is_unsure |= before->type != told.type || before->offset != told.offset;
    else if (!array_push(following->told, following->told_capacity, following->told_count, told) ||
             !hash_index_add(&following->told_index, hash_pair(told.origin, 0),
                             (uint32_t)following->told_count - 1))
        following->has_failed = true;
}

/* With what is told of its origin. */
static struct value as_told(const struct following *following, const struct value *value) {
    const struct told *told = value->kind == VALUE_NUMBER && following->is_again
                                  ? told_of(following, value->origin)
                                  : NULL;
    struct value pointer = *value;
    if (!told || told->is_unsure)
        return pointer;
    pointer = value_pointer(told->type, told->offset + value->behind);
    pointer.origin = value->origin;
    pointer.behind = value->behind;
    return pointer;
}

static bool is_plain(struct types *types, uint32_t type) {
    const uint8_t kind = type_at(types, type)->kind;
    return kind != TYPE_RECORD && kind != TYPE_UNION && kind != TYPE_ARRAY;
}

/* What variables say of registers before an instruction. */
static void take_variables(struct following *following, uint32_t insn, struct state *state) {
    struct types *types = following->types;
    for (uint32_t i = following->first[insn]; i < following->first[insn + 1]; i++) {
        const struct variable_place *place = &following->variables.places[following->places[i]];
        struct value value;
        if (place->kind == PLACE_REGISTER)
            value = value_of_type(types, place->type, -place->offset);
        else if (place->kind == PLACE_BASED && !place->is_reference &&
                 !is_plain(types, place->type)) /* passed by reference; a copy tells nothing */
            value = value_pointer(place->type, -place->offset);
        else
            continue;
        struct value *known = &state->registers[place->reg % REGISTERS];
        if (value.kind == VALUE_POINTER && known->kind == VALUE_NUMBER)
            tell(following, known, &value);
        if (value.kind == VALUE_POINTER
                ? is_better(types, known, value.type)
                : value.reason == ACCESS_OPAQUE && known->kind == VALUE_NUMBER) {
            value.origin = known->origin;
            value.behind = known->behind;
            *known = value;
        }
    }
}

/* The variable on the stack that holds `size` bytes there, the smallest; TYPE_NONE: none. */
static uint32_t on_stack(const struct following *following, uint32_t insn,
                         const struct state *state, int64_t at, uint64_t size, int64_t *offset,
                         bool *is_reference) {
    uint32_t best = TYPE_NONE;
    uint64_t smallest = UINT64_MAX;
    for (uint32_t i = following->first[insn]; i < following->first[insn + 1]; i++) {
        const struct variable_place *place = &following->variables.places[following->places[i]];
        int64_t start = place->offset;
        if (place->kind == PLACE_BASED) {
            const struct value *base = &state->registers[place->reg % REGISTERS];
            if (base->kind != VALUE_STACK || base->stride)
                continue;
            start += base->offset;
        } else if (place->kind != PLACE_FRAME) {
            continue;
        }
        const uint64_t whole =
            place->is_reference ? 8 : type_at(following->types, place->type)->size;
        if (at < start || (uint64_t)(at - start) + size > whole || whole >= smallest)
            continue;
        best = place->type;
        smallest = whole;
        *offset = at - start;
        *is_reference = place->is_reference;
    }
    return best;
}

static const struct slot *slot_at(const struct state *state, int64_t offset) {
    for (unsigned i = 0; i < SLOTS; i++)
        if (state->slots[i].value.kind != VALUE_UNSET && state->slots[i].offset == offset)
            return &state->slots[i];
    return NULL;
}

static void spill(struct state *state, int64_t offset, const struct value *value) {
    struct slot *slot = (struct slot *)slot_at(state, offset);
    for (unsigned i = 0; !slot && i < SLOTS; i++)
        if (state->slots[i].value.kind == VALUE_UNSET)
            slot = &state->slots[i];
    if (slot)
        *slot = (struct slot){offset, *value};
}

/* ---- one instruction ---- */

struct step {
    struct following *following;
    uint32_t number; /* of the instruction */
    const struct insn *insn;
    const uint8_t *bytes;
    size_t size;
    uint64_t address;
    struct state *state;
};

/* Of what an instruction makes, or what ways that meet at a block leave, in a register. */
enum { AT_BLOCK = 1, AT_INSN = 0 };
static uint32_t origin_of(uint32_t number, bool at_block, unsigned reg) {
    return 1 + ((number * 2 + at_block) * REGISTERS | (reg & (REGISTERS - 1)));
}

static struct value register_value(const struct step *step, uint8_t reg) {
    if (reg == REG_NONE)
        return (struct value){.kind = VALUE_CONSTANT};
    return reg < REGISTERS ? as_told(step->following, &step->state->registers[reg])
                           : value_unknown(ACCESS_COMPUTED);
}

/* What the instruction makes is of its own origin, unless it is known to be of another. */
static void set_register(const struct step *step, uint8_t reg, const struct value *value) {
    if (reg >= REGISTERS)
        return;
    step->state->registers[reg] =
        value->origin ? *value : value_as(*value, origin_of(step->number, AT_INSN, reg));
}

static struct value address_of(const struct step *step, uint8_t base, uint8_t index, unsigned shift,
                               int64_t constant) {
    const struct value left = register_value(step, base), right = register_value(step, index);
    if (base == index && base != REG_NONE && left.kind == VALUE_NUMBER) {
        const struct value none = {.kind = VALUE_CONSTANT};
        return value_sum(&none, &left, 1 + (INT64_C(1) << (shift & 31)), constant);
    }
    return value_sum(&left, &right, INT64_C(1) << (shift & 31), constant);
}

static struct value loaded_from(const struct step *step, const struct value *address,
                                uint64_t size) {
    struct types *types = step->following->types;
    int64_t offset;
    bool is_reference = false;
    if (address->kind == VALUE_STACK && !address->stride) {
        const uint32_t type = on_stack(step->following, step->number, step->state, address->offset,
                                       size, &offset, &is_reference);
        const struct slot *slot = slot_at(step->state, address->offset);
        if (type != TYPE_NONE && is_reference)
            return value_pointer(type, 0);
        struct value value = value_unknown(ACCESS_LOADED);
        if (type != TYPE_NONE) {
            const struct value variable = value_pointer(type, offset);
            value = value_loaded(types, &variable, size);
        }
        return slot && size == 8 && value.kind != VALUE_POINTER ? slot->value : value;
    }
    const struct value located = value_located(types, address);
    if (located.kind == VALUE_CONSTANT && size == 8 && !located.stride) {
        uint64_t linked;
        const struct procedure_code *code = step->following->cfg->code;
        if (code->read && code->read(code->context, (uint64_t)located.offset, &linked, 8)) {
            const struct value constant = {.kind = VALUE_CONSTANT, .offset = (int64_t)linked};
            const struct value global = value_located(types, &constant);
            if (global.kind == VALUE_POINTER)
                return constant;
        }
        return value_unknown(ACCESS_DATA);
    }
    return value_loaded(types, &located, size);
}

static struct value result_of(const struct step *step, const struct expression *by) {
    struct value value;
    switch (by->kind) {
    case EXPRESSION_SUM:
        value = address_of(step, by->base, by->index, by->shift, by->constant);
        return by->width == 8         ? value
               : value_points(&value) ? value_unknown(ACCESS_COMPUTED)
                                      : value_as(value, 0);
    case EXPRESSION_AND: /* of a pointer with marks in its low bits, or of its alignment */
        value = register_value(step, by->base);
        return value.kind == VALUE_POINTER && by->constant < 0 && by->width == 8
                   ? value
                   : value_unknown(ACCESS_COMPUTED);
    case EXPRESSION_LOAD:
        value = address_of(step, by->base, by->index, by->shift, by->constant);
        value = loaded_from(step, &value, by->width);
        return by->width == 8 ? value : value_as(value, 0);
    default:
        return value_unknown(ACCESS_COMPUTED);
    }
}

static void call(const struct step *step) {
    const struct following *following = step->following;
    const struct procedure_code *code = following->cfg->code;
    const enum isa isa = (enum isa)step->insn->isa;
    uint32_t type = TYPE_NONE;
    if (step->insn->branch == BRANCH_CALL) {
        const uint64_t target = step->address + (uint64_t)step->insn->target;
        type = types_returned(following->types, target,
                              code->name ? code->name(code->context, target) : NULL);
    } else {
        const struct expression by = insn_expression(isa, step->bytes, step->size, step->address);
        struct value to = address_of(step, by.base, by.index, by.shift, by.constant);
        if (by.kind == EXPRESSION_JUMP_LOADED)
            to = loaded_from(step, &to, 8);
        if (to.kind == VALUE_POINTER)
            type = type_at(following->types, to.type)->kind == TYPE_FUNCTION
                       ? type_at(following->types, to.type)->target
                       : TYPE_NONE;
    }
    for (uint8_t reg = 0; reg < (uint8_t)REGISTERS; reg++) {
        const bool is_stack = reg == (isa == ISA_X86_64 ? REG_X86_RSP : REG_RISCV_SP);
        if (!is_stack && (!following->variables.keeps_registers || !register_is_kept(isa, reg)))
            step->state->registers[reg] =
                value_as(value_unknown(ACCESS_CALLED), origin_of(step->number, AT_INSN, reg));
    }
    struct value value = value_of_type(following->types, type, 0);
    if (value.kind == VALUE_NUMBER && value.reason != ACCESS_OPAQUE)
        value = value_unknown(ACCESS_CALLED);
    set_register(step, isa == ISA_X86_64 ? REG_RAX : REG_RISCV_A0, &value);
}

static void store(const struct step *step) {
    struct access_address access;
    struct uop uops[INSN_MAX_UOPS];
    if (!insn_access_address((enum isa)step->insn->isa, step->bytes, step->size, step->address,
                             &access) ||
        !access.is_store || access.size_bytes != 8)
        return;
    struct value address =
        address_of(step, access.base, access.index, access.shift, access.constant);
    if (access.is_stack && address.kind == VALUE_STACK)
        address.offset -= 8; /* the stack pointer moves first */
    if (address.kind != VALUE_STACK || address.stride)
        return;
    struct value value = value_unknown(ACCESS_LOADED);
    const int count = insn_crack(step->insn, uops);
    for (int i = 0; i < count; i++)
        if (uops[i].operation == OP_STORE && uops[i].data < REGISTERS)
            value = register_value(step, uops[i].data);
    spill(step->state, address.offset, &value);
}

/* The state behind an instruction. */
static void transfer(const struct step *step) {
    const enum isa isa = (enum isa)step->insn->isa;
    struct state *state = step->state;
    struct product product;
    struct conditional_move move;
    const struct expression by = insn_expression(isa, step->bytes, step->size, step->address);
    if (step->insn->branch == BRANCH_CALL || step->insn->branch == BRANCH_INDIRECT_CALL) {
        call(step);
        return;
    }
    store(step);
    struct value value = result_of(step, &by);
    uint8_t to = by.kind <= EXPRESSION_LOAD && by.kind != EXPRESSION_NONE ? by.to : REG_NONE;
    if (insn_product(isa, step->bytes, step->size, &product)) {
        const struct value factor = value_unknown(ACCESS_COMPUTED);
        value = value_scaled(&factor, product.factor);
        to = product.to;
    } else if (insn_conditional_move(isa, step->bytes, step->size, &move)) {
        const struct value here = register_value(step, move.to),
                           there = move.from == REG_NONE ? value_unknown(ACCESS_COMPUTED)
                                                         : register_value(step, move.from);
        value = value_as(value_meet(step->following->types, &here, &there, false), 0);
        to = move.to;
    }
    struct value stack = state->registers[REG_X86_RSP];
    const struct value none = value_unknown(ACCESS_COMPUTED);
    for (unsigned i = 0; i < step->insn->destination_count; i++)
        set_register(step, step->insn->destination[i], &none);
    if (isa == ISA_X86_64 && by.stack_step) {
        stack.offset += by.stack_step;
        state->registers[REG_X86_RSP] = stack;
    }
    set_register(step, to, &value);
}

/* ---- what it accesses ---- */

static void set_stack_access(const struct step *step, const struct value *address,
                             struct accessed *accessed) {
    struct types *types = step->following->types;
    int64_t offset;
    bool is_reference;
    accessed->reason = ACCESS_STACK;
    const uint32_t type = on_stack(step->following, step->number, step->state, address->offset,
                                   accessed->size_bytes, &offset, &is_reference);
    if (type == TYPE_NONE || is_reference || is_plain(types, type))
        return;
    *accessed = (struct accessed){.reason = ACCESS_KNOWN,
                                  .type = type,
                                  .size_bytes = accessed->size_bytes,
                                  .offset = offset,
                                  .stride = address->stride};
}

/* An element in place of an array of them. */
static void strip_array(struct types *types, struct accessed *accessed) {
    for (unsigned depth = 0; depth < 4; depth++) {
        const struct type *type = type_at(types, accessed->type);
        const uint64_t size = type_at(types, type->target)->size;
        if (type->kind != TYPE_ARRAY || !size || accessed->size_bytes > size)
            return;
        accessed->type = type->target;
        accessed->offset %= (int64_t)size;
    }
}

static void see(const struct step *step, struct accessed *accessed) {
    struct types *types = step->following->types;
    struct access_address access;
    *accessed = (struct accessed){.reason = ACCESS_NONE, .type = TYPE_NONE};
    if (!step->insn->memory_count || !insn_access_address((enum isa)step->insn->isa, step->bytes,
                                                          step->size, step->address, &access))
        return;
    accessed->size_bytes = access.size_bytes;
    accessed->reason = access.is_thread ? ACCESS_THREAD : ACCESS_STACK;
    if (access.is_thread || access.is_stack)
        return;
    const struct value at =
        address_of(step, access.base, access.index, access.shift, access.constant);
    const struct value value = value_located(types, &at);
    switch (value.kind) {
    case VALUE_STACK:
        set_stack_access(step, &value, accessed);
        break;
    case VALUE_POINTER:
        accessed->reason = ACCESS_KNOWN;
        accessed->type = value.type;
        accessed->offset = value.offset;
        accessed->stride = value.stride;
        accessed->meets = value.meets;
        strip_array(types, accessed);
        break;
    case VALUE_CONSTANT:
        accessed->reason = ACCESS_DATA;
        break;
    case VALUE_MEETING:
        accessed->reason = ACCESS_MEETING;
        break;
    default:
        accessed->reason = value.reason ? value.reason : ACCESS_NO_VARIABLE;
    }
}

/* ---- the flow ---- */

static void run_block(struct following *following, uint32_t number, struct state *state) {
    const struct cfg *cfg = following->cfg;
    const struct cfg_block *block = &cfg->blocks[number];
    for (uint32_t i = block->first_insn; i < block->first_insn + block->insn_count; i++) {
        const struct cfg_insn *insn = &cfg->insns[i];
        const struct step step = {.following = following,
                                  .number = i,
                                  .insn = &insn->insn,
                                  .bytes = cfg->code->bytes + insn->offset,
                                  .size = cfg->code->size - insn->offset,
                                  .address = cfg->code->address + insn->offset,
                                  .state = state};
        take_variables(following, i, state);
        if (following->accessed)
            see(&step, &following->accessed[i]);
        transfer(&step);
    }
}

static struct value keep_origin(struct value value, const struct value *from) {
    value.origin = from->origin;
    value.behind = from->behind;
    return value;
}

static bool meet_into(struct following *following, uint32_t block, const struct state *from) {
    struct state *state = &following->states[block];
    const bool forced = following->visits[block] >= VISITS_MOST;
    bool changed = false;
    for (unsigned i = 0; i < REGISTERS; i++) {
        const struct value here = state->registers[i], there = from->registers[i];
        struct value met = value_meet(following->types, &here, &there, forced);
        if (here.kind != VALUE_UNSET && there.kind != VALUE_UNSET)
            met = value_is_copy(&here, &there) ? keep_origin(met, &here)
                                               : value_as(met, origin_of(block, AT_BLOCK, i));
        changed |= !value_is_same(&met, &here) || !value_is_copy(&met, &here);
        state->registers[i] = met;
    }
    for (unsigned i = 0; i < SLOTS; i++) {
        const struct slot *slot = &from->slots[i];
        if (slot->value.kind == VALUE_UNSET)
            continue;
        const struct slot *here = slot_at(state, slot->offset);
        struct value met =
            here ? value_meet(following->types, &here->value, &slot->value, forced) : slot->value;
        if (here)
            met = value_is_copy(&here->value, &slot->value) ? keep_origin(met, &here->value)
                                                            : value_as(met, 0);
        if (here ? !value_is_same(&met, &here->value) || !value_is_copy(&met, &here->value)
                 : !forced) {
            spill(state, slot->offset, &met);
            changed |= slot_at(state, slot->offset) != NULL;
        }
    }
    return changed;
}

static void add_work(struct following *following, uint32_t block) {
    if (following->is_waiting[block] || following->visits[block] > VISITS_MOST)
        return;
    following->is_waiting[block] = true;
    following->work[following->work_count++] = block;
}

static void begin(struct following *following) {
    const struct cfg *cfg = following->cfg;
    const bool known = following->variables.is_known;
    const enum isa isa = cfg->code->isa;
    for (uint32_t block = 0; block < cfg->block_count; block++) {
        bool entered = block == 0;
        for (uint32_t i = 0; i < cfg->blocks[block].in_count; i++)
            entered |= cfg->edges[cfg->in_edges[cfg->blocks[block].first_in + i]].from == CFG_NONE;
        if (!entered)
            continue;
        struct state *state = &following->states[block];
        for (unsigned i = 0; i < REGISTERS; i++)
            state->registers[i] =
                value_as(value_unknown(known ? ACCESS_NO_VARIABLE : ACCESS_NO_DEBUG_INFO),
                         origin_of(block, AT_BLOCK, i));
        if (block == 0 && (!known || following->variables.is_whole))
            state->registers[isa == ISA_X86_64 ? REG_X86_RSP : REG_RISCV_SP] =
                (struct value){.kind = VALUE_STACK, .offset = isa == ISA_X86_64 ? -8 : 0};
        add_work(following, block);
    }
}

static void flow(struct following *following) {
    const struct cfg *cfg = following->cfg;
    begin(following);
    while (following->work_count) {
        const uint32_t block = following->work[--following->work_count];
        struct state state = following->states[block];
        following->is_waiting[block] = false;
        following->visits[block]++;
        run_block(following, block, &state);
        for (uint32_t i = 0; i < cfg->blocks[block].out_count; i++) {
            const uint32_t to = cfg->edges[cfg->blocks[block].first_out + i].to;
            if (to != CFG_NONE && meet_into(following, to, &state))
                add_work(following, to);
        }
    }
}

bool access_types_find(const struct cfg *cfg, struct types *types, struct accessed *accessed) {
    struct following following = {.cfg = cfg, .types = types};
    const size_t blocks = (size_t)cfg->block_count + 1;
    for (uint32_t i = 0; i < cfg->insn_count; i++)
        accessed[i] = (struct accessed){.reason = ACCESS_NO_CODE, .type = TYPE_NONE};
    if (cfg->block_count > BLOCKS_MOST)
        return true;
    following.states = calloc(blocks, sizeof *following.states);
    following.visits = calloc(blocks, 1);
    following.work = calloc(blocks, sizeof *following.work);
    following.is_waiting = calloc(blocks, sizeof *following.is_waiting);
    const bool good =
        following.states && following.visits && following.work && following.is_waiting &&
        types_variables(types, cfg->code->address, &following.variables) && list_places(&following);
    if (good) {
        flow(&following);
        if (following.told_count) {
            following.is_again = true;
            memset(following.states, 0, blocks * sizeof *following.states);
            memset(following.visits, 0, blocks);
            flow(&following);
        }
        following.accessed = accessed;
        for (uint32_t block = 0; block < cfg->block_count; block++) {
            struct state state = following.states[block];
            run_block(&following, block, &state);
        }
    }
    variable_list_free(&following.variables);
    hash_index_free(&following.told_index);
    free(following.told);
    free(following.first);
    free(following.places);
    free(following.states);
    free(following.visits);
    free(following.work);
    free(following.is_waiting);
    return good && !following.has_failed;
}
