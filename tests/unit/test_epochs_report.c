/* What is said of epochs that were removed, summed, sent, exported and imported: numbers with their
 * words, one or several, and the command that follows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "report/epochs_report.h"

static char said[2048];

static FILE *begin(void) {
    memset(said, 0, sizeof said);
    FILE *file = fmemopen(said, sizeof said, "w");
    assert_non_null(file);
    return file;
}

static void is(FILE *file, const char *expected) {
    assert_int_equal(fclose(file), 0);
    assert_string_equal(said, expected);
}

static void tables_of_a_server(void **state) {
    (void)state;
    struct store_server_made made = {
        .address = "postgresql://a b@host/p", .version = 4, .roles = true};
    FILE *file = begin();
    server_made_text(&made, file);
    is(file, "postgresql://a b@host/p: made, version 4\n\n"
             "next: culprit epochs --store 'postgresql://a b@host/p'\n");
    made.before = 3;
    file = begin();
    server_made_text(&made, file);
    is(file, "postgresql://a b@host/p: of version 3 before, is now of version 4\n");
    made.before = 4;
    file = begin();
    server_made_text(&made, file);
    is(file, "postgresql://a b@host/p: is a store of version 4\n");
}

static void sums_of_days(void **state) {
    (void)state;
    struct day_sums_made made = {.days = 2, .made = 1, .epochs = 12345, .kept = 3, .removed = 4};
    struct error error = {0};
    FILE *file = begin();
    sums_made_text(&made, false, file);
    is(file, "made 1 sum of days from 12,345 epochs; 3 were there, 4 removed\n");
    file = begin();
    sums_made_text(&made, true, file);
    is(file, "made 1 sum of days from 12,345 epochs; 3 were there, 4 removed\n"
             "interrupted: the same command goes on where it was\n");
    made.days = 0;
    file = begin();
    sums_made_text(&made, false, file);
    assert_int_equal(fclose(file), 0);
    assert_non_null(strstr(said, "no day is over yet"));
    assert_true(sums_made_all(&made, &error));
    made.left_out = 2;
    snprintf(made.why, sizeof made.why, "epoch 7 cannot be read");
    assert_false(sums_made_all(&made, &error));
    assert_string_equal(error.message, "2 days of hosts have no sum, and these days none of all "
                                       "hosts: epoch 7 cannot be read");
}

static void what_stays_is_told(void **state) {
    (void)state;
    struct store_upkeep_pruned pruned = {.removed = 1, .waiting = 1};
    FILE *file = begin();
    pruned_text(&pruned, file);
    is(file, "1 epoch waits to be sent, and stays ('culprit epochs remove' removes any)\n"
             "removed 1 epoch\n");
    pruned = (struct store_upkeep_pruned){.removed = 2, .ongoing = {.session = 9, .daemon = 42}};
    file = begin();
    pruned_text(&pruned, file);
    is(file, "removed 2 epochs\nepoch 9 stays: it goes on, and process 42 collects "
             "('culprit epochs new' ends it)\n");
}

static void how_to_look_at_what_was_exported(void **state) {
    (void)state;
    FILE *file = begin();
    exported_text(1, EXCHANGE_FORMATS, "other.db", file);
    is(file, "exported 1 epoch to other.db\n");
    file = begin();
    exported_text(2, EXCHANGE_PPROF, "my profile", file);
    is(file, "exported 2 epochs to my profile\n\nnext: go tool pprof -top 'my profile'\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_of_a_server), cmocka_unit_test(sums_of_days),
        cmocka_unit_test(what_stays_is_told), cmocka_unit_test(how_to_look_at_what_was_exported)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
