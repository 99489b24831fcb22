/* The store: what is added is read back, sums are exact, sessions merge, go and are copied, and a
 * transaction is kept wholly or not at all. */
#include "store/database.h"
#include "store_fixture.h"

static void add(struct store *store, int64_t session, int64_t process, int64_t image, int64_t event,
                struct store_value value) {
    GOOD(store_add_values(store, session, process, image, event, &value, 1, &error));
}

static struct store_value at(uint64_t offset, uint64_t value) {
    return (struct store_value){.offset = offset, .value = value};
}

/* Two events, two processes in one image: each its own profile. */
static void adds_up(void **state) {
    struct fixture *fixture = *state;
    struct store *store = fixture->store;
    int64_t session = add_session(store, "daemon", 100, 0);
    int64_t cycles = add_event(store, session, "cycles"),
            imiss = add_event(store, session, "imiss");
    int64_t gzip = add_image(store, "/bin/gzip");
    int64_t one = add_process(store, session, "one"), two = add_process(store, session, "two");

    const struct store_value first[] = {{0x10, 0, 1}, {0x20, 0, 2}, {0x20, 7, 3}};
    const struct store_value second[] = {{0x08, 0, 4}, {0x20, 0, 5}, {0x20, 9, 6}, {0x30, 0, 7}};
    GOOD(store_add_values(store, session, one, gzip, cycles, first, 3, &error));
    GOOD(store_add_values(store, session, one, gzip, cycles, second, 4, &error));
    add(store, session, one, gzip, imiss, at(0x10, 8));
    add(store, session, two, gzip, cycles, at(0x10, 9));

    reopen(fixture, STORE_READ);
    assert_holds(fixture->store, "daemon/cycles /bin/gzip one 8:0=4\n"
                                 "daemon/cycles /bin/gzip one 10:0=1\n"
                                 "daemon/cycles /bin/gzip one 20:0=7\n"
                                 "daemon/cycles /bin/gzip one 20:7=3\n"
                                 "daemon/cycles /bin/gzip one 20:9=6\n"
                                 "daemon/cycles /bin/gzip one 30:0=7\n"
                                 "daemon/imiss /bin/gzip one 10:0=8\n"
                                 "daemon/cycles /bin/gzip two 10:0=9\n");
    uint64_t total, bytes;
    GOOD(store_event_total(fixture->store, session, cycles, &total, &bytes, &error));
    assert_int_equal(total, 4 + 1 + 7 + 3 + 6 + 7 + 9);
    GOOD(store_check(fixture->store, &error));
}

static bool keep_session(void *context, const struct store_session *session,
                         const struct store_event *events, size_t event_count) {
    struct dump *dump = context;
    dump->length += (size_t)snprintf(
        dump->text + dump->length, sizeof dump->text - dump->length,
        "%lld %s %s %s %s %s %g %lld %lld %llu %llu:", (long long)session->id,
        session_kind_name(session->kind), session->name, session->host, session->kernel,
        session->processor, session->weight, (long long)session->start, (long long)session->end,
        (unsigned long long)session->unknown, (unsigned long long)session->dropped);
    for (size_t i = 0; i < event_count; i++)
        dump->length += (size_t)snprintf(
            dump->text + dump->length, sizeof dump->text - dump->length, " %s %s %llu %s %d",
            events[i].name, events[i].unit, (unsigned long long)events[i].period,
            events[i].period_unit, events[i].precise);
    dump->length +=
        (size_t)snprintf(dump->text + dump->length, sizeof dump->text - dump->length, "\n");
    return true;
}

static void assert_sessions(struct store *store, const char *expected) {
    struct dump dump = {.length = 0};
    GOOD(store_each_session(store, keep_session, &dump, &error));
    assert_string_equal(dump.text, expected);
}

