/* The what-ifs of a report: which causes are shown, their interactions, and what to do next. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/core.h"
#include "report/next.h"
#include "report/report.h"
#include "report/what_if.h"
#include "simulate/thread_what_if.h"

/* Of 1,000 cycles imiss costs 200, dmiss 300, dl1 5, win 60; imiss and dmiss together 450, a serial
 * 50; dmiss and dl1 345, a parallel 40; win and imiss 230, a serial 30; all else is independent and
 * costs nothing. */
static double cycles_of(uint32_t set) {
    double cycles = 1000;
    cycles -= set & IDEAL_IMISS ? 200 : 0;
    cycles -= set & IDEAL_DMISS ? 300 : 0;
    cycles -= set & IDEAL_DL1 ? 5 : 0;
    cycles -= set & IDEAL_WIN ? 60 : 0;
    cycles += (set & IDEAL_IMISS) && (set & IDEAL_DMISS) ? 50 : 0;
    cycles -= (set & IDEAL_DMISS) && (set & IDEAL_DL1) ? 40 : 0;
    cycles += (set & IDEAL_WIN) && (set & IDEAL_IMISS) ? 30 : 0;
    return cycles;
}

enum { CYCLES = 1000 };

/* One cell that stands for itself, so that nothing is left open. */
static struct what_if make(double (*cycles)(uint32_t set)) {
    struct what_if what_if = {.run = {.all = CYCLES}, .sample = {.cells = 1, .instructions = 500}};
    struct error error;
    uint32_t cost = 0;
    for (uint32_t a = 0; a < MULTISIM_CATEGORIES; a++)
        what_if.sample.costs[cost++][MULTISIM_TO_ALL] =
            (struct multisim_sums){.cycles = CYCLES, .saved = CYCLES - cycles(1u << a)};
    for (uint32_t a = 0; a < MULTISIM_CATEGORIES; a++)
        for (uint32_t b = a + 1; b < MULTISIM_CATEGORIES; b++)
            what_if.sample.costs[cost++][MULTISIM_TO_ALL] = (struct multisim_sums){
                .cycles = CYCLES,
                .saved = cycles(1u << a) + cycles(1u << b) - CYCLES - cycles(1u << a | 1u << b)};
    assert_true(
        sampled_multisim_breakdown(&what_if.sample, &what_if.run, &what_if.breakdown, &error));
    return what_if;
}

static char *text_of(const struct what_if *what_if) {
    char *text;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    const struct page page = page_of(file, false);
    what_if_text(what_if, &page);
    fclose(file);
    return text;
}

static void expect_lines(const char *text, const char *const *lines) {
    const char *at = text;
    for (int i = 0; lines[i]; i++) {
        const char *found = strstr(at, lines[i]);
        if (!found)
            fail_msg("no '%s' in '%s'", lines[i], at);
        at = found;
    }
}

static void costly_causes_are_told(void **state) {
    (void)state;
    struct what_if what_if = make(cycles_of);
    char *text = text_of(&what_if);
    static const char *const LINES[] = {
        "\nwhat if a cause were gone entirely (percent of run time; a fix saves at most that)\n",
        " dmiss data accesses always hit the L1 cache and TLB         30.0 ±0.0  in series with "
        "imiss (-5.0)\n",
        " imiss instruction cache and TLB always hit                  20.0 ±0.0  in series with "
        "dmiss (-5.0)\n",
        " win   window (ROB, queues, registers) 20 times larger        6.0 ±0.0  in series with "
        "imiss (-3.0)\n",
        " imiss+dmiss: both                                           45.0 ±0.0\n",
        NULL};
    expect_lines(text, LINES);
    assert_null(strstr(text, "dl1 ")); /* under 1 % */
    free(text);
    what_if_free(&what_if);
}

/* The places of dmiss: 70 % in lines 77 to 79 of one function, 20 % in a function of a stripped
 * file. */
static void the_places_stand_below(void **state) {
    (void)state;
    struct what_if what_if = make(cycles_of);
    what_if.places[1][0] = (struct what_if_place){.share = 0.7,
                                                  .function = "chase",
                                                  .image = "tca",
                                                  .file = "/src/tca.cpp",
                                                  .first_line = 77,
                                                  .last_line = 79};
    what_if.places[1][1] = (struct what_if_place){.share = 0.2, .image = "libz.so.1", .offset = 64};
    what_if.place_count[1] = 2;
    char *text = text_of(&what_if);
    static const char *const LINES[] = {
        "imiss (-5.0)\n       70 % in chase, tca.cpp:77-79; 20 % in libz.so.1+0x40\n imiss", NULL};
    expect_lines(text, LINES);
    free(text);
    what_if_free(&what_if);
}

/* 100 cells of 10 cycles, each standing for two; s differs from one to the next by 1 in turns, so
 * the squares of differences sum to (1 − 1/2) / 2 × 100 × (2 × 1)²: 1.96 × sqrt(100) / 2000. An
 * interaction that is smaller than what it may err is not told. */
