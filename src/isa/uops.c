/* Cracks instructions into µops, from struct insn alone, for every ISA.
 *
 * The general form is: one load per memory operand read, into a temporary; the operation, which
 * reads the temporaries and the data sources; one store per memory operand written, of the
 * operation's result; the branch. A part that has nothing to do is left out, so that a plain load,
 * store, operation or jump is one µop. Three shapes of x86-64 differ: string instructions also
 * step their pointers, leave moves rbp to rsp before it loads, and stack instructions do not
 * mention the update of rsp at all (the stack engine tracks it at rename, so nothing ever waits
 * for it). */
#include <string.h>

#include "isa/isa_internal.h"
#include "util/array.h"

enum { RSP = REG_X86_RSP, RSI = 6, RDI = 7 };

struct registers {
    uint8_t reg[INSN_MAX_SOURCES + INSN_MAX_MEMORY];
    unsigned count;
};

static void registers_add(struct registers *registers, uint8_t reg) {
    if (reg != REG_NONE && registers->count < sizeof registers->reg &&
        !register_list_has(registers->reg, registers->count, reg))
        registers->reg[registers->count++] = reg;
}

struct cracker {
    const struct insn *insn;
    struct uop *uops;
    unsigned count;
    uint8_t next_temporary;
    struct registers inputs;  /* of the operation: loaded temporaries and data sources */
    struct registers results; /* destinations not yet written */
};

static struct uop *uop_new(struct cracker *cracker, enum operation operation) {
    /* No decoded instruction needs more; a struct insn made up otherwise loses the last ones. */
    if (cracker->count < INSN_MAX_UOPS)
        cracker->count++;
    struct uop *uop = &cracker->uops[cracker->count - 1];
    *uop = (struct uop){.operation = operation, .memory = 255, .data = REG_NONE};
    return uop;
}

static void uop_add_source(struct uop *uop, uint8_t reg) {
    if (reg != REG_NONE && uop->source_count < UOP_MAX_SOURCES &&
        !register_list_has(uop->source, uop->source_count, reg))
        uop->source[uop->source_count++] = reg;
}

static void uop_add_destination(struct uop *uop, uint8_t reg) {
    if (uop->destination_count < UOP_MAX_DESTINATIONS)
        uop->destination[uop->destination_count++] = reg;
}

static uint8_t new_temporary(struct cracker *cracker) {
    return cracker->next_temporary++;
}

static bool insn_reads(const struct insn *insn, uint8_t reg) {
    return register_list_has(insn->source, insn->source_count, reg);
}

static bool insn_writes(const struct insn *insn, uint8_t reg) {
    return register_list_has(insn->destination, insn->destination_count, reg);
}

/* Values of fp and vector instructions pass through fp temporaries. */
static bool computes_in_fp(const struct insn *insn) {
    return (insn->operation >= OP_FP_ADD && insn->operation <= OP_VEC_PERM) ||
           any_where(i, insn->source_count, register_is_fp(insn->source[i])) ||
           any_where(i, insn->destination_count, register_is_fp(insn->destination[i]));
}

/* Sources read as data: source[0] when it is shared with an address, then all that form none. */
static void collect_data_sources(const struct insn *insn, struct registers *data) {
    for (unsigned i = 0; i < insn->source_count; i++)
        if ((i == 0 && (insn->flags & INSN_ADDRESS_IS_DATA)) ||
            !insn_addresses_by(insn, insn->source[i]))
            registers_add(data, insn->source[i]);
}

static struct uop *memory_uop(struct cracker *cracker, unsigned index, enum operation operation) {
    struct uop *uop = uop_new(cracker, operation);
    uop->memory = (uint8_t)index;
    uop_add_source(uop, cracker->insn->memory[index].base);
    uop_add_source(uop, cracker->insn->memory[index].index);
    return uop;
}

static void add_loads(struct cracker *cracker) {
    for (unsigned i = 0; i < cracker->insn->memory_count; i++) {
        if (!cracker->insn->memory[i].is_load)
            continue;
        uint8_t loaded = new_temporary(cracker);
        uop_add_destination(memory_uop(cracker, i, OP_LOAD), loaded);
        registers_add(&cracker->inputs, loaded);
    }
}

static void add_stores(struct cracker *cracker, uint8_t data) {
    for (unsigned i = 0; i < cracker->insn->memory_count; i++)
        if (cracker->insn->memory[i].is_store)
            memory_uop(cracker, i, OP_STORE)->data = data;
}

/* The operation on all inputs, in several µops when they or the results are too many for one.
 * Returns a temporary with a copy of the result if one is asked for. */
