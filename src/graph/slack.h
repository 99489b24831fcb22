/* Slack of a fragment's nodes: by how many cycles a node may be later without making the fragment
 * longer, if all else stays as it was (waits for issue slots too).
 *
 * Slack is 0 on critical paths and never negative. The slack of an execution of an instruction is
 * the least among its results (P of its µops): how much longer it could take. */
#pragma once

#include <stddef.h>

#include "graph/edges.h"

/* Latest times of the nodes of a fragment, into latest[fragment->count]. `nodes`: the earliest, of
 * graph_fragment_times(). */
void slack_latest(const struct graph_machine *machine, const struct graph_fragment *fragment,
                  const struct graph_nodes *nodes, struct graph_nodes *latest);

/* Slacks of 0; of 1; 2 to 3; 4 to 7 ...; the last: 2^30 and more. */
enum { SLACK_BINS = 32 };
static inline unsigned slack_bin(uint64_t slack) {
    unsigned bin = slack ? 64 - (unsigned)__builtin_clzll(slack) : 0;
    return bin < SLACK_BINS ? bin : SLACK_BINS - 1;
}

struct slack_insn {
    uint64_t executions; /* 0: none */
    uint64_t least, sum; /* cycles, over executions */
};

/* All zero: of no fragments. */
struct slack {
    uint64_t executions;
    uint64_t bins[SLACK_BINS]; /* executions, by slack */
    struct slack_insn *insns;  /* by static instruction */
    size_t count, capacity;
};

/* Adds a fragment's executions; one that is cut by the fragment's begin is left out. False: out of
 * memory. slack_free() either way. */
bool slack_add(struct slack *slack, const struct graph_fragment *fragment,
               const struct graph_nodes *nodes, const struct graph_nodes *latest,
               struct error *error);
void slack_free(struct slack *slack);
