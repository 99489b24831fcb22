/* Live and simulated procedures side by side, from a store made by hand. Symbols come with the
 * images, so that no file is needed. */
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

#include "query/matched_profile.h"
#include "temporary.h"

enum { PROCEDURES = 4, LIVE, SIMULATED };
#define LIBC "/lib/libc.so.6"

struct fixture {
    char folder[TEMPORARY_BYTES], path[TEMPORARY_BYTES + 32];
    struct store *store;
    struct program *program;
};

static void good(bool succeeded, const struct error *error) {
    if (!succeeded)
        fail_msg("%s", error->message);
}

static int set_up(void **state) {
    struct fixture *fixture = calloc(1, sizeof *fixture);
    struct error error;
    if (!mkdtemp(temporary_name(fixture->folder, "matched")))
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

/* A session with these values of the procedures a, b and two variants of memmove, which are of 16
 * bytes each; 0: none. */
static int64_t add_session(struct fixture *fixture, int kind, const uint64_t values[PROCEDURES]) {
    static const char *const NAMES[PROCEDURES] = {"a", "b", "__memmove_avx_unaligned_erms",
                                                  "__memmove_evex_unaligned_erms"};
    const struct store_session session = {
        .kind = kind == LIVE ? SESSION_LIVE : SESSION_SIMULATED, .name = "x", .weight = 1};
    const struct store_event event = {.name = kind == LIVE ? "cpu-clock" : "cycles",
                                      .unit = kind == LIVE ? "samples" : "1/840 cycles"};
    const struct store_process process = {.command = "x", .executable = "/bin/x"};
    const struct store_image image = {
        .kind = IMAGE_MODULE, .path = LIBC, .build_id = {1}, .build_id_size = 20, .root = ""};
    struct code_symbol symbols[PROCEDURES];
    struct store_value stored[PROCEDURES];
    struct error error;
    int64_t id, event_id, process_id, image_id;
    size_t count = 0;
    for (size_t i = 0; i < PROCEDURES; i++) {
        symbols[i] = (struct code_symbol){16 * i, 16, NAMES[i]};
        if (values[i])
            stored[count++] =
                (struct store_value){16 * i + 4, 0, values[i] * (kind == LIVE ? 1 : 840)};
    }
    good(store_add_session(fixture->store, &session, &id, &error), &error);
    good(store_add_event(fixture->store, id, &event, &event_id, &error), &error);
    good(store_process(fixture->store, id, &process, &process_id, &error), &error);
    good(store_image(fixture->store, &image, &image_id, &error), &error);
    good(store_set_symbols(fixture->store, image_id, symbols, PROCEDURES, &error), &error);
    good(
        store_add_values(fixture->store, id, process_id, image_id, event_id, stored, count, &error),
        &error);
    return id;
}

static void is_row(const struct matched_procedure *row, const char *name, double samples,
                   double measured, double predicted) {
    assert_string_equal(row->name, name);
    assert_string_equal(row->image, LIBC);
    assert_true(row->samples == samples);
    if (fabs(row->measured - measured) > 1e-9 || fabs(row->predicted - predicted) > 1e-9)
        fail_msg("%s: %f and %f", name, row->measured, row->predicted);
}

/* Two runs have 10 samples in all, of 1000 cycles: 100 a sample. Variants of memmove are one
 * procedure: 3 samples here, 450 cycles there. */
static void samples_share_the_measured_cycles(void **state) {
    struct fixture *fixture = *state;
    const int64_t live[] = {
        add_session(fixture, LIVE, (uint64_t[PROCEDURES]){4, 1, 0, 2}),
        add_session(fixture, LIVE, (uint64_t[PROCEDURES]){2, 0, 0, 1}),
    };
    const int64_t simulated =
        add_session(fixture, SIMULATED, (uint64_t[PROCEDURES]){350, 90, 450, 0});
    struct matched_profile profile;
    struct error error;
    good(matched_profile_read(&profile, fixture->store, live, 2, 1000, simulated, fixture->program,
                              &error),
         &error);
    assert_int_equal(profile.count, 3);
    is_row(&profile.rows[0], "a", 6, 600, 350);
    is_row(&profile.rows[1], "memmove (any variant)", 3, 300, 450);
    is_row(&profile.rows[2], "b", 1, 100, 90);
    assert_true(profile.samples == 10 && profile.measured == 1000);
    assert_true(fabs(profile.predicted - 890) < 1e-9);
    assert_int_equal(profile.variants, 1);
    /* Ranks of a, memmove, b: 3 2 1 and 2 3 1: 1 − 6 × 2 / (3 × 8) = 0.5. */
    assert_int_equal(profile.ranked, 3);
    assert_true(fabs(profile.rank_correlation - 0.5) < 1e-12);
    /* Of the two runs 4 2 1 and 2 1 0: the same order. */
    assert_true(profile.rows[0].halves[0] == 4 && profile.rows[0].halves[1] == 2);
    assert_true(fabs(profile.rank_repeats - 1) < 1e-12);
    matched_profile_free(&profile);
}

/* Three runs: two against one, of which a, b and memmove have 5 2 3 and 1 4 2 samples: ranks 3 1 2
 * and 1 3 2, 1 − 6 × 8 / (3 × 8) = −1. */
static void half_the_runs_rank_otherwise(void **state) {
    struct fixture *fixture = *state;
    const int64_t live[] = {
        add_session(fixture, LIVE, (uint64_t[PROCEDURES]){4, 0, 3, 0}),
        add_session(fixture, LIVE, (uint64_t[PROCEDURES]){1, 2, 0, 0}),
        add_session(fixture, LIVE, (uint64_t[PROCEDURES]){1, 4, 0, 2}),
    };
    const int64_t simulated = add_session(fixture, SIMULATED, (uint64_t[PROCEDURES]){3, 2, 1, 0});
    struct matched_profile profile;
    struct error error;
    good(matched_profile_read(&profile, fixture->store, live, 3, 100, simulated, fixture->program,
                              &error),
         &error);
    assert_true(profile.samples == 17);
    assert_true(fabs(profile.rank_repeats + 1) < 1e-12);
    matched_profile_free(&profile);
}

/* What was only simulated has a row, but no place among the hottest. */
static void procedures_of_one_side_stay(void **state) {
    struct fixture *fixture = *state;
    const int64_t live = add_session(fixture, LIVE, (uint64_t[PROCEDURES]){8, 2, 0, 0});
    const int64_t simulated = add_session(fixture, SIMULATED, (uint64_t[PROCEDURES]){70, 0, 5, 0});
    struct matched_profile profile;
    struct error error;
    good(matched_profile_read(&profile, fixture->store, &live, 1, 100, simulated, fixture->program,
                              &error),
         &error);
    assert_int_equal(profile.count, 3);
    is_row(&profile.rows[0], "b", 2, 20, 0);
    is_row(&profile.rows[1], "a", 8, 80, 70);
    is_row(&profile.rows[2], "memmove (any variant)", 0, 0, 5);
    assert_int_equal(profile.ranked, 2);
    assert_true(isnan(profile.rank_correlation) && isnan(profile.rank_repeats));
    matched_profile_free(&profile);
}

/* Three procedures of 2 samples each: measured alike, in whichever order they are predicted. */
static void equal_shares_have_no_order(void **state) {
    struct fixture *fixture = *state;
    const int64_t live = add_session(fixture, LIVE, (uint64_t[PROCEDURES]){2, 2, 2, 0});
    const int64_t simulated = add_session(fixture, SIMULATED, (uint64_t[PROCEDURES]){3, 2, 1, 0});
    struct matched_profile profile;
    struct error error;
    good(matched_profile_read(&profile, fixture->store, &live, 1, 100, simulated, fixture->program,
                              &error),
         &error);
    assert_int_equal(profile.ranked, 3);
    assert_true(isnan(profile.rank_correlation));
    assert_true(profile.equally_measured && !profile.equally_predicted);
    matched_profile_free(&profile);
}

static void family_is(const char *image, const char *procedure, const char *expected) {
    char family[32] = "";
    assert_int_equal(procedure_family(image, procedure, family, sizeof family), expected != NULL);
    if (expected)
        assert_string_equal(family, expected);
}

static void variants_are_of_the_c_library(void **state) {
    (void)state;
    family_is(LIBC, "__memmove_avx512_unaligned_erms", "memmove");
    family_is(LIBC, "__memset_erms", "memset");
    family_is(LIBC, "__strcasecmp_l_avx2", "strcasecmp_l");
    family_is("/lib/x86_64-linux-gnu/libm.so.6", "__sin_fma", "sin");
    family_is("/lib/libm-2.31.so", "__ieee754_exp_avx", "ieee754_exp");
    family_is(LIBC, "malloc", NULL);
    family_is(LIBC, "_avx2", NULL);
    family_is(LIBC, NULL, NULL);
    family_is("/usr/bin/x264", "__pixel_sad_avx2", NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(samples_share_the_measured_cycles, set_up, tear_down),
        cmocka_unit_test_setup_teardown(half_the_runs_rank_otherwise, set_up, tear_down),
        cmocka_unit_test_setup_teardown(procedures_of_one_side_stay, set_up, tear_down),
        cmocka_unit_test_setup_teardown(equal_shares_have_no_order, set_up, tear_down),
        cmocka_unit_test(variants_are_of_the_c_library),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
