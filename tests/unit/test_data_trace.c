/* The functional cache pass: which instructions become events, and for whom they wait. */
#include "core/core.h"
#include "unit/data_program.h"

#include "memory/memory.h"

#define A 0x100000
#define B 0x100100
#define C 0x100200
#define D 0x100300
#define E 0x100400
#define F 0x100500

static const struct data_reach REACH = {256, 800};

static struct event_list *run(const struct line *lines, uint32_t count,
                              enum prefetcher_kind prefetcher) {
    struct program_trace *program = new_program(lines, count);
    const struct machine machine = roomy_machine(prefetcher);
    struct event_list *list = events_of(program, &machine, REACH);
    free(program);
    return list;
}
#define RUN(lines, prefetcher) run(lines, sizeof(lines) / sizeof *(lines), prefetcher)

static bool waits_for(const struct data_event *event, uint16_t back) {
    for (uint32_t i = 0; i < event->producer_count; i++)
        if (event->producers[i] == back)
            return true;
    return false;
}

/* Plain operations pass on what they wait for; one that overwrites a register ends it. */
static void operations_pass_on(void **state) {
    (void)state;
    const struct line lines[] = {LOAD(10, 1, A), OPERATION(11, 10, 2), OPERATION(10, 3, NO),
                                 LOAD(12, 10, B), LOAD(13, 11, C)};
    struct event_list *list = RUN(lines, PREFETCH_NONE);
    assert_int_equal(list->count, 3);
    assert_int_equal(list->events[0].position, 0);
    assert_int_equal(list->events[1].position, 3);
    assert_int_equal(list->events[1].producer_count, 0);
    assert_int_equal(list->events[2].flags, DATA_MISS);
    assert_int_equal(list->events[2].producer_count, 1);
    assert_true(waits_for(&list->events[2], 2));
    free(list);
}

/* Of two that a value waits for, the one that the other waits for is left out. */
static void what_is_waited_for_already_is_left_out(void **state) {
    (void)state;
    const struct line lines[] = {LOAD(10, 1, A), LOAD(11, 10, B), OPERATION(12, 10, 11),
                                 LOAD(13, 12, C)};
    struct event_list *list = RUN(lines, PREFETCH_NONE);
    assert_int_equal(list->count, 3);
    assert_int_equal(list->events[2].producer_count, 1);
    assert_true(waits_for(&list->events[2], 1));
    free(list);
}

/* A value that waits for five gets an event of its own for the first four. */
static void many_are_joined(void **state) {
    (void)state;
    const struct line lines[] = {
        LOAD(10, 1, A),        LOAD(11, 1, B),        LOAD(12, 1, C),        LOAD(13, 1, D),
        LOAD(14, 1, E),        OPERATION(10, 10, 11), OPERATION(10, 10, 12), OPERATION(10, 10, 13),
        OPERATION(10, 10, 14), LOAD(15, 10, F)};
    struct event_list *list = RUN(lines, PREFETCH_NONE);
    assert_int_equal(list->count, 7);
    const struct data_event *join = &list->events[5], *last = &list->events[6];
    assert_int_equal(join->flags, 0);
    assert_int_equal(join->producer_count, 4);
    for (uint16_t back = 2; back <= 5; back++)
        assert_true(waits_for(join, back));
    assert_int_equal(last->flags, DATA_MISS);
    assert_int_equal(last->producer_count, 2);
    assert_true(waits_for(last, 1) && waits_for(last, 2)); /* the join, and E */
    free(list);
}

/* A load of what a store of the window wrote waits for that value, not for the block; a miss that a
 * stored value waits for reaches it through memory. */
static void stores_forward(void **state) {
    (void)state;
    const struct line lines[] = {LOAD(10, 1, A), STORE(10, 2, B), LOAD(11, 2, B), LOAD(12, 11, C),
                                 LOAD(13, 2, B + 16)};
    struct event_list *list = RUN(lines, PREFETCH_NONE);
    assert_int_equal(list->count, 4);
    assert_int_equal(list->events[1].flags, DATA_STORE);
    assert_true(waits_for(&list->events[1], 1));
    assert_int_equal(list->events[2].flags, DATA_MISS); /* C, by way of B */
    assert_int_equal(list->events[2].producer_count, 1);
    assert_true(waits_for(&list->events[2], 2));
    assert_int_equal(list->events[3].flags, DATA_HIT); /* another word of the block */
    assert_int_equal(list->events[3].fetched_by, 2);
    assert_int_equal(list->events[3].fetched_by_uops, 3);
    assert_int_equal(list->events[1].stores, 0);
    assert_int_equal(list->events[2].stores, 1);
    free(list);
}

