#include "query/advice_division.h"

#include <math.h>

/* Of a loop's cycles: the rest begins and ends it. */
static const double LEAST_BUSY = 0.9;

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

bool advice_divider_bound(const struct machine *machine, const struct divided_loop *loop,
                          double *left) {
    const double divider =
        fmax(loop->integer * busy(machine, OP_INT_DIV), loop->floating * busy(machine, OP_FP_DIV));
    const double products = fmax(2 * loop->integer * busy(machine, OP_INT_MUL),
                                 loop->floating * busy(machine, OP_FP_MUL));
    const double dispatch = loop->instructions / machine->core.dispatch_width;
    if (!(divider > 0) || divider < LEAST_BUSY * loop->cycles)
        return false;
    *left = fmin(1, fmax(products, dispatch) / loop->cycles);
    return true;
}
