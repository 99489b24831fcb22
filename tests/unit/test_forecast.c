/* Upgrades of machines, and what the model says that they save while a core simulates. */
#include "unit/data_program.h"

#include <math.h>
#include <stdio.h>

#include "core/core.h"
#include "model/forecast.h"

static struct machine machine_of(const char *name, const char *setting) {
    struct machine machine;
    struct error error = {0};
    char path[64];
    snprintf(path, sizeof path, "machines/%s.ini", name);
    if (!machine_load(path, &machine, &error) ||
        (setting && !machine_set(&machine, setting, &error)))
        fail_msg("%s", error.message);
    return machine;
}

static const struct upgrade *find(const struct upgrade *upgrades, uint32_t count, const char *name,
                                  uint32_t times) {
    for (uint32_t i = 0; i < count; i++)
        if (!strcmp(upgrades[i].name, name) && upgrades[i].times == times)
            return &upgrades[i];
    return NULL;
}

static bool sets(const struct upgrade *upgrade, const char *setting) {
    for (uint32_t i = 0; i < upgrade->setting_count; i++)
        if (!strcmp(upgrade->settings[i], setting))
            return true;
    return false;
}

/* What bounds the window grows with it; registers by what they have beyond the architecture's 32:
 * 32 + 2 × (224 − 32). */
static void windows_and_mshrs_grow(void **state) {
    (void)state;
    struct upgrade upgrades[UPGRADES_MOST];
    const struct machine zen4 = machine_of("zen4", NULL);
    const uint32_t count = upgrades_of(&zen4, upgrades);
    assert_int_equal(count, 7); /* six sizes, tagged */
    const struct upgrade *window = find(upgrades, count, "rob", 2);
    assert_true(window && sets(window, "core.rob=640") && sets(window, "queue.int.entries=192") &&
                sets(window, "core.load_queue=176") && sets(window, "core.int_registers=416"));
    assert_int_equal(window->now, 320);
    assert_int_equal(window->then, 640);
    assert_int_equal(window->machine.core.int_registers, 416);
    const struct upgrade *mshrs = find(upgrades, count, "mshrs", 4);
    assert_true(mshrs && sets(mshrs, "l1d.mshrs=96") && sets(mshrs, "llc.mshrs=768") &&
                sets(mshrs, "dram.queue=256"));
    assert_int_equal(mshrs->now, 24);
    assert_int_equal(mshrs->then, 96);
    assert_int_equal(mshrs->machine.core.rob, 320);
    const struct upgrade *both = find(upgrades, count, "rob+mshrs", 2);
    assert_true(both && sets(both, "core.rob=640") && sets(both, "l1d.mshrs=48"));
    assert_true(find(upgrades, count, "tagged", 1) && !find(upgrades, count, "stride", 1));
}

/* Unlimited MSHRs cannot be more; of a machine in order nothing is known; a reorder buffer of more
 * than 4096 cannot be. */
static void only_what_can_be(void **state) {
    (void)state;
    struct upgrade upgrades[UPGRADES_MOST];
    struct machine machine = machine_of("chen-ooo", NULL);
    assert_int_equal(upgrades_of(&machine, upgrades), 5);
    assert_true(find(upgrades, 5, "next_line", 1) && !find(upgrades, 5, "mshrs", 2));
    machine = machine_of("chen-ooo", "core.rob=2000");
    assert_int_equal(upgrades_of(&machine, upgrades), 4);
    assert_false(find(upgrades, 4, "rob", 4));
    machine = machine_of("alpha21164", NULL);
    assert_int_equal(upgrades_of(&machine, upgrades), 0);
    assert_false(forecast_fits(&machine, 0));
    machine = machine_of("zen4", NULL);
    assert_true(forecast_fits(&machine, IDEAL_BMISP));
    assert_false(forecast_fits(&machine, IDEAL_DMISS));
}

#define ROW(i) (0x100000 + 0x1000 * (uint64_t)(i))

/* Four misses at once. */
static const struct line BURST[] = {LOAD(10, 1, ROW(0)), LOAD(11, 1, ROW(1)), LOAD(12, 1, ROW(2)),
                                    LOAD(13, 1, ROW(3))};

struct watched {
    struct forecast *forecast;
    struct instruction_observer observer;
    struct core *core;
    struct program_trace *program;
};

