/* .ctrace files: what is written is read back, and nothing that can happen to a file on the way
 * makes the reader crash, hang or answer wrongly. */
#include "trace_script.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xxhash.h>

#include "temporary.h"
#include "trace/file_format.h"
#include "trace/prediction_sets.h"

static struct script script;
static char path[TEMPORARY_BYTES]; /* a directory */
static char file[64];              /* in memory: tests rewrite it thousands of times */

#define LOOP "\x8b\x07\x48\x83\xc7\x04\xff\xc9\x75\xf6"
#define RET  "\xc3"

static uint64_t random_state;
static uint64_t random_next(void) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return random_state >> 33 ^ random_state >> 11;
}

/* Events of two blocks: mostly strided, at times anything that fits the format. */
static void make_events(uint64_t *events, uint32_t count) {
    uint64_t address = 0x7fff12345678;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t r = random_next() % 100;
        if (i == 0 || r < 30)
            events[i] = r % 2;
        else if (r < 90)
            events[i] = event_access(r % 7 == 0, 3, 0, address += 8);
        else
            events[i] = random_next() << 40 | random_next() | UINT64_C(1) << 62;
    }
}

/* Small numbers, and the largest. */
static void make_thread_events(void) {
    struct thread_event *event = script_event(&script, 0, THREAD_EVENT_CREATE, 3);
    event->other = 1;
    event = script_event(&script, 0, THREAD_EVENT_WAIT, 4);
    event->operation = FUTEX_OP_WAIT_BITSET;
    event->cause = THREAD_CAUSES - 1;
    event->flags = THREAD_EVENT_SHARED;
    event->entry = UINT64_MAX - 1;
    event->exit = event->address = event->address2 = event->duration_ns = UINT64_MAX;
    event->asked_ns = 0;
    event->result = INT64_MIN;
    event->call = event->value = event->value2 = UINT32_MAX;
    event->bitset = 0;
    event = script_event(&script, 1, THREAD_EVENT_BLOCK, 4);
    event->result = -110;
    event->asked_ns = 1000000;
}

/* One item of every kind, code in two processes, chunks of two threads. */
static void make_script(uint32_t chunk_events) {
    static uint64_t events[4][4096];
    random_state = 1;
    script_begin(&script, ISA_X86_64);
    script_block(&script, 0, 0x1000, 4, LOOP, 10);
    script_block(&script, 0, 0x100a, 1, RET, 1);
    for (uint32_t i = 0; i < 4; i++) {
        make_events(events[i], chunk_events);
        if (i == 1)
            make_thread_events();
        script_data(&script, i % 2, events[i], chunk_events);
    }
    script_thread_end(&script, 1);
    script_process(&script, 1);
    script.items[script.count - 1].process.traced = false;
    script.items[script.count - 1].process.untraced_reason = "set-user-id program";
    script_block(&script, 1, 0x1000, 4, LOOP, 10);
    script_block(&script, 1, 0x100a, 1, RET, 1);
    script_data(&script, 2, events[0], chunk_events);
    script.items[script.count - 1].data.process = 1;
    static const struct code_symbol symbols[] = {{0x1000, 10, "JS:*hot loop.js:1:13"},
                                                 {0x100a, 1, "ret"}};
    script_add(&script, ITEM_SYMBOLS)->symbols = (struct item_symbols){0, 2, symbols};
    script_add(&script, ITEM_PYTHON)->python =
        (struct item_python){0, 1, 12, "Class.method", "/tmp/a.py"};
    script_add(&script, ITEM_NOTE)->note = "a note";
    script_add(&script, ITEM_END)->end =
        (struct trace_exit){.known = true, .signaled = true, .status = 9};
}

static void write_script(const char *to, bool compress) {
    struct error error;
    struct file_writer *writer = file_writer_open(to, compress, &error);
    if (!writer)
        fail_msg("%s", error.message);
    for (size_t i = 0; i < script.count; i++)
        if (!file_writer_put(writer, &script.items[i], &error))
            fail_msg("%s", error.message);
    uint64_t bytes;
    if (!file_writer_close(writer, &bytes, &error))
        fail_msg("%s", error.message);
    struct stat status;
    if (stat(to, &status) == 0 && S_ISREG(status.st_mode))
        assert_int_equal(status.st_size, bytes);
}

