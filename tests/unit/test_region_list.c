/* Lists of regions in files: as the header says, back the same, and refused with file and line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "region/regions.h"
#include "temporary.h"

static struct error error;
static char path[TEMPORARY_BYTES];

static int make_file(void **state) {
    (void)state;
    int file = mkstemp(temporary_name(path, "region-list"));
    return file < 0 || close(file);
}
static int remove_file(void **state) {
    (void)state;
    return unlink(path);
}

static void put_file(const char *text, size_t size) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, size, file), size);
    fclose(file);
}

#define HEAD                                                                                       \
    "# culprit-regions 1\n# isa: x86_64\n# command: gzip -9 -c big.tar\n"                          \
    "# instructions: 8190211003\n# slices: 820\n# method: simpoint\n"
#define COLUMNS                                                                                    \
    "comment,process,thread-id,region-id,slice,start-icount,end-icount,start-image,"               \
    "start-build-id,start-offset,start-count,end-image,end-build-id,end-offset,end-count,"         \
    "region-length,region-weight,region-multiplier"
#define CAPTURED ",trace,trace-start,trace-end,skew"

/* Two regions: in gzip, the name of which has a comma; in code of no file, to the thread's end. */
#define FIRST                                                                                      \
    "cluster 0,0,0,1,17,170000041,180000044,\"/usr/bin/gz,ip\",4f6e01,0x6a2c,35012,"               \
    "/usr/lib/libc.so.6,,0x1ff00,7,10000003,0.75,614.25"
#define SECOND                                                                                     \
    "cluster 1,0,1,2,819,8180000000,8190211003,,,0x7fff00001000,1,,,,,10211003,0.25,200.5"

static void reads(void **state) {
    (void)state;
    static const char text[] =
        "# culprit-regions 1\r\n# isa: x86_64\n# command: gzip -9 -c big.tar\r\r\r\n"
        "# instructions: 8190211003\n# slices: 820\n# method: simpoint\n# whatever else\n\n" COLUMNS
        "\r\n" FIRST "\r\n" SECOND "\r\n";
    struct region_list list;
    put_file(text, sizeof text - 1);
    assert_true(region_list_read(&list, path, &error));
    assert_true(list.isa == ISA_X86_64 && list.instructions == 8190211003 &&
                list.slice_count == 820);
    assert_string_equal(list.command, "gzip -9 -c big.tar");
    assert_string_equal(list.method, "simpoint");
    assert_int_equal(list.region_count, 2);
    const struct region *first = &list.regions[0], *second = &list.regions[1];
    assert_true(first->id == 1 && first->cluster == 0 && first->slice == 17);
    assert_true(first->first == 170000041 && first->instructions == 10000003);
    assert_string_equal(list.images[first->start.image].path, "/usr/bin/gz,ip");
    assert_int_equal(list.images[first->start.image].build_id_size, 3);
    assert_memory_equal(list.images[first->start.image].build_id, "\x4f\x6e\x01", 3);
    assert_true(first->start.offset == 0x6a2c && first->start.count == 35012);
    assert_string_equal(list.images[first->end.image].path, "/usr/lib/libc.so.6");
    assert_true(first->end.offset == 0x1ff00 && first->end.count == 7);
    assert_true(first->weight == 0.75 && first->multiplier == 614.25 && !first->trace);
    assert_true(second->thread == 1 && second->start.image == MARKER_NO_IMAGE);
    assert_true(second->start.offset == 0x7fff00001000 && second->start.count == 1);
    assert_true(second->end.count == 0);
    region_list_free(&list);
}

static void read_text(char *text, size_t size) {
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    text[fread(text, 1, size - 1, file)] = 0;
    fclose(file);
}

