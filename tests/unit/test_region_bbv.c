/* Basic block vectors: in and out of files, plain and compressed; files that are not right. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "region/projection.h"
#include "temporary.h"

static char path[TEMPORARY_BYTES];
static struct error error;

static int make_file(void **state) {
    (void)state;
    int fd = mkstemp(temporary_name(path, "region-bbv"));
    return fd < 0 ? -1 : close(fd);
}
static int remove_file(void **state) {
    (void)state;
    return unlink(path);
}

static void put_file(const void *bytes, size_t size) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

/* All slices of the file; the last answer of the reader. */
static int read_set(struct bbv_set *set) {
    *set = (struct bbv_set){0};
    struct bbv_reader *reader = bbv_reader_open(path, &error);
    assert_non_null(reader);
    int got;
    while ((got = bbv_reader_next(reader, set, &error)) > 0)
        ;
    bbv_reader_close(reader);
    return got;
}

static void write_set(const struct bbv_set *set, bool compress) {
    struct bbv_writer writer;
    assert_true(bbv_writer_open(&writer, path, compress, &error));
    for (size_t i = 0; i < set->slice_count; i++) {
        const struct bbv_slice *slice = set->slices + i;
        assert_true(bbv_writer_begin(&writer, &error));
        for (size_t entry = slice->first; entry < slice->first + slice->count; entry++)
            assert_true(bbv_writer_block(&writer, set->blocks[entry], set->counts[entry], &error));
        assert_true(bbv_writer_end(&writer, &error));
    }
    assert_true(bbv_writer_close(&writer, &error));
}

/* As SimPoint, valgrind's exp-bbv and PinPlay write it. */
static void forms(void **state) {
    (void)state;
    static const char text[] = "# a comment\nT:1:3 :2:5 \n\nM: 4 5\nT:7:1   :4294967295:2\n"
                               "T :1:18446744073709551615 :3:0\r\n# T:9:9\n";
    put_file(text, sizeof text - 1);
    struct bbv_set set;
    assert_int_equal(read_set(&set), 0);
    assert_int_equal(set.slice_count, 3);
    assert_memory_equal(set.blocks, ((uint32_t[]){1, 2, 7, 4294967295, 1}), 20);
    assert_memory_equal(set.counts, ((uint64_t[]){3, 5, 1, 2, UINT64_MAX}), 40);
    assert_int_equal(set.slices[0].instructions, 8);
    assert_int_equal(set.slices[1].first, 2);
    assert_int_equal(set.slices[1].count, 2);
    assert_int_equal(set.slices[2].count, 1);
    bbv_set_free(&set);
}

static void refused(const char *text, const char *message) {
    struct bbv_set set;
    put_file(text, strlen(text));
    assert_int_equal(read_set(&set), -1);
    bbv_set_free(&set);
    char expected[200];
    snprintf(expected, sizeof expected, "%s: %s", path, message);
    assert_string_equal(error.message, expected);
}

static void not_right(void **state) {
    (void)state;
    const char *form = "line 2: not of the form T:id:count :id:count ..., with whole numbers";
    refused("", "no basic block vectors in it, lines T:id:count :id:count ...");
    refused("# nothing\n", "no basic block vectors in it, lines T:id:count :id:count ...");
    refused("T:1:1\nT:1:2 :3", form);
    refused("T:1:1\nT:1:2 x\n", form);
    refused("T:1:1\nT:1:-2\n", form);
    refused("T:1:1\nT:1:2.5\n", form);
    refused("T:1:1\nT:1\n", form);
    refused("T:1:1\nT:1:2", "line 2: cut off, no newline ends it");
    refused("T:1:1\nT\n", "line 2: a slice without instructions");
    refused("T:0:1\n", "line 1: block 0: ids begin with 1");
    refused("T:4294967296:1\n", "line 1: a number over 4294967295");
    refused("T:1:18446744073709551616\n", "line 1: a number over 18446744073709551615");
    refused("T:1:18446744073709551615 :2:1\n", "line 1: a slice of 2^64 instructions or more");
    assert_null(bbv_reader_open("/nonexistent/vectors", &error));
    assert_string_equal(error.message,
                        "cannot read /nonexistent/vectors: No such file or directory");
}

static struct bbv_set made_up(void) {
    struct bbv_set set = {0};
    srandom(3);
    for (int slice = 0; slice < 2000; slice++) {
        for (uint32_t block = 1; block < 60; block++)
            assert_true(
                bbv_set_block(&set, block * block, (uint64_t)random() << random() % 30, &error));
        assert_true(bbv_set_slice(&set, &error));
    }
    return set;
}

static void round_trip(void **state) {
    (void)state;
    struct bbv_set set = made_up();
    for (int compress = 0; compress <= 1; compress++) {
        struct bbv_set again;
        write_set(&set, compress);
        FILE *file = fopen(path, "r");
        assert_int_equal(fgetc(file), compress ? 0x1f : 'T');
        fclose(file);
        assert_int_equal(read_set(&again), 0);
        assert_int_equal(again.slice_count, set.slice_count);
        assert_int_equal(again.entry_count, set.entry_count);
        assert_memory_equal(again.blocks, set.blocks, set.entry_count * sizeof *set.blocks);
        assert_memory_equal(again.counts, set.counts, set.entry_count * sizeof *set.counts);
        assert_memory_equal(again.slices, set.slices, set.slice_count * sizeof *set.slices);
        bbv_set_free(&again);
    }
    bbv_set_free(&set);
}

