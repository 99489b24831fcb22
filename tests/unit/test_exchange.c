/* Profiles in the formats of pprof, perf script and flame graphs: what is written is as those tools
 * have it, what is read comes out of the store as it went in, and nothing in a file crashes the
 * readers or makes them answer wrongly. */
#include <zlib.h>

#include "exchange/gathered.h"
#include "exchange/pprof.pb-c.h"
#include "exchange_fixture.h"
#include "program/program.h"
#include "util/text.h"

/* ---- export ---- */

static void folded_stacks(void **state) {
    const struct fixture *fixture = *state;
    struct error error = {0};
    size_t size;
    int64_t session = fill(fixture->store);
    export_to_file(fixture, session, EXCHANGE_FOLDED, "cpu-clock");
    assert_string_equal(read_file(fixture, &size), "my shell;/nowhere/bin/gz:ip;[gz:ip] 4\n"
                                                   "my shell;[kernel];do_one 10\n"
                                                   "node;[kernel];do_two(int, char) 4\n"
                                                   "node;[jit] node 42;LazyCompile:*f: x.js:1 5\n");
    FILE *file = fopen(fixture->path, "w");
    const struct store_filter all = {.sessions = &session, .session_count = 1};
    assert_false(exchange_export(fixture->store, &all, EXCHANGE_FOLDED, file, NULL, &error));
    fclose(file);
    assert_non_null(strstr(error.message, "there are cpu-clock and imiss: choose with --event"));
}

static void perf_script_text(void **state) {
    const struct fixture *fixture = *state;
    size_t size;
    int64_t session = fill(fixture->store);
    export_to_file(fixture, session, EXCHANGE_PERF_SCRIPT, "imiss");
    assert_string_equal(
        read_file(fixture, &size),
        "# a record holds all samples of a process at an address, with their periods added\n"
        "# one sample of imiss: 5000\n"
        "my shell 1 [000] 1700000000.123456:      35000 imiss: \n"
        "\t            4010 [unknown] (/nowhere/bin/gz;ip)\n\n");
    export_to_file(fixture, session, EXCHANGE_PERF_SCRIPT, NULL);
    const char *text = read_file(fixture, &size);
    assert_non_null(strstr(text,
                           "node 2 [000] 1700000000.123456:     768000 cpu-clock: \n"
                           "\tffffffff81001180 do_two(int, char)+0x80 ([kernel.kallsyms])\n\n"));
    assert_non_null(
        strstr(text, "\t    7f0000001008 LazyCompile:*f; x.js:1+0x8 ([jit] node 42)\n\n"));
}

/* That a profile is estimated stands in every format that has room for it, and is told. */
static void estimates_are_told(void **state) {
    const struct fixture *fixture = *state;
    static const char NOTE[] = "by hand is estimated from 2 regions: all cycles are within ± 2.5 % "
                               "in 19 of 20 such estimates";
    int64_t session = begin_session(fixture->store, 1);
    int64_t event = add_estimated(fixture->store, session);
    int64_t image = add_image(fixture->store, IMAGE_JIT, "[jit] node 42", 0);
    int64_t process = add_process(fixture->store, session, "a", "");
    add_value(fixture->store, session, process, image, event, (struct store_value){0x110, 0, 840});
    for (enum exchange_format format = 0; format < EXCHANGE_FORMATS; format++) {
        const bool room = format != EXCHANGE_FOLDED && format != EXCHANGE_CSV;
        struct error error = {0};
        struct text_printer printer;
        FILE *file = fopen(fixture->path, "w"), *notes = text_printer_begin(&printer);
        const struct store_filter filter = {.sessions = &session, .session_count = 1};
        assert_true(exchange_export(fixture->store, &filter, format, file, notes, &error));
        fclose(file);
        char *told = text_printer_end(&printer);
        assert_int_equal(strncmp(told, "note: ", 6), 0);
        assert_int_equal(strncmp(told + 6, NOTE, strlen(NOTE)), 0);
        free(told);
        char bytes[1 << 14];
        gzFile unpacked = gzopen(fixture->path, "r"); /* or as it is */
        const int size = gzread(unpacked, bytes, sizeof bytes);
        gzclose(unpacked);
        assert_true(size > 0);
        if (!memmem(bytes, (size_t)size, NOTE, strlen(NOTE)) == room)
            fail_msg("%s", exchange_format_name(format));
    }
}

