/* Baselines: what is kept of a run, how a later one differs from it, and files that are none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "attribute/attribute.h"
#include "attribute/component.h"
#include "query/compared_summary.h"
#include "report/baseline.h"
#include "report/baseline_fits.h"
#include "temporary.h"

static struct error error;
static char path[TEMPORARY_BYTES + 32];

#define GOOD(call)                                                                                 \
    do                                                                                             \
        if (!(call))                                                                               \
            fail_msg("%s", error.message);                                                         \
    while (0)

static char folder[TEMPORARY_BYTES];

static int set_up(void **state) {
    (void)state;
    if (!mkdtemp(temporary_name(folder, "baseline")))
        return -1;
    snprintf(path, sizeof path, "%s/perf.baseline", folder);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    unlink(path);
    return rmdir(folder); /* fails if anything else was left there */
}

static void add(struct compared_run *run, const char *function, uint32_t line, uint64_t offset,
                const char *text, uint64_t execute, uint64_t miss) {
    struct compared_place place = {.image = "prog",
                                   .function = function,
                                   .file = line ? "prog.c" : NULL,
                                   .line = line,
                                   .text = text,
                                   .offset = offset,
                                   .cost = {.units = execute + miss, .executions = 1}};
    place.cost.causes[COMPONENT_EXECUTE] = execute;
    place.cost.causes[COMPONENT_L1_MISS] = miss;
    assert_true(compared_run_add(run, &place, &error));
}

/* work() has 900 units in three lines, step() 90 without lines, once() 10. */
static void fill(struct compared_run *run, uint64_t miss) {
    run->title = "prog";
    run->machine = "zen4";
    add(run, "work", 10, 0x10, "push rbp", 20, 0);
    add(run, "work", 12, 0x13, "mov rax, qword ptr [rdi]", 440, 440 + miss);
    add(run, "work", 12, 0x17, "add rax, 1", 0, 0);
    add(run, "step", 0, 0x30, "inc ecx", 50, 0);
    add(run, "step", 0, 0x34, "jnz 0x30", 40, 0);
    add(run, "once", 20, 0x40, "ret", 10, 0);
    assert_true(compared_run_add_library(run, "libc.so.6", 0x0123456789abcdef, &error));
    run->elapsed = (run->all.units + CYCLE_UNITS - 1) / CYCLE_UNITS;
}

static const char *const NO_OPTIONS[] = {NULL};

static uint64_t LAYOUTS[] = {2, 0, 7};

static char *entry_text(const char *name, struct compared_run *run) {
    static const char *WORDS[] = {"./prog", "a\tb\\", NULL};
    const struct baseline_entry entry = {.name = name,
                                         .words = WORDS,
                                         .setting = {"0.1 model 0", "zen4 0", NO_OPTIONS},
                                         .layouts = LAYOUTS,
                                         .layout_count = 3};
    char *text = baseline_entry_text(&entry, run, &error);
    if (!text)
        fail_msg("%s", error.message);
    return text;
}

static void put(const char *name, uint64_t miss) {
    struct compared_run run = {0};
    fill(&run, miss);
    char *text = entry_text(name, &run);
    GOOD(baseline_put(path, &name, &text, 1, &error));
    free(text);
    compared_run_free(&run);
}

/* ---- what is kept ---- */

/* Two of three functions, one of the four lines that these have. Rests: of work() 20 units, whose
 * costliest line has 20; of step() all 90, the costliest instruction 50; 10 of others. */
