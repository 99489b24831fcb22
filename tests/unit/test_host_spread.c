/* How hosts differ: hand-worked fleets, and how often hosts that are alike are told to stand apart.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "query/host_spread.h"
#include "util/random.h"

enum { MOST_HOSTS = 64, MOST_ROWS = 48 };

/* A matrix in memory, of which the counts are set. */
struct fleet {
    struct host_matrix matrix;
    struct matrix_host hosts[MOST_HOSTS];
    struct matrix_row rows[MOST_ROWS];
    struct host_cell cells[MOST_HOSTS][MOST_ROWS];
    char names[MOST_HOSTS][16], procedures[MOST_ROWS][16];
};

static struct fleet *fleet_new(size_t hosts, size_t rows) {
    struct fleet *fleet = calloc(1, sizeof *fleet);
    assert_non_null(fleet);
    fleet->matrix.hosts = fleet->hosts;
    fleet->matrix.rows = fleet->rows;
    fleet->matrix.host_count = hosts;
    fleet->matrix.row_count = rows;
    for (size_t i = 0; i < hosts; i++) {
        snprintf(fleet->names[i], sizeof fleet->names[i], "host-%02zu", i);
        fleet->hosts[i] = (struct matrix_host){.name = fleet->names[i],
                                               .cells = fleet->cells[i],
                                               .count = rows,
                                               .counted = true,
                                               .seconds = 100};
        for (uint32_t row = 0; row < rows; row++)
            fleet->cells[i][row].row = row;
    }
    for (size_t i = 0; i < rows; i++) {
        snprintf(fleet->procedures[i], sizeof fleet->procedures[i], "row_%02zu", i);
        fleet->rows[i].shown = (struct profile_row){
            .procedure = fleet->procedures[i], .image = "/bin/app", .covered = true};
        char key[64];
        const int size = snprintf(key, sizeof key, "app\nrow_%02zu", i);
        assert_int_equal(intern_add(&fleet->matrix.keys, key, (size_t)size), i);
    }
    return fleet;
}

static void fleet_free(struct fleet *fleet) {
    intern_free(&fleet->matrix.keys);
    free(fleet);
}

static void count(struct fleet *fleet, size_t host, uint32_t row, double value) {
    fleet->cells[host][row].value += value;
    fleet->hosts[host].total += value;
    fleet->rows[row].total += value;
    fleet->matrix.total += value;
}

static void clear(struct fleet *fleet) {
    for (size_t i = 0; i < fleet->matrix.host_count; i++) {
        fleet->hosts[i].total = 0;
        for (size_t row = 0; row < fleet->matrix.row_count; row++)
            fleet->cells[i][row].value = 0;
    }
    for (size_t row = 0; row < fleet->matrix.row_count; row++)
        fleet->rows[row].total = 0;
    fleet->matrix.total = 0;
}

static void near(double value, double expected, double within) {
    if (!(fabs(value - expected) <= within))
        fail_msg("%.9g is not %.9g ± %g", value, expected, within);
}

/* Two hosts of 1000 samples, 400 and 600 of them in row 0: p = 0.5. Σ n (s − p)² = 2 · 1000 · 0.01
 * = 20; by chance it were one degree of p (1 − p) = 0.25. The excess 19.75 over 2000 − 2·10⁶/2000 =
 * 1000 is 0.01975, its root 0.14053. Sampling gives √(0.25 · 2 / 2000) = 0.01581. */
static void worked_spread(void **state) {
    (void)state;
    struct fleet *fleet = fleet_new(2, 2);
    struct host_spread spread;
    count(fleet, 0, 0, 400);
    count(fleet, 0, 1, 600);
    count(fleet, 1, 0, 600);
    count(fleet, 1, 1, 400);
    assert_true(host_spread_find(&spread, &fleet->matrix, 0));
    assert_int_equal(spread.count, 2);
    near(spread.rows[0].beyond, sqrt(0.01975), 1e-12);
    near(spread.rows[0].chance, sqrt(0.25 * 2 / 2000), 1e-12);
    near(spread.rows[0].least_share, 0.4, 0);
    near(spread.rows[0].most_share, 0.6, 0);
    assert_true(spread.rows[0].probability < 1e-6);
    assert_int_equal(spread.significant, 2);
    host_spread_free(&spread);
    fleet_free(fleet);
}

/* Two hosts on both sides. Row 0 has 10 and 30 of 100 before: R = 0.2, errors (10 − 20)/200 = −0.05
 * and +0.05; 20 and 44 of 100 after: R = 0.32, errors −0.06 and +0.06. The change is 0.12; of pairs
 * the errors are −0.01 and +0.01: √(2 · 2 · 10⁻⁴ / 1)... = √(0.0002 · 2) = 0.02, times 12.706. */
