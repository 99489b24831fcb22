/* Which of the registers form addresses is not said, and follows from what programs do: general
 * registers do, vectors and flags do not. Of what also computes (it writes flags), a register that
 * it reads and writes is data, and so is the last one that a store reads beside others. push, pop,
 * call and return address by the stack pointer. */
#include "isa/described.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "isa/isa_internal.h"
#include "util/little_endian.h"

enum { OPCODE = 0x06 /* of no instruction in 64-bit mode */, REPEATS = 0x10, RSI = 6, RDI = 7 };

void insn_describe(const struct insn_description *description, uint8_t bytes[DESCRIBED_BYTES]) {
    memset(bytes, 0, DESCRIBED_BYTES);
    bytes[0] = OPCODE;
    bytes[1] = description->length;
    bytes[2] = (uint8_t)(description->branch | (description->repeats ? REPEATS : 0));
    bytes[3] = (uint8_t)(description->loads | description->stores << 4);
    memcpy(bytes + 4, description->destination, DESCRIBED_DESTINATIONS);
    memcpy(bytes + 6, description->source, DESCRIBED_SOURCES);
    put_u32(bytes + 10, (uint32_t)description->target);
}

static bool is_register(uint8_t reg) {
    return reg < REG_TEMPORARY || reg == REG_NONE;
}

static bool is_direct(unsigned branch) {
    return branch == BRANCH_CONDITIONAL || branch == BRANCH_JUMP || branch == BRANCH_CALL;
}

static bool read_description(const uint8_t bytes[DESCRIBED_BYTES],
                             struct insn_description *description) {
    *description = (struct insn_description){.length = bytes[1],
                                             .branch = bytes[2] & 0xf,
                                             .repeats = bytes[2] & REPEATS,
                                             .loads = bytes[3] & 0xf,
                                             .stores = bytes[3] >> 4,
                                             .target = (int32_t)get_u32(bytes + 10)};
    memcpy(description->destination, bytes + 4, DESCRIBED_DESTINATIONS);
    memcpy(description->source, bytes + 6, DESCRIBED_SOURCES);
    return bytes[0] == OPCODE && description->length >= 1 &&
           description->length <= INSN_MAX_LENGTH && bytes[2] < 2 * REPEATS &&
           description->branch < BRANCH_KINDS && !(bytes[14] | bytes[15]) &&
           (is_direct(description->branch) || !description->target) &&
           !(description->repeats && description->branch) &&
           all_where(i, DESCRIBED_DESTINATIONS, is_register(description->destination[i])) &&
           all_where(i, DESCRIBED_SOURCES, is_register(description->source[i]));
}

static bool reads(const struct insn_description *description, uint8_t reg) {
    return register_list_has(description->source, DESCRIBED_SOURCES, reg);
}

static bool writes(const struct insn_description *description, uint8_t reg) {
    return register_list_has(description->destination, DESCRIBED_DESTINATIONS, reg);
}

/* Registers that can form an address, in their order. */
struct addresses {
    uint8_t reg[DESCRIBED_SOURCES];
    unsigned count;
};

static struct addresses general_registers(const struct insn_description *description) {
    struct addresses found = {.count = 0};
    for (unsigned i = 0; i < DESCRIBED_SOURCES; i++)
        if (description->source[i] < REG_X86_CF &&
            !register_list_has(found.reg, found.count, description->source[i]))
            found.reg[found.count++] = description->source[i];
    return found;
}

static struct addresses without(const struct addresses *from, uint8_t reg) {
    struct addresses left = {.count = 0};
    for (unsigned i = 0; i < from->count; i++)
        if (from->reg[i] != reg)
            left.reg[left.count++] = from->reg[i];
    return left;
}

static bool reads_vector(const struct insn_description *description) {
    return any_where(i, DESCRIBED_SOURCES,
                     description->source[i] != REG_NONE && description->source[i] >= REG_VECTOR);
}

/* The registers by which it addresses memory, other than by the stack pointer that it moves. */
static struct addresses addresses_of(const struct insn_description *description) {
    struct addresses by = general_registers(description);
    const bool computes = writes(description, REG_X86_FLAGS) || reads(description, REG_X86_FLAGS);
    if (description->branch == BRANCH_CALL || description->branch == BRANCH_INDIRECT_CALL ||
        (description->stores && writes(description, REG_X86_RSP)))
        by = without(&by, REG_X86_RSP);
    if (description->loads && computes)
        for (unsigned i = 0; i < DESCRIBED_DESTINATIONS && by.count > 1; i++)
            by = without(&by, description->destination[i]);
    if (description->stores && !description->repeats && by.count > 1 && !reads_vector(description))
        by.count--;
    return by;
}

static struct insn_memory operand(const struct addresses *by, bool store) {
    return (struct insn_memory){.size_bytes = 1,
                                .is_load = !store,
                                .is_store = store,
                                .base = by->count > 0 ? by->reg[0] : REG_NONE,
                                .index = by->count > 1 ? by->reg[1] : REG_NONE};
}

static bool moves_stack(const struct insn_description *description) {
    return reads(description, REG_X86_RSP) && writes(description, REG_X86_RSP);
}

