/* Epochs are exported, imported and removed; what a daemon writes stays. */
#include "live/daemon_lock.h"
#include "live/store_upkeep.h"
#include "store/exported.h"
#include "store_fixture.h"

static bool note(void *context, const struct store_session *session,
                 const struct store_event *events, size_t event_count) {
    (void)events, (void)event_count;
    *(uint64_t *)context |= UINT64_C(1) << session->id;
    return true;
}

/* A bit for each number. */
static uint64_t epochs_in(struct store *store) {
    uint64_t set = 0;
    GOOD(store_each_session(store, note, &set, &error));
    return set;
}

static void run_in(struct fixture *fixture) {
    setenv("CULPRIT_RUN", fixture->folder, 1);
}

static void the_epoch_of_a_daemon_is_not_removed(void **state) {
    struct fixture *fixture = *state;
    struct error error;
    run_in(fixture);
    const int64_t epochs[] = {add_session(fixture->store, "daemon", 1000, 2000),
                              add_session(fixture->store, "daemon", 2000, 0)};
    const int lock = daemon_lock_take(&error);
    assert_true(lock >= 0);
    FAILS("epoch 2 goes on", store_upkeep_remove(fixture->store, epochs, 2, &error));
    assert_int_equal(epochs_in(fixture->store), 1 << 1 | 1 << 2);
    daemon_lock_release(lock);
    /* Its writer is dead now. */
    GOOD(store_upkeep_remove(fixture->store, epochs, 2, &error));
    assert_int_equal(epochs_in(fixture->store), 0);
}

/* The first ended before 3000, the second after; the third goes on, last saved before it. */
static void pruning_tells_what_stays(void **state) {
    struct fixture *fixture = *state;
    struct store_upkeep_pruned pruned;
    struct error error;
    run_in(fixture);
    add_session(fixture->store, "daemon", 1000, 2000);
    add_session(fixture->store, "daemon", 2000, 4000);
    const struct store_session third = {
        .name = "daemon", .host = "vm", .weight = 1, .start = 2500, .saved = 2500};
    int64_t id;
    GOOD(store_add_session(fixture->store, &third, &id, &error));
    const int lock = daemon_lock_take(&error);
    assert_true(lock >= 0);
    GOOD(store_upkeep_prune(fixture->store, 2100, 0, &pruned, &error));
    assert_int_equal(pruned.removed, 1);
    assert_int_equal(pruned.waiting, 0);
    assert_int_equal(pruned.ongoing.session, 0); /* saved at 2500: it would have stayed anyway */
    GOOD(store_upkeep_prune(fixture->store, 3000, 0, &pruned, &error));
    assert_int_equal(pruned.removed, 0);
    assert_int_equal(pruned.ongoing.session, 3);
    assert_int_equal(pruned.ongoing.daemon, getpid());
    daemon_lock_release(lock);
    GOOD(store_upkeep_prune(fixture->store, 3000, 0, &pruned, &error));
    assert_int_equal(pruned.removed, 1);
    assert_int_equal(epochs_in(fixture->store), 1 << 2);
}

static void an_export_is_imported(void **state) {
    struct fixture *fixture = *state;
    char path[sizeof fixture->path + 8];
    size_t count;
    snprintf(path, sizeof path, "%s/exported", fixture->folder);
    add_session(fixture->store, "one", 1000, 2000);
    const int64_t second = add_session(fixture->store, "two", 2000, 3000);
    assert_false(store_is_at(path));
    GOOD(store_export(fixture->store, &second, 1, path, &error));
    assert_true(store_is_at(path));
    assert_true(store_is_at("postgresql://host/name"));
    assert_false(store_is_at("/bin/sh"));
    GOOD(store_import(fixture->store, path, &count, &error));
    assert_int_equal(count, 1);
    assert_int_equal(epochs_in(fixture->store), 1 << 1 | 1 << 2 | 1 << 3);
    FAILS("that is the store itself", store_import(fixture->store, fixture->path, &count, &error));
    FAILS("a store needs a regular file",
          store_export(fixture->store, &second, 1, "/dev/null", &error));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_epoch_of_a_daemon_is_not_removed, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(pruning_tells_what_stays, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(an_export_is_imported, fixture_setup, fixture_teardown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
