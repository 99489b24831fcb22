#include "query/host_spread.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/array.h"
#include "util/binomial.h"
#include "util/order.h"

static double share_of(const struct matrix_host *host, uint32_t row) {
    return host->total > 0 ? host_matrix_value(host, row) / host->total : 0;
}

/* ---- rows that differ between hosts ---- */

/* Sums over hosts with samples. */
struct fleet {
    double samples, squares; /* of their numbers */
    size_t hosts;
};

static struct fleet fleet_of(const struct host_matrix *matrix) {
    struct fleet fleet = {0};
    for (size_t i = 0; i < matrix->host_count; i++) {
        const double n = matrix->hosts[i].total;
        fleet.samples += n;
        fleet.squares += n * n;
        fleet.hosts += n > 0;
    }
    return fleet;
}

/* Of the samples n_h of host h the row has x_h. Were the share p in all hosts, the sum of (x_h −
 * n_h p)² / (n_h p (1 − p)) would be chi-square's; what it has beyond its degrees of freedom is the
 * hosts' own variance, with the weights n_h (DerSimonian and Laird 1986, for shares). */
static struct spread_row spread_of(const struct host_matrix *matrix, const struct fleet *fleet,
                                   uint32_t number) {
    struct spread_row row = {.row = &matrix->rows[number], .probability = 1};
    const double p = fleet->samples > 0 ? row.row->total / fleet->samples : 0;
    const double single = p * (1 - p), degrees = (double)fleet->hosts - 1;
    double weighted = 0;
    row.share = p;
    row.chance = fleet->hosts ? sqrt(single * (double)fleet->hosts / fmax(fleet->samples, 1)) : 0;
    for (size_t i = 0; i < matrix->host_count; i++) {
        const struct matrix_host *host = &matrix->hosts[i];
        const double share = share_of(host, number);
        if (!(host->total > 0))
            continue;
        weighted += host->total * (share - p) * (share - p);
        if (!row.least || share < row.least_share)
            row.least = host, row.least_share = share;
        if (!row.most || share > row.most_share)
            row.most = host, row.most_share = share;
    }
    const double room = fleet->samples - fleet->squares / fmax(fleet->samples, 1);
    const double excess = room > 0 ? (weighted - degrees * single) / room : 0;
    row.beyond = excess > 0 ? sqrt(excess) : 0;
    if (single > 0 && degrees > 0)
        row.probability = chi_square_at_least(weighted / single, degrees);
    return row;
}

ORDER(by_excess, struct spread_row,
      descending(a->beyond, b->beyond) ?: descending(a->share, b->share))

bool host_spread_find(struct host_spread *spread, const struct host_matrix *matrix, double least) {
    const struct fleet fleet = fleet_of(matrix);
    *spread = (struct host_spread){.rows = calloc(matrix->row_count + 1, sizeof *spread->rows)};
    if (!spread->rows)
        return false;
    for (uint32_t i = 0; i < matrix->row_count; i++)
        if (matrix->rows[i].total >= least * matrix->total)
            spread->rows[spread->count++] = spread_of(matrix, &fleet, i);
        else
            spread->small++;
    for (size_t i = 0; i < spread->count; i++)
        spread->significant += spread->rows[i].probability * (double)spread->count < SPREAD_ALARM;
    qsort(spread->rows, spread->count, sizeof *spread->rows, by_excess);
    return true;
}

void host_spread_free(struct host_spread *spread) {
    free(spread->rows);
}

/* ---- hosts that stand apart ---- */

ORDER(by_size, double, ascending(*a, *b))

