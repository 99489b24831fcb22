/* A command or trace, simulated in one pass. */
#pragma once

#include "machine/choice.h"
#include "simulate/simulate.h"
#include "study/forecasting.h"
#include "study/input.h"
#include "study/thread_what_if.h"
#include "study/threads_by_regions.h"
#include "study/timed_capture.h"
#include "study/together_threads.h"
#include "trace/code_placement.h"

struct simulated_run {
    /* Set before. */
    struct watch *watch;
    const struct input_options *input;
    const struct machine_choice *machines;
    const volatile sig_atomic_t *begin; /* capture from when it is set; NULL: at once */
    const char *file;    /* has all of `trace`, and of a command that is given; NULL: no file has */
    struct trace *trace; /* being read already; NULL: simulated_run_open() opens it */
    /* Where functions of a command's program lie under its layout; NULL: this is found, unless they
     * stay where they are. */
    const struct code_placement *placement;
    bool code_stays;
    struct together_request threads;
    bool again;     /* the trace will be read again: it is in a file, with numbers that are fixed */
    bool keeps;     /* what the trace was kept in for threads is there until simulated_run_drop() */
    bool forecasts; /* tell, too, what would be saved */
    /* Called when the capture of threads was interrupted: so many instructions are simulated now.
     * May be NULL. */
    void (*interrupted)(uint64_t instructions);
    /* Profilers with neither period nor samples get the period that this floor of the error takes
     * (share; 0: none is asked for). */
    double floor;
    struct profile_options *profiles;
    /* With the other options; machine, selection, progress and stop are filled in. */
    struct simulation_options options;

    struct movable_code program;  /* of a command under a layout */
    struct code_placement placed; /* likewise */
    struct together together;
    struct threads_by_regions regions; /* of threads; count 0 of the plan: they are not */
    const char *apart; /* why threads are not simulated together; NULL: they are, or there is one */
    const char *unkept;         /* why the trace of a command is not kept for them; NULL: it is */
    struct timed_capture timed; /* --for */
    int signal;     /* that ended the capture of what is simulated after it; 0: none did */
    char *captured; /* temporary trace of the command; NULL: not (yet) made */
    struct forecasting forecasting;
    struct forecasting_result forecast;
    struct thread_what_ifs
        what_ifs;                 /* of threads that are simulated together: what forecasts are */
    struct simulation simulation; /* executed 0: nothing was simulated */
};

/* The trace and its machine. *exec_status is set when a command cannot be run.
 * simulated_run_free() either way. */
bool simulated_run_open(struct simulated_run *run, int *exec_status, struct error *error);
/* What was simulated when it fails is there; of an interrupted command the rest is read. */
bool simulated_run_go(struct simulated_run *run, int *exec_status, struct error *error);
/* Of `again`: the file; NULL: a trace that is in none. */
const char *simulated_run_file(const struct simulated_run *run);
/* Removes what `keeps` has left. */
void simulated_run_drop(struct simulated_run *run);
/* Of the command, once its trace has been read. */
struct trace_exit simulated_run_exit(const struct simulated_run *run);
void simulated_run_free(struct simulated_run *run);
