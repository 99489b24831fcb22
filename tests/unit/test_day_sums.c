/* Sums of days hold what their epochs do, and no longer when these change; which sessions and
 * samples are read by host, time and build. */
#include "store_fixture.h"

#include "store/day_sums.h"
#include "store/session_choice.h"

#define HOUR        (DAY_NS / 24)
#define DAY(number) ((20000 + (number)) * DAY_NS)

/* An epoch of a host, with `value` samples at each of three places; `build` is of the program. */
static int64_t add_epoch(struct store *store, const char *host, int64_t start, int64_t end,
                         unsigned value, uint8_t build) {
    const struct store_session session = {
        .name = "daemon", .host = host, .weight = 1, .start = start, .end = end, .saved = end};
    const struct store_image image = {
        .path = "/srv/app", .build_id = {build, 0xbc}, .build_id_size = 2};
    const struct store_image library = {
        .path = "/lib/c.so", .build_id = {9, 9}, .build_id_size = 2};
    const struct store_value values[] = {{16, 0, value}, {20 + value, 0, value}, {4000, 0, value}};
    int64_t id, app, libc;
    GOOD(store_add_session(store, &session, &id, &error));
    const int64_t event = add_event(store, id, "cycles"), process = add_process(store, id, "app");
    GOOD(store_image(store, &image, &app, &error));
    GOOD(store_image(store, &library, &libc, &error));
    GOOD(store_add_values(store, id, process, app, event, values, 3, &error));
    GOOD(store_add_values(store, id, process, libc, event, values, 2, &error));
    return id;
}

/* Three hosts, three days, six epochs a day that begin at five in the morning. */
static void add_fleet(struct store *store) {
    static const char *const HOSTS[] = {"web-0", "web-1", "db-0"};
    for (int host = 0; host < 3; host++)
        for (int i = 0; i < 18; i++)
            add_epoch(store, HOSTS[host], DAY(0) + (5 + 4 * i) * HOUR, DAY(0) + (9 + 4 * i) * HOUR,
                      (unsigned)(1 + host + i), i < 9 ? 0xa1 : 0xb2);
}

static struct day_sums_made make_sums(struct store *store) {
    struct day_sums_made made;
    GOOD(store_sum_days(store, DAY(10), NULL, NULL, &made, &error));
    return made;
}

/* What is read: sums by place, and from how many sums. */
struct content {
    uint64_t at[4001], total;
    size_t sums, sessions;
};

static bool add_up(void *context, const struct store_profile *profile) {
    struct content *content = context;
    for (size_t i = 0; i < profile->count; i++)
        content->at[profile->values[i].offset] += profile->values[i].value;
    content->total += profile->total;
    return true;
}

static void read_content(struct store *store, const char *host, int64_t since, int64_t until,
                         const char *build, bool sums, struct content *content) {
    const struct sample_choice choice = {.since = since, .until = until, .build = build};
    const struct session_query query = {
        .hosts = &host, .host_count = 1, .choice = &choice, .sums = sums};
    struct session_reading reading;
    memset(content, 0, sizeof *content);
    GOOD(session_reading_choose(&reading, store, &query, &error));
    const struct store_filter filter = {
        .sessions = reading.sessions, .session_count = reading.count, .choice = &reading.choice};
    GOOD(store_each_profile(store, &filter, add_up, content, &error));
    content->sums = reading.sums;
    content->sessions = reading.count;
    session_reading_free(&reading);
}

/* From sums as from epochs. Returns how many sums were used. */
static size_t same(struct store *store, const char *host, int64_t since, int64_t until,
                   const char *build) {
    static struct content by_sums, by_epochs;
    read_content(store, host, since, until, build, true, &by_sums);
    read_content(store, host, since, until, build, false, &by_epochs);
    assert_int_equal(by_epochs.sums, 0);
    assert_true(by_epochs.total > 0);
    assert_int_equal(by_sums.total, by_epochs.total);
    assert_memory_equal(by_sums.at, by_epochs.at, sizeof by_sums.at);
    return by_sums.sums;
}

