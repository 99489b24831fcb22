/* What a report says of upgrades: of which runs, how much, within which bounds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "report/upgrades.h"

static struct machine machine;

static int load_machine(void **state) {
    (void)state;
    struct error error;
    return machine_load("machines/chen-ooo.ini", &machine, &error) &&
                   machine_set(&machine, "l1d.mshrs=4", &error)
               ? 0
               : -1;
}

/* Of 1000 cycles 600 wait for loads that missed the last level and 100 behind a full store queue,
 * or as many as `loads` and `stores` say. */
struct fixture {
    struct simulation simulation;
    struct stack_part parts[3];
    struct report report;
};

static void make(struct fixture *fixture, uint64_t loads, uint64_t stores) {
    *fixture = (struct fixture){.simulation = {.cycles = 1000, .instructions = 500},
                                .parts = {{PSV_ST_L1 | PSV_ST_LLC, loads * CYCLE_UNITS},
                                          {PSV_DR_SQ, stores * CYCLE_UNITS},
                                          {0, (1000 - loads - stores) * CYCLE_UNITS}}};
    fixture->report = (struct report){
        .machine = &machine, .simulation = &fixture->simulation, .stack = {fixture->parts, 3}};
    /* Half of the run: 275 cycles are 550 of the run. Twice the reorder buffer saves 50 of them,
     * four times costs 30, which is not believed; twice the MSHRs 250; both twice 300. */
    fixture->report.forecast =
        (struct forecast_result){.looked = 40,
                                 .instructions = 250,
                                 .now = 275,
                                 .then = {250, 290, 150, 100, 125, 5, 300, 275, 275}};
}

static char *text_of(const struct report *report) {
    char *text;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    const struct page page = page_of(file, false);
    upgrades_text(report, &page);
    fclose(file);
    return text;
}

static void assert_lines(const char *text, const char *const *lines) {
    for (; *lines; lines++) {
        const char *found = strstr(text, *lines);
        if (!found)
            fail_msg("no '%s' in '%s'", *lines, text);
        text = found;
    }
}

static void what_each_saves(void **state) {
    (void)state;
    static const char *const LINES[] = {
        ("\nwhat if the machine were larger (percent of run time saved, by the hybrid analytical "
         "model)\n"),
        " reorder buffer 512 (256 now), queues and registers with it        5.0\n",
        " reorder buffer 1024 (256 now), queues and registers with it       0.0\n",
        " MSHRs 8 (4 now)                                                  25.0\n",
        " MSHRs 16 (4 now)                                                 35.0\n",
        " both twice as large                                              30.0\n",
        " both four times as large                                         54.0\n",
        " next_line prefetcher in the L1D (none now)                       -5.0\n",
        " tagged prefetcher in the L1D (none now)                           0.0\n",
        (" as it is, long data misses take 55.0 % of the time by the model; simulated: 60.0 % "
         "waiting for\n loads"),
        "10.0 % behind a full store queue",
        "(looked at 40 of 500 instructions)\n",
        NULL};
    struct fixture fixture;
    make(&fixture, 600, 100);
    char *text = text_of(&fixture.report);
    assert_lines(text, LINES);
    free(text);
}

/* The core waits for 300 cycles: none of the upgrades saves more. When the memory's bus is busy for
 * 800 of 1000 cycles, none saves more than 200: 100 lines of 64 bytes at 8 bytes a cycle. */
static void no_more_than_there_is_to_save(void **state) {
    (void)state;
    static const char *const WAITING[] = {"MSHRs 8 (4 now) ", "25.0\n", "MSHRs 16 (4 now) ",
                                          "30.0\n", NULL},
                             *const BUSY[] = {"MSHRs 8 (4 now) ", "20.0\n", "MSHRs 16 (4 now) ",
                                              "20.0\n", NULL};
    struct fixture fixture;
    make(&fixture, 300, 0);
    char *text = text_of(&fixture.report);
    assert_lines(text, WAITING);
    free(text);
    struct machine slow = machine;
    slow.dram.banked = true;
    slow.clock_ghz = 1;
    slow.dram.bandwidth = 8;
    slow.dram.clock_ghz = 1;
    fixture.report.machine = &slow;
    fixture.simulation.counted.memory.dram_reads = 60;
    fixture.simulation.counted.memory.dram_writes = 40;
    text = text_of(&fixture.report);
    assert_lines(text, BUSY);
    free(text);
}

static void assert_silent(const struct report *report) {
    char *text = text_of(report);
    assert_string_equal(text, "");
    free(text);
}