static bool same_text(const char *one, const char *other) {
    return one == other || (one && other && strcmp(one, other) == 0);
}

static bool same_item(const struct item *a, const struct item *b) {
    if (a->kind != b->kind)
        return false;
    switch (a->kind) {
    case ITEM_HEADER:
        return a->header.isa == b->header.isa && a->header.addresses == b->header.addresses &&
               same_text(a->header.command, b->header.command) &&
               same_text(a->header.host, b->header.host);
    case ITEM_PROCESS:
        return a->process.process == b->process.process && a->process.pid == b->process.pid &&
               a->process.parent == b->process.parent &&
               a->process.generation == b->process.generation &&
               a->process.traced == b->process.traced &&
               same_text(a->process.command, b->process.command) &&
               same_text(a->process.executable, b->process.executable) &&
               same_text(a->process.untraced_reason, b->process.untraced_reason);
    case ITEM_IMAGE:
        return a->image.process == b->image.process && a->image.image == b->image.image &&
               a->image.kind == b->image.kind && a->image.start == b->image.start &&
               a->image.end == b->image.end && a->image.file_offset == b->image.file_offset &&
               a->image.build_id_size == b->image.build_id_size &&
               memcmp(a->image.build_id, b->image.build_id, 20) == 0 &&
               same_text(a->image.path, b->image.path);
    case ITEM_CODE:
        return a->code.process == b->code.process && a->code.block == b->code.block &&
               a->code.image == b->code.image && a->code.address == b->code.address &&
               a->code.offset == b->code.offset && a->code.insn_count == b->code.insn_count &&
               a->code.size == b->code.size &&
               memcmp(a->code.bytes, b->code.bytes, a->code.size) == 0;
    case ITEM_DATA:
        return a->data.process == b->data.process && a->data.thread == b->data.thread &&
               a->data.ticket == b->data.ticket && a->data.first_insn == b->data.first_insn &&
               a->data.insn_count == b->data.insn_count &&
               a->data.event_count == b->data.event_count &&
               (!a->data.event_count ||
                memcmp(a->data.events, b->data.events, a->data.event_count * 8) == 0);
    case ITEM_THREAD_END:
        return a->thread_ended == b->thread_ended;
    case ITEM_SYMBOLS:
        for (uint32_t i = 0; i < a->symbols.count; i++)
            if (a->symbols.symbols[i].start != b->symbols.symbols[i].start ||
                a->symbols.symbols[i].size != b->symbols.symbols[i].size ||
                !same_text(a->symbols.symbols[i].name, b->symbols.symbols[i].name))
                return false;
        return a->symbols.process == b->symbols.process && a->symbols.count == b->symbols.count;
    case ITEM_PYTHON:
        return a->python.process == b->python.process && a->python.function == b->python.function &&
               a->python.first_line == b->python.first_line &&
               same_text(a->python.name, b->python.name) &&
               same_text(a->python.path, b->python.path);
    case ITEM_CUT:
    case ITEM_NOTE:
        return same_text(a->note, b->note);
    case ITEM_THREAD_EVENT:
        return memcmp(&a->event, &b->event, sizeof a->event) == 0;
    case ITEM_MARKER:
    case ITEM_EFFECT:
    case ITEM_CHILD:
        return false; /* never in a file */
    case ITEM_END:
        return a->end.known == b->end.known && a->end.signaled == b->end.signaled &&
               a->end.status == b->end.status;
    }
    return false;
}

/* Reads a file: how many items equal the script's, whether a note on truncation came, and the last
 * status (−1: an error, also of opening). Items after the first wrong one fail the test. */
struct outcome {
    size_t items;
    bool cut;
    int status;
    struct error error;
};

