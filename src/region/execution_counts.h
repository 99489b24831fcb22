/* How often each block, each edge between blocks and each instruction of a run was executed,
 * exactly: what sampled and estimated counts are measured against (DCPI §6.2's dcpix).
 *
 * A block of code is entered as a whole; one that was left before its end counts for the
 * instructions that came before. An edge leads from the last instruction of a block that was
 * executed to the first of the next. */
#pragma once

#include "region/profile_code.h"
#include "util/error.h"

enum edge_kind { EDGE_FALL_THROUGH, EDGE_TAKEN, EDGE_INDIRECT, EDGE_SIGNAL, EDGE_KINDS };

struct block_edge {
    uint32_t from, to; /* ids of blocks; 0, 0: empty */
    uint32_t cut; /* 0: all of `from` was executed; else 1 more than its instructions that were */
    bool signal;  /* a signal's handler, or its return, came in between */
    uint64_t times;
};

/* Where a block led to lately, of whole executions without a signal: counted here until another
 * takes the place, when they go into the table of edges. */
struct recent_edge {
    uint32_t to;  /* id; 0: none */
    uint32_t cut; /* as judged for this pair */
    uint64_t times;
};

/* All zero: none yet. */
struct execution_counts {
    uint64_t *times; /* entered, by id − 1 */
    size_t capacity;
    struct recent_edge (*recent)[2]; /* likewise */
    size_t recent_capacity;
    struct block_edge *edges; /* open addressing */
    size_t edge_count, edge_size;
};

/* Where a thread stands; all zero: at its beginning. */
struct execution_place {
    uint32_t id;  /* of the block it is in; 0: none */
    uint32_t cut; /* as in struct block_edge */
    bool signal;
};

/* The thread enters a block. False: out of memory. */
bool execution_enter(struct execution_counts *counts, const struct profile_code *code,
                     struct execution_place *place, uint32_t id);
/* The thread ends, or leaves the capture. */
bool execution_leave(struct execution_counts *counts, struct execution_place *place);
/* Nothing more is counted: what is held goes into the table of edges. False: out of memory. */
bool execution_counts_end(struct execution_counts *counts);
void execution_counts_free(struct execution_counts *counts);

/* ---- instructions, and edges between them ---- */

struct execution_point {
    uint32_t image; /* MARKER_NO_IMAGE: code that lies in no file */
    uint64_t offset;
};

struct executed {
    struct execution_point at, to; /* `to` of edges */
    enum edge_kind kind;           /* likewise */
    uint8_t branch; /* enum branch_kind: of an edge, of the instruction that led along it, with all
                       of its block executed */
    uint8_t length; /* bytes, of an instruction */
    uint64_t times;
};

/* Sorted by `at`, `to` and kind, each once; may be freed with free(items). */
struct executed_list {
    struct executed *items;
    size_t count, capacity;
};

/* Of counts that have ended. False: out of memory; the list is to be freed either way. */
bool execution_list_insns(const struct execution_counts *counts, const struct profile_code *code,
                          struct executed_list *insns);
bool execution_list_edges(const struct execution_counts *counts, const struct profile_code *code,
                          struct executed_list *edges);

/* Comma-separated values or, if `path` ends in ".json", one JSON object; see culprit-bbv(1). */
bool execution_counts_write(const struct execution_counts *counts, const struct profile_code *code,
                            const char *command, const char *path, struct error *error);
