/* Hand-made programs for the cores: static instructions of one or more µops at consecutive
 * addresses, executed in any order, and the life of every µop afterwards. No ISA is involved.
 *
 * The little machine of little_machine(): 4 wide from fetch to commit, 3 cycles from fetch to
 * dispatch, 1 to issue, results bypassed, 1 to commit; ROB 32; everything perfect that a test does
 * not set. So the first µop is fetched in cycle 1, dispatched in 4, issued in 5, complete in 6,
 * committed in 7. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "attribute/attribute.h"
#include "attribute/top_down.h"
#include "core/core.h"
#include "util/executor.h"

enum { FIXTURE_INSNS = 4096, FIXTURE_DYNAMIC = 1 << 16 };

struct program_fixture {
    struct static_insn insns[FIXTURE_INSNS];
    struct uop uops[FIXTURE_INSNS * 2];
    struct code code;
    struct dynamic_insn dynamic[FIXTURE_DYNAMIC];
    struct memory_access accesses[FIXTURE_DYNAMIC];
    uint32_t dynamic_count, access_count;
    uint64_t address; /* of the next static instruction */

    struct life lives[FIXTURE_DYNAMIC * 2];         /* committed, in order */
    struct packed_life packed[FIXTURE_DYNAMIC * 2]; /* the same */
    uint32_t life_count, squashed;
    bool without_life; /* simulate without life records: dispatch then goes its plain way */
    const struct tap_worker *worker; /* one more, of the test's own; NULL: none */
    struct stall_causes *causes;     /* of a core in order; NULL: none */
    struct core_statistics statistics;
    struct oracle *oracle;
    struct golden *golden;
    struct oracle_result result;
    struct top_down *levels; /* of a core out of order, with lives */
};

static inline struct machine little_machine(void) {
    struct machine machine = {
        .name = "little",
        .clock_ghz = 1,
        .core = {.fetch_width = 4,
                 .fetch_buffer = 16,
                 .taken_branches = 1,
                 .frontend_depth = 3,
                 .redirect = 1,
                 .dispatch_width = 4,
                 .rob = 32,
                 .load_queue = 16,
                 .store_queue = 16,
                 .dispatch_to_issue = 1,
                 .issue_wakeup = 1,
                 .complete_to_commit = 1,
                 .commit_width = 4,
                 .store_drain = 1,
                 .store_forward = 1,
                 .flush_penalty = 2,
                 .syscall_cycles = 10,
                 .violation_penalty = 2,
                 .disambiguation = DISAMBIGUATE_PERFECT},
        .queue_count = 1,
        .pool_count = 3,
        .queues = {{"all", 32, 4}},
        .pools = {{.name = "alu", .units = 4},
                  {.name = "mem", .units = 2},
                  {.name = "long", .units = 1}},
        .branch = {.direction = DIRECTION_PERFECT, .ras_entries = 8},
        .l1i = {.line = 64, .ways = 1, .latency = 1},
        .l1d = {.present = true, .size = 32768, .ways = 8, .line = 64, .latency = 2, .mshrs = 8},
        .page_size = 4096,
        .dram = {.latency = 100},
    };
    for (int operation = 0; operation < OP_COUNT; operation++)
        machine.classes[operation] = (struct machine_class){0, 1, 1};
    machine.classes[OP_LOAD] = machine.classes[OP_STORE] = (struct machine_class){1, 1, 1};
    machine.classes[OP_INT_MUL] = (struct machine_class){2, 3, 1};
    machine.classes[OP_INT_DIV] = (struct machine_class){2, 10, 10};
    return machine;
}

static inline struct program_fixture *program_fixture_new(void) {
    struct program_fixture *program = calloc(1, sizeof *program);
    assert_non_null(program);
    program->code =
        (struct code){.isa = ISA_RISCV64, .insns = program->insns, .uops = program->uops};
    program->address = 0x10000;
    return program;
}

static inline void program_fixture_free(struct program_fixture *program) {
    oracle_free(program->oracle);
    golden_free(program->golden);
    top_down_free(program->levels);
    free(program);
}

