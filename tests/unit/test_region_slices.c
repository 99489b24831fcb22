/* The table of slices: what is written comes back; what is not right is named by its line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "region/slices.h"
#include "temporary.h"

static char path[TEMPORARY_BYTES];
static struct error error;

static int make_file(void **state) {
    (void)state;
    int fd = mkstemp(temporary_name(path, "region-slices"));
    return fd < 0 ? -1 : close(fd);
}
static int remove_file(void **state) {
    (void)state;
    return unlink(path);
}

static bool read_text(struct slice_table *table, const char *text, size_t size) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
    return slice_table_read(table, path, &error);
}

#define HEAD "culprit-slices 1\nisa x86_64\ncommand gzip -9\nsize 100\n"

static void forms(void **state) {
    (void)state;
    static const char text[] = HEAD "process 0 4711 /usr/bin/gzip\n"
                                    "image 0 4f6e00 /usr/bin/gzip\n"
                                    "block 1 0 6a2c 5\n"
                                    "slice 0 0 0 103 0 6a2c 1\n"
                                    "image 1 - [vdso]\n"
                                    "block 2 - 7fff00001000 1\n"
                                    "slice 0 0 103 7 - 7fff00001000 18446744073709551615\n"
                                    "slice 0 3 20 1 1 0 2\n"
                                    "end 111\n";
    struct slice_table table;
    assert_true(read_text(&table, text, sizeof text - 1));
    assert_true(table.complete);
    assert_int_equal(table.isa, ISA_X86_64);
    assert_string_equal(table.command, "gzip -9");
    assert_int_equal(table.size, 100);
    assert_int_equal(table.image_count, 2);
    assert_string_equal(table.images[0].path, "/usr/bin/gzip");
    assert_int_equal(table.images[0].build_id_size, 3);
    assert_memory_equal(table.images[0].build_id, "\x4f\x6e\0", 3);
    assert_string_equal(table.images[1].path, "[vdso]");
    assert_int_equal(table.images[1].build_id_size, 0);
    assert_int_equal(table.process_count, 1);
    assert_int_equal(table.processes[0].pid, 4711);
    assert_null(table.processes[0].command); /* an older file */
    assert_int_equal(table.thread_count, 0);
    assert_int_equal(table.block_count, 2);
    assert_int_equal(table.blocks[0].offset, 0x6a2c);
    assert_int_equal(table.blocks[0].insn_count, 5);
    assert_int_equal(table.blocks[1].image, MARKER_NO_IMAGE);
    assert_int_equal(table.slice_count, 3);
    assert_int_equal(table.slices[1].first, 103);
    assert_int_equal(table.slices[1].start.image, MARKER_NO_IMAGE);
    assert_int_equal(table.slices[1].start.offset, 0x7fff00001000);
    assert_true(table.slices[1].start.count == UINT64_MAX);
    assert_int_equal(table.slices[2].thread, 3);
    assert_int_equal(table.slices[2].start.image, 1);
    slice_table_free(&table);
}

/* Wherever the run was cut behind the head, what is whole is there, and no end. */
static void cut(void **state) {
    (void)state;
    static const char text[] = HEAD "process 0 1 a\nslice 0 0 0 10 - 0 1\nslice 0 0 10 10 - 0 2\n"
                                    "end 20\n";
    for (size_t size = 0; size < sizeof text - 1; size++) {
        struct slice_table table;
        bool whole_head = size >= sizeof HEAD - 1;
        assert_int_equal(read_text(&table, text, size), whole_head);
        assert_false(table.complete);
        size_t lines = 0;
        for (size_t i = sizeof HEAD - 1; i < size; i++)
            lines += text[i] == '\n';
        assert_int_equal(table.slice_count, lines > 1 ? lines - 1 : 0);
        slice_table_free(&table);
    }
}

static void refused(const char *text, const char *message) {
    struct slice_table table;
    assert_false(read_text(&table, text, strlen(text)));
    slice_table_free(&table);
    char expected[300];
    snprintf(expected, sizeof expected, message, path);
    assert_string_equal(error.message, expected);
}

