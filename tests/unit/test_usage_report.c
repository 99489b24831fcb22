/* Events that were counted in turns, in the report of culprit stat. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "report/usage_report.h"

/* 430 cycles in 43 of 100 ns: 1000 in all. The second run had its counter all the time; branches
 * never had one. */
static struct usage runs[2] = {
    {.counts = {{.count = 430, .enabled = 100, .running = 43}, {.enabled = 100}}},
    {.counts = {{.count = 800, .enabled = 100, .running = 100}, {.enabled = 100}}}};
static const struct usages one = {.runs = runs,
                                  .count = 1,
                                  .events = {{.kind = LIVE_CYCLES, .name = "cycles"},
                                             {.kind = LIVE_HARDWARE, .name = "branches"}},
                                  .event_count = 2};

static void scaled_counts(void **state) {
    (void)state;
    assert_true(live_event_scaled_count(&runs[0].counts[0]) == 1000);
    assert_true(live_event_scaled_count(&runs[1].counts[0]) == 800);
    assert_true(live_event_scaled_count(&runs[0].counts[1]) == 0);
}

static char *text_of(const struct usages *usages, bool json) {
    char *text = NULL;
    size_t size;
    struct error error;
    FILE *file = open_memstream(&text, &size);
    const struct page page = {.file = file, .columns = 100, .bold = "", .dim = "", .plain = ""};
    assert_true(json ? usage_json(usages, "test", file, &error)
                     : usage_text(usages, "test", &page, &error));
    fclose(file);
    return text;
}

static void expect(const struct usages *usages, bool json, const char *wanted) {
    char *text = text_of(usages, json);
    if (!strstr(text, wanted))
        fail_msg("no %s in %s", wanted, text);
    free(text);
}

static void the_text_says_from_how_much(void **state) {
    (void)state;
    struct usages both = one;
    both.count = 2;
    expect(&one, false, "\ncycles (scaled from 43 %)             1,000\n");
    expect(&one, false, "\nbranches                        not counted\n");
    expect(&both, false, "\ncycles (scaled from 72 %)"); /* 143 of 200 */
    expect(&both, false, "900");                         /* the median */
}

static void so_does_json(void **state) {
    (void)state;
    expect(&one, true, "\"counted\": 0.43,");
    expect(&one, true, "\"median\": 1000.0");
    expect(&one, true, "\"branches\": null");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(scaled_counts),
                                       cmocka_unit_test(the_text_says_from_how_much),
                                       cmocka_unit_test(so_does_json)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