static double median_sorted(const double *values, size_t count) {
    return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

/* Middle and spread of a row's shares. */
struct middle {
    double median;
    double
        deviation; /* 1.4826 times the median absolute deviation: that of a normal distribution */
    double off;    /* twice the standard error of the median */
};

static struct middle middle_of(const struct host_matrix *matrix, uint32_t row, double *room) {
    struct middle middle;
    size_t count = 0;
    double typical = 0; /* variance by sampling, in the mean over hosts */
    for (size_t i = 0; i < matrix->host_count; i++)
        if (matrix->hosts[i].total > 0)
            room[count++] = share_of(&matrix->hosts[i], row);
    qsort(room, count, sizeof *room, by_size);
    middle.median = median_sorted(room, count);
    for (size_t i = 0; i < count; i++)
        room[i] = fabs(room[i] - middle.median);
    qsort(room, count, sizeof *room, by_size);
    middle.deviation = 1.4826 * median_sorted(room, count);
    for (size_t i = 0; i < matrix->host_count; i++)
        if (matrix->hosts[i].total > 0)
            typical += middle.median * (1 - middle.median) / matrix->hosts[i].total;
    typical = sqrt(typical / (double)count);
    middle.off = 2 * 1.2533 * fmax(middle.deviation, typical) / sqrt((double)count);
    return middle;
}

/* The point that a normal distribution exceeds, on either side, with this probability. */
static double normal_point(double probability) {
    double low = 0, high = 40;
    for (int i = 0; i < 100; i++) {
        const double middle = (low + high) / 2;
        *(erfc(middle / M_SQRT2) > probability ? &low : &high) = middle;
    }
    return low;
}

/* Of the shares that the hosts may have in truth, that which speaks best for the host: those within
 * what the median can be off by, and up to that of all other hosts together, as the median of a
 * rare row is 0. */
static double chance_of(const struct host_matrix *matrix, const struct matrix_host *host,
                        uint32_t row, const struct middle *middle) {
    const double value = host_matrix_value(host, row), share = value / host->total;
    const double others = matrix->rows[row].total - value;
    const double most = (others + 2 * sqrt(others + 1) + 1) / fmax(1, matrix->total - host->total);
    const double low = fmax(0, middle->median - middle->off);
    const double high = fmin(1, fmax(middle->median + middle->off, most));
    const double nearest = share < low ? low : share > high ? high : share;
    if (nearest == share)
        return 1;
    return binomial_two_sided(round(value), round(host->total), nearest);
}

static struct outlier outlier_of(const struct host_matrix *matrix, const struct matrix_host *host,
                                 uint32_t row, const struct middle *middle) {
    struct outlier outlier = {.host = host,
                              .row = &matrix->rows[row],
                              .share = share_of(host, row),
                              .median = middle->median};
    const double expected = fmax(middle->median, 1 / fmax(host->total, 1));
    const double chance = sqrt(expected * (1 - expected) / host->total);
    const double deviation = fmax(middle->deviation, chance);
    outlier.distance = deviation > 0 ? (outlier.share - middle->median) / deviation : 0;
    return outlier;
}

struct host_rank {
    const struct matrix_host *host;
    double farthest;
};

ORDER(by_host_and_distance, struct outlier,
      ascending(a->host, b->host) ?: descending(fabs(a->distance), fabs(b->distance)))
ORDER(by_farthest, struct host_rank,
      descending(a->farthest, b->farthest) ?: ascending(a->host, b->host))

/* The hosts one after the other, those farthest off first. */
static bool sort_outliers(struct outliers *outliers) {
    struct outlier *items = outliers->items;
    struct host_rank *ranks = calloc(outliers->count + 1, sizeof *ranks);
    struct outlier *sorted = calloc(outliers->count + 1, sizeof *sorted);
    if (!ranks || !sorted) {
        free(ranks);
        free(sorted);
        return false;
    }
    if (outliers->count)
        qsort(items, outliers->count, sizeof *items, by_host_and_distance);
    for (size_t i = 0; i < outliers->count; i++)
        if (!i || items[i].host != items[i - 1].host)
            ranks[outliers->hosts++] = (struct host_rank){items[i].host, fabs(items[i].distance)};
    qsort(ranks, outliers->hosts, sizeof *ranks, by_farthest);
    size_t kept = 0;
    for (size_t k = 0; k < outliers->hosts; k++) {
        size_t i = first_where(at, outliers->count, items[at].host >= ranks[k].host);
        for (; i < outliers->count && items[i].host == ranks[k].host; i++)
            sorted[kept++] = items[i];
    }
    free(ranks);
    free(items);
    outliers->items = sorted;
    return true;
}

static bool find_in_row(struct outliers *outliers, const struct host_matrix *matrix, uint32_t row,
                        const struct middle *middle, size_t *capacity) {
    for (size_t i = 0; i < matrix->host_count; i++) {
        const struct matrix_host *host = &matrix->hosts[i];
        if (!(host->total > 0))
            continue;
        struct outlier outlier = outlier_of(matrix, host, row, middle);
        if (fabs(outlier.distance) < outliers->far)
            continue;
        outlier.probability = chance_of(matrix, host, row, middle);
        if (outlier.probability < outliers->rarest &&
            !array_push(outliers->items, *capacity, outliers->count, outlier))
            return false;
    }
    return true;
}

bool outliers_find(struct outliers *outliers, const struct host_matrix *matrix, double least) {
    enum { FAR_LEAST = 3500 }; /* thousandths: Iglewicz and Hoaglin 1993 */
    const struct fleet fleet = fleet_of(matrix);
    double *room = calloc(matrix->host_count + 1, sizeof *room);
    size_t rows = 0, capacity = 0;
    bool good = room;
    *outliers = (struct outliers){0};
    for (uint32_t i = 0; i < matrix->row_count; i++)
        rows += matrix->rows[i].total >= least * matrix->total;
    outliers->tests = rows * fleet.hosts;
    outliers->rarest = OUTLIER_ALARM / fmax(1, (double)outliers->tests);
    outliers->far = fmax(FAR_LEAST / 1e3, normal_point(outliers->rarest));
    for (uint32_t i = 0; good && fleet.hosts >= OUTLIER_HOSTS && i < matrix->row_count; i++) {
        if (matrix->rows[i].total < least * matrix->total)
            continue;
        const struct middle middle = middle_of(matrix, i, room);
        good = find_in_row(outliers, matrix, i, &middle, &capacity);
    }
    free(room);
    return good && sort_outliers(outliers);
}

void outliers_free(struct outliers *outliers) {
    free(outliers->items);
}