static uint8_t add_operation(struct cracker *cracker, enum operation operation, bool to_memory) {
    const struct registers *inputs = &cracker->inputs;
    unsigned used = 0;
    uint8_t partial = REG_NONE;
    while (inputs->count - used > UOP_MAX_SOURCES - (partial != REG_NONE)) {
        struct uop *uop = uop_new(cracker, operation);
        uop_add_source(uop, partial);
        while (uop->source_count < UOP_MAX_SOURCES)
            uop_add_source(uop, inputs->reg[used++]);
        partial = new_temporary(cracker);
        uop_add_destination(uop, partial);
    }
    uint8_t stored = to_memory ? new_temporary(cracker) : REG_NONE;
    unsigned written = 0;
    struct uop *uop = uop_new(cracker, operation);
    uop_add_source(uop, partial);
    while (used < inputs->count)
        uop_add_source(uop, inputs->reg[used++]);
    if (to_memory)
        uop_add_destination(uop, stored);
    while (written < cracker->results.count) {
        if (uop->destination_count == UOP_MAX_DESTINATIONS) {
            struct uop *more = uop_new(cracker, operation);
            memcpy(more->source, uop->source, sizeof uop->source);
            more->source_count = uop->source_count;
            uop = more;
        }
        uop_add_destination(uop, cracker->results.reg[written++]);
    }
    return stored;
}

/* push, pop, call, ret, enter and their kin: memory addressed by rsp, which they move. */
static bool moves_stack_pointer(const struct insn *insn) {
    if (insn->isa != ISA_X86_64 || !insn_writes(insn, RSP))
        return false;
    if (insn->operation != OP_STORE && insn->operation != OP_BRANCH &&
        insn->operation != OP_SYSTEM &&
        !(insn->operation == OP_LOAD && insn->destination_count > 1))
        return false;
    return any_where(i, insn->memory_count,
                     insn->memory[i].base == RSP && insn->memory[i].index == REG_NONE);
}

/* add or sub rsp, a constant: REX.W, 81 or 83, the register in ModRM. */
static bool steps_stack_pointer(const uint8_t *bytes, size_t size) {
    enum { REX_W = 0x48, BY_BYTE = 0x83, BY_WORD = 0x81, ADD_RSP = 0xc4, SUB_RSP = 0xec };
    return size >= 4 && bytes[0] == REX_W && (bytes[1] == BY_BYTE || bytes[1] == BY_WORD) &&
           (bytes[2] == ADD_RSP || bytes[2] == SUB_RSP);
}

static bool is_lea(const uint8_t *bytes, size_t size) {
    enum { LEA = 0x8d };
    return size >= 2 && ((bytes[0] & 0xf0) == 0x40 ? bytes[1] : bytes[0]) == LEA;
}

static bool reads_as_data(const struct insn *insn, uint8_t reg) {
    return insn_reads(insn, reg) &&
           (!insn_addresses_by(insn, reg) ||
            (insn->flags & INSN_ADDRESS_IS_DATA && insn->source[0] == reg));
}

unsigned x86_64_stack_use(const uint8_t *bytes, size_t size, const struct insn *insn) {
    if (moves_stack_pointer(insn))
        return STACK_MOVED;
    return (reads_as_data(insn, RSP) && !is_lea(bytes, size) ? STACK_READ : 0u) |
           (insn_writes(insn, RSP) ? STACK_WRITTEN : 0u) |
           (steps_stack_pointer(bytes, size) ? STACK_STEPPED : 0u);
}

/* leave: rsp = rbp + 8, rbp = [rbp]. */
static bool is_leave(const struct insn *insn) {
    return insn->isa == ISA_X86_64 && insn->operation == OP_LOAD && insn->memory_count == 1 &&
           insn->destination_count == 2 && insn_writes(insn, RSP) && insn->memory[0].base != RSP &&
           insn_writes(insn, insn->memory[0].base);
}

static void crack_leave(struct cracker *cracker) {
    uint8_t frame = cracker->insn->memory[0].base;
    struct uop *pointer = uop_new(cracker, OP_INT_ALU);
    uop_add_source(pointer, frame);
    uop_add_destination(pointer, RSP);
    uop_add_destination(memory_uop(cracker, 0, OP_LOAD), frame);
}

/* Work that combines a loaded or stored value with other registers: merging a narrow load,
 * applying a mask, gathering lanes. */
static enum operation combining_operation(const struct insn *insn, const struct registers *data) {
    if (insn->flags & INSN_GATHER)
        return OP_VEC_PERM;
    return any_where(i, data->count, register_is_fp(data->reg[i])) ? OP_VEC_ALU : OP_INT_ALU;
}