/* Adds a static instruction of no µops yet; returns its number. */
static inline uint32_t add_insn(struct program_fixture *program) {
    uint32_t number = program->code.insn_count++;
    assert_true(number < FIXTURE_INSNS);
    program->insns[number] = (struct static_insn){.address = program->address,
                                                  .offset = program->address,
                                                  .target = UINT32_MAX,
                                                  .first_uop = program->code.uop_count,
                                                  .length = 4};
    program->address += 4;
    return number;
}

/* Appends a µop to the instruction added last. Registers: 0 means none. */
static inline struct uop *add_uop(struct program_fixture *program, enum operation operation,
                                  uint8_t destination, uint8_t source1, uint8_t source2) {
    struct static_insn *insn = &program->insns[program->code.insn_count - 1];
    struct uop *uop = &program->uops[program->code.uop_count++];
    *uop = (struct uop){.operation = operation, .flags = UOP_LAST, .memory = 255, .data = REG_NONE};
    if (insn->uop_count++ == 0)
        uop->flags |= UOP_FIRST;
    else
        uop[-1].flags &= ~UOP_LAST;
    if (destination)
        uop->destination[uop->destination_count++] = destination;
    if (source1)
        uop->source[uop->source_count++] = source1;
    if (source2)
        uop->source[uop->source_count++] = source2;
    return uop;
}

/* ---- instructions of one µop ---- */
static inline uint32_t alu(struct program_fixture *program, uint8_t destination, uint8_t source1,
                           uint8_t source2) {
    uint32_t number = add_insn(program);
    add_uop(program, OP_INT_ALU, destination, source1, source2);
    return number;
}
static inline uint32_t operation(struct program_fixture *program, enum operation operation,
                                 uint8_t destination, uint8_t source) {
    uint32_t number = add_insn(program);
    add_uop(program, operation, destination, source, 0);
    return number;
}
static inline uint32_t load(struct program_fixture *program, uint8_t destination, uint8_t base) {
    uint32_t number = add_insn(program);
    add_uop(program, OP_LOAD, destination, base, 0)->memory = 0;
    return number;
}
static inline uint32_t store(struct program_fixture *program, uint8_t data, uint8_t base) {
    uint32_t number = add_insn(program);
    struct uop *uop = add_uop(program, OP_STORE, 0, base, 0);
    uop->memory = 0;
    uop->data = data ? data : REG_NONE;
    return number;
}
static inline uint32_t branch(struct program_fixture *program, enum branch_kind kind,
                              uint8_t source) {
    uint32_t number = add_insn(program);
    add_uop(program, OP_BRANCH, 0, source, 0)->flags |= UOP_BRANCH;
    program->insns[number].branch = (uint8_t)kind;
    return number;
}
static inline uint32_t with_flags(struct program_fixture *program, uint32_t insn, uint16_t flags) {
    program->insns[insn].flags |= flags;
    return insn;
}

/* ---- execution ---- */
static inline struct dynamic_insn *execute(struct program_fixture *program, uint32_t insn) {
    assert_true(program->dynamic_count < FIXTURE_DYNAMIC);
    struct dynamic_insn *dynamic = &program->dynamic[program->dynamic_count++];
    *dynamic = (struct dynamic_insn){.insn = insn, .memory = program->access_count};
    return dynamic;
}
static inline struct dynamic_insn *execute_at(struct program_fixture *program, uint32_t insn,
                                              uint64_t address, uint32_t size) {
    struct dynamic_insn *dynamic = execute(program, insn);
    bool is_store = program->uops[program->insns[insn].first_uop].operation == OP_STORE;
    program->accesses[program->access_count++] =
        (struct memory_access){.address = address, .size_bytes = size, .is_store = is_store};
    dynamic->memory_count = 1;
    return dynamic;
}
static inline void execute_taken(struct program_fixture *program, uint32_t insn) {
    execute(program, insn)->flags |= DYN_TAKEN;
}

