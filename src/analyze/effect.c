/* The µops of an instruction, one after the other, on sets of registers. */
#include "analyze/effect.h"

resource_set machine_busy_pools(const struct machine *machine) {
    resource_set pools = 0;
    for (unsigned i = 0; i < OP_COUNT; i++)
        if (i != OP_NOP && machine->classes[i].interval > 1)
            pools |= RESOURCE(RESOURCE_POOL + machine->classes[i].pool);
    return pools;
}

static resource_set named(const uint8_t *registers, unsigned count) {
    resource_set set = 0;
    for (unsigned i = 0; i < count; i++)
        if (registers[i] < REG_COUNT)
            set |= RESOURCE(registers[i]);
    return set;
}

/* Whether it has a µop for each element, lane or line, each of which, except the first, waits for
 * the one before, as all write the same register. */
static bool loads_in_pieces(const struct insn *insn, const struct uop *uop) {
    if (insn->flags & (INSN_REP | INSN_GATHER))
        return true;
    return uop->memory < INSN_MAX_MEMORY &&
           (insn->memory[uop->memory].size_bytes == 0 || insn->memory[uop->memory].size_bytes > 64);
}

struct effect effect_of(const struct insn *insn, const struct machine *machine,
                        resource_set busy_pools) {
    const resource_set temporaries = (RESOURCE(REG_COUNT) - 1) & ~(RESOURCE(REG_TEMPORARY) - 1);
    struct uop uops[INSN_MAX_UOPS];
    int count = insn_crack(insn, uops);
    struct effect effect = {0};
    resource_set written = 0;
    for (int i = 0; i < count; i++) {
        const struct uop *uop = &uops[i];
        resource_set reads = named(uop->source, uop->source_count);
        if (uop->operation == OP_STORE)
            reads |= named(&uop->data, 1);
        resource_set writes = named(uop->destination, uop->destination_count);
        bool load = uop->operation == OP_LOAD && !(insn->flags & INSN_PREFETCH);
        effect.self |= (effect.loads & (reads | writes)) || (load && loads_in_pieces(insn, uop));
        effect.waits |= (reads | writes) & ~written;
        effect.loads &= ~(reads | writes);
        effect.loads |= load ? writes : 0;
        written |= writes;
        if (uop->operation != OP_NOP)
            effect.waits |=
                RESOURCE(RESOURCE_POOL + machine->classes[uop->operation].pool) & busy_pools;
    }
    effect.waits &= ~temporaries;
    effect.loads &= ~temporaries;
    return effect;
}

/* Registers first to last. */
static resource_set range(unsigned first, unsigned last) {
    return (RESOURCE(last + 1) - 1) & ~(RESOURCE(first) - 1);
}

/* RISC-V ABIs specification, integer and floating-point register conventions. */
static struct conventions riscv64_conventions(void) {
    enum { RA = 1, SP = 2, GP = 3, TP = 4, A0 = 10, F = REG_VECTOR };
    struct conventions result = {
        .arguments = range(A0, 17) | range(F + 10, F + 17),
        .results = range(A0, 11) | range(F + 10, F + 11),
        .kept = range(8, 9) | range(18, 27) | range(F + 8, F + 9) | range(F + 18, F + 27),
        .never = range(SP, TP),
    };
    /* A caller that leaves by a jump has just restored it. */
    result.arguments |= RESOURCE(RA);
    return result;
}

/* System V ABI for x86-64, figure 3.4; r10 is the static chain. */
static struct conventions x86_64_conventions(void) {
    enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8, R9, R10, R12 = 12, R15 = 15 };
    return (struct conventions){
        .arguments = RESOURCE(RAX) | RESOURCE(RCX) | RESOURCE(RDX) | range(RSI, R10) |
                     range(REG_VECTOR, REG_VECTOR + 7),
        .results = RESOURCE(RAX) | RESOURCE(RDX) | range(REG_VECTOR, REG_VECTOR + 1),
        .kept = RESOURCE(RBX) | RESOURCE(RBP) | range(R12, R15),
        .never = RESOURCE(RSP),
    };
}

struct conventions conventions_of(enum isa isa) {
    return isa == ISA_RISCV64 ? riscv64_conventions() : x86_64_conventions();
}
