/* The figures of the hybrid model's chapter, worked by hand. Blocks A, B ... are 64 bytes each. */
#include <math.h>

#include "unit/data_program.h"

#define A 0x100000
#define B 0x100100
#define C 0x100200
#define D 0x100300
#define E 0x100400

static struct hybrid_config config_of(uint32_t rob) {
    return (struct hybrid_config){.rob = rob,
                                  .width = 4,
                                  .latency = 200,
                                  .pending_hits = true,
                                  .windows = WINDOWS_PLAIN,
                                  .parts = PARTS_ALL};
}

static struct hybrid_result run(const struct line *lines, uint32_t count,
                                const struct hybrid_config *config) {
    struct program_trace *program = new_program(lines, count);
    const struct machine machine = roomy_machine(PREFETCH_NONE);
    struct event_list *list = events_of(program, &machine, (struct data_reach){config->rob, 0});
    const struct hybrid_result result = evaluate(config, list->events, list->count);
    free(list);
    free(program);
    return result;
}
#define RUN(lines, config) run(lines, sizeof(lines) / sizeof *(lines), config)

/* Fig. 2.2 (a): i1, i3, i6 and i9 miss, none waits for another. A window of eight holds i1 to i8:
 * one latency; i9 is in the next: another. */
static void figure_2_2_a(void **state) {
    (void)state;
    const struct line lines[] = {LOAD(10, 1, A),        OPERATION(11, 10, NO), LOAD(12, 2, B),
                                 OPERATION(13, 11, NO), OPERATION(14, 13, NO), LOAD(15, 3, C),
                                 OPERATION(16, 12, NO), OPERATION(17, 14, 16), LOAD(18, 4, D),
                                 OPERATION(19, 18, NO)};
    const struct hybrid_config config = config_of(8);
    const struct hybrid_result result = RUN(lines, &config);
    assert_true(result.serialized == 2);
    assert_true(result.misses == 4);
    assert_true(result.windows == 2);
    /* i3 − i1, i6 − i3, i9 − i6: 2, 3 and 3 instructions. */
    assert_true(result.distance == 8.0 / 3);
    assert_true(result.cycles == 400);
}

/* Fig. 2.2 (b): i6 waits for i1, through i2 and i4: two latencies; i9 again is in the next. */
static void figure_2_2_b(void **state) {
    (void)state;
    const struct line lines[] = {LOAD(10, 1, A),        OPERATION(11, 10, NO), LOAD(12, 2, B),
                                 OPERATION(13, 11, NO), OPERATION(14, 12, NO), LOAD(15, 13, C),
                                 OPERATION(16, 14, NO), OPERATION(17, 15, NO), LOAD(18, 4, D),
                                 OPERATION(19, 18, NO)};
    const struct hybrid_config config = config_of(8);
    assert_true(RUN(lines, &config).serialized == 3);
}

/* Four misses, each the operand of an operation, and a window of four: it holds all four if the two
 * are one, and two if they have a place each: one latency or two. */
static void operands_in_a_window(void **state) {
    (void)state;
    const struct line lines[] = {
        LOAD(20, 1, A), OPERATION(10, 10, 20), LOAD(21, 1, B), OPERATION(11, 11, 21),
        LOAD(22, 1, C), OPERATION(12, 12, 22), LOAD(23, 1, D), OPERATION(13, 13, 23)};
    const struct hybrid_config config = config_of(4);
    for (unsigned one = 0; one < 2; one++) {
        struct program_trace *program = new_program(lines, 8);
        struct machine machine = roomy_machine(PREFETCH_NONE);
        machine.core.fuse_loads = one;
        for (uint32_t pair = 4; pair-- > 0;)
            join_lines(program, 2 * pair);
        struct event_list *list = events_of(program, &machine, (struct data_reach){4, 0});
        const struct hybrid_result result = evaluate(&config, list->events, list->count);
        assert_true(result.misses == 4);
        assert_true(result.serialized == (one ? 1 : 2));
        free(list);
        free(program);
    }
}

