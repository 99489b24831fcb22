/* Blocks are worked through until nothing changes, then once more to see what each instruction
 * accesses. A state holds the registers, and the slots of the stack that registers were spilled
 * to.
 *
 * Values have origins: the instruction that made them, or the block at which ways with different
 * ones meet, and the register. Where a variable tells the type of a value of which nothing else is
 * known, that is kept by its origin, and all is done once more with what was found so. */
#include "analyze/access_types.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/access_insn.h"
#include "analyze/access_variables.h"
#include "analyze/cfg.h"
#include "analyze/formula.h"

enum {
    BLOCKS_MOST = 1 << 15,
    VISITS_MOST = 16, /* of a block, before what still changes is given up */
    REG_RISCV_SP = 2,
    REG_RISCV_A0 = 10,
    REG_RAX = 0
};

struct following {
    const struct cfg *cfg;
    struct types *types;
    struct access_variables variables;
    struct access_insn *insns; /* decoded, by instruction */
    struct state *states;      /* at each block's head */
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

/* ---- one instruction ---- */

struct step {
    struct following *following;
    uint32_t number; /* of the instruction */
    const struct insn *insn;
    const struct access_insn *does;
    uint64_t address;
    struct state *state;
};

static struct value register_value(const struct step *step, uint8_t reg) {
    if (reg == REG_NONE)
        return (struct value){.kind = VALUE_CONSTANT};
    return reg < ACCESS_REGISTERS
               ? access_variables_told(&step->following->variables, &step->state->registers[reg])
               : value_unknown(ACCESS_COMPUTED);
}

/* What the instruction makes is of its own origin, unless it is known to be of another. */
static void set_register(const struct step *step, uint8_t reg, const struct value *value) {
    if (reg >= ACCESS_REGISTERS)
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
        const uint32_t type =
            access_variables_on_stack(&step->following->variables, step->number, step->state,
                                      address->offset, size, &offset, &is_reference);
        const struct slot *slot = state_slot(step->state, address->offset);
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
        const struct expression *by = &step->does->by;
        struct value to = address_of(step, by->base, by->index, by->shift, by->constant);
        if (by->kind == EXPRESSION_JUMP_LOADED)
            to = loaded_from(step, &to, 8);
        if (to.kind == VALUE_POINTER)
            type = type_at(following->types, to.type)->kind == TYPE_FUNCTION
                       ? type_at(following->types, to.type)->target
                       : TYPE_NONE;
    }
    for (uint8_t reg = 0; reg < (uint8_t)ACCESS_REGISTERS; reg++) {
        const bool is_stack = reg == (isa == ISA_X86_64 ? REG_X86_RSP : REG_RISCV_SP);
        if (!is_stack &&
            (!following->variables.list.keeps_registers || !register_is_kept(isa, reg)))
            step->state->registers[reg] =
                value_as(value_unknown(ACCESS_CALLED), origin_of(step->number, AT_INSN, reg));
    }
    struct value value = value_of_type(following->types, type, 0);
    if (value.kind == VALUE_NUMBER && value.reason != ACCESS_OPAQUE)
        value = value_unknown(ACCESS_CALLED);
    set_register(step, isa == ISA_X86_64 ? REG_RAX : REG_RISCV_A0, &value);
}

static void store(const struct step *step) {
    const struct access_address *access = &step->does->access;
    if (!step->does->has_access || !access->is_store || access->size_bytes != 8)
        return;
    struct value address =
        address_of(step, access->base, access->index, access->shift, access->constant);
    if (access->is_stack && address.kind == VALUE_STACK)
        address.offset -= 8; /* the stack pointer moves first */
    if (address.kind != VALUE_STACK || address.stride)
        return;
    const struct value value = step->does->stored == REG_NONE
                                   ? value_unknown(ACCESS_LOADED)
                                   : register_value(step, step->does->stored);
    state_spill(step->state, address.offset, &value);
}