static void the_costliest_are_kept(void **state) {
    (void)state;
    struct compared_run run = {0}, kept = {0};
    const struct compared_limits limits = {.functions = 2, .lines = 1};
    fill(&run, 0);
    GOOD(compared_summary_make(&run, &limits, &kept, &error));
    assert_int_equal(kept.all.units, 1000);
    assert_int_equal(kept.all.executions, 6);
    assert_int_equal(kept.most_left_out, 10);
    assert_int_equal(kept.count, 4);
    const struct compared_place *places = kept.places; /* by image and function */
    assert_string_equal(places[0].function, COMPARED_OTHERS);
    assert_int_equal(places[0].cost.units, 10);
    assert_string_equal(places[1].function, "step");
    assert_int_equal(places[1].cost.units, 90);
    assert_int_equal(places[1].sum->most, 50);
    assert_true(places[2].sum->rest);
    assert_int_equal(places[2].cost.units, 20);
    assert_int_equal(places[2].sum->most, 20);
    assert_int_equal(places[3].line, 12);
    assert_int_equal(places[3].cost.units, 880);
    assert_int_equal(places[3].sum->distance, 2);
    compared_run_free(&run);
    compared_run_free(&kept);
}

/* The line that is not kept had 20 units at most, and has 300 now: 280 more at least, against 100
 * at line 12. once(), not kept, has 5 units more, of which nothing is told but in the sum of
 * others. */
static void what_is_not_kept_is_bounded(void **state) {
    (void)state;
    struct compared_run before = {0}, kept = {0}, after = {0};
    struct compared_runs runs;
    const struct compared_limits limits = {.functions = 2, .lines = 1};
    fill(&before, 0);
    GOOD(compared_summary_make(&before, &limits, &kept, &error));
    fill(&after, 0);
    add(&after, "work", 10, 0x11, "push rbx", 280, 0);
    add(&after, "work", 12, 0x18, "add rbx, 1", 100, 0);
    add(&after, "new", 30, 0x50, "ret", 9, 0);
    add(&after, "newer", 31, 0x51, "ret", 40, 0);
    assert_true(compared_runs_find(&kept, &after, &runs, &error));
    assert_int_equal(runs.change_count, 4);
    assert_string_equal(runs.changes[0].sides[1]->name, "work");
    assert_int_equal(runs.changes[0].units, 380);
    assert_null(runs.changes[0].lines[0]);
    assert_int_equal(runs.changes[0].lines[1]->place->line, 10);
    assert_string_equal(runs.changes[1].sides[1]->name,
                        "newer"); /* more than 10: not one of them */
    assert_int_equal(runs.changes[1].units, 40);
    assert_string_equal(runs.changes[2].sides[1]->name, COMPARED_OTHERS);
    assert_int_equal(runs.changes[2].units, 9);
    assert_null(runs.changes[2].lines[1]);
    assert_int_equal(runs.changes[3].units, 0);
    compared_runs_free(&runs);
    compared_run_free(&before);
    compared_run_free(&kept);
    compared_run_free(&after);
}

/* ---- files ---- */

/* 500 units of misses more in line 12: what was written tells it as the run itself would. */
static void what_is_written_is_read(void **state) {
    (void)state;
    struct baseline baseline;
    struct compared_run after = {0};
    struct compared_runs runs;
    put("one", 0);
    GOOD(baseline_read(&baseline, path, &error));
    assert_int_equal(baseline.count, 1);
    struct baseline_entry *entry = &baseline.entries[0];
    assert_string_equal(entry->words[1], "a\tb\\");
    assert_null(entry->words[2]);
    assert_string_equal(entry->setting.machine, "zen4 0");
    assert_string_equal(entry->run.machine, "zen4");
    assert_int_equal(entry->run.elapsed, 2);
    assert_int_equal(entry->run.all.units, 1000);
    assert_int_equal(entry->layout_count, 3);
    assert_int_equal(entry->run.library_count, 1);
    assert_int_equal(entry->run.libraries[0].build, 0x0123456789abcdef);
    assert_memory_equal(entry->layouts, LAYOUTS, sizeof LAYOUTS);
    fill(&after, 500);
    assert_true(compared_runs_find(&entry->run, &after, &runs, &error));
    assert_int_equal(runs.changes[0].units, 500);
    assert_int_equal(runs.changes[0].cause, COMPONENT_L1_MISS);
    assert_int_equal(runs.changes[0].lines[0]->place->line, 12);
    assert_int_equal(runs.changes[0].lines[1]->place->line, 12);
    for (size_t i = 1; i < runs.change_count; i++)
        assert_int_equal(runs.changes[i].units, 0);
    compared_runs_free(&runs);
    compared_run_free(&after);
    baseline_free(&baseline);
}

