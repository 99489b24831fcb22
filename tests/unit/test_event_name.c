/* Names of events, on a machine made of files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <linux/perf_event.h>

#include "live/event_name.h"
#include "live_tree.h"

/* A counter of which "event" is in two pieces, as AMD's, and a tracepoint. */
static int set_up(void **state) {
    static struct live_tree tree;
    live_tree_make(&tree);
    const char *unit = "sys/bus/event_source/devices/cpu";
    live_tree_text(live_tree_path(&tree, "%s/type", unit), "4\n");
    live_tree_text(live_tree_path(&tree, "%s/format/event", unit), "config:0-7,32-35\n");
    live_tree_text(live_tree_path(&tree, "%s/format/umask", unit), "config:8-15\n");
    live_tree_text(live_tree_path(&tree, "%s/format/inv", unit), "config:23\n");
    live_tree_text(live_tree_path(&tree, "%s/format/ldlat", unit), "config1:0-15\n");
    live_tree_text(live_tree_path(&tree, "%s/format/odd", unit), "config:3-99\n");
    live_tree_text(live_tree_path(&tree, "%s/events/misses", unit), "event=0x64,umask=0x09\n");
    live_tree_text(live_tree_path(&tree, "%s/events/loops", unit), "loops\n");
    live_tree_text(live_tree_path(&tree, "sys/kernel/tracing/events/sched/sched_switch/id"),
                   "316\n");
    *state = &tree;
    return 0;
}

static int tear_down(void **state) {
    live_tree_remove(((struct live_tree *)*state)->root);
    return 0;
}

static struct live_event parse(void **state, const char *text) {
    const struct live_tree *tree = *state;
    struct live_event event;
    struct error error;
    if (!event_name_parse(&tree->roots, text, strlen(text), &event, &error))
        fail_msg("%s: %s", text, error.message);
    return event;
}

static void expect(void **state, const char *text, const char *name, uint32_t type, uint64_t config,
                   uint64_t period) {
    const struct live_event event = parse(state, text);
    assert_string_equal(event.name, name);
    assert_int_equal(event.type, type);
    assert_true(event.config[0] == config);
    assert_true(event.period == period);
}

static void refuse(void **state, const char *text, const char *why) {
    const struct live_tree *tree = *state;
    struct live_event event;
    struct error error;
    if (event_name_parse(&tree->roots, text, strlen(text), &event, &error))
        fail_msg("%s is taken", text);
    if (!strstr(error.message, why))
        fail_msg("%s: %s", text, error.message);
}

