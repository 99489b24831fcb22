/* What is told of a command that may be too short to be compared. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "report/host_report.h"

/* Of a run of `cycles`, between these bounds, that is predicted to take 120. */
static void tell_matched(double low, double cycles, double high,
                         const struct matched_profile *matched,
                         bool (*form)(const struct host_report *, FILE *), char **text) {
    static struct machine machine = {.name = "zen4", .clock_ghz = 1};
    static struct host_runs runs;
    const struct simulation simulation = {.cycles = 120, .simulated = 9, .executed = 9};
    runs = (struct host_runs){.runs = {{.user = 0.01,
                                        .system = 0.01,
                                        .clock = 1e9,
                                        .cycles = cycles,
                                        .cycles_low = low,
                                        .cycles_high = high}},
                              .count = 1,
                              .tick = 0.004};
    struct host_report report = {
        .report = {.verb = "validate", .program = "a", .machine = &machine},
        .simulation = &simulation,
        .runs = &runs,
        .matched = matched};
    size_t size;
    FILE *file = open_memstream(text, &size);
    assert_true(host_report_add_worth(&report));
    assert_true(form(&report, file));
    fclose(file);
    report_free(&report.report);
}

static void tell(double low, double cycles, double high, double samples,
                 bool (*form)(const struct host_report *, FILE *), char **text) {
    const struct matched_profile matched = {.samples = samples, .measured = 1, .predicted = 1};
    tell_matched(low, cycles, high, &matched, form, text);
}

static bool as_text(const struct host_report *report, FILE *file) {
    const struct page page = {.file = file, .columns = 400, .bold = "", .plain = ""};
    host_report_text(report, &page);
    return true;
}

static bool as_json(const struct host_report *report, FILE *file) {
    struct error error;
    return host_report_json(report, file, &error);
}

static void expect(const char *text, const char *part, bool there) {
    if (!strstr(text, part) == there)
        fail_msg("%s: %s", there ? "is not there" : "is there", part);
}

/* 100 - 26 %, and 100 + 26 %. */
static void too_wide_an_interval_is_not_compared(void **state) {
    (void)state;
    static const double BOUNDS[][2] = {{74, 101}, {99, 126}};
    for (int i = 0; i < 2; i++) {
        char *text;
        tell(BOUNDS[i][0], 100, BOUNDS[i][1], 100, as_text, &text);
        expect(text, "on machine zen4: too short here to be compared: take a longer input", true);
        free(text);
        tell(BOUNDS[i][0], 100, BOUNDS[i][1], 100, as_json, &text);
        expect(text, "\"cycles_error\": null", true);
        free(text);
    }
}

/* 120 over 80, 100 and 125. */
static void a_wide_one_is_told(void **state) {
    (void)state;
    char *text;
    tell(80, 100, 125, 100, as_text, &text);
    expect(text, "uncertain: 80.0 to 125 cycles (95 %): ", true);
    expect(text, "by ticks of 4.00 ms, 5.0 in this run", true);
    expect(text, "on machine zen4: +20.0 % (-4.0 to +50.0)\n", true);
    free(text);
}

static void a_narrow_one_is_not(void **state) {
    (void)state;
    char *text;
    tell(98, 100, 102, 100, as_text, &text);
    expect(text, "uncertain", false);
    expect(text, "on machine zen4: +20.0 %\n", true);
    free(text);
}

static void none_was_counted(void **state) {
    (void)state;
    char *text;
    tell(0, 0, 50, 100, as_text, &text);
    expect(text, "too short here to be compared", true);
    free(text);
}

static void few_samples_are_told(void **state) {
    (void)state;
    char *text;
    tell(98, 100, 102, 8, as_text, &text);
    expect(text, "8 live samples are few: shares of procedures are uncertain", true);
    free(text);
    tell(98, 100, 102, 100, as_text, &text);
    expect(text, "are few", false);
    free(text);
}

/* Values that are all equal have no order, however many they are. */
static void why_there_is_no_rank_correlation(void **state) {
    (void)state;
    const struct {
        struct matched_profile matched;
        const char *told;
    } cases[] = {
        {{.ranked = 2, .equally_measured = true},
         "too few procedures have samples for a rank correlation: 2 of at least 3\n"},
        {{.ranked = 4, .equally_measured = true},
         "no rank correlation: the 4 hottest procedures have equally many live samples\n"},
        {{.ranked = 4, .equally_predicted = true},
         "no rank correlation: the 4 hottest procedures have equally many predicted cycles\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct matched_profile matched = cases[i].matched;
        char *text;
        matched.samples = matched.measured = matched.predicted = 100;
        matched.rank_correlation = matched.rank_repeats = NAN;
        tell_matched(98, 100, 102, &matched, as_text, &text);
        expect(text, cases[i].told, true);
        free(text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(too_wide_an_interval_is_not_compared),
        cmocka_unit_test(a_wide_one_is_told),
        cmocka_unit_test(a_narrow_one_is_not),
        cmocka_unit_test(none_was_counted),
        cmocka_unit_test(few_samples_are_told),
        cmocka_unit_test(why_there_is_no_rank_correlation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
