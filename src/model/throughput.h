/* Throughput of chips whose cores interleave threads (Chen 2009 chapter 4): sum of cycles, sum of
 * IPCs, Bernoulli and Markov models, and mean value analysis; the last two with the misses that
 * threads cost each other by the contention model (§3.3), in the L1s and TLBs among a core's
 * threads and in the L2 among all (§4.4.2, §5.2; there of data alone, without TLBs).
 *
 * Beyond the thesis, the L2's profile is that behind an L1D which loses as many blocks as its extra
 * misses say (locality_level.crowded); a profile without such levels is taken as it is.
 *
 * How fast threads run decides how much they disturb each other, and the other way round. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "core/multithreaded/chip.h"
#include "machine/machine.h"
#include "model/contention.h"
#include "model/locality.h"

enum throughput_model {
    THROUGHPUT_SUM_OF_CYCLES, /* §4.1: no overlap */
    THROUGHPUT_SUM_OF_IPCS,   /* §4.2: perfect overlap */
    THROUGHPUT_BERNOULLI,     /* §4.3 */
    THROUGHPUT_MARKOV,        /* §4.4 */
    THROUGHPUT_MEAN_VALUE,    /* mean_value.h */
    THROUGHPUT_MODELS,
    THROUGHPUT_BEST = THROUGHPUT_MEAN_VALUE /* the nearest to the chip (docs/guide.md) */
};
extern const char *const throughput_model_names[THROUGHPUT_MODELS];

/* The one latency M of a chain whose threads are suspended for several causes. */
enum throughput_latency {
    LATENCY_MEAN,    /* of all suspensions: one thread alone runs as fast as its CPI says */
    LATENCY_BY_TIME, /* §4.4.2: causes weighed by the time they take */
    LATENCIES
};
extern const char *const throughput_latency_names[LATENCIES];

/* How fast threads run, for contention. */
enum throughput_speeds {
    SPEEDS_MEAN_VALUE, /* by mean value analysis */
    SPEEDS_ISOLATED, /* §4.4.2: of what the core executes by the Markov chain, in proportion to the
                        IPCs of threads that have the core for themselves */
    SPEEDS
};
extern const char *const throughput_speeds_names[SPEEDS];

/* What suspends a thread, per instruction: how often, and cycles beyond the one that an issue
 * takes. */
struct throughput_stall {
    double events, cycles;
};

struct throughput_options {
    const struct machine *machine; /* latencies; chip.cores and chip.threads */
    struct contention_options contention;
    uint32_t rounds; /* of contention and speeds; 1 in the thesis */
    enum throughput_latency latency;
    enum throughput_speeds speeds;
};

/* Of a hardware thread; per instruction of its program where it says so. */
struct throughput_thread {
    double ipc_alone;           /* 1 / sum of CPI components */
    double ipc;                 /* with extra misses, still as if it had the core for itself */
    double ipc_shared;          /* beside the others, by mean value analysis */
    double extra_l1d, extra_l2; /* misses per instruction; of the L2, some could be fewer */
    double l1d_alone, l2_alone; /* likewise */
    double extra_core[LOCALITY_CORE];            /* of lines of code and translations, likewise */
    struct throughput_stall stalls[SUSPENSIONS]; /* with extra misses */
};
struct throughput_core {
    double ipc[THROUGHPUT_MODELS];
    double p, latency; /* of the Markov chain: suspensions per issue slot, cycles */
};
struct throughput_result {
    uint32_t cores, threads;             /* per core */
    struct throughput_thread *by_thread; /* [cores × threads]; idle ones are all 0 */
    struct throughput_core *by_core;
    double ipc[THROUGHPUT_MODELS]; /* of the chip: sum over cores */
};

/* programs[c × threads + t]: the profile of hardware thread t of core c; NULL: idle. Profiles may
 * appear more than once: cores with the same programs cost no more than one. `level` is the index
 * of the shared L2 among each one's levels. Errors: shapes differ from the machine's, a chip larger
 * than the models take, nothing runs. throughput_free() either way. */
bool throughput_predict(const struct locality *const *programs, uint32_t level,
                        const struct throughput_options *options, struct throughput_result *result,
                        struct error *error);
void throughput_free(struct throughput_result *result);

/* ---- pieces ---- */

/* M of these stalls; 1 when nothing stalls. */
double throughput_latency(const struct throughput_stall *stalls, uint32_t count,
                          enum throughput_latency latency);
