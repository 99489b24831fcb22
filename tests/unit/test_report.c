/* Reports of hand-made simulations: groups, order, stacks, text within 100 columns, JSON whose sums
 * are exact. The program is this very test, so that functions and lines are known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "report/report.h"
#include "util/text.h"

/* Two functions with names of their own. */
__attribute__((noinline)) int first_function(int a);
__attribute__((noinline)) int second_function(int a);
int first_function(int a) {
    return a * 3 + 1;
}
int second_function(int a) {
    return a / 7 - 1;
}

/* A function inside another: outer +0, inner +2, outer +4. */
__asm__(".text\n"
        ".globl outer_function, inner_function\n"
        ".type outer_function, @function\n"
        ".type inner_function, @function\n"
        "outer_function: nop\n nop\n"
        "inner_function: nop\n nop\n"
        ".size inner_function, 2\n"
        "nop\n nop\n"
        ".size outer_function, 6\n");

enum { SITES = 5 };

/* Sites: two instructions of first_function, one of second_function, one of the image that no
 * function covers, one of generated code. */
static struct static_insn insns[SITES];
static struct code_image images[2];
static struct code code;
static struct program *program;
static struct machine machine;

/* In cycles: first_function 10 + 30, second 50, elsewhere 8 and 2. */
static struct pics_cell cells[] = {
    {0, 0, 10 * CYCLE_UNITS},
    {1, 0, 10 * CYCLE_UNITS},
    {1, PSV_ST_L1, 5 * CYCLE_UNITS + 1},
    {1, PSV_ST_L1 | PSV_ST_TLB, 15 * CYCLE_UNITS - 1},
    {2, PSV_FL_MB, 50 * CYCLE_UNITS},
    {3, PSV_DR_L1, 8 * CYCLE_UNITS},
    {4, 0, 2 * CYCLE_UNITS},
};
static uint64_t executions[SITES] = {40, 40, 10, 5, 5};
static struct simulation_thread threads[] = {{.instructions = 100, .cycles = 100}};

static struct simulation make_simulation(void) {
    return (struct simulation){.executed = 100,
                               .simulated = 100,
                               .instructions = 100,
                               .uops = 110,
                               .cycles = 100,
                               .states = {25, 20, 45, 10},
                               .cells = cells,
                               .cell_count = sizeof cells / sizeof *cells,
                               .executions = executions,
                               .execution_count = SITES,
                               .threads = threads,
                               .thread_count = 1,
                               .seconds = 0.5};
}

static int set_up(void **state) {
    (void)state;
    struct error error;
    static char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    program = program_new();
    if (length <= 0 || !program || !machine_load("machines/zen4.ini", &machine, &error))
        return -1;
    images[0] = (struct code_image){.path = path, .kind = CODE_IMAGE_FILE};
    images[1] = (struct code_image){.path = "[anon]", .kind = CODE_IMAGE_ANONYMOUS};
    uint32_t image = program_add_image(program, path, NULL, 0);
    uint64_t first, second, size;
    if (!program_find_function(program, image, "first_function", &first, &size) ||
        !program_find_function(program, image, "second_function", &second, &size))
        return -1;
    const struct static_insn insn = {.length = 1, .bytes = {0x90}};
    for (int i = 0; i < SITES; i++)
        insns[i] = insn;
    insns[0].offset = first;
    insns[1].offset = first + 1;
    insns[2].offset = second;
    insns[3].offset = 0x40; /* the program headers */
    insns[4].offset = 0x7f0000001000;
    insns[4].image = 1;
    code = (struct code){
        .isa = ISA_X86_64, .insns = insns, .insn_count = SITES, .images = images, .image_count = 2};
    return first_function(second_function(0)) == -2 ? 0 : -1;
}

static int tear_down(void **state) {
    (void)state;
    program_free(program);
    return 0;
}

static void build(struct report *report, const struct simulation *simulation, enum report_by by,
                  uint32_t top) {
    struct error error;
    struct report_request request = {
        .verb = "sim", .program = "prog \033[31m -x", .machine = &machine, .by = by, .top = top};
    if (!report_build(&request, simulation, &code, program, report, &error))
        fail_msg("%s", error.message);
    report->legend = true;
}

static void get_rows(const struct report_rows *rows, struct report_row *into, uint32_t count) {
    assert_int_equal(rows->count, count);
    for (uint32_t i = 0; i < count; i++)
        rows_get(rows, i, &into[i]);
}