static struct outcome read_file(const char *from) {
    struct outcome outcome = {.status = -1};
    struct item_source source;
    if (!file_source_open(from, &source, &outcome.error))
        return outcome;
    struct item item;
    while ((outcome.status = source.next(source.context, &item, &outcome.error)) > 0) {
        bool known = outcome.items < script.count && !outcome.cut &&
                     same_item(&item, &script.items[outcome.items]);
        if (known) {
            outcome.items++;
            continue;
        }
        assert_int_equal(item.kind, ITEM_CUT);
        assert_non_null(strstr(item.note, "cut short after"));
        assert_false(outcome.cut);
        outcome.cut = true;
    }
    source.close(source.context);
    return outcome;
}

static void expect_whole(const char *from) {
    struct outcome outcome = read_file(from);
    if (outcome.status < 0)
        fail_msg("%s", outcome.error.message);
    assert_int_equal(outcome.items, script.count);
    assert_false(outcome.cut);
}

static uint8_t *load_file(size_t *size) {
    struct stat status = {0};
    int fd = open(file, O_RDONLY);
    assert_true(fd >= 0 && fstat(fd, &status) == 0);
    uint8_t *bytes = malloc((size_t)status.st_size + 1);
    assert_non_null(bytes);
    assert_int_equal(read(fd, bytes, (size_t)status.st_size), status.st_size);
    close(fd);
    *size = (size_t)status.st_size;
    return bytes;
}

static void store_file(const uint8_t *bytes, size_t size) {
    int fd = open(file, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, size), size);
    close(fd);
}

/* Decodes whatever the file holds, as every verb does; must not crash. */
static void read_as_trace(void) {
    struct error error;
    struct trace *trace = trace_open(file, &error);
    struct trace_batch batch;
    while (trace && trace_next(trace, &batch, &error) > 0)
        ;
    trace_close(trace);
}

static void test_round_trip(void **state) {
    (void)state;
    for (int compress = 0; compress < 2; compress++)
        for (uint32_t events = 1; events < 4096; events = events * 2 + 1) {
            make_script(events);
            write_script(file, compress);
            expect_whole(file);
        }
}

/* Errors of predictions on both sides of where codes change, at every place among eight: as many as
 * are coded at once, and the few behind them. */
static void test_sizes_of_errors(void **state) {
    (void)state;
    static const uint64_t SIZES[] = {
        0,          1,          0x7f,       0x80,       0x7fff,      0x8000,
        0x7ffeffff, 0x7fff0000, 0x7fff7fff, 0x7fff8000, 0x7fffffff,  0x80000000,
        0xffffffff, 1ull << 32, 1ull << 46, 1ull << 47, 0x123456789, (1ull << 47) - 1};
    enum { KINDS = sizeof SIZES / sizeof *SIZES, EVENTS = 64 * KINDS + 7 };
    static uint64_t events[EVENTS];
    for (uint32_t accesses = 1; accesses < 8; accesses++) { /* of an execution of the block */
        uint64_t addresses[8];
        memset(addresses, 0x7f, sizeof addresses);
        script_begin(&script, ISA_X86_64);
        script_block(&script, 0, 0x1000, 4, LOOP, 10);
        for (uint32_t i = 0; i < EVENTS; i++) {
            const uint32_t execution = i / (accesses + 1), which = i % (accesses + 1);
            const uint64_t size = SIZES[(execution + which) % KINDS];
            addresses[which] += execution / KINDS % 2 ? -size : size;
            events[i] = which ? event_access(0, 2, 0, addresses[which]) : 0;
        }
        script_data(&script, 0, events, EVENTS);
        write_script(file, false);
        expect_whole(file);
    }
}

static void test_long_trace(void **state) { /* many resets, blocks with many events */
    (void)state;
    enum { CHUNKS = 1000, EVENTS = 4096 };
    static uint64_t events[EVENTS];
    script_begin(&script, ISA_X86_64);
    script_block(&script, 0, 0x1000, 4, LOOP, 10);
    for (uint32_t i = 0; i < EVENTS; i++)
        events[i] = i % 2000 ? event_access(0, 2, 3, 0x5000 + 4 * (i % 2000)) : 0;
    for (int i = 0; i < CHUNKS; i++)
        script_data(&script, 0, events, EVENTS);
    write_script(file, false);
    expect_whole(file);
    struct stat status;
    assert_int_equal(stat(file, &status), 0);
    assert_true(status.st_size < CHUNKS * EVENTS); /* a quarter of a byte an event, and a bit */
}