/* Fig. 2.3: i2 hits on the block that i1 brings, i3 gets its address from i2. With pending hits i3
 * waits for i1; without, both misses overlap. */
static void figure_2_3(void **state) {
    (void)state;
    const struct line lines[] = {LOAD(1, 2, A), LOAD(3, 2, A + 4), LOAD(4, 3, B)};
    struct hybrid_config config = config_of(8);
    assert_true(RUN(lines, &config).serialized == 2);
    config.pending_hits = false;
    assert_true(RUN(lines, &config).serialized == 1);
    /* The access that fetched it is no longer in the window: a hit like any. */
    config.pending_hits = true;
    config.rob = 1;
    assert_true(RUN(lines, &config).serialized == 2);
}

/* Fig. 2.6: i1 and i5 miss; i6 waits for both and triggers the prefetch that i8 hits on; i8's
 * operand comes from i7, one latency after the begin. i8 is there before the prefetch starts and
 * misses itself (B): length 2. Without B it seems to wait for the prefetch: 2 and what is left of
 * the latency two instructions later, (200 − 2/4) / 200 = 0.9975. */
static void figure_2_6(void **state) {
    (void)state;
    const struct data_event events[] = {
        {.position = 1, .flags = DATA_MISS},                                        /* i1 */
        {.position = 5, .flags = DATA_MISS, .producer_count = 1, .producers = {1}}, /* i5 */
        {.position = 6, .producer_count = 1, .producers = {1}},                     /* i6 */
        {.position = 8,                                                             /* i8 */
         .flags = DATA_HIT | DATA_PREFETCHED | DATA_FIRST_USE,
         .fetched_by = 1,
         .fetched_by_uops = 2,
         .producer_count = 1,
         .producers = {3}}};
    struct hybrid_config config = config_of(256);
    config.prefetching = true;
    struct hybrid_result result = evaluate(&config, events, 4);
    assert_true(result.serialized == 2);
    assert_true(result.misses == 3);
    assert_true(result.tardy == 1);
    assert_true(result.distance == 3.5); /* i5 − i1, i8 − i5 */
    config.parts = PART_A | PART_C;
    result = evaluate(&config, events, 4);
    assert_true(result.serialized == 2.9975);
    assert_true(result.tardy == 0);
    /* The paper's "almost 1.0" when nothing is hidden. */
    config.parts = PART_C;
    assert_true(evaluate(&config, events, 4).serialized == 3);
}

/* Fig. 2.7, 200 cycles, four a cycle: i1 misses, i3 (length 1) triggers the prefetch of i83's
 * block, i4 misses after i1 (length 2). i83 waits for i4: of its latency (200 − 80/4) / 200 = 0.9
 * is left after i3, over at 1.9 < 2: hidden, length 2. i85 (length 2) triggers the prefetch of
 * i245's: (200 − 160/4) / 200 = 0.8 is left; i86, on which i245 depends, ends at 2 as well, so i245
 * ends at 2.8. */
static void figure_2_7(void **state) {
    (void)state;
    const struct data_event events[] = {
        {.position = 1, .flags = DATA_MISS},                                        /* i1 */
        {.position = 3, .producer_count = 1, .producers = {1}},                     /* i3 */
        {.position = 4, .flags = DATA_MISS, .producer_count = 1, .producers = {2}}, /* i4 */
        {.position = 83,                                                            /* i83 */
         .flags = DATA_HIT | DATA_PREFETCHED | DATA_FIRST_USE,
         .fetched_by = 2,
         .fetched_by_uops = 80,
         .producer_count = 1,
         .producers = {1}},
        {.position = 85, .producer_count = 1, .producers = {1}}, /* i85 */
        {.position = 245,                                        /* i245, through i86 */
         .flags = DATA_HIT | DATA_PREFETCHED | DATA_FIRST_USE,
         .fetched_by = 1,
         .fetched_by_uops = 160,
         .producer_count = 1,
         .producers = {2}}};
    struct hybrid_config config = config_of(256);
    config.prefetching = true;
    assert_true(evaluate(&config, events, 4).serialized == 2);
    const struct hybrid_result result = evaluate(&config, events, 6);
    assert_true(result.serialized == 2.8);
    assert_true(result.misses == 3); /* i1, i4 and i245 wait for memory */
    assert_true(result.cycles == 560);
    /* Without C the prefetches run only while nothing else does: 2 + 0.9, then 2.9 + 0.8. */
    config.parts = PART_A | PART_B;
    assert_true(fabs(evaluate(&config, events, 6).serialized - 3.7) < 1e-12);
}

