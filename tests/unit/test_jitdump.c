/* Jitdumps made by hand: true ones, and others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "jitdump_parts.h"
#include "program/jitdump.h"

struct fixture {
    int file; /* to write */
    struct jitdump *dump;
};

struct entry {
    uint64_t address;
    uint32_t line;
    const char *file;
};

static void put_lines(struct fixture *fixture, uint64_t address, const struct entry *entries,
                      size_t count) {
    uint8_t body[1024] = {0};
    const uint64_t words[] = {address, count};
    size_t at = sizeof words;
    memcpy(body, words, sizeof words);
    for (size_t i = 0; i < count; i++) {
        memcpy(body + at, &entries[i].address, 8);
        memcpy(body + at + 8, &entries[i].line, 4);
        strcpy((char *)body + at + 16, entries[i].file);
        at += 16 + strlen(entries[i].file) + 1;
    }
    put_record(fixture->file, 2, 1, body, at);
}

static int begin(void **state) {
    struct fixture *fixture = calloc(1, sizeof *fixture);
    fixture->file = memfd_create("dump", 0);
    fixture->dump = jitdump_of_file(dup(fixture->file));
    *state = fixture;
    return fixture->dump ? 0 : -1;
}

static int end(void **state) {
    struct fixture *fixture = *state;
    jitdump_free(fixture->dump);
    close(fixture->file);
    free(fixture);
    return 0;
}

/* NULL: nothing. */
static void assert_name(const struct fixture *fixture, uint64_t address, uint64_t time,
                        const char *name) {
    struct jitdump_place place;
    const bool found = jitdump_find(fixture->dump, address, time, &place);
    assert_int_equal(found, name != NULL);
    if (name)
        assert_string_equal(place.name, name);
}

static void code_that_is_replaced(void **state) {
    struct fixture *fixture = *state;
    put_header(fixture->file, 0);
    put_load(fixture->file, 100, 0x1000, 0x40, 1, "first");
    put_load(fixture->file, 200, 0x1000, 0x20, 2, "second");
    put_load(fixture->file, 300, 0x1ff0, 0x2020, 3, "on three pages");
    assert_true(jitdump_read(fixture->dump));
    assert_int_equal(jitdump_time(fixture->dump), 300);
    assert_name(fixture, 0x1000, 99, NULL);
    assert_name(fixture, 0x1000, 100, "first");
    assert_name(fixture, 0x103f, 199, "first");
    assert_name(fixture, 0x1040, 199, NULL);
    assert_name(fixture, 0x101f, 200, "second");
    /* What is left of the first one is no code of it any more. */
    assert_name(fixture, 0x1030, 200, NULL);
    assert_name(fixture, 0x2800, 300, "on three pages");
    assert_name(fixture, 0x400f, 300, "on three pages");
    assert_name(fixture, 0x4010, 300, NULL);
}

/* NULL: none, or several. */
static void assert_only(const struct fixture *fixture, uint64_t address, const char *name,
                        uint64_t offset) {
    struct jitdump_place place;
    assert_int_equal(jitdump_find_only(fixture->dump, address, &place), name != NULL);
    if (name) {
        assert_string_equal(place.name, name);
        assert_int_equal(place.offset, offset);
    }
}

static void the_only_function_of_an_address(void **state) {
    struct fixture *fixture = *state;
    put_header(fixture->file, 0);
    put_load(fixture->file, 100, 0x1000, 0x40, 1, "first");
    put_load(fixture->file, 200, 0x1000, 0x20, 2, "second");
    put_load(fixture->file, 300, 0x1030, 0x20, 3, "first"); /* compiled anew */
    put_move(fixture->file, 400, 0x1030, 0x9000, 0x20, 3);
    assert_true(jitdump_read(fixture->dump));
    assert_only(fixture, 0xfff, NULL, 0);
    assert_only(fixture, 0x101f, NULL, 0);
    assert_only(fixture, 0x1020, "first", 0x20);
    assert_only(fixture, 0x1038, "first", 8);
    assert_only(fixture, 0x1050, NULL, 0);
    assert_only(fixture, 0x9001, "first", 1);
}