/* More processes than sets of predictions, taking turns. */
static void test_many_processes(void **state) {
    (void)state;
    enum { PROCESSES = 7, EVENTS = 1000, ROUNDS = 20 };
    static uint64_t events[PROCESSES][EVENTS];
    random_state = 3;
    script_begin(&script, ISA_X86_64);
    for (uint32_t process = 0; process < PROCESSES; process++) {
        if (process > 0)
            script_process(&script, process);
        script_block(&script, process, 0x1000, 4, LOOP, 10);
        script_block(&script, process, 0x100a, 1, RET, 1);
        make_events(events[process], EVENTS);
    }
    for (uint32_t i = 0; i < ROUNDS * PROCESSES; i++) {
        uint32_t process = (uint32_t)random_next() % PROCESSES;
        script_data(&script, process, events[process], EVENTS);
        script.items[script.count - 1].data.process = process;
    }
    write_script(file, false);
    expect_whole(file);
}

static void test_flipped_bytes(void **state) {
    (void)state;
    for (int compress = 0; compress < 2; compress++) {
        make_script(12);
        write_script(file, compress);
        size_t size;
        uint8_t *bytes = load_file(&size);
        for (size_t i = 0; i < size; i++) {
            static const uint8_t FLIPS[] = {0x01, 0x80, 0xff};
            for (size_t f = 0; f < sizeof FLIPS; f++) {
                bytes[i] ^= FLIPS[f];
                store_file(bytes, size);
                struct outcome outcome = read_file(file);
                /* What an index says at the very end cannot undo what was read. */
                assert_true(outcome.status < 0 || outcome.cut);
                assert_true(outcome.status == 0 || outcome.error.message[0]);
                read_as_trace();
                bytes[i] ^= FLIPS[f];
            }
        }
        free(bytes);
    }
}

static void test_truncated(void **state) {
    (void)state;
    make_script(12);
    write_script(file, false);
    size_t size, items = 0;
    uint8_t *bytes = load_file(&size);
    for (size_t length = 0; length < size; length++) {
        store_file(bytes, length);
        struct outcome outcome = read_file(file);
        assert_true(outcome.cut || (outcome.status < 0 && outcome.items == 0));
        assert_true(outcome.items >= items);
        items = outcome.items;
        read_as_trace();
    }
    assert_int_equal(items, script.count); /* without the index, everything is there */
    free(bytes);
}

/* Offset of the n-th record of a type. */
static size_t find_record(const uint8_t *bytes, size_t size, uint32_t type, int n) {
    size_t at = FILE_PROLOGUE_BYTES;
    for (; at < size; at += RECORD_HEAD_BYTES + get_u32(bytes + at + 4))
        if (get_u32(bytes + at) == type && n-- == 0)
            return at;
    fail_msg("no record of type %u", type);
    return 0;
}

static void seal(uint8_t *record) {
    uint64_t seed = XXH3_64bits(record, 8);
    put_u64(record + 8,
            XXH3_64bits_withSeed(record + RECORD_HEAD_BYTES, get_u32(record + 4), seed));
}

/* Writes `value` into the payload of a record, with a right checksum: an error must follow. */
static void expect_refused(uint32_t type, size_t field, uint64_t value, size_t value_size,
                           const char *part) {
    make_script(12);
    write_script(file, false);
    size_t size;
    uint8_t *bytes = load_file(&size);
    uint8_t *record = bytes + find_record(bytes, size, type, 0);
    for (size_t i = 0; i < value_size; i++)
        record[RECORD_HEAD_BYTES + field + i] = (uint8_t)(value >> 8 * i);
    seal(record);
    store_file(bytes, size);
    struct outcome outcome = read_file(file);
    assert_int_equal(outcome.status, -1);
    if (!strstr(outcome.error.message, part) || !strstr(outcome.error.message, file))
        fail_msg("\"%s\" lacks \"%s\"", outcome.error.message, part);
    free(bytes);
}

