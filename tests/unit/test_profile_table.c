/* Rows of profiles, from stores made by hand. Symbols come with the images (as those of a kernel),
 * so that no file is needed. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "query/profile_set.h"
#include "query/profile_table.h"
#include "temporary.h"
#include "util/key_numbers.h"

struct fixture {
    char folder[TEMPORARY_BYTES], path[TEMPORARY_BYTES + 32];
    struct store *store;
    struct program *program;
    int64_t event; /* of the session that was made last */
};

static void good(bool succeeded, const struct error *error) {
    if (!succeeded)
        fail_msg("%s", error->message);
}

static int set_up(void **state) {
    struct fixture *fixture = calloc(1, sizeof *fixture);
    struct error error;
    if (!mkdtemp(temporary_name(fixture->folder, "table")))
        return -1;
    snprintf(fixture->path, sizeof fixture->path, "%s/profiles.db", fixture->folder);
    fixture->store = store_open(fixture->path, STORE_WRITE, &error);
    good(fixture->store, &error);
    fixture->program = program_new();
    *state = fixture;
    return 0;
}

static int tear_down(void **state) {
    struct fixture *fixture = *state;
    char other[160];
    store_close(fixture->store);
    program_free(fixture->program);
    for (int i = 0; i < 3; i++) {
        snprintf(other, sizeof other, "%s%s", fixture->path,
                 (const char *[]){"", "-wal", "-shm"}[i]);
        unlink(other);
    }
    rmdir(fixture->folder);
    free(fixture);
    return 0;
}

/* Of two seconds. */
static int64_t add_session_of(struct fixture *fixture, enum session_kind kind, double weight,
                              const char *unit) {
    const struct store_session session = {
        .kind = kind, .name = "test", .weight = weight, .start = 1, .end = 2000000001};
    const struct store_event event = {
        .name = "cycles", .unit = unit, .period = 1000, .period_unit = "cycles"};
    struct error error;
    int64_t id;
    good(store_add_session(fixture->store, &session, &id, &error), &error);
    good(store_add_event(fixture->store, id, &event, &fixture->event, &error), &error);
    return id;
}

static int64_t add_session(struct fixture *fixture, double weight, const char *unit) {
    return add_session_of(fixture, SESSION_LIVE, weight, unit);
}

/* An image of this path and build with procedures of 16 bytes: a at 0, b at 16 ... */
static int64_t add_image(struct fixture *fixture, const char *path, uint8_t build,
                         const char *const *procedures) {
    const struct store_image image = {
        .kind = IMAGE_MODULE, .path = path, .build_id = {build}, .build_id_size = 20, .root = ""};
    struct code_symbol symbols[8];
    struct error error;
    size_t count = 0;
    int64_t id;
    good(store_image(fixture->store, &image, &id, &error), &error);
    for (; procedures[count]; count++)
        symbols[count] = (struct code_symbol){16 * count, 16, procedures[count]};
    good(store_set_symbols(fixture->store, id, symbols, count, &error), &error);
    return id;
}

static void add_value(struct fixture *fixture, int64_t session, const char *command, int64_t image,
                      uint64_t offset, uint64_t value) {
    const struct store_process process = {.command = command, .executable = "/bin/x"};
    const struct store_value values = {offset, 0, value};
    struct error error;
    int64_t id;
    good(store_process(fixture->store, session, &process, &id, &error), &error);
    good(store_add_values(fixture->store, session, id, image, fixture->event, &values, 1, &error),
         &error);
}

static struct profile_table *table_of(struct fixture *fixture, struct profile_table_options options,
                                      const int64_t *sessions, size_t count, size_t top) {
    struct error error;
    struct profile_table *table = profile_table_new(&options, fixture->program);
    assert_non_null(table);
    for (size_t i = 0; i < options.columns; i++)
        good(profile_table_add(table, fixture->store, sessions + (options.columns > 1 ? i : 0),
                               options.columns > 1 ? 1 : count, "cycles", 1, i, &error),
             &error);
    good(profile_table_finish(table, top, &error), &error);
    return table;
}

static void is_row(const struct profile_table *table, size_t index, const char *name,
                   const char *image, double value) {
    char text[256];
    assert_true(index < profile_table_count(table));
    const struct profile_row *row = profile_table_row(table, index);
    profile_row_name(row, text, sizeof text);
    assert_string_equal(text, name);
    assert_string_equal(row->image, image);
    if (fabs(row->values[0] - value) > 1e-9)
        fail_msg("%s has %f, not %f", name, row->values[0], value);
}

static const char *const AB[] = {"a", "b", NULL};

