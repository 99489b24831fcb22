/* Slices of one profile in another of the same command. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "region/stable.h"

static struct region_image program = {"/bin/prog", {1, 2, 3}, 3};
static struct region_image library = {"/lib/lib.so", {9}, 1};
static struct region_image bare = {"/opt/bare", {0}, 0};

static struct slice_place slice(uint32_t thread, uint64_t first, uint32_t image, uint64_t offset,
                                uint64_t count) {
    return (struct slice_place){
        .thread = thread, .first = first, .instructions = 100, .start = {image, offset, count}};
}

static struct slice_table table(struct region_image *images, size_t image_count,
                                struct slice_place *slices, size_t slice_count) {
    return (struct slice_table){.size = 100,
                                .images = images,
                                .image_count = image_count,
                                .slices = slices,
                                .slice_count = slice_count};
}

static void assert_slice(const struct slice_confirmations *found, size_t slice,
                         enum slice_stability stability, int64_t skew) {
    assert_int_equal(found->slices[slice].stability, stability);
    assert_int_equal(found->slices[slice].skew, skew);
}

/* The second run has its images in another order, its program elsewhere, and a thread that waited
 * seven instructions longer before it came to the same place. */
static void by_marker(void **state) {
    (void)state;
    struct region_image moved = {"/home/prog", {1, 2, 3}, 3};
    struct region_image first[] = {program, library, bare}, second[] = {bare, library, moved};
    struct slice_place slices[] = {
        slice(0, 0, 0, 0x10, 1),     slice(0, 100, 1, 0x20, 5),
        slice(0, 203, 2, 0x30, 8),   slice(0, 300, 1, 0x20, 15),
        slice(1, 0, 0, 0x10, 1),     slice(1, 101, 0, 0x40, 3),
        slice(1, 200, 0, 0x50, 3),   slice(1, 300, MARKER_NO_IMAGE, 0x7f00, 4),
        slice(2, 0, 1, 0xffff, 1000)};
    struct slice_place others[] = {
        slice(0, 0, 2, 0x10, 1),   slice(0, 100, 1, 0x20, 5),
        slice(0, 203, 0, 0x30, 8), slice(0, 300, 1, 0x20, 16),
        slice(1, 0, 2, 0x10, 1),   slice(1, 108, 2, 0x40, 3),
        slice(1, 193, 2, 0x50, 3), slice(1, 300, MARKER_NO_IMAGE, 0x7f00, 4)};
    struct slice_table profile = table(first, 3, slices, 9), other = table(second, 3, others, 8);
    struct slice_confirmations found;
    struct error error;
    assert_true(slices_confirm(&profile, &other, &found, &error));
    assert_slice(&found, 0, SLICE_STABLE, 0);
    assert_slice(&found, 1, SLICE_STABLE, 0);
    assert_slice(&found, 2, SLICE_STABLE, 0);
    assert_slice(&found, 3, SLICE_LOST, 0); /* the 16th execution, not the 15th */
    assert_slice(&found, 4, SLICE_STABLE, 0);
    assert_slice(&found, 5, SLICE_MOVED, 7);
    assert_slice(&found, 6, SLICE_MOVED, -7);
    assert_slice(&found, 7, SLICE_STABLE, 0);
    assert_slice(&found, 8, SLICE_LOST, 0); /* no such thread */
    assert_int_equal(found.stable, 5);
    assert_int_equal(found.moved, 2);
    assert_int_equal(found.lost, 2);
    slice_confirmations_free(&found);
}

/* A profile confirms itself; nothing of it is confirmed by one of another build. */
static void another_build(void **state) {
    (void)state;
    struct region_image rebuilt = program;
    rebuilt.build_id[0] ^= 1;
    struct region_image unnamed = program;
    unnamed.build_id_size = 0;
    struct slice_place slices[] = {slice(0, 0, 0, 0x10, 1), slice(0, 100, 0, 0x10, 20)};
    struct slice_table profile = table(&program, 1, slices, 2), other = profile;
    struct slice_confirmations found;
    struct error error;
    assert_true(slices_confirm(&profile, &profile, &found, &error));
    assert_int_equal(found.stable, 2);
    slice_confirmations_free(&found);
    other.images = &rebuilt;
    assert_true(slices_confirm(&profile, &other, &found, &error));
    assert_int_equal(found.lost, 2);
    slice_confirmations_free(&found);
    other.images = &unnamed;
    assert_true(slices_confirm(&profile, &other, &found, &error));
    assert_int_equal(found.lost, 2);
    slice_confirmations_free(&found);
}

static void empty_profiles(void **state) {
    (void)state;
    struct slice_place slices[] = {slice(0, 0, 0, 0x10, 1)};
    struct slice_table profile = table(&program, 1, slices, 1), none = table(NULL, 0, NULL, 0);
    struct slice_confirmations found;
    struct error error;
    assert_true(slices_confirm(&profile, &none, &found, &error));
    assert_int_equal(found.lost, 1);
    slice_confirmations_free(&found);
    assert_true(slices_confirm(&none, &profile, &found, &error));
    assert_int_equal(found.stable + found.moved + found.lost, 0);
    slice_confirmations_free(&found);
}

static void profiles_of_different_kinds(void **state) {
    (void)state;
    struct slice_table profile = table(NULL, 0, NULL, 0), other = profile;
    struct slice_confirmations found;
    struct error error;
    other.size = 200;
    assert_false(slices_confirm(&profile, &other, &found, &error));
    assert_non_null(strstr(error.message, "slices of 100 and of 200 instructions"));
    slice_confirmations_free(&found);
    other = profile;
    other.isa = ISA_RISCV64;
    assert_false(slices_confirm(&profile, &other, &found, &error));
    assert_non_null(strstr(error.message, "instruction sets"));
    slice_confirmations_free(&found);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_marker),
        cmocka_unit_test(another_build),
        cmocka_unit_test(empty_profiles),
        cmocka_unit_test(profiles_of_different_kinds),
    };
    return cmocka_run_group_tests_name("region_stable", tests, NULL, NULL);
}