/* What is read and written again is the same text, with traces (of one region) and without. */
static void writes(void **state) {
    (void)state;
    static const char *const texts[] = {
        HEAD COLUMNS "\n" FIRST "\n" SECOND "\n",
        HEAD COLUMNS CAPTURED "\n" FIRST ",\"a \"\"b\"\".ctrace\",1000000,11000003,-3\n" SECOND
                              ",,,,\n",
    };
    for (size_t i = 0; i < 2; i++) {
        char again[2000];
        struct region_list list;
        put_file(texts[i], strlen(texts[i]));
        assert_true(region_list_read(&list, path, &error));
        if (i == 1) {
            assert_string_equal(list.regions[0].trace, "a \"b\".ctrace");
            assert_true(list.regions[0].trace_start == 1000000 && list.regions[0].skew == -3 &&
                        list.regions[0].trace_end == 11000003 && !list.regions[1].trace);
        }
        FILE *out = fopen(path, "we");
        assert_non_null(out);
        region_list_print(&list, out);
        assert_int_equal(fclose(out), 0);
        read_text(again, sizeof again);
        assert_string_equal(again, texts[i]);
        region_list_free(&list);
    }
}

static void images_once(void **state) {
    (void)state;
    struct region_list list = {0};
    struct region_image a = {.path = "a", .build_id = {1}, .build_id_size = 1};
    struct region_image b = a;
    assert_int_equal(region_list_image(&list, &a), 0);
    b.build_id[0] = 2;
    assert_int_equal(region_list_image(&list, &b), 1);
    b.build_id_size = 0;
    assert_int_equal(region_list_image(&list, &b), 2);
    assert_int_equal(region_list_image(&list, &a), 0);
    region_list_free(&list);
}

static void refused(const char *text, const char *message) {
    struct region_list list;
    put_file(text, strlen(text));
    assert_false(region_list_read(&list, path, &error));
    region_list_free(&list);
    assert_non_null(strstr(error.message, path));
    if (!strstr(error.message, message))
        assert_string_equal(error.message, message);
}

/* A line with one of its fields, counted from 0, in place of that of FIRST. */
static void refused_field(unsigned field, const char *value, const char *message) {
    static const char *const fields[] = {"cluster 0", "0",    "0",  "1",    "17", "100",
                                         "200",       "/a",   "4f", "0x6a", "3",  "/b",
                                         "",          "0x1f", "7",  "100",  "1",  "8"};
    char text[2000] = HEAD COLUMNS "\n";
    for (unsigned i = 0; i < 18; i++) {
        strcat(text, i ? "," : "");
        strcat(text, i == field ? value : fields[i]);
    }
    strcat(text, "\n");
    if (message) {
        refused(text, message);
        return;
    }
    struct region_list list;
    put_file(text, strlen(text));
    assert_true(region_list_read(&list, path, &error));
    region_list_free(&list);
}

static void not_right(void **state) {
    (void)state;
    struct region_list list;
    assert_false(region_list_read(&list, "/nonexistent/list", &error));
    assert_non_null(strstr(error.message, "cannot read /nonexistent/list"));
    refused("", ": no list of regions");
    refused("# other 1\n", "line 1: no list of regions");
    refused(COLUMNS "\n", "line 1: no list of regions");
    refused("# culprit-regions 1\n" COLUMNS "\n", "line 2: isa, command");
    refused("# culprit-regions 1\n# isa: sparc\n", "line 2: an isa that is neither");
    refused(HEAD "# command: again\n", "line 7: said a second time");
    refused("# culprit-regions 1\n# slices: -1\n", "line 2: slices '-1': not a whole number");
    refused("# culprit-regions 1\n# instructions: 9007199254740993\n",
            "line 2: instructions '9007199254740993': not a whole number up to 9007199254740992");
    refused("# culprit-regions 1\n# isa: x86_64\n# command: a\n# instructions: 0\n# slices: 820\n"
            "# method: simpoint\n" COLUMNS "\n" FIRST "\n",
            ": regions of a run of 0 instructions");
    refused(HEAD "comment,process\n", "line 7: not the columns");
    refused(HEAD COLUMNS ",x,trace-start,trace-end,skew\n", "line 7: column 19 is not 'trace'");
    refused(HEAD COLUMNS "\n", ": no regions in it");
    refused(HEAD COLUMNS "\n" FIRST ",1\n", "line 8: not as many fields");
    refused(HEAD COLUMNS "\n" FIRST "\n" FIRST "\n", "line 9: a region-id that does not grow");
    refused(HEAD COLUMNS "\n" FIRST "\n", "sum to 0.75, not to 1");
    refused(HEAD COLUMNS CAPTURED "\n" FIRST ",x,5,4,0\n", "line 8: trace-end before");
    refused(HEAD COLUMNS CAPTURED "\n" FIRST ",x,5,6,0.5\n", "line 8: a skew that is not a whole");
    refused(HEAD COLUMNS CAPTURED "\n" FIRST ",,5,6,0\n", "line 8: trace-start, trace-end or skew");
    refused(HEAD COLUMNS "\n\"cluster", "line 8: a quote that is not closed");
    refused(HEAD COLUMNS "\n\"cluster\"x", "line 8: something between a closing quote");
    refused(HEAD COLUMNS "\ncl\"uster", "line 8: a quote within a field");
    put_file("# cul\0prit", 10);
    assert_false(region_list_read(&list, path, &error));
    assert_non_null(strstr(error.message, "line 1: a NUL"));
    region_list_free(&list);
}

