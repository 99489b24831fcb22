/* The end of the command that follows `culprit annotate`. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "report/procedures_report.h"

static char said[512];

static const char *next(const struct procedures_report *request, const char *simulated) {
    struct procedure_choice choice = {.name = "longest_match"};
    const struct procedure_choices choices = {.items = &choice, .count = 1};
    memset(said, 0, sizeof said);
    FILE *file = fmemopen(said, sizeof said, "w");
    assert_non_null(file);
    procedures_next(request, &choices, simulated, file);
    assert_int_equal(fclose(file), 0);
    return said;
}

/* First the source, then, where the samples are of time, a simulation of the command that was
 * sampled; without that the picture; and in the end the procedure alone. */
static void one_step_after_the_other(void **state) {
    (void)state;
    struct profile_event event = {.name = "cpu-clock", .unit = "samples", .period_unit = "ns"};
    struct profile_set set = {.command = "gzip -9 -c x"};
    struct annotate_settings settings = {.set = &set, .event = &event};
    struct procedures_report request = {.settings = &settings};
    assert_true(profile_event_is_time(&event));
    assert_string_equal(next(&request, NULL), " --source longest_match");
    request.style.source = true;
    assert_string_equal(next(&request, NULL), " longest_match --simulate -- gzip -9 -c x");
    set.command = NULL;
    assert_string_equal(next(&request, NULL), " --cfg graph.svg longest_match");
    request.picture = "graph.svg";
    assert_string_equal(next(&request, NULL), " longest_match");
}

static void what_was_asked_for_stays(void **state) {
    (void)state;
    struct profile_event event = {.name = "cpu-clock", .unit = "samples", .period_unit = "ns"};
    struct profile_set set = {.simulated = true, .command = "gzip"};
    struct annotate_settings settings = {.set = &set,
                                         .event = &event,
                                         .machines = {.asked = "zen4"},
                                         .view = ANNOTATE_TIP,
                                         .exact = true};
    const struct procedures_report request = {.settings = &settings, .all = true};
    assert_string_equal(next(&request, "7"),
                        " --machine zen4 --view tip --exact --simulated 7 longest_match");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_step_after_the_other),
                                       cmocka_unit_test(what_was_asked_for_stays)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
