/* What a saved simulation was estimated from, as the store has it. */
#include "store_fixture.h"

static void expect(const char *unit, size_t of_unit, uint64_t count) {
    struct store_estimate estimate;
    assert_int_equal(estimate_read(unit, &estimate), of_unit);
    assert_int_equal(estimate.count, count);
}

static void there_and_back(void **state) {
    (void)state;
    const struct store_estimate estimate = {160, false, 0.034512, 0.0121},
                                windows = {64, true, 0.2, -1};
    char text[ESTIMATE_SIZE], unit[2 * ESTIMATE_SIZE];
    estimate_print(&estimate, text);
    assert_string_equal(text, "; 160 regions, 0.034512 of the instructions, within 0.012100");
    snprintf(unit, sizeof unit, "cycles%s", text);
    struct store_estimate read;
    assert_int_equal(estimate_read(unit, &read), strlen("cycles"));
    assert_true(estimate_same(&read, &estimate));
    assert_false(estimate_same(&read, &windows));
    estimate_print(&windows, text);
    assert_string_equal(text, "; 64 windows, 0.200000 of the instructions");
    assert_int_equal(estimate_read(text, &read), 0);
    assert_true(read.windows && read.count == 64 && read.within < 0);
    estimate_print(&(struct store_estimate){0}, text);
    assert_string_equal(text, "");
}

static void others_are_units(void **state) {
    (void)state;
    expect("cycles", 6, 0);
    expect("", 0, 0);
    expect("a; b", 4, 0);
    expect("cycles; 0 regions, 0.500000 of the instructions", 47, 0);
    expect("cycles; 3 regions, 1.500000 of the instructions", 47, 0);
    expect("cycles; 3 regions, nan of the instructions", 42, 0);
    expect("cycles; 3 regions, 0.5 of the instructions", 42, 0);
    expect("cycles; 3 regions, 0.500000 of the instructions, within -0.100000", 65, 0);
    expect("cycles; 3 regions, 0.500000 of the instructions, within inf", 59, 0);
    expect("cycles; -3 regions, 0.500000 of the instructions", 48, 0);
    expect("cycles; 3 slices, 0.500000 of the instructions", 46, 0);
    expect("cycles; 3 regions, 0.500000 of the instructions", 6, 3);
}

static bool keep_estimate(void *context, const struct store_session *session,
                          const struct store_event *events, size_t event_count) {
    struct store_estimate *estimate = context;
    (void)session;
    assert_int_equal(event_count, 1);
    assert_string_equal(events[0].period_unit, "cycles");
    *estimate = events[0].estimate;
    return true;
}

static struct store *open_beside(const struct fixture *fixture, const char *name) {
    char path[sizeof fixture->path + 8];
    snprintf(path, sizeof path, "%s/%s.db", fixture->folder, name);
    return open_or_fail(path, STORE_WRITE);
}

/* Parts are summed to one that is an estimate; a copy is one, too. */
static void sums_and_copies(void **state) {
    struct fixture *fixture = *state;
    struct store *store = fixture->store;
    struct store *other = open_beside(fixture, "other"), *copy = open_beside(fixture, "copy");
    int64_t parts[2], id, whole;
    const struct store_event cycles = {
        .name = "cycles", .unit = "1/840 cycles", .period_unit = "cycles", .precise = true};
    for (int i = 0; i < 2; i++) {
        const struct store_session part = {
            .kind = SESSION_SIMULATED, .name = "part", .weight = 1 + i, .end = 1};
        GOOD(store_add_session(store, &part, &parts[i], &error));
        GOOD(store_add_event(store, parts[i], &cycles, &id, &error));
    }
    const struct store_session as = {
        .kind = SESSION_SIMULATED, .name = "whole", .weight = 1, .end = 1};
    const struct store_estimate estimate = {2, false, 0.5, 0.25};
    struct store_estimate read = {0};
    GOOD(store_sum_sessions(other, store, parts, 2, &as, &estimate, &whole, &error));
    GOOD(store_each_session(other, keep_estimate, &read, &error));
    assert_true(estimate_same(&read, &estimate));
    GOOD(store_copy_sessions(copy, other, &whole, 1, &error));
    read = (struct store_estimate){0};
    GOOD(store_each_session(copy, keep_estimate, &read, &error));
    assert_true(estimate_same(&read, &estimate));
    store_close(other);
    store_close(copy);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(there_and_back), cmocka_unit_test(others_are_units),
        cmocka_unit_test_setup_teardown(sums_and_copies, fixture_setup, fixture_teardown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
