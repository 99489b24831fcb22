/* The cycles of a run's misses by the data they were of: each µop that an event of memory happened
 * to gives its cycles, as Oracle gives them to it, to the object that its instruction accessed; and
 * those of misses of code to the file that the code is of.
 *
 *     instructions ──► data_lane_see() ──► object of each access ──┐
 *          └──► core ──► tap ───────────────────────────► worker ──┴─► struct data_result
 *
 * Beside call_paths.h, whose stacks it reads: objects are known by who allocated them. */
#pragma once

#include "attribute/attribute.h"
#include "attribute/memory_objects.h"

/* Events that are about data; with code, all whose cycles are told. */
enum {
    PSV_OF_DATA =
        PSV_DR_SQ | PSV_FL_MO | PSV_ST_L1 | PSV_ST_TLB | PSV_ST_LLC | PSV_ST_FW | PSV_ST_CO,
    PSV_OF_CODE = PSV_DR_L1 | PSV_DR_TLB,
    PSV_OF_MEMORY = PSV_OF_DATA | PSV_OF_CODE
};

struct data_cell {
    uint32_t object; /* index */
    uint32_t psv;    /* combination of events */
    uint64_t units;  /* 1/840 cycles */
};

struct data_result {
    struct memory_object *objects; /* those of the cells; `path` is one of the call paths' result.
                                      [0]: what nothing is known of */
    uint32_t object_count;         /* 0: not asked for */
    struct data_cell *cells;       /* by object and events, each once */
    size_t cell_count;
    uint64_t dropped; /* blocks of the heap that found no room in the map */
    bool told;        /* the trace has events of memory */
};
void data_result_free(struct data_result *result);

struct data_profile;
/* NULL: out of memory. */
struct data_profile *data_profile_new(const struct object_names *names);
void data_profile_free(struct data_profile *profile);
/* As call_paths_collect(). */
bool data_profile_collect(struct data_profile *profile, uint64_t weight);
/* After the last collection. Objects' paths are nodes of the tree until call_paths_finish(). False:
 * out of memory; data_result_free() either way. */
bool data_profile_finish(struct data_profile *profile, const struct code *code,
                         struct data_result *result);
/* Whose map it is, for what a lane begins with (shadow_stack_begin()); and that events of memory
 * have been told of before. */
struct memory_objects *data_profile_objects(struct data_profile *profile);
void data_profile_told(struct data_profile *profile);
/* As memory_objects_fork(). */
bool data_profile_fork(struct data_profile *profile, uint32_t process, uint32_t parent);

/* One guest thread. `store_queue`: entries of it, which a store gets and gives back in the order of
 * the program; 0: not so. Cycles in which it was full belong to what the store writes that had to
 * leave, and not, as the instruction's do (TEA's DR-SQ), to the store that found no entry. */
struct data_lane;
struct data_lane *data_lane_new(struct data_profile *profile, uint32_t process,
                                uint32_t store_queue);
/* After the tap is freed. */
void data_lane_free(struct data_lane *lane);
struct tap_worker data_lane_worker(struct data_lane *lane);
/* The thread's next instructions, before a core gets them: walks the stack over them, and finds
 * what they access where they are simulated. False: out of memory. */
bool data_lane_see(struct data_lane *lane, struct shadow_stack *stack, const struct code *code,
                   const struct trace_batch *piece, bool simulated);