static void test_absurd(void **state) {
    (void)state;
    expect_refused(RECORD_HEADER, 0, 99, 1, "malformed");
    expect_refused(RECORD_HEADER, 4, UINT32_MAX, 4, "malformed");
    expect_refused(RECORD_PROCESS, 0, 5, 4, "out of order");
    expect_refused(RECORD_IMAGE, 36, 21, 4, "malformed");
    expect_refused(RECORD_CODE, 4, 1, 4, "out of order");
    expect_refused(RECORD_CODE, 8, UINT32_MAX, 4, "too many");
    expect_refused(RECORD_CODE, 12 + 24, UINT32_MAX, 4, "cut short");
    expect_refused(RECORD_CODE, 0, 1, 4, "no known process");
    expect_refused(RECORD_DATA, 0, 1, 4, "malformed");
    expect_refused(RECORD_DATA, 32, UINT32_MAX, 4, "absurd");
    expect_refused(RECORD_DATA, 32, 13, 4, "");
    expect_refused(RECORD_DATA, 36, 0, 4, "not there");
    expect_refused(RECORD_DATA, 36, 4, 4, "not there");
    expect_refused(RECORD_DATA, 36, 8, 4, "malformed");
    expect_refused(RECORD_DATA, 36, 3, 4, "compressed");
    expect_refused(RECORD_DATA, 40, UINT64_MAX, 8, "absurd");
    expect_refused(RECORD_DATA, 40, 16 << 20, 8, "disagree");
    expect_refused(RECORD_SYMBOLS, 0, 2, 4, "malformed");
    expect_refused(RECORD_SYMBOLS, 4, UINT32_MAX, 4, "malformed");
    expect_refused(RECORD_SYMBOLS, 8, 0x2000, 8, "symbol");      /* out of order */
    expect_refused(RECORD_SYMBOLS, 16, 11, 8, "symbol");         /* it reaches into the next */
    expect_refused(RECORD_SYMBOLS, 16, 0, 8, "symbol");          /* it is empty */
    expect_refused(RECORD_SYMBOLS, 16, UINT64_MAX, 8, "symbol"); /* it wraps */
    expect_refused(RECORD_SYMBOLS, 24, 0, 4, "symbol");          /* it has no name */
    expect_refused(RECORD_INDEX, 0, 1, 8, "counts other instructions");
    expect_refused(RECORD_INDEX, 8, UINT64_MAX / 24, 8, "index");
    make_script(12);
    write_script(file, false);
    size_t size;
    uint8_t *bytes = load_file(&size);
    put_u32(bytes + FILE_PROLOGUE_BYTES + 4, UINT32_MAX);
    store_file(bytes, size);
    assert_non_null(strstr(read_file(file).error.message, "absurd"));
    put_u32(bytes + 8, 7);
    store_file(bytes, size);
    assert_non_null(strstr(read_file(file).error.message, "version 7"));
    store_file((const uint8_t *)"\x7f"
                                "ELF",
               4);
    assert_non_null(strstr(read_file(file).error.message, "not a trace"));
    store_file(bytes, 0);
    assert_non_null(strstr(read_file(file).error.message, "empty"));
    free(bytes);
}

/* Threads of two processes; each process's first has the process's predictions. */
static void make_threads(uint32_t chunk_events) {
    enum { THREADS = 6, ROUNDS = 300 };
    static uint64_t events[THREADS][1000];
    random_state = 7;
    script_begin(&script, ISA_X86_64);
    for (uint32_t process = 0; process < 2; process++) {
        if (process > 0)
            script_process(&script, process);
        script_block(&script, process, 0x1000, 4, LOOP, 10);
        script_block(&script, process, 0x100a, 1, RET, 1);
    }
    for (uint32_t thread = 0; thread < THREADS; thread++)
        make_events(events[thread], chunk_events);
    for (uint32_t i = 0; i < ROUNDS * THREADS; i++) {
        const uint32_t thread = i < THREADS ? i : (uint32_t)random_next() % (THREADS - 1);
        script_data(&script, thread, events[thread], chunk_events);
        script.items[script.count - 1].data.process = thread % 2;
        if (i == THREADS)
            script_thread_end(&script, THREADS - 1);
    }
}

