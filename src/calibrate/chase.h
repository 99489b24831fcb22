/* Inside of the calibrate room: chases of pointers. Each load's address is what the load before it
 * found, so a load takes as long as the level that has its line needs.
 *
 * Nodes lie in pages, and all on even lines, so that what prefetchers add, the next line or the
 * other one of a pair, falls into sets of the caches that the chase does not use. Pages are visited
 * in groups, each page of a group in turn, in the same random order again and again; the lines of a
 * page come in a random order of its own. So there is no stride to be learned, the accesses to one
 * page lie too far apart for what looks for streams in pages, and a page's translation is needed
 * again before many others are. */
#pragma once

#include "calibrate/calibration.h"

enum {
    CHASE_LINE = 128, /* bytes from an even line to the next */
    CHASE_GROUP = 60, /* pages: more than streams are followed (Redwood Cove follows some among 48),
                         fewer than any TLB of an x86-64 server translates */
    CHASE_LOADS = 64, /* of an iteration */
    CHASE_CHAINS = 128 /* in the same data */
};

/* The nodes of a chain: `lines` in each of `pages` pages, `spacing` bytes apart. */
struct chase_shape {
    uint64_t stride; /* bytes from page to page */
    uint32_t
        cluster; /* > 1: from so many pages to the next so many, which are `step` bytes apart */
    uint64_t step;
    uint32_t pages;
    uint32_t lines;   /* of each page; page lines: HOST_PAGE / spacing at most */
    uint32_t spacing; /* bytes, a multiple of CHASE_LINE */
    uint32_t group;   /* pages */
    uint32_t turn;    /* > 1: not from the page's first line on, but from one of so many, which are
                         CHASE_LINE apart: the next page has the next one; lines must be 1 */
    uint32_t phase;   /* which one of `turn` the first page has */
    bool drawn;       /* which one of `turn` a page has is drawn */
    uint32_t slot;    /* 8 bytes of the line, below 4: chains may share lines, not slots */
    uint64_t first;   /* byte of the first page in which the first node lies */
};

/* Data with chains. */
struct chase {
    struct host_data data;
    struct host_fill fills[2 * CHASE_CHAINS];
    uint64_t *nodes[CHASE_CHAINS];
    size_t counts[CHASE_CHAINS];
    size_t chains;
};
/* A chain of this shape; its number. False from chase_good(): memory was out. */
size_t chase_add(struct chase *chase, const struct chase_shape *shape);
/* Likewise, but behind each node comes another one, so many bytes behind it. */
size_t chase_add_pairs(struct chase *chase, const struct chase_shape *shape, uint64_t distance);
bool chase_good(const struct chase *chase, struct error *error);
void chase_free(struct chase *chase);

/* The kernel that goes along a chain, CHASE_LOADS loads an iteration. It begins where it ended the
 * last time, after it has been around once; `around`: so often, at least, it goes around when it is
 * measured, but for long chains. 0: it is one that no cache holds, and need not have been around.
 */
void chase_kernel(struct kernel_list *list, const struct chase *chase, size_t chain, double around);
/* Likewise with code of the caller's between the two: a loop that brings RAX, which is the address
 * of a node, CHASE_LOADS nodes on. */
struct assembler *chase_kernel_begin(struct kernel_list *list, const struct chase *chase,
                                     size_t chain, double around);
void chase_kernel_end(struct assembler *code, size_t chain);

/* Cycles of one of its loads; NAN: not measured. */
double chase_cycles(const struct host_result *result);