/* A worker that keeps the lives of committed µops. */
static inline bool keep_lives(void *context, const struct tap_buffer *buffer, struct error *error) {
    struct program_fixture *program = context;
    (void)error;
    for (uint32_t i = 0; i < buffer->life_count; i++) {
        struct life life;
        life_unpack(&buffer->lives[i], &life);
        if (life.flags & LIFE_FLUSHED) {
            program->squashed++;
        } else {
            program->packed[program->life_count] = buffer->lives[i];
            program->lives[program->life_count++] = life;
        }
    }
    return true;
}

/* The golden reference, which counts and attributes in one pass, must be Oracle and more. */
static inline void assert_golden_is_oracle(const struct golden *golden,
                                           const struct oracle *oracle) {
    struct oracle_result counted, result;
    uint64_t count, with_events, next = 0;
    struct pics_cell *cells = pics_cells(oracle_profile(oracle), &count);
    struct pics_cell *split = pics_cells(golden_profile(golden), &with_events);
    golden_counted(golden, &counted);
    oracle_result(oracle, &result);
    assert_memory_equal(&counted, &result, sizeof counted);
    for (uint64_t i = 0; i < count; i++) {
        uint64_t units = 0;
        for (; next < with_events && split[next].insn == cells[i].insn; next++)
            units += split[next].units;
        assert_int_equal(units, cells[i].units);
    }
    assert_int_equal(next, with_events);
    free(cells);
    free(split);
}

/* Slots sum to what there were, and every µop that committed took one, but for those that share
 * the place of another. */
static inline void assert_slots_sum(struct program_fixture *program, uint32_t width) {
    uint64_t slots[PSV_COMBINATIONS] = {0};
    assert_true(top_down_finish(program->levels));
    pics_by_signature(top_down_profile(program->levels), slots);
    assert_int_equal(pics_total(top_down_profile(program->levels)), width * program->result.cycles);
    uint32_t shared = 0;
    for (uint32_t i = 0; i < program->life_count; i++)
        shared += (program->lives[i].flags & LIFE_SHARES) != 0;
    assert_int_equal(slots[SLOT_RETIRING] + shared, program->statistics.uops);
}

/* Simulates what was executed, in pushes of at most `batch` instructions, with the pipeline and the
 * workers of the tap on threads of their own or (NULL) on the caller's. */
static inline void simulate_on(struct program_fixture *program, const struct machine *machine,
                               uint32_t ideal, uint32_t batch, struct executor *pipeline,
                               struct executor *attribution) {
    struct error error = {0};
    struct tap *tap = tap_new(NULL);
    oracle_free(program->oracle);
    golden_free(program->golden);
    program->oracle = oracle_new();
    program->golden = golden_new();
    program->life_count = program->squashed = 0;
    struct tap_worker worker = oracle_worker(program->oracle);
    worker.executor = attribution;
    assert_true(tap_add_worker(tap, &worker, &error));
    worker = golden_worker(program->golden);
    worker.executor = attribution;
    assert_true(tap_add_worker(tap, &worker, &error));
    worker = (struct tap_worker){.name = "lives",
                                 .kinds = 1 << TAP_LIFE,
                                 .consume = keep_lives,
                                 .context = program,
                                 .executor = attribution};
    if (!program->without_life)
        assert_true(tap_add_worker(tap, &worker, &error));
    const bool levels = !program->without_life && !machine->core.in_order && !(ideal & IDEAL_BW);
    top_down_free(program->levels);
    program->levels = levels ? top_down_new(machine, ideal) : NULL;
    if (levels) {
        worker = top_down_worker(program->levels);
        worker.executor = attribution;
        assert_true(tap_add_worker(tap, &worker, &error));
    }
    if (program->worker)
        assert_true(tap_add_worker(tap, program->worker, &error));
    struct core_options options = {
        .ideal = ideal, .executor = pipeline, .tap = tap, .causes = program->causes};
    struct core *core = core_new(machine, &options, &error);
    if (!core)
        fail_msg("core_new: %s", error.message);
    bool right = true;
    for (uint32_t i = 0; i < program->dynamic_count && right; i += batch) {
        uint32_t n = program->dynamic_count - i < batch ? program->dynamic_count - i : batch;
        const struct core_input input = {.code = &program->code,
                                         .insns = program->dynamic + i,
                                         .accesses = program->accesses,
                                         .insn_count = n,
                                         .access_count = program->access_count};
        right = core_push(core, &input, &error);
    }
    if (!right || !core_finish(core, &error))
        fail_msg("core: %s", error.message);
    core_statistics(core, &program->statistics);
    oracle_result(program->oracle, &program->result);
    core_free(core);
    tap_free(tap);
    /* What must hold of every simulation. */
    if (levels)
        assert_slots_sum(program, machine->core.dispatch_width);
    assert_int_equal(program->result.cycles, program->statistics.cycles);
    assert_int_equal(pics_total(oracle_profile(program->oracle)),
                     program->result.cycles * CYCLE_UNITS);
    assert_int_equal(pics_total(golden_profile(program->golden)),
                     program->result.cycles * CYCLE_UNITS);
    assert_golden_is_oracle(program->golden, program->oracle);
    uint64_t states = 0;
    for (int state = 0; state < STATE_COUNT; state++)
        states += program->result.states[state];
    assert_int_equal(states, program->result.cycles);
    for (uint32_t i = 1; i < program->life_count; i++) {
        assert_int_equal(program->lives[i].uop, program->lives[i - 1].uop + 1);
        assert_true(program->lives[i].commit >= program->lives[i - 1].commit);
    }
}