/* Two loads with operations, of which the second may be taken apart, and C, which waits for A: at 4
 * if every µop has its place, at 2 if the two instructions have one each, at 3 if the second has
 * two. */
static void operations_share_a_place(void **state) {
    (void)state;
    const struct line lines[] = {LOAD(20, 1, A), OPERATION(10, 10, 20), LOAD(21, 1, B),
                                 OPERATION(11, 11, 21), LOAD(12, 10, C)};
    static const struct {
        bool fuse, unlaminate;
        uint64_t second, third;
    } ROWS[] = {{false, true, 2, 4}, {true, false, 1, 2}, {true, true, 1, 3}};
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        struct program_trace *program = new_program(lines, 5);
        struct machine machine = roomy_machine(PREFETCH_NONE);
        machine.core.fuse_loads = ROWS[i].fuse;
        machine.core.unlaminate_indexed = ROWS[i].unlaminate;
        program->uops[3].flags |= UOP_UNLAMINATED;
        join_lines(program, 2);
        join_lines(program, 0);
        struct event_list *list = events_of(program, &machine, REACH);
        assert_int_equal(list->count, 3);
        assert_int_equal(list->events[1].position, ROWS[i].second);
        assert_int_equal(list->events[2].position, ROWS[i].third);
        assert_int_equal(list->events[2].producer_count, 1);
        assert_true(waits_for(&list->events[2], 2));
        free(list);
        free(program);
    }
}

/* A miss with an operation, 900 that do nothing, a hit with an operation, which nothing waits for
 * any more, and a miss: places 0, 1 to 900, 901 and 902. */
static void operations_of_hits_share_a_place(void **state) {
    (void)state;
    struct line lines[905] = {LOAD(20, 1, A), OPERATION(10, 10, 20)};
    for (int i = 2; i < 902; i++)
        lines[i] = NOTHING;
    lines[902] = LOAD(21, 1, A);
    lines[903] = OPERATION(11, 11, 21);
    lines[904] = LOAD(12, 1, B);
    struct program_trace *program = new_program(lines, 905);
    struct machine machine = roomy_machine(PREFETCH_NONE);
    machine.core.fuse_loads = true;
    join_lines(program, 902);
    join_lines(program, 0);
    struct event_list *list = events_of(program, &machine, REACH);
    assert_int_equal(list->count, 2);
    assert_int_equal(list->events[1].position, 902);
    free(list);
    free(program);
}

/* Beyond the window a hit is a hit like any, and a register waits for nothing. */
static void the_past_is_over(void **state) {
    (void)state;
    struct line lines[260] = {LOAD(10, 1, A)};
    for (int i = 1; i < 258; i++)
        lines[i] = NOTHING;
    lines[258] = LOAD(11, 1, A + 8);
    lines[259] = LOAD(12, 10, B);
    struct event_list *list = RUN(lines, PREFETCH_NONE);
    assert_int_equal(list->count, 2);
    assert_int_equal(list->events[1].position, 259);
    assert_int_equal(list->events[1].producer_count, 0);
    free(list);
}

/* Tagged: the miss of A brings the next block, whose first use, a hit for which the load waits,
 * brings the one after that. */
static void prefetches_name_their_trigger(void **state) {
    (void)state;
    const struct line lines[] = {LOAD(10, 1, A), LOAD(11, 2, A + 64), LOAD(12, 3, A + 72)};
    struct event_list *list = RUN(lines, PREFETCH_TAGGED);
    assert_int_equal(list->count, 3);
    assert_int_equal(list->events[0].flags, DATA_MISS | DATA_TRIGGER);
    assert_int_equal(list->events[1].flags,
                     DATA_HIT | DATA_PREFETCHED | DATA_FIRST_USE | DATA_TRIGGER);
    assert_int_equal(list->events[1].fetched_by, 1);
    assert_int_equal(list->events[2].flags, DATA_HIT | DATA_PREFETCHED);
    assert_int_equal(list->events[2].fetched_by, 2);
    free(list);
}