static void code_that_moves(void **state) {
    struct fixture *fixture = *state;
    struct jitdump_place place;
    put_header(fixture->file, 0);
    put_load(fixture->file, 100, 0x1000, 0x40, 7, "f");
    put_move(fixture->file, 200, 0x1000, 0x9000, 0x40, 7);
    put_move(fixture->file, 300, 0x1000, 0x5000, 0x40, 8); /* of what was never loaded */
    assert_true(jitdump_read(fixture->dump));
    assert_name(fixture, 0x1010, 150, "f");
    assert_name(fixture, 0x9010, 150, NULL);
    assert_name(fixture, 0x1010, 250, NULL);
    assert_true(jitdump_find(fixture->dump, 0x9010, 250, &place));
    assert_string_equal(place.name, "f");
    assert_int_equal(place.offset, 0x10);
    assert_name(fixture, 0x5000, 400, NULL);
}

/* Lines are told before the code; those of other files, and what goes back, are left out. */
static void lines(void **state) {
    struct fixture *fixture = *state;
    struct jitdump_place place;
    static const struct entry ENTRIES[] = {{0x1004, 5, "a.js"},
                                           {0x1010, 6, "\xff"},
                                           {0x1018, 99, "b.js"},
                                           {0x1008, 98, "a.js"},
                                           {0x1020, 7, "a.js"}};
    put_header(fixture->file, 0);
    put_lines(fixture, 0x1000, ENTRIES, 5);
    put_load(fixture->file, 100, 0x1000, 0x40, 1, "f");
    put_load(fixture->file, 100, 0x2000, 0x40, 2, "without");
    put_lines(fixture, 0x3000, (struct entry[]){{0x3000, 1, "???"}}, 1);
    put_load(fixture->file, 100, 0x3000, 0x40, 3, "nowhere");
    assert_true(jitdump_read(fixture->dump));
    static const uint32_t LINES[] = {0, 5, 6, 6, 7};
    static const uint64_t OFFSETS[] = {0, 4, 0x10, 0x1f, 0x3f};
    for (size_t i = 0; i < 5; i++) {
        assert_true(jitdump_find(fixture->dump, 0x1000 + OFFSETS[i], 100, &place));
        assert_string_equal(place.file, "a.js");
        assert_int_equal(place.line, LINES[i]);
    }
    assert_true(jitdump_find(fixture->dump, 0x2000, 100, &place));
    assert_null(place.file);
    assert_true(jitdump_find(fixture->dump, 0x3000, 100, &place));
    assert_null(place.file);
}

/* The dump grows, at any byte. */
static void a_dump_that_grows(void **state) {
    struct fixture *fixture = *state;
    static uint8_t bytes[1024];
    put_header(fixture->file, 0);
    put_load(fixture->file, 100, 0x1000, 0x40, 1, "first");
    put_load(fixture->file, 200, 0x2000, 0x40, 2, "second");
    const ssize_t size = pread(fixture->file, bytes, sizeof bytes, 0);
    assert_int_equal(ftruncate(fixture->file, 0), 0);
    lseek(fixture->file, 0, SEEK_SET);
    for (ssize_t i = 0; i < size; i++) {
        assert_true(jitdump_read(fixture->dump));
        assert_name(fixture, 0x2000, 200, NULL);
        put(fixture->file, bytes + i, 1);
    }
    assert_true(jitdump_read(fixture->dump));
    assert_name(fixture, 0x1000, 200, "first");
    assert_name(fixture, 0x2000, 200, "second");
}

/* Times of another clock: what is there at last. */
static void another_clock(void **state) {
    struct fixture *fixture = *state;
    put_header(fixture->file, 1);
    put_load(fixture->file, 1 << 20, 0x1000, 0x40, 1, "first");
    put_load(fixture->file, 2 << 20, 0x1000, 0x40, 2, "second");
    assert_true(jitdump_read(fixture->dump));
    assert_int_equal(jitdump_time(fixture->dump), UINT64_MAX);
    assert_name(fixture, 0x1000, 5, "second");
}