static void sums_equal_epochs(void **state) {
    struct store *store = ((struct fixture *)*state)->store;
    add_fleet(store);
    /* The last epochs are of a fourth day. */
    const struct day_sums_made made = make_sums(store);
    assert_int_equal(made.days, 4);
    assert_int_equal(made.made, 4 * 3 + 4);
    assert_int_equal(same(store, "*", 0, 0, NULL), 4);
    assert_int_equal(same(store, "web-*", 0, 0, NULL), 8);
    assert_int_equal(same(store, "db-0", 0, 0, NULL), 4);
    assert_int_equal(same(store, "*", DAY(1), DAY(2), NULL), 1);
    /* Hours of the first and the last day from epochs, of which one reaches over midnight. */
    assert_int_equal(same(store, "*", DAY(0) + 7 * HOUR, DAY(2) + 3 * HOUR, NULL), 1);
    assert_int_equal(same(store, "web-1", DAY(0) + 22 * HOUR, DAY(2), NULL), 1);
    assert_int_equal(same(store, "*", DAY(1) + HOUR, DAY(1) + 5 * HOUR, NULL), 0);
    GOOD(store_check(store, &error));
    /* Walks of all sessions leave sums out, and copies do. */
    static struct content all;
    memset(&all, 0, sizeof all);
    GOOD(store_each_profile(store, NULL, add_up, &all, &error));
    static struct content read;
    read_content(store, "*", 0, 0, NULL, true, &read);
    assert_int_equal(all.total, read.total);
}

static void void_when_epochs_change(void **state) {
    struct store *store = ((struct fixture *)*state)->store;
    add_fleet(store);
    make_sums(store);
    /* One that comes late: its host's day and the day of all are void, nothing else. */
    const int64_t late = add_epoch(store, "web-1", DAY(1) + HOUR, DAY(1) + 2 * HOUR, 500, 0xa1);
    assert_int_equal(same(store, "*", 0, 0, NULL), 3 + 2);
    assert_int_equal(same(store, "web-1", 0, 0, NULL), 3);
    struct day_sums_made made = make_sums(store);
    assert_int_equal(made.made, 2);
    assert_int_equal(made.removed, 2);
    assert_int_equal(made.kept, 14);
    assert_int_equal(same(store, "*", 0, 0, NULL), 4);
    /* One that is written again. */
    const struct store_session again = {.id = late, .end = DAY(1) + 2 * HOUR, .dropped = 7};
    GOOD(store_update_session(store, &again, &error));
    assert_int_equal(same(store, "web-1", 0, 0, NULL), 3);
    /* One that is removed. */
    GOOD(store_remove_session(store, late, &error));
    assert_int_equal(same(store, "*", 0, 0, NULL), 3 + 2);
    make_sums(store);
    assert_int_equal(same(store, "*", 0, 0, NULL), 4);
    GOOD(store_check(store, &error));
}

static bool once(void *context, size_t done, size_t all) {
    (void)all;
    *(size_t *)context = done;
    return done < 20;
}

/* Times that cannot be are read from epochs, and nothing overflows. */
static void impossible_times(void **state) {
    struct store *store = ((struct fixture *)*state)->store;
    static const int64_t TIMES[][2] = {{1, INT64_MIN + 1}, {1, INT64_MAX},   {INT64_MAX, INT64_MAX},
                                       {INT64_MIN, 5},     {DAY(1), DAY(0)}, {0, 1}};
    add_fleet(store);
    for (size_t i = 0; i < sizeof TIMES / sizeof *TIMES; i++)
        add_epoch(store, "odd", TIMES[i][0], TIMES[i][1], (unsigned)(100 + i), 0xa1);
    make_sums(store);
    same(store, "*", 0, 0, NULL);
    same(store, "odd", 0, 0, NULL);
    same(store, "*", DAY(0), DAY(3), NULL);
    make_sums(store);
}