static void worked_change(void **state) {
    (void)state;
    struct fleet *before = fleet_new(2, 2), *after = fleet_new(2, 2);
    const struct host_side sides[2] = {{&before->matrix, false}, {&after->matrix, false}};
    count(before, 0, 0, 10), count(before, 0, 1, 90);
    count(before, 1, 0, 30), count(before, 1, 1, 70);
    count(after, 0, 0, 20), count(after, 0, 1, 80);
    count(after, 1, 0, 44), count(after, 1, 1, 56);
    const struct host_change change = host_change_of(sides, &before->rows[0].shown);
    near(change.change, 0.12, 1e-12);
    near(change.interval, 12.706 * 0.02, 1e-3);
    assert_int_equal(change.hosts, 2);
    assert_int_equal(change.paired, 2);
    /* Per second, of 100 seconds each: (64 − 40)/200; errors as above, times 100/100. */
    const struct host_side rates[2] = {{&before->matrix, true}, {&after->matrix, true}};
    near(host_change_of(rates, &before->rows[0].shown).change, 0.12, 1e-12);
    /* Other hosts after: the errors of four hosts do not cancel: √(4/3 (2·25 + 2·36) 10⁻⁴). */
    snprintf(after->names[0], sizeof after->names[0], "other-00");
    snprintf(after->names[1], sizeof after->names[1], "other-01");
    const struct host_change apart = host_change_of(sides, &before->rows[0].shown);
    assert_int_equal(apart.hosts, 4);
    assert_int_equal(apart.paired, 0);
    near(apart.interval, 3.182 * sqrt(4. / 3 * 122e-4), 3e-3);
    fleet_free(before);
    fleet_free(after);
}

/* `samples` of a host, drawn from shares that fall as 1 / (1 + row). */
static void draw_host(struct fleet *fleet, size_t host, size_t samples, double odd,
                      uint64_t *random) {
    double sums[MOST_ROWS], sum = 0;
    const size_t rows = fleet->matrix.row_count;
    for (size_t i = 0; i < rows; i++)
        sums[i] = sum += (i == 3 ? odd : 1) / (1 + (double)i * (double)i / 8);
    for (size_t n = 0; n < samples; n++) {
        const double at = random_fraction(random) * sum;
        uint32_t row = 0;
        while (row + 1 < rows && sums[row] <= at)
            row++;
        count(fleet, host, row, 1);
    }
}

/* Hosts of one profile: a fleet in a hundred may have an outlier. Of 300, with 0.01 each, five or
 * fewer with 92 %, eight or fewer with 99.6 %; fleets of few samples, whose counts are small
 * numbers, are in it. The numbers drawn are the same each time. */
static void like_hosts_do_not_stand_apart(void **state) {
    (void)state;
    uint64_t random = 7;
    size_t alarms = 0;
    struct fleet *fleet = fleet_new(24, 40);
    for (int trial = 0; trial < 300; trial++) {
        struct outliers outliers;
        clear(fleet);
        for (size_t host = 0; host < 24; host++)
            draw_host(fleet, host, trial % 3 ? 150 : host % 2 ? 1000 : 60, 1, &random);
        assert_true(outliers_find(&outliers, &fleet->matrix, 0));
        alarms += outliers.count > 0;
        outliers_free(&outliers);
    }
    if (alarms > 8)
        fail_msg("%zu of 300 fleets of like hosts have an outlier", alarms);
    fleet_free(fleet);
}

static void finds_the_odd_host(void **state) {
    (void)state;
    uint64_t random = 3;
    struct fleet *fleet = fleet_new(24, 40);
    struct outliers outliers;
    for (size_t host = 0; host < 24; host++)
        draw_host(fleet, host, 2000, host == 17 ? 3 : 1, &random);
    assert_true(outliers_find(&outliers, &fleet->matrix, 0.001));
    assert_true(outliers.count >= 1);
    assert_int_equal(outliers.hosts, 1);
    assert_string_equal(outliers.items[0].host->name, "host-17");
    assert_string_equal(outliers.items[0].row->shown.procedure, "row_03");
    assert_true(outliers.items[0].distance > 5 && outliers.items[0].probability < 1e-9);
    outliers_free(&outliers);
    fleet_free(fleet);
}

/* Hosts that differ anyway, each share from 10 to 30 %, and none of them out of that. */
static void differing_hosts_do_not_stand_apart(void **state) {
    (void)state;
    struct fleet *fleet = fleet_new(20, 2);
    struct outliers outliers;
    for (size_t host = 0; host < 20; host++) {
        count(fleet, host, 0, 10000 + 1000 * (double)host);
        count(fleet, host, 1, 90000 - 1000 * (double)host);
    }
    assert_true(outliers_find(&outliers, &fleet->matrix, 0));
    assert_int_equal(outliers.count, 0);
    outliers_free(&outliers);
    fleet_free(fleet);
}

/* Too few hosts, hosts without samples, nothing at all. */
static void little_to_go_by(void **state) {
    (void)state;
    struct fleet *fleet = fleet_new(3, 2);
    struct outliers outliers;
    struct host_spread spread;
    assert_true(outliers_find(&outliers, &fleet->matrix, 0));
    outliers_free(&outliers);
    assert_true(host_spread_find(&spread, &fleet->matrix, 0));
    near(spread.rows[0].beyond, 0, 0);
    host_spread_free(&spread);
    count(fleet, 0, 0, 1000);
    count(fleet, 1, 1, 1000);
    assert_true(outliers_find(&outliers, &fleet->matrix, 0));
    assert_int_equal(outliers.count, 0);
    outliers_free(&outliers);
    fleet_free(fleet);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(worked_spread),
                                       cmocka_unit_test(worked_change),
                                       cmocka_unit_test(like_hosts_do_not_stand_apart),
                                       cmocka_unit_test(finds_the_odd_host),
                                       cmocka_unit_test(differing_hosts_do_not_stand_apart),
                                       cmocka_unit_test(little_to_go_by)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