static void procedures_are_summed(void **state) {
    struct fixture *fixture = *state;
    int64_t session = add_session(fixture, 1, "samples");
    int64_t image = add_image(fixture, "/lib/m.ko", 1, AB);
    add_value(fixture, session, "x", image, 0, 3);
    add_value(fixture, session, "x", image, 15, 4);   /* the last byte of a */
    add_value(fixture, session, "y", image, 16, 5);   /* the first of b */
    add_value(fixture, session, "x", image, 32, 1);   /* behind both */
    add_value(fixture, session, "y", image, 1000, 1); /* likewise */
    struct profile_table *table =
        table_of(fixture, (struct profile_table_options){.columns = 1}, &session, 1, 0);
    assert_int_equal(profile_table_count(table), 3);
    assert_int_equal(profile_table_total(table), 3);
    is_row(table, 0, "a", "/lib/m.ko", 7);
    is_row(table, 1, "b", "/lib/m.ko", 5);
    is_row(table, 2, "[no symbols]", "/lib/m.ko", 2);
    assert_true(profile_table_sum(table, 0) == 14);
    profile_table_free(table);
    table = table_of(fixture, (struct profile_table_options){.columns = 1, .process = "y"},
                     &session, 1, 0);
    is_row(table, 0, "b", "/lib/m.ko", 5);
    is_row(table, 1, "[no symbols]", "/lib/m.ko", 1);
    profile_table_free(table);
    table =
        table_of(fixture, (struct profile_table_options){.by = PROFILE_BY_PROCESS, .columns = 1},
                 &session, 1, 0);
    is_row(table, 0, "x", "/bin/x", 8);
    is_row(table, 1, "y", "/bin/x", 6);
    profile_table_free(table);
}

/* A region that stands for 2.5 times itself, and one for itself. */
static void weights_are_applied(void **state) {
    struct fixture *fixture = *state;
    int64_t image = add_image(fixture, "/lib/m.ko", 1, AB), sessions[2];
    sessions[0] = add_session(fixture, 2.5, "samples");
    add_value(fixture, sessions[0], "x", image, 0, 4);
    sessions[1] = add_session(fixture, 1, "samples");
    add_value(fixture, sessions[1], "x", image, 4, 1);
    struct profile_table *table =
        table_of(fixture, (struct profile_table_options){.columns = 1}, sessions, 2, 0);
    is_row(table, 0, "a", "/lib/m.ko", 11);
    profile_table_free(table);
    table = table_of(fixture, (struct profile_table_options){.by = PROFILE_BY_EPOCH, .columns = 1},
                     sessions, 2, 0);
    assert_true(profile_table_row(table, 0)->epoch == sessions[0]);
    assert_true(profile_table_row(table, 0)->values[0] == 10);
    profile_table_free(table);
}

/* Rebuilt and installed elsewhere: b has moved to where a was, c is new. */
static void builds_compare_by_name(void **state) {
    struct fixture *fixture = *state;
    int64_t old = add_image(fixture, "/old/m.ko", 1, AB), sessions[2];
    int64_t new = add_image(fixture, "/new/m.ko", 2, (const char *const[]){"b", "c", "a", NULL});
    sessions[0] = add_session(fixture, 1, "samples");
    add_value(fixture, sessions[0], "x", old, 0, 9);  /* a */
    add_value(fixture, sessions[0], "x", old, 16, 5); /* b */
    sessions[1] = add_session(fixture, 1, "samples");
    add_value(fixture, sessions[1], "x", new, 0, 7);  /* b */
    add_value(fixture, sessions[1], "x", new, 16, 1); /* c */
    add_value(fixture, sessions[1], "x", new, 32, 2); /* a */
    struct profile_table *table = table_of(
        fixture, (struct profile_table_options){.columns = 2, .base_names = true}, sessions, 2, 0);
    assert_int_equal(profile_table_count(table), 3);
    is_row(table, 0, "a", "/old/m.ko", 9);
    assert_true(profile_table_row(table, 0)->values[1] == 2);
    is_row(table, 1, "b", "/old/m.ko", 5);
    assert_true(profile_table_row(table, 1)->values[1] == 7);
    is_row(table, 2, "c", "/old/m.ko", 0);
    assert_true(profile_table_row(table, 2)->values[1] == 1);
    profile_table_free(table);
}