static void functions_in_order(void **state) {
    (void)state;
    struct simulation simulation = make_simulation();
    struct report report;
    build(&report, &simulation, BY_FUNCTION, 0);
    struct report_row rows[4];
    get_rows(&report.functions, rows, 4);
    assert_int_equal(report.functions.total, 4);
    assert_int_equal(report.functions.count, 4);
    assert_string_equal(rows[0].function, "second_function");
    assert_int_equal(rows[0].units, 50 * CYCLE_UNITS);
    assert_int_equal(rows[0].executions, 10);
    assert_string_equal(rows[1].function, "first_function");
    assert_int_equal(rows[1].units, 40 * CYCLE_UNITS);
    assert_int_equal(rows[1].executions, 80);
    assert_int_equal(rows[1].hottest, 1);
    assert_string_equal(rows[1].text, "nop");
    assert_int_equal(rows[1].offset, insns[0].offset);
    assert_non_null(strstr(rows[1].file, "test_report.c"));
    assert_true(rows[1].line > 0);
    assert_null(rows[2].function);
    assert_string_equal(rows[2].image, "test_report");
    assert_string_equal(rows[3].image, "[anon]");
    report_free(&report);
}

/* What no function covers is said to be so, and a command of several lines can be copied. */
static void what_lies_outside_functions_and_commands_in_notes(void **state) {
    (void)state;
    struct simulation simulation = make_simulation();
    struct report report;
    build(&report, &simulation, BY_FUNCTION, 0);
    struct report_row rows[4];
    get_rows(&report.functions, rows, 4);
    assert_true(rows[0].function_size > 0 && !rows[0].is_outside);
    assert_true(rows[2].function_size == 0 && rows[2].is_outside);
    assert_false(rows[3].is_outside);
    assert_true(report_note_command(
        &report, "to have them:",
        "echo deb http://deb.debian.org/debian-debug bookworm-debug main | sudo tee "
        "/etc/apt/sources.list.d/debug.list && sudo apt update"));
    char *text;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    const struct page page = page_of(file, false);
    report_text(&report, &page);
    assert_int_equal(fclose(file), 0);
    assert_non_null(strstr(text, "test_report, no function"));
    assert_non_null(strstr(text, " - to have them: echo deb http://deb.debian.org/debian-debug "
                                 "bookworm-debug main | sudo tee \\\n"
                                 "   /etc/apt/sources.list.d/debug.list && sudo apt update\n"));
    free(text);
    report_free(&report);
}

/* first_function: Base 20, ST-L1+ST-TLB 15 − 1/840, ST-L1 5 + 1/840. */
static void a_function_inside_another_has_a_row_of_its_own(void **state) {
    (void)state;
    struct static_insn kept[SITES];
    memcpy(kept, insns, sizeof insns);
    uint64_t outer, size;
    uint32_t image = program_add_image(program, images[0].path, NULL, 0);
    assert_true(program_find_function(program, image, "outer_function", &outer, &size));
    assert_int_equal(size, 6);
    insns[0].offset = outer;
    insns[1].offset = outer + 2;
    insns[2].offset = outer + 4;
    struct simulation simulation = make_simulation();
    struct report report;
    build(&report, &simulation, BY_FUNCTION, 0);
    memcpy(insns, kept, sizeof insns);
    struct report_row rows[4];
    get_rows(&report.functions, rows, 4);
    assert_int_equal(report.functions.total, 4);
    assert_string_equal(rows[0].function, "outer_function");
    assert_int_equal(rows[0].units, 60 * CYCLE_UNITS);
    assert_int_equal(rows[0].executions, 50);
    assert_int_equal(rows[0].offset, outer);
    assert_string_equal(rows[1].function, "inner_function");
    assert_int_equal(rows[1].units, 30 * CYCLE_UNITS);
    assert_int_equal(rows[1].executions, 40);
    report_free(&report);
}

