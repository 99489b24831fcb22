/* The weights of regions that were not found go to others, worked out by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "region/leave_out.h"

/* Seven slices of 100 instructions but the last, of 400, at these places on a line. Clusters 0 0 0
 * 0 1 1 2; the first was split in two. Points: slices 1, 3, 5 and 6. */
enum { SLICES = 7, POINTS = 4 };
static const float PLACES[SLICES] = {0, 0, 0, 0, 0.5f, 0.5f, 0.7f};
static const uint32_t CLUSTERS[SLICES] = {0, 0, 0, 0, 1, 1, 2};
static const uint32_t LABELS[SLICES] = {0, 0, 1, 1, 2, 2, 3};

struct fixture {
    struct projection slices;
    struct region_choice choice;
};

static void make(struct fixture *fixture) {
    static const uint32_t points[POINTS] = {1, 3, 5, 6};
    struct projection *slices = &fixture->slices;
    projection_init(slices, 1, 0);
    slices->count = SLICES;
    slices->coordinates = calloc(SLICES * slices->stride, sizeof(float));
    slices->instructions = calloc(SLICES, sizeof(uint64_t));
    fixture->choice = (struct region_choice){.points = calloc(POINTS, sizeof(struct region_point)),
                                             .point_count = POINTS,
                                             .labels = malloc(sizeof LABELS),
                                             .slice_count = SLICES};
    memcpy(fixture->choice.labels, LABELS, sizeof LABELS);
    for (size_t i = 0; i < SLICES; i++) {
        slices->coordinates[i * slices->stride] = PLACES[i];
        slices->instructions[i] = i == SLICES - 1 ? 400 : 100;
    }
    for (uint32_t i = 0; i < POINTS; i++)
        fixture->choice.points[i] = (struct region_point){.slice = points[i], .cluster = i};
}

static void drop(struct fixture *fixture) {
    projection_free(&fixture->slices);
    region_choice_free(&fixture->choice);
}

static void check(const bool *lost, struct region_loss loss, const uint32_t *labels,
                  const double *weights) {
    struct fixture fixture;
    make(&fixture);
    struct region_loss found = region_loss_of(&fixture.slices, &fixture.choice, CLUSTERS, lost);
    assert_int_equal(found.instructions, loss.instructions);
    assert_int_equal(found.alone, loss.alone);
    assert_int_equal(found.points, loss.points);
    region_leave_out(&fixture.slices, CLUSTERS, lost, &fixture.choice);
    assert_memory_equal(fixture.choice.labels, labels, SLICES * sizeof *labels);
    for (uint32_t i = 0; i < POINTS; i++)
        assert_true(fabs(fixture.choice.points[i].weight - weights[i]) < 1e-12);
    drop(&fixture);
}

static void nothing_is_lost(void **state) {
    (void)state;
    check((const bool[POINTS]){0}, (struct region_loss){0}, LABELS,
          (const double[]){.2, .2, .2, .4});
}

/* The other part of its cluster takes over. */
static void one_of_a_cluster(void **state) {
    (void)state;
    check((const bool[POINTS]){true}, (struct region_loss){.instructions = 200, .points = 1},
          (const uint32_t[]){1, 1, 1, 1, 2, 2, 3}, (const double[]){0, .4, .2, .4});
}

/* Slices 0 to 3 are 0.5 from slice 5 and 0.7 from slice 6; nothing like them is left. */
static void all_of_a_cluster(void **state) {
    (void)state;
    check((const bool[POINTS]){true, true},
          (struct region_loss){.instructions = 400, .alone = 400, .points = 2},
          (const uint32_t[]){2, 2, 2, 2, 2, 2, 3}, (const double[]){0, 0, .6, .4});
}

/* Slices 4 and 5 are nearer to slice 6 than to the first cluster's. */
static void the_only_one(void **state) {
    (void)state;
    check((const bool[POINTS]){false, true, true, false},
          (struct region_loss){.instructions = 400, .alone = 200, .points = 2},
          (const uint32_t[]){0, 0, 0, 0, 3, 3, 3}, (const double[]){.4, 0, 0, .6});
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_lost),
        cmocka_unit_test(one_of_a_cluster),
        cmocka_unit_test(all_of_a_cluster),
        cmocka_unit_test(the_only_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