static void what_may_err_is_told(void **state) {
    (void)state;
    struct what_if what_if = make(cycles_of);
    what_if.sample.costs[1][MULTISIM_TO_ALL] =
        (struct multisim_sums){.cycles = 2000, .saved = 600, .saved_squared = 100};
    for (uint32_t i = MULTISIM_CATEGORIES; i < MULTISIM_COSTS; i++)
        what_if.sample.costs[i][MULTISIM_TO_ALL].saved_squared = 1e6;
    char *text = text_of(&what_if);
    static const char *const LINES[] = {" 30.0 ±1.0\n imiss", NULL};
    expect_lines(text, LINES);
    assert_null(strstr(text, "in series with"));
    free(text);
    what_if_free(&what_if);
}

/* Regions that an interrupt left out are not those that chance chose: no interval is claimed. */
static void nothing_is_claimed_without_all_regions(void **state) {
    (void)state;
    struct what_if what_if = make(cycles_of);
    what_if.interval_unknown = true;
    char *text = text_of(&what_if);
    static const char *const LINES[] = {" 30.0  in series with imiss (-5.0)\n",
                                        " imiss+dmiss: both", " 45.0\n", NULL};
    expect_lines(text, LINES);
    assert_null(strstr(text, "±"));
    free(text);
    json_t *object = what_if_json(&what_if);
    const json_t *cost =
        json_object_get(json_array_get(json_object_get(object, "costs"), 1), "cost");
    assert_true(json_is_null(json_object_get(cost, "half_interval_95")));
    assert_float_equal(json_real_value(json_object_get(cost, "percent")), 30, 1e-9);
    json_decref(object);
    what_if_free(&what_if);
}

static double nothing_costs(uint32_t set) {
    (void)set;
    return CYCLES;
}

static void nothing_is_said_of_nothing(void **state) {
    (void)state;
    struct what_if none = {0}, free_of_cost = make(nothing_costs);
    char *nothing = text_of(&none), *no_cost = text_of(&free_of_cost);
    assert_string_equal(nothing, "");
    assert_string_equal(no_cost, "");
    free(nothing);
    free(no_cost);
    what_if_free(&free_of_cost);
    json_t *null = what_if_json(&none);
    assert_true(json_is_null(null));
    json_decref(null);
}

static void all_pairs_are_in_the_object(void **state) {
    (void)state;
    struct what_if what_if = make(cycles_of);
    json_t *object = what_if_json(&what_if), *pairs = json_object_get(object, "pairs");
    assert_int_equal(json_array_size(json_object_get(object, "costs")), 9);
    assert_int_equal(json_array_size(pairs), 36);
    json_t *first = json_array_get(pairs, 0), *icost = json_object_get(first, "icost");
    assert_string_equal(json_string_value(json_array_get(json_object_get(first, "members"), 0)),
                        "imiss");
    assert_true(json_real_value(json_object_get(icost, "cycles")) == -50);
    assert_true(json_real_value(json_object_get(icost, "percent")) == -5);
    json_decref(object);
    what_if_free(&what_if);
}

/* ---- the next useful command ---- */

/* Of a run of which mispredictions have most cycles. */
static void assert_next(const struct what_if *what_if, const struct thread_what_ifs *threads,
                        const char *expected) {
    struct stack_part parts[] = {{PSV_FL_MB, 600 * CYCLE_UNITS}, {0, 400 * CYCLE_UNITS}};
    const struct simulation simulation = {.cycles = CYCLES};
    const struct report report = {.simulation = &simulation,
                                  .by = BY_FUNCTION,
                                  .stack = {parts, 2},
                                  .what_if = *what_if,
                                  .threads = {.what_ifs = threads}};
    static char verb[] = "culprit explain", dashes[] = "--", program[] = "a";
    char *words[] = {verb, dashes, program, NULL};
    char *next = next_command(&report, false, words + 2, 3, words);
    assert_string_equal(next, expected);
    free(next);
}

static void the_next_command_takes_away_what_saves_most(void **state) {
    (void)state;
    struct what_if none = {0}, data = make(cycles_of), free_of_cost = make(nothing_costs);
    assert_next(&none, NULL, "culprit explain --ideal bmisp -- a");
    assert_next(&data, NULL, "culprit explain --ideal dmiss -- a");
    assert_next(&free_of_cost, NULL, "culprit explain --by line -- a");
    what_if_free(&data);
    what_if_free(&free_of_cost);
}

/* Unless some causes were not simulated. */
static void likewise_of_threads(void **state) {
    (void)state;
    const struct what_if none = {0};
    struct thread_what_ifs threads = {
        .items = {{.kind = WHAT_IF_LOCKS, .saved = 0.4},
                  {.kind = WHAT_IF_IDEAL, .ideal = 3, .saved = 0.3}, /* shalu */
                  {.kind = WHAT_IF_IDEAL, .ideal = 0, .saved = 0.2}, /* imiss */
                  {.kind = WHAT_IF_IDEAL, .ideal = 1, .saved = 0.1}},
        .count = 4};
    assert_next(&none, &threads, "culprit explain --ideal imiss -- a");
    threads.left_out = 1;
    assert_next(&none, &threads, "culprit explain --ideal bmisp -- a");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(costly_causes_are_told),
        cmocka_unit_test(the_places_stand_below),
        cmocka_unit_test(what_may_err_is_told),
        cmocka_unit_test(nothing_is_claimed_without_all_regions),
        cmocka_unit_test(nothing_is_said_of_nothing),
        cmocka_unit_test(all_pairs_are_in_the_object),
        cmocka_unit_test(the_next_command_takes_away_what_saves_most),
        cmocka_unit_test(likewise_of_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
