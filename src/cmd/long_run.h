/* A run that may be too long to simulate in full, explained by representative regions.
 *
 *   first run    captured, not simulated: basic block vectors of its slices; the beginning is kept
 *                in a file, standard input too; system calls that change the world are watched for
 *   choice       of regions by the vectors
 *   second run   captured: traces of the regions, found by their markers, simulated side by side
 *                while it goes on; its output is nobody's; it is killed before it could change
 *                anything, and when the last region is complete
 *
 * A run that ends within `over` instructions is all in the file: it is simulated from there, in
 * full. One that by then changes the world, or has several threads, goes on in one pass with
 * systematic sampling, its beginning from the file. One that does later is explained by regions up
 * to there, and with systematic sampling from there on. When the second run goes another way, a
 * third is sampled systematically.
 *
 * A signal that ends the first run ends no more than that: what was run until then is explained, as
 * if it had ended there. Another one ends that too.
 *
 * An interval that comes out wide is made narrower with more regions, in one more run.
 *
 * A trace file is read as often as need be in place of runs. */
#ifndef CULPRIT_CMD_LONG_RUN_H
#define CULPRIT_CMD_LONG_RUN_H

#include "cmd/forecasting.h"
#include "cmd/machine_choice.h"
#include "simulate/saving.h"
#include "simulate/simulate.h"
#include "trace/trace.h"

struct long_run_request {
    const struct capture_options *capture; /* command, limit, qemu; the first run's */
    const char *trace;                     /* a regular file, in place of a command; or NULL */
    const struct machine_choice *machines;
    uint32_t ideal;
    uint64_t over;            /* instructions; longer runs are explained by regions */
    bool rerun;               /* run it twice even though it changes the world */
    struct sampling sampling; /* of what is sampled systematically */
    uint64_t warm_up;         /* instructions before each region */
    uint32_t regions;         /* as many, or all slices there are */
    bool enough;              /* no more than these, however wide the interval */
    struct saving *saving;    /* where LONG_RUN_DONE is saved, described before long_run_go(); NULL:
                                 nowhere */
};

enum long_run_kind {
    LONG_RUN_SHORT,    /* simulate `trace` in full */
    LONG_RUN_ONE_PASS, /* sample `trace` systematically */
    LONG_RUN_DONE      /* `simulation` and `code` are the result */
};

struct long_run;
/* NULL, with *exec_status as of trace_capture(), when the command cannot be started. */
struct long_run *long_run_start(const struct long_run_request *request, int *exec_status,
                                struct error *error);
void long_run_free(struct long_run *run);

/* What is run and on which machine; the text lives as long as the first run's trace. */
const char *long_run_command(const struct long_run *run);
const struct machine *long_run_machine(const struct long_run *run);

/* All that can be done before `trace` is simulated, or all. */
bool long_run_go(struct long_run *run, enum long_run_kind *kind, struct error *error);

/* The signal that ended the first run early; 0: none. */
int long_run_signal(const struct long_run *run);
/* Instructions of the first run, or of its part that was profiled. */
uint64_t long_run_profiled(const struct long_run *run);

/* The first run's; the caller's from long_run_go() on, and closed by it before long_run_free(). */
struct trace *long_run_take_trace(struct long_run *run);

/* Of LONG_RUN_DONE. The simulation is handed over; the code lives as long as the run. */
void long_run_result(struct long_run *run, struct simulation *simulation, const struct code **code);

/* Likewise: what upgrades of the machine would save, and causes that went away. */
struct forecasting_result long_run_forecast(const struct long_run *run);

/* For the report: how the run was explained; NULL: there is nothing to say. */
const char *long_run_note(const struct long_run *run, unsigned number);

#endif
