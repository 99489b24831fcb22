/* How well a clustering explains the slices for the number of its parameters: the Bayesian
 * Information Criterion of spherical Gaussians of one common variance (Pelleg and Moore 2000), in
 * the maximum-likelihood form that SimPoint 3.2 computes. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* A variance below this, per dimension, is the rounding of coordinates between −1 and 1. */
#define BIC_LEAST_VARIANCE 1e-13

/* Of `count` slices in `clusters` clusters. `distortion`: the sum of squared distances to the
 * centroids, weighted so that the mean weight is 1; `shares`: each cluster's share of all weight,
 * with a sum of 1; an empty cluster counts as parameters all the same. Natural logarithm; the
 * higher, the better. */
double bic_score(size_t count, uint32_t dimensions, uint32_t clusters, double distortion,
                 const double *shares);