/* Fig. 2.8: four MSHRs, eight instructions. i1, i2, i4 and i6 miss, independently, and take all
 * MSHRs: the window ends with i6. i7, which misses too, is in the next. */
static void figure_2_8(void **state) {
    (void)state;
    const struct line lines[] = {LOAD(10, 1, A),       LOAD(11, 1, B),        OPERATION(12, 10, NO),
                                 LOAD(13, 1, C),       OPERATION(14, 11, NO), LOAD(15, 1, D),
                                 LOAD(16, 1, E),       OPERATION(17, 13, NO), OPERATION(18, 15, NO),
                                 OPERATION(19, 16, NO)};
    struct hybrid_config config = config_of(8);
    assert_true(RUN(lines, &config).serialized == 1);
    config.mshrs = 4;
    for (int windows = WINDOWS_PLAIN; windows <= WINDOWS_SWAM_MLP; windows++) {
        config.windows = (enum hybrid_windows)windows;
        assert_true(RUN(lines, &config).serialized == 2);
        assert_true(RUN(lines, &config).windows == 2);
    }
}

/* Fig. 2.9: i5, i7, i9 and i11 miss. Plain windows i1 to i8 and i9 to i16 hold two each and cost
 * one latency each; a window that starts with i5 holds all four. */
static void figure_2_9(void **state) {
    (void)state;
    const struct line lines[] = {
        NOTHING, NOTHING,        NOTHING, NOTHING,        LOAD(10, 1, A), NOTHING, LOAD(11, 1, B),
        NOTHING, LOAD(12, 1, C), NOTHING, LOAD(13, 1, D), NOTHING,        NOTHING, NOTHING};
    struct hybrid_config config = config_of(8);
    assert_true(RUN(lines, &config).serialized == 2); /* (a) */
    config.windows = WINDOWS_SWAM;
    assert_true(RUN(lines, &config).serialized == 1); /* (b) */
    assert_true(RUN(lines, &config).windows == 1);
}

/* §2.2.5: of four misses i2 waits for i1; with two MSHRs SWAM ends its window with i2 and finds a
 * chain of two, then i3 and i4 together: 3. SWAM-MLP lets i3 take the second MSHR; i4 is in the
 * next window: 3. With three MSHRs SWAM: i1 to i3 (2) and i4 (1); SWAM-MLP: all (2). */
static void dependent_misses_take_no_mshr(void **state) {
    (void)state;
    const struct line lines[] = {LOAD(10, 1, A), LOAD(11, 10, B), LOAD(12, 1, C), LOAD(13, 1, D)};
    struct hybrid_config config = config_of(8);
    config.windows = WINDOWS_SWAM;
    config.mshrs = 3;
    assert_true(RUN(lines, &config).serialized == 3);
    config.windows = WINDOWS_SWAM_MLP;
    assert_true(RUN(lines, &config).serialized == 2);
    config.mshrs = 2;
    assert_true(RUN(lines, &config).serialized == 3);
}

/* A window that starts at a hit on a block prefetched by an instruction before it: (A) alone, with
 * prev.length = prev.lat = 0. 100 instructions later (200 − 25) / 200 = 0.875 is left. One that has
 * arrived starts none. */
