/* Calling context trees in the store: added to, merged, copied, and kept apart by process. */
#include "store/call_tree.h"
#include "store_fixture.h"

enum { TOP = STORE_CALL_TOP };

/* One line a node, "depth image+offset=value". */
static bool dump_calls(void *context, const struct store_call_tree *tree) {
    struct dump *dump = context;
    dump->length +=
        (size_t)snprintf(dump->text + dump->length, sizeof dump->text - dump->length, "%s/%s %s\n",
                         tree->session->name, tree->event->name, tree->process->command);
    for (size_t i = 0; i < tree->count; i++) {
        unsigned depth = 0;
        for (uint32_t at = tree->calls[i].parent; at != STORE_CALL_TOP; at = tree->calls[at].parent)
            depth++;
        dump->length += (size_t)snprintf(
            dump->text + dump->length, sizeof dump->text - dump->length, "%u %lld+%llx=%llu\n",
            depth, (long long)tree->calls[i].image, (unsigned long long)tree->calls[i].offset,
            (unsigned long long)tree->calls[i].value);
    }
    assert_true(dump->length < sizeof dump->text);
    return true;
}

static void assert_calls(struct store *store, const char *expected) {
    struct dump dump = {.length = 0};
    GOOD(store_each_call_tree(store, NULL, dump_calls, &dump, &error));
    assert_string_equal(dump.text, expected);
}

/* main calls work (twice, of two places), and work calls leaf. */
static void sums(void **state) {
    struct fixture *fixture = *state;
    struct store *store = fixture->store;
    int64_t session = add_session(store, "run", 1, 2), event = add_event(store, session, "cycles");
    int64_t process = add_process(store, session, "a"), other = add_process(store, session, "b");
    int64_t image = add_image(store, "/bin/a");
    const struct store_call first[] = {
        {TOP, image, 0x10, 1}, {0, image, 0x20, 2}, {1, image, 0x30, 4}};
    const struct store_call second[] = {
        {TOP, image, 0x10, 0}, {0, image, 0x24, 8}, {0, image, 0x20, 16}, {2, image, 0x30, 32}};
    GOOD(store_add_calls(store, session, process, event, first, 3, &error));
    GOOD(store_add_calls(store, session, process, event, second, 4, &error));
    GOOD(store_add_calls(store, session, other, event, first, 1, &error));
    GOOD(store_check(store, &error));
    assert_calls(store, "run/cycles a\n0 1+10=1\n1 1+20=18\n2 1+30=36\n1 1+24=8\n"
                        "run/cycles b\n0 1+10=1\n");
    const struct store_call wrong[] = {{1, image, 0x10, 1}, {TOP, image, 0x20, 2}};
    FAILS("caller", store_add_calls(store, session, process, event, wrong, 2, &error));
}

static int64_t sliced_process(struct store *store, int64_t session, const char *command,
                              struct store_slice slice) {
    const struct store_process process = {.command = command, .executable = "/x", .slice = slice};
    int64_t id = 0;
    GOOD(store_process(store, session, &process, &id, &error));
    return id;
}

/* Slices of a process become what there is of it without, but for those of control groups. */
static void slices_forgotten(void **state) {
    struct fixture *fixture = *state;
    struct store *store = fixture->store;
    int64_t session = add_session(store, "run", 1, 2), other = add_session(store, "next", 3, 4);
    int64_t event = add_event(store, session, "cycles"), apart = add_event(store, other, "cycles");
    int64_t image = add_image(store, "/bin/a");
    const struct store_slice slices[] = {{.pid = 0},
                                         {.pid = 7},
                                         {.pid = 7, .begin = 10, .end = 20},
                                         {.processor = 2},
                                         {.thread = 3, .cgroup = "/g"}};
    const struct store_value value = {.offset = 0x10, .value = 1};
    const struct store_call calls[] = {{TOP, image, 0x10, 1}, {0, image, 0x20, 2}};
    bool has;
    GOOD(store_has_slices(store, session, &has, &error));
    assert_false(has);
    for (size_t i = 0; i < sizeof slices / sizeof *slices; i++) {
        int64_t process = sliced_process(store, session, "a", slices[i]);
        GOOD(store_add_values(store, session, process, image, event, &value, 1, &error));
        GOOD(store_add_calls(store, session, process, event, calls, 2, &error));
    }
    int64_t kept = sliced_process(store, other, "b", slices[1]);
    GOOD(store_add_values(store, other, kept, image, apart, &value, 1, &error));
    GOOD(store_has_slices(store, session, &has, &error));
    assert_true(has);
    GOOD(store_forget_slices(store, session, &error));
    GOOD(store_has_slices(store, session, &has, &error));
    assert_false(has);
    GOOD(store_has_slices(store, other, &has, &error));
    assert_true(has);
    GOOD(store_check(store, &error));
    assert_holds(store, "run/cycles /bin/a a 10:0=4\n"
                        "run/cycles /bin/a a 10:0=1\n"
                        "next/cycles /bin/a b 10:0=1\n");
    assert_calls(store, "run/cycles a\n0 1+10=4\n1 1+20=8\n"
                        "run/cycles a\n0 1+10=1\n1 1+20=2\n");
    GOOD(store_forget_slices(store, session, &error));
    FAILS("no session", store_forget_slices(store, 99, &error));
}