/* Weighted by 0.4 the two samples are one: of places it is of the last, "late"; of stacks, in the
 * tree's order, of "early", which thus has calls and no line. */
static void functions_without_lines(void **state) {
    const struct fixture *fixture = *state;
    struct error error = {0};
    size_t size;
    int64_t session = begin_session(fixture->store, 0.4);
    int64_t event = add_event(fixture->store, session, "cpu-clock", "samples", 0, "");
    int64_t image = add_image(fixture->store, IMAGE_JIT, "[jit] node 42", 0);
    int64_t process = add_process(fixture->store, session, "a", "");
    const struct code_symbol symbols[] = {{0x100, 0x100, "early"}, {0x200, 0x100, "late"}};
    assert_true(store_set_symbols(fixture->store, image, symbols, 2, &error));
    add_value(fixture->store, session, process, image, event, (struct store_value){0x110, 0, 1});
    add_value(fixture->store, session, process, image, event, (struct store_value){0x210, 0, 1});
    const struct store_call calls[] = {{STORE_CALL_TOP, image, 0x210, 1},
                                       {STORE_CALL_TOP, image, 0x110, 1}};
    assert_true(store_add_calls(fixture->store, session, process, event, calls, 2, &error));
    export_to_file(fixture, session, EXCHANGE_CALLGRIND, NULL);
    assert_non_null(strstr(read_file(fixture, &size),
                           "\nob=(2) [jit] node 42\nfl=(3) ???\nfn=(1) late\n0 1\n"
                           "\nob=(2)\nfl=(3)\nfn=(4) early\n"
                           "\nob=(6) \nfl=(3)\nfn=(5) [outermost]\n"
                           "cob=(2)\ncfi=(3)\ncfn=(4)\ncalls=1 0\n0 1\n"));
}

/* Weights and 1/840 cycles: rounded so that the sum is right. 3 × 420/840 × 2.5 = 3.75, in three
 * steps of 1.25: 1, 2 (of 2.5, rounded up), 1. */
static void cycles_are_weighted(void **state) {
    const struct fixture *fixture = *state;
    size_t size;
    int64_t session = begin_session(fixture->store, 2.5);
    int64_t event = add_event(fixture->store, session, "cycles", "1/840 cycles", 0, "");
    int64_t image = add_image(fixture->store, IMAGE_FILE, "/nowhere/a", 0);
    int64_t process = add_process(fixture->store, session, "a", "");
    for (uint32_t i = 0; i < 3; i++)
        add_value(fixture->store, session, process, image, event,
                  (struct store_value){0x100 * i, i, 420});
    export_to_file(fixture, session, EXCHANGE_FOLDED, NULL);
    assert_string_equal(read_file(fixture, &size), "a;/nowhere/a;[a] 4\n");
}

/* ---- pprof ---- */

static void pprof_round_trip(void **state) {
    const struct fixture *fixture = *state;
    struct exchange_imported imported;
    struct error error = {0};
    int64_t session = fill(fixture->store);
    assert_session(fixture->store, session, FILLED);
    export_to_file(fixture, session, EXCHANGE_PPROF, NULL);

    struct store *other = open_store(fixture, "other.db");
    if (!exchange_import(other, fixture->path, EXCHANGE_FORMATS, &imported, &error))
        fail_msg("%s", error.message);
    assert_session(other, imported.session, FILLED);
    assert_int_equal(imported.records, 6);
    assert_int_equal(imported.images, 3);
    assert_int_equal(imported.processes, 2);
    assert_int_equal(imported.events, 2);
    assert_true(store_check(other, &error));
    store_close(other);
}

