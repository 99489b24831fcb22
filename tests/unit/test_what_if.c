/* The what-ifs of a report: which causes are told, with whom they interact. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/core.h"
#include "report/what_if.h"

/* Of 1,000 cycles imiss costs 200, dmiss 300, dl1 5, win 60; imiss and dmiss together 450, a serial
 * 50; dmiss and dl1 345, a parallel 40; win and imiss 230, a serial 30; all else is independent and
 * costs nothing. */
static double cycles_of(uint32_t set) {
    double cycles = 1000;
    cycles -= set & IDEAL_IMISS ? 200 : 0;
    cycles -= set & IDEAL_DMISS ? 300 : 0;
    cycles -= set & IDEAL_DL1 ? 5 : 0;
    cycles -= set & IDEAL_WIN ? 60 : 0;
    cycles += (set & IDEAL_IMISS) && (set & IDEAL_DMISS) ? 50 : 0;
    cycles -= (set & IDEAL_DMISS) && (set & IDEAL_DL1) ? 40 : 0;
    cycles += (set & IDEAL_WIN) && (set & IDEAL_IMISS) ? 30 : 0;
    return cycles;
}

static struct breakdown make(void) {
    struct breakdown breakdown;
    struct error error;
    const char *names[8];
    for (uint32_t i = 0; i < 8; i++)
        names[i] = ideal_name(i);
    assert_true(breakdown_init(&breakdown, 8, names, &error));
    for (uint32_t set = 0; set < breakdown_sets(&breakdown); set++)
        breakdown.cycles[set] = cycles_of(set);
    return breakdown;
}

static char *text_of(const struct breakdown *breakdown) {
    char *text;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    what_if_text(breakdown, false, file);
    fclose(file);
    return text;
}

static void costly_causes_are_told(void **state) {
    (void)state;
    struct breakdown breakdown = make();
    char *text = text_of(&breakdown);
    static const char *const LINES[] = {
        "\nwhat if (percent of run time that it would save)\n",
        " dmiss data accesses always hit the L1 cache and TLB            30.0  in series with "
        "imiss "
        "(-5.0)\n",
        " imiss instruction cache and TLB always hit                     20.0  in series with "
        "dmiss "
        "(-5.0)\n",
        " win   window (ROB, queues, registers) 20 times larger           6.0  in series with "
        "imiss "
        "(-3.0)\n",
        " imiss+dmiss: both                                              45.0\n",
        NULL};
    const char *at = text;
    for (int i = 0; LINES[i]; i++) {
        const char *found = strstr(at, LINES[i]);
        if (!found)
            fail_msg("no '%s' in '%s'", LINES[i], at);
        at = found;
    }
    assert_null(strstr(text, "dl1 ")); /* under 1 % */
    free(text);
    breakdown_free(&breakdown);
}

static void nothing_is_said_of_nothing(void **state) {
    (void)state;
    struct breakdown none = {0}, breakdown = make();
    for (uint32_t set = 0; set < breakdown_sets(&breakdown); set++)
        breakdown.cycles[set] = 1000;
    char *text = text_of(&none), *free_of_cost = text_of(&breakdown);
    assert_string_equal(text, "");
    assert_string_equal(free_of_cost, "");
    free(text);
    free(free_of_cost);
    breakdown_free(&breakdown);
    json_t *null = what_if_json(&none);
    assert_true(json_is_null(null));
    json_decref(null);
}

static void all_pairs_are_in_the_object(void **state) {
    (void)state;
    struct breakdown breakdown = make();
    json_t *object = what_if_json(&breakdown), *pairs = json_object_get(object, "pairs");
    assert_int_equal(json_array_size(json_object_get(object, "costs")), 8);
    assert_int_equal(json_array_size(pairs), 28);
    json_t *first = json_array_get(pairs, 0), *icost = json_object_get(first, "icost");
    assert_string_equal(json_string_value(json_array_get(json_object_get(first, "members"), 0)),
                        "imiss");
    assert_true(json_real_value(json_object_get(icost, "cycles")) == -50);
    assert_true(json_real_value(json_object_get(icost, "percent")) == -5);
    json_decref(object);
    breakdown_free(&breakdown);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(costly_causes_are_told),
        cmocka_unit_test(nothing_is_said_of_nothing),
        cmocka_unit_test(all_pairs_are_in_the_object),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