/* By start, with every field; NULL is "". */
static void sessions(void **state) {
    struct fixture *fixture = *state;
    struct store *store = fixture->store;
    struct store_session session = {.kind = SESSION_SIMULATED,
                                    .name = "gzip -9",
                                    .processor = "zen4",
                                    .weight = 0.25,
                                    .start = 500,
                                    .end = 700};
    const struct store_event event = {
        .name = "cycles", .unit = "1/840 cycles", .period_unit = "cycles", .precise = true};
    int64_t simulated, id;
    GOOD(store_add_session(store, &session, &simulated, &error));
    GOOD(store_add_event(store, simulated, &event, &id, &error));
    session = (struct store_session){.name = "daemon", .host = "vm", .weight = 1, .start = 400};
    GOOD(store_add_session(store, &session, &session.id, &error));
    assert_int_equal(session.id, simulated + 1);
    add_event(store, session.id, "imiss");
    add_event(store, session.id, "dmiss");
    session.end = 900;
    session.unknown = 3;
    session.dropped = UINT64_MAX;
    GOOD(store_update_session(store, &session, &error));
    assert_sessions(store, "2 live daemon vm   1 400 900 3 9223372036854775807:"
                           " imiss samples 62000 cycles 0 dmiss samples 62000 cycles 0\n"
                           "1 simulated gzip -9   zen4 0.25 500 700 0 0:"
                           " cycles 1/840 cycles 0 cycles 1\n");
    session.id = 77;
    FAILS("session 77 is no longer there", store_update_session(store, &session, &error));
}

static void images_and_processes(void **state) {
    struct fixture *fixture = *state;
    struct store *store = fixture->store;
    int64_t session = add_session(store, "daemon", 1, 0);
    struct store_image image = {
        .kind = IMAGE_KERNEL, .path = "[kernel]", .build_id = {9, 8}, .build_id_size = 2};
    int64_t kernel, same, other;
    GOOD(store_image(store, &image, &kernel, &error));
    GOOD(store_image(store, &image, &same, &error));
    assert_int_equal(kernel, same);
    image.build_id[1] = 7;
    GOOD(store_image(store, &image, &other, &error));
    assert_int_not_equal(kernel, other);
    image.root = "/proc/42/root";
    GOOD(store_image(store, &image, &other, &error));
    assert_int_equal(add_process(store, session, "cc1"), add_process(store, session, "cc1"));
    assert_int_not_equal(add_process(store, session, "cc1"), add_process(store, session, "as"));

    const struct code_symbol symbols[] = {
        {0x0, 0x10, "_stext"}, {0x10, 0x30, "schedule"}, {0x10, 0x30, "alias"}, {0x100, 0, ""}};
    struct code_symbol *read;
    size_t count;
    GOOD(store_set_symbols(store, kernel, symbols, 4, &error));
    GOOD(store_get_symbols(store, other, &read, &count, &error));
    assert_int_equal(count, 0);
    GOOD(store_get_symbols(store, kernel, &read, &count, &error));
    assert_int_equal(count, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(read[i].start, symbols[i].start);
        assert_int_equal(read[i].size, symbols[i].size);
        assert_string_equal(read[i].name, symbols[i].name);
    }
    store_free_symbols(read, count);
    struct error error;
    const struct store_image *stored = store_image_of(store, other, &error);
    assert_non_null(stored);
    assert_int_equal(stored->kind, IMAGE_KERNEL);
    assert_string_equal(stored->root, "/proc/42/root");
    assert_memory_equal(stored->build_id, ((uint8_t[]){9, 7}), 2);
    FAILS("no image 99", store_image_of(store, 99, &error) != NULL);
}