static struct watched watch(const struct machine *machine, struct forecast_windows windows,
                            const struct line *lines, uint32_t count) {
    struct error error = {0};
    const struct core_options options = {0};
    struct watched watched = {.forecast = forecast_new(machine, windows, &error),
                              .core = core_new(machine, &options, &error),
                              .program = new_program(lines, count)};
    if (!watched.forecast || !watched.core)
        fail_msg("%s", error.message);
    watched.observer = forecast_observer(watched.forecast);
    return watched;
}

static void end(struct watched *watched) {
    forecast_free(watched->forecast);
    core_free(watched->core);
    free(watched->program);
}

static void *new_lane(const struct watched *watched) {
    struct error error;
    void *lane = NULL;
    assert_true(watched->observer.attach(watched->observer.context, &lane, &error));
    return lane;
}

static void show(const struct watched *watched, void *lane, bool follows) {
    struct error error = {0};
    const struct program_trace *program = watched->program;
    const struct trace_batch piece = {.insns = program->dynamic,
                                      .insn_count = program->count,
                                      .accesses = program->accesses,
                                      .access_count = program->access_count};
    if (!watched->observer.see(watched->observer.context, lane, watched->core, &program->code,
                               &piece, follows, &error))
        fail_msg("%s", error.message);
}

static void collect(const struct watched *watched, void *lane, double weight) {
    struct error error;
    assert_true(watched->observer.collect(watched->observer.context, lane, weight, &error));
}

static double saved(const struct watched *watched, const char *name, uint32_t times,
                    const struct machine *machine) {
    struct upgrade upgrades[UPGRADES_MOST];
    const struct forecast_result result = forecast_result(watched->forecast);
    const uint32_t count = upgrades_of(machine, upgrades);
    const struct upgrade *upgrade = find(upgrades, count, name, times);
    assert_non_null(upgrade);
    return result.now - result.then[upgrade - upgrades];
}

static void assert_near(double value, double expected) {
    if (fabs(value - expected) > 1e-6)
        fail_msg("%.6f, not %.6f", value, expected);
}

/* A miss takes 210 cycles, a hit in the L2 10; four µops are issued in a cycle. With one MSHR the
 * data of the fourth miss, at µop 3, are there after 4 × 210 cycles; with two the third and fourth
 * wait for the first and second, and the fourth's, which began a quarter of a cycle after the
 * third, are there after 420.25. Either way one µop is behind its place by that less its place:
 *
 *     MSHRs    the last is late by       saved
 *       1      840 − 3/4                 -
 *       2      420.25 − 3/4              419.75
 *       4      210                       629.25
 *
 * A larger window does not help. */
enum { MEMORY = 210 };
static const double SAVED_BY_TWO = 4 * MEMORY - 2 * MEMORY - 0.25,
                    SAVED_BY_FOUR = 4 * MEMORY - 0.75 - MEMORY;

/* It counts three times. */
static void misses_that_lack_mshrs(void **state) {
    (void)state;
    const struct machine machine = machine_of("chen-ooo", "l1d.mshrs=1");
    struct watched watched = watch(&machine, (struct forecast_windows){0}, BURST, 4);
    void *lane = new_lane(&watched);
    show(&watched, lane, false);
    collect(&watched, lane, 3);
    const struct forecast_result result = forecast_result(watched.forecast);
    assert_int_equal(result.looked, 4);
    assert_true(result.instructions == 12);
    assert_near(saved(&watched, "mshrs", 2, &machine), 3 * SAVED_BY_TWO);
    assert_near(saved(&watched, "mshrs", 4, &machine), 3 * SAVED_BY_FOUR);
    assert_near(saved(&watched, "rob", 4, &machine), 0);
    assert_near(saved(&watched, "rob+mshrs", 2, &machine), 3 * SAVED_BY_TWO);
    watched.observer.detach(watched.observer.context, lane);
    end(&watched);
}

/* The burst hits the second time, for the core has not seen it, but the model's caches have; when
 * other instructions came in between they hold what the core's do: nothing. Of six pieces of four
 * instructions four have misses. */
