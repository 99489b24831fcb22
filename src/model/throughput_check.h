/* The cycle-level chip (simulate/sharing.h) to compare predictions of throughput with. What a
 * hardware thread does is measured in the first run of its program, as the profile was; when a
 * program begins again its lines are in the caches, which the profile knows nothing of. First runs
 * take different times, so their rates do not add up: what cores and the chip execute is counted
 * over one span, from the start until every program has run once. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "machine/machine.h"
#include "simulate/selection.h"
#include "util/error.h"
#include "util/watcher.h"

struct throughput_check_options {
    const struct machine *machine; /* with chip.cores and chip.threads */
    const char *const *traces;     /* [thread_count]: in the order in which they go round */
    uint32_t thread_count;
    bool alone; /* each trace alone as well: what misses are extra */
    struct selection selection;
    struct watcher watcher;
};

/* Of a hardware thread, per instruction; extra: of its first run, beyond the run alone. */
struct throughput_checked {
    double ipc;
    double extra_l1d, extra_l2;
    double l1d_alone, l2_alone, ipc_alone;
};
struct throughput_simulated {
    uint32_t cores, threads;
    struct throughput_checked *by_thread; /* [cores × threads] */
    double *by_core; /* instructions per cycle of all its threads, over the whole simulation */
    double ipc;      /* of the chip, likewise: the sum of its cores */
    double seconds;  /* processor time of the programs together */
    bool interrupted;
};

/* throughput_simulated_free() either way. */
bool throughput_simulate(const struct throughput_check_options *options,
                         struct throughput_simulated *simulated, struct error *error);
void throughput_simulated_free(struct throughput_simulated *simulated);
