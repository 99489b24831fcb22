/* Markers that two runs have in common, and bounds by them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "region/work_bounds.h"

#define CANDIDATE(place_, times_, offset_, insn_)                                                  \
    ((struct marker_candidate){                                                                    \
        .place = (place_), .times = (times_), .offset = (offset_), .insn = (insn_)})

static struct work_markers match(struct marker_candidate *before, size_t before_count,
                                 struct marker_candidate *after, size_t after_count) {
    struct work_markers markers = {0};
    assert_true(work_markers_match(before, before_count, after, after_count, &markers));
    return markers;
}

/* Place 1 is executed 10 times in both, wherever it lies; place 2 more often in the second; place 3
 * is in the first alone. */
static void by_place_and_times(void **state) {
    (void)state;
    struct marker_candidate before[] = {CANDIDATE(3, 7, 0x300, 30), CANDIDATE(1, 10, 0x100, 10),
                                        CANDIDATE(2, 5, 0x200, 20)};
    struct marker_candidate after[] = {CANDIDATE(2, 6, 0x110, 21), CANDIDATE(1, 10, 0x900, 11)};
    struct work_markers markers = match(before, 3, after, 2);
    assert_int_equal(markers.count, 1);
    assert_int_equal(markers.items[0].insns[0], 10);
    assert_int_equal(markers.items[0].insns[1], 11);
    assert_int_equal(markers.items[0].times, 10);
    work_markers_free(&markers);
}

/* Two loops of a function that are executed equally often, in both: the first is the first. Of
 * another, one has become two: none of these is known. */
static void in_their_order(void **state) {
    (void)state;
    struct marker_candidate before[] = {CANDIDATE(1, 10, 0x140, 2), CANDIDATE(1, 10, 0x100, 1),
                                        CANDIDATE(2, 8, 0x500, 5)};
    struct marker_candidate after[] = {CANDIDATE(1, 10, 0x880, 8), CANDIDATE(2, 8, 0x500, 6),
                                       CANDIDATE(2, 8, 0x540, 7), CANDIDATE(1, 10, 0x900, 9)};
    struct work_markers markers = match(before, 3, after, 4);
    assert_int_equal(markers.count, 2);
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(markers.items[i].insns[1], markers.items[i].insns[0] == 1 ? 8 : 9);
    work_markers_free(&markers);
}

/* Places that are told by their instructions alone may be another's. */
static void alone(void **state) {
    (void)state;
    struct marker_candidate before[] = {CANDIDATE(1, 10, 0x100, 1), CANDIDATE(1, 10, 0x140, 2),
                                        CANDIDATE(2, 8, 0x500, 5)};
    struct marker_candidate after[] = {CANDIDATE(1, 10, 0x100, 1), CANDIDATE(1, 10, 0x140, 2),
                                       CANDIDATE(2, 8, 0x540, 7)};
    for (int i = 0; i < 3; i++)
        before[i].alone = after[i].alone = true;
    struct work_markers markers = match(before, 3, after, 3);
    assert_int_equal(markers.count, 1);
    assert_int_equal(markers.items[0].insns[1], 7);
    work_markers_free(&markers);
    markers = match(before, 3, after, 0);
    assert_int_equal(markers.count, 0);
    work_markers_free(&markers);
}

/* Of three markers the one in the middle of the second run counts, with where it is in the first;
 * one that is not there does not. A bound whose markers are nowhere is none. */
static void settled(void **state) {
    (void)state;
    struct work_bounds bounds = {0};
    const uint64_t wanted[] = {0, 100, 100, 200, 300};
    for (size_t i = 0; i < 5; i++)
        assert_true(work_bounds_want(&bounds, wanted[i]));
    assert_int_equal(bounds.count, 4); /* 100 is one */
    bounds.items[0].exact = bounds.items[0].found = true;
    struct work_bound *first = &bounds.items[1], *second = &bounds.items[2];
    first->noted_count = 3;
    first->noted[0] = (struct noted_marker){0, 4, {103, 5000}, true};
    first->noted[1] = (struct noted_marker){1, 2, {101, 90}, true};
    first->noted[2] = (struct noted_marker){2, 9, {106, 95}, true};
    second->noted_count = 2;
    second->noted[0] = (struct noted_marker){0, 8, {203, 0}, false};
    second->noted[1] = (struct noted_marker){1, 3, {201, 180}, true};
    bounds.items[3].noted_count = 1;
    work_bounds_settle(&bounds);
    assert_true(first->found && second->found && bounds.items[0].found);
    assert_int_equal(first->positions[0], 106);
    assert_int_equal(first->positions[1], 95);
    assert_int_equal(second->positions[1], 180);
    assert_false(bounds.items[3].found);
    work_bounds_free(&bounds);
}

/* What is executed later in the first run, and earlier in the second, begins no region. Nor does
 * what is not before the end of both. */
static void in_order(void **state) {
    (void)state;
    struct work_bounds bounds = {0};
    const uint64_t positions[][2] = {{0, 0}, {110, 200}, {205, 190}, {305, 300}, {402, 500}};
    for (size_t i = 0; i < 5; i++) {
        assert_true(work_bounds_want(&bounds, 100 * i));
        bounds.items[i].noted_count = 1;
        bounds.items[i].noted[0] =
            (struct noted_marker){0, i + 1, {positions[i][0], positions[i][1]}, true};
    }
    assert_true(work_bounds_want(&bounds, 500));
    bounds.items[5] =
        (struct work_bound){.wanted = 500, .exact = true, .found = true, .positions = {500, 450}};
    work_bounds_settle(&bounds);
    const bool found[] = {true, true, false, true, false, true};
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(bounds.items[i].found, found[i]);
    work_bounds_free(&bounds);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(by_place_and_times),
                                       cmocka_unit_test(in_their_order), cmocka_unit_test(alone),
                                       cmocka_unit_test(settled), cmocka_unit_test(in_order)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
