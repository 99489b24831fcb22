/* What a check of a trace file finds: by its checksums and its parts, and by reading everything. */
#include "trace_script.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/trace.h"

/* Predictions are reset before chunks 0 and 512; the sixteen chunks from there on are decoded. */
enum { CHUNKS = 600, EVENTS = 64, NONE = CHUNKS };

static struct script script;
static char file[64]; /* in memory: tests rewrite it hundreds of times */

static bool check(enum check_depth depth, struct error *error) {
    const struct watcher watcher = {0};
    return trace_check(file, depth, false, &watcher, error);
}

/* A loop of four instructions, the first of which loads; in chunk `bad` a fifth one would. */
static void write_trace(unsigned bad, bool compress) {
    static uint64_t events[EVENTS], wrong[EVENTS];
    struct error error;
    script_begin(&script, ISA_X86_64);
    script_block(&script, 0, 0x1000, 4, "\x8b\x07\x48\x83\xc7\x04\xff\xc9\x75\xf6", 10);
    for (uint32_t i = 0; i < EVENTS; i++) {
        events[i] = i % 2 ? event_access(0, 2, 0, 0x5000 + 2 * i) : 0;
        wrong[i] = i % 2 ? event_access(0, 2, 4, 0x5000 + 2 * i) : 0;
    }
    for (unsigned i = 0; i < CHUNKS; i++)
        script_data(&script, 0, i == bad ? wrong : events, EVENTS);
    assert_int_equal(truncate(file, 0), 0);
    struct file_writer *writer = file_writer_open(file, compress, &error);
    assert_non_null(writer);
    for (size_t i = 0; i < script.count; i++)
        assert_true(file_writer_put(writer, &script.items[i], &error));
    assert_true(file_writer_close(writer, NULL, &error));
}

static size_t file_bytes(void) {
    struct stat status;
    assert_int_equal(stat(file, &status), 0);
    return (size_t)status.st_size;
}

static void flip(size_t at) {
    uint8_t byte;
    const int fd = open(file, O_RDWR);
    assert_int_equal(pread(fd, &byte, 1, (off_t)at), 1);
    byte ^= 0x10;
    assert_int_equal(pwrite(fd, &byte, 1, (off_t)at), 1);
    close(fd);
}

static void a_whole_trace_is_right(void **state) {
    (void)state;
    for (int compress = 0; compress < 2; compress++) {
        struct error error;
        write_trace(NONE, compress);
        if (!check(CHECK_PARTS, &error) || !check(CHECK_ALL, &error))
            fail_msg("%s", error.message);
    }
}

static void damage_is_found_wherever_it_is(void **state) {
    (void)state;
    struct error error;
    write_trace(NONE, false);
    for (size_t at = 0, size = file_bytes(); at < size; at += 89) {
        flip(at);
        assert_false(check(CHECK_PARTS, &error));
        assert_non_null(strstr(error.message, file));
        flip(at);
    }
    assert_true(check(CHECK_PARTS, &error));
}

static void a_file_that_is_cut_short_is_found(void **state) {
    (void)state;
    struct error error;
    write_trace(NONE, false);
    for (size_t size = file_bytes() - 1; size > 0; size -= size < 397 ? size : 397) {
        assert_int_equal(truncate(file, (off_t)size), 0);
        assert_false(check(CHECK_PARTS, &error));
        assert_non_null(strstr(error.message, file));
        assert_non_null(strstr(error.message, "cut short"));
    }
}

/* Its checksum is right, but no program can have executed it. */
static void what_cannot_have_been_executed_is_found_where_it_is_decoded(void **state) {
    (void)state;
    static const struct {
        unsigned chunk;
        bool in_parts;
    } BAD[] = {{0, true}, {15, true}, {17, false}, {511, false}, {512, true}, {599, false}};
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        struct error error;
        write_trace(BAD[i].chunk, false);
        assert_int_equal(check(CHECK_PARTS, &error), !BAD[i].in_parts);
        assert_false(check(CHECK_ALL, &error));
        assert_non_null(strstr(error.message, "memory event of instruction 4 is out of order"));
    }
}

/* All have been told of at the end, also those that were not decoded. */
static void count(void *context, uint64_t done) {
    *(uint64_t *)context = done;
}

static void instructions_are_told_that_are_not_decoded(void **state) {
    (void)state;
    struct error error;
    uint64_t told = 0;
    const struct watcher watcher = {.progress = count, .context = &told};
    write_trace(NONE, false);
    assert_true(trace_check(file, CHECK_PARTS, false, &watcher, &error));
    assert_int_equal(told, CHUNKS * (EVENTS / 2) * 4);
}

static int make_file(void **state) {
    (void)state;
    const int fd = memfd_create("culprit-test", 0);
    snprintf(file, sizeof file, "/proc/self/fd/%d", fd);
    return fd < 0 ? -1 : 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_whole_trace_is_right), cmocka_unit_test(damage_is_found_wherever_it_is),
        cmocka_unit_test(a_file_that_is_cut_short_is_found),
        cmocka_unit_test(what_cannot_have_been_executed_is_found_where_it_is_decoded),
        cmocka_unit_test(instructions_are_told_that_are_not_decoded)};
    return cmocka_run_group_tests(tests, make_file, NULL);
}
