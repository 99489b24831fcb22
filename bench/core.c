/* Speed of the core alone: a synthetic program of 2,000 static instructions (40 % integer, 30 %
 * loads, 10 % stores, 15 % branches, 5 % multiplies) run in random functions, with Oracle and the
 * golden reference attached; million instructions per second, best of three. usage: core [machine]
 */
#include <stdio.h>
#include <stdlib.h>

#include "attribute/attribute.h"
#include "core/core.h"
#include "util/clock.h"

enum { FUNCTIONS = 200, PER_FUNCTION = 10, EXECUTED = 1 << 20, ROUNDS = 8 };

static uint64_t random_state = 88172645463325252ull;
static uint32_t next_random(uint32_t below) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (uint32_t)(random_state >> 20) % below;
}

static struct static_insn insns[FUNCTIONS * PER_FUNCTION];
static struct uop uops[FUNCTIONS * PER_FUNCTION];
static struct dynamic_insn executed[EXECUTED];
static struct memory_access accesses[EXECUTED];

static void make_code(void) {
    for (uint32_t i = 0; i < FUNCTIONS * PER_FUNCTION; i++) {
        uint32_t kind = i % PER_FUNCTION == PER_FUNCTION - 1 ? 19 : next_random(19);
        uint8_t operation = kind < 9    ? OP_INT_ALU
                            : kind < 15 ? OP_LOAD
                            : kind < 17 ? OP_STORE
                            : kind < 18 ? OP_INT_MUL
                                        : OP_BRANCH;
        insns[i] = (struct static_insn){.address = 0x400000 + 4 * i,
                                        .first_uop = i,
                                        .uop_count = 1,
                                        .length = 4,
                                        .branch = operation == OP_BRANCH ? BRANCH_CONDITIONAL : 0,
                                        .operation = operation};
        uops[i] =
            (struct uop){.operation = operation,
                         .flags = UOP_FIRST | UOP_LAST | (operation == OP_BRANCH ? UOP_BRANCH : 0),
                         .memory = operation == OP_LOAD || operation == OP_STORE ? 0 : 255,
                         .data = operation == OP_STORE ? 1 + next_random(15) : REG_NONE,
                         .source_count = 1 + next_random(2),
                         .source = {1 + next_random(15), 1 + next_random(15)}};
        if (operation != OP_STORE && operation != OP_BRANCH) {
            uops[i].destination_count = 1;
            uops[i].destination[0] = 1 + next_random(15);
        }
    }
}

static void make_execution(void) {
    uint32_t at = 0, access = 0;
    while (at + 64 * PER_FUNCTION < EXECUTED) {
        uint32_t function = next_random(FUNCTIONS), trips = 1 + next_random(60);
        for (uint32_t trip = 0; trip < trips; trip++)
            for (uint32_t i = 0; i < PER_FUNCTION; i++) {
                uint32_t insn = function * PER_FUNCTION + i;
                bool memory = uops[insn].memory == 0;
                executed[at] = (struct dynamic_insn){
                    .insn = insn,
                    .memory = access,
                    .memory_count = memory,
                    .flags = i == PER_FUNCTION - 1 && trip + 1 < trips ? DYN_TAKEN : 0};
                if (memory)
                    accesses[access++] = (struct memory_access){
                        .address = 0x10000000 + (next_random(16) ? next_random(4096) * 8
                                                                 : next_random(1 << 18) * 8),
                        .size_bytes = 8,
                        .is_store = uops[insn].operation == OP_STORE};
                at++;
            }
    }
    for (; at < EXECUTED; at++)
        executed[at] = (struct dynamic_insn){.insn = 0, .memory = access};
}

static bool run(const struct machine *machine, double *rate, double *cpi, struct error *error) {
    struct tap *tap = tap_new(NULL);
    struct golden *golden = golden_new();
    struct tap_worker worker = golden_worker(golden);
    bool right = tap_add_worker(tap, &worker, error);
    struct core_options options = {.tap = tap};
    struct core *core = right ? core_new(machine, &options, error) : NULL;
    struct code code = {.isa = ISA_RISCV64,
                        .insns = insns,
                        .insn_count = FUNCTIONS * PER_FUNCTION,
                        .uops = uops,
                        .uop_count = FUNCTIONS * PER_FUNCTION};
    const double start = clock_monotonic();
    for (int round = 0; core && right && round < ROUNDS; round++)
        for (uint32_t i = 0; i < EXECUTED && right; i += 4096) {
            const struct core_input input = {&code, executed + i, accesses, 4096, EXECUTED, 0};
            right = core_push(core, &input, error);
        }
    right = right && core && core_finish(core, error);
    const double seconds = clock_monotonic() - start;
    if (right) {
        struct core_statistics statistics;
        core_statistics(core, &statistics);
        *rate = (double)statistics.instructions / seconds / 1e6;
        *cpi = (double)statistics.cycles / (double)statistics.instructions;
    }
    core_free(core);
    golden_free(golden);
    tap_free(tap);
    return right;
}

int main(int argc, char **argv) {
    struct error error = {0};
    static struct machine machine;
    const char *name = argc > 1 ? argv[1] : "boom-tea";
    bool right = machine_load(name, &machine, &error);
    make_code();
    make_execution();
    double best = 0, rate, cpi = 0;
    for (int i = 0; i < 3 && right; i++) {
        right = run(&machine, &rate, &cpi, &error);
        if (right && rate > best)
            best = rate;
    }
    if (!right) {
        fprintf(stderr, "core: %s\n", error.message);
        return 1;
    }
    printf("%s: %.1f million instructions per second, CPI %.3f\n", name, best, cpi);
    return 0;
}