static void add_operands(const struct insn_description *description, struct insn *insn) {
    const struct addresses stack = {{REG_X86_RSP}, 1};
    const struct addresses from = {{RSI}, 1}, to = {{RDI}, 1};
    const struct addresses by = addresses_of(description);
    const bool string = description->repeats && reads(description, RDI);
    unsigned loads = description->loads, stores = description->stores;
    if (loads > 2 || stores > 1) {
        insn->flags |= INSN_GATHER;
        loads = loads > 0;
        stores = stores > 0;
    }
    for (unsigned i = 0; i < loads; i++)
        insn->memory[insn->memory_count++] =
            operand(string && reads(description, RSI) && i == 0 ? &from : &by, false);
    if (stores)
        insn->memory[insn->memory_count++] = operand(moves_stack(description) ? &stack
                                                     : string                 ? &to
                                                                              : &by,
                                                     true);
}

/* What its main work is; sources are those that are data. */
static enum operation operation_of(const struct insn_description *description,
                                   const struct insn *insn) {
    const bool data = any_where(i, insn->source_count, !insn_addresses_by(insn, insn->source[i]));
    const bool flags = writes(description, REG_X86_FLAGS);
    if (insn->branch)
        return OP_BRANCH;
    if (description->stores)
        return flags || (description->loads && data) ? OP_INT_ALU : OP_STORE;
    if (description->loads)
        return flags || data ? OP_INT_ALU : OP_LOAD;
    return insn->source_count || insn->destination_count ? OP_INT_ALU : OP_NOP;
}

bool insn_decode_described(const uint8_t bytes[DESCRIBED_BYTES], struct insn *insn) {
    struct insn_description description;
    if (!read_description(bytes, &description))
        return false;
    *insn = (struct insn){.isa = ISA_X86_64,
                          .length = description.length,
                          .branch = description.branch,
                          .target = description.target,
                          .flags = description.repeats ? INSN_REP : 0};
    add_operands(&description, insn);
    for (unsigned i = 0; i < DESCRIBED_SOURCES; i++)
        if (!insn_addresses_by(insn, description.source[i]) &&
            !(insn->branch && description.source[i] == REG_X86_RSP))
            insn_add_source(insn, description.source[i]);
    for (unsigned i = 0; i < DESCRIBED_DESTINATIONS; i++)
        insn_add_destination(insn, description.destination[i]);
    insn->operation = operation_of(&description, insn);
    if (insn->operation == OP_NOP)
        insn->flags |= INSN_NOP;
    insn_add_address_sources(insn);
    if (description.repeats && insn->memory_count &&
        (insn->memory[0].base == RSI || insn->memory[0].base == RDI))
        insn_add_source(insn, REG_X86_DF); /* all that repeat step pointers by it */
    insn->stack_use = (uint8_t)x86_64_stack_use(bytes, 0, insn);
    return true;
}

/* ---- text ---- */

static void add(char *line, size_t size, const char *what) {
    const size_t length = strlen(line);
    if (length < size)
        snprintf(line + length, size - length, "%s", what);
}

static void add_registers(char *line, size_t size, const uint8_t *registers, unsigned count) {
    static const char *const GENERAL[REG_X86_CF] = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp",
                                                    "rsi", "rdi", "r8",  "r9",  "r10", "r11",
                                                    "r12", "r13", "r14", "r15"};
    bool first = true;
    for (unsigned i = 0; i < count; i++) {
        char name[16];
        if (registers[i] == REG_NONE)
            continue;
        if (registers[i] < REG_X86_CF)
            snprintf(name, sizeof name, "%s", GENERAL[registers[i]]);
        else if (registers[i] == REG_X86_FLAGS)
            snprintf(name, sizeof name, "flags");
        else
            snprintf(name, sizeof name, "other%u", registers[i]);
        add(line, size, first ? "" : ", ");
        add(line, size, name);
        first = false;
    }
}

static const char *work_of(const struct insn_description *description,
                           const uint8_t bytes[DESCRIBED_BYTES]) {
    static const char *const WORK[2][2][2] = {
        {{"operation", "operation"}, {"store", "operation, store"}},
        {{"load", "load, operation"}, {"load, store", "load, operation, store"}}};
    struct insn insn = {.operation = OP_NOP};
    insn_decode_described(bytes, &insn);
    return insn.operation == OP_NOP ? "nothing"
                                    : WORK[description->loads > 0][description->stores > 0]
                                          [insn.operation == OP_INT_ALU];
}

size_t insn_described_text(const uint8_t bytes[DESCRIBED_BYTES], uint64_t address, char *text,
                           size_t text_size) {
    static const char *const BRANCHES[BRANCH_KINDS] = {
        "", "branch", "jump", "call", "indirect jump", "indirect call", "return"};
    struct insn_description description;
    char line[192] = "";
    if (!read_description(bytes, &description)) {
        add(line, sizeof line, "(no description)");
        return (size_t)snprintf(text, text_size, "%s", line);
    }
    const bool accesses = description.loads || description.stores;
    add(line, sizeof line, description.repeats ? "(repeated) " : "");
    add(line, sizeof line, BRANCHES[description.branch]);
    if (is_direct(description.branch)) {
        char target[32];
        snprintf(target, sizeof target, " 0x%" PRIx64,
                 address + (uint64_t)(int64_t)description.target);
        add(line, sizeof line, target);
    }
    if (!description.branch)
        add(line, sizeof line, work_of(&description, bytes));
    else if (accesses)
        add(line, sizeof line, description.loads ? " (load)" : " (store)");
    add(line, sizeof line, " ");
    add_registers(line, sizeof line, description.destination, DESCRIBED_DESTINATIONS);
    add(line, sizeof line, " <- ");
    add_registers(line, sizeof line, description.source, DESCRIBED_SOURCES);
    return (size_t)snprintf(text, text_size, "%s", line);
}
