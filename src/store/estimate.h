/* Where not all of a run was simulated: what its profile was estimated from. Events have it behind
 * their `period_unit` in the store, as in
 *
 *     cycles; 160 regions, 0.034512 of the instructions, within 0.012100 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct store_estimate {
    uint64_t count;   /* parts of the run that were simulated; 0: it is no estimate */
    bool windows;     /* these are windows of systematic sampling; else regions */
    double simulated; /* that part of all instructions, 0 to 1 */
    double within;    /* half of the 95 % interval of all cycles, as a part of them; negative: not
                         known */
};

enum { ESTIMATE_SIZE = 160 };
/* Prints what is behind the unit; "" of no estimate. */
void estimate_print(const struct store_estimate *estimate, char text[ESTIMATE_SIZE]);
/* Bytes of the unit alone in what a store has. Where nothing that estimate_print() makes is behind
 * it, all of it is the unit, and there is no estimate. */
size_t estimate_read(const char *unit, struct store_estimate *estimate);
bool estimate_same(const struct store_estimate *one, const struct store_estimate *other);
