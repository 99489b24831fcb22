/* A validation without a verb: a command run whole, regions chosen from it and captured from a
 * second run, both simulated. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "machine/choice.h"
#include "study/validate.h"

enum { LENGTH = 2000000, SLICE = 100000 };
static char *COMMAND[] = {"sh", "-c", "i=0; while [ $i -lt 4000 ]; do i=$((i+1)); done", NULL};

static struct validate_run_request request_of(struct watch *watch) {
    return (struct validate_run_request){.watch = watch,
                                         .input = {.command = COMMAND,
                                                   .thread = -1,
                                                   .limit = LENGTH,
                                                   .stop = true,
                                                   .repeatable = true,
                                                   .seed = 1},
                                         .slice = SLICE,
                                         .warm_up = SLICE,
                                         .max_regions = 3};
}

static void expect_nothing_left(struct watch *watch) {
    for (int i = 0; i < TEMPORARIES; i++)
        assert_null(atomic_load(&watch->temporaries.paths[i]));
    temporaries_free(&watch->temporaries);
}

static void regions_are_found_again_and_simulated(void **state) {
    (void)state;
    static struct watch watch;
    static struct machine_choice machines;
    const struct machine_options options = {.machine = "zen4"};
    const uint64_t warm_ups[] = {SLICE, UINT64_MAX};
    const struct validate_run_request request = request_of(&watch);
    struct region_list list = {0};
    struct validate_run run = {0};
    struct validation validation = {0};
    struct error error = {0};
    int status = 0;
    if (!machine_choice_load(&machines, &options, &error) ||
        !validate_run_go(&run, &request, &list, &status, &error))
        fail_msg("%s", error.message);
    assert_string_equal(run.kept, "");
    assert_string_equal(run.failure, "");
    assert_true(list.region_count > 0);
    assert_true(list.region_count <= 3);
    const struct validate_simulation simulation = {
        .watch = &watch,
        .machine = machine_choice_of(&machines, list.isa, &error),
        .full = run.full,
        .list_path = run.list_path,
        .warm_ups = warm_ups,
        .warm_up_count = 2};
    if (!validate_simulate(&simulation, &list, &validation, &error))
        fail_msg("%s", error.message);
    assert_int_equal(validation.instructions, list.instructions);
    assert_true(validation.cycles > 0);
    assert_int_equal(validation.trial_count, 3); /* the lengths, and as they were captured */
    assert_int_equal(validation.trials[0].warm_up, SLICE);
    assert_false(validation.trials[1].captured);
    assert_true(validation.trials[2].captured);
    /* After all that came before them the regions are what they were in the whole run, but for
     * what was under way in the pipeline at their ends. */
    double within = validation.within.values[METRIC_CPI];
    assert_true(fabs(validation_error(validation.trials[1].metrics.values[METRIC_CPI], within)) <
                0.01);
    validation_free(&validation);
    region_list_free(&list);
    validate_run_free(&run);
    expect_nothing_left(&watch);
}

/* Of what was interrupted already. */
static void expect_interrupted(struct watch *watch, const struct validate_run *run,
                               const struct region_list *list) {
    static struct machine_choice machines;
    const struct machine_options options = {.machine = "zen4"};
    struct validation validation = {0};
    struct error error = {0};
    if (!machine_choice_load(&machines, &options, &error))
        fail_msg("%s", error.message);
    const struct validate_simulation simulation = {
        .watch = watch,
        .machine = machine_choice_of(&machines, list->isa, &error),
        .full = run->full,
        .list_path = run->list_path};
    assert_false(validate_simulate(&simulation, list, &validation, &error));
    assert_string_equal(error.message, "interrupted before the full run was simulated");
    validation_free(&validation);
}

static void interrupt(void *context, const struct progress *progress) {
    if (!strcmp(progress->label, "profiling"))
        watch_interrupt(context, SIGINT);
}

/* Regions are chosen from what was profiled, and neither captured nor simulated. */
static void an_interrupt_leaves_out_the_second_run(void **state) {
    (void)state;
    static struct watch watch;
    watch.observe = interrupt;
    watch.context = &watch;
    const struct validate_run_request request = request_of(&watch);
    struct region_list list = {0};
    struct validate_run run = {0};
    struct error error = {0};
    int status = 0;
    bool good = validate_run_go(&run, &request, &list, &status, &error);
    assert_int_equal(watch.signal, SIGINT);
    assert_true(good);
    assert_true(list.region_count > 0);
    for (size_t i = 0; i < list.region_count; i++)
        assert_null(list.regions[i].trace);
    expect_interrupted(&watch, &run, &list);
    region_list_free(&list);
    validate_run_free(&run);
    expect_nothing_left(&watch);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(regions_are_found_again_and_simulated),
        cmocka_unit_test(an_interrupt_leaves_out_the_second_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
