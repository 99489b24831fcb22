/* Profiles in the formats of pprof, perf script and flame graphs: what is written is as those tools
 * have it, what is read comes out of the store as it went in, and nothing in a file crashes the
 * readers or makes them answer wrongly. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <setjmp.h>

#include <cmocka.h>

#include "exchange/exchange.h"
#include "exchange/gathered.h"
#include "exchange/perf_line.h"
#include "store/store.h"

/* ---- a folder with stores and files ---- */

struct room {
    char folder[64], path[128];
    struct store *store;
};

static struct store *open_store(const struct room *room, const char *name) {
    char path[128];
    struct error error;
    snprintf(path, sizeof path, "%s/%s", room->folder, name);
    struct store *store = store_open(path, STORE_WRITE, &error);
    if (!store)
        fail_msg("%s", error.message);
    return store;
}

static int set_up(void **state) {
    struct room *room = calloc(1, sizeof *room);
    /* In memory where that can be had: a store waits for its disk at each import. */
    snprintf(room->folder, sizeof room->folder, "%s/test_exchange.XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    assert_non_null(mkdtemp(room->folder));
    snprintf(room->path, sizeof room->path, "%s/file", room->folder);
    room->store = open_store(room, "store.db");
    *state = room;
    return 0;
}

static int tear_down(void **state) {
    struct room *room = *state;
    char command[128];
    store_close(room->store);
    snprintf(command, sizeof command, "rm -rf %s", room->folder);
    int status = system(command);
    free(room);
    return status;
}

static void write_file(const struct room *room, const void *bytes, size_t size) {
    int file = open(room->path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(file >= 0 && write(file, bytes, size) == (ssize_t)size);
    close(file);
}

static char *read_file(const struct room *room, size_t *size) {
    static char bytes[1 << 16];
    FILE *file = fopen(room->path, "r");
    *size = fread(bytes, 1, sizeof bytes - 1, file);
    bytes[*size] = 0;
    fclose(file);
    return bytes;
}

static struct exchange_imported import_text(const struct room *room, const char *text) {
    struct exchange_imported imported;
    struct error error = {0};
    write_file(room, text, strlen(text));
    if (!exchange_import(room->store, room->path, EXCHANGE_FORMATS, &imported, &error))
        fail_msg("%s", error.message);
    return imported;
}

static void assert_import_fails(const struct room *room, const void *bytes, size_t size,
                                const char *message) {
    struct exchange_imported imported;
    struct error error = {0};
    write_file(room, bytes, size);
    assert_false(exchange_import(room->store, room->path, EXCHANGE_FORMATS, &imported, &error));
    assert_null(strchr(error.message, '\n'));
    if (!strstr(error.message, message))
        fail_msg("\"%s\" is not in \"%s\"", message, error.message);
}

/* ---- what a store holds, as text ---- */

static int by_text(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

struct dump {
    char *lines[4096];
    size_t count;
};

static bool dump_profile(void *context, const struct store_profile *profile) {
    struct dump *dump = context;
    char build_id[2 * BUILD_ID_MAX + 1] = "";
    for (size_t i = 0; i < profile->image->build_id_size; i++)
        sprintf(build_id + 2 * i, "%02x", profile->image->build_id[i]);
    for (size_t i = 0; i < profile->count && dump->count < 4096; i++)
        assert_true(asprintf(&dump->lines[dump->count++],
                             "%s(%s) %s %s<%s>+0x%" PRIx64 "/%u %s %" PRIu64 " %s every %" PRIu64
                             " %s",
                             profile->process->command, profile->process->executable,
                             image_kind_name(profile->image->kind), profile->image->path, build_id,
                             profile->values[i].offset, profile->values[i].signature,
                             profile->event->name, profile->values[i].value, profile->event->unit,
                             profile->event->period, profile->event->period_unit) > 0);
    return true;
}

/* Lines of one session, sorted; the caller's. */
static char *dump_session(struct store *store, int64_t session) {
    struct dump dump = {0};
    struct error error;
    char *text = NULL;
    size_t size;
    assert_true(store_each_profile(store,
                                   &(struct store_filter){.sessions = &session, .session_count = 1},
                                   dump_profile, &dump, &error));
    qsort(dump.lines, dump.count, sizeof *dump.lines, by_text);
    FILE *memory = open_memstream(&text, &size);
    for (size_t i = 0; i < dump.count; i++) {
        fprintf(memory, "%s\n", dump.lines[i]);
        free(dump.lines[i]);
    }
    fclose(memory);
    return text;
}

static void assert_session(struct store *store, int64_t session, const char *expected) {
    char *text = dump_session(store, session);
    assert_string_equal(text, expected);
    free(text);
}

/* ---- a session by hand ---- */

static int64_t begin_session(struct store *store, double weight) {
    struct error error;
    int64_t id;
    struct store_session session = {.kind = SESSION_LIVE,
                                    .name = "by hand",
                                    .weight = weight,
                                    .start = INT64_C(1700000000123456789),
                                    .end = INT64_C(1700000001123456789)};
    assert_true(store_add_session(store, &session, &id, &error));
    session.id = id;
    assert_true(store_update_session(store, &session, &error));
    return id;
}

static int64_t add_event(struct store *store, int64_t session, const char *name, const char *unit,
                         uint64_t period, const char *period_unit) {
    struct error error;
    int64_t id;
    struct store_event event = {
        .name = name, .unit = unit, .period = period, .period_unit = period_unit};
    assert_true(store_add_event(store, session, &event, &id, &error));
    return id;
}

static int64_t add_image(struct store *store, enum image_kind kind, const char *path,
                         uint8_t build_id) {
    struct error error;
    int64_t id;
    struct store_image image = {.kind = kind, .path = path, .root = ""};
    if (build_id) {
        image.build_id_size = 20;
        memset(image.build_id, build_id, 20);
    }
    assert_true(store_image(store, &image, &id, &error));
    return id;
}

static int64_t add_process(struct store *store, int64_t session, const char *command,
                           const char *executable) {
    struct error error;
    int64_t id;
    struct store_process process = {.command = command, .executable = executable};
    assert_true(store_process(store, session, &process, &id, &error));
    return id;
}

static void add_value(struct store *store, int64_t session, int64_t process, int64_t image,
                      int64_t event, struct store_value value) {
    struct error error;
    assert_true(store_add_values(store, session, process, image, event, &value, 1, &error));
}

/* Two processes, two events, a file, the kernel with symbols, JIT code; names as hostile as names
 * may be. */
static int64_t fill(struct store *store) {
    struct error error;
    int64_t session = begin_session(store, 1);
    int64_t clock = add_event(store, session, "cpu-clock", "samples", 192000, "ns");
    int64_t misses = add_event(store, session, "imiss", "samples", 5000, "events");
    int64_t gzip = add_image(store, IMAGE_FILE, "/nowhere/bin/gz;ip", 0xab);
    int64_t kernel = add_image(store, IMAGE_KERNEL, "[kernel]", 0xcd);
    int64_t jit = add_image(store, IMAGE_JIT, "[jit] node 42", 0);
    int64_t shell = add_process(store, session, "my shell", "/bin/sh");
    int64_t node = add_process(store, session, "node", "");
    struct code_symbol symbols[] = {{0x1000, 0x100, "do_one"},
                                    {0x1100, 0x200, "do_two(int, char)"}};
    struct code_symbol code = {0x7f0000001000, 0x40, "LazyCompile:*f; x.js:1"};
    assert_true(store_set_symbols(store, kernel, symbols, 2, &error));
    assert_true(store_set_symbols(store, jit, &code, 1, &error));
    add_value(store, session, shell, gzip, clock, (struct store_value){0x4000, 0, 3});
    add_value(store, session, shell, gzip, clock, (struct store_value){0x4010, 0, 1});
    add_value(store, session, shell, gzip, misses, (struct store_value){0x4010, 0, 7});
    add_value(store, session, shell, kernel, clock, (struct store_value){0x1010, 0, 10});
    add_value(store, session, node, kernel, clock, (struct store_value){0x1180, 0, 4});
    add_value(store, session, node, jit, clock, (struct store_value){0x7f0000001008, 0, 5});
    return session;
}

static const char FILLED[] =
    "my shell(/bin/sh) file /nowhere/bin/"
    "gz;ip<abababababababababababababababababababab>+0x4000/0 cpu-clock 3 samples every 192000 ns\n"
    "my shell(/bin/sh) file /nowhere/bin/"
    "gz;ip<abababababababababababababababababababab>+0x4010/0 cpu-clock 1 samples every 192000 ns\n"
    "my shell(/bin/sh) file /nowhere/bin/"
    "gz;ip<abababababababababababababababababababab>+0x4010/0 imiss 7 samples every 5000 events\n"
    "my shell(/bin/sh) kernel [kernel]<cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd>+0x1010/0 "
    "cpu-clock "
    "10 samples every 192000 ns\n"
    "node() jit [jit] node 42<>+0x7f0000001008/0 cpu-clock 5 samples every 192000 ns\n"
    "node() kernel [kernel]<cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd>+0x1180/0 cpu-clock 4 samples "
    "every 192000 ns\n";

static void export_to_file(const struct room *room, int64_t session, enum exchange_format format,
                           const char *event) {
    struct error error = {0};
    FILE *file = fopen(room->path, "w");
    const struct store_filter filter = {.sessions = &session, .session_count = 1, .event = event};
    if (!exchange_export(room->store, &filter, format, file, &error))
        fail_msg("%s", error.message);
    assert_int_equal(fclose(file), 0);
}

/* ---- export ---- */

static void folded_stacks(void **state) {
    const struct room *room = *state;
    struct error error = {0};
    size_t size;
    int64_t session = fill(room->store);
    export_to_file(room, session, EXCHANGE_FOLDED, "cpu-clock");
    assert_string_equal(read_file(room, &size), "my shell;/nowhere/bin/gz:ip;[gz:ip] 4\n"
                                                "my shell;[kernel];do_one 10\n"
                                                "node;[kernel];do_two(int, char) 4\n"
                                                "node;[jit] node 42;LazyCompile:*f: x.js:1 5\n");
    FILE *file = fopen(room->path, "w");
    const struct store_filter all = {.sessions = &session, .session_count = 1};
    assert_false(exchange_export(room->store, &all, EXCHANGE_FOLDED, file, &error));
    fclose(file);
    assert_non_null(strstr(error.message, "there are cpu-clock and imiss: choose with --event"));
}

static void perf_script_text(void **state) {
    const struct room *room = *state;
    size_t size;
    int64_t session = fill(room->store);
    export_to_file(room, session, EXCHANGE_PERF_SCRIPT, "imiss");
    assert_string_equal(
        read_file(room, &size),
        "# a record holds all samples of a process at an address, with their periods added\n"
        "# one sample of imiss: 5000\n"
        "my shell 1 [000] 1700000000.123456:      35000 imiss: \n"
        "\t            4010 [unknown] (/nowhere/bin/gz;ip)\n\n");
    export_to_file(room, session, EXCHANGE_PERF_SCRIPT, NULL);
    const char *text = read_file(room, &size);
    assert_non_null(strstr(text,
                           "node 2 [000] 1700000000.123456:     768000 cpu-clock: \n"
                           "\tffffffff81001180 do_two(int, char)+0x80 ([kernel.kallsyms])\n\n"));
    assert_non_null(
        strstr(text, "\t    7f0000001008 LazyCompile:*f; x.js:1+0x8 ([jit] node 42)\n\n"));
}

/* Weights and 1/840 cycles: rounded so that the sum is right. 3 × 420/840 × 2.5 = 3.75, in three
 * steps of 1.25: 1, 2 (of 2.5, rounded up), 1. */
static void cycles_are_weighted(void **state) {
    const struct room *room = *state;
    size_t size;
    int64_t session = begin_session(room->store, 2.5);
    int64_t event = add_event(room->store, session, "cycles", "1/840 cycles", 0, "");
    int64_t image = add_image(room->store, IMAGE_FILE, "/nowhere/a", 0);
    int64_t process = add_process(room->store, session, "a", "");
    for (uint32_t i = 0; i < 3; i++)
        add_value(room->store, session, process, image, event,
                  (struct store_value){0x100 * i, i, 420});
    export_to_file(room, session, EXCHANGE_FOLDED, NULL);
    assert_string_equal(read_file(room, &size), "a;/nowhere/a;[a] 4\n");
}

/* ---- pprof ---- */

static void pprof_round_trip(void **state) {
    const struct room *room = *state;
    struct exchange_imported imported;
    struct error error = {0};
    int64_t session = fill(room->store);
    assert_session(room->store, session, FILLED);
    export_to_file(room, session, EXCHANGE_PPROF, NULL);

    struct store *other = open_store(room, "other.db");
    if (!exchange_import(other, room->path, EXCHANGE_FORMATS, &imported, &error))
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
    const struct room *room = *state;
    struct exchange_imported imported;
    struct error error = {0};
    int64_t session = begin_session(room->store, 1);
    int64_t event = add_event(room->store, session, "cycles", "1/840 cycles", 0, "");
    int64_t image = add_image(room->store, IMAGE_FILE, "/nowhere/a", 1);
    int64_t process = add_process(room->store, session, "a", "");
    add_value(room->store, session, process, image, event, (struct store_value){0x100, 0, 840});
    add_value(room->store, session, process, image, event, (struct store_value){0x100, 3, 8400});
    export_to_file(room, session, EXCHANGE_PPROF, NULL);
    assert_true(exchange_import(room->store, room->path, EXCHANGE_FORMATS, &imported, &error));
    char *before = dump_session(room->store, session);
    assert_session(room->store, imported.session, before);
    free(before);
}

/* Every prefix of a compressed profile and of the same uncompressed, and every third bit of the
 * latter flipped: an error of one line, or a session. */
static void pprof_damaged(void **state) {
    const struct room *room = *state;
    struct exchange_imported imported;
    struct error error;
    int64_t session = fill(room->store);
    export_to_file(room, session, EXCHANGE_PPROF, NULL);
    size_t size, plain_size;
    char *bytes = read_file(room, &size), *compressed = malloc(size), plain[1 << 14];
    memcpy(compressed, bytes, size);
    gzFile file = gzopen(room->path, "rb");
    plain_size = (size_t)gzread(file, plain, sizeof plain);
    gzclose(file);
    for (size_t i = 0; i < size; i++)
        assert_import_fails(room, compressed, i, i ? "file" : "is empty");
    free(compressed);
    for (size_t i = 0; i < 8 * plain_size + plain_size; i += i < plain_size ? 1 : 3) {
        size_t length = i < plain_size ? i : plain_size, bit = i - plain_size;
        if (i >= plain_size)
            plain[bit / 8] ^= (char)(1 << bit % 8);
        write_file(room, plain, length);
        error.message[0] = 0;
        bool good = exchange_import(room->store, room->path, EXCHANGE_PPROF, &imported, &error);
        assert_true(good || (error.message[0] && !strchr(error.message, '\n')));
        if (good)
            assert_true(store_remove_session(room->store, imported.session, &error));
        if (i >= plain_size)
            plain[bit / 8] ^= (char)(1 << bit % 8);
    }
    assert_true(store_check(room->store, &error));
}

/* A profile of an interpreter: functions without mappings and addresses. By hand: sample type
 * (wall, nanoseconds); two samples at locations 7 and 9 of functions 3 and 4; location 9 has an
 * inlined function 4 in function 3. */
static void pprof_without_mappings(void **state) {
    const struct room *room = *state;
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
    write_file(room, bytes, sizeof bytes);
    if (!exchange_import(room->store, room->path, EXCHANGE_FORMATS, &imported, &error))
        fail_msg("%s", error.message);
    snprintf(expected, sizeof expected,
             "() jit [functions]<>+0x%" PRIx64 "/0 wall 151 nanoseconds every 0 \n",
             gathered_place_of_name("foo"));
    assert_session(room->store, imported.session, expected);
    export_to_file(room, imported.session, EXCHANGE_FOLDED, NULL);
    size_t size;
    assert_string_equal(read_file(room, &size), "[unknown];[functions];foo 151\n");
}

static void pprof_errors(void **state) {
    const struct room *room = *state;
    static const uint8_t no_location[] = {0x0a, 0, 0x12, 5, 0x0a, 1, 7, 0x10, 100};
    static const uint8_t two_values[] = {0x0a, 0, 0x12, 4, 0x12, 2, 1, 2};
    static const uint8_t negative[] = {0x0a, 0,    0x12, 12,   0x12, 10,   0xff, 0xff,
                                       0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1};
    static const uint8_t huge[] = {0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1};
    static const uint8_t group[] = {0x0b, 0, 1};
    assert_import_fails(room, no_location, sizeof no_location,
                        "offset 9: a sample at location 7, which is not in the profile");
    assert_import_fails(room, two_values, sizeof two_values, "2 values, where there are 1");
    assert_import_fails(room, negative, sizeof negative, "negative");
    assert_import_fails(room, huge, sizeof huge, "one MiB is the most");
    assert_import_fails(room, group, sizeof group, "kind 3 of a field");
    assert_import_fails(room, "\x12\x00", 2, "no sample types");
}

/* 64 MB of empty strings in 64 KB. */
static void pprof_bomb(void **state) {
    const struct room *room = *state;
    static char strings[1 << 16];
    for (size_t i = 0; i < sizeof strings; i += 2)
        strings[i] = 0x32;
    gzFile file = gzopen(room->path, "wb");
    for (int i = 0; i < 1 << 10; i++)
        assert_int_equal(gzwrite(file, strings, sizeof strings), sizeof strings);
    gzclose(file);
    struct exchange_imported imported;
    struct error error = {0};
    assert_false(exchange_import(room->store, room->path, EXCHANGE_FORMATS, &imported, &error));
    assert_non_null(strstr(error.message, "expands more than"));
}

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
    const struct room *room = *state;
    struct exchange_imported imported = import_text(
        room,
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
    assert_session(room->store, imported.session, expected);
    assert_int_equal(imported.unknown, 1);
    assert_int_equal(imported.unplaced, 0);
    size_t size;
    export_to_file(room, imported.session, EXCHANGE_FOLDED, NULL);
    assert_string_equal(read_file(room, &size), "a;/nowhere/a;f 2\n"
                                                "b;/nowhere/a;[a] 1\n"
                                                "b;[kernel];k 1\n"
                                                "b;[unknown];[unknown] 1\n");
}

/* Of stacks the innermost frame that is not inlined counts; source lines are passed over; a stack
 * without frames is an unknown place; the last needs no empty line. */
static void perf_script_with_stacks(void **state) {
    const struct room *room = *state;
    struct exchange_imported imported =
        import_text(room, "my shell 1 1.0: 10 cycles: \n"
                          "\t             100 deep (inlined)\n"
                          "\t             100 f+0x10 (/nowhere/a)\n"
                          "  a.c:12\n"
                          "\t             200 main+0x20 (/nowhere/a)\n\n"
                          "my shell 1 1.0: 10 cycles: \n\n"
                          "sh 2 1.0: 10 cycles: \r\n"
                          "\t             104 f+0x14 (/nowhere/a)\r\n");
    size_t size;
    export_to_file(room, imported.session, EXCHANGE_FOLDED, NULL);
    assert_string_equal(read_file(room, &size), "my shell;/nowhere/a;f 1\n"
                                                "sh;/nowhere/a;f 1\n"
                                                "my shell;[unknown];[unknown] 1\n");
    assert_int_equal(imported.records, 3);
}

/* Without anything but addresses and names. */
static void perf_script_with_few_fields(void **state) {
    const struct room *room = *state;
    struct exchange_imported imported =
        import_text(room, "     7fb936e992bd f (/nowhere/a)\n"
                          " gzip      7fb936e992bd g+0x1 (/nowhere/a)\n"
                          " gzip      7fb936e992be [unknown] (/nowhere/a)\n"
                          "sh \n\t    100 f (/nowhere/a)\n\n");
    size_t size;
    export_to_file(room, imported.session, EXCHANGE_FOLDED, NULL);
    assert_string_equal(read_file(room, &size), "[unknown];/nowhere/a;f 1\n"
                                                "gzip;/nowhere/a;[a] 1\n"
                                                "gzip;/nowhere/a;g 1\n"
                                                "sh;/nowhere/a;f 1\n");
    assert_int_equal(imported.unplaced, 1);
}

/* Two imports agree on where a procedure is, so that they can be compared. */
static void imports_compare(void **state) {
    const struct room *room = *state;
    const char *text = "a 7 1.0: 1 cycles:  5647b5325100 f+0x10 (/nowhere/a)\n";
    const char *elsewhere = "a 8 1.0: 1 cycles:  7fff05325100 f+0x10 (/nowhere/a)\n";
    char *first = dump_session(room->store, import_text(room, text).session);
    assert_session(room->store, import_text(room, elsewhere).session, first);
    free(first);
}

/* What was written as perf script's text gives the same counts again. */
static void perf_script_again(void **state) {
    const struct room *room = *state;
    struct exchange_imported imported;
    struct error error = {0};
    size_t size;
    int64_t session = fill(room->store);
    export_to_file(room, session, EXCHANGE_FOLDED, "cpu-clock");
    char *before = strdup(read_file(room, &size));
    export_to_file(room, session, EXCHANGE_PERF_SCRIPT, NULL);
    assert_true(exchange_import(room->store, room->path, EXCHANGE_FORMATS, &imported, &error));
    export_to_file(room, imported.session, EXCHANGE_FOLDED, "cpu-clock");
    const char *after = read_file(room, &size);
    assert_non_null(strstr(after, "my shell;/nowhere/bin/gz:ip;[gz:ip] 4\n"));
    assert_non_null(strstr(after, "my shell;[kernel];do_one 10\n"));
    assert_non_null(strstr(before, "my shell;[kernel];do_one 10\n"));
    free(before);
}

static void perf_script_errors(void **state) {
    const struct room *room = *state;
    const char *log = "Nov 22 03:11:59 host prog[12]: a message\nanother\n";
    const char *zero = "a 7 1.0: 1 cycles:  100 f (/a)\n\0";
    assert_import_fails(room, log, strlen(log), "line 1: not a line of perf script");
    assert_import_fails(room, "", 0, "is empty");
    assert_import_fails(room, "# only\n", 7, "no samples in it");
    assert_import_fails(room, "PERFILE2 and more", 17, "perf's own format is not read");
    assert_import_fails(room, zero, strlen(zero) + 1, "pprof");
    char *line = malloc(3 << 20);
    memset(line, 'x', 3 << 20);
    assert_import_fails(room, line, 3 << 20, "line 1: longer than a megabyte");
    free(line);
    struct exchange_imported imported;
    struct error error = {0};
    assert_false(exchange_import(room->store, room->folder, EXCHANGE_FORMATS, &imported, &error));
    assert_non_null(strstr(error.message, "is a folder"));
    assert_session(room->store, 1, "");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(heads),
        cmocka_unit_test(frames),
        cmocka_unit_test(mappings),
        cmocka_unit_test_setup_teardown(folded_stacks, set_up, tear_down),
        cmocka_unit_test_setup_teardown(perf_script_text, set_up, tear_down),
        cmocka_unit_test_setup_teardown(cycles_are_weighted, set_up, tear_down),
        cmocka_unit_test_setup_teardown(pprof_round_trip, set_up, tear_down),
        cmocka_unit_test_setup_teardown(pprof_of_a_simulation, set_up, tear_down),
        cmocka_unit_test_setup_teardown(pprof_damaged, set_up, tear_down),
        cmocka_unit_test_setup_teardown(pprof_without_mappings, set_up, tear_down),
        cmocka_unit_test_setup_teardown(pprof_errors, set_up, tear_down),
        cmocka_unit_test_setup_teardown(pprof_bomb, set_up, tear_down),
        cmocka_unit_test_setup_teardown(perf_script_with_mappings, set_up, tear_down),
        cmocka_unit_test_setup_teardown(perf_script_with_stacks, set_up, tear_down),
        cmocka_unit_test_setup_teardown(perf_script_with_few_fields, set_up, tear_down),
        cmocka_unit_test_setup_teardown(imports_compare, set_up, tear_down),
        cmocka_unit_test_setup_teardown(perf_script_again, set_up, tear_down),
        cmocka_unit_test_setup_teardown(perf_script_errors, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
