/* What `validate -- COMMAND` compares: a trace of the whole run, regions chosen from it, and the
 * same regions captured from a second run by their markers. All lies in a folder of its own, which
 * goes away again. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "region/regions.h"
#include "simulate/validation.h"
#include "study/input.h"
#include "study/region_tasks.h"
#include "study/study.h"

struct validate_run_request {
    struct watch *watch;
    struct input_options input; /* a command, to its limit: the same in both runs */
    uint64_t slice;             /* instructions */
    uint64_t warm_up;           /* of the regions that are captured */
    uint32_t max_regions;       /* clusters */
    bool rerun;                 /* although the command changes the world */
};

struct validate_run {
    struct watch *watch;
    char *folder;
    char *full;        /* the trace */
    char *list_path;   /* what region paths are relative to */
    char effect[256];  /* what the command changes; empty: nothing was seen */
    char kept[400];    /* why regions were not captured; empty: they were, or were tried */
    char failure[400]; /* what became of it; empty: all is well */
    struct hardware_reference hardware;
    struct trace_exit exit; /* of the command */
};

/* Runs the command under capture, and again, and fills the list. *exec_status is set when it cannot
 * be run. validate_run_free() either way. */
bool validate_run_go(struct validate_run *run, const struct validate_run_request *request,
                     struct region_list *list, int *exec_status, struct error *error);
void validate_run_free(struct validate_run *run);

struct validate_simulation {
    struct watch *watch;
    const struct machine *machine;
    uint32_t ideal, jobs;               /* jobs 0: as many as processors */
    const char *full, *list_path;       /* the trace; what region paths are relative to */
    const struct region_tasks *cluster; /* that simulates regions cut out of the trace, of a list in
                                           a file; NULL: this machine */
    const uint64_t *warm_ups;           /* instructions before each region; UINT64_MAX: all */
    uint32_t warm_up_count;
};

/* Simulates the whole run, then the regions alone: with each length of warm-up, and as they were
 * captured if all were. After an interrupt what was not reached is left out; without the whole run
 * that is an error. validation_free() either way. */
bool validate_simulate(const struct validate_simulation *simulation, const struct region_list *list,
                       struct validation *validation, struct error *error);
