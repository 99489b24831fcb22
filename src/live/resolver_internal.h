/* What the parts of the resolver share. */
#pragma once

#include "live/resolver.h"
#include "live/sample_table.h"
#include "live/slices.h"
#include "live/tracked_files.h"
#include "live/tracked_processes.h"
#include "store/call_tree.h"

/* Places of samples: numbers of files, and these. */
enum place_number {
    PLACE_NUMBER_UNKNOWN = INT32_MAX - 3,
    PLACE_NUMBER_ANONYMOUS,
    PLACE_NUMBER_VDSO,
    PLACE_NUMBER_KERNEL
};

/* At the top of the tree of calls stands, in place of a number, a node for each slice, event and
 * end of stacks: 1 + number of the slice, of this offset. */
static inline uint64_t tree_top(uint32_t event, enum live_stack_end end) {
    return (uint64_t)event * LIVE_STACK_ENDS + end;
}
static inline uint32_t tree_top_event(uint64_t top) {
    return (uint32_t)(top / LIVE_STACK_ENDS);
}
static inline enum live_stack_end tree_top_end(uint64_t top) {
    return (enum live_stack_end)(top % LIVE_STACK_ENDS);
}

/* The node of the tree that samples of this stack, slice and event are of. */
struct known_stack {
    uint64_t alike; /* 0: none */
    uint32_t slice, event, node;
};
enum { KNOWN_STACKS = 1 << 12 };

struct resolver {
    struct live_roots roots;
    struct tracked_processes processes;
    struct tracked_files files;
    struct slices slices;
    int64_t newest_row; /* of the store, that slices of this process took */
    struct sample_table table;
    struct call_tree tree; /* of samples that came with callers; its images are place numbers + 1 */
    struct known_stack *known_stacks; /* KNOWN_STACKS of `tree`, by low bits of `alike` */
    uint64_t stacks[LIVE_STACK_ENDS]; /* samples by how their stacks ended */
    bool takes_names, keeps_readers;
    struct sampled_names vdso_names;
    struct program *vdso_reader;        /* NULL: not kept, or not needed yet */
    uint64_t overflow[LIVE_EVENTS_MAX]; /* samples that the table had no room for */
    size_t event_count;
    bool has_kernel; /* samples of the kernel are in the table */
    bool hidden;     /* the kernel's symbols are needed, and not shown to us */
    uint64_t samples, unknown, kernel_samples;
    uint64_t lasting[LIVE_EVENTS_MAX]; /* ns */
};

/* As resolver_new(), of the machine as these roots show it (the caller's strings). */
struct resolver *resolver_new_in(const struct live_roots *roots, const struct live_event *events,
                                 size_t event_count, size_t entries, struct error *error);

/* ---- resolver_compiled.c ---- */

/* Before a save: anonymous places that the jitdump of their process tells of become functions of
 * it. */
bool resolver_name_compiled(struct resolver *resolver, struct error *error);
