#include "util/student.h"

static double expansion(double degrees) {
    const double z = 1.959964, z3 = z * z * z, z5 = z3 * z * z, z7 = z5 * z * z;
    return z + (z3 + z) / (4 * degrees) + (5 * z5 + 16 * z3 + 3 * z) / (96 * degrees * degrees) +
           (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / (384 * degrees * degrees * degrees);
}

static double between(double low, double high, double part) {
    return low + (high - low) * part;
}

double student_t95(double degrees) {
    static const double one = 12.706, two = 4.303;
    if (degrees <= 1)
        return one;
    if (degrees < 2)
        return between(one, two, degrees - 1);
    if (degrees < 3)
        return between(two, expansion(3), degrees - 2);
    return expansion(degrees);
}