/* Signatures are kept: 3 is DR-L1 and DR-TLB. */
static void pprof_of_a_simulation(void **state) {
    const struct fixture *fixture = *state;
    struct exchange_imported imported;
    struct error error = {0};
    int64_t session = begin_session(fixture->store, 1);
    int64_t event = add_event(fixture->store, session, "cycles", "1/840 cycles", 0, "");
    int64_t image = add_image(fixture->store, IMAGE_FILE, "/nowhere/a", 1);
    int64_t process = add_process(fixture->store, session, "a", "");
    add_value(fixture->store, session, process, image, event, (struct store_value){0x100, 0, 840});
    add_value(fixture->store, session, process, image, event, (struct store_value){0x100, 3, 8400});
    export_to_file(fixture, session, EXCHANGE_PPROF, NULL);
    assert_true(
        exchange_import(fixture->store, fixture->path, EXCHANGE_FORMATS, &imported, &error));
    char *before = dump_session(fixture->store, session);
    assert_session(fixture->store, imported.session, before);
    free(before);
}

/* Cycles of a simulation have a sample type for each component that there is, and none for the
 * others: 5 cycles without events and 10 with DR-L1 and DR-TLB, which both are the front end's. The
 * profile without its samples' places, by hand: types cycles, cycles_front_end, cycles_execute and
 * instructions, and samples of these values in this order. */
static void pprof_columns(void **state) {
    static const uint8_t FIRST[] = {0x12, 4, 5, 0, 5, 0}, SECOND[] = {0x12, 4, 10, 10, 0, 0},
                         THIRD[] = {0x12, 4, 0, 0, 0, 7};
    const struct fixture *fixture = *state;
    char plain[1 << 14];
    int64_t session = begin_session(fixture->store, 1);
    int64_t cycles = add_event(fixture->store, session, "cycles", "1/840 cycles", 0, "");
    int64_t executions = add_event(fixture->store, session, "executions", "executions", 0, "");
    int64_t image = add_image(fixture->store, IMAGE_FILE, "/nowhere/a", 1);
    int64_t process = add_process(fixture->store, session, "a", "");
    add_value(fixture->store, session, process, image, cycles, (struct store_value){256, 0, 4200});
    add_value(fixture->store, session, process, image, cycles, (struct store_value){256, 3, 8400});
    add_value(fixture->store, session, process, image, executions, (struct store_value){256, 0, 7});
    export_to_file(fixture, session, EXCHANGE_PPROF, NULL);
    gzFile file = gzopen(fixture->path, "rb");
    const size_t size = (size_t)gzread(file, plain, sizeof plain);
    gzclose(file);
    assert_non_null(memmem(plain, size, FIRST, sizeof FIRST));
    assert_non_null(memmem(plain, size, SECOND, sizeof SECOND));
    assert_non_null(memmem(plain, size, THIRD, sizeof THIRD));
    assert_non_null(memmem(plain, size, "cycles_front_end", 16));
    assert_non_null(memmem(plain, size, "cycles_execute", 14));
    assert_non_null(memmem(plain, size, "instructions", 12));
    assert_null(memmem(plain, size, "llc_miss", 8));
}

static const char INLINED[] = "static volatile int seed;\n"
                              "#line 300\n"
                              "static inline int twice(int x) {\n"
                              "    return 2 * x + seed;\n"
                              "}\n"
                              "#line 400\n"
                              "int main(int count, char **words) {\n"
                              "    (void)words;\n"
                              "    return twice(count);\n"
                              "}\n";