/* Reads the file for one thread: its chunks are the script's, and those of others too or, if they
 * are `skipped`, without events. */
static void expect_alone(uint32_t thread, bool skipped) {
    struct item_source source;
    struct error error;
    assert_true(file_source_open(file, &source, &error));
    source.only(source.context, thread);
    struct item item;
    size_t count = 0;
    int status;
    while ((status = source.next(source.context, &item, &error)) > 0) {
        struct item expected = script.items[count++];
        if (skipped && expected.kind == ITEM_DATA && expected.data.thread != thread)
            expected.data.event_count = 0;
        assert_true(same_item(&item, &expected));
    }
    if (status < 0)
        fail_msg("%s", error.message);
    assert_int_equal(count, script.count);
    source.close(source.context);
}

static void test_alone(void **state) {
    (void)state;
    for (int compress = 0; compress < 2; compress++)
        for (uint32_t events = 10; events <= 1000; events *= 10) {
            make_threads(events);
            write_script(file, compress);
            expect_whole(file);
            for (uint32_t thread = 0; thread < 7; thread++)
                expect_alone(thread, true);
            expect_alone(SOURCE_NO_THREAD, true);
        }
}

/* In a file of before sets of threads, every chunk may count. */
static void test_alone_before(void **state) {
    (void)state;
    make_script(12);
    write_script(file, false);
    size_t size;
    uint8_t *bytes = load_file(&size);
    for (int i = 0; i < 4; i++) { /* the first chunks of two threads, and their second ones */
        uint8_t *record = bytes + find_record(bytes, size, RECORD_DATA, i);
        uint8_t *flags = record + RECORD_HEAD_BYTES + 36;
        assert_int_equal(get_u32(flags), (i < 2 ? DATA_RESET : 0) | (i % 2 ? DATA_OWN : 0));
        if (i == 1)
            put_u32(flags, DATA_RESET);
        seal(record);
        store_file(bytes, size);
    }
    struct item_source source;
    struct error error;
    assert_true(file_source_open(file, &source, &error));
    source.only(source.context, 1);
    struct item item;
    int chunks = 0;
    while (chunks < 2 && source.next(source.context, &item, &error) > 0)
        if (item.kind == ITEM_DATA) {
            assert_int_equal(item.data.event_count, 12);
            chunks++;
        }
    assert_int_equal(chunks, 2);
    source.close(source.context);
    free(bytes);
}

/* The end of a file lies in a chunk that is skipped. */
static void test_alone_truncated(void **state) {
    (void)state;
    make_script(4000);
    write_script(file, false);
    size_t size;
    uint8_t *bytes = load_file(&size);
    const size_t third = find_record(bytes, size, RECORD_DATA, 2);
    for (size_t length = third; length < third + 200; length++) {
        store_file(bytes, length);
        struct item_source source;
        struct error error;
        assert_true(file_source_open(file, &source, &error));
        source.only(source.context, 1);
        struct item item;
        int chunks = 0, status;
        bool cut = false;
        while ((status = source.next(source.context, &item, &error)) > 0) {
            chunks += item.kind == ITEM_DATA;
            cut |= item.kind == ITEM_CUT;
        }
        assert_true(status == 0 && chunks == 2 && cut);
        source.close(source.context);
    }
    free(bytes);
}

/* Sets of threads are dropped when they weigh too much together, or their threads have ended. */
static void test_sets_of_threads(void **state) {
    (void)state;
    enum { BLOCKS = FILE_MAX_WEIGHT / 4 };
    struct prediction_sets sets;
    bool fresh;
    prediction_sets_init(&sets);
    for (uint32_t round = 0; round < 2; round++)
        for (uint32_t thread = 0; thread < 3; thread++) {
            assert_non_null(prediction_sets_take(&sets, 0, thread, true, BLOCKS, &fresh));
            assert_int_equal(fresh, round == 0);
        }
    prediction_sets_forget(&sets, 1);
    assert_non_null(prediction_sets_take(&sets, 0, 1, true, BLOCKS, &fresh));
    assert_true(fresh);
    assert_non_null(prediction_sets_take(&sets, 0, 3, true, BLOCKS, &fresh));
    for (uint32_t thread = 3; thread-- > 0;) {
        assert_non_null(prediction_sets_take(&sets, 0, thread, true, BLOCKS, &fresh));
        assert_true(fresh);
    }
    prediction_sets_expire(&sets);
    assert_non_null(prediction_sets_take(&sets, 0, 0, true, BLOCKS, &fresh));
    assert_true(fresh);
    prediction_sets_free(&sets);
}

