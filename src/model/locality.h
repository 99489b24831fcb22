/* Temporal locality of one thread in a cache that it may come to share, measured while it runs
 * alone: circular sequences, S(x), b(i,x) and U(x) (Chen 2009 chapter 3; Chandra et al. 2005), and
 * what else suspends a thread, which throughput models need.
 *
 *     trace ──► private levels (functional, LRU) ──► per shared cache: circular.c, footprint.c
 *
 * Throughout, x and r count all loads and stores of the thread, one that touches several lines of
 * the L1D once for each; sets, blocks and n only those that reach the level. LRU, whatever the
 * machine's replacement is. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "machine/machine.h"
#include "simulate/selection.h"
#include "trace/dynamic.h"
#include "util/error.h"
#include "util/watcher.h"

enum {
    LOCALITY_MAX_WAYS = 64,
    LOCALITY_WINDOWS = 32, /* points of x: 2^0, 2^1 .. and all of the run */
    /* Circular sequences are kept by the octave of r, coarser groups are made of them: octave k
       holds 2^k <= r < 2^(k+1). */
    LOCALITY_OCTAVES = 40,
    LOCALITY_MAX_LEVELS = 64 /* shared caches profiled in one pass */
};

struct cache_shape {
    uint32_t sets, ways, line; /* powers of two but ways */
};
/* Adds shapes, "4096x12,1024x8", to those there are, `most` in all. Their lines are of 0 bytes. The
 * error does not repeat the text. */
bool cache_shapes_add(const char *text, uint32_t most, struct cache_shape *shapes, uint32_t *count,
                      struct error *error);

/* Circular sequences cseq(d, n, r), d = 1 .. ways, whose last access hits when the thread is alone.
 */
struct circular_count {
    uint64_t count;
    uint64_t r, n; /* sums over these sequences */
    double time;   /* likewise: how long they last when the thread is alone, in mean times from one
                      of its accesses to the next: r, if it always went at one pace */
};

/* Locality in one cache. Index d − 1 for d distinct blocks; k for the mean over all windows of x =
 * 2^k accesses, aligned to 2^k, that are complete. The last point, k = points − 1, is the run as a
 * whole, x = run. */
struct locality_level {
    struct cache_shape shape;
    uint64_t run;                                        /* loads and stores of the thread */
    uint64_t accesses;                                   /* of them, those that reached the cache */
    uint64_t misses;                                     /* alone, cold ones included */
    struct circular_count (*circular)[LOCALITY_OCTAVES]; /* [ways] */
    uint32_t points;                                     /* 1 .. LOCALITY_WINDOWS */
    double sets[LOCALITY_WINDOWS];                       /* S: distinct sets touched */
    double blocks[LOCALITY_WINDOWS];                     /* U: distinct blocks */
    double (*touched)[LOCALITY_WINDOWS]; /* b(i, x) at [i − 1][k], i = 1 .. ways, the last being
                                            "ways or more"; sums to 1 over i, or is 0 where no
                                            set was touched */
    /* Circular sequences of each set, and by bit whether the thread ever touched it: threads meet
       where both do (known only where they index the cache by the same address bits). */
    uint64_t *set_sequences; /* [shape.sets] */
    uint64_t *set_touched;   /* bits */
    /* A shared cache, likewise behind an L1D into which blocks of other threads come, `foreign` of
       them per access of this one (model/crowded_l1.h); by rising `foreign`, which is 0 of a level
       itself. */
    double foreign;
    struct locality_level *crowded; /* [crowded_count] */
    uint32_t crowded_count;
};

/* What an instruction of the thread waits for when it runs alone, counts. */
struct locality_events {
    uint64_t instructions, accesses;
    uint64_t turns; /* issue slots: instructions, and one more for each access beyond its first
                       (core/multithreaded/chip.h) */
    uint64_t l1d_misses, l1i_misses;
    uint64_t code_lines; /* lines, of the size of the shared cache's, that lines of code which the
                            L1I missed lie in: each comes from memory once */
    uint64_t long_operations, long_cycles; /* more than one cycle; their cycles beyond the first */
    uint64_t mispredictions, late_branches, system_events, system_cycles;
    uint64_t dtlb_misses, itlb_misses;
};

/* Each of these by its name, the last NULL. */
struct locality_event_name {
    const char *name;
    size_t offset;
};
extern const struct locality_event_name locality_event_names[];
static inline uint64_t *locality_event(struct locality_events *events,
                                       const struct locality_event_name *name) {
    return (uint64_t *)(void *)((char *)events + name->offset);
}

