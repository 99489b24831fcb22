/* A run that may be too long to simulate in full, explained by representative regions.
 *
 *   first run    captured, not simulated: basic block vectors of its slices; the beginning is kept
 *                in a file, standard input too; system calls that change the world are watched for
 *   choice       of regions by the vectors
 *   second run   captured: traces of the regions, found by their markers, simulated while it goes
 *                on; its output is nobody's; it is killed before it could change anything, and when
 *                the last region is complete
 *
 * A run that ends within `kept` instructions is all in the file, which is then read in place of a
 * second run; up to `over` it is simulated from there in full. One of several threads may be eight
 * times as long: those are simulated together, from the file, in full or by regions of their own
 * (study/threads_by_regions.h). One that by then has several processes, or within `kept`
 * changes the world, goes on in one pass with systematic sampling, its beginning from the file. One
 * that does later is explained by regions up to there, and with systematic sampling from there on.
 * When the second run goes another way, a third is sampled systematically.
 *
 * A signal that ends the first run ends no more than that: what was run until then is explained, as
 * if it had ended there. Another one ends that too.
 *
 * An interval that comes out wide is made narrower with more regions, in one more run.
 *
 * A trace file is read as often as need be in place of runs. */
#pragma once

#include "machine/choice.h"
#include "simulate/saving.h"
#include "simulate/simulate.h"
#include "study/forecasting.h"
#include "study/second_run.h"
#include "study/study.h"

/* What is asked for unless the user says otherwise. Many short regions tell more than few long ones
 * that take as long to simulate: what follows on an instruction is much like it. */
enum {
    EXPLAIN_OVER = 80000000,
    EXPLAIN_KEPT = 1000000000, /* some 300 MB */
    EXPLAIN_WARM_UP = 15000000,
    EXPLAIN_REGIONS = 160
};

struct explanation_request {
    struct watch *watch;
    const struct capture_options *capture; /* command, limit, qemu; the first run's */
    const char *trace;                     /* a regular file, in place of a command; or NULL */
    const struct machine_choice *machines;
    uint32_t ideal;
    uint64_t over;  /* instructions; longer runs are explained by regions */
    uint64_t kept;  /* likewise; longer ones are run twice for that */
    bool whole;     /* a part of the run is of no use: an interrupt ends the explanation, too */
    bool rerun;     /* run it twice even though it changes the world */
    bool threads;   /* those of a program may be simulated together, by who takes
                       explanation_file() */
    bool forecasts; /* tell, too, what would be saved */
    struct simulation_details details;
    struct sampling sampling; /* of what is sampled systematically */
    uint64_t warm_up;         /* instructions before each region */
    bool simulate_warm_up;    /* all of them, rather than take time stamps */
    uint32_t regions;         /* as many, or all slices there are */
    bool enough;              /* no more than these, however wide the interval */
    /* A signal ended the run after so many instructions, which are simulated now. May be NULL. */
    void (*interrupted)(uint64_t instructions);
    struct saving *saving; /* where EXPLANATION_DONE is saved, described before explanation_go();
                              NULL: nowhere */
};

enum explanation_kind {
    EXPLANATION_SHORT,    /* simulate `trace` in full */
    EXPLANATION_ONE_PASS, /* sample `trace` systematically */
    EXPLANATION_DONE      /* `simulation` and `code` are the result */
};

struct explanation;
/* NULL, with *exec_status as of trace_capture(), when the command cannot be started. */
struct explanation *explanation_start(const struct explanation_request *request, int *exec_status,
                                      struct error *error);
void explanation_free(struct explanation *run);

/* What is run and on which machine; the text lives as long as the first run's trace. */
const char *explanation_command(const struct explanation *run);
const struct machine *explanation_machine(const struct explanation *run);

/* All that can be done before `trace` is simulated, or all. */
bool explanation_go(struct explanation *run, enum explanation_kind *kind, struct error *error);

/* The signal that ended the first run early; 0: none. */
int explanation_signal(const struct explanation *run);
/* Instructions of the first run, or of its part that was profiled. */
uint64_t explanation_profiled(const struct explanation *run);

/* The first run's, or what is left of it to read. */
const struct trace *explanation_trace(const struct explanation *run);

/* The first run's; the caller's from explanation_go() on, and closed by it before
 * explanation_free(). */
struct trace *explanation_take_trace(struct explanation *run);

/* The file that has all of that trace; NULL: none has. It is removed by explanation_drop_file(). */
const char *explanation_file(const struct explanation *run);
void explanation_drop_file(struct explanation *run);

/* Of EXPLANATION_DONE. The simulation is handed over; the code lives as long as the run. */
void explanation_result(struct explanation *run, struct simulation *simulation,
                        const struct code **code);

/* Likewise: what upgrades of the machine would save, and causes that went away. */
struct forecasting_result explanation_forecast(const struct explanation *run);

/* The regions of EXPLANATION_DONE in a run under another layout of the command's memory. */
struct explanation_repetition {
    /* Set before. */
    struct watch *watch; /* its own, when several are made at once */
    uint32_t layout;     /* trace/memory_layout.h */
    const struct kept_input *input;

    bool diverged; /* the run went another way: there is no simulation */
    struct simulation simulation;
    const struct code *code; /* lives as long as this */
    struct second_run_result second;
    char *folder;
};
/* Whether that can be done: all of the run was explained by regions of a command. */
bool explanation_repeats(const struct explanation *run);
/* On any thread. explanation_repetition_free() either way. */
bool explanation_repeat(const struct explanation *run, struct explanation_repetition *repetition,
                        struct error *error);
void explanation_repetition_free(struct explanation_repetition *repetition);

/* For the report: how the run was explained; NULL: there is nothing to say. */
const char *explanation_note(const struct explanation *run, unsigned number);
