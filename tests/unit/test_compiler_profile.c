/* Profiles for compilers of a program written by hand (tests/guests/compiled.S), live: `_start`
 * calls `work` 3 times, whose loop goes round 5 times. So much of it was executed:
 *
 *     work 0, 2: 3    7 to 10: 3 × 5 = 15    12, 14: 3    16: never    18: 3
 *     _start 0: 1    5, a, c: 3    e, 13, 15: 1
 *
 * The loop's branch at 10 was taken 3 × 4 = 12 times and not taken 3 times; that at 14 always; that
 * of _start at c twice of 3 times. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "exchange/compiler_profile.h"
#include "region/executions.h"
#include "temporary.h"

static char folder[TEMPORARY_BYTES], guest[TEMPORARY_BYTES + 16];
static struct executions executions;
static struct executed_list insns, edges;
static struct error error;

static int count(void **state) {
    (void)state;
    char command[512];
    int status;
    if (!mkdtemp(temporary_name(folder, "compiler-profile")))
        return -1;
    snprintf(guest, sizeof guest, "%s/compiled", folder);
    snprintf(command, sizeof command,
             "cc -o %s tests/guests/compiled.S -static -nostdlib -no-pie -Wl,-Ttext=0x401000",
             guest);
    if (system(command) != 0)
        return -1;
    const struct capture_options capture = {.command = (char *[]){guest, NULL}, .thread = -1};
    const struct executions_options options = {.capture = &capture};
    if (!executions_count(&options, &executions, &status, &error) ||
        !execution_list_insns(&executions.counts, &executions.code, &insns) ||
        !execution_list_edges(&executions.counts, &executions.code, &edges)) {
        fprintf(stderr, "%s\n", error.message);
        return -1;
    }
    return 0;
}

static int clean_up(void **state) {
    (void)state;
    char command[256];
    free(insns.items);
    free(edges.items);
    executions_free(&executions);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

static void check(enum compiler_format format, uint64_t functions, const char *expected) {
    char *text;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    struct program *program = program_new();
    struct compiler_profile profile = {.program = program,
                                       .image = program_add_image(program, guest, NULL, 0),
                                       .insns = &insns,
                                       .edges = &edges,
                                       .file = file};
    if (!compiler_profile_write(&profile, format, &error))
        fail_msg("%s", error.message);
    fclose(file);
    assert_string_equal(text, expected);
    assert_int_equal(profile.functions, functions);
    program_free(program);
    free(text);
}

/* Lines behind the declarations in lines 10, 20 and 3. Of line 12 of `work` the call of `square`,
 * in its block 2, is told as what is inlined, and block 2 itself counts 4 copies: 15 × 4. Line 15,
 * which was not reached, has 0. In all, of `work` 3 + 3 + 15 + 60 + 15 + 3 + 0 + 3 = 102, with the
 * 15 of `square` 117; of `_start` 1 + 3 + 3 + 1 = 8. */
static void autofdo(void **state) {
    (void)state;
    check(COMPILER_AUTOFDO, 2,
          "work:90:3\n"
          " 0: 3\n"
          " 1: 3\n"
          " 2: 15\n"
          " 2.2: 60\n"
          " 3: 15\n"
          " 4: 3\n"
          " 5: 0\n"
          " 6: 3\n"
          " 2.2: square:15\n"
          "  1: 15\n"
          "_start:13:0\n"
          " 0: 1\n"
          " 1: 3 work:3\n"
          " 2: 3\n"
          " 3: 1\n");
}

/* Branches by where they are; a local symbol with its file and number. */
static void bolt(void **state) {
    (void)state;
    check(COMPILER_BOLT, 2,
          "1 work/compiled.c/1 10 1 work/compiled.c/1 7 0 12\n"
          "1 work/compiled.c/1 10 1 work/compiled.c/1 12 0 3\n"
          "1 work/compiled.c/1 14 1 work/compiled.c/1 18 0 3\n"
          "1 _start 5 1 work/compiled.c/1 0 0 3\n"
          "1 _start c 1 _start 5 0 2\n"
          "1 _start c 1 _start e 0 1\n");
}

/* `_start` begins at 401000 + 19. Ranges are as long as counts are the same; the return leads
 * behind the call. */
static void ranges(void **state) {
    (void)state;
    check(COMPILER_RANGES, 0,
          "7\n"
          "401000-401002:3\n"
          "401007-401010:15\n"
          "401012-401014:3\n"
          "401018-401018:3\n"
          "401019-401019:1\n"
          "40101e-401025:3\n"
          "401027-40102e:1\n"
          "0\n"
          "5\n"
          "401010->401007:12\n"
          "401014->401018:3\n"
          "401018->401023:3\n"
          "40101e->401000:3\n"
          "401025->40101e:2\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(autofdo),
        cmocka_unit_test(bolt),
        cmocka_unit_test(ranges),
    };
    return cmocka_run_group_tests(tests, count, clean_up);
}