/* Three decimals tell all 840 parts of a cycle. */
static void parts_of_cycles_are_exact(void **state) {
    (void)state;
    for (uint64_t units = 1; units <= CYCLE_UNITS; units++) {
        struct compared_run run = {.title = "prog", .machine = "zen4", .elapsed = 2};
        struct baseline baseline;
        const char *name = "one";
        add(&run, "work", 1, 1, "ret", 839 + units, 0);
        char *text = entry_text(name, &run);
        FILE *file = fopen(path, "w");
        fprintf(file, "culprit-baseline\t2\n%send\n", text);
        fclose(file);
        GOOD(baseline_read(&baseline, path, &error));
        assert_int_equal(baseline.entries[0].run.all.units, 839 + units);
        baseline_free(&baseline);
        free(text);
        compared_run_free(&run);
    }
}

static char *contents(void) {
    static char text[1 << 16];
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
    return text;
}

static void an_entry_is_replaced_and_others_stay(void **state) {
    (void)state;
    put("one", 0);
    chmod(path, 0640);
    FILE *file = fopen(path, "r+");
    fseek(file, -(long)strlen("end\n"), SEEK_END);
    fputs("# by hand\n\nend\n# of all\n", file);
    fclose(file);
    put("two", 7);
    char *before = strdup(contents());
    const char *one = strstr(before, "entry\tone"), *two = strstr(before, "entry\ttwo");
    assert_true(one && two && one < two);
    put("two", 8);
    put("three", 9);
    const char *after = contents();
    assert_memory_equal(after, before, (size_t)(two - before));
    assert_string_not_equal(after, before);
    assert_non_null(strstr(after, "# by hand\n\nentry\ttwo"));
    assert_non_null(strstr(after, "entry\tthree"));
    assert_string_equal(after + strlen(after) - strlen("end\n# of all\n"), "end\n# of all\n");
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0640);
    free(before);
}

/* Too many functions and lines for an entry: it keeps fewer, and the sums. */
static void an_entry_is_small(void **state) {
    (void)state;
    struct compared_run run = {.title = "prog", .machine = "zen4", .elapsed = 1000};
    struct baseline baseline;
    char name[400];
    for (uint32_t i = 0; i < 300; i++) {
        snprintf(name, sizeof name, "function_%u_%0300u", i, i);
        add(&run, name, 10 * i + 1, 0x10 * i, "ret", 2800 + i, 0);
    }
    char *text = entry_text("one", &run);
    assert_true(strlen(text) <= BASELINE_ENTRY_BYTES);
    assert_true(strlen(text) > BASELINE_ENTRY_BYTES / 3);
    const char *const names[] = {"one"};
    GOOD(baseline_put(path, names, &text, 1, &error));
    GOOD(baseline_read(&baseline, path, &error));
    assert_int_equal(baseline.entries[0].run.all.units, run.all.units);
    baseline_free(&baseline);
    compared_run_free(&run);
    free(text);
}

/* ---- files that are none ---- */

#define HEAD  "culprit-baseline\t2\nentry\ta\ncommand\tprog\n"
#define GIVEN HEAD "culprit\t0.1\nmachine\tzen4 0\nelapsed\t9\n"
#define TOTAL GIVEN "all\t5\t9\texecute=9\n"
#define WORK  TOTAL "function\twork\tprog\t5\t9\texecute=9\n"