/* Images that only callers lie in stay as long as the tree does. */
static void images_of_callers(void **state) {
    struct fixture *fixture = *state;
    struct store *store = fixture->store;
    int64_t session = add_session(store, "run", 1, 2), event = add_event(store, session, "cycles");
    int64_t process = add_process(store, session, "a");
    int64_t caller = add_image(store, "/bin/caller"), leaf = add_image(store, "/bin/leaf");
    const struct store_call calls[] = {
        {TOP, 0, STORE_FAILED, 0}, {0, caller, 1, 0}, {1, leaf, 2, 1}};
    uint64_t removed;
    GOOD(store_add_calls(store, session, process, event, calls, 3, &error));
    GOOD(store_prune(store, &(struct store_retention){.before = 1}, &removed, &error));
    GOOD(store_check(store, &error));
    struct error error = {0};
    assert_string_equal(store_image_of(store, caller, &error)->path, "/bin/caller");
    GOOD(store_remove_session(store, session, &error));
    GOOD(store_check(store, &error));
    assert_calls(store, "");
    reopen(fixture, STORE_WRITE);
    assert_null(store_image_of(fixture->store, caller, &error));
}

/* Two sessions become one; then it goes to a store where its images have other numbers. */
static void merged_and_copied(void **state) {
    struct fixture *fixture = *state;
    struct store *store = fixture->store;
    int64_t sessions[2], image = add_image(store, "/bin/a");
    for (int i = 0; i < 2; i++) {
        sessions[i] = add_session(store, i ? "second" : "first", 1 + i, 2 + i);
        int64_t event = add_event(store, sessions[i], "cycles");
        int64_t process = add_process(store, sessions[i], "a");
        const struct store_call calls[] = {{TOP, image, 0x10, 1}, {0, image, 0x20 + i, 2}};
        GOOD(store_add_calls(store, sessions[i], process, event, calls, 2, &error));
    }
    GOOD(store_merge_sessions(store, sessions, 2, &error));
    GOOD(store_check(store, &error));
    assert_calls(store, "first/cycles a\n0 1+10=2\n1 1+20=2\n1 1+21=2\n");
    char path[sizeof fixture->path + 8];
    snprintf(path, sizeof path, "%s.copy", fixture->path);
    struct store *copy = open_or_fail(path, STORE_WRITE);
    int64_t there = add_session(copy, "there", 0, 1), event = add_event(copy, there, "cycles");
    const struct store_call one[] = {{TOP, add_image(copy, "/bin/b"), 1, 1}};
    GOOD(store_add_calls(copy, there, add_process(copy, there, "b"), event, one, 1, &error));
    GOOD(store_copy_sessions(copy, store, NULL, 0, &error));
    GOOD(store_check(copy, &error));
    assert_calls(copy, "there/cycles b\n0 1+1=1\n"
                       "first/cycles a\n0 2+10=2\n1 2+20=2\n1 2+21=2\n");
    store_close(copy);
}

/* What finds no room counts for its caller. */
static void bounded(void **state) {
    (void)state;
    struct call_tree tree = {.most = 2};
    uint32_t top, node, third;
    assert_true(call_tree_node(&tree, TOP, 1, 1, &top));
    assert_true(call_tree_node(&tree, top, 1, 2, &node));
    assert_true(call_tree_node(&tree, node, 1, 3, &third));
    assert_int_equal(third, node);
    assert_true(call_tree_node(&tree, TOP, 1, 4, &third));
    assert_int_equal(third, TOP);
    assert_true(call_tree_node(&tree, top, 1, 2, &third));
    assert_int_equal(third, node);
    call_tree_free(&tree);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(sums, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(slices_forgotten, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(images_of_callers, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(merged_and_copied, fixture_setup, fixture_teardown),
        cmocka_unit_test(bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
