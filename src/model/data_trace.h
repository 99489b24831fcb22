/* The functional cache pass: one thread's instructions in, data events out (data_event.h). Caches,
 * prefetchers and the numbers of the accesses that fetched blocks are those of memory_untimed();
 * registers, stored words and who waits for whom are dependence.h.
 *
 * µops are counted as the out-of-order core counts them: they are what a reorder buffer holds. A
 * repeated string instruction has those of each line-sized piece, a gather is one load of all its
 * lanes, a fused compare and branch one µop; a load and an operation that share its place
 * (core/places.h) count as one. A load that gets its bytes from a store of the window waits for
 * that and not for its block. What waits for a prefetch instruction is known as for any prefetch.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "machine/machine.h"
#include "model/data_event.h"
#include "util/error.h"

/* How far back events matter, in µops. */
struct data_reach {
    uint32_t window;  /* largest reorder buffer: what is further back has long been over */
    uint32_t arrival; /* a prefetched block may be on its way for so long */
};
enum { DATA_MAX_REACH = 60000 }; /* of either; larger ones are taken as this */

struct data_counts {
    uint64_t instructions, uops;
    uint64_t accesses;     /* loads and stores */
    uint64_t load_misses;  /* in the last level */
    uint64_t store_misses; /* likewise */
    uint64_t events;
};

struct core_input;
struct memory;
struct data_trace;
/* Caches and prefetchers are the machine's. NULL with an error. */
struct data_trace *data_trace_new(const struct machine *machine, struct data_reach reach,
                                  struct data_sink sink, struct error *error);
void data_trace_free(struct data_trace *trace);

/* The next instructions of the thread. */
bool data_trace_add(struct data_trace *trace, const struct core_input *input, struct error *error);
/* Instructions before the first: caches and prefetchers know of their accesses, nothing else does.
 */
bool data_trace_warm(struct data_trace *trace, const struct core_input *input, struct error *error);
/* What is added from here on does not follow on what was added last, and may be of other code:
 * nothing waits for anything of that, and caches hold what those of `memory` do
 * (memory_untimed_from()). */
void data_trace_resume(struct data_trace *trace, const struct memory *memory);
/* The sink has got every event. More may be added. */
void data_trace_finish(struct data_trace *trace);

struct data_counts data_trace_counts(const struct data_trace *trace);