/* The state behind an instruction. */
static void transfer(const struct step *step) {
    struct state *state = step->state;
    const struct access_insn *does = step->does;
    const struct expression *by = &does->by;
    if (step->insn->branch == BRANCH_CALL || step->insn->branch == BRANCH_INDIRECT_CALL) {
        call(step);
        return;
    }
    store(step);
    struct value value = result_of(step, by);
    uint8_t to = by->kind <= EXPRESSION_LOAD && by->kind != EXPRESSION_NONE ? by->to : REG_NONE;
    if (does->has_product) {
        const struct value factor = value_unknown(ACCESS_COMPUTED);
        value = value_scaled(&factor, does->product.factor);
        to = does->product.to;
    } else if (does->has_move) {
        const struct conditional_move move = does->move;
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
    if (step->insn->isa == ISA_X86_64 && by->stack_step) {
        stack.offset += by->stack_step;
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
    const uint32_t type =
        access_variables_on_stack(&step->following->variables, step->number, step->state,
                                  address->offset, accessed->size_bytes, &offset, &is_reference);
    if (type == TYPE_NONE || is_reference || access_type_is_plain(types, type))
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
    const struct access_address *access = &step->does->access;
    *accessed = (struct accessed){.reason = ACCESS_NONE, .type = TYPE_NONE};
    if (!step->insn->memory_count || !step->does->has_access)
        return;
    accessed->size_bytes = access->size_bytes;
    accessed->reason = access->is_thread ? ACCESS_THREAD : ACCESS_STACK;
    if (access->is_thread || access->is_stack)
        return;
    const struct value at =
        address_of(step, access->base, access->index, access->shift, access->constant);
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
                                  .does = &following->insns[i],
                                  .address = cfg->code->address + insn->offset,
                                  .state = state};
        access_variables_take(&following->variables, i, state);
        if (following->accessed)
            see(&step, &following->accessed[i]);
        transfer(&step);
    }
}

static void add_work(struct following *following, uint32_t block) {
    if (following->is_waiting[block] || following->visits[block] > VISITS_MOST)
        return;
    following->is_waiting[block] = true;
    following->work[following->work_count++] = block;
}

static void begin(struct following *following) {
    const struct cfg *cfg = following->cfg;
    const bool known = following->variables.list.is_known;
    const enum isa isa = cfg->code->isa;
    for (uint32_t block = 0; block < cfg->block_count; block++) {
        bool entered = block == 0;
        for (uint32_t i = 0; i < cfg->blocks[block].in_count; i++)
            entered |= cfg->edges[cfg->in_edges[cfg->blocks[block].first_in + i]].from == CFG_NONE;
        if (!entered)
            continue;
        struct state *state = &following->states[block];
        for (unsigned i = 0; i < ACCESS_REGISTERS; i++)
            state->registers[i] =
                value_as(value_unknown(known ? ACCESS_NO_VARIABLE : ACCESS_NO_DEBUG_INFO),
                         origin_of(block, AT_BLOCK, i));
        if (block == 0 && (!known || following->variables.list.is_whole))
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
            if (to != CFG_NONE && state_meet(following->types, &following->states[to], to, &state,
                                             following->visits[to] >= VISITS_MOST))
                add_work(following, to);
        }
    }
}

/* From the beginning to where nothing changes. */
static void follow(struct following *following) {
    const size_t blocks = (size_t)following->cfg->block_count + 1;
    flow(following);
    if (following->variables.told_count) {
        following->variables.is_again = true;
        memset(following->states, 0, blocks * sizeof *following->states);
        memset(following->visits, 0, blocks);
        flow(following);
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
    following.insns = access_insns_decode(cfg);
    const bool good = following.states && following.visits && following.work &&
                      following.is_waiting && following.insns &&
                      access_variables_read(&following.variables, cfg, types);
    if (good) {
        follow(&following);
        following.accessed = accessed;
        for (uint32_t block = 0; block < cfg->block_count; block++) {
            struct state state = following.states[block];
            run_block(&following, block, &state);
        }
    }
    access_variables_free(&following.variables);
    free(following.insns);
    free(following.states);
    free(following.visits);
    free(following.work);
    free(following.is_waiting);
    return good && !following.variables.has_failed;
}
