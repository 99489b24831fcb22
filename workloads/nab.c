/* nab [ATOMS] [STEPS]: forces in a molecule in water, as nab of SPEC CPU2017.
 *
 * The generalised Born model: each atom's effective radius from its distances to all others
 * (Hawkins, Cramer, Truhlar 1996), then energy and forces of all pairs. One or two square roots per
 * pair. Before each, a comparison decides whether its argument is negative (errno); comparing
 * quietly on riscv64 saves and restores the floating point flags (frflags, fsflags), which flushes:
 * the square root starts late and stands exposed (TEA paper, §6). Without NaN (-ffinite-math-only)
 * the flags are left alone; without errno as well (-ffast-math) the comparison is gone: `make`
 * builds nab-finite-math-only and nab-fast-math. */
#include <math.h>

#include "workload.h"

enum { MOST_ATOMS = 2048 };

static uint64_t atoms;
static double place[MOST_ATOMS][3], force[MOST_ATOMS][3];
static double charge[MOST_ATOMS], radius[MOST_ATOMS], born[MOST_ATOMS];

static inline double distance_squared(uint64_t i, uint64_t j, double apart[3]) {
    double sum = 0;
    for (int axis = 0; axis < 3; axis++) {
        apart[axis] = place[i][axis] - place[j][axis];
        sum += apart[axis] * apart[axis];
    }
    return sum;
}

/* Atom by atom: what the spheres of the others take from the solvent around it. */
kernel void born_radii(double cutoff) {
    for (uint64_t i = 0; i < atoms; i++) {
        double hidden = 0;
        for (uint64_t j = 0; j < atoms; j++) {
            double apart[3], squared = distance_squared(i, j, apart);
            if (j == i || squared > cutoff * cutoff)
                continue;
            double distance = sqrt(squared), inverse = 1 / distance;
            double sphere = 0.8 * radius[j];
            if (distance > 4 * sphere) { /* far: the first terms of the series */
                double ratio = sphere * inverse, ratio_squared = ratio * ratio;
                hidden += ratio * ratio_squared * inverse *
                          (1.0 / 3 + ratio_squared * (2.0 / 5 + ratio_squared * (3.0 / 7)));
            } else if (distance > radius[i] + sphere) {
                double near = 1 / (distance - sphere), far = 1 / (distance + sphere);
                hidden += 0.5 * (near - far +
                                 0.25 * (distance - sphere * sphere * inverse) *
                                     (far * far - near * near) +
                                 0.5 * inverse * log(far / near));
            }
        }
        born[i] = 1 / (1 / radius[i] - hidden);
    }
}

kernel double pair_forces(double cutoff) {
    double energy = 0;
    for (uint64_t i = 0; i < atoms; i++)
        for (uint64_t j = i + 1; j < atoms; j++) {
            double apart[3], squared = distance_squared(i, j, apart);
            if (squared > cutoff * cutoff)
                continue;
            double radii = born[i] * born[j], fade = exp(-0.25 * squared / radii);
            double effective = sqrt(squared + radii * fade), distance = sqrt(squared);
            double charges = charge[i] * charge[j];
            double screened = charges / effective, bare = charges / distance;
            energy += bare - 0.987 * screened;
            double sixth = 1 / (squared * squared * squared);
            energy += 1e-3 * (sixth * sixth - sixth);
            double pull = bare / squared + 1e-3 * (12 * sixth - 6) * sixth / squared -
                          0.987 * screened * (1 - 0.25 * fade) / (effective * effective);
            for (int axis = 0; axis < 3; axis++) {
                force[i][axis] += pull * apart[axis];
                force[j][axis] -= pull * apart[axis];
            }
        }
    return energy;
}

int main(int count, char **arguments) {
    atoms = argument(count, arguments, 1, 512, "atoms");
    uint64_t steps = argument(count, arguments, 2, 20, "steps");
    if (atoms > MOST_ATOMS) {
        fprintf(stderr, "nab: at most %d atoms\n", MOST_ATOMS);
        return 2;
    }
    uint64_t seed = 1996;
    double energy = 0;
    /* A chain that winds through a box, with some jitter: no two atoms meet. */
    for (uint64_t i = 0; i < atoms; i++) {
        uint64_t layer = i / 64, row = i / 8 % 8;
        double at[3] = {(double)(i % 8), (double)row, (double)layer};
        for (int axis = 0; axis < 3; axis++)
            place[i][axis] = 2.5 * at[axis] + (double)random_below(&seed, 1000) * 1e-3;
        charge[i] = (double)random_below(&seed, 1000) * 1e-3 - 0.5;
        radius[i] = 1.2 + (double)random_below(&seed, 500) * 1e-3;
    }
    for (uint64_t step = 0; step < steps; step++) {
        born_radii(15);
        energy += pair_forces(15);
        for (uint64_t i = 0; i < atoms; i++)
            for (int axis = 0; axis < 3; axis++) {
                place[i][axis] += 1e-3 * force[i][axis];
                force[i][axis] = 0;
            }
    }
    printf("nab %.5e\n", energy);
    return 0;
}