static void stacks_are_merged_largest_first(void **state) {
    (void)state;
    struct simulation simulation = make_simulation();
    struct report report;
    build(&report, &simulation, BY_FUNCTION, 2);
    assert_int_equal(report.functions.count, 2);
    assert_int_equal(report.functions.total, 4);
    struct report_row row;
    rows_get(&report.functions, 1, &row);
    const struct stack *stack = &row.stack;
    assert_int_equal(stack->count, 3);
    assert_int_equal(stack->parts[0].psv, 0);
    assert_int_equal(stack->parts[0].units, 20 * CYCLE_UNITS);
    assert_int_equal(stack->parts[1].psv, PSV_ST_L1 | PSV_ST_TLB);
    assert_int_equal(stack->parts[1].units, 15 * CYCLE_UNITS - 1);
    assert_int_equal(stack->parts[2].units, 5 * CYCLE_UNITS + 1);
    uint64_t components[COMPONENT_COUNT];
    stack_components(stack, components);
    assert_int_equal(components[COMPONENT_EXECUTE], 20 * CYCLE_UNITS);
    assert_int_equal(components[COMPONENT_TLB_MISS], 15 * CYCLE_UNITS - 1);
    assert_int_equal(components[COMPONENT_L1_MISS], 5 * CYCLE_UNITS + 1);
    report_free(&report);
}

static void every_grain_sums(void **state) {
    (void)state;
    struct simulation simulation = make_simulation();
    for (enum report_by by = BY_FUNCTION; by <= BY_IMAGE; by++) {
        struct error error;
        struct report_rows rows;
        assert_true(rows_build(by, 0, &simulation, &code, program, &rows, &error));
        uint64_t units = 0, executed = 0, last = UINT64_MAX;
        for (uint32_t i = 0; i < rows.count; i++) {
            struct report_row row;
            rows_get(&rows, i, &row);
            uint64_t parts = 0;
            for (uint32_t k = 0; k < row.stack.count; k++)
                parts += row.stack.parts[k].units;
            assert_int_equal(parts, row.units);
            assert_true(row.units <= last);
            last = row.units;
            units += row.units;
            executed += row.executions;
        }
        assert_int_equal(units, 100 * CYCLE_UNITS);
        assert_int_equal(executed, 100);
        assert_int_equal(rows.total, by == BY_IMAGE ? 2 : by == BY_INSTRUCTION ? 5 : 4);
        rows_free(&rows);
    }
}

/* The dominant event decides, for every combination. */
static void components_by_dominant_event(void **state) {
    (void)state;
    for (uint32_t psv = 0; psv < PSV_COMBINATIONS; psv++) {
        enum component expected = psv & PSV_ST_LLC                 ? COMPONENT_LLC_MISS
                                  : psv & PSV_FL_MB                ? COMPONENT_MISPREDICT
                                  : psv & (PSV_FL_EX | PSV_FL_MO)  ? COMPONENT_FLUSH
                                  : psv & PSV_ST_TLB               ? COMPONENT_TLB_MISS
                                  : psv & PSV_ST_FW                ? COMPONENT_FORWARDING
                                  : psv & PSV_ST_CO                ? COMPONENT_COHERENCE
                                  : psv & PSV_ST_L1                ? COMPONENT_L1_MISS
                                  : psv & PSV_DR_SQ                ? COMPONENT_STORES
                                  : psv & (PSV_DR_L1 | PSV_DR_TLB) ? COMPONENT_FRONT_END
                                                                   : COMPONENT_EXECUTE;
        assert_int_equal(component_of(psv), expected);
    }
}

static void text_fits(void **state) {
    (void)state;
    struct simulation simulation = make_simulation();
    for (enum report_by by = BY_FUNCTION; by <= BY_IMAGE; by++) {
        struct report report;
        simulation.counted.memory.l1d.misses = simulation.counted.memory.l2.misses = 99;
        simulation.counted.memory.llc.misses = simulation.counted.memory.dtlb_misses = 99;
        build(&report, &simulation, by, 3);
        report_note(&report, "%s",
                    "a note that goes on and on, for more than one line of one "
                    "hundred columns, so that it must be broken somewhere, twice "
                    "even, if it only goes on for long enough to need it");
        char *text;
        size_t size;
        FILE *file = open_memstream(&text, &size);
        struct page page = page_of(file, false);
        page.table_columns = page.columns;
        report_text(&report, &page);
        fclose(file);
        assert_null(strchr(text, '\033'));
        assert_non_null(strstr(text, "100 instructions, 100 cycles, CPI 1.000"));
        assert_non_null(strstr(text, " flushed     45.0 %         45"));
        assert_non_null(strstr(text, "kernel"));
        char *rest = text;
        for (char *line; (line = strsep(&rest, "\n"));)
            if (text_columns(line) > 100)
                fail_msg("%u columns: %s", text_columns(line), line);
        free(text);
        report_free(&report);
    }
}

