/* Where the core stands between two µops, in fetch, dispatch and registers. Only the files of this
 * folder include this. */
#pragma once

#include "core/ooo/stores.h"
#include "core/ooo/uops.h"

/* The cycles of one µop. */
struct uop_cycles {
    uint64_t fetch, dispatch, ready, issue;
    uint64_t complete; /* its result is there */
    uint64_t wake;     /* its consumers may issue */
    uint64_t commit;
    uint16_t psv;
    bool violated; /* a load that read before an older store to its address; number of that: */
    uint64_t passed_store;
    uint64_t lost; /* or UNKNOWN, and before its line was lost to another core in this cycle */
    const struct remembered_store *renamed; /* what a load reads is another name for; or NULL */
};

enum { WINDOW_STRIDE = 2048 };
enum { NO_LIMIT = 255 }; /* of a width */

/* What prediction makes of the branch at the end of a block: cycles that it loses behind it, and
 * whether another block may be predicted in the same cycle. */
enum block_end {
    BUBBLE_CYCLES = 0xfff,
    FOLLOWS_JUMP = 1 << 12, /* this one with one before that ends in a direct jump: itself in a
                               direct branch without a bubble */
    FOLLOWS_CALL = 1 << 13, /* or in a direct call: itself in a direct jump */
    LEADS = 2,              /* bits from those to the next two */
    LEADS_JUMP = FOLLOWS_JUMP << LEADS, /* it ends so */
    LEADS_CALL = FOLLOWS_CALL << LEADS
};

/* Where the core stands: behind the last µop. Squashed work takes it back to what it was. The loop
 * over µops keeps a copy of its own, which no pointer reaches: it stays in registers (timing.c). */
struct standing {
    /* fetch: the packet that µops join as long as it is open */
    uint64_t packet; /* number */
    uint64_t packet_cycle, fetch_resume;
    uint64_t predicted;         /* cycle from which on it is known what the next packet has */
    uint64_t redirected, lines; /* since when prediction is on this path; lines fetched so far */
    uint32_t predicted_blocks;  /* in the cycle before that */
    uint32_t follower;          /* what the last of these may be followed by (enum block_end) */
    uint64_t packet_room;       /* room from this cycle on comes too late for it; 0: none is open */
    uint32_t packet_ends;       /* flags of a µop that it does not take */
    uint32_t packet_insns, packet_taken;
    uint32_t fetch_width;    /* instructions of a packet: of what is decoded fewer */
    bool decoding;           /* its instructions are decoded: the op cache has them not */
    bool line_spared;        /* the op cache had what began the last line: it is not fetched */
    uint64_t restart_packet; /* the first since fetch began anew */
    uint64_t packet_address; /* with `decoding`: of its first instruction */
    uint32_t delay_cache, delay_tlb;           /* cycles that the packet waited for lines */
    uint32_t next_delay_cache, next_delay_tlb; /* that the next one does */
    bool packet_filled;                        /* it has µops */
    uint64_t insns, fused; /* instructions begun, a fused pair as one; and such pairs */
    /* dispatch */
    uint64_t dispatch;               /* of the last µop */
    uint64_t serial_hold, load_hold; /* commits that all µops, or loads, wait for */
    uint64_t order_hold;             /* the later of the two */
    uint64_t held[HELD_KINDS];       /* µops so far that hold one of each until commit */
    uint64_t stores;                 /* dispatched so far: the next one's number */
    uint64_t remembered;             /* of them, those that memory renaming remembered */
    uint64_t commit;                 /* of the last µop */
};

/* Fetch and prediction go on in this cycle at the earliest: the lead is lost. */
static inline void resume_fetch(struct standing *now, uint64_t cycle) {
    now->fetch_resume = cycle;
    now->predicted = now->redirected = cycle;
    now->predicted_blocks = UINT32_MAX;
    now->restart_packet = now->packet + now->packet_filled;
    now->decoding = false;
}

/* By register: when its value wakes those who read it; with lives, who writes it; where operations
 * may take no time, when that issued. Squashed work takes it back, too. */
struct registers {
    uint64_t wake[RENAME_COUNT], writer[RENAME_COUNT], issue[RENAME_COUNT];
    uint64_t changed[RENAME_COUNT]; /* with memory renaming: the µop that wrote it last, + 1 */
};
