/* Addresses of stores: which they are, and that no password is shown. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "store/address.h"
#include "store/store.h"

static void knows_addresses(void **state) {
    (void)state;
    assert_true(store_is_address("postgresql://db/culprit"));
    assert_true(store_is_address("postgres://"));
    assert_false(store_is_address("postgresql:/db"));
    assert_false(store_is_address("./postgresql://db"));
    assert_false(store_is_address("profiles.db"));
}

static void shows_no_password(void **state) {
    (void)state;
    static const struct {
        const char *given, *shown;
    } CASES[] = {
        {"profiles.db", "profiles.db"},
        {"/tmp/a:b@c?password=d", "/tmp/a:b@c?password=d"}, /* a file is what it is */
        {"postgresql://db/culprit", "postgresql://db/culprit"},
        {"postgresql://ann@db:5433/culprit", "postgresql://ann@db:5433/culprit"},
        {"postgresql://ann:secret@db/culprit", "postgresql://ann@db/culprit"},
        {"postgresql://ann:sec@ret@db/culprit", "postgresql://ann@db/culprit"},
        {"postgresql://ann:se/cret@db/culprit", "postgresql://ann@db/culprit"},
        {"postgresql://ann:se?cret@db/culprit", "postgresql://ann@db/culprit"},
        {"postgresql://:secret@/culprit?host=/run", "postgresql://@/culprit?host=/run"},
        {"postgresql://db/culprit?password=secret", "postgresql://db/culprit"},
        {"postgresql://db/culprit?password=secret&sslmode=require",
         "postgresql://db/culprit?sslmode=require"},
        {"postgresql://db/culprit?user=ann&password=secret&sslmode=require",
         "postgresql://db/culprit?user=ann&sslmode=require"},
        {"postgresql://db/culprit?sslpassword=secret&user=ann", "postgresql://db/culprit?user=ann"},
        {"postgresql://db/culprit?%70assword=secret", "postgresql://db/culprit"},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        char shown[PATH_MAX];
        assert_string_equal(store_shown_address(CASES[i].given, shown), CASES[i].shown);
    }
}

/* Nothing of an address that libpq cannot read is quoted but what may be shown. */
static void no_error_has_a_password(void **state) {
    (void)state;
    static const char *const ADDRESSES[] = {"postgresql://ann:secret%zz@db/culprit",
                                            "postgresql://ann:secret@db:port/culprit",
                                            "postgresql://ann:p@secret.invalid@/culprit",
                                            "postgresql://ann:sec/ret@/culprit?host=/nowhere",
                                            "postgresql://ann:secret@/culprit?host=/nowhere",
                                            "postgresql://db/?host=/nowhere&password=secret%zz"};
    for (size_t i = 0; i < sizeof ADDRESSES / sizeof *ADDRESSES; i++) {
        struct error error;
        assert_null(store_open(ADDRESSES[i], STORE_READ, &error));
        assert_null(strstr(error.message, "sec"));
        assert_non_null(strstr(error.message, "postgresql://"));
    }
}

static void other_addresses_are_no_files(void **state) {
    (void)state;
    static const char *const OTHERS[] = {"http://ann:secret@db/", "POSTGRESQL://ann:secret@db",
                                         "postgresql:/ann:secret@db", "postgres:secret"};
    for (size_t i = 0; i < sizeof OTHERS / sizeof *OTHERS; i++) {
        struct error error;
        assert_null(store_open(OTHERS[i], STORE_WRITE, &error));
        assert_non_null(strstr(error.message, "a store is a file, or an address"));
        assert_null(strstr(error.message, "secret"));
    }
    assert_int_equal(store_other_scheme("postgresql://db/culprit"), 0);
    assert_int_equal(store_other_scheme("./http://x"), 0);
    assert_int_equal(store_other_scheme("a:b.db"), 0);
    assert_int_equal(store_other_scheme("postgres.db"), 0);
}

/* As long as a path may be. */
static void long_addresses_are_cut(void **state) {
    (void)state;
    static char given[3 * PATH_MAX] = "postgresql://ann:secret@db/";
    char shown[PATH_MAX];
    memset(given + strlen(given), 'x', 2 * PATH_MAX);
    assert_int_equal(strlen(store_shown_address(given, shown)), PATH_MAX - 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(knows_addresses), cmocka_unit_test(shows_no_password),
        cmocka_unit_test(no_error_has_a_password), cmocka_unit_test(other_addresses_are_no_files),
        cmocka_unit_test(long_addresses_are_cut)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
