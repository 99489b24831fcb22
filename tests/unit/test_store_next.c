/* What is suggested after the verbs that read the store: the command, word by word. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>

#include "options/store_next.h"
#include "report/diff_report.h"
#include "report/variance_report.h"

static void is(char *next, const char *expected) {
    assert_non_null(next);
    assert_string_equal(next, expected);
    free(next);
}

/* Words that a shell would take apart are quoted; a second event is named. */
static void calls_with_the_options_that_chose_them(void **state) {
    (void)state;
    struct profile_event events[] = {{.name = "cycles"}, {.name = "cache misses"}};
    struct profile_set set = {.events = events, .event_count = 2};
    struct call_report report = {.set = &set, .event = &events[0]};
    const struct store_options store = {
        .stores = {"my store.db"}, .store_count = 1, .epochs = {"2..5"}, .epoch_count = 1};
    const struct sample_options samples = {.process = "gzip"};
    is(store_next_of_calls(&report, true, &store, &samples),
       "culprit top --store 'my store.db' --epoch 2..5 --process gzip --callers");
    report.event = &events[1];
    is(store_next_of_calls(&report, false, &(struct store_options){0}, &(struct sample_options){0}),
       "culprit top --event 'cache misses' --tree");
}

static void the_host_that_stands_apart(void **state) {
    (void)state;
    const struct store_options store = {.epochs = {"all"}, .epoch_count = 1};
    struct fleet_report report = {0};
    assert_null(store_next_of_outliers(&report, &store));
    assert_null(store_next_of_spread(&report, &store));
    struct matrix_host host = {.name = "web-3"};
    struct outlier outlier = {.host = &host};
    report.outliers = (struct outliers){.items = &outlier, .count = 1};
    is(store_next_of_outliers(&report, &store), "culprit top --epoch all --host web-3");
    struct spread_row row = {0};
    report.spread = (struct host_spread){.rows = &row, .count = 1};
    assert_null(store_next_of_spread(&report, &store)); /* no host has most */
    row.most = &host;
    is(store_next_of_spread(&report, &store), "culprit top --epoch all --host web-3");
}

static void the_sets_that_differ_most(void **state) {
    (void)state;
    int64_t sessions[] = {3, 4, 5, 9};
    const struct profile_set sets[] = {{.sessions = sessions, .epoch_count = 1},
                                       {.sessions = &sessions[1], .epoch_count = 3},
                                       {.sessions = &sessions[3], .epoch_count = 1}};
    const double values[] = {20, 30, 10}, same[] = {10, 10, 10};
    struct profile_row first = {.image = "/usr/bin/gzip", .values = values};
    struct variance_row row = {.row = &first};
    struct variance_report report = {.sets = sets, .variances = {.set_count = 3}};
    assert_null(variance_next(&report, false, false)); /* no rows */
    report.variances.rows = &row;
    report.variances.count = 1;
    is(variance_next(&report, false, false), "culprit diff --epoch 9 --epoch 4..5,9");
    first.values = same;
    assert_null(variance_next(&report, false, false));
}

static void the_file_that_changed_most(void **state) {
    (void)state;
    int64_t sessions[] = {3, 4};
    const struct profile_set sets[] = {{.sessions = sessions, .epoch_count = 1},
                                       {.sessions = &sessions[1], .epoch_count = 1}};
    struct profile_row first = {.image = "/usr/bin/gzip"};
    struct diff_row row = {.row = &first};
    struct diff_report report = {.diff = {.sets = sets, .rows = &row}};
    assert_null(diff_next(&report, false));
    report.count = 1;
    is(diff_next(&report, false), "culprit top --epoch 4 --image gzip");
    first.process = "sh -c";
    is(diff_next(&report, false), "culprit top --epoch 4 --process 'sh -c'");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(calls_with_the_options_that_chose_them),
                                       cmocka_unit_test(the_host_that_stands_apart),
                                       cmocka_unit_test(the_sets_that_differ_most),
                                       cmocka_unit_test(the_file_that_changed_most)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
