/* The environment of a repeatable run: the same variables whatever the caller's are, those asked
 * for, and as many bytes whatever the program's path and arguments are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "trace/qemu/fixed_environment.h"

static size_t bytes_of(const char *program, char *const *arguments, char *const *environment) {
    size_t bytes = strlen(program) + 1;
    for (; *arguments; arguments++)
        bytes += strlen(*arguments) + 1 + sizeof(char *);
    for (; *environment; environment++)
        bytes += strlen(*environment) + 1 + sizeof(char *);
    return bytes;
}

static void fills_whole_pages(void **state) {
    (void)state;
    char argument[9000], *arguments[] = {"a", argument, NULL};
    memset(argument, 'x', sizeof argument);
    for (size_t length = 0; length < sizeof argument; length += 7) {
        argument[length] = 0;
        char **environment = fixed_environment("./a", arguments, NULL, 0);
        assert_non_null(environment);
        assert_int_equal(bytes_of("./a", arguments, environment) % 4096, 0);
        fixed_environment_free(environment);
        argument[length] = 'x';
    }
}

static bool has(char *const *environment, const char *variable) {
    while (*environment && strcmp(*environment, variable) != 0)
        environment++;
    return *environment != NULL;
}

static void has_what_is_asked_for(void **state) {
    (void)state;
    char *arguments[] = {"a", NULL};
    const char *wanted[] = {"GIVEN=1", "HERE", "NOWHERE", "HOME=/home/me", "GIVEN=2"};
    setenv("HERE", "x=y", 1);
    setenv("OTHER", "z", 1);
    unsetenv("NOWHERE");
    char **environment = fixed_environment("a", arguments, wanted, 5);
    assert_non_null(environment);
    assert_true(has(environment, "GIVEN=2"));
    assert_false(has(environment, "GIVEN=1"));
    assert_true(has(environment, "HERE=x=y"));
    assert_true(has(environment, "HOME=/home/me"));
    assert_false(has(environment, "HOME=/"));
    assert_true(has(environment, "TZ=UTC"));
    assert_false(has(environment, "OTHER=z"));
    assert_false(has(environment, "NOWHERE"));
    fixed_environment_free(environment);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fills_whole_pages),
        cmocka_unit_test(has_what_is_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