/* Where a function begins, of those that were inlined too. */
static void pprof_first_lines(void **state) {
    const struct fixture *fixture = *state;
    char command[512], path[128], plain[1 << 14];
    uint64_t start, length;
    snprintf(path, sizeof path, "%s/inlined", fixture->folder);
    write_file(fixture, INLINED, strlen(INLINED));
    snprintf(command, sizeof command, "gcc -g -O2 -x c -o %s %s", path, fixture->path);
    assert_int_equal(system(command), 0);
    struct program *program = program_new();
    const uint32_t number = program_add_image(program, path, NULL, 0);
    assert_true(program_find_function(program, number, "main", &start, &length));
    program_free(program);
    const int64_t session = begin_session(fixture->store, 1);
    const int64_t event = add_event(fixture->store, session, "cpu-clock", "samples", 0, "");
    const int64_t image = add_image(fixture->store, IMAGE_FILE, path, 0);
    const int64_t process = add_process(fixture->store, session, "a", "");
    for (uint64_t i = 0; i < length; i++)
        add_value(fixture->store, session, process, image, event,
                  (struct store_value){start + i, 0, 1});
    export_to_file(fixture, session, EXCHANGE_PPROF, NULL);
    gzFile file = gzopen(fixture->path, "rb");
    const int size = gzread(file, plain, sizeof plain);
    gzclose(file);
    Pprof__Profile *profile = pprof__profile__unpack(NULL, (size_t)size, (const uint8_t *)plain);
    assert_non_null(profile);
    assert_int_equal(profile->n_function, 2);
    for (size_t i = 0; i < 2; i++) {
        const bool inlined = !strcmp(profile->string_table[profile->function[i]->name], "twice");
        assert_int_equal(profile->function[i]->start_line, inlined ? 300 : 400);
    }
    assert_int_not_equal(profile->function[0]->name, profile->function[1]->name);
    pprof__profile__free_unpacked(profile, NULL);
}

/* Every prefix of a compressed profile and of the same uncompressed, and every third bit of the
 * latter flipped: an error of one line, or a session. */
static void pprof_damaged(void **state) {
    const struct fixture *fixture = *state;
    struct exchange_imported imported;
    struct error error;
    int64_t session = fill(fixture->store);
    export_to_file(fixture, session, EXCHANGE_PPROF, NULL);
    size_t size, plain_size;
    char *bytes = read_file(fixture, &size), *compressed = malloc(size), plain[1 << 14];
    memcpy(compressed, bytes, size);
    gzFile file = gzopen(fixture->path, "rb");
    plain_size = (size_t)gzread(file, plain, sizeof plain);
    gzclose(file);
    for (size_t i = 0; i < size; i++)
        assert_import_fails(fixture, compressed, i, i ? "file" : "is empty");
    free(compressed);
    for (size_t i = 0; i < 8 * plain_size + plain_size; i += i < plain_size ? 1 : 3) {
        size_t length = i < plain_size ? i : plain_size, bit = i - plain_size;
        if (i >= plain_size)
            plain[bit / 8] ^= (char)(1 << bit % 8);
        write_file(fixture, plain, length);
        error.message[0] = 0;
        bool good =
            exchange_import(fixture->store, fixture->path, EXCHANGE_PPROF, &imported, &error);
        assert_true(good || (error.message[0] && !strchr(error.message, '\n')));
        if (good)
            assert_true(store_remove_session(fixture->store, imported.session, &error));
        if (i >= plain_size)
            plain[bit / 8] ^= (char)(1 << bit % 8);
    }
    assert_true(store_check(fixture->store, &error));
}

/* A profile of an interpreter: functions without mappings and addresses. By hand: sample type
 * (wall, nanoseconds); two samples at locations 7 and 9 of functions 3 and 4; location 9 has an
 * inlined function 4 in function 3. */
