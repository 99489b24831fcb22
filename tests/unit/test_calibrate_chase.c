/* Chases: which places they visit, and in which order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "calibrate/chase.h"

static struct chase *chase;

static int start(void **state) {
    (void)state;
    chase = calloc(1, sizeof *chase);
    return !chase;
}

static int end(void **state) {
    (void)state;
    chase_free(chase);
    free(chase);
    return 0;
}

static int compare(const void *left, const void *right) {
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

/* 100 pages of 32 even lines: groups of 48, 48 and 4 pages. Within a group every page is visited
 * once before any is visited again, and all lines are visited once. */
static void pages_of_a_group_take_turns(void **state) {
    (void)state;
    const struct chase_shape shape = {
        .stride = HOST_PAGE, .pages = 100, .lines = 32, .spacing = CHASE_LINE, .group = 48};
    const size_t chain = chase_add(chase, &shape), count = chase->counts[chain];
    const uint64_t *nodes = chase->nodes[chain];
    assert_int_equal(count, 3200);
    assert_int_equal(chase->data.size, 100 * HOST_PAGE);
    for (size_t i = 0; i < count; i++) {
        const size_t group = i / (32 * 48), pages = group < 2 ? 48 : 4;
        const size_t round = i - group * 32 * 48;
        assert_int_equal(nodes[i] / HOST_PAGE / 48, group);
        if (round >= pages)
            assert_int_equal(nodes[i] / HOST_PAGE, nodes[i - pages] / HOST_PAGE);
    }
    qsort(chase->nodes[chain], count, sizeof *nodes, compare);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(nodes[i], i * CHASE_LINE);
}

/* One line of each of 1024 pages: each of the 32 even lines in 32 pages, and of the pages that are
 * alike in their lowest five bits no two the same: so they lie in different sets of a cache of up
 * to 128 KiB a way. */
static void lines_turn_with_pages(void **state) {
    (void)state;
    const struct chase_shape shape = {.stride = HOST_PAGE,
                                      .pages = 1024,
                                      .lines = 1,
                                      .spacing = CHASE_LINE,
                                      .group = 1024,
                                      .turn = 32};
    const size_t chain = chase_add(chase, &shape);
    unsigned sets[32][32] = {{0}};
    for (size_t i = 0; i < chase->counts[chain]; i++) {
        const uint64_t node = chase->nodes[chain][i];
        sets[node / HOST_PAGE % 32][node % HOST_PAGE / CHASE_LINE]++;
    }
    for (unsigned page = 0; page < 32; page++)
        for (unsigned line = 0; line < 32; line++)
            assert_int_equal(sets[page][line], 1);
}

/* Six pages in clusters of two, 8 KiB apart, 1 MiB from one cluster to the next. */
static void clusters_lie_apart(void **state) {
    (void)state;
    const struct chase_shape shape = {.stride = 1 << 20,
                                      .cluster = 2,
                                      .step = 8192,
                                      .pages = 6,
                                      .lines = 1,
                                      .spacing = CHASE_LINE,
                                      .group = 6,
                                      .first = 256};
    const size_t chain = chase_add(chase, &shape);
    qsort(chase->nodes[chain], 6, sizeof(uint64_t), compare);
    for (unsigned i = 0; i < 6; i++)
        assert_int_equal(chase->nodes[chain][i], 256 + (i / 2 << 20) + i % 2 * 8192);
}

static void pairs_follow_each_other(void **state) {
    (void)state;
    const struct chase_shape shape = {
        .stride = HOST_PAGE, .pages = 4, .lines = 8, .spacing = 512, .group = 4};
    const size_t chain = chase_add_pairs(chase, &shape, 64);
    assert_int_equal(chase->counts[chain], 64);
    for (unsigned i = 0; i < 64; i += 2)
        assert_int_equal(chase->nodes[chain][i + 1], chase->nodes[chain][i] + 64);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(pages_of_a_group_take_turns, start, end),
        cmocka_unit_test_setup_teardown(lines_turn_with_pages, start, end),
        cmocka_unit_test_setup_teardown(clusters_lie_apart, start, end),
        cmocka_unit_test_setup_teardown(pairs_follow_each_other, start, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
