#include "util/binomial.h"

#include <math.h>

/* The fraction of DLMF 8.17.22, by Lentz's method. */
static double beta_fraction(double a, double b, double x) {
    enum { STEPS = 100000 };
    const double tiny = 1e-300;
    double d = 1 - (a + b) * x / (a + 1), c = 1;
    d = 1 / (fabs(d) < tiny ? tiny : d);
    double fraction = d;
    for (int m = 1; m < STEPS; m++) {
        const double n = m;
        double step = n * (b - n) * x / ((a + 2 * n - 1) * (a + 2 * n));
        for (int half = 0; half < 2; half++) {
            d = 1 + step * d;
            c = 1 + step / c;
            d = 1 / (fabs(d) < tiny ? tiny : d);
            c = fabs(c) < tiny ? tiny : c;
            fraction *= d * c;
            step = -(a + n) * (a + b + n) * x / ((a + 2 * n) * (a + 2 * n + 1));
        }
        if (fabs(d * c - 1) < 1e-14)
            break;
    }
    return fraction;
}

/* The regularised incomplete beta function I_x(a, b). */
static double beta(double a, double b, double x) {
    if (x <= 0 || x >= 1)
        return x >= 1;
    const double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
    if (x < (a + 1) / (a + b + 2))
        return front * beta_fraction(a, b, x) / a;
    return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double binomial_at_least(double successes, double tries, double probability) {
    if (successes <= 0)
        return 1;
    return successes > tries ? 0 : beta(successes, tries - successes + 1, probability);
}

/* P(X ≤ successes) = I_{1 − p}(n − k, k + 1). */
static double binomial_at_most(double successes, double tries, double probability) {
    if (successes >= tries)
        return 1;
    return successes < 0 ? 0 : beta(tries - successes, successes + 1, 1 - probability);
}

double binomial_two_sided(double successes, double tries, double probability) {
    const double above = binomial_at_least(successes, tries, probability);
    const double below = binomial_at_most(successes, tries, probability);
    return fmin(1, 2 * fmin(above, below));
}

struct binomial_interval binomial_interval95(double successes, double tries) {
    static const double Z = 1.959964;
    if (!(tries > 0))
        return (struct binomial_interval){0, 1};
    const double share = successes / tries, of_tries = Z * Z / tries;
    const double centre = (share + of_tries / 2) / (1 + of_tries);
    const double half = Z / (1 + of_tries) * sqrt((share * (1 - share) + of_tries / 4) / tries);
    return (struct binomial_interval){fmax(0, centre - half), fmin(1, centre + half)};
}

double chi_square_at_least(double value, double degrees) {
    if (value <= 0 || degrees <= 0)
        return 1;
    const double spread = 2 / (9 * degrees);
    return 0.5 * erfc((cbrt(value / degrees) - 1 + spread) / sqrt(2 * spread));
}
