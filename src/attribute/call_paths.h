/* Cycles, with their events, and instructions of a run by the calls that led to them: a shadow
 * stack for each guest thread, and a worker on its tap that gives what it sees to the stack's
 * nodes.
 *
 *     instructions ──► call_lane_see() ──► moves from node to node ──┐
 *          └──► core ──► tap ──────────────────────────────► worker ─┴─► struct call_paths
 *
 * The worker may run behind, on an executor's thread: a move is known before its instruction is
 * given to the core. */
#pragma once

#include "attribute/attribute.h"
#include "attribute/data_profile.h"
#include "attribute/stack_starts.h"

/* A node of the result. */
struct call_path {
    uint32_t parent;   /* index, which is smaller; PATH_NONE of a thread */
    uint32_t site;     /* as in struct path_node; with PATH_BASE_INSN: of the code of the run that
                          began it */
    uint32_t function; /* index; PATH_NONE of a thread */
    uint8_t kind;      /* enum path_kind */
    bool beside;       /* the site is not in the caller's function, which goes on there */
    uint64_t units;    /* 1/840 cycles, without those of what was called; the sum of its cells */
    uint64_t instructions; /* likewise */
    uint64_t calls;        /* times that it was entered */
};

struct call_path_function {
    uint64_t offset; /* of its first byte, in the image of `insn` */
    uint32_t insn;   /* one of its instructions; as `site`, where a run began it */
    char *inlined;   /* its name, where it is inlined, and then it has no offset; else NULL */
    bool is_python;  /* a line of Python: it is not of code */
    uint32_t python; /* of it: index + 1 in struct code python; 0: not known */
    uint32_t line;   /* likewise */
    bool loop;       /* of an interpreter of Python */
};

struct call_path_result {
    struct call_path *paths;
    uint32_t count; /* 0: none were asked for */
    struct call_path_function *functions;
    uint32_t function_count;
    struct pics_cell *cells; /* `insn` is a path; sorted */
    uint64_t cell_count;
    uint32_t *node_paths; /* by node, as workers that follow a lane see them: its path, or that of
                             its next caller that has one; PATH_NONE: none has */
    uint32_t node_count;
    struct shadow_counts counts;
    uint64_t crowded; /* calls that found no room: they count for their callers */
};
void call_path_result_free(struct call_path_result *result);

struct call_paths;
/* `starts`: another run, at whose starts lanes may begin; it outlives the paths. NULL: none. NULL:
 * out of memory. */
struct call_paths *call_paths_new(const struct path_extents *extents,
                                  const struct stack_starts *starts);
void call_paths_free(struct call_paths *paths);

/* What was gained since the last time counts `weight` times. No tap has unread records, no core
 * runs. False: out of memory. */
bool call_paths_collect(struct call_paths *paths, uint64_t weight);
/* After the last collection. `data`: whose objects' paths are to be among those of the result, and
 * become indices of it; may be NULL. False: out of memory; call_path_result_free() either way. */
bool call_paths_finish(struct call_paths *paths, const struct code *code,
                       struct call_path_result *result, struct data_result *data);
/* Units and instructions collected. */
void call_paths_total(const struct call_paths *paths, uint64_t *units, uint64_t *instructions);

/* One guest thread. */
struct call_lane;
struct call_lane *call_lane_new(struct call_paths *paths, uint32_t thread);
/* Of a new lane, whose code this is: its first instructions come where the other run was then.
 * `data`: whose map gets what the process had; or NULL. False: out of memory. */
bool call_lane_begin(struct call_lane *lane, const struct code *code,
                     const struct stack_start *start, struct data_profile *data, uint32_t process);
/* After the tap is freed. */
void call_lane_free(struct call_lane *lane);
struct tap_worker call_lane_worker(struct call_lane *lane);
/* Before anything is seen: it will have no worker, its stack alone is wanted. */
void call_lane_unwatch(struct call_lane *lane);
/* What the lane is shown, this one sees, too. */
void call_lane_watch_data(struct call_lane *lane, struct data_lane *data);
/* A worker that sees what the lane's own is shown, with nodes in place of static instructions, on
 * the same thread; before the lane's is asked for. False: out of memory. */
bool call_lane_follow(struct call_lane *lane, const struct tap_worker *worker);
/* The thread's next instructions, before a core gets them; simulated: its tap will show them. */
bool call_lane_see(struct call_lane *lane, const struct code *code, const struct trace_batch *piece,
                   bool simulated, struct error *error);