/* One that fails leaves nothing, even when the caller goes on; the store works afterwards. */
static void transactions(void **state) {
    struct fixture *fixture = *state;
    struct store *store = fixture->store;
    const struct store_value unsorted[] = {{2, 0, 1}, {1, 0, 1}};
    int64_t session = add_session(store, "kept", 1, 2);
    GOOD(store_begin(store, &error));
    int64_t event = add_event(store, session, "cycles"), process = add_process(store, session, "a");
    int64_t image = add_image(store, "/bin/a");
    add(store, session, process, image, event, at(1, 1));
    FAILS("not sorted",
          store_add_values(store, session, process, image, event, unsorted, 2, &error));
    struct store_value value = at(1, 1);
    FAILS("nothing more can be saved",
          store_add_values(store, session, process, image, event, &value, 1, &error));
    FAILS("nothing was saved", store_commit(store, &error));
    assert_holds(store, "");

    GOOD(store_begin(store, &error));
    add_event(store, session, "lost");
    store_rollback(store);
    GOOD(store_begin(store, &error));
    event = add_event(store, session, "cycles"), process = add_process(store, session, "a");
    add(store, session, process, add_image(store, "/bin/a"), event, at(1, 1));
    GOOD(store_commit(store, &error));
    assert_holds(store, "kept/cycles /bin/a a 1:0=1\n");
    GOOD(store_check(store, &error));
    FAILS("was removed", store_add_values(store, 99, process, image, event, &value, 1, &error));
}

/* Three sessions of one machine: values of the same event are added, others stay apart. */
static void merges(void **state) {
    struct fixture *fixture = *state;
    struct store *store = fixture->store;
    int64_t ids[4];
    for (int i = 0; i < 3; i++) {
        ids[i] = add_session(store, "daemon", 1000 - 100 * i, 1100 - 100 * i);
        int64_t event = add_event(store, ids[i], i == 1 ? "imiss" : "cycles");
        int64_t process = add_process(store, ids[i], "gzip");
        add(store, ids[i], process, add_image(store, "/bin/gzip"), event, at(0x10, 1 << i));
        add(store, ids[i], process, add_image(store, "/lib/libc"), event, at(0x20 + i, 1));
    }
    ids[3] = add_session(store, "still running", 2000, 0);
    FAILS("has not ended", store_merge_sessions(store, ids, 4, &error));
    FAILS("no session 12", store_merge_sessions(store, (int64_t[]){1, 12}, 2, &error));
    FAILS("named twice", store_merge_sessions(store, (int64_t[]){1, 2, 1}, 3, &error));
    GOOD(store_remove_session(store, ids[3], &error));
    GOOD(store_merge_sessions(store, ids, 3, &error));
    assert_sessions(store, "3 live daemon vm   1 800 1100 0 0:"
                           " cycles samples 62000 cycles 0 imiss samples 62000 cycles 0\n");
    assert_holds(store, "daemon/cycles /bin/gzip gzip 10:0=5\n"
                        "daemon/imiss /bin/gzip gzip 10:0=2\n"
                        "daemon/cycles /lib/libc gzip 20:0=1\n"
                        "daemon/cycles /lib/libc gzip 22:0=1\n"
                        "daemon/imiss /lib/libc gzip 21:0=1\n");
    GOOD(store_check(store, &error));
}

static void copies(void **state) {
    struct fixture *fixture = *state;
    char path[160];
    snprintf(path, sizeof path, "%s/new/folder/other.db", fixture->folder);
    int64_t ids[2];
    for (int i = 0; i < 2; i++) {
        ids[i] = add_session(fixture->store, i ? "second" : "first", 10 + i, 20);
        add(fixture->store, ids[i], add_process(fixture->store, ids[i], "gzip"),
            add_image(fixture->store, "/bin/gzip"), add_event(fixture->store, ids[i], "cycles"),
            at(0x10, 3));
    }
    const struct code_symbol symbol = {0x10, 4, "deflate"};
    GOOD(store_set_symbols(fixture->store, add_image(fixture->store, "/bin/gzip"), &symbol, 1,
                           &error));
    struct store *other = open_or_fail(path, STORE_WRITE);
    add_image(other, "/bin/other");
    GOOD(store_copy_sessions(other, fixture->store, &ids[1], 1, &error));
    assert_holds(other, "second/cycles /bin/gzip gzip 10:0=3\n");
    GOOD(store_copy_sessions(other, fixture->store, NULL, 0, &error));
    assert_holds(other, "first/cycles /bin/gzip gzip 10:0=3\n"
                        "second/cycles /bin/gzip gzip 10:0=3\n"
                        "second/cycles /bin/gzip gzip 10:0=3\n");
    struct code_symbol *symbols;
    size_t count;
    GOOD(store_get_symbols(other, add_image(other, "/bin/gzip"), &symbols, &count, &error));
    assert_int_equal(count, 1);
    assert_string_equal(symbols->name, "deflate");
    store_free_symbols(symbols, count);
    GOOD(store_check(other, &error));
    store_close(other);
}