/* However few rows are asked for, they are the first of all rows. */
static void first_rows_are_the_same(void **state) {
    struct fixture *fixture = *state;
    int64_t session = add_session(fixture, 1, "samples");
    uint32_t random = 1;
    for (uint8_t i = 0; i < 40; i++) {
        char path[32];
        snprintf(path, sizeof path, "/lib/%d.ko", i);
        int64_t image = add_image(fixture, path, i, AB);
        for (int k = 0; k < 4; k++) {
            random = random * 1664525 + 1013904223;
            add_value(fixture, session, "x", image, random >> 8 & 31, 1 + (random >> 16) % 1000);
        }
    }
    const struct profile_table_options options = {.columns = 1};
    struct profile_table *all = table_of(fixture, options, &session, 1, 0);
    for (size_t top = 1; top < profile_table_count(all); top += 7) {
        struct profile_table *few = table_of(fixture, options, &session, 1, top);
        assert_int_equal(profile_table_count(few), top);
        for (size_t i = 0; i < top; i++) {
            const struct profile_row *row = profile_table_row(all, i);
            is_row(few, i, row->procedure, row->image, row->values[0]);
        }
        profile_table_free(few);
    }
    profile_table_free(all);
}

/* Samples and cycles under one name do not add. */
static void units_must_agree(void **state) {
    struct fixture *fixture = *state;
    struct error error;
    int64_t sessions[] = {add_session(fixture, 1, "samples"),
                          add_session(fixture, 1, "1/840 cycles")};
    struct profile_set set;
    assert_false(profile_set_read(&set, fixture->store, sessions, 2, false, &error));
    assert_non_null(strstr(error.message, "do not add"));
    profile_set_free(&set);
    good(profile_set_read(&set, fixture->store, sessions + 1, 1, false, &error), &error);
    assert_string_equal(set.events[0].unit, "cycles");
    assert_true(set.events[0].scale == 1.0 / 840);
    assert_true(set.seconds == 2);
    assert_null(profile_set_event(&set, "imiss", &error));
    profile_set_free(&set);
}

static int64_t add_host(struct fixture *fixture, const char *host, int64_t start, const char *unit,
                        int64_t image, uint64_t value) {
    const struct store_session session = {
        .name = "test", .host = host, .weight = 1, .start = start, .end = start + 1};
    const struct store_event event = {
        .name = "cycles", .unit = unit, .period = 1000, .period_unit = "cycles"};
    struct error error;
    int64_t id;
    good(store_add_session(fixture->store, &session, &id, &error), &error);
    good(store_add_event(fixture->store, id, &event, &fixture->event, &error), &error);
    add_value(fixture, id, "x", image, 0, value);
    return id;
}

/* Of several hosts the unit of most stays, though others come first, and one has both. */
static void units_of_hosts(void **state) {
    struct fixture *fixture = *state;
    struct error error;
    const int64_t image = add_image(fixture, "/bin/x", 1, (const char *const[]){"a", NULL});
    const int64_t sessions[] = {
        add_host(fixture, "odd", 1, "1/840 cycles", image, 840),
        add_host(fixture, "one", 2, "samples", image, 10),
        add_host(fixture, "two", 3, "samples", image, 20),
        add_host(fixture, "odd", 4, "1/840 cycles", image, 840),
        add_host(fixture, "odd", 5, "1/840 cycles", image, 840),
        add_host(fixture, "odd", 6, "samples", image, 3),
    };
    const struct profile_table_options by_procedure = {.columns = 1};
    struct profile_set set, part;
    good(profile_set_read(&set, fixture->store, sessions, 6, false, &error), &error);
    assert_int_equal(set.event_count, 1);
    assert_string_equal(set.events[0].unit, "samples");
    assert_int_equal(set.left_out_count, 1);
    assert_string_equal(set.unlike[0].unit, "cycles");
    assert_string_equal(set.unlike[0].kept_unit, "samples");
    assert_int_equal(set.unlike[0].hosts, 1);
    assert_string_equal(set.unlike[0].named[0], "odd");
    assert_null(set.unlike[0].named[1]);
    struct program *program = program_new();
    struct profile_table *table = profile_table_new(&by_procedure, program);
    good(profile_table_add_set(table, &set, &set.events[0], 0, &error), &error);
    good(profile_table_finish(table, 0, &error), &error);
    assert_true(profile_table_sum(table, 0) == 33);
    assert_int_equal(profile_table_count(table), 1);
    assert_true(profile_table_row(table, 0)->values[0] == 33);
    profile_table_free(table);
    program_free(program);
    /* What the set has of the host, of which alone nothing would be left out. */
    assert_false(profile_set_read_part(&part, &set, sessions, 1, &error));
    assert_true(part.nothing);
    profile_set_free(&part);
    good(profile_set_read_part(&part, &set, (const int64_t[]){sessions[3], sessions[5]}, 2, &error),
         &error);
    assert_int_equal(part.event_count, 1);
    assert_string_equal(part.events[0].unit, "samples");
    profile_set_free(&part);
    profile_set_free(&set);
}

