/* Which lines of memory move between the cores of a program with threads, and what it would save if
 * they did not: the program is simulated once, and once more for each remedy. */
#pragma once

#include "machine/choice.h"
#include "simulate/simulate.h"
#include "study/input.h"
#include "study/sharing_lines.h"
#include "study/timed_capture.h"
#include "study/together_threads.h"

/* What was waited for less than this share of the cycles of all threads is not noticed: no remedy
 * is simulated. */
#define SHARING_NOTICED 0.01

/* One simulation with lines laid out anew. */
struct sharing_remedy {
    bool copies;     /* of each thread's own; else padding */
    size_t line;     /* alone: its place among the lines; SIZE_MAX: all that `copies` fits */
    size_t lines;    /* how many */
    uint64_t cycles; /* from beginning to end, with it */
};

enum { SHARING_REMEDIES = 34, SHARING_MOST_ALONE = 32 };

struct sharing_run {
    /* Set before. */
    struct watch *watch;
    const struct input_options *input;
    const struct machine_choice *machines;
    const volatile sig_atomic_t *begin; /* capture from when it is set; NULL: at once */
    struct together_request threads;
    uint32_t ideal;
    uint32_t alone; /* the costliest lines have each a remedy by itself, so many */

    const char *file;
    struct timed_capture timed; /* of a command */
    struct trace *trace;
    struct simulation_options options;
    struct together together;
    struct simulation simulation;
    struct line_traffic *traffic;
    struct line_traffic_sum sum;          /* count 0: nothing moved */
    uint64_t thread_count, thread_cycles; /* of all threads, on a core */
    bool threads_seen;                    /* else nothing was simulated: there is one thread */
    struct sharing_remedy remedies[SHARING_REMEDIES];
    size_t remedy_count;
    bool interrupted; /* remedies are missing */
};

/* The command is captured, the trace is opened and its machine chosen. *exec_status is set when a
 * command cannot be run. sharing_run_free() either way. */
bool sharing_run_open(struct sharing_run *run, int *exec_status, struct error *error);
/* What was simulated when it fails is there. */
bool sharing_run_go(struct sharing_run *run, struct error *error);
/* Whether so many cycles are noticed. */
bool sharing_noticed(const struct sharing_run *run, uint64_t cycles);
void sharing_run_free(struct sharing_run *run);