/* 4 % are too little, of stores too unless the model puts 5 % down to misses. */
static void where_misses_cost_little_nothing_is_said(void **state) {
    (void)state;
    struct fixture fixture;
    make(&fixture, 40, 0);
    assert_silent(&fixture.report);
    make(&fixture, 40, 10);
    fixture.report.forecast.now = 20;
    assert_silent(&fixture.report);
    fixture.report.forecast.now = 25;
    char *text = text_of(&fixture.report);
    assert_non_null(strstr(text, "MSHRs 8"));
    free(text);
    make(&fixture, 600, 0);
    fixture.report.forecast = (struct forecast_result){0};
    assert_silent(&fixture.report);
    json_t *null = upgrades_json(&fixture.report);
    assert_true(json_is_null(null));
    json_decref(null);
}

/* The model says 550 of 1000 cycles. Too many by more than half of those that the simulation
 * waits, or too few by a third, it is far off; not where that is 5 % of the time or less. */
static void a_model_that_is_far_off_is_not_to_be_trusted(void **state) {
    (void)state;
    static const struct {
        uint64_t loads, stores;
        double now; /* of the run */
        bool far;
    } CASES[] = {
        {600, 0, 550, false},   {366, 0, 550, true},  {367, 0, 550, false}, {266, 100, 550, true},
        {267, 100, 550, false}, {825, 0, 550, false}, {826, 0, 550, true},  {700, 126, 550, false},
        {100, 0, 150, false},   {100, 0, 151, true},  {100, 0, 51, false},  {110, 0, 59, true},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        struct fixture fixture;
        make(&fixture, CASES[i].loads, CASES[i].stores);
        fixture.report.forecast.now = CASES[i].now / 2;
        char *text = text_of(&fixture.report);
        const bool far = strstr(text, "far off here)\n") != NULL,
                   near = strstr(text, "the nearer,") != NULL;
        if (far != CASES[i].far || near == far)
            fail_msg("case %zu: %s", i, text);
        free(text);
    }
}

/* Of more than the time nothing can be said, nor from less than half of the run. */
static void where_the_model_cannot_tell_one_line_says_why(void **state) {
    (void)state;
    struct fixture fixture;
    make(&fixture, 600, 0);
    fixture.report.forecast.now = 501;
    char *text = text_of(&fixture.report);
    assert_string_equal(text, "\nwhat if the machine were larger: not told, for by the hybrid "
                              "analytical model long data misses would\n take more than the whole "
                              "time (looked at 40 of 500 instructions)\n");
    free(text);
    json_t *null = upgrades_json(&fixture.report);
    assert_true(json_is_null(null));
    json_decref(null);
    make(&fixture, 600, 0);
    fixture.simulation.instructions = 501;
    text = text_of(&fixture.report);
    assert_string_equal(text, "\nwhat if the machine were larger: not told, for what the hybrid "
                              "analytical model looked at stands for\n 250 of 501 instructions "
                              "only\n");
    free(text);
    null = upgrades_json(&fixture.report);
    assert_true(json_is_null(null));
    json_decref(null);
}

static double percent_of(const json_t *object, const char *key) {
    return json_real_value(json_object_get(json_object_get(object, key), "percent"));
}

static void the_object_has_all(void **state) {
    (void)state;
    struct fixture fixture;
    make(&fixture, 600, 100);
    json_t *object = upgrades_json(&fixture.report);
    assert_int_equal(json_integer_value(json_object_get(object, "instructions_looked_at")), 40);
    assert_true(percent_of(object, "long_misses") == 55);
    assert_true(percent_of(object, "simulated_llc_miss") == 60);
    assert_true(percent_of(object, "simulated_stores") == 10);
    assert_true(percent_of(object, "memory_bus") == 0);
    const json_t *list = json_object_get(object, "upgrades"), *mshrs = json_array_get(list, 2);
    assert_int_equal(json_array_size(list), 9);
    assert_string_equal(json_string_value(json_object_get(mshrs, "upgrade")), "mshrs");
    assert_int_equal(json_integer_value(json_object_get(mshrs, "times")), 2);
    assert_string_equal(json_string_value(json_array_get(json_object_get(mshrs, "settings"), 0)),
                        "l1d.mshrs=8");
    assert_true(percent_of(mshrs, "long_misses") == 30);
    assert_true(percent_of(mshrs, "saves") == 25);
    json_decref(object);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_each_saves),
        cmocka_unit_test(no_more_than_there_is_to_save),
        cmocka_unit_test(where_misses_cost_little_nothing_is_said),
        cmocka_unit_test(a_model_that_is_far_off_is_not_to_be_trusted),
        cmocka_unit_test(where_the_model_cannot_tell_one_line_says_why),
        cmocka_unit_test(the_object_has_all),
    };
    return cmocka_run_group_tests(tests, load_machine, NULL);
}