static void not_right(void **state) {
    (void)state;
    refused("# culprit-regions 1\n", "%s: line 1: not \"culprit-slices ...\"");
    refused("", "%s: line 1: cut off, no \"culprit-slices ...\"");
    refused("culprit-slices 2\n",
            "%s: line 1: another version of this format than 1, which is known here");
    refused("culprit-slices 1\nisa arm\n", "%s: line 2: neither isa x86_64 nor riscv64");
    refused("culprit-slices 1\nisa riscv64\nsize 1\n", "%s: line 3: not \"command ...\"");
    refused("culprit-slices 1\nisa riscv64\ncommand a\nsize 0\n",
            "%s: line 4: not size INSTRUCTIONS, at least 1");
    refused("culprit-slices 1\nisa riscv64\ncommand a\\b\nsize 1\n",
            "%s: line 3: a backslash that is neither \\\\ nor \\n");

    const char *image = "%s: line 5: not image NUMBER BUILD-ID|- PATH with the next number";
    refused(HEAD "image 1 - a\n", image);
    refused(HEAD "image 0 4f6 a\n", image);
    refused(HEAD "image 0 4F a\n", image);
    refused(HEAD "image 0 000102030405060708090a0b0c0d0e0f1011121314 a\n", image);
    refused(HEAD "image 0 -\n", image);

    const char *process = "%s: line 5: not process NUMBER PID EXECUTABLE with the next number";
    refused(HEAD "process 1 1 a\n", process);
    refused(HEAD "process 0 4294967296 a\n", process);
    refused(HEAD "process 0 1\n", process);

    const char *block = "%s: line 5: not block ID IMAGE|- OFFSET INSTRUCTIONS with the next id and "
                        "an image named before";
    refused(HEAD "block 0 - 0 1\n", block);
    refused(HEAD "block 2 - 0 1\n", block);
    refused(HEAD "block 1 0 0 1\n", block);
    refused(HEAD "block 1 - 0 0\n", block);
    refused(HEAD "block 1 - 10000000000000000 1\n", block);
    refused(HEAD "block 1 - 0 1 \n", block);
    refused(HEAD "block 1 -  0 1\n", block);

    const char *slice = "%s: line 6: not slice PROCESS THREAD FIRST INSTRUCTIONS IMAGE|- OFFSET "
                        "COUNT with a process and an image named before";
#define PROCESS HEAD "process 0 1 a\n"
    refused(PROCESS "slice 1 0 0 1 - 0 1\n", slice);
    refused(PROCESS "slice 0 0 0 0 - 0 1\n", slice);
    refused(PROCESS "slice 0 0 0 1 0 0 1\n", slice);
    refused(PROCESS "slice 0 0 0 1 - 0 0\n", slice);
    refused(PROCESS "slice 0 0 -1 1 - 0 1\n", slice);
    refused(PROCESS "slice 0 0 18446744073709551616 1 - 0 1\n", slice);
    refused(PROCESS "slice 0 0 18446744073709551615 1 - 0 1\n",
            "%s: line 6: 2^64 instructions or more");
    refused(PROCESS "slice 0 0 0 18446744073709551615 - 0 1\nslice 0 1 0 1 - 0 1\n",
            "%s: line 7: 2^64 instructions or more");
    const char *order = "%s: line 7: not in order: threads by number, and in each one slice behind "
                        "the other";
    refused(PROCESS "slice 0 0 0 10 - 0 1\nslice 0 0 9 10 - 0 1\n", order);
    refused(PROCESS "slice 0 1 0 10 - 0 1\nslice 0 0 10 10 - 0 1\n", order);

    refused(HEAD "\n", "%s: line 5: empty");
    refused(HEAD "slices\n", "%s: line 5: neither image, process, block, slice nor end");
    refused(HEAD "slices 1\n", "%s: line 5: neither image, process, block, slice nor end");
    refused(PROCESS "slice 0 0 0 10 - 0 1\nend 11\n",
            "%s: line 7: not end INSTRUCTIONS with the sum of all slices");
    refused(HEAD "end 0\nend 0\n", "%s: line 6: something behind the end");
    refused(HEAD "end 0\nend", "%s: line 6: something behind the end");

    struct slice_table table;
    static const char zero[] = HEAD "process 0\0";
    assert_false(read_text(&table, zero, sizeof zero - 1));
    slice_table_free(&table);
    assert_non_null(strstr(error.message, ": line 5: a byte 0: not a text file"));
    assert_false(slice_table_read(&table, "/nowhere/slices", &error));
    assert_string_equal(error.message, "cannot read /nowhere/slices: No such file or directory");
    slice_table_free(&table);
    assert_false(slice_table_read(&table, "/", &error));
    assert_string_equal(error.message, "cannot read /: Is a directory");
    slice_table_free(&table);
}