static void test_bad_items(void **state) { /* the writer refuses what no reader would take */
    (void)state;
    uint64_t unknown_block = 2;
    make_script(12);
    for (size_t i = 0; i < script.count; i++)
        if (script.items[i].kind == ITEM_DATA) {
            script.items[i].data.events = &unknown_block;
            script.items[i].data.event_count = 1;
            break;
        }
    struct error error, again;
    struct file_writer *writer = file_writer_open(file, false, &error);
    assert_non_null(writer);
    size_t i = 0;
    while (file_writer_put(writer, &script.items[i], &error))
        i++;
    assert_int_equal(script.items[i].kind, ITEM_DATA);
    assert_non_null(strstr(error.message, "block 2"));
    assert_false(file_writer_put(writer, &script.items[0], &again));
    assert_string_equal(error.message, again.message);
    assert_false(file_writer_close(writer, NULL, &again));
    struct outcome outcome = read_file(file);
    assert_int_equal(outcome.items, i);
    assert_true(outcome.cut);
}

static void test_disk_full(void **state) {
    (void)state;
    struct error error;
    make_script(4000);
    struct file_writer *writer = file_writer_open("/dev/full", false, &error);
    assert_non_null(writer);
    bool good = true;
    for (int i = 0; i < 2000 && good; i++)
        for (size_t j = 0; j < script.count && good && (i == 0 || j < 1); j++)
            good = file_writer_put(writer, &script.items[i ? 5 : j], &error);
    good = file_writer_close(writer, NULL, &error) && good;
    assert_false(good);
    assert_non_null(strstr(error.message, "/dev/full"));
    assert_non_null(strstr(error.message, strerror(ENOSPC)));
}

/* What another wrote into the file before there was something new goes as an old file does. */
static void test_file_that_grew(void **state) {
    (void)state;
    struct error error;
    make_script(50);
    assert_int_equal(truncate(file, 0), 0);
    struct file_writer *writer = file_writer_open(file, false, &error);
    assert_non_null(writer);
    assert_int_equal(truncate(file, 1 << 20), 0);
    for (size_t i = 0; i < script.count; i++)
        assert_true(file_writer_put(writer, &script.items[i], &error));
    assert_true(file_writer_close(writer, NULL, &error));
    expect_whole(file);
}

/* A file that may not become larger while several buffers are on their way: what fits is there and
 * can be read, and the error tells how much, from then on. */
static void test_limited_file(void **state) {
    (void)state;
    enum { LIMIT = (5 << 20) + 12345 };
    struct rlimit before;
    struct error error, again;
    uint64_t bytes;
    make_script(4000);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &(struct rlimit){LIMIT, before.rlim_max}), 0);
    struct file_writer *writer = file_writer_open(file, false, &error);
    assert_non_null(writer);
    bool good = true;
    for (int i = 0; i < 100000 && good; i++)
        for (size_t j = 0; j < script.count && good && (i == 0 || j < 1); j++)
            good = file_writer_put(writer, &script.items[i ? 5 : j], &error);
    assert_false(good);
    assert_false(file_writer_put(writer, &script.items[5], &again));
    assert_string_equal(error.message, again.message);
    assert_false(file_writer_close(writer, &bytes, &again));
    assert_string_equal(error.message, again.message);
    setrlimit(RLIMIT_FSIZE, &before);
    signal(SIGXFSZ, handler);
    assert_int_equal(bytes, LIMIT);
    assert_non_null(strstr(error.message, "cannot write more than 5255225 bytes"));
    struct stat status;
    assert_int_equal(stat(file, &status), 0);
    assert_int_equal(status.st_size, LIMIT);
    struct item_source source;
    struct item item = {0};
    size_t items = 0;
    assert_true(file_source_open(file, &source, &error));
    for (; source.next(source.context, &item, &error) > 0; items++)
        ;
    source.close(source.context);
    assert_int_equal(item.kind, ITEM_CUT);
    assert_true(items > script.count);
}

