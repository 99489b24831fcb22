/* The windows of the hybrid model as Chen 2009 chapter 2 words them: instruction by instruction,
 * window by window, one processor at a time. This is the explanation of hybrid_lanes.c, and the
 * reference that tests hold it to; predictions use hybrid_lanes.c (hybrid.h). */
#pragma once

#include "model/hybrid.h"

enum { SWAM_PRODUCERS = 2 };

/* An instruction of one µop, as a cache simulator without timing labels it (§2.2.1). Instructions
 * are named by their sequence numbers, from 0. */
struct swam_insn {
    bool load, store;
    bool missed;     /* no cache had its block */
    bool prefetched; /* else: a prefetch brought it, */
    bool first_use;  /* and nothing has wanted it since */
    bool triggers;   /* a prefetcher answers with a fetch from memory */
    uint32_t
        fetched_by; /* of an access that hits: who missed the block or triggered its prefetch */
    uint32_t producers[SWAM_PRODUCERS], producer_count; /* that write its registers */
};

/* What the windows of a configuration other than WINDOWS_SLIDING lose. Leaves `windows` and
 * `cycles` of the result 0; `compensation` is that of COMPENSATE_WINDOW. False: out of memory. */
bool swam(const struct hybrid_config *config, const struct swam_insn *insns, uint32_t count,
          struct hybrid_result *result, struct error *error);