static const struct {
    const char *text, *message;
} WRONG[] = {
    {"", "it is empty"},
    {"# what\n", "its first line is another"},
    {"culprit-baseline\t2\r\n", "its lines end in carriage returns"},
    {"{}\n", "its first line is another"},
    {"culprit-baseline\t3\n", "version 3 of the format of baselines; this culprit reads 2"},
    {"culprit-baseline\t0\n", "version 0 of the format of baselines; this culprit reads 2"},
    {"culprit-baseline\t2\nmachine\tzen4\n", ":2: no entry before it"},
    {"culprit-baseline\t2\nwords\n", ":2: a line that means nothing"},
    {HEAD "culp", "the file ends within a line"},
    {HEAD, "the file is cut: its last line, 'end', is missing"},
    {WORK, "the file is cut: its last line, 'end', is missing"},
    {"culprit-baseline\t2\n", "the file is cut: its last line, 'end', is missing"},
    {"culprit-baseline\t2\nend\nentry\ta\n", ":3: a line behind the end"},
    {"culprit-baseline\t2\nend\tit\n", "a field that means nothing"},
    {HEAD "end\n", "the entry before it is not complete"},
    {GIVEN "end\n", "the entry before it is not complete"},
    {GIVEN "elapsed\t0\n", "no elapsed cycles"},
    {GIVEN "elapsed\t1000000000000001\n", "no elapsed cycles"},
    {GIVEN "elapsed\t99999999999999999999999\n", "no elapsed cycles"},
    {GIVEN "library\tlibc.so.6\t12345\n", "no library"},
    {GIVEN "layout\t1\t5\nlayout\t1\t5\n", "no cycles of a layout"},
    {GIVEN "layout\t1000\t5\n", "no cycles of a layout"},
    {GIVEN "layout\t0\t0\n", "no cycles of a layout"},
    {TOTAL "end\n", "cycles of the entry before it that no function has"},
    {TOTAL "all\t5\t9\texecute=9\n", "all cycles once more"},
    {TOTAL "entry\ta\n", "cycles of the entry before it that no function has"},
    {WORK "entry\ta\n", "two entries of one name"},
    {WORK "function\tmore\tprog\t1\t1\texecute=1\n", "functions have more cycles than all"},
    {TOTAL "function\twork\tprog\t5\t9\texecute=8\n", "cycles by event are not all cycles"},
    {TOTAL "function\twork\tprog\t5\t-9\texecute=-9\n", "no instructions and cycles"},
    {TOTAL "function\twork\tprog\t5\t9.1234\n", "no instructions and cycles"},
    {TOTAL "function\twork\tprog\t5\t9\texecute=9\texecute=9\n",
     "cycles of an event that are none"},
    {TOTAL "function\twork\tprog\t5\t9\texecute=9\tbirds=9\n", "a field that means nothing"},
    {TOTAL "function\t\tprog\t5\t9\texecute=9\n", "a function without a name"},
    {WORK "line\t1\t00000000\t1\t1\texecute=1\n", "no line of a function"},
    {WORK "in\tprog.c\t0\nline\t0\t00000000\t1\t1\texecute=1\n", "a line that no file has"},
    {WORK "in\tprog.c\t4294967295\nline\t1\t00000000\t1\t1\texecute=1\n",
     "a line that no file has"},
    {WORK "in\t\t18446744073709551615\nline\t1\t00000000\t1\t1\texecute=1\n",
     "a line that no file has"},
    {WORK "in\tprog.c\t1\nline\t0\t00000000\t1\t10\texecute=10\n",
     "lines have more cycles than their function"},
    {WORK "in\tprog.c\t1\nline\t0\t0000000g\t1\t1\texecute=1\n", "no shape of a line"},
    {WORK "in\tprog.c\t1\nline\t0\t00000000\t1\t1\texecute=1\ttype=row\n", "no size and type"},
    {WORK "kinds\t2\t1:1\n", "kinds of instructions that are not all"},
    {WORK "kinds\t2\t1:3\n", "no kinds of instructions"},
    {WORK "kinds\t2\t256:2\n", "no kinds of instructions"},
    {WORK "name\\q\n", "a backslash that means nothing"},
    {WORK "name\\x00\n", "a backslash that means nothing"}};