static void crack_load(struct cracker *cracker) {
    const struct insn *insn = cracker->insn;
    enum operation combine = combining_operation(insn, &cracker->inputs);
    add_loads(cracker);
    if (cracker->inputs.count == 1 && cracker->results.count <= UOP_MAX_DESTINATIONS) {
        struct uop *load = &cracker->uops[0];
        load->destination_count = 0;
        for (unsigned i = 0; i < cracker->results.count; i++)
            uop_add_destination(load, cracker->results.reg[i]);
    } else {
        add_operation(cracker, combine, false);
    }
}

static void crack_store(struct cracker *cracker) {
    enum operation combine = combining_operation(cracker->insn, &cracker->inputs);
    add_loads(cracker);
    uint8_t data = cracker->inputs.count == 1 ? cracker->inputs.reg[0] : REG_NONE;
    if (cracker->inputs.count > 1 || cracker->results.count > 0)
        data = add_operation(cracker, combine, true);
    add_stores(cracker, data);
}

static void crack_general(struct cracker *cracker) {
    const struct insn *insn = cracker->insn;
    bool to_memory = false;
    for (unsigned i = 0; i < insn->memory_count; i++)
        to_memory |= insn->memory[i].is_store;
    add_loads(cracker);
    uint8_t stored = add_operation(cracker, insn->operation, to_memory);
    add_stores(cracker, stored);
}

static void crack_branch(struct cracker *cracker) {
    add_loads(cracker);
    add_stores(cracker, REG_NONE); /* a call stores its own address: no register */
    add_operation(cracker, OP_BRANCH, false);
    cracker->uops[cracker->count - 1].flags |= UOP_BRANCH;
}

static void crack_by_operation(struct cracker *cracker) {
    if (cracker->insn->operation == OP_LOAD)
        crack_load(cracker);
    else if (cracker->insn->operation == OP_STORE)
        crack_store(cracker);
    else if (cracker->insn->branch != BRANCH_NONE)
        crack_branch(cracker);
    else
        crack_general(cracker);
}

/* movs, stos, lods, scas, cmps, ins, outs (they alone read DF and address by rsi or rdi): the
 * element, then the step of the pointers and of the repeat count. */
static bool is_string(const struct insn *insn) {
    return insn->isa == ISA_X86_64 && insn->memory_count > 0 && insn_reads(insn, REG_X86_DF) &&
           (insn->memory[0].base == RSI || insn->memory[0].base == RDI);
}

static bool is_string_counter(const struct insn *insn, uint8_t reg) {
    return insn_addresses_by(insn, reg) || (reg == 1 && (insn->flags & INSN_REP));
}

static void crack_string(struct cracker *cracker) {
    const struct insn *insn = cracker->insn;
    struct registers steps = {0};
    cracker->results.count = 0;
    for (unsigned i = 0; i < insn->source_count; i++)
        if (!is_string_counter(insn, insn->source[i]) && insn->source[i] != REG_X86_DF)
            registers_add(&cracker->inputs, insn->source[i]);
    for (unsigned i = 0; i < insn->destination_count; i++)
        registers_add(is_string_counter(insn, insn->destination[i]) ? &steps : &cracker->results,
                      insn->destination[i]);
    crack_by_operation(cracker);
    struct uop *step = uop_new(cracker, OP_INT_ALU);
    for (unsigned i = 0; i < steps.count; i++) {
        uop_add_source(step, steps.reg[i]);
        uop_add_destination(step, steps.reg[i]);
    }
    uop_add_source(step, REG_X86_DF);
}

int insn_crack(const struct insn *insn, struct uop uops[INSN_MAX_UOPS]) {
    struct cracker cracker = {
        .insn = insn,
        .uops = uops,
        .next_temporary = computes_in_fp(insn) ? REG_FP_TEMPORARY : REG_TEMPORARY,
    };
    bool stack = moves_stack_pointer(insn);
    struct registers data = {0};
    collect_data_sources(insn, &data);
    for (unsigned i = 0; i < insn->destination_count; i++)
        if (!(stack && insn->destination[i] == RSP))
            registers_add(&cracker.results, insn->destination[i]);
    if (is_string(insn)) {
        crack_string(&cracker);
    } else if (is_leave(insn)) {
        crack_leave(&cracker);
    } else {
        cracker.inputs = data;
        crack_by_operation(&cracker);
    }
    for (unsigned i = 0; i < cracker.count; i++)
        uops[i].flags |= insn->unlaminated ? UOP_UNLAMINATED : 0;
    uops[0].flags |= UOP_FIRST;
    uops[cracker.count - 1].flags |= UOP_LAST;
    return (int)cracker.count;
}
