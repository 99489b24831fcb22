/* What `contend` and `throughput` run side by side: programs, each a trace, which is profiled when
 * it is asked for, or a profile saved by `contend --profile`. A word NAME*4 is four copies. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "machine/machine.h"
#include "model/contention.h"
#include "model/locality.h"
#include "simulate/selection.h"
#include "study/study.h"

struct locality_input_options {
    struct watch *watch;
    const struct machine *machine;
    const struct cache_shape
        *shared; /* [shared_count]; levels 1 .. of every profile, in this order */
    uint32_t shared_count;
    bool frames;
    bool core;                  /* locality.core, too */
    uint32_t core_threads;      /* at most so many run on a core */
    struct selection selection; /* of traces; with thread −1 the first thread of each */
};

/* A file, however often it was named. */
struct locality_program {
    char *path, *label;       /* label: short, for a column */
    bool saved;               /* it is a profile, not a trace */
    struct locality locality; /* once profiled */
};

struct locality_inputs {
    struct locality_program *programs;
    uint32_t program_count;
    uint32_t *threads; /* index of the program, in the order of the words */
    uint32_t thread_count;
    uint64_t instructions; /* profiled from traces */
    double seconds;        /* processor time of that */
    /* Of every program, once all are profiled: [program_count]. */
    const struct locality **localities;
    const char **paths, **labels;
    char *title; /* "gzip*2, mcf" */
};

/* Which files there are. Errors: a number of copies that is none, more than CONTENTION_MAX_THREADS
 * threads. locality_inputs_free() either way. */
bool locality_inputs_list(struct locality_inputs *inputs, const char *const *words, uint32_t count,
                          struct error *error);
/* Reads or measures every program. Errors, each one line that names the file: traces of different
 * ISAs, profiles of other private levels than the machine's or without the shapes wanted, empty
 * traces, those without addresses or memory accesses; and an interruption before the last is
 * profiled. */
bool locality_inputs_profile(struct locality_inputs *inputs,
                             const struct locality_input_options *options, struct error *error);
void locality_inputs_free(struct locality_inputs *inputs);

/* Whether --check can simulate every program: a trace in a file, which is read again and again. The
 * error names the first that it cannot. */
bool locality_inputs_simulable(const struct locality_inputs *inputs, struct error *error);
/* One program, a command or a trace, measured for a profile to be saved. */
struct locality_run_request {
    struct watch *watch;
    char *const *command; /* NULL: `path`, of a trace */
    const char *path;
    bool stop; /* kill the command at the limit */
    struct selection selection;
    const struct machine *machine;    /* with a cache that threads share */
    const struct cache_shape *shapes; /* beside that one; their lines are as long as its */
    uint32_t shape_count;
    bool frames;
};
/* *trace, which is the caller's to close, has how a command ended; *exec_status is set when it
 * cannot be run. */
bool locality_run(const struct locality_run_request *request, struct trace **trace,
                  struct locality *locality, int *exec_status, struct error *error);

/* The shape of a cache of a machine; the one that threads of different cores share: the last
 * level. */
struct cache_shape cache_shape_of(const struct machine_cache *cache);
const struct machine_cache *machine_shared_cache(const struct machine *machine);