static bool has_note(uint32_t wrong_path, bool in_order, bool together, const char *words) {
    const struct machine usual = machine;
    struct simulation simulation = make_simulation();
    struct report report;
    machine.core.wrong_path = wrong_path;
    machine.core.in_order = in_order;
    simulation.together.done = together;
    build(&report, &simulation, BY_FUNCTION, 1);
    bool found = false;
    for (uint32_t i = 0; i < report.note_count; i++)
        found |= strstr(report.notes[i], words) != NULL;
    report_free(&report);
    machine = usual;
    return found;
}

/* What wrong paths fetch is modelled of a core of its own that issues out of order. */
static void wrong_paths_in_notes(void **state) {
    (void)state;
    const char *words = "execution down wrong paths, but for lines that it fetches";
    assert_true(has_note(0, false, false, "execution down wrong paths"));
    assert_false(has_note(0, false, false, words));
    assert_true(has_note(512, false, false, words));
    assert_false(has_note(512, true, false, words));
    assert_false(has_note(512, false, true, words));
}

static void json_is_exact(void **state) {
    (void)state;
    struct simulation simulation = make_simulation();
    struct report report;
    struct error error;
    build(&report, &simulation, BY_LINE, 0);
    char *text;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    assert_true(report_json(&report, file, &error));
    fclose(file);
    json_error_t problem;
    json_t *object = json_loads(text, 0, &problem);
    if (!object)
        fail_msg("%s", problem.text);
    static const char *const KEYS[] = {"program",       "machine",
                                       "instructions",  "cycles",
                                       "cpi",           "instructions_per_second",
                                       "commit_states", "stack",
                                       "functions",     "hot_instructions",
                                       "lines",         "partial",
                                       "notes",         "threads",
                                       "ideal",         "statistics",
                                       "sampling"};
    for (size_t i = 0; i < sizeof KEYS / sizeof *KEYS; i++)
        if (!json_object_get(object, KEYS[i]))
            fail_msg("no %s", KEYS[i]);
    assert_int_equal(json_integer_value(json_object_get(object, "cycles")), 100);
    json_t *states = json_object_get(object, "commit_states");
    assert_int_equal(json_integer_value(json_object_get(states, "computing")), 25);
    double total = 0;
    const char *name;
    json_t *value;
    json_object_foreach(json_object_get(object, "stack"), name, value) total +=
        json_number_value(value);
    assert_true(total > 100 - 1e-9 && total < 100 + 1e-9);
    json_int_t units = 0;
    size_t index;
    json_array_foreach(json_object_get(object, "hot_instructions"), index, value) {
        units += json_integer_value(json_object_get(value, "units"));
        static const char *const ROW_KEYS[] = {"image", "offset", "function", "file", "line",
                                               "text",  "cycles", "share",    "stack"};
        for (size_t i = 0; i < sizeof ROW_KEYS / sizeof *ROW_KEYS; i++)
            if (!json_object_get(value, ROW_KEYS[i]))
                fail_msg("no %s", ROW_KEYS[i]);
    }
    assert_int_equal(units, 100 * CYCLE_UNITS);
    json_decref(object);
    free(text);
    report_free(&report);
}

/* Nothing executed: a report all the same, without a division by zero. */
static void empty_run(void **state) {
    (void)state;
    struct simulation simulation = {0};
    struct report report;
    struct error error;
    build(&report, &simulation, BY_FUNCTION, 10);
    char *text;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    const struct page page = {
        .file = file, .columns = 100, .bold = "\033[1m", .dim = "\033[2m", .plain = "\033[0m"};
    report_text(&report, &page);
    assert_true(report_json(&report, file, &error));
    fclose(file);
    assert_null(strstr(text, "nan"));
    assert_non_null(strstr(text, "0 instructions, 0 cycles, CPI 0.000"));
    free(text);
    report_free(&report);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_in_order),
        cmocka_unit_test(what_lies_outside_functions_and_commands_in_notes),
        cmocka_unit_test(a_function_inside_another_has_a_row_of_its_own),
        cmocka_unit_test(stacks_are_merged_largest_first),
        cmocka_unit_test(every_grain_sums),
        cmocka_unit_test(components_by_dominant_event),
        cmocka_unit_test(text_fits),
        cmocka_unit_test(wrong_paths_in_notes),
        cmocka_unit_test(json_is_exact),
        cmocka_unit_test(empty_run),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