/* Cycles where one core predecodes, with nothing idealised, and another times that. */
static inline uint64_t cycles_predecoded(const struct program_fixture *program,
                                         const struct machine *machine, uint32_t ideal) {
    struct error error = {0};
    const struct core_options none = {.predecodes = true}, options = {.ideal = ideal};
    const struct core_input input = {.code = &program->code,
                                     .insns = program->dynamic,
                                     .accesses = program->accesses,
                                     .insn_count = program->dynamic_count,
                                     .access_count = program->access_count};
    struct branch_predictor *nothing = branch_new(&machine->branch, &error);
    struct core *input_side = core_new(machine, &none, &error);
    struct core *core = core_new(machine, &options, &error);
    struct core_statistics statistics;
    assert_true(nothing && input_side && core);
    for (int time = 0; time < 2; time++) /* what it kept before is forgotten */
        if (!core_predecode_again(input_side, nothing, &error) ||
            !core_push(input_side, &input, &error) || !core_finish(input_side, &error))
            fail_msg("core: %s", error.message);
    if (!core_push_predecoded(core, input_side, &error) || !core_finish(core, &error))
        fail_msg("core: %s", error.message);
    core_statistics(core, &statistics);
    core_free(core);
    core_free(input_side);
    branch_free(nothing);
    return statistics.cycles;
}

/* Dispatch with life records and without must take the same cycles, and so must what another core
 * has predecoded; the lives are from the run with records. */
static inline void simulate(struct program_fixture *program, const struct machine *machine,
                            uint32_t ideal) {
    program->without_life = true;
    simulate_on(program, machine, ideal, FIXTURE_DYNAMIC, NULL, NULL);
    struct oracle_result plain = program->result;
    program->without_life = false;
    simulate_on(program, machine, ideal, FIXTURE_DYNAMIC, NULL, NULL);
    assert_memory_equal(&plain, &program->result, sizeof plain);
    if (!machine->core.in_order)
        assert_int_equal(cycles_predecoded(program, machine, ideal), plain.cycles);
}

/* The units of 1/840 cycle that a profile gives to an instruction, under one signature or (−1)
 * under all. */
static inline uint64_t units_of(const struct pics *pics, uint32_t insn, int psv) {
    uint64_t count, sum = 0;
    struct pics_cell *cells = pics_cells(pics, &count);
    assert_non_null(cells);
    for (uint64_t i = 0; i < count; i++)
        if (cells[i].insn == insn && (psv < 0 || cells[i].psv == (uint32_t)psv))
            sum += cells[i].units;
    free(cells);
    return sum;
}