/* However long it took to make and to save. */
static void simulations_have_no_length(void **state) {
    struct fixture *fixture = *state;
    struct error error;
    int64_t id = add_session_of(fixture, SESSION_SIMULATED, 1, "1/840 cycles");
    struct profile_set set;
    good(profile_set_read(&set, fixture->store, &id, 1, false, &error), &error);
    assert_true(set.simulated && set.seconds == 0);
    profile_set_free(&set);
}

static void keys_keep_their_numbers(void **state) {
    (void)state;
    struct key_numbers index = {0};
    enum { KEYS = 5000 };
    for (int round = 0; round < 2; round++)
        for (uint32_t i = 0; i < KEYS; i++)
            assert_int_equal(key_numbers_add(&index, (uint64_t)i << 12 | (uint64_t)i << 40), i);
    assert_int_equal(index.count, KEYS);
    assert_true(index.keys[7] == (UINT64_C(7) << 12 | UINT64_C(7) << 40));
    key_numbers_free(&index);
    assert_int_equal(key_numbers_add(&index, 0), 0);
    key_numbers_free(&index);
}

/* The rate fell to a quarter within an epoch, and another was sampled at a half: 8 samples every
 * 1000 cycles, 2 every 4000, 6 every 2000 are 28000 cycles, in the mean every 1750. */
static void samples_count_by_their_periods(void **state) {
    struct fixture *fixture = *state;
    const struct store_event slower[] = {
        {.name = "cycles", .unit = "samples", .period = 4000, .period_unit = "cycles"},
        {.name = "cycles", .unit = "samples", .period = 2000, .period_unit = "cycles"}};
    int64_t image = add_image(fixture, "/lib/m.ko", 1, AB), sessions[2];
    struct error error;
    sessions[0] = add_session(fixture, 1, "samples");
    add_value(fixture, sessions[0], "x", image, 0, 8);
    good(store_add_event(fixture->store, sessions[0], &slower[0], &fixture->event, &error), &error);
    add_value(fixture, sessions[0], "x", image, 16, 2);
    sessions[1] = add_session(fixture, 1, "samples");
    good(store_add_event(fixture->store, sessions[1], &slower[1], &fixture->event, &error), &error);
    add_value(fixture, sessions[1], "x", image, 16, 6);
    struct profile_set set;
    good(profile_set_read(&set, fixture->store, sessions, 2, false, &error), &error);
    const struct profile_event *event = profile_set_event(&set, "cycles", &error);
    assert_true(event->periods_differ && event->mean == 1750);
    assert_int_equal(event->period, 1750);
    struct profile_table *table =
        profile_table_new(&(struct profile_table_options){.columns = 2}, fixture->program);
    good(profile_table_add_set(table, &set, event, 0, &error) &&
             profile_table_add_squares(table, &set, event, 1, &error) &&
             profile_table_finish(table, 0, &error),
         &error);
    is_row(table, 0, "b", "/lib/m.ko", 20000 / 1750.0);
    is_row(table, 1, "a", "/lib/m.ko", 8000 / 1750.0);
    assert_true(fabs(profile_table_sum(table, 0) - 16) < 1e-9); /* as many as there are */
    /* b: (2 × 4 + 6 × 2)² / (2 × 4² + 6 × 2²) = 400 / 56 = 7.1 of its 8 samples, where its value is
     * 11.4; a: 8 alike. */
    const double *b = profile_table_row(table, 0)->values, *a = profile_table_row(table, 1)->values;
    assert_true(fabs(b[0] * b[0] / b[1] - 400 / 56.0) < 1e-9);
    assert_true(fabs(a[0] * a[0] / a[1] - 8) < 1e-9);
    profile_table_free(table);
    profile_set_free(&set);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(procedures_are_summed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(weights_are_applied, set_up, tear_down),
        cmocka_unit_test_setup_teardown(builds_compare_by_name, set_up, tear_down),
        cmocka_unit_test_setup_teardown(first_rows_are_the_same, set_up, tear_down),
        cmocka_unit_test_setup_teardown(units_must_agree, set_up, tear_down),
        cmocka_unit_test_setup_teardown(units_of_hosts, set_up, tear_down),
        cmocka_unit_test_setup_teardown(simulations_have_no_length, set_up, tear_down),
        cmocka_unit_test_setup_teardown(samples_count_by_their_periods, set_up, tear_down),
        cmocka_unit_test(keys_keep_their_numbers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
