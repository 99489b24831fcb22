/* A graph's instructions as static code, and the few that stand for what is outside of it. */
#include <string.h>

#include "analyze/scheduler_code.h"
#include "util/array.h"

/* Once so many static instructions are known a new core begins afresh: an out-of-order one keeps
 * what it has prepared of each. */
enum { KNOWN_INSNS = 1 << 18 };

/* The flags that are kept. Repetition and locks are left out: a repeated instruction is executed
 * once, and nothing is locked. What waits and flushes is kept only if causes are told apart. */
enum {
    PLAIN_FLAGS = INSN_MOVE | INSN_ZERO | INSN_NOP | INSN_PREFETCH | INSN_SETS_FLAGS_FOR_FUSION |
                  INSN_FUSES_WITH_FLAGS,
    WAITING_FLAGS = INSN_SERIALISING | INSN_FLUSHING | INSN_FENCE_STORE | INSN_SYSCALL
};

static bool reserve(struct scheduler *scheduler, size_t insns, size_t uops) {
    struct code *code = &scheduler->code;
    return array_room(code->insns, scheduler->insn_capacity, code->insn_count + insns) &&
           array_room(code->uops, scheduler->uop_capacity, code->uop_count + uops);
}

/* All loads have operand 0 and all stores operand 1, as scheduler_accesses has them. Returns which
 * of both there are. */
static uint32_t set_operands(struct uop *uops, uint32_t count) {
    uint32_t directions = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (uops[i].operation == OP_LOAD) {
            uops[i].memory = 0;
            directions |= 1;
        } else if (uops[i].operation == OP_STORE) {
            uops[i].memory = 1;
            directions |= 2;
        }
    }
    return directions;
}

const struct memory_access scheduler_accesses[2] = {
    {.address = 0x10000000, .size_bytes = 8, .operand = 0},
    {.address = 0x20000000, .size_bytes = 8, .operand = 1, .is_store = true},
};

bool insn_is_call(const struct insn *insn) {
    /* A call of the next instruction only reads the program counter. */
    return insn->branch == BRANCH_INDIRECT_CALL ||
           (insn->branch == BRANCH_CALL && insn->target != insn->length);
}

/* There is room. Returns its execution, as context. */
static struct dynamic_insn add_insn(struct code *code, const struct insn *insn, uint64_t address,
                                    uint32_t flags) {
    struct uop *uops = &code->uops[code->uop_count];
    uint32_t count = (uint32_t)insn_crack(insn, uops), directions = set_operands(uops, count);
    uint32_t number = code->insn_count++;
    code->insns[number] = (struct static_insn){.address = address,
                                               .offset = address,
                                               .target = UINT32_MAX,
                                               .first_uop = code->uop_count,
                                               .uop_count = (uint8_t)count,
                                               .length = insn->length,
                                               .branch = insn->branch,
                                               .memory_count = insn->memory_count,
                                               .flags = (uint16_t)(insn->flags & flags),
                                               .operation = insn->operation,
                                               .target_displacement = (int32_t)insn->target};
    code->uop_count += count;
    bool taken = insn->branch != BRANCH_NONE && insn->branch != BRANCH_CONDITIONAL;
    return (struct dynamic_insn){.insn = number,
                                 .memory = directions == 2,
                                 .memory_count = (directions & 1) + (directions >> 1),
                                 .flags = taken ? DYN_TAKEN : 0};
}

/* The instructions outside are far from the procedure. Those that jump to it do so from the packet
 * that OUTSIDE_WORK fills. */
static void add_outside(struct scheduler *scheduler, const struct cfg *cfg) {
    struct code *code = &scheduler->code;
    uint64_t address = (cfg->code->address ^ UINT64_C(1) << 40) & ~UINT64_C(4095);
    const struct insn stop = {.length = 4,
                              .operation = OP_SYSTEM,
                              .flags = INSN_SERIALISING | INSN_FLUSHING | INSN_FENCE_STORE};
    const struct insn work = {.length = 4, .operation = OP_INT_ALU};
    const struct insn jump = {.length = 4, .operation = OP_BRANCH, .branch = BRANCH_JUMP};
    scheduler->outside[OUTSIDE_STOP] = add_insn(code, &stop, address, WAITING_FLAGS);
    scheduler->outside[OUTSIDE_WORK] = add_insn(code, &work, address + 256, 0);
    scheduler->outside[OUTSIDE_JUMP] = add_insn(code, &jump, address + 260, 0);
}

static void forget(struct scheduler *scheduler, enum isa isa) {
    scheduler_drop_core(scheduler);
    scheduler->code.insn_count = scheduler->code.uop_count = 0;
    scheduler->code.isa = isa;
}

bool scheduler_add_code(struct scheduler *scheduler, const struct cfg *cfg, struct error *error) {
    struct code *code = &scheduler->code;
    size_t count = cfg->insn_count, insns = 2 * count + OUTSIDE_INSNS;
    if (code->isa != cfg->code->isa || (code->insn_count && code->insn_count + insns > KNOWN_INSNS))
        forget(scheduler, cfg->code->isa);
    if (!reserve(scheduler, insns, 0) || !reserve(scheduler, 0, OUTSIDE_INSNS * INSN_MAX_UOPS) ||
        !array_room(scheduler->templates, scheduler->template_capacity, count))
        return error_set(error, "out of memory for a schedule");
    add_outside(scheduler, cfg);
    scheduler->cfg = cfg;
    scheduler->first = code->insn_count;
    uint32_t flags = PLAIN_FLAGS | (scheduler->by_causes ? WAITING_FLAGS : 0);
    for (uint32_t i = 0; i < count; i++) {
        if (!reserve(scheduler, 0, INSN_MAX_UOPS))
            return error_set(error, "out of memory for a schedule");
        scheduler->templates[i] =
            add_insn(code, &cfg->insns[i].insn, cfg->code->address + cfg->insns[i].offset, flags);
    }
    memcpy(code->insns + code->insn_count, code->insns + scheduler->first,
           count * sizeof *code->insns);
    code->insn_count += (uint32_t)count;
    return true;
}