static void names_of_our_own(void **state) {
    expect(state, "cycles", "cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 0);
    expect(state, "cs", "context-switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES, 0);
    expect(state, "page-faults/period=100/", "page-faults", PERF_TYPE_SOFTWARE,
           PERF_COUNT_SW_PAGE_FAULTS, 100);
    /* cache | operation << 8 | result << 16: reads of the data TLB (3) that miss (1) */
    expect(state, "dtbmiss", "dtlbmiss", PERF_TYPE_HW_CACHE, 0x10003, 0);
    expect(state, "dtlbmiss", "dtlbmiss", PERF_TYPE_HW_CACHE, 0x10003, 0);
    expect(state, "itbmiss", "itlbmiss", PERF_TYPE_HW_CACHE, 0x10004, 0);
    expect(state, "dmiss", "dmiss", PERF_TYPE_HW_CACHE, 0x10000, 0);
    expect(state, "llcmiss", "llcmiss", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, 0);
}

static void numbers_of_a_manual(void **state) {
    expect(state, "r01c2", "r01c2", PERF_TYPE_RAW, 0x1c2, 0);
    expect(state, "rC2/period=7/", "rC2", PERF_TYPE_RAW, 0xc2, 7);
    expect(state, "raw:0x1c2", "raw:0x1c2", PERF_TYPE_RAW, 0x1c2, 0);
    refuse(state, "r", "event \"r\"");
    refuse(state, "r0x1c2", "event \"r0x1c2\"");
    refuse(state, "r-1", "event \"r-1\"");
    refuse(state, "r11111111111111111", "event \"r1");
    refuse(state, "raw:", "event \"raw:\"");
}

/* event = 0x1c2: bits 0 to 7 are c2, and 1 goes to bit 32. */
static void fields_of_a_counter(void **state) {
    expect(state, "cpu/event=0x1c2,umask=0x3/", "cpu/event=0x1c2,umask=0x3/", 4, 0x1000003c2, 0);
    expect(state, "cpu/event=194,inv=1,period=50/", "cpu/event=194,inv=1/", 4, 0x8000c2, 50);
    expect(state, "cpu/config=0xffc2,umask=1/", "cpu/config=0xffc2,umask=1/", 4, 0x1c2, 0);
    expect(state, "cpu/misses,inv=1/", "cpu/misses,inv=1/", 4, 0x800964, 0);
    assert_int_equal(parse(state, "cpu/event=1,ldlat=30/").config[1], 30);
    refuse(state, "cpu/event=0x1c2,cmask=1/", "cmask=1: this counter has no such field");
    refuse(state, "cpu/inv=2/", "inv=2: more than the field holds");
    refuse(state, "cpu/odd=1/", "odd=1: more than");
    refuse(state, "cpu/event=x/", "event=x: no number");
    refuse(state, "cpu/nothing/", "nothing: this counter has no such event");
    refuse(state, "cpu/loops/", "loops: this counter has no such event");
    refuse(state, "cpu/../../format/event/", "second \"/\"");
    refuse(state, "cpu/..=1/", "no such field");
    refuse(state, "cpu/event=1", "second \"/\"");
    refuse(state, "gpu/event=1/", "no counter \"gpu\"");
    refuse(state, "cycles/period=0/", "its period is a number from 1 on");
    refuse(state, "cycles/period=1x/", "its period is a number from 1 on");
    refuse(state, "cycles/event=1/", "no counter \"cycles\"");
}

static void tracepoints(void **state) {
    const struct live_tree *tree = *state;
    const struct live_event event = parse(state, "sched:sched_switch");
    expect(state, "sched:sched_switch", "sched:sched_switch", PERF_TYPE_TRACEPOINT, 316, 0);
    assert_true(event.in_kernel);
    assert_int_equal(event.cycles_each, 0);
    expect(state, "sched:sched_switch/period=10/", "sched:sched_switch", PERF_TYPE_TRACEPOINT, 316,
           10);
    assert_int_equal(event_name_tracepoints(&tree->roots), 1);
    refuse(state, "sched:no", "there is no such tracepoint");
    refuse(state, "sched:../sched/sched_switch", "second \"/\"");
    refuse(state, "..:sched", "event \"..:sched\": one of");
    live_tree_remove(live_tree_path(tree, "sys/kernel/tracing/events"));
    refuse(state, "sched:sched_switch", "tracepoints cannot be read");
}

/* Commas within a counter's terms are no ends. */
static void lists(void **state) {
    (void)state;
    assert_int_equal(event_name_length("cycles,imiss"), 6);
    assert_int_equal(event_name_length("cpu/event=1,umask=2/,imiss"), 20);
    assert_int_equal(event_name_length(""), 0);
    assert_int_equal(event_name_length(",x"), 0);
}

static void what_is_no_name(void **state) {
    char text[400];
    refuse(state, "loads", "event \"loads\": one of cycles, cpu-clock");
    refuse(state, "", "event \"\": one of");
    refuse(state, "/", "second");
    refuse(state, "a:b:c", "event \"a:b:c\"");
    memset(text, 'a', sizeof text - 1);
    text[sizeof text - 1] = 0;
    refuse(state, text, "too long");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {TEST(names_of_our_own),
                                       TEST(numbers_of_a_manual),
                                       TEST(fields_of_a_counter),
                                       TEST(tracepoints),
                                       TEST(lists),
                                       TEST(what_is_no_name)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
