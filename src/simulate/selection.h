/* Which instructions of a trace file to look at: --skip, --limit, --from and --thread, with the
 * same meaning that they have for a live capture (trace/trace.h), applied to batches. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "trace/trace.h"
#include "util/error.h"

struct selection {
    uint64_t skip;           /* instructions of the selected threads, before the first */
    uint64_t limit;          /* 0: no limit */
    const char *from_symbol; /* begin when this function is first entered; NULL: at once. Counts
                                before `skip` */
    int thread;              /* −1: all */
};

static inline bool selection_is_everything(const struct selection *selection) {
    return !selection->skip && !selection->limit && !selection->from_symbol &&
           selection->thread < 0;
}

struct selector;
struct selector *selector_new(const struct selection *selection, struct error *error);
void selector_free(struct selector *selector);

/* Narrows the batch to what is selected of it (perhaps nothing: insn_count 0). */
void selector_apply(struct selector *selector, const struct code *code, struct trace_batch *batch);

/* True when nothing more can be selected. */
bool selector_done(const struct selector *selector);

/* False while the function of from_symbol has not been entered. */
bool selector_started(const struct selector *selector);

/* The instructions [begin, end) of a batch as a batch of their own, with their accesses. */
struct trace_batch batch_slice(const struct trace_batch *batch, uint32_t begin, uint32_t end);

/* Where the first `insns` instructions from `begin` on end; *counted: how many there are until
 * then. Those that faulted do not count (DYN_FAULT); one that does at the end is not taken in. */
uint32_t batch_count(const struct trace_batch *batch, uint32_t begin, uint64_t insns,
                     uint32_t *counted);