static void absurd_records(void **state) {
    struct fixture *fixture = *state;
    char name[600];
    memset(name, 'x', sizeof name);
    name[599] = 0;
    put_header(fixture->file, 0);
    put_load(fixture->file, 100, UINT64_MAX - 4, 100, 1, "around the end");
    put_load(fixture->file, 100, 0x1000, UINT64_MAX - 0x1000, 2, "everything");
    put_load(fixture->file, 100, 0x1000, 0, 3, "nothing");
    put_load(fixture->file, 100, 0x1000, 16, 4, "");
    put_record(fixture->file, 0, 100, name, 60); /* a name without an end */
    put_record(fixture->file, 0, 100, name, 3);  /* no room for a name */
    put_record(fixture->file, 1, 100, name, 30); /* nor for a move */
    put_record(fixture->file, 2, 100, (uint64_t[]){0x1000, UINT64_MAX, 1}, 24);
    put_record(fixture->file, 99, 100, name, 3); /* of no known sort */
    put_load(fixture->file, 100, 0x2000, 16, 5, name);
    assert_true(jitdump_read(fixture->dump));
    assert_name(fixture, 0x1000, 100, NULL);
    assert_name(fixture, UINT64_MAX - 2, 100, NULL);
    name[512] = 0;
    assert_name(fixture, 0x2000, 100, name);
    /* A size that cannot be: the dump is not read further. */
    put(fixture->file, (uint32_t[]){0, 4, 0, 0}, 16);
    put_load(fixture->file, 100, 0x3000, 16, 6, "behind");
    assert_true(jitdump_read(fixture->dump));
    assert_name(fixture, 0x3000, 100, NULL);
}

/* More stays on a page than are looked through: neither hangs nor lies. */
static void a_busy_page(void **state) {
    struct fixture *fixture = *state;
    put_header(fixture->file, 0);
    put_load(fixture->file, 1, 0x1100, 16, 1, "old");
    for (uint64_t i = 0; i < 5000; i++)
        put_load(fixture->file, 2 + i, 0x1000, 16, 2, i & 1 ? "odd" : "even");
    assert_true(jitdump_read(fixture->dump));
    assert_name(fixture, 0x1000, 10000, "odd");
    assert_name(fixture, 0x1100, 10000, NULL);
}

static void other_files(void **state) {
    struct fixture *fixture = *state;
    static const uint8_t OTHER[64] = "not a jitdump";
    put(fixture->file, OTHER, sizeof OTHER);
    assert_true(jitdump_read(fixture->dump));
    assert_name(fixture, 0, 0, NULL);
    char path[] = "/tmp/jit-test-XXXXXX", link[sizeof path + 8];
    const int file = mkstemp(path);
    snprintf(link, sizeof link, "%s.link", path);
    assert_int_equal(symlink(path, link), 0);
    assert_null(jitdump_open(link, getuid()));
    assert_null(jitdump_open("/tmp", getuid()));
    assert_null(jitdump_open(path, (uid_t)-1));
    struct jitdump *own = jitdump_open(path, getuid());
    assert_non_null(own);
    jitdump_free(own);
    /* Root's is believed for everybody, a user's for that user alone. */
    struct jitdump *others = jitdump_open(path, getuid() + 1);
    assert_int_equal(others != NULL, getuid() == 0);
    jitdump_free(others);
    if (getuid() == 0) {
        assert_int_equal(fchown(file, 65534, 65534), 0);
        assert_null(jitdump_open(path, 0));
    }
    unlink(link);
    unlink(path);
    close(file);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(code_that_is_replaced), TEST(the_only_function_of_an_address),
        TEST(code_that_moves),       TEST(lines),
        TEST(a_dump_that_grows),     TEST(another_clock),
        TEST(absurd_records),        TEST(a_busy_page),
        TEST(other_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