static void files_that_are_none_are_refused(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof WRONG / sizeof *WRONG; i++) {
        struct baseline baseline;
        const char *name = "a";
        char text[] = "entry\ta\n", *texts = text;
        FILE *file = fopen(path, "w");
        fputs(WRONG[i].text, file);
        fclose(file);
        assert_false(baseline_read(&baseline, path, &error));
        baseline_free(&baseline);
        if (!strstr(error.message, WRONG[i].message))
            fail_msg("%zu: %s, not %s", i, error.message, WRONG[i].message);
        assert_false(baseline_put(path, &name, &texts, 1, &error));
        assert_string_equal(contents(), WRONG[i].text); /* as it was */
    }
}

/* Version 1 had no last line: what is written anew is version 2. */
static void files_of_version_1_are_read(void **state) {
    (void)state;
    struct baseline baseline;
    put("one", 0);
    char *now = strdup(contents());
    FILE *file = fopen(path, "w");
    fputs("culprit-baseline\t1", file);
    fwrite(now + strlen("culprit-baseline\t2"), 1, strlen(now) - strlen("culprit-baseline\t2end\n"),
           file);
    fclose(file);
    GOOD(baseline_read(&baseline, path, &error));
    assert_int_equal(baseline.count, 1);
    baseline_free(&baseline);
    put("one", 0);
    assert_string_equal(contents(), now);
    free(now);
}

static void no_file_has_no_entries(void **state) {
    (void)state;
    struct baseline baseline;
    GOOD(baseline_read(&baseline, path, &error));
    assert_int_equal(baseline.count, 0);
    baseline_free(&baseline);
    assert_false(baseline_read(&baseline, "/dev/null", &error));
    assert_non_null(strstr(error.message, "not a regular file"));
    baseline_free(&baseline);
    assert_false(baseline_check_writable("/nowhere/perf.baseline", &error));
    assert_non_null(strstr(error.message, "cannot make a file beside it"));
}

static void an_entry_fits_the_same_conditions_alone(void **state) {
    (void)state;
    static const char *OPTIONS[] = {"--limit 5000", NULL}, *NONE[] = {NULL};
    static const char *WORDS[] = {"/old/parse", "rows.csv", NULL};
    const struct baseline_entry entry = {
        .name = "parse",
        .words = WORDS,
        .setting = {.culprit = "0.1 a", .machine = "zen4 1", .options = OPTIONS}};
    struct baseline_setting now = entry.setting;
    GOOD(baseline_entry_fits(&entry, "x.baseline", &now, &error));
    now.machine = "zen5 2";
    assert_false(baseline_entry_fits(&entry, "x.baseline", &now, &error));
    assert_non_null(strstr(error.message, "'parse' is of machine zen4 1, this is zen5 2"));
    now.culprit = "0.1 b";
    assert_false(baseline_entry_fits(&entry, "x.baseline", &now, &error));
    assert_non_null(strstr(error.message, "is of culprit 0.1 a, this is 0.1 b"));
    now = entry.setting;
    now.options = NONE;
    assert_false(baseline_entry_fits(&entry, "x.baseline", &now, &error));
    assert_non_null(strstr(error.message, "other options (--limit 5000)"));
    char program[] = "./parse", rows[] = "rows.csv", more[] = "-v";
    assert_true(baseline_same_arguments(&entry, (char *[]){program, rows, NULL}));
    assert_false(baseline_same_arguments(&entry, (char *[]){program, NULL}));
    assert_false(baseline_same_arguments(&entry, (char *[]){program, rows, more, NULL}));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_costliest_are_kept),
        cmocka_unit_test(what_is_not_kept_is_bounded),
        cmocka_unit_test(an_entry_fits_the_same_conditions_alone),
        cmocka_unit_test_setup_teardown(what_is_written_is_read, set_up, tear_down),
        cmocka_unit_test_setup_teardown(parts_of_cycles_are_exact, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_entry_is_replaced_and_others_stay, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_entry_is_small, set_up, tear_down),
        cmocka_unit_test_setup_teardown(files_that_are_none_are_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(files_of_version_1_are_read, set_up, tear_down),
        cmocka_unit_test_setup_teardown(no_file_has_no_entries, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