static void caches_are_the_cores_after_a_gap(void **state) {
    (void)state;
    const struct machine machine = machine_of("chen-ooo", "l1d.mshrs=1");
    struct watched watched = watch(&machine, (struct forecast_windows){0}, BURST, 4);
    void *lane = new_lane(&watched);
    static const bool FOLLOWS[] = {false, true, false, true, false, false};
    for (int i = 0; i < 6; i++)
        show(&watched, lane, FOLLOWS[i]);
    collect(&watched, lane, 1);
    assert_near(saved(&watched, "mshrs", 2, &machine), 4 * SAVED_BY_TWO);
    watched.observer.detach(watched.observer.context, lane);
    end(&watched);
}

/* The first 4 instructions in full, then 4 of every 8, in pieces of four. Of the rest one piece of
 * two is looked at, and counts twice; the beginning counts once. */
static void what_is_looked_at_stands_for_the_rest(void **state) {
    (void)state;
    const struct machine machine = machine_of("chen-ooo", "l1d.mshrs=1");
    const struct forecast_windows windows = {.length = 4, .every = 8, .all = 4};
    struct watched watched = watch(&machine, windows, BURST, 4);
    void *lane = new_lane(&watched);
    for (int i = 0; i < 3; i++)
        show(&watched, lane, false);
    collect(&watched, lane, 1);
    const struct forecast_result result = forecast_result(watched.forecast);
    assert_true(result.instructions == 12);
    assert_int_equal(result.looked, 8);
    assert_near(saved(&watched, "mshrs", 2, &machine), 3 * SAVED_BY_TWO);
    watched.observer.detach(watched.observer.context, lane);
    end(&watched);
}

/* The first lane has its window open when nothing more comes of it, as of a shell that waits for
 * its children: the second is looked at all the same, and a third with what the second gave back.
 */
static void every_lane_is_looked_at(void **state) {
    (void)state;
    const struct machine machine = machine_of("chen-ooo", "l1d.mshrs=1");
    const struct forecast_windows windows = {.length = 8, .every = 1000, .all = 8};
    struct watched watched = watch(&machine, windows, BURST, 4);
    void *lanes[3];
    for (int i = 0; i < 3; i++) {
        lanes[i] = new_lane(&watched);
        show(&watched, lanes[i], false);
        if (i)
            show(&watched, lanes[i], false); /* ends the window */
    }
    for (int i = 0; i < 3; i++) {
        collect(&watched, lanes[i], 1);
        watched.observer.detach(watched.observer.context, lanes[i]);
    }
    const struct forecast_result result = forecast_result(watched.forecast);
    assert_int_equal(result.looked, 20);
    assert_true(result.instructions == 20);
    assert_near(saved(&watched, "mshrs", 2, &machine), 5 * SAVED_BY_TWO);
    end(&watched);
}

/* Windows of 3 in periods of 10 lie in their periods, at every place there is, and at the same
 * places again. */
static void a_window_in_each_period(void **state) {
    (void)state;
    const struct forecast_windows windows = {3, 10, 0};
    unsigned met = 0;
    for (uint64_t period = 0; period < 1000; period++) {
        struct forecast_window window = forecast_window(windows, period);
        struct forecast_window again = forecast_window(windows, period);
        assert_int_equal(window.end - window.from, 3);
        assert_true(window.from >= 10 * period && window.end <= 10 * (period + 1));
        assert_int_equal(window.from, again.from);
        met |= 1u << (window.from - 10 * period);
    }
    assert_int_equal(met, 0xff); /* places 0 to 7 */
    const struct forecast_windows begun = {.length = 3, .every = 10, .all = 25};
    struct forecast_window beginning = forecast_window(begun, 0);
    assert_int_equal(beginning.from, 0);
    assert_int_equal(beginning.end, 25);
    for (uint64_t period = 0; period < 4; period++) {
        struct forecast_window window = forecast_window(begun, period + 1);
        assert_int_equal(window.from, 25 + forecast_window(windows, period).from);
        assert_int_equal(window.end, window.from + 3);
    }
    struct forecast_window all = forecast_window((struct forecast_windows){0}, 0);
    assert_int_equal(all.from, 0);
    assert_int_equal(all.end, UINT64_MAX);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_window_in_each_period),
        cmocka_unit_test(windows_and_mshrs_grow),
        cmocka_unit_test(only_what_can_be),
        cmocka_unit_test(misses_that_lack_mshrs),
        cmocka_unit_test(caches_are_the_cores_after_a_gap),
        cmocka_unit_test(what_is_looked_at_stands_for_the_rest),
        cmocka_unit_test(every_lane_is_looked_at),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
