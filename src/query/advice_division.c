#include "query/advice_division.h"

#include <math.h>

/* Cycles from one operation to the next when there are always some to do. */
static double busy(const struct machine *machine, enum operation operation) {
    const struct machine_class *class = &machine->classes[operation];
    const uint32_t units = machine->pools[class->pool].units;
    return (double)class->interval / (units ? units : 1);
}

double advice_division_saving(const struct machine *machine, enum operation operation,
                              double cycles, double divisions) {
    const struct machine_class *classes = machine->classes;
    const bool integer = operation == OP_INT_DIV;
    const enum operation product = integer ? OP_INT_MUL : OP_FP_MUL;
    const double latency =
        integer ? 2 * (double)classes[OP_INT_MUL].latency + 2 * (double)classes[OP_INT_ALU].latency
                : (double)classes[OP_FP_MUL].latency;
    const double left = (integer ? 2 : 1) * busy(machine, product);
    const double divider = busy(machine, operation);
    const double each = divisions > 0 ? cycles / divisions : 0;
    if (each > divider)
        return divisions * fmax(0, fmin((double)classes[operation].latency - latency, each - left));
    return cycles * fmax(0, 1 - left / divider);
}
