/* Files of records: what was sealed is read back; what can happen to a file on the way is told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "util/little_endian.h"
#include "util/record_reader.h"

static const struct record_format FORMAT = {"\x89TST\r\n\x1a\n", 3, "test", "tests", 0};

/* Records of types 1 and 2, with "abc" and nothing. */
enum { FIRST = RECORD_PROLOGUE_BYTES, SECOND = FIRST + RECORD_HEAD_BYTES + 3 };
enum { FILE_BYTES = SECOND + RECORD_HEAD_BYTES };

static void make(uint8_t bytes[FILE_BYTES]) {
    memset(bytes, 0, FILE_BYTES);
    memcpy(bytes, FORMAT.magic, 8);
    put_u32(bytes + 8, FORMAT.version);
    memcpy(bytes + FIRST + RECORD_HEAD_BYTES, "abc", 3);
    record_seal(bytes + FIRST, 1, 3);
    record_seal(bytes + SECOND, 2, 0);
}

struct input {
    int fd;
    char path[64];
    struct record_reader reader;
    struct error error;
};

/* Whether it can be opened. */
static bool open_bytes(struct input *input, const uint8_t *bytes, size_t size) {
    *input = (struct input){.fd = memfd_create("records", 0)};
    assert_int_equal(write(input->fd, bytes, size), size);
    snprintf(input->path, sizeof input->path, "/proc/self/fd/%d", input->fd);
    return record_reader_open(&input->reader, input->path, &FORMAT, &input->error);
}

static void close_bytes(struct input *input) {
    record_reader_close(&input->reader);
    close(input->fd);
}

static void reads_what_was_sealed(void **state) {
    (void)state;
    uint8_t bytes[FILE_BYTES];
    struct input input;
    make(bytes);
    assert_true(open_bytes(&input, bytes, sizeof bytes));
    struct record_reader *reader = &input.reader;
    assert_int_equal(record_reader_next(reader, &input.error), 1);
    assert_int_equal(reader->type, 1);
    assert_int_equal(reader->size, 3);
    assert_int_equal(reader->offset, FIRST);
    char *text = record_reader_text(reader, 1, 2, &input.error);
    assert_string_equal(text, "bc");
    free(text);
    assert_int_equal(record_reader_next(reader, &input.error), 1);
    assert_int_equal(reader->type, 2);
    assert_int_equal(reader->size, 0);
    assert_int_equal(reader->offset, SECOND);
    assert_false(record_reader_more(reader));
    assert_int_equal(record_reader_next(reader, &input.error), 0);
    close_bytes(&input);
}

static void tells_where_it_was_cut(void **state) {
    (void)state;
    uint8_t bytes[FILE_BYTES];
    struct input input;
    make(bytes);
    for (size_t size = 0; size < FILE_BYTES; size++) {
        assert_int_equal(open_bytes(&input, bytes, size), size >= RECORD_PROLOGUE_BYTES);
        if (size >= RECORD_PROLOGUE_BYTES) {
            assert_int_equal(record_reader_next(&input.reader, &input.error), size >= SECOND);
            assert_int_equal(record_reader_next(&input.reader, &input.error), 0);
        }
        close_bytes(&input);
    }
}

/* A byte is changed: the file is refused at once, or its first or second record is. */
static void believes_no_damage(void **state) {
    (void)state;
    uint8_t bytes[FILE_BYTES];
    for (size_t at = 0; at < FILE_BYTES; at++) {
        struct input input;
        make(bytes);
        bytes[at] ^= 0x40;
        assert_int_equal(open_bytes(&input, bytes, sizeof bytes), at >= RECORD_PROLOGUE_BYTES);
        int first = at < FIRST ? -1 : record_reader_next(&input.reader, &input.error);
        int second = first < 1 ? first : record_reader_next(&input.reader, &input.error);
        assert_true(at >= SECOND ? first == 1 && second < 1 : first < 1);
        close_bytes(&input);
    }
}

static void says_what_is_wrong(void **state) {
    (void)state;
    uint8_t bytes[FILE_BYTES];
    struct input input;
    make(bytes);
    put_u32(bytes + 8, 4);
    assert_false(open_bytes(&input, bytes, sizeof bytes));
    assert_non_null(strstr(input.error.message, "has version 4 of the test format, not 3"));
    close_bytes(&input);

    make(bytes);
    bytes[0] = 'x';
    assert_false(open_bytes(&input, bytes, sizeof bytes));
    assert_non_null(strstr(input.error.message, "is not a file of tests"));
    close_bytes(&input);

    make(bytes);
    put_u32(bytes + FIRST + 4, RECORD_PAYLOAD_MAX + 1);
    assert_true(open_bytes(&input, bytes, sizeof bytes));
    assert_int_equal(record_reader_next(&input.reader, &input.error), -1);
    assert_non_null(strstr(input.error.message, "at byte 16: a record of impossible size"));
    close_bytes(&input);

    make(bytes);
    bytes[FIRST + RECORD_HEAD_BYTES + 1] = 0;
    record_seal(bytes + FIRST, 1, 3);
    assert_true(open_bytes(&input, bytes, sizeof bytes));
    assert_int_equal(record_reader_next(&input.reader, &input.error), 1);
    assert_null(record_reader_text(&input.reader, 0, 3, &input.error));
    assert_non_null(strstr(input.error.message, "zero byte"));
    close_bytes(&input);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_what_was_sealed),
        cmocka_unit_test(tells_where_it_was_cut),
        cmocka_unit_test(believes_no_damage),
        cmocka_unit_test(says_what_is_wrong),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