/* Interrupted, it goes on; a day that is not over has no sum. */
static void interrupted(void **state) {
    struct store *store = ((struct fixture *)*state)->store;
    struct day_sums_made made;
    size_t done = 0;
    add_fleet(store);
    GOOD(store_sum_days(store, DAY(2), once, &done, &made, &error));
    const size_t first = made.made;
    assert_true(first > 0 && first < 8);
    same(store, "*", 0, 0, NULL);
    GOOD(store_sum_days(store, DAY(2), NULL, NULL, &made, &error));
    assert_int_equal(first + made.made, 2 * 3 + 2);
    assert_int_equal(made.kept, first);
    assert_int_equal(same(store, "*", 0, 0, NULL), 2);
}

/* The build changes in the middle of the second day: that day's sums have both and are not used. */
static void builds(void **state) {
    struct store *store = ((struct fixture *)*state)->store;
    static struct content before, after, all;
    add_fleet(store);
    make_sums(store);
    assert_int_equal(same(store, "*", 0, 0, "a1bc"), 3);
    assert_int_equal(same(store, "web-0", 0, 0, "app@b2bc"), 2);
    read_content(store, "*", 0, 0, "a1bc", true, &before);
    read_content(store, "*", 0, 0, "/srv/app@b2bc", true, &after);
    read_content(store, "*", 0, 0, NULL, true, &all);
    assert_int_equal(before.total + after.total, all.total);
    const struct sample_choice choice = {.build = "ffff"};
    const struct session_query query = {.choice = &choice};
    struct session_reading reading;
    FAILS("nothing in", session_reading_choose(&reading, store, &query, &error));
    session_reading_free(&reading);
    FAILS("first digits", build_text_check("a1b", &error));
    FAILS("first digits", build_text_check("@a1bc", &error));
    FAILS("first digits", build_text_check("app@xyzw", &error));
    /* Two builds within one epoch, in processes that are one row, count for neither. */
    const int64_t mixed = add_epoch(store, "db-1", DAY(5), DAY(5) + HOUR, 50, 0xa1);
    const struct store_image other = {
        .path = "/srv/app", .build_id = {0xb2, 0xbc}, .build_id_size = 2};
    int64_t image;
    GOOD(store_image(store, &other, &image, &error));
    GOOD(store_add_values(store, mixed, add_process(store, mixed, "app"), image,
                          add_event(store, mixed, "cycles"),
                          (const struct store_value[]){{8, 0, 3}}, 1, &error));
    const char *host = "db-1";
    const struct sample_choice build = {.build = "a1bc"};
    const struct session_query there = {.hosts = &host, .host_count = 1, .choice = &build};
    FAILS("no processes of build a1bc", session_reading_choose(&reading, store, &there, &error));
    session_reading_free(&reading);
}

static void hosts_by_pattern(void **state) {
    (void)state;
    const char *const names[] = {"web-*", "db-[12]"};
    assert_true(host_is_named("web-17", names, 2));
    assert_true(host_is_named("db-2", names, 2));
    assert_false(host_is_named("db-3", names, 2));
    assert_false(host_is_named("", names, 2));
    assert_true(host_is_named("anything", NULL, 0));
    assert_false(host_is_named("x[", (const char *const[]){"x[a"}, 1));
}

/* What is no sum's name is no sum. */
static void names_of_sums(void **state) {
    (void)state;
    struct store_session session = {.kind = SESSION_SUM, .name = "daemon"};
    struct day_sum sum;
    assert_false(day_sum_read(&session, &sum));
    session.name =
        "144 epochs, 143 of them its own, of 1 hosts, 86400.000 s, numbers 10296, saved 12";
    assert_true(day_sum_read(&session, &sum));
    assert_int_equal(sum.epochs.count, 144);
    assert_int_equal(sum.own, 143);
    assert_int_equal(sum.epochs.saved, 12);
    session.kind = SESSION_LIVE;
    assert_false(day_sum_read(&session, &sum));
    session.kind = SESSION_SUM;
    session.name = "144 epochs, 143 of them its own, of 1 hosts, -0.000 s, numbers 10296, saved 12";
    assert_false(day_sum_read(&session, &sum));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(sums_equal_epochs, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(void_when_epochs_change, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(impossible_times, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(interrupted, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(builds, fixture_setup, fixture_teardown),
        cmocka_unit_test(hosts_by_pattern),
        cmocka_unit_test(names_of_sums)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
