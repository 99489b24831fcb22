/* Inside of the calibrate room: kernels as a program of their own, static and without a library,
 * that runs each of them several times, once to warm up and in pairs of n and 2 n iterations:
 *
 *     call kernel 0 (warm)      driver
 *     call kernel 0 (n)
 *     call kernel 0 (2 n)       again these two, as often as there are pairs
 *     call kernel 1 (warm) ...
 *     exit_group(0)
 *     kernel 0, kernel 1 ...    each with the call around it (host_wrap())
 *
 * Where the program goes from its driver to a kernel a run begins, and where it comes back it ends:
 * no other mark is needed. */
#pragma once

#include "host/kernel.h"

enum { GUEST_PAIRS = 3, GUEST_RUNS = 1 + 2 * GUEST_PAIRS }; /* at most */

struct guest {
    int file;            /* in memory: the ELF file */
    char path[64];       /* by which other processes find it, as long as it is open */
    uint64_t driver_end; /* instructions of the driver lie below it, those of kernels do not */
    uint64_t *data;      /* address of each kernel's, which those of the same data in a row share */
    size_t kernels;      /* that it runs, the first of the list; fewer than all when their data
                            are too large together */
    unsigned runs;       /* of each: 1 and two for each pair */
};

/* `pairs`: 1 to GUEST_PAIRS. */
bool guest_make(struct guest *guest, const struct host_kernel *const *kernels, size_t count,
                unsigned pairs, struct error *error);
void guest_close(struct guest *guest);