/* What a level beyond the L1D prefetches takes none of the fewest MSHRs when they are the L1D's. */
static void whose_mshrs_a_prefetch_takes(void **state) {
    (void)state;
    const struct line lines[] = {LOAD(10, 1, A)};
    struct program_trace *program = new_program(lines, 1);
    struct machine machine = roomy_machine(PREFETCH_NONE);
    machine.l2 = machine.l1d;
    machine.l2.prefetcher = PREFETCH_TAGGED;
    static const struct {
        uint32_t l1d, l2;
        uint8_t flags;
    } CASES[] = {{4, 8, DATA_MISS | DATA_TRIGGER | DATA_BEYOND},
                 {4, 0, DATA_MISS | DATA_TRIGGER | DATA_BEYOND},
                 {8, 4, DATA_MISS | DATA_TRIGGER},
                 {0, 4, DATA_MISS | DATA_TRIGGER}};
    for (unsigned i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        machine.l1d.mshrs = CASES[i].l1d;
        machine.l2.mshrs = CASES[i].l2;
        struct event_list *list = events_of(program, &machine, REACH);
        assert_int_equal(list->count, 1);
        assert_int_equal(list->events[0].flags, CASES[i].flags);
        free(list);
    }
    free(program);
}

/* Lines of the L1 are half a block: C misses, and so does the line before its block, whose prefetch
 * asks for the first half of it. */
static void more_of_a_block_is_told(void **state) {
    (void)state;
    const struct line lines[] = {LOAD(10, 1, C + 32), NOTHING, LOAD(11, 1, C - 32)};
    struct program_trace *program = new_program(lines, 3);
    struct machine machine = roomy_machine(PREFETCH_ON_MISS);
    machine.l2 = machine.l1d;
    machine.l2.prefetcher = PREFETCH_NONE;
    machine.l1d.line = 32;
    struct event_list *list = events_of(program, &machine, (struct data_reach){64, 64});
    assert_int_equal(list->count, 2);
    assert_int_equal(list->events[1].flags, DATA_MISS);
    assert_int_equal(list->events[1].along, 1);
    free(list);
    list = events_of(program, &machine, (struct data_reach){64, 2}); /* it has arrived */
    assert_int_equal(list->events[1].along, 0);
    free(list);
    free(program);
}

/* B missed in the other memory, A did not; r10 waits for nothing, and the load of D is a miss of
 * its own. µops of the gap are none. */
static void nothing_is_left_of_what_was_before(void **state) {
    (void)state;
    const struct line before[] = {LOAD(10, 1, A), STORE(10, 2, D)},
                      after[] = {LOAD(11, 2, A + 8), LOAD(12, 3, B), LOAD(13, 10, C),
                                 LOAD(14, 2, D)};
    struct program_trace *first = new_program(before, 2), *second = new_program(after, 4);
    const struct machine machine = roomy_machine(PREFETCH_NONE);
    struct event_list *list = calloc(1, sizeof *list);
    struct error error;
    struct memory *memory = memory_new(&machine, 0, &error);
    struct data_trace *trace =
        data_trace_new(&machine, REACH, (struct data_sink){keep_events, list}, &error);
    struct memory_result result;
    assert_true(list && memory && trace);
    memory_load(memory, 0, B, 8, 0, 0, &result);
    assert_true(data_trace_add(
        trace, &(struct core_input){&first->code, first->dynamic, first->accesses, 2, 2, 0},
        &error));
    data_trace_resume(trace, memory);
    assert_true(data_trace_add(
        trace, &(struct core_input){&second->code, second->dynamic, second->accesses, 4, 4, 0},
        &error));
    data_trace_finish(trace);
    assert_int_equal(list->count, 5);
    for (int i = 2; i < 5; i++) {
        static const uint32_t AT[] = {0, 2, 3}; /* A + 8, C, D */
        assert_int_equal(list->events[i].flags, DATA_MISS);
        assert_int_equal(list->events[i].producer_count, 0);
        assert_int_equal(list->events[i].position, 2 + 2 * 800 + AT[i - 2]);
    }
    assert_int_equal(data_trace_counts(trace).uops, 6);
    data_trace_free(trace);
    memory_free(memory);
    free(list);
    free(first);
    free(second);
}

static void finish_with(struct program_trace *program, struct dynamic_insn *insn,
                        struct event_list **list) {
    const struct machine machine = roomy_machine(PREFETCH_NONE);
    program->dynamic[program->count - 1] = *insn;
    *list = events_of(program, &machine, REACH);
}

