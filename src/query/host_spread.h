/* How hosts differ: which rows' shares spread more between hosts than samples do by chance, which
 * hosts stand apart from the rest, and how sure a change of a fleet is. A share is of what a host
 * has of all rows of the matrix. */
#pragma once

#include "query/host_matrix.h"

/* ---- rows that differ between hosts ---- */

struct spread_row {
    const struct matrix_row *row;
    double share;  /* of all hosts together */
    double chance; /* standard deviation that sampling gives the share of a host with as many
                      samples as the mean host */
    double beyond; /* that of hosts beyond it: the square root of the excess of the variance, by
                      the method of moments; 0: there is none */
    double probability; /* that samples differ as much when hosts do not (chi-square) */
    const struct matrix_host *least, *most; /* that have the smallest and the largest share */
    double least_share, most_share;
};

struct host_spread {
    struct spread_row *rows; /* by `beyond`, largest first */
    size_t count;
    size_t small;       /* left out: less than SPREAD_LEAST of all */
    size_t significant; /* with a probability below SPREAD_ALARM over the number of rows */
};
#define SPREAD_LEAST 0.001
#define SPREAD_ALARM 0.01 /* of any row, when no hosts differ */

/* `least` of all, or 0 for all rows. False: out of memory. */
bool host_spread_find(struct host_spread *spread, const struct host_matrix *matrix, double least);
void host_spread_free(struct host_spread *spread);

/* ---- hosts that stand apart ---- */

struct outlier {
    const struct matrix_host *host;
    const struct matrix_row *row;
    double share, median; /* of the host, of all hosts */
    double distance;    /* from the median, in standard deviations: 1.4826 times the median absolute
                           deviation of hosts, or what sampling gives when that is more */
    double probability; /* of samples as far from what the other hosts have, by chance alone */
};

struct outliers {
    struct outlier *items; /* by host, those farthest off first, then by distance */
    size_t count;
    size_t hosts;  /* that have any */
    size_t tests;  /* pairs of host and row that were looked at */
    double far;    /* distance from which on a host stands apart */
    double rarest; /* probability below which it does */
};
#define OUTLIER_ALARM 0.01 /* probability that hosts with one profile give any outlier */
#define OUTLIER_HOSTS 4    /* least number of hosts of which one can stand apart */

/* A host stands apart in a row when chance alone gives such a share with less than OUTLIER_ALARM
 * over the number of pairs (Bonferroni), and when it is farther from the median than hosts are: in
 * a fleet that differs anyway the second decides, among like hosts the first. What a fleet's median
 * can be off by counts for the host. Rows with at least `least` of all are looked at. False: out of
 * memory. */
bool outliers_find(struct outliers *outliers, const struct host_matrix *matrix, double least);
void outliers_free(struct outliers *outliers);

/* ---- changes ---- */

/* The change of a ratio of sums over hosts, with half of its 95 % interval: linearised, so that
 * hosts are what is drawn (Cochran 1977, §6.3 and §11.8): a host on both sides is a pair. */
struct host_change {
    double change, interval; /* NAN: fewer than two hosts */
    size_t hosts, paired;    /* in all; on both sides */
};
struct host_side {
    const struct host_matrix *matrix;
    bool per_second; /* values per second; else shares */
};
struct host_change host_change_of(const struct host_side sides[2], const struct profile_row *row);
