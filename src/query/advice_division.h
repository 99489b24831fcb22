/* What is saved when divisions by a number that stays the same become multiplications by its
 * reciprocal (Granlund and Montgomery 1994): a product, and of integers the product of the quotient
 * and the divisor, a comparison and a correction. */
#pragma once

#include "machine/machine.h"

/* Cycles saved of `cycles`, in which nothing but so many divisions is waited for. Where these are
 * more for each than the divider is busy with it, its latency is waited for, of which the remedy's
 * is left; else the divider is, and as much is left as multipliers are busy. `operation` is
 * OP_INT_DIV or OP_FP_DIV, whose latency and interval are those of its class. */
double advice_division_saving(const struct machine *machine, enum operation operation,
                              double cycles, double divisions);

/* A loop, over all of its rounds. */
struct divided_loop {
    double cycles, instructions;
    double integer, floating; /* divisions by what does not change */
};

/* Whether the loop takes as long as its divisions keep the divider busy, so that all of its cycles
 * wait for that, whichever instruction they are attributed to: then `left` is the share of them
 * that is left when multipliers do the work, or instructions are dispatched. */
bool advice_divider_bound(const struct machine *machine, const struct divided_loop *loop,
                          double *left);
