/* Construction of a fragment of the dependence graph from sparse samples (interaction-cost paper
 * §5 and Fig. 7), in the four designs of its Table IV.
 *
 *     1  every instruction was measured: the fragment is the graph's own
 *     2  one detailed sample for each static instruction, along a path found as in design 4
 *     3  detailed samples alone: a fragment begins with one drawn at random, the next is one of the
 *        following instruction whose signatures overlap best, and so on
 *     4  a signature sample is the skeleton; for each of its instructions the detailed sample whose
 *        signatures match best
 *
 * What software knows statically comes from the binary and the machine: register dependences, found
 * by renaming along the fragment, structural distances, constant latencies. What varies comes from
 * the chosen samples; but where a sample was taken with other bits of its own than the signature
 * sample has there, misses and mispredictions are what those bits say, as if there were no sample:
 * rare events have few samples, and would be lost. */
#pragma once

#include "shotgun/code.h"
#include "shotgun/database.h"

enum shotgun_design {
    SHOTGUN_PERFECT = 1,
    SHOTGUN_ONE_SAMPLE,
    SHOTGUN_SHORT_SIGNATURES,
    SHOTGUN_LONG_AND_SHORT
};

enum shotgun_outcome {
    SHOTGUN_COMPLETE,
    SHOTGUN_ILLEGAL, /* aborted: signature bits that the instruction cannot have, or another bit of
                        the program counter */
    SHOTGUN_NO_TARGET, /* aborted: no sample tells where an indirect branch went, or only samples
                          that went on differently */
    SHOTGUN_LEFT_CODE, /* aborted: no instruction is known there */
    SHOTGUN_TOO_LONG,  /* aborted: repeated instructions of too many µops */
    SHOTGUN_OUTCOMES
};

/* Where an instruction of a fragment came from. */
enum shotgun_source {
    SHOTGUN_EXACT,   /* a sample with the very same signatures */
    SHOTGUN_INEXACT, /* the closest */
    SHOTGUN_MISSING, /* no sample of this instruction: inferred */
    SHOTGUN_NOTHING  /* a compare that is wholly in the branch behind it */
};

/* A fragment, as far as it was constructed. Owned by the constructor, until the next one.
 *
 * Behind a branch that is near the end of a signature sample, fewer than ten instructions are left
 * to compare, and none that would show a wrong target. So a fragment is complete at its whole
 * length, or where it would need a target from a sample there. */
struct shotgun_fragment {
    enum shotgun_outcome outcome;
    struct graph_uop *uops;
    size_t uop_count, uop_capacity;
    uint32_t insns;  /* of the arrays below */
    uint32_t *path;  /* static instructions */
    uint32_t next;   /* the next instruction, or the one that could not be appended; CODE_UNKNOWN */
    uint8_t *source; /* enum shotgun_source */
    uint8_t *by_sample; /* its successor was taken from a sample */
};

enum { SHOTGUN_UOPS_PER_INSN = 32 /* of a fragment, on the average at most */ };

struct shotgun_constructor;
/* The database and the linked code must outlive it. NULL with an error. */
struct shotgun_constructor *shotgun_constructor_new(const struct shotgun_database *database,
                                                    const struct shotgun_code *code,
                                                    const struct machine *machine,
                                                    enum shotgun_design design,
                                                    struct error *error);
void shotgun_constructor_free(struct shotgun_constructor *constructor);

/* Design 2 or 4: on signature sample `skeleton`; design 3: from a detailed sample drawn at random.
 * NULL: out of memory. Design 1 constructs nothing, see struct shotgun_truth. */
const struct shotgun_fragment *shotgun_construct(struct shotgun_constructor *constructor,
                                                 size_t skeleton);
