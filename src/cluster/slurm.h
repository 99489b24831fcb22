/* Inside of this room: the commands of Slurm (sbatch(1), squeue(1), scancel(1), scontrol(1)), and
 * what they say. Accounting (sacct) is not needed: what has ended is known to the controller for
 * MinJobAge, 300 s mostly, and what it has forgotten counts as ended. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/error.h"

enum slurm_answer {
    SLURM_GOOD,
    SLURM_REFUSED, /* the error says why */
    SLURM_AWAY     /* no controller answers, for now */
};

enum job_fate {
    JOB_UNKNOWN, /* the controller knows nothing of it */
    JOB_WAITS,
    JOB_RUNS,
    JOB_COMPLETED,
    JOB_LOST,      /* failed, or taken from it: by its node, its limits, other jobs */
    JOB_PREEMPTED, /* by other jobs */
    JOB_CANCELLED  /* by somebody */
};

enum { SLURM_STATE = 24, SLURM_TEXT = 96, SLURM_NAME = 32 };

/* The index of those elements of an array that are not listed by themselves: they were cancelled
 * before they were jobs. */
#define SLURM_REST UINT32_MAX

/* An element of an array of jobs. */
struct slurm_element {
    uint64_t array;
    uint32_t index;
    enum job_fate fate;
    char state[SLURM_STATE]; /* "TIMEOUT" */
    char node[SLURM_TEXT], reason[SLURM_TEXT];
};

/* Sorted by array and index. */
struct slurm_list {
    struct slurm_element *elements;
    size_t count, capacity;
};

struct slurm_submission {
    const char *name, *script, *log;
    char *const *passed; /* options as they are */
    size_t passed_count;
    uint32_t elements;                 /* 0 to elements - 1 */
    uint32_t at_once;                  /* 0: no limit */
    uint32_t cpus, minutes, megabytes; /* 0: not said */
};

/* Whether its commands are in PATH. */
bool slurm_is_here(struct error *error);
/* The most elements that an array may have. */
enum slurm_answer slurm_largest_array(uint32_t *largest, struct error *error);
/* `known` arrays are others of this name: one that is new was submitted, though nothing was heard
 * of it. */
enum slurm_answer slurm_submit(const struct slurm_submission *submission, const uint64_t *known,
                               size_t known_count, uint64_t *array, struct error *error);
/* All elements of arrays of this name. slurm_list_free() either way. */
enum slurm_answer slurm_look(const char *name, struct slurm_list *list, struct error *error);
void slurm_list_free(struct slurm_list *list);
/* NULL: it is not among them. */
const struct slurm_element *slurm_find(const struct slurm_list *list, uint64_t array,
                                       uint32_t index);
enum slurm_answer slurm_cancel(const char *name, struct error *error);

/* ---- what they say ---- */

/* Of `scontrol show config`: MaxArraySize is one more than the largest index. False: it is not
 * there. */
bool slurm_read_config(const char *text, uint32_t *largest);
/* Of `sbatch --parsable`: the number, perhaps with ";CLUSTER" behind it. */
bool slurm_read_number(const char *text, uint64_t *number);
/* Of squeue in SLURM_FORMAT. Lines that say something else are passed over. False: out of memory.
 */
#define SLURM_FORMAT "%F|%K|%T|%N|%r"
bool slurm_read_list(const char *text, struct slurm_list *list);
enum job_fate slurm_fate(const char *state);
