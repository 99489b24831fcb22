/* What a shotgun profiler's hardware delivers (interaction-cost paper §5.4): detailed samples, each
 * one instruction with its latencies and the signature bits around it, and signature samples, each
 * a start and the bits of a stretch of instructions. Both are taken at random. When there are more
 * than the database holds, every other one is dropped, and from then on half as many are taken, so
 * that it does not grow with the run.
 *
 * Beside it is what was really executed (struct shotgun_truth), for validation: nothing that
 * constructs a fragment looks at it. */
#pragma once

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "graph/graph.h"
#include "shotgun/signature.h"
#include "util/error.h"

enum {
    SHOTGUN_PERIOD = 50,     /* instructions from one detailed sample to the next, mean */
    SHOTGUN_PERIOD_MIN = 32, /* one at a time: the ten instructions behind it come first */
    SHOTGUN_LENGTH = 2000,   /* instructions of a signature sample */
    SHOTGUN_LENGTH_MAX = 1 << 16,
    SHOTGUN_SAMPLES_MAX = 1 << 18, /* detailed; then half of them go */
    SHOTGUN_SKELETONS_MAX = 1024,  /* signature samples, likewise */
    SHOTGUN_INSN_UOPS = 64         /* kept of one instruction; a repeated one may have more */
};

struct shotgun_options {
    uint64_t period; /* mean, from SHOTGUN_PERIOD_MIN */
    uint32_t length; /* 1 to SHOTGUN_LENGTH_MAX */
    uint64_t seed;
    uint32_t pc_bit; /* of the program counter, for bit 3 of signatures: 1, the lowest, to
                        SHOTGUN_PC_BITS, which do not depend on where a file is mapped; 0: none */
    bool truth;      /* keep paths */
    bool perfect;    /* and graphs, as design 1 has them */
};

enum { SHOTGUN_NONE = UINT32_MAX, SHOTGUN_PC_BITS = 12 };

/* What was measured for a µop: everything of Table V that is marked D. Distances in µops back,
 * times in cycles, as in struct graph_uop. */
struct shotgun_uop {
    uint32_t flags;      /* of enum graph_flags, those in SHOTGUN_OBSERVED */
    uint32_t store_insn; /* static instruction of the store at distance `store`; SHOTGUN_NONE */
    uint16_t fetch_cache, fetch_tlb, unit_wait, mshr_wait, execution, miss, store_wait,
        after_commit;
    uint16_t store, store_data, fetched_by, queue_entry, fill, fetch_packet, walk;
    uint8_t level, reserved;
};
static_assert(sizeof(struct shotgun_uop) == 40, "hundreds of thousands are kept");
enum {
    SHOTGUN_OBSERVED = GRAPH_MISPREDICTED | GRAPH_LATE | GRAPH_TAKEN | GRAPH_FLUSHES |
                       GRAPH_FORWARDED | GRAPH_COVERED | GRAPH_BREAK | GRAPH_HUNG | GRAPH_PENDING
};
static inline struct shotgun_uop shotgun_observe(const struct graph_uop *uop, uint32_t store_insn) {
    return (struct shotgun_uop){.flags = uop->flags & SHOTGUN_OBSERVED,
                                .store_insn = store_insn,
                                .fetch_cache = uop->fetch_cache,
                                .fetch_tlb = uop->fetch_tlb,
                                .unit_wait = uop->unit_wait,
                                .mshr_wait = uop->mshr_wait,
                                .execution = uop->execution,
                                .miss = uop->miss,
                                .store_wait = uop->store_wait,
                                .after_commit = uop->after_commit,
                                .store = uop->store,
                                .store_data = uop->store_data,
                                .fetched_by = uop->fetched_by,
                                .queue_entry = uop->queue_entry,
                                .fill = uop->fill,
                                .fetch_packet = uop->fetch_packet,
                                .walk = uop->walk,
                                .level = uop->level};
}

/* A detailed sample. */
struct shotgun_sample {
    uint64_t context; /* CONTEXT_BITS */
    uint32_t insn;    /* static instruction, for its address */
    uint32_t target;  /* indirect branch: where it went; SHOTGUN_NONE */
    uint32_t first_uop;
    uint16_t uop_count;   /* kept */
    uint8_t target_fused; /* `target` is fused with the compare before it, where it really went */
    uint8_t reserved;
    uint32_t uops_executed; /* more than uop_count when a repeated instruction had more */
};
static_assert(sizeof(struct shotgun_sample) == 32, "");

struct shotgun_database {
    struct shotgun_options options;
    struct shotgun_sample *samples;
    struct shotgun_uop *uops;
    uint32_t *starts; /* signature samples: static instruction of the start */
    uint64_t *bits;   /* of each signature sample in turn, signature_words(length) words */
    size_t sample_count, sample_capacity, uop_count, uop_capacity, skeleton_count, start_capacity,
        bits_capacity;
    unsigned sample_level, skeleton_level; /* how often half of them went */
    uint64_t instructions;                 /* that the samples were taken from */
    uint64_t cycles;                       /* that these instructions took, from commit to commit */
    uint64_t random;                       /* state */
};

/* What was really executed. */
struct shotgun_truth {
    uint32_t *paths;          /* of each signature sample in turn, `length` static instructions;
                                 SHOTGUN_NONE: a compare all of which is in the branch behind it */
    struct graph_uop *graphs; /* of each in turn, as the whole graph has them */
    size_t *graph_ends;       /* behind its last µop */
    size_t path_capacity, graph_count, graph_capacity, end_capacity;
};

void shotgun_database_init(struct shotgun_database *database,
                           const struct shotgun_options *options);
void shotgun_database_free(struct shotgun_database *database);
void shotgun_truth_free(struct shotgun_truth *truth);

/* Draws the distance in instructions to the next sample: 1 to twice the mean, at the present rate
 * of samples. */
uint64_t shotgun_sample_gap(struct shotgun_database *database);
uint64_t shotgun_skeleton_gap(struct shotgun_database *database);

/* Each copies what it is given. False: out of memory, with an error. */
bool shotgun_add_sample(struct shotgun_database *database, const struct shotgun_sample *sample,
                        const struct shotgun_uop *uops, struct error *error);
/* `truth` may be NULL; path and graph then too. */
bool shotgun_add_skeleton(struct shotgun_database *database, uint32_t start, const uint64_t *bits,
                          struct shotgun_truth *truth, const uint32_t *path,
                          const struct graph_uop *graph, size_t graph_uops, struct error *error);

static inline const uint64_t *shotgun_bits(const struct shotgun_database *database, size_t number) {
    return database->bits + number * signature_words(database->options.length);
}