static void window_starts_at_a_prefetched_hit(void **state) {
    (void)state;
    const struct data_event events[] = {{.position = 0},
                                        {.position = 100,
                                         .flags = DATA_HIT | DATA_PREFETCHED | DATA_FIRST_USE,
                                         .fetched_by = 1,
                                         .fetched_by_uops = 100},
                                        {.position = 110, .flags = DATA_MISS},
                                        {.position = 900,
                                         .flags = DATA_HIT | DATA_PREFETCHED,
                                         .fetched_by = 3,
                                         .fetched_by_uops = 800}};
    struct hybrid_config config = config_of(16);
    config.prefetching = true;
    config.windows = WINDOWS_SWAM;
    assert_true(evaluate(&config, events, 2).serialized == 0.875);
    assert_true(evaluate(&config, events, 3).serialized == 1); /* in one window */
    assert_true(evaluate(&config, events, 4).serialized == 1);
    assert_true(evaluate(&config, events, 4).windows == 1);
    config.pending_hits = false;
    assert_true(evaluate(&config, events, 2).serialized == 0);
}

/* Two independent misses 40 apart and a third 1000 on, ROB 256, 4 wide: two windows, 400 cycles.
 * Fixed: of each serialised miss ROB/4 × ½ = 32 cycles, or 255/4 at the youngest. Distance: (40 +
 * 256) / 2 = 148 instructions or 37 cycles for each of the three. */
static void compensations(void **state) {
    (void)state;
    const struct data_event events[] = {{.position = 0, .flags = DATA_MISS},
                                        {.position = 40, .flags = DATA_MISS},
                                        {.position = 1040, .flags = DATA_MISS}};
    struct hybrid_config config = config_of(256);
    config.windows = WINDOWS_SWAM;
    assert_true(evaluate(&config, events, 3).cycles == 400);
    config.compensation = COMPENSATE_FIXED;
    assert_true(evaluate(&config, events, 3).cycles == 400);
    config.fixed = 0.5;
    assert_true(evaluate(&config, events, 3).cycles == 400 - 2 * 32);
    config.fixed = 1;
    assert_true(evaluate(&config, events, 3).cycles == 400 - 2 * 63.75);
    config.compensation = COMPENSATE_DISTANCE;
    assert_true(evaluate(&config, events, 3).distance == 148);
    assert_true(evaluate(&config, events, 3).cycles == 400 - 3 * 37);
}

/* A loop with a miss in each of its rounds of 200 µops, ROB 256: a window holds two, from 0 to 256,
 * and the next begins at 400. While a window's miss is outstanding 256 µops are executed, the 144
 * behind them are not: 64 cycles are hidden of each window. Distance compensation takes all 400, or
 * 50 cycles for each miss. With two MSHRs a window ends with its second miss, but the reorder
 * buffer holds what follows it all the same. */
static void windows_hide_a_reorder_buffer(void **state) {
    (void)state;
    struct data_event events[20];
    for (uint32_t i = 0; i < 20; i++)
        events[i] = (struct data_event){.position = 200 * i, .flags = DATA_MISS};
    struct hybrid_config config = config_of(256);
    config.windows = WINDOWS_SWAM;
    config.compensation = COMPENSATE_WINDOW;
    assert_true(evaluate(&config, events, 20).cycles == 10 * (200 - 64));
    config.mshrs = 2;
    assert_true(evaluate(&config, events, 20).cycles == 10 * (200 - 64));
    config.mshrs = 1; /* a window each, the last without a next: 200 µops, then 256 */
    assert_true(evaluate(&config, events, 20).cycles == 20 * (200 - 50) - 14);
    config.mshrs = 0;
    config.compensation = COMPENSATE_DISTANCE;
    assert_true(evaluate(&config, events, 20).cycles == 10 * 200 - 20 * 50);
    /* No more than all: memory of 20 cycles is hidden. */
    config.compensation = COMPENSATE_WINDOW;
    config.latency = 20;
    assert_true(evaluate(&config, events, 20).cycles == 0);
}