/* rep stosb of 256 bytes: four pieces of a line, of which each misses. */
static void repeated_stores_go_by_lines(void **state) {
    (void)state;
    const struct line lines[] = {STORE(5, 1, A)};
    struct program_trace *program = new_program(lines, 1);
    program->accesses[0].size_bytes = 256;
    struct dynamic_insn insn = program->dynamic[0];
    insn.flags = DYN_REP;
    insn.repeat = 256;
    struct event_list *list;
    finish_with(program, &insn, &list);
    assert_int_equal(list->count, 4);
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(list->events[i].flags, DATA_STORE);
        assert_int_equal(list->events[i].position, i);
    }
    free(list);
    free(program);
}

/* A gather is one load whose value waits for all its lanes. */
static void gathers_wait_for_all_lanes(void **state) {
    (void)state;
    const struct line lines[] = {LOAD(10, 1, A), LOAD(11, 10, C)};
    struct program_trace *program = new_program(lines, 2);
    program->accesses[2] = program->accesses[1];
    program->accesses[1] = program->accesses[0];
    program->accesses[1].address = B;
    program->access_count = 3;
    program->dynamic[0].memory_count = 2;
    struct dynamic_insn insn = program->dynamic[1];
    insn.memory = 2;
    struct event_list *list;
    finish_with(program, &insn, &list);
    assert_int_equal(list->count, 3);
    assert_int_equal(list->events[1].position, 0);
    assert_int_equal(list->events[2].producer_count, 2);
    free(list);
    free(program);
}

/* A locked operation is the oldest when it begins, and what follows waits until it has committed; a
 * system call only does that. */
static void fences_are_told(void **state) {
    (void)state;
    const struct line lines[] = {LOAD(10, 1, A), LOAD(11, 1, A + 8), NOTHING, LOAD(12, 1, B)};
    struct program_trace *program = new_program(lines, 4);
    const struct machine machine = roomy_machine(PREFETCH_NONE);
    program->insns[1].flags = INSN_ATOMIC | INSN_FENCE_LOAD | INSN_FENCE_STORE;
    program->insns[2].flags = INSN_SYSCALL;
    struct event_list *list = events_of(program, &machine, REACH);
    const uint16_t flags[] = {DATA_MISS, DATA_FENCE, DATA_HIT, DATA_FENCE, DATA_FENCE, DATA_MISS};
    const uint64_t positions[] = {0, 1, 1, 2, 3, 3};
    assert_int_equal(list->count, 6);
    for (int i = 0; i < 6; i++) {
        assert_int_equal(list->events[i].flags, flags[i]);
        assert_int_equal(list->events[i].position, positions[i]);
    }
    free(list);
    free(program);
}

/* Input that names what is not there is an error, not a crash. */
static void hostile_input_is_refused(void **state) {
    (void)state;
    const struct line lines[] = {LOAD(10, 1, A)};
    struct program_trace *program = new_program(lines, 1);
    const struct machine machine = roomy_machine(PREFETCH_NONE);
    struct error error = {0};
    struct event_list *list = calloc(1, sizeof *list);
    struct data_trace *trace =
        data_trace_new(&machine, REACH, (struct data_sink){keep_events, list}, &error);
    assert_non_null(trace);
    program->dynamic[0].memory_count = 2;
    assert_false(data_trace_add(
        trace, &(struct core_input){&program->code, program->dynamic, program->accesses, 1, 1, 0},
        &error));
    program->dynamic[0].memory_count = 1;
    program->dynamic[0].insn = 7;
    assert_false(data_trace_add(
        trace, &(struct core_input){&program->code, program->dynamic, program->accesses, 1, 1, 0},
        &error));
    data_trace_free(trace);
    free(list);
    free(program);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operations_pass_on),
        cmocka_unit_test(what_is_waited_for_already_is_left_out),
        cmocka_unit_test(many_are_joined),
        cmocka_unit_test(stores_forward),
        cmocka_unit_test(operations_share_a_place),
        cmocka_unit_test(operations_of_hits_share_a_place),
        cmocka_unit_test(the_past_is_over),
        cmocka_unit_test(prefetches_name_their_trigger),
        cmocka_unit_test(repeated_stores_go_by_lines),
        cmocka_unit_test(gathers_wait_for_all_lanes),
        cmocka_unit_test(fences_are_told),
        cmocka_unit_test(hostile_input_is_refused),
        cmocka_unit_test(whose_mshrs_a_prefetch_takes),
        cmocka_unit_test(more_of_a_block_is_told),
        cmocka_unit_test(nothing_is_left_of_what_was_before),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
