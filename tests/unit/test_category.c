/* Categories as a user writes them, and what sets of them make of weights. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "graph/category.h"

#define BIT(part) (UINT64_C(1) << (part))

static void what_is_written(void **state) {
    (void)state;
    struct categories categories = {0};
    struct error error;
    const char *places;
    assert_true(categories_parse(&categories, "dram", &places, &error));
    assert_null(places);
    assert_true(categories_parse(&categories, "near=l2,dtlb,dl1:-2", &places, &error));
    assert_null(places);
    assert_true(categories_parse(&categories, "hot=dmiss:50%@f(int, long),a.c:3", &places, &error));
    assert_string_equal(places, "f(int, long),a.c:3");
    assert_true(categories_parse(&categories, "int_mul@operator==", &places, &error));
    assert_string_equal(places, "operator==");
    assert_true(categories_parse(&categories, "big=win:200%", &places, &error));
    const struct category *list = categories.list;
    assert_string_equal(list[0].name, "dram");
    assert_true(list[0].parts == BIT(GRAPH_PART_MISS_DRAM) && list[0].change == CATEGORY_REMOVE);
    assert_true(list[1].parts ==
                (BIT(GRAPH_PART_MISS_L2) | BIT(GRAPH_PART_WALK) | BIT(GRAPH_PART_L1)));
    assert_true(list[1].change == CATEGORY_FASTER && list[1].amount == 2);
    assert_true(list[2].parts ==
                (BIT(GRAPH_PART_WALK) | BIT(GRAPH_PART_MISS_L2) | BIT(GRAPH_PART_MISS_LLC) |
                 BIT(GRAPH_PART_MISS_DRAM) | BIT(GRAPH_PART_WRITE)));
    assert_true(list[2].change == CATEGORY_SCALE && list[2].amount == 50 && list[2].insns);
    assert_string_equal(list[3].name, "int_mul");
    assert_true(list[3].parts == BIT(GRAPH_PART_OPERATION + OP_INT_MUL));
    assert_true(list[4].amount == 200);
    categories_free(&categories);
}

static void what_is_refused(void **state) {
    (void)state;
    static const char *const WRONG[] = {
        "",          "=dmiss",          "x=",      "x=dmiss,",   "x=cash",     "dmiss@",
        "dmiss:",    "dmiss:50",        "dmiss:-", "dmiss:-0",   "dmiss:-1%",  "dmiss:x",
        "dl1:120%",  "win:50%",         "win:-3",  "bw:50%",     "bw@main",    "win@main",
        "a+b=dmiss", "dmiss:99999999%", "x=load",  "x=dmiss l2", "win,dl1:50%"};
    for (size_t i = 0; i < sizeof WRONG / sizeof *WRONG; i++) {
        struct categories categories = {0};
        struct error error = {0};
        const char *places;
        if (categories_parse(&categories, WRONG[i], &places, &error))
            fail_msg("'%s' is taken", WRONG[i]);
        assert_true(error.message[0]);
        assert_int_equal(categories.count, 0);
    }
    struct categories categories = {0};
    struct error error;
    const char *places;
    char name[24];
    for (int i = 0; i < CATEGORIES_MAX; i++) {
        snprintf(name, sizeof name, "c%d=dmiss", i);
        assert_true(categories_parse(&categories, name, &places, &error));
    }
    assert_false(categories_parse(&categories, "one=bw", &places, &error)); /* too many */
    categories_free(&categories);
}

/* Of several that idealise a weight the least counts: of 100, 60 faster 40, half 50, both 40. */
static void the_least_counts(void **state) {
    (void)state;
    struct categories categories = {0};
    struct error error;
    const char *places;
    assert_true(categories_parse(&categories, "faster=dl1:-60", &places, &error));
    assert_true(categories_parse(&categories, "half=dl1:50%", &places, &error));
    assert_true(categories_parse(&categories, "none=dl1", &places, &error));
    assert_true(categories_parse(&categories, "some=dl1@f", &places, &error));
    const uint32_t faster = 1, half = 2, none = 4, some = 8;
    assert_int_equal(categories_weight(&categories, 0, 100), 100);
    assert_int_equal(categories_weight(&categories, faster, 100), 40);
    assert_int_equal(categories_weight(&categories, half, 100), 50);
    assert_int_equal(categories_weight(&categories, faster | half, 100), 40);
    assert_int_equal(categories_weight(&categories, faster | half, 130), 65);
    assert_int_equal(categories_weight(&categories, faster, 10), 0);
    assert_int_equal(categories_weight(&categories, half | none, 100), 0);
    assert_true(categories_keep(&categories, faster | half));
    assert_false(categories_keep(&categories, faster | none));
    categories.list[3].insns[5] = 1u << 7;
    assert_int_equal(categories_of(&categories, GRAPH_PART_L1, 167), faster | half | none | some);
    assert_int_equal(categories_of(&categories, GRAPH_PART_L1, 166), faster | half | none);
    assert_int_equal(categories_of(&categories, GRAPH_PART_SHORT, 167), 0);
    categories_free(&categories);
}

/* 20 times as large, or so much; of several the largest. */
static void windows(void **state) {
    (void)state;
    struct categories categories = {0};
    struct error error;
    const char *places;
    const struct graph_machine machine = {.window = 100, .ideal_window = 2000, .most_of_place = 1};
    assert_true(categories_parse(&categories, "twice=win:200%", &places, &error));
    assert_true(categories_parse(&categories, "thrice=win:300%", &places, &error));
    assert_true(categories_parse(&categories, "win", &places, &error));
    assert_true(categories_parse(&categories, "bw", &places, &error));
    assert_int_equal(categories_window(&categories, 0, &machine), 0);
    assert_int_equal(categories_window(&categories, 8, &machine), 0);
    assert_int_equal(categories_window(&categories, 1, &machine), 200);
    assert_int_equal(categories_window(&categories, 3, &machine), 300);
    assert_int_equal(categories_window(&categories, 7, &machine), 2000);
    categories_free(&categories);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written), cmocka_unit_test(what_is_refused),
        cmocka_unit_test(the_least_counts), cmocka_unit_test(windows)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