static void test_terminal(void **state) {
    (void)state;
    struct error error;
    int terminal = posix_openpt(O_RDWR | O_NOCTTY);
    if (terminal < 0 || unlockpt(terminal) != 0) {
        print_message("no pseudo-terminal\n");
        skip();
    }
    assert_null(file_writer_open(ptsname(terminal), false, &error));
    assert_non_null(strstr(error.message, "terminal"));
    close(terminal);
}

/* A command that cannot be started costs no old trace, and leaves no empty one. */
static void test_nothing_to_write(void **state) {
    (void)state;
    struct error error;
    char absent[256];
    snprintf(absent, sizeof absent, "%s/absent", path);
    make_script(12);
    write_script(file, false);
    const char *paths[] = {file, absent};
    for (int i = 0; i < 2; i++) {
        struct file_writer *writer = file_writer_open(paths[i], false, &error);
        assert_non_null(writer);
        assert_true(file_writer_close(writer, NULL, &error));
    }
    expect_whole(file);
    assert_int_equal(access(absent, F_OK), -1);
}

static void *write_in_thread(void *to) {
    write_script(to, false);
    return NULL;
}

static void test_pipe(void **state) {
    (void)state;
    char fifo[256];
    snprintf(fifo, sizeof fifo, "%s/fifo", path);
    assert_int_equal(mkfifo(fifo, 0600), 0);
    make_script(4000);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, write_in_thread, fifo), 0);
    expect_whole(fifo);
    pthread_join(thread, NULL);
    unlink(fifo);
}

/* A writer that dies by SIGKILL leaves what it wrote until half a second before. */
static void test_killed(void **state) {
    (void)state;
    make_script(4000);
    store_file(NULL, 0);
    pid_t child = fork();
    if (child == 0) {
        struct error error;
        struct file_writer *writer = file_writer_open(file, false, &error);
        for (size_t i = 0; i < 6; i++)
            file_writer_put(writer, &script.items[i], &error);
        for (;;) {
            file_writer_put(writer, &script.items[5], &error);
            usleep(1000);
        }
    }
    for (size_t i = 6; i < SCRIPT_MAX; i++) /* the same chunk over and over */
        script.items[i] = script.items[5];
    script.count = SCRIPT_MAX;
    struct outcome outcome = {0};
    for (int i = 0; i < 6000 && outcome.items <= 6; i++) {
        usleep(10000);
        outcome = read_file(file);
    }
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    outcome = read_file(file);
    if (outcome.status < 0)
        fail_msg("%s", outcome.error.message);
    assert_true(outcome.items > 6 && outcome.cut);
}

static int make_directory(void **state) {
    (void)state;
    if (!mkdtemp(temporary_name(path, "trace-file")))
        return -1;
    int fd = memfd_create("culprit-test", 0);
    snprintf(file, sizeof file, "/proc/self/fd/%d", fd);
    return fd < 0 ? -1 : 0;
}

static int remove_directory(void **state) {
    (void)state;
    return rmdir(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_long_trace),
        cmocka_unit_test(test_sizes_of_errors),
        cmocka_unit_test(test_many_processes),
        cmocka_unit_test(test_flipped_bytes),
        cmocka_unit_test(test_truncated),
        cmocka_unit_test(test_absurd),
        cmocka_unit_test(test_bad_items),
        cmocka_unit_test(test_disk_full),
        cmocka_unit_test(test_file_that_grew),
        cmocka_unit_test(test_limited_file),
        cmocka_unit_test(test_terminal),
        cmocka_unit_test(test_pipe),
        cmocka_unit_test(test_killed),
        cmocka_unit_test(test_nothing_to_write),
        cmocka_unit_test(test_alone),
        cmocka_unit_test(test_alone_before),
        cmocka_unit_test(test_alone_truncated),
        cmocka_unit_test(test_sets_of_threads),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
