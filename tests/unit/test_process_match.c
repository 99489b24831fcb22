/* Processes of one run are matched with those of another: by what they execute and who forked them,
 * not by the order in which they start. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "trace/process_match.h"

enum { NONE = UINT32_MAX };

/* sh -c 'head | gzip | gzip': the shell, its three forks, and what these execute. */
static const struct capture_process LIST[] = {
    {"/bin/sh", "sh -c x", NONE, 0, 0},  {"/bin/sh", "sh -c x", 0, 0, 0},
    {"/bin/sh", "sh -c x", 0, 1, 0},     {"/bin/sh", "sh -c x", 0, 2, 0},
    {"/bin/head", "head -c 5", 0, 0, 1}, {"/bin/gzip", "gzip", 0, 1, 1},
    {"/bin/gzip", "gzip", 0, 2, 1},
};

struct come {
    uint32_t forker, fork, generation;
    const char *executable, *command;
    uint32_t expected;
};

static void match(const struct capture_process *list, size_t list_count, const struct come *come,
                  size_t count) {
    struct process_match match;
    assert_true(process_match_init(&match, list, list_count));
    for (uint32_t i = 0; i < count; i++) {
        const struct item_process process = {.process = i,
                                             .forker = come[i].forker,
                                             .fork = come[i].fork,
                                             .generation = come[i].generation,
                                             .executable = come[i].executable,
                                             .command = come[i].command,
                                             .traced = true};
        assert_int_equal(process_match_add(&match, &process), come[i].expected);
    }
    process_match_free(&match);
}

#define SH       "/bin/sh", "sh -c x"
#define GZIP     "/bin/gzip", "gzip"
#define COUNT(a) (sizeof(a) / sizeof *(a))

static void another_order(void **state) {
    (void)state;
    const struct come come[] = {
        {NONE, 0, 0, SH, 0}, {0, 2, 0, SH, 3}, {0, 0, 0, SH, 1},
        {0, 2, 1, GZIP, 6},  {0, 1, 0, SH, 2}, {0, 0, 1, "/bin/head", "head -c 5", 4},
        {0, 1, 1, GZIP, 5},
    };
    match(LIST, COUNT(LIST), come, COUNT(come));
}

/* A shell that forked once more before: what is alike keeps its order. */
static void another_order_of_forks(void **state) {
    (void)state;
    const struct come come[] = {
        {NONE, 0, 0, SH, 0}, {0, 0, 1, "/bin/ls", "ls", NONE},       {0, 3, 1, GZIP, 5},
        {0, 2, 1, GZIP, 6},  {0, 1, 1, "/bin/head", "head -c 5", 4},
    };
    match(LIST, COUNT(LIST), come, COUNT(come));
}

static void strangers(void **state) {
    (void)state;
    const struct come come[] = {
        {NONE, 0, 0, "/bin/sh", "sh -c y", 0}, /* other arguments */
        {0, 0, 0, "/bin/sh", "sh -c y", 1},
        {1, 0, 1, GZIP, NONE},                    /* of another forker */
        {0, 1, 2, GZIP, NONE},                    /* after another exec */
        {0, 0, 1, "/bin/gzip", "gzip -9", NONE},  /* another fork */
        {0, 2, 1, "/bin/gzip", "gzip /tmp/1", 6}, /* the same, of a temporary file */
        {0, 0, 1, "/bin/head", "head -c 5", 4},
        {0, 0, 1, "/bin/head", "head -c 5", NONE}, /* one too many */
    };
    match(LIST, COUNT(LIST), come, COUNT(come));
}

/* The file of the list has '?' in place of line ends. */
static void line_ends(void **state) {
    (void)state;
    const struct capture_process list[] = {{"/bin/sh", "sh -c a?b", NONE, 0, 0}};
    const struct come come[] = {{NONE, 0, 0, "/bin/sh", "sh -c a\nb", 0}};
    match(list, 1, come, 1);
}

/* A list of an earlier version has the words as they are, joined: what has the same command is
 * preferred to an earlier fork that executes the same file. */
static void joined_words(void **state) {
    (void)state;
    const struct capture_process list[] = {
        {"/bin/sh", "sh -c x", NONE, 0, 0},
        {"/bin/awk", "awk {print $1}", 0, 0, 1},
        {"/bin/awk", "awk {print $2}", 0, 1, 1},
    };
    const struct come come[] = {
        {NONE, 0, 0, SH, 0},
        {0, 0, 1, "/bin/awk", "awk '{print $2}'", 2},
        {0, 1, 1, "/bin/awk", "awk '{print $1}'", 1},
    };
    match(list, COUNT(list), come, COUNT(come));
}

static void without_a_list(void **state) {
    (void)state;
    const struct come come[] = {{NONE, 0, 0, SH, 0}, {0, 0, 0, SH, 1}, {0, 0, 1, GZIP, 2}};
    match(NULL, 0, come, COUNT(come));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(another_order), cmocka_unit_test(another_order_of_forks),
        cmocka_unit_test(strangers),     cmocka_unit_test(line_ends),
        cmocka_unit_test(joined_words),  cmocka_unit_test(without_a_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
