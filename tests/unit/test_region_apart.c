/* The first slices of a run become clusters of their own, worked out by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "region/apart.h"

/* Six slices of 100 instructions but the first, of 500, at these places on a line. Clusters 0 0 1 0
 * 0 2, whose points are slices 0, 2 and 5. */
enum { SLICES = 6, POINTS = 3 };
static const float PLACES[SLICES] = {0.1f, 0, 0.9f, 0.3f, 0.25f, 0.5f};
static const uint32_t LABELS[SLICES] = {0, 0, 1, 0, 0, 2};

struct fixture {
    struct projection slices;
    struct region_choice choice;
};

static void make(struct fixture *fixture) {
    static const struct region_point points[POINTS] = {
        {0, 0, 0.8, 0}, {2, 1, 0.1, 1}, {5, 2, 0.1, 2}};
    struct projection *slices = &fixture->slices;
    projection_init(slices, 1, 0);
    slices->count = SLICES;
    slices->coordinates = calloc(SLICES * slices->stride, sizeof(float));
    slices->instructions = calloc(SLICES, sizeof(uint64_t));
    fixture->choice = (struct region_choice){.points = malloc(sizeof points),
                                             .point_count = POINTS,
                                             .labels = malloc(sizeof LABELS),
                                             .slice_count = SLICES};
    memcpy(fixture->choice.points, points, sizeof points);
    memcpy(fixture->choice.labels, LABELS, sizeof LABELS);
    for (size_t i = 0; i < SLICES; i++) {
        slices->coordinates[i * slices->stride] = PLACES[i];
        slices->instructions[i] = i ? 100 : 500;
    }
}

static void drop(struct fixture *fixture) {
    projection_free(&fixture->slices);
    region_choice_free(&fixture->choice);
}

static void check_point(const struct region_point *point, uint32_t slice, uint32_t cluster,
                        double weight) {
    assert_int_equal(point->slice, slice);
    assert_int_equal(point->cluster, cluster);
    assert_int_equal(point->whole, cluster);
    assert_true(point->weight > weight - 1e-9 && point->weight < weight + 1e-9);
}

/* Slice 0 goes, and slice 1, the nearest to it, is cluster 0's point until it goes as well; then
 * slice 4 is. Slice 2 has its cluster for itself already. */
static void the_beginning_goes(void **state) {
    (void)state;
    static const uint32_t labels[SLICES] = {3, 4, 1, 0, 0, 2};
    struct fixture fixture;
    struct error error;
    make(&fixture);
    assert_true(region_set_apart(&fixture.slices, 3, &fixture.choice, &error));
    assert_int_equal(fixture.choice.point_count, 5);
    assert_memory_equal(fixture.choice.labels, labels, sizeof labels);
    check_point(&fixture.choice.points[0], 4, 0, 0.2);
    check_point(&fixture.choice.points[1], 2, 1, 0.1);
    check_point(&fixture.choice.points[2], 5, 2, 0.1);
    check_point(&fixture.choice.points[3], 0, 3, 0.5);
    check_point(&fixture.choice.points[4], 1, 4, 0.1);
    drop(&fixture);
}

static void none_changes_nothing(void **state) {
    (void)state;
    struct fixture fixture;
    struct error error;
    make(&fixture);
    assert_true(region_set_apart(&fixture.slices, 0, &fixture.choice, &error));
    assert_int_equal(fixture.choice.point_count, POINTS);
    assert_memory_equal(fixture.choice.labels, LABELS, sizeof LABELS);
    drop(&fixture);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_beginning_goes),
        cmocka_unit_test(none_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