static void pprof_without_mappings(void **state) {
    const struct fixture *fixture = *state;
    static const uint8_t bytes[] = {
        0x0a, 4,   0x08, 1,   0x10, 2,              /* sample_type {1, 2} */
        0x12, 5,   0x0a, 1,   7,    0x10, 100,      /* sample {[7], 100} */
        0x12, 6,   0x0a, 2,   9,    7,    0x10, 50, /* sample {[9, 7], 50} */
        0x12, 4,   0x08, 9,   0x10, 1,              /* sample {9, 1}, not packed */
        0x22, 6,   0x08, 7,   0x22, 2,    0x08, 3,  /* location 7 {line {3}} */
        0x22, 10,  0x08, 9,   0x22, 2,    0x08, 4,   0x22, 2,    0x08, 3, /* location 9 {line {4},
                                                                             {3}} */
        0x2a, 4,   0x08, 3,   0x10, 3,                                    /* function 3 {name 3} */
        0x2a, 4,   0x08, 4,   0x10, 4,                                    /* function 4 {name 4} */
        0x32, 0,                                                          /* strings */
        0x32, 4,   'w',  'a', 'l',  'l',  0x32, 11,  'n',  'a',  'n',  'o', 's', 'e', 'c',
        'o',  'n', 'd',  's', 0x32, 3,    'f',  'o', 'o',  0x32, 3,    'b', 'a', 'r'};
    struct exchange_imported imported;
    struct error error = {0};
    char expected[256];
    write_file(fixture, bytes, sizeof bytes);
    if (!exchange_import(fixture->store, fixture->path, EXCHANGE_FORMATS, &imported, &error))
        fail_msg("%s", error.message);
    snprintf(expected, sizeof expected,
             "() jit [functions]<>+0x%" PRIx64 "/0 wall 151 ns every 0 \n",
             gathered_place_of_name("foo"));
    assert_session(fixture->store, imported.session, expected);
    export_to_file(fixture, imported.session, EXCHANGE_FOLDED, NULL);
    size_t size;
    /* Both locations are foo's: one called itself in the second sample. */
    assert_string_equal(read_file(fixture, &size), "[unknown];foo 101\n[unknown];foo;foo 50\n");
}

static void pprof_errors(void **state) {
    const struct fixture *fixture = *state;
    static const uint8_t no_location[] = {0x0a, 0, 0x12, 5, 0x0a, 1, 7, 0x10, 100};
    static const uint8_t two_values[] = {0x0a, 0, 0x12, 4, 0x12, 2, 1, 2};
    static const uint8_t negative[] = {0x0a, 0,    0x12, 12,   0x12, 10,   0xff, 0xff,
                                       0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1};
    static const uint8_t huge[] = {0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1};
    static const uint8_t group[] = {0x0b, 0, 1};
    assert_import_fails(fixture, no_location, sizeof no_location,
                        "offset 9: a sample at location 7, which is not in the profile");
    assert_import_fails(fixture, two_values, sizeof two_values, "2 values, where there are 1");
    assert_import_fails(fixture, negative, sizeof negative, "negative");
    assert_import_fails(fixture, huge, sizeof huge, "one MiB is the most");
    assert_import_fails(fixture, group, sizeof group, "kind 3 of a field");
    assert_import_fails(fixture, "\x12\x00", 2, "no sample types");
}

/* 64 MB of empty strings in 64 KB. */
static void pprof_bomb(void **state) {
    const struct fixture *fixture = *state;
    static char strings[1 << 16];
    for (size_t i = 0; i < sizeof strings; i += 2)
        strings[i] = 0x32;
    gzFile file = gzopen(fixture->path, "wb");
    for (int i = 0; i < 1 << 10; i++)
        assert_int_equal(gzwrite(file, strings, sizeof strings), sizeof strings);
    gzclose(file);
    struct exchange_imported imported;
    struct error error = {0};
    assert_false(
        exchange_import(fixture->store, fixture->path, EXCHANGE_FORMATS, &imported, &error));
    assert_non_null(strstr(error.message, "expands more than"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(folded_stacks, set_up, tear_down),
        cmocka_unit_test_setup_teardown(perf_script_text, set_up, tear_down),
        cmocka_unit_test_setup_teardown(estimates_are_told, set_up, tear_down),
        cmocka_unit_test_setup_teardown(functions_without_lines, set_up, tear_down),
        cmocka_unit_test_setup_teardown(cycles_are_weighted, set_up, tear_down),
        cmocka_unit_test_setup_teardown(pprof_round_trip, set_up, tear_down),
        cmocka_unit_test_setup_teardown(pprof_of_a_simulation, set_up, tear_down),
        cmocka_unit_test_setup_teardown(pprof_columns, set_up, tear_down),
        cmocka_unit_test_setup_teardown(pprof_first_lines, set_up, tear_down),
        cmocka_unit_test_setup_teardown(pprof_damaged, set_up, tear_down),
        cmocka_unit_test_setup_teardown(pprof_without_mappings, set_up, tear_down),
        cmocka_unit_test_setup_teardown(pprof_errors, set_up, tear_down),
        cmocka_unit_test_setup_teardown(pprof_bomb, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
