/* The command that links a program under a layout: what it writes, and the order of its objects. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "study/relinked.h"

static void as_typed_under_layout_0(void **state) {
    (void)state;
    static const char *const WANTED[] = {"cc", "-o", "/t/p", "a.o", "-Wl,-seed=0", "b.o", "-lm"};
    char **words = relinking_words("cc -o {} a.o -Wl,-seed={n} b.o  -lm", "/t/p", 0);
    assert_non_null(words);
    for (size_t i = 0; i < 7; i++)
        assert_string_equal(words[i], WANTED[i]);
    assert_null(words[7]);
    relinking_free_words(words);
}

/* What is no object stays in its place; of three objects all six orders come, each the same every
 * time. */
static void objects_in_every_order(void **state) {
    (void)state;
    unsigned seen = 0;
    for (uint32_t layout = 1; layout < 40; layout++) {
        char **words = relinking_words("cc a.o -x b.o c.o .o -o {}", "p", layout);
        char **again = relinking_words("cc a.o -x b.o c.o .o -o {}", "p", layout);
        assert_string_equal(words[2], "-x");
        assert_string_equal(words[5], ".o");
        assert_string_equal(words[7], "p");
        const int first = words[1][0] - 'a', second = words[3][0] - 'a';
        assert_int_equal(first + second + words[4][0] - 'a', 3);
        assert_true(first != second);
        seen |= 1u << (3 * first + second);
        for (size_t i = 0; words[i]; i++)
            assert_string_equal(words[i], again[i]);
        relinking_free_words(words);
        relinking_free_words(again);
    }
    assert_int_equal(__builtin_popcount(seen), 6);
}

static void what_goes_wrong_is_told(void **state) {
    (void)state;
    struct error error;
    struct watch watch = {0};
    assert_false(relinked("/nowhere/cc -o {}", "/tmp/p", 1, &watch, &error));
    assert_non_null(strstr(error.message, "cannot run"));
    assert_false(relinked("false {}", "/tmp/p", 3, &watch, &error));
    assert_non_null(strstr(error.message, "under layout 3"));
    assert_false(relinked("true {}", "/nowhere/p", 3, &watch, &error));
    assert_non_null(strstr(error.message, "has not written"));
    assert_false(relinked("   ", "/tmp/p", 1, &watch, &error));
    assert_non_null(strstr(error.message, "no command"));
}

/* A shell waits for what it has started, for which it needs SIGCHLD; interrupted, both end. */
static void takes_signals(void **state) {
    (void)state;
    char folder[] = "/tmp/relinked-XXXXXX", script[64], program[64], command[128];
    assert_non_null(mkdtemp(folder));
    snprintf(script, sizeof script, "%s/link", folder);
    snprintf(program, sizeof program, "%s/program", folder);
    FILE *file = fopen(script, "w");
    assert_non_null(file);
    fputs("#!/bin/sh\nsleep $2 & wait\ncp $0 $1\n", file);
    fchmod(fileno(file), 0700);
    fclose(file);
    struct error error;
    struct watch watch = {0};
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    snprintf(command, sizeof command, "%s {} 0.05", script);
    assert_true(relinked(command, program, 0, &watch, &error));
    snprintf(command, sizeof command, "%s {} 1000", script);
    watch.signal = SIGINT;
    assert_false(relinked(command, program, 0, &watch, &error));
    assert_non_null(strstr(error.message, "was interrupted"));
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    unlink(program);
    unlink(script);
    rmdir(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_typed_under_layout_0), cmocka_unit_test(objects_in_every_order),
        cmocka_unit_test(what_goes_wrong_is_told), cmocka_unit_test(takes_signals)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