/* What the threads of a core share beside the L1D. */
enum locality_core { LOCALITY_L1I, LOCALITY_ITLB, LOCALITY_DTLB, LOCALITY_CORE };
extern const char *const locality_core_names[LOCALITY_CORE];

/* A profile: of one thread of one trace on the private levels of one machine. */
struct locality {
    char *program; /* its command */
    char isa[16];
    char *machine; /* keys of it that the profile depends on (locality_machine()) */
    bool frames;   /* addresses through memory/frame.h (space 0) beyond the L1 */
    bool partial;  /* not of all that was asked for: the trace broke off, or it was interrupted */
    struct locality_events events;
    uint32_t level_count;
    struct locality_level *levels; /* [0]: the L1D; then the shared caches */
    /* x and r count lines of code that are looked up, of the DTLB loads and stores; accesses are,
       of TLBs, those to another page than the one before. U is 0. No shape: the machine has none,
       or with more than LOCALITY_MAX_WAYS ways, or it was not asked for. */
    struct locality_level core[LOCALITY_CORE];
};

static inline bool locality_has(const struct locality_level *level) {
    return level->shape.sets != 0;
}

/* Rates of foreign blocks that a profile for cores of several threads is taken at: 1/32 to 1/2.
 * Beyond these an L1D keeps what is used at once and loses the rest. */
enum { LOCALITY_FOREIGN_RATES = 5 };
extern const double locality_foreign_rates[LOCALITY_FOREIGN_RATES];
/* How many of them: none where no other thread uses the L1D. */
static inline uint32_t locality_rates_for(uint32_t core_threads) {
    return core_threads > 1 ? LOCALITY_FOREIGN_RATES : 0;
}

struct locality_options {
    const struct machine *machine; /* private levels, predictor, latencies */
    const struct cache_shape *shared;
    uint32_t shared_count; /* ≥ 1 */
    bool frames;
    bool core;             /* fill in locality.core */
    const double *foreign; /* [foreign_count] rates of blocks that come into the L1D beside the
                              program's, > 0, rising; no L2 may lie before the shared caches */
    uint32_t foreign_count;
};

/* Arrays of a level for its shape, all 0. False: out of memory; locality_level_free() either way.
 */
bool locality_level_new(struct locality_level *level, struct cache_shape shape);
void locality_level_free(struct locality_level *level);

struct core_input;
struct locality_pass;
struct locality_pass *locality_new(const struct locality_options *options, struct error *error);
/* The next instructions of the thread. */
bool locality_add(struct locality_pass *pass, const struct core_input *input, struct error *error);
/* Moves what was measured into `locality` (command and ISA are the caller's to set); errors: no
 * memory access at all. The pass is freed either way. Shapes of the same sets and lines take one
 * pass together. */
bool locality_finish(struct locality_pass *pass, struct locality *locality, struct error *error);
void locality_pass_free(struct locality_pass *pass);

/* All of that, of the guest thread of a trace that `selection` names, or the first one where it
 * names none; `partial` where it was stopped or the trace breaks off. Errors name no file. */
bool locality_measure(struct trace *trace, const struct selection *selection,
                      const struct locality_options *options, const struct watcher *watcher,
                      struct locality *locality, struct error *error);
void locality_free(struct locality *locality);

/* Points of a run of so many accesses, ≥ 1: 2^0, 2^1 .. below it, and itself. */
uint32_t locality_points(uint64_t run);

/* Between points S and U follow a power of x, as they do exactly where they grow in proportion;
 * below x = 1 they are proportional, beyond the run they stay, as of a program that begins again.
 * x >= 0. */
double locality_sets(const struct locality_level *level, double x);
double locality_blocks(const struct locality_level *level, double x);
/* b[i − 1] for i = 1 .. ways; between points linear in log x. */
void locality_touched(const struct locality_level *level, double x, double *b);

/* What a profile depends on of a machine, a line "section.key = value" for each; to be freed. */
char *locality_machine(const struct machine *machine, struct error *error);
/* Whether the profile is of such a machine; the error names the first key that differs. */
bool locality_fits(const struct locality *locality, const struct machine *machine,
                   struct error *error);

enum { LOCALITY_VERSION = 3 };

/* The file (docs/locality-format.md): JSON. Hostile input: an error naming it; locality_free()
 * either way. */
bool locality_write(const struct locality *locality, FILE *file, struct error *error);
bool locality_read(struct locality *locality, const char *path, struct error *error);
/* Whether a regular file begins as one does: with a brace. (Of a pipe a byte would be lost.) */
bool locality_is_file(const char *path);