static void not_right_field(void **state) {
    (void)state;
    refused_field(99, NULL, NULL);
    refused_field(0, "phase 0", "line 8: a comment that is not");
    refused_field(0, "cluster 4294967296", "line 8: a cluster number that is too large");
    refused_field(1, "", "line 8: process '': not a whole number");
    refused_field(2, "4294967296",
                  "line 8: thread-id '4294967296': not a whole number up to 4294967295");
    refused_field(3, "0", "line 8: a region-id that does not grow, from 1 on");
    refused_field(4, "820", "line 8: a slice that the run does not have");
    refused_field(5, "18446744073709551616",
                  "line 8: start-icount '18446744073709551616': not a whole number");
    refused_field(5, "300", "line 8: region-length is not");
    refused_field(6, "201", "line 8: region-length is not");
    refused_field(7, "", "line 8: a build id without an image");
    refused_field(8, "4f6", "line 8: a build id that is not");
    refused_field(8, "4g", "line 8: a build id that is not");
    refused_field(8, "0123456789012345678901234567890123456789ab",
                  "line 8: a build id that is not");
    refused_field(9, "6a", "line 8: start-offset '6a': not of the form 0x1f");
    refused_field(9, "0x", "line 8: start-offset '': not a whole number");
    refused_field(9, "0x0x1", "line 8: start-offset '0x1': not a whole number");
    refused_field(10, "0", "line 8: a marker with a count of 0");
    refused_field(14, "", "line 8: end-count '': not a whole number");
    refused_field(15, "0", "line 8: region-length is not");
    refused_field(16, "1.5", "line 8: region-weight '1.5': not a number from 0 to 1");
    refused_field(16, "nan", "line 8: region-weight 'nan': not a number");
    refused_field(17, "-1", "line 8: region-multiplier '-1': not a number");
}

/* [100, 200) and [199, 299) of one thread; of two threads they are no overlap. */
static void overlap(void **state) {
    (void)state;
    static const char one[] = HEAD COLUMNS "\ncluster 0,0,0,1,1,199,299,,,,,,,,,100,0.5,4\n"
                                           "cluster 1,0,0,2,0,100,200,,,,,,,,,100,0.5,4\n";
    refused(one, "regions 2 and 1 overlap");
    static const char two[] = HEAD COLUMNS "\ncluster 0,0,1,1,1,199,299,,,,,,,,,100,0.5,4\n"
                                           "cluster 1,0,0,2,0,100,200,,,,,,,,,100,0.5,4\n";
    struct region_list list;
    put_file(two, sizeof two - 1);
    assert_true(region_list_read(&list, path, &error));
    assert_true(list.regions[0].start.count == 0);
    region_list_free(&list);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads),     cmocka_unit_test(writes),  cmocka_unit_test(images_once),
        cmocka_unit_test(not_right), cmocka_unit_test(overlap), cmocka_unit_test(not_right_field),
    };
    return cmocka_run_group_tests_name("region_list", tests, make_file, remove_file);
}
