/* How likely counts are by chance. */
#pragma once

/* P(X ≥ successes) of `tries` tries that succeed with `probability` each; both counts may be no
 * whole numbers. The regularised incomplete beta function (DLMF 8.17.5), by its continued fraction
 * (8.17.22), within 1e-12 of itself. */
double binomial_at_least(double successes, double tries, double probability);

/* Twice the smaller of P(X ≥ successes) and P(X ≤ successes), at most 1. */
double binomial_two_sided(double successes, double tries, double probability);

/* The probabilities that go with what was seen, by Wilson's score, at 95 %; neither count need be
 * whole. Of no tries: 0 to 1. */
struct binomial_interval {
    double low, high;
};
struct binomial_interval binomial_interval95(double successes, double tries);

/* P(X ≥ value) of chi-square with so many degrees of freedom, by the cube root's being nearly
 * normal (Abramowitz and Stegun 26.4.17): within 0.01 from 3 degrees on. */
double chi_square_at_least(double value, double degrees);
