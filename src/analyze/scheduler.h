/* The core that runs schedules. Inside of the schedule.
 *
 * Each instruction of the procedure has two static numbers: by one it is context, by the other it
 * is measured, so that what the core says of it is told apart by number. */
#pragma once

#include "analyze/schedule.h"
#include "analyze/schedule_path.h"
#include "core/core.h"

/* For the tap: whose cycles they were, of instructions that are measured. */
struct schedule_watch {
    enum schedule_view view;
    uint32_t first, count; /* static numbers that are measured */
    uint64_t *units;       /* 1/840 cycles, by number − first */
    size_t capacity;
    uint64_t waited; /* units of cycles that go to the next to commit */
};
struct tap_worker schedule_watch_worker(struct schedule_watch *watch);

/* What stands for code that is not in the graph. */
enum outside {
    OUTSIDE_STOP, /* waits until everything before it is done; everything after it is fetched anew
                   */
    OUTSIDE_WORK, /* takes a cycle and waits for nothing */
    OUTSIDE_JUMP, /* taken: a call to the procedure, a return to it */
    OUTSIDE_INSNS
};

enum { SCHEDULER_BATCH = 1024 };

struct scheduler {
    struct machine machine; /* without caches: everything hits */
    struct schedule_watch watch;
    struct core *core; /* NULL: none for this code yet */
    /* One of them shows whose cycles they were. */
    bool by_causes;
    struct tap *tap;
    struct stall_causes *causes;
    uint32_t context, window, tail; /* instructions: path_find(); run behind what is measured */

    /* ---- static code of this procedure and earlier ones ---- */
    struct code code;
    size_t insn_capacity, uop_capacity;
    const struct cfg *cfg;
    uint32_t first;                 /* static number of the graph's first instruction as context;
                                       measured ones follow these */
    struct dynamic_insn *templates; /* by instruction of the graph: its execution, as context */
    size_t template_capacity;
    struct dynamic_insn outside[OUTSIDE_INSNS];

    /* ---- on its way to the core ---- */
    struct dynamic_insn batch[SCHEDULER_BATCH];
    uint32_t batched;
};

/* Makes a graph's code known, and a core where it is needed. */
bool scheduler_load(struct scheduler *scheduler, const struct cfg *cfg, struct error *error);

struct stall_list {
    struct static_stall *items;
    size_t count, capacity;
};

/* Runs a path. `cycles` by instruction of its last block, means over the executions measured;
 * static stalls are appended, by instruction. */
bool scheduler_run(struct scheduler *scheduler, const struct path *path, const struct ways *ways,
                   double *cycles, struct stall_list *stalls, struct error *error);
