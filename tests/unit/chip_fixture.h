/* Small chips and programs for them, and what they did. The little chip: L1s of 1 cycle and an L2
 * of 4 cycles beyond, memory 6 cycles beyond that, lines of 16 and 64 bytes, so that four
 * instructions make a line of code; a mispredicted branch's successor issues 4 cycles after it.
 * TLBs never miss, branches are predicted right, one bank takes a request per cycle, unless a test
 * says otherwise.
 *
 * Of each program the first line of code comes from memory: it is looked up in cycle 0 and there in
 * 10, when the first instruction issues. */
#pragma once

#include "../core_fixture.h"
#include "core/core.h"

#include "core/multithreaded/chip.h"
#include "core/multithreaded/penalties.h"

static inline struct machine little_chip(uint32_t cores, uint32_t threads) {
    struct machine machine = little_machine();
    machine.chip = (struct machine_chip){
        .cores = cores, .threads = threads, .l2_banks = 1, .bank_interval = 1};
    machine.core.in_order = true;
    machine.core.dispatch_width = machine.core.commit_width = 1;
    machine.core.frontend_depth = 2;
    machine.core.redirect = 1;
    machine.core.flush_penalty = 3;
    machine.core.syscall_cycles = 7;
    machine.l1i = machine.l1d =
        (struct machine_cache){.present = true, .size = 1024, .ways = 2, .line = 16, .latency = 1};
    machine.l2 =
        (struct machine_cache){.present = true, .size = 65536, .ways = 4, .line = 64, .latency = 4};
    machine.dram.latency = 6;
    machine.page_walk = 5;
    return machine;
}

/* Hands each thread its program, `batch` instructions at a time. */
struct chip_feeder {
    struct chip *chip;
    struct program_fixture *programs[64]; /* by hardware thread; NULL: idle */
    uint32_t at[64], batch;
};

static inline bool feed(void *context, uint32_t thread, struct error *error) {
    struct chip_feeder *feeder = context;
    const struct program_fixture *program = feeder->programs[thread];
    uint32_t at = feeder->at[thread], left = program->dynamic_count - at;
    uint32_t count = left < feeder->batch ? left : feeder->batch;
    feeder->at[thread] = count == left ? 0 : at + count;
    return chip_push(feeder->chip, thread,
                     &(struct core_input){&program->code, program->dynamic + at, program->accesses,
                                          count, program->access_count, 0},
                     count == left, error);
}

static inline void feeder_begin(struct chip_feeder *feeder, const struct machine *machine) {
    struct error error;
    uint64_t active = 0;
    for (uint32_t i = 0; i < 64; i++) {
        active |= (uint64_t)(feeder->programs[i] != NULL) << i;
        feeder->at[i] = 0;
    }
    if (!feeder->batch)
        feeder->batch = UINT32_MAX;
    feeder->chip = chip_new(machine, &active, (struct chip_source){feed, feeder}, &error);
    if (!feeder->chip)
        fail_msg("chip_new: %s", error.message);
}

static inline bool run_to(struct chip_feeder *feeder, uint64_t until) {
    struct error error;
    bool finished;
    if (!chip_run(feeder->chip, until, &finished, &error))
        fail_msg("chip_run: %s", error.message);
    assert_int_equal(chip_cycle(feeder->chip), until);
    return finished;
}

static inline struct chip_thread_statistics first_of(const struct chip_feeder *feeder,
                                                     uint32_t thread) {
    struct chip_thread_statistics statistics;
    chip_thread_first(feeder->chip, thread, &statistics);
    return statistics;
}

static inline struct chip_thread_statistics all_of(const struct chip_feeder *feeder,
                                                   uint32_t thread) {
    struct chip_thread_statistics statistics;
    chip_thread_all(feeder->chip, thread, &statistics);
    return statistics;
}

/* Stops the chip after every cycle from 1 on: the letter of the thread that issued in it, or a
 * dot. One line per core. */
enum { LONGEST_SCHEDULE = 256 };
static inline void watch(struct chip_feeder *feeder, const struct machine *machine, uint64_t cycles,
                         char (*schedule)[LONGEST_SCHEDULE]) {
    uint32_t cores = machine->chip.cores, threads = machine->chip.threads;
    memset(schedule, 0, cores * sizeof *schedule);
    for (uint64_t cycle = 1; cycle <= cycles; cycle++) {
        struct chip_thread_statistics before[64];
        for (uint32_t i = 0; i < cores * threads; i++)
            before[i] = all_of(feeder, i);
        run_to(feeder, cycle);
        for (uint32_t i = 0; i < cores * threads; i++) {
            uint64_t turns = all_of(feeder, i).turns - before[i].turns;
            char *at = &schedule[i / threads][cycle - 1];
            if (!*at)
                *at = '.';
            if (turns == 0)
                continue;
            assert_int_equal(turns, 1);
            assert_int_equal(*at, '.'); /* one of a core's threads issues */
            *at = (char)('A' + i % threads);
        }
    }
}

/* Asserts who issues in each cycle, and that a chip that is not stopped comes to the same. */
static inline void expect(struct chip_feeder *feeder, const struct machine *machine,
                          const char *core0, const char *core1) {
    char schedule[2][LONGEST_SCHEDULE];
    uint64_t cycles = strlen(core0);
    feeder_begin(feeder, machine);
    watch(feeder, machine, cycles, schedule);
    assert_string_equal(schedule[0], core0);
    if (core1)
        assert_string_equal(schedule[1], core1);
    struct chip *watched = feeder->chip;
    feeder_begin(feeder, machine);
    run_to(feeder, cycles);
    for (uint32_t i = 0; i < machine->chip.cores * machine->chip.threads; i++) {
        struct chip_thread_statistics stopped, all = all_of(feeder, i);
        chip_thread_all(watched, i, &stopped);
        assert_memory_equal(&stopped, &all, sizeof all);
    }
    chip_free(watched);
}

static inline void feeder_end(struct chip_feeder *feeder) {
    chip_free(feeder->chip);
    for (uint32_t i = 0; i < 64; i++)
        if (feeder->programs[i])
            program_fixture_free(feeder->programs[i]);
}