static void round_trip(void **state) {
    (void)state;
    struct slice_writer writer;
    const struct region_image images[] = {
        {.path = "/a\\n b\n", .build_id = {0, 255, 16}, .build_id_size = 3}, {.path = ""}};
    const struct slice_process process = {.pid = 77,
                                          .executable = "/bin/a b",
                                          .command = "a b\n-",
                                          .forker = UINT32_MAX,
                                          .fork = 3,
                                          .generation = 2};
    const struct slice_thread threads[] = {{0, 0, 5}, {2, 0, 0}};
    const struct slice_block blocks[] = {{1, 512, UINT64_MAX}, {MARKER_NO_IMAGE, 1, 0}};
    const struct slice_place slices[] = {{0, 0, 0, 1, {MARKER_NO_IMAGE, 0x10, 1}},
                                         {0, 2, 5, 1000, {0, 0, UINT64_MAX}}};
    assert_true(slice_writer_open(&writer, path, ISA_RISCV64, "a 'b\n\\'", UINT64_MAX, &error));
    for (uint32_t i = 0; i < 2; i++)
        assert_true(slice_writer_image(&writer, i, images + i, &error));
    assert_true(slice_writer_process(&writer, 0, &process, &error));
    for (uint32_t i = 0; i < 2; i++)
        assert_true(slice_writer_thread(&writer, threads + i, &error));
    for (uint32_t i = 0; i < 2; i++)
        assert_true(slice_writer_block(&writer, i + 1, blocks + i, &error));
    for (uint32_t i = 0; i < 2; i++)
        assert_true(slice_writer_slice(&writer, slices + i, &error));
    assert_true(slice_writer_close(&writer, true, &error));
    assert_true(slice_writer_close(&writer, true, &error));

    struct slice_table table;
    assert_true(slice_table_read(&table, path, &error));
    assert_true(table.complete);
    assert_int_equal(table.isa, ISA_RISCV64);
    assert_string_equal(table.command, "a 'b\n\\'");
    assert_true(table.size == UINT64_MAX);
    assert_string_equal(table.images[0].path, images[0].path);
    assert_int_equal(table.images[0].build_id_size, 3);
    assert_memory_equal(table.images[0].build_id, images[0].build_id, 20);
    assert_string_equal(table.images[1].path, "?");
    assert_string_equal(table.processes[0].executable, process.executable);
    assert_string_equal(table.processes[0].command, process.command);
    assert_int_equal(table.processes[0].pid, 77);
    assert_int_equal(table.processes[0].forker, UINT32_MAX);
    assert_int_equal(table.processes[0].fork, 3);
    assert_int_equal(table.processes[0].generation, 2);
    assert_int_equal(table.thread_count, 2);
    assert_memory_equal(table.threads, threads, sizeof threads);
    assert_memory_equal(table.blocks, blocks, sizeof blocks);
    assert_int_equal(table.slice_count, 2);
    assert_int_equal(table.slices[0].start.image, MARKER_NO_IMAGE);
    assert_int_equal(table.slices[0].start.offset, 0x10);
    assert_int_equal(table.slices[0].start.count, 1);
    assert_int_equal(table.slices[1].instructions, 1000);
    slice_table_free(&table);

    assert_false(slice_writer_open(&writer, "/nowhere/slices", ISA_X86_64, "a", 1, &error));
    assert_string_equal(error.message, "/nowhere/slices: cannot write: No such file or directory");
    assert_true(slice_writer_close(&writer, false, &error));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(forms), cmocka_unit_test(cut),
                                       cmocka_unit_test(not_right), cmocka_unit_test(round_trip)};
    return cmocka_run_group_tests_name("region_slices", tests, make_file, remove_file);
}
