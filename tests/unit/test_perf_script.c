/* The text of perf script: its lines, and whole files of them. */
#include "exchange/gathered.h"
#include "exchange/perf_line.h"
#include "exchange_fixture.h"

/* ---- lines of perf script ---- */

static void heads(void **state) {
    (void)state;
    static const struct {
        const char *line, *command;
        int64_t pid;
        uint64_t time_ns, period;
        const char *event, *rest;
        bool precise;
    } cases[] = {
        {"            gzip 27969  1947.102294:     500000 cpu-clock:      7fb9 f+0x3 (/x)", "gzip",
         27969, 1947102294000, 500000, "cpu-clock", "     7fb9 f+0x3 (/x)", false},
        {"sh 27993/27994 [001]  1948.257504123:     500000 cycles:upp: ", "sh", 27993,
         1948257504123, 500000, "cycles", "", true},
        {"Web Content 12 345 [000] 1.5: cpu/cycles,name=x/:", "Web Content 12", 345, 1500000000, 0,
         "cpu/cycles,name=x/", "", false},
        {"swapper     0 [003] d..1.  1.000001: sched:sched_switch: prev=a", "swapper", 0,
         1000001000, 0, "sched:sched_switch", " prev=a", false},
        {":-1 -1 2.0:  page-faults:u:  1234 [unknown] ([unknown])", ":-1", -1, 2000000000, 0,
         "page-faults", " 1234 [unknown] ([unknown])", false},
        {"gzip 7 4000 cycles:P:  401000 main (/x)", "gzip", 7, 0, 4000, "cycles",
         "  401000 main (/x)", true},
        {"1947.5: cycles: 401000", "", -1, 1947500000000, 0, "cycles", " 401000", false},
        {"gzip", "gzip", -1, 0, 0, NULL, "", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char line[256];
        struct perf_head head;
        strcpy(line, cases[i].line);
        perf_head_parse(line, &head);
        assert_string_equal(head.command, cases[i].command);
        assert_int_equal(head.pid, cases[i].pid);
        assert_int_equal(head.time_ns, cases[i].time_ns);
        assert_int_equal(head.period, cases[i].period);
        if (cases[i].event)
            assert_string_equal(head.event, cases[i].event);
        else
            assert_null(head.event);
        assert_string_equal(head.rest + strspn(head.rest, " "),
                            cases[i].rest + strspn(cases[i].rest, " "));
        assert_int_equal(head.precise, cases[i].precise);
    }
}

static void frames(void **state) {
    (void)state;
    static const struct {
        const char *text;
        uint64_t address;
        const char *symbol; /* NULL: none */
        uint64_t symbol_offset;
        const char *image; /* NULL: none */
        bool inlined;
    } cases[] = {
        {"\t           1469e handle_amd+0x7e (/usr/lib/ld-linux-x86-64.so.2)", 0x1469e,
         "handle_amd", 0x7e, "/usr/lib/ld-linux-x86-64.so.2", false},
        {"ffffffff81602253 f ([kernel.kallsyms])", 0xffffffff81602253, "f", 0, "[kernel.kallsyms]",
         false},
        {"0 [unknown] ([unknown])", 0, NULL, 0, "[unknown]", false},
        {"401 a::b(int, char) const+0x10 (/my files/x (deleted))", 0x401, "a::b(int, char) const",
         0x10, "/my files/x", false},
        {"401 f(int) (inlined)", 0x401, "f(int)", 0, "inlined", true},
        {"401 operator()(int)", 0x401, "operator()(int)", 0, NULL, false},
        {"401 add (/x)", 0x401, "add", 0, "/x", false}, /* a name of hexadecimal digits */
        {"    7ffe00001000     5641a0000010 f+0x10 (/x)", 0x5641a0000010, "f", 0x10, "/x", false},
        {"401", 0x401, NULL, 0, NULL, false},
        {"401 (/x)", 0x401, NULL, 0, "/x", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[256];
        struct perf_frame frame;
        strcpy(text, cases[i].text);
        assert_true(perf_frame_parse(text, &frame));
        assert_int_equal(frame.address, cases[i].address);
        assert_int_equal(frame.symbol_offset, cases[i].symbol_offset);
        assert_int_equal(frame.inlined, cases[i].inlined);
        if (cases[i].symbol)
            assert_string_equal(frame.symbol, cases[i].symbol);
        else
            assert_null(frame.symbol);
        if (cases[i].image)
            assert_string_equal(frame.image, cases[i].image);
        else
            assert_null(frame.image);
    }
    char text[] = "5601 f+0x1 (/usr/bin/gzip+0x2f4)", none[] = "longest_match 1";
    struct perf_frame frame;
    assert_true(perf_frame_parse(text, &frame) && frame.has_image_offset);
    assert_int_equal(frame.image_offset, 0x2f4);
    assert_string_equal(frame.image, "/usr/bin/gzip");
    assert_false(perf_frame_parse(none, &frame));
}

static void mappings(void **state) {
    (void)state;
    struct perf_mapping mapping;
    char with_inode[] = "PERF_RECORD_MMAP2 27969/27970: [0x5647b5324000(0xf000) @ 0x3000 fe:00 "
                        "247489 0]: r-xp /usr/my bin/gzip";
    assert_true(perf_mapping_parse(with_inode, &mapping));
    assert_int_equal(mapping.pid, 27969);
    assert_int_equal(mapping.start, 0x5647b5324000);
    assert_int_equal(mapping.end, 0x5647b5333000);
    assert_int_equal(mapping.file_offset, 0x3000);
    assert_string_equal(mapping.path, "/usr/my bin/gzip");
    assert_int_equal(mapping.build_id_size, 0);
    char with_build_id[] =
        "PERF_RECORD_MMAP2 1/1: [0x1000(0x1000) @ 0 <0102fe>]: r-xp /usr/bin/gzip";
    assert_true(perf_mapping_parse(with_build_id, &mapping));
    assert_int_equal(mapping.build_id_size, 3);
    assert_int_equal(mapping.build_id[2], 0xfe);
    char deleted[] = "PERF_RECORD_MMAP2 1/1: [0x1000(0x1000) @ 0 fe:00 1 0]: r-xp /tmp/a (deleted)";
    assert_true(perf_mapping_parse(deleted, &mapping));
    assert_string_equal(mapping.path, "/tmp/a"); /* as frames have it */
    char data[] = "PERF_RECORD_MMAP2 1/1: [0x1000(0x1000) @ 0 fe:00 1 0]: rw-p /usr/bin/gzip";
    assert_false(perf_mapping_parse(data, &mapping));
    char wraps[] = "PERF_RECORD_MMAP2 1/1: [0xffffffffffffffff(0xffff) @ 0 fe:00 1 0]: r-xp /x";
    assert_false(perf_mapping_parse(wraps, &mapping));
    int64_t pid, tid, parent;
    char fork[] = "PERF_RECORD_FORK(27993:27995):(27990:27990)";
    assert_true(perf_fork_parse(fork, &pid, &tid, &parent));
    assert_true(pid == 27993 && tid == 27995 && parent == 27990);
}

/* ---- whole files of perf script ---- */

/* With mappings that tell build ids, offsets of files are found: of a thread (7/8) through its
 * process, of a process that was forked (9) through its parent. */
static void perf_script_with_mappings(void **state) {
    const struct fixture *fixture = *state;
    struct exchange_imported imported = import_text(
        fixture,
        "# hostname : here\n#\n"
        "a 7 1.000000: PERF_RECORD_MMAP2 7/7: [0x10000(0x2000) @ 0x3000 <0a0b>]: r-xp /nowhere/a\n"
        "a 7 1.000001: PERF_RECORD_FORK(7:8):(7:7)\n"
        "a 7 1.000001: PERF_RECORD_FORK(9:9):(7:7)\n"
        "a 7 1.000002:     1000 cycles:u:            10010 f+0x10 (/nowhere/a)\n"
        "a 8 1.000003:     1000 cycles:u:            10010 f+0x10 (/nowhere/a)\n"
        "b 9 3.000002:     4000 cycles:u:            10020 [unknown] (/nowhere/a)\n"
        "b 9 3.000002:     1000 cycles:u:  ffffffff81000010 k+0x10 ([kernel.kallsyms])\n"
        "b 9 3.000002:     1000 cycles:u:             1234 [unknown] ([unknown])\n"
        "b 9 3.000002: PERF_RECORD_LOST lost 12\n");
    char expected[1024];
    snprintf(expected, sizeof expected,
             "a() file /nowhere/a<0a0b>+0x3010/0 cycles 2 samples every 1600 cycles\n"
             "b() file /nowhere/a<0a0b>+0x3020/0 cycles 1 samples every 1600 cycles\n"
             "b() kernel [kernel]<>+0x%" PRIx64 "/0 cycles 1 samples every 1600 cycles\n"
             "b() unknown [unknown]<>+0x1234/0 cycles 1 samples every 1600 cycles\n",
             gathered_place_of_name("k") + 0x10);
    assert_session(fixture->store, imported.session, expected);
    assert_int_equal(imported.unknown, 1);
    assert_int_equal(imported.unplaced, 0);
    size_t size;
    export_to_file(fixture, imported.session, EXCHANGE_FOLDED, NULL);
    assert_string_equal(read_file(fixture, &size), "a;/nowhere/a;f 2\n"
                                                   "b;/nowhere/a;[a] 1\n"
                                                   "b;[kernel];k 1\n"
                                                   "b;[unknown];[unknown] 1\n");
}

/* Of stacks the innermost frame that is not inlined counts, the others are its callers; source
 * lines are passed over; a stack without frames is an unknown place; the last needs no empty line.
 */
static void perf_script_with_stacks(void **state) {
    const struct fixture *fixture = *state;
    struct exchange_imported imported =
        import_text(fixture, "my shell 1 1.0: 10 cycles: \n"
                             "\t             100 deep (inlined)\n"
                             "\t             100 f+0x10 (/nowhere/a)\n"
                             "  a.c:12\n"
                             "\t             200 main+0x20 (/nowhere/a)\n\n"
                             "my shell 1 1.0: 10 cycles: \n\n"
                             "sh 2 1.0: 10 cycles: \r\n"
                             "\t             104 f+0x14 (/nowhere/a)\r\n");
    size_t size;
    export_to_file(fixture, imported.session, EXCHANGE_FOLDED, NULL);
    assert_string_equal(read_file(fixture, &size), "my shell;main;f 1\n"
                                                   "my shell;[unknown] 1\n"
                                                   "sh;f 1\n");
    assert_int_equal(imported.records, 3);
}

/* Inlined functions of an address of which nothing else is told stand for it, the outermost of
 * them: at the beginning of a stack, within, and at its end. */
static void perf_script_with_inlined_frames_alone(void **state) {
    const struct fixture *fixture = *state;
    struct exchange_imported imported =
        import_text(fixture, "sh 1 1.0: 10 cycles: \n"
                             "\t             100 deeper (inlined)\n"
                             "\t             100 deep (inlined)\n"
                             "\t             200 f+0x10 (/nowhere/a)\n"
                             "\t             300 within (inlined)\n"
                             "\t             400 inner (inlined)\n"
                             "\t             400 g+0x10 (/nowhere/a)\n"
                             "\t             500 last (inlined)\n\n"
                             "sh 1 1.0: 10 cycles: \n"
                             "\t             100 alone (inlined)\n");
    size_t size;
    export_to_file(fixture, imported.session, EXCHANGE_FOLDED, NULL);
    assert_string_equal(read_file(fixture, &size), "sh;last;g;within;f;deep 1\n"
                                                   "sh;alone 1\n");
    assert_int_equal(imported.records, 2);
}

/* Without anything but addresses and names. */
static void perf_script_with_few_fields(void **state) {
    const struct fixture *fixture = *state;
    struct exchange_imported imported =
        import_text(fixture, "     7fb936e992bd f (/nowhere/a)\n"
                             " gzip      7fb936e992bd g+0x1 (/nowhere/a)\n"
                             " gzip      7fb936e992be [unknown] (/nowhere/a)\n"
                             "sh \n\t    100 f (/nowhere/a)\n\n");
    size_t size;
    export_to_file(fixture, imported.session, EXCHANGE_FOLDED, NULL);
    assert_string_equal(read_file(fixture, &size), "[unknown];/nowhere/a;f 1\n"
                                                   "gzip;/nowhere/a;[a] 1\n"
                                                   "gzip;/nowhere/a;g 1\n"
                                                   "sh;/nowhere/a;f 1\n");
    assert_int_equal(imported.unplaced, 1);
}

/* Two imports agree on where a procedure is, so that they can be compared. */
static void imports_compare(void **state) {
    const struct fixture *fixture = *state;
    const char *text = "a 7 1.0: 1 cycles:  5647b5325100 f+0x10 (/nowhere/a)\n";
    const char *elsewhere = "a 8 1.0: 1 cycles:  7fff05325100 f+0x10 (/nowhere/a)\n";
    char *first = dump_session(fixture->store, import_text(fixture, text).session);
    assert_session(fixture->store, import_text(fixture, elsewhere).session, first);
    free(first);
}

/* What was written as perf script's text gives the same counts again. */
static void perf_script_again(void **state) {
    const struct fixture *fixture = *state;
    struct exchange_imported imported;
    struct error error = {0};
    size_t size;
    int64_t session = fill(fixture->store);
    export_to_file(fixture, session, EXCHANGE_FOLDED, "cpu-clock");
    char *before = strdup(read_file(fixture, &size));
    export_to_file(fixture, session, EXCHANGE_PERF_SCRIPT, NULL);
    assert_true(
        exchange_import(fixture->store, fixture->path, EXCHANGE_FORMATS, &imported, &error));
    export_to_file(fixture, imported.session, EXCHANGE_FOLDED, "cpu-clock");
    const char *after = read_file(fixture, &size);
    assert_non_null(strstr(after, "my shell;/nowhere/bin/gz:ip;[gz:ip] 4\n"));
    assert_non_null(strstr(after, "my shell;[kernel];do_one 10\n"));
    assert_non_null(strstr(before, "my shell;[kernel];do_one 10\n"));
    free(before);
}

static void perf_script_errors(void **state) {
    const struct fixture *fixture = *state;
    const char *log = "Nov 22 03:11:59 host prog[12]: a message\nanother\n";
    const char *zero = "a 7 1.0: 1 cycles:  100 f (/a)\n\0";
    assert_import_fails(fixture, log, strlen(log), "line 1: not a line of perf script");
    assert_import_fails(fixture, "", 0, "is empty");
    assert_import_fails(fixture, "# only\n", 7, "no samples in it");
    assert_import_fails(fixture, "PERFILE2 and more", 17, "perf's own format is not read");
    assert_import_fails(fixture, zero, strlen(zero) + 1, "pprof");
    char *line = malloc(3 << 20);
    memset(line, 'x', 3 << 20);
    assert_import_fails(fixture, line, 3 << 20, "line 1: longer than a megabyte");
    free(line);
    struct exchange_imported imported;
    struct error error = {0};
    assert_false(
        exchange_import(fixture->store, fixture->folder, EXCHANGE_FORMATS, &imported, &error));
    assert_non_null(strstr(error.message, "is a folder"));
    assert_session(fixture->store, 1, "");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(heads),
        cmocka_unit_test(frames),
        cmocka_unit_test(mappings),
        cmocka_unit_test_setup_teardown(perf_script_with_mappings, set_up, tear_down),
        cmocka_unit_test_setup_teardown(perf_script_with_stacks, set_up, tear_down),
        cmocka_unit_test_setup_teardown(perf_script_with_inlined_frames_alone, set_up, tear_down),
        cmocka_unit_test_setup_teardown(perf_script_with_few_fields, set_up, tear_down),
        cmocka_unit_test_setup_teardown(imports_compare, set_up, tear_down),
        cmocka_unit_test_setup_teardown(perf_script_again, set_up, tear_down),
        cmocka_unit_test_setup_teardown(perf_script_errors, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
