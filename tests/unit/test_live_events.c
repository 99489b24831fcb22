/* Which events are chosen, and how they are told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "live/event.h"

/* User code alone: what every user may sample, unless the machine forbids even that. */
static bool choose(const char *names, double per_second, struct live_event *events, size_t *count,
                   struct error *error) {
    *error = (struct error){0};
    return live_events_choose(names, per_second, false, events, count, error);
}

static void a_timer_is_always_there(void **state) {
    (void)state;
    struct live_event events[LIVE_EVENTS_MAX];
    struct error error;
    size_t count;
    char text[256];
    if (!choose("cpu-clock", 5200, events, &count, &error)) {
        print_message("%s\n", error.message);
        skip();
    }
    assert_int_equal(count, 1);
    assert_int_equal(events[0].kind, LIVE_CPU_CLOCK);
    assert_string_equal(events[0].name, "cpu-clock");
    assert_in_range(events[0].period, 192307, 192309);
    assert_int_equal(events[0].precise, 0);
    assert_false(events[0].kernel);
    live_events_describe(events, count, text, sizeof text);
    assert_non_null(strstr(text, "cpu-clock every 192.3 us: "));
    /* Cut, never past the end. */
    char little[12];
    live_events_describe(events, count, little, sizeof little);
    assert_string_equal(little, "cpu-clock e");
    /* Without a name the machine decides. */
    assert_true(choose(NULL, 1000, events, &count, &error));
    assert_int_equal(count, 1);
    assert_true(events[0].kind == LIVE_CYCLES || events[0].kind == LIVE_CPU_CLOCK);
}

static void refuse(const char *names, double per_second, const char *why) {
    struct live_event events[LIVE_EVENTS_MAX];
    struct error error;
    size_t count;
    assert_false(choose(names, per_second, events, &count, &error));
    if (!strstr(error.message, why))
        fail_msg("%s", error.message);
}

static void what_is_wrong_is_told(void **state) {
    (void)state;
    refuse("cpu-clock,loads", 1000, "event \"loads\": one of cycles, cpu-clock");
    refuse("", 1000, "event \"\"");
    refuse("cpu-clock,", 1000, "event \"\"");
    refuse("cpu-clock", 0, "samples per second");
    refuse("cpu-clock", -1, "samples per second");
    refuse("cpu-clock", 1e9, "samples per second");
    refuse("cpu-clock", 0.0 / 0.0, "samples per second");
    struct live_event events[LIVE_EVENTS_MAX];
    struct error error;
    size_t count;
    if (choose("cpu-clock", 1000, events, &count, &error))
        refuse("cpu-clock,cpu-clock", 1000, "named twice");
    if (!choose("cycles", 1000, events, &count, &error))
        refuse("cycles", 1000, "cycles");
}

/* Uniform within 1/32: of 6400, from 6200 to 6600, all of them, with the mean in the middle. */
static void periods_are_drawn_about_the_mean(void **state) {
    (void)state;
    struct live_event event = {.kind = LIVE_CPU_CLOCK, .period = 6400};
    uint64_t sum = 0, least = UINT64_MAX, most = 0;
    for (uint64_t random = 0; random < 401; random++) {
        uint64_t period = live_event_period(&event, random);
        sum += period;
        least = period < least ? period : least;
        most = period > most ? period : most;
    }
    assert_int_equal(least, 6200);
    assert_int_equal(most, 6600);
    assert_int_equal(sum, 401 * 6400);
    event.period = 1;
    assert_int_equal(live_event_period(&event, UINT64_MAX), 1);
}

static int paranoid(void) {
    int value = 2;
    FILE *file = fopen("/proc/sys/kernel/perf_event_paranoid", "re");
    if (file && fscanf(file, "%d", &value) != 1)
        value = 2;
    if (file)
        fclose(file);
    return value;
}

/* Where the sysctl allows it, it is something else. */
static void refusal_names_the_sysctl(void **state) {
    (void)state;
    struct live_event event = {.kind = LIVE_CYCLES, .name = "cycles", .kernel = true};
    struct error error = {0};
    assert_false(live_event_refused(&event, 13 /* EACCES */, &error));
    assert_non_null(
        strstr(error.message, paranoid() > 1 ? "kernel.perf_event_paranoid" : "seccomp"));
    assert_non_null(strstr(error.message, "CAP_PERFMON"));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_timer_is_always_there),
                                       cmocka_unit_test(what_is_wrong_is_told),
                                       cmocka_unit_test(periods_are_drawn_about_the_mean),
                                       cmocka_unit_test(refusal_names_the_sysctl)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