/* Cut where a line ends, so that only the compression can tell; damaged in the middle. */
static void compressed_but_damaged(void **state) {
    (void)state;
    struct bbv_set set = made_up(), again;
    write_set(&set, true);
    bbv_set_free(&set);
    static uint8_t bytes[4 << 20];
    FILE *file = fopen(path, "r");
    size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    assert_in_range(size, 1000, sizeof bytes - 1);
    put_file(bytes, size - 9);
    assert_int_equal(read_set(&again), -1);
    bbv_set_free(&again);
    assert_non_null(strstr(error.message, "the compressed file is cut off here"));
    bytes[size / 2] ^= 0x55;
    put_file(bytes, size);
    assert_int_equal(read_set(&again), -1);
    bbv_set_free(&again);
    assert_non_null(strstr(error.message, ": line "));
}

static void cannot_write(void **state) {
    (void)state;
    struct bbv_writer writer;
    for (int compress = 0; compress <= 1; compress++) {
        assert_false(bbv_writer_open(&writer, "/nonexistent/out", compress, &error));
        assert_string_equal(error.message,
                            "/nonexistent/out: cannot write: No such file or directory");
        assert_true(bbv_writer_open(&writer, "/dev/full", compress, &error));
        assert_true(bbv_writer_begin(&writer, &error));
        assert_false(bbv_writer_close(&writer, &error));
        assert_string_equal(error.message, "/dev/full: cannot write: No space left on device");
    }
}

/* Projection is linear in the normalised vector: counts times 10 change nothing, the order of
 * blocks nothing but rounding, and half of one and half of another lies halfway. A seed gives
 * another. */
static void projection(void **state) {
    (void)state;
    static const char text[] = "T:5:40 :9:10\nT:9:100 :5:400\nT:3:7\nT:5:20 :9:5 :3:25\n";
    put_file(text, sizeof text - 1);
    struct projection points, other;
    projection_init(&points, 11, 1);
    projection_init(&other, 11, 2);
    assert_true(projection_read(&points, path, &error));
    assert_true(projection_read(&other, path, &error));
    assert_int_equal(points.count, 4);
    assert_int_equal(points.stride, 16);
    assert_memory_equal(points.instructions, ((uint64_t[]){50, 500, 7, 50}), 32);
    double difference = 0;
    for (uint32_t i = 0; i < 16; i++) {
        const float *at = points.coordinates + i;
        assert_true(at[0] >= -1 && at[0] <= 1 && (i < 11 ? at[0] != 0 : at[0] == 0));
        assert_true(at[0] - at[16] < 1e-6f && at[16] - at[0] < 1e-6f);
        float half = (at[0] + at[32]) / 2;
        assert_true(at[48] - half < 1e-6f && half - at[48] < 1e-6f);
        difference += (double)(at[0] - other.coordinates[i]) * (at[0] - other.coordinates[i]);
    }
    assert_true(difference > 0.1);
    projection_free(&points);
    projection_free(&other);
}

/* Rows of the matrix are numbers evenly spread between −1 and 1, independent of each other: mean 0,
 * variance 1/3, correlation 0; of 10,000 within five standard errors. */
static void matrix(void **state) {
    (void)state;
    enum { ROWS = 10000, COLUMNS = 15 };
    struct bbv_set set = {0};
    struct projection points;
    projection_init(&points, COLUMNS, 1);
    for (uint32_t block = 1; block <= ROWS; block++) {
        bbv_set_clear(&set);
        assert_true(bbv_set_block(&set, block, 7, &error) && bbv_set_slice(&set, &error));
        assert_true(projection_add(&points, &set, 0, &error));
    }
    for (int a = 0; a < COLUMNS; a++)
        for (int b = 0; b <= a; b++) {
            double sum = 0, product = 0;
            for (size_t i = 0; i < ROWS; i++) {
                const float *row = points.coordinates + i * points.stride;
                sum += row[a];
                product += row[a] * row[b];
            }
            /* Standard errors: of a mean 1/sqrt(3 × 10,000); of products 1/3 and of squares 0.3
             * over 100. */
            assert_true(sum / ROWS < 5 * 0.0058 && sum / ROWS > -5 * 0.0058);
            double expected = a == b ? 1 / 3. : 0;
            assert_true(product / ROWS - expected < 5 * 0.0034);
            assert_true(product / ROWS - expected > -5 * 0.0034);
        }
    bbv_set_free(&set);
    projection_free(&points);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forms),      cmocka_unit_test(not_right),
        cmocka_unit_test(round_trip), cmocka_unit_test(compressed_but_damaged),
        cmocka_unit_test(projection), cmocka_unit_test(cannot_write),
        cmocka_unit_test(matrix),
    };
    return cmocka_run_group_tests_name("region_bbv", tests, make_file, remove_file);
}
