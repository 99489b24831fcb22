/* Chips to compare: every number of cores with every number of threads a core, each predicted and,
 * where asked for, simulated. Programs go round over the hardware threads, core by core.
 *
 *     throughput_space_add(&space, "cores=1..8 threads=1..4", &error)     once or more
 */
#pragma once

#include "model/throughput.h"
#include "model/throughput_check.h"

struct throughput_range {
    uint32_t first, last; /* 0: as the machine has it */
};
struct throughput_space {
    bool searched; /* anything was added */
    struct throughput_range cores, threads;
};
/* "cores=A..B", "threads=C", or several, between spaces. */
bool throughput_space_add(struct throughput_space *space, const char *text, struct error *error);
/* Ranges that were not given become the machine's. */
void throughput_space_finish(struct throughput_space *space, const struct machine *machine);

struct throughput_point {
    uint32_t cores, threads;
    double ipc[THROUGHPUT_MODELS]; /* of the chip; NAN after a stop */
    double simulated;              /* likewise; NAN where it was not */
};
struct throughput_search {
    struct throughput_space space;
    struct throughput_point *points; /* threads fastest */
    uint32_t count;
    bool interrupted;                         /* the last points are not predicted */
    double model_seconds, simulation_seconds; /* processor time */
};

/* programs[thread_count]: in the order in which they go round. At least the first point is
 * predicted before a stop (may be NULL). throughput_search_free() either way. */
bool throughput_search(const struct throughput_space *space, const struct locality *const *programs,
                       uint32_t thread_count, uint32_t level,
                       const struct throughput_options *options, const volatile sig_atomic_t *stop,
                       struct throughput_search *search, struct error *error);
/* Simulates every point as well. *interrupted: those from the stop on are not. */
bool throughput_search_check(struct throughput_search *search,
                             const struct throughput_check_options *options, bool *interrupted,
                             struct error *error);
void throughput_search_free(struct throughput_search *search);

/* The point of the highest IPC by the best model, or simulated; of equals that with the fewest
 * threads. */
const struct throughput_point *throughput_best(const struct throughput_search *search,
                                               bool simulated);

/* For hardware thread h the program h modulo thread_count; room for cores × threads. */
void throughput_go_round(const struct locality *const *programs, uint32_t thread_count,
                         uint32_t hardware_threads, const struct locality **out);
