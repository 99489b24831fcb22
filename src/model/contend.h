/* What programs that run beside each other on one machine cost each other: misses in the caches
 * that they share, beyond those when alone, and, on a chip, the cycles of these.
 *
 * On a chip (machine_is_chip()) speeds and contention go by model/throughput.h. On other machines
 * the last level is shared by cores of one thread each; how fast a thread goes is what its waits
 * add up to when nothing overlaps, once without and once with the misses that others cost it:
 * only the ratios of speeds matter. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "machine/machine.h"
#include "model/contention.h"
#include "model/locality.h"
#include "simulate/selection.h"
#include "util/watcher.h"

enum contend_placing {
    PLACE_APART,   /* over the cores in turn, so that threads share cores only when they must */
    PLACE_TOGETHER /* core by core */
};

/* "0.8,1.2": as many numbers as there are, above 0 and at most CONTEND_MOST_IPC. False: it is
 * something else, nothing, or more than `most`. */
#define CONTEND_MOST_IPC 64
bool contend_read_ipc(const char *list, uint32_t most, double *ipc, uint32_t *count);

struct contend_options {
    const struct machine *machine;
    struct contention_options contention;
    enum contend_placing placing;
    const double *ipc; /* of each program, given; NULL: found as above. With it, the last level
                          alone is looked at */
};

/* Of one program, per instruction, mean over its copies. */
struct contend_misses {
    double l1d, shared; /* misses */
    double cycles;      /* NaN: not known */
};
struct contend_program {
    uint32_t copies;
    double accesses; /* loads and stores per instruction */
    struct contend_misses alone, beside;
};

/* Programs are profiles with the shared cache at levels[1], the last level of the machine; threads
 * [thread_count] name one each. programs[i] of the result has no copies where no thread does.
 * Errors: more threads than the chip or the model takes, shapes that differ. */
bool contend_predict(const struct locality *const *programs, uint32_t program_count,
                     const uint32_t *threads, uint32_t thread_count,
                     const struct contend_options *options, struct contend_program *result,
                     struct error *error);

/* Whether the machine could execute options->ipc: no core can be given more than it issues, a core
 * of a chip by all its threads together. Before anything is profiled. */
bool contend_check_ipc(const uint32_t *threads, uint32_t thread_count,
                       const struct contend_options *options, struct error *error);

/* The hardware thread of a chip that the n-th of the threads runs on. */
uint32_t contend_place(const struct machine *machine, enum contend_placing placing, uint32_t n);

/* The same on the cycle-level chip: first runs beside each other, and of each program alone, on the
 * hardware thread of its first copy. */
struct contend_check_options {
    const struct machine *machine; /* a chip */
    enum contend_placing placing;
    const char *const *traces; /* of each program */
    struct selection selection;
    struct watcher watcher;
};
struct contend_check {
    struct contend_program *programs;
    uint64_t instructions; /* simulated, in all */
    double seconds;        /* processor time */
    bool interrupted;
};
/* contend_check_free() either way. */
bool contend_simulate(const uint32_t *threads, uint32_t thread_count, uint32_t program_count,
                      const struct contend_check_options *options, struct contend_check *check,
                      struct error *error);
void contend_check_free(struct contend_check *check);