/* Three independent misses, of which each triggers a prefetch. With four MSHRs the first two misses
 * and their prefetches take all of them: two windows. With unlimited ones, one. A first use of a
 * block whose prefetch was counted takes no other. */
static void prefetches_take_mshrs(void **state) {
    (void)state;
    struct data_event events[] = {{.position = 0, .flags = DATA_MISS | DATA_TRIGGER},
                                  {.position = 1, .flags = DATA_MISS | DATA_TRIGGER},
                                  {.position = 2, .flags = DATA_MISS | DATA_TRIGGER}};
    struct hybrid_config config = config_of(16);
    config.prefetching = true;
    config.windows = WINDOWS_SWAM_MLP;
    assert_true(evaluate(&config, events, 3).serialized == 1);
    config.mshrs = 4;
    assert_true(evaluate(&config, events, 3).serialized == 2);
    assert_true(evaluate(&config, events, 3).windows == 2);
    events[1] = (struct data_event){.position = 1,
                                    .flags = DATA_HIT | DATA_PREFETCHED | DATA_FIRST_USE,
                                    .fetched_by = 1,
                                    .fetched_by_uops = 1};
    assert_true(evaluate(&config, events, 3).windows == 1);
}

/* With two MSHRs, two stores that miss take both, and cost a latency though nothing waits for them;
 * the load behind them is in the next window. */
static void stores_take_mshrs(void **state) {
    (void)state;
    const struct line lines[] = {STORE(5, 1, A), STORE(5, 1, B), LOAD(10, 1, C)};
    struct hybrid_config config = config_of(16);
    config.windows = WINDOWS_SWAM_MLP;
    assert_true(RUN(lines, &config).serialized == 1);
    config.mshrs = 2;
    assert_true(RUN(lines, &config).serialized == 2);
}

/* Stores bring blocks in, but count neither as misses nor in the distance, and no window starts
 * with them. A load that waits for such a block waits for all of its latency. */
static void stores_bring_blocks(void **state) {
    (void)state;
    const struct line lines[] = {STORE(5, 1, A), NOTHING, LOAD(10, 1, A + 8), LOAD(11, 10, B)};
    struct hybrid_config config = config_of(8);
    const struct hybrid_result result = RUN(lines, &config);
    assert_true(result.serialized == 2);
    assert_true(result.misses == 1);
    config.windows = WINDOWS_SWAM; /* starts with the last load */
    assert_true(RUN(lines, &config).serialized == 1);
}

static void nonsense_is_refused(void **state) {
    (void)state;
    struct error error;
    struct hybrid_config config = config_of(64);
    assert_true(hybrid_check(&config, &error));
    config.rob = 0;
    assert_false(hybrid_check(&config, &error));
    config = config_of(64);
    config.mshrs = 65;
    assert_false(hybrid_check(&config, &error));
    assert_non_null(strstr(error.message, "65 MSHRs"));
    config = config_of(64);
    config.latency = 0;
    assert_false(hybrid_check(&config, &error));
    config = config_of(64);
    config.width = 0;
    assert_false(hybrid_check(&config, &error));
    config = config_of(64);
    config.fixed = -0.1;
    assert_false(hybrid_check(&config, &error));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figure_2_2_a),
        cmocka_unit_test(figure_2_2_b),
        cmocka_unit_test(operands_in_a_window),
        cmocka_unit_test(figure_2_3),
        cmocka_unit_test(figure_2_6),
        cmocka_unit_test(figure_2_7),
        cmocka_unit_test(figure_2_8),
        cmocka_unit_test(figure_2_9),
        cmocka_unit_test(dependent_misses_take_no_mshr),
        cmocka_unit_test(window_starts_at_a_prefetched_hit),
        cmocka_unit_test(compensations),
        cmocka_unit_test(windows_hide_a_reorder_buffer),
        cmocka_unit_test(prefetches_take_mshrs),
        cmocka_unit_test(stores_take_mshrs),
        cmocka_unit_test(stores_bring_blocks),
        cmocka_unit_test(nonsense_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
