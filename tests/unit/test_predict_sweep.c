/* Which machines a sweep makes, and what is no sweep. */
#include "unit/memory_machine.h"

#include <stdlib.h>
#include <string.h>

#include "model/predict_sweep.h"

static struct machine chen(void) {
    struct machine machine;
    struct error error = {0};
    if (!machine_load("machines/chen-ooo.ini", &machine, &error))
        fail_msg("%s", error.message);
    return machine;
}

static struct machine *build(const char *text, uint32_t *count) {
    struct predict_sweep sweep = {0};
    struct error error = {0};
    struct machine *machines = NULL;
    const struct machine machine = chen();
    if ((text && !predict_sweep_add(&sweep, text, &error)) ||
        !predict_sweep_build(&sweep, &machine, &machines, count, &error))
        fail_msg("%s: %s", text ? text : "", error.message);
    return machines;
}

/* The last figure varies fastest; the window of 256 entries shrinks with the reorder buffer. */
static void every_combination(void **state) {
    (void)state;
    uint32_t count;
    struct machine *machines = build("rob=64,256 latency=100,300", &count);
    assert_int_equal(count, 4);
    assert_int_equal(machines[1].core.rob, 64);
    assert_int_equal(machines[1].dram.latency, 300);
    assert_int_equal(machines[2].core.rob, 256);
    assert_int_equal(machines[2].dram.latency, 100);
    assert_int_equal(machines[0].queues[0].entries, 64);
    assert_int_equal(machines[0].core.load_queue, 64);
    free(machines);
}

static void mshrs_and_prefetchers_are_the_l1s(void **state) {
    (void)state;
    uint32_t count;
    struct machine *machines = build(" mshr=4,0  prefetch=stride ", &count);
    assert_int_equal(count, 2);
    assert_int_equal(machines[0].l1d.mshrs, 4);
    assert_int_equal(machines[0].l2.mshrs, 0);
    assert_int_equal(machines[1].l1d.mshrs, 0);
    assert_int_equal(machines[1].l1d.prefetcher, PREFETCH_STRIDE);
    assert_int_equal(machines[1].l2.prefetcher, PREFETCH_NONE);
    free(machines);
}

static void figures_have_the_names_of_their_keys_too(void **state) {
    (void)state;
    uint32_t count;
    struct machine *machines = build("mshrs=8 prefetcher=tagged", &count);
    assert_int_equal(count, 1);
    assert_int_equal(machines[0].l1d.mshrs, 8);
    assert_int_equal(machines[0].l1d.prefetcher, PREFETCH_TAGGED);
    free(machines);
}

static void nothing_varies(void **state) {
    (void)state;
    uint32_t count;
    struct machine *machines = build(NULL, &count);
    assert_int_equal(count, 1);
    assert_int_equal(machines[0].core.rob, 256);
    free(machines);
}

static void assert_refused(const char *text, const char *message) {
    struct predict_sweep sweep = {0};
    struct error error = {0};
    struct machine *machines;
    uint32_t count;
    const struct machine machine = chen();
    assert_false(predict_sweep_add(&sweep, text, &error) &&
                 predict_sweep_build(&sweep, &machine, &machines, &count, &error));
    if (!strstr(error.message, message))
        fail_msg("%s: %s", text, error.message);
}

static void nonsense_is_refused(void **state) {
    (void)state;
    assert_refused("width=4", "one of rob, mshr, latency and prefetch");
    assert_refused("rob", "values are missing");
    assert_refused("rob=", "a value is missing");
    assert_refused("rob=8,,9", "a value is missing");
    assert_refused("rob=8 rob=9", "varies already");
    assert_refused("rob=64,256,64", "rob: 64 is there twice");
    assert_refused("rob=64,256,064", "rob: 64 is there twice");
    assert_refused("rob=0", "rob = 0");
    assert_refused("latency=-1", "latency = -1");
    assert_refused("prefetch=magic", "magic");
    assert_refused("mshr=123456789012345678", "no such value");
    assert_refused("rob=8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24", "at most 16 values");
    assert_refused("rob=8,9,10,11,12,13,14,15 mshr=0,1,2,3,4,5,6,7 latency=1,2,3,4,5,6,7,8 "
                   "prefetch=none,tagged,stride",
                   "more than 1024 machines");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_combination),
        cmocka_unit_test(mshrs_and_prefetchers_are_the_l1s),
        cmocka_unit_test(figures_have_the_names_of_their_keys_too),
        cmocka_unit_test(nothing_varies),
        cmocka_unit_test(nonsense_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
