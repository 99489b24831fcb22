/* With n slices, D dimensions, k clusters of shares p and the variance s = distortion / (D n):
 *
 *     likelihood = n (sum of p ln p − D/2 (ln(2 pi s) + 1))
 *     parameters = (k − 1) shares + k D coordinates + 1 variance
 *     score      = likelihood − parameters/2 ln n
 *
 * SimPoint 3.2 divides by a variance of 0 when all slices of each cluster are alike; here it has a
 * lower limit, from where on only parameters count. */
#include "region/bic.h"

#include <math.h>

double bic_score(size_t count, uint32_t dimensions, uint32_t clusters, double distortion,
                 const double *shares) {
    double n = (double)count, D = dimensions, k = clusters;
    double variance = fmax(distortion / (D * n), BIC_LEAST_VARIANCE);
    double likelihood = -D / 2 * (log(2 * M_PI * variance) + 1);
    for (uint32_t cluster = 0; cluster < clusters; cluster++)
        if (shares[cluster] > 0)
            likelihood += shares[cluster] * log(shares[cluster]);
    double parameters = (k - 1) + k * D + 1;
    return n * likelihood - parameters / 2 * log(n);
}