/* Old ones go for their age, also one whose writer died; images go with the last that knows them.
 */
static void prunes(void **state) {
    struct fixture *fixture = *state;
    struct store *store = fixture->store;
    struct store_session dead = {.name = "dead", .host = "vm", .weight = 1, .start = 5, .saved = 6};
    GOOD(store_add_session(store, &dead, &dead.id, &error));
    for (int i = 0; i < 3; i++) {
        int64_t id = add_session(store,
                                 i == 0   ? "old"
                                 : i == 1 ? "recent"
                                          : "now",
                                 10 + 10 * i, i < 2 ? 15 + 10 * i : 0);
        add(store, id, add_process(store, id, "gzip"),
            add_image(store, i == 1   ? "/bin/kept"
                             : i == 2 ? "/bin/now"
                                      : "/bin/gone"),
            add_event(store, id, "cycles"), at(1, 1));
    }
    uint64_t removed;
    GOOD(store_prune(store, &(struct store_retention){.before = 20}, &removed, &error));
    assert_int_equal(removed, 2);
    assert_holds(store, "recent/cycles /bin/kept gzip 1:0=1\nnow/cycles /bin/now gzip 1:0=1\n");
    FAILS("no image", store_image_of(store, 1, &error) != NULL);
    GOOD(store_prune(store, &(struct store_retention){.bytes = 1}, &removed, &error));
    assert_int_equal(removed, 1);
    assert_holds(store, "now/cycles /bin/now gzip 1:0=1\n");
    GOOD(store_check(store, &error));
}

/* Down to a size: the oldest first, and no more than need be. */
static void prunes_to_size(void **state) {
    struct fixture *fixture = *state;
    struct store *store = fixture->store;
    enum { SESSIONS = 8, VALUES = 40000 };
    struct store_value *values = calloc(VALUES, sizeof *values);
    uint64_t state_of_random = 1;
    for (size_t i = 0; i < VALUES; i++) {
        state_of_random = state_of_random * 6364136223846793005u + 1442695040888963407u;
        values[i] = at(1000 * i + (state_of_random >> 55), state_of_random >> 50);
    }
    for (int i = 0; i < SESSIONS; i++) {
        int64_t id = add_session(store, "daemon", 10 * i, 10 * i + 9);
        int64_t event = add_event(store, id, "cycles"), process = add_process(store, id, "a");
        GOOD(store_add_values(store, id, process, add_image(store, "/bin/a"), event, values, VALUES,
                              &error));
    }
    free(values);
    uint64_t bytes, unused, removed, before, after;
    GOOD(store_size(store, &bytes, &unused, &error));
    GOOD(store_prune(store, &(struct store_retention){.bytes = bytes / 2}, &removed, &error));
    assert_in_range(removed, SESSIONS / 2, SESSIONS / 2 + 1);
    GOOD(store_size(store, &bytes, &unused, &error));
    assert_true(unused >= bytes / 2 - 8192);
    GOOD(store_compact(store, &before, &after, &error));
    assert_int_equal(before, bytes);
    assert_in_range(after, 1, bytes - unused + 8192);
    GOOD(store_check(store, &error));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(adds_up, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(sessions, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(images_and_processes, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(transactions, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(merges, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(copies, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(prunes, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(prunes_to_size, fixture_setup, fixture_teardown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
