/* Regions of a run, each from a trace of its own, simulated side by side and combined into one
 * simulation of the whole run.
 *
 *     region_run_new(&options) ──► region_run_add() for each trace as soon as it is complete
 *                              ──► region_run_finish() ──► struct simulation, struct code
 *
 * A region is simulated exactly. What comes before it in its trace warms caches, TLBs and branch
 * predictors (simulate/warming.h). Regions are taken in the order in which they were added, by
 * `jobs` threads at once; the result does not depend on how many. Memory: that of `jobs`
 * simulations and of the sum. */
#pragma once

#include "program/code_symbol.h"
#include "region/regions.h"
#include "simulate/simulate.h"
#include "simulate/stamped_before.h"
#include "trace/region_capture.h"
#include "trace/region_stream.h"
#include "util/watcher.h"

struct region_trace;

struct region_run_options {
    const struct machine *machine;
    uint32_t ideal; /* enum ideal */
    enum isa isa;   /* of the traces */
    uint32_t jobs;  /* 0: as many as processors */
    bool chained;   /* each begins with the caches, TLBs and predictors that the one added before it
                       left: regions are of one thread, added in its order. One job, and a thread
                       that warms the next region meanwhile */
    bool reweighted; /* what regions stand for may change until the end: all are kept in memory */
    bool graph;      /* as in struct simulation_options */
    struct simulation_details details;
    const struct stack_starts *starts; /* of the run that regions begin in; NULL: not known */
    /* See each region with the weight of what it stands for; also those that are then left out
     * because they were stopped. */
    const struct instruction_observer *instructions;
    uint32_t instruction_observer_count; /* at most INSTRUCTION_OBSERVERS */
    bool count_splits;                   /* likewise */
    /* Told the instructions simulated and warmed so far, of all regions, never by two threads at
     * once; when it stops, the regions done count. */
    struct watcher watcher;
    /* Each region when it is done, as it was simulated, before it is made to stand for others;
     * never called by two threads at once. May be NULL. */
    void (*keep)(void *context, const struct region_trace *region,
                 const struct simulation *simulation, const struct code *code);
    void *keep_context;
};

struct region_trace {
    const char *name;             /* in errors: "region 3" */
    const char *path;             /* of the trace */
    struct region_stream *stream; /* that it is in place of a file at `path`; taken over. It is
                                     read once to warm and once to simulate. NULL: a file */
    const char *result;           /* file of what it took when it was simulated elsewhere
                                     (simulate/region_result.h); NULL: it is simulated */
    uint64_t start,
        end;       /* simulated: instructions [start, end) of the trace, of its `only` thread */
    uint64_t warm; /* instructions before it that warm, at most; UINT64_MAX: all there are. Not
                      more than its trace has, unless it `is_stamped` */
    bool stamped;  /* by time stamps, but for the last WARMING_TRAINED; else by simulation */
    struct stamped_before before; /* with `is_stamped`, chained: what comes before the instructions
                                     that caches are shown, of which its trace holds only the last;
                                     taken over */
    bool is_stamped;
    double cycles_per_instruction; /* of what warms it, where others use the last level too
                                      (memory/retention.h); 0: as regions of this run tell */
    int only; /* thread number in the trace: 0 of the trace of a region, whatever other
                 threads are in it; −1: all, of which there should be one */
    uint32_t process, thread;         /* whose it is, in the whole run */
    uint64_t first;                   /* instruction of its thread */
    uint32_t cluster;                 /* that it stands for, alone or with others */
    uint64_t stands_for;              /* instructions of the whole run */
    const struct stack_start *begins; /* with `starts`: the calls that it begins with, or NULL */
};

/* Of a region that was captured, one of whose program alone it is: its place in the trace and in
 * the run, and its name, which `name` has the room for. How it is warmed and what it stands for is
 * to be added. `starts` as in the options. */
enum { REGION_NAME = 32 };
struct region_trace region_trace_of(const struct capture_region *region,
                                    const struct stack_starts *starts, char name[REGION_NAME]);

struct region_run;
/* NULL with an error. What the options point to must outlive the run. */
struct region_run *region_run_new(const struct region_run_options *options, struct error *error);
void region_run_free(struct region_run *run);

/* Returns at once; copies what it is given, and takes over its stream, also on failure. Fails when
 * memory is out, or when a region added before has failed, with its error. */
bool region_run_add(struct region_run *run, const struct region_trace *region, struct error *error);
/* Whether the time stamps of regions that are not yet warm take so much memory that no more regions
 * should be captured meanwhile; never when nothing is done with them any more. */
bool region_run_full(struct region_run *run);
/* Waits until that may have changed, at most some hundredths of a second. */
void region_run_wait_for_room(struct region_run *run);
/* Whether one that was added has failed: none is worth adding any more. */
bool region_run_failed(struct region_run *run);

/* With `reweighted`: the index-th region that was added stands for so many instructions of the run.
 * Observers have seen it with what it stood for when it was simulated. */
void region_run_reweigh(struct region_run *run, size_t index, uint64_t stands_for);

/* Names the regions' anonymous code, which is all of one process: its symbols, sorted and not
 * overlapping, which are copied. Once, after the last region was added. */
bool region_run_name(struct region_run *run, const struct code_symbol *symbols, size_t count,
                     struct error *error);

/* After the last region was added, for which it waits: a simulation, perhaps sampled, of a part of
 * the run that has no regions: it stands for the
 * instructions that were executed in it, as of process and thread 0. Its cells and counters are
 * changed. */
bool region_run_add_simulation(struct region_run *run, struct simulation *simulation,
                               const struct code *code, struct error *error);

/* Waits for all regions; none may be added any more. False with the error of the first that failed.
 */
bool region_run_wait(struct region_run *run, struct error *error);

/* Waits for all regions and combines them, scaled to stand for `instructions` in all. When stopped,
 * those that are done stand for all, and result->interrupted is set. On an error, which names
 * region and trace, false. The caller calls simulation_free either way. Once. */
bool region_run_finish(struct region_run *run, uint64_t instructions, struct simulation *result,
                       struct error *error);

/* The code that the result speaks of; after region_run_finish(), as long as the run. */
const struct code *region_run_code(const struct region_run *run);

/* What the index-th region that was added took by itself (first, instructions as in its trace), and
 * how many instructions warmed it; NULL: it was not done. After region_run_finish(). */
const struct slice_record *region_run_record(const struct region_run *run, size_t index,
                                             uint64_t *warmed);

/* ---- regions of a list that were captured ---- */

/* How many instructions of the whole run each region of the list stands for: they sum to those of
 * the run exactly, or to the list's part of merged runs (region_list_stands_for()). Returns an
 * array (free); NULL: out of memory. */
uint64_t *region_list_shares(const struct region_list *list);

/* Instructions to simulate, and to warm before each region with at most `warm`. */
uint64_t region_list_work(const struct region_list *list, uint64_t warm);

/* The index-th region of a list, which stands for `share` instructions; its path is to be freed,
 * also on failure. Fails, naming it, for a region without a trace. */
bool region_list_trace(const struct region_list *list, size_t index, uint64_t share,
                       const char *path, uint64_t warm, char name[REGION_NAME],
                       struct region_trace *trace, struct error *error);

/* Adds the captured regions of a list read from `path`; `warm` as above. Fails, naming it, for a
 * region without a trace. */
bool region_run_add_list(struct region_run *run, const struct region_list *list, const char *path,
                         uint64_t warm, struct error *error);
