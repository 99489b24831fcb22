/* nbody [STEPS]: gravity between 32 bodies, one square root and one division per pair.
 *
 * All data in the L1. The square root and the division are long and not pipelined on most machines:
 * time belongs to them. On riscv64 the comparison that looks for a negative argument of sqrt()
 * saves and restores the floating point flags, which flushes: the square root stands exposed (the
 * TEA paper's nab). */
#include <math.h>

#include "workload.h"

enum { BODIES = 32 };

static double position[BODIES][3], velocity[BODIES][3], mass[BODIES];

kernel void attract(double step) {
    for (int i = 0; i < BODIES; i++)
        for (int j = i + 1; j < BODIES; j++) {
            double x = position[i][0] - position[j][0];
            double y = position[i][1] - position[j][1];
            double z = position[i][2] - position[j][2];
            double square = x * x + y * y + z * z + 0.01;
            double pull = step / (square * sqrt(square));
            double on_i = mass[j] * pull, on_j = mass[i] * pull;
            velocity[i][0] -= x * on_i;
            velocity[i][1] -= y * on_i;
            velocity[i][2] -= z * on_i;
            velocity[j][0] += x * on_j;
            velocity[j][1] += y * on_j;
            velocity[j][2] += z * on_j;
        }
}

kernel void move(double step) {
    for (int i = 0; i < BODIES; i++)
        for (int axis = 0; axis < 3; axis++)
            position[i][axis] += step * velocity[i][axis];
}

int main(int count, char **arguments) {
    uint64_t steps = argument(count, arguments, 1, 6000, "steps");
    uint64_t seed = 314159265;
    for (int i = 0; i < BODIES; i++) {
        mass[i] = 0.5 + (double)random_below(&seed, 100) / 100;
        for (int axis = 0; axis < 3; axis++)
            position[i][axis] = (double)random_below(&seed, 2000) / 100 - 10;
    }
    for (uint64_t i = 0; i < steps; i++) {
        attract(0.0001);
        move(0.0001);
        DIVIDE_IF(i % 32 == 0);
    }
    double energy = 0;
    for (int i = 0; i < BODIES; i++)
        for (int axis = 0; axis < 3; axis++)
            energy += 0.5 * mass[i] * velocity[i][axis] * velocity[i][axis];
    printf("nbody %.6f\n", energy);
    return 0;
}
