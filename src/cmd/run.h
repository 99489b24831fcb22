/* What `sim`, `explain` and `profilers` have in common: run a command or read a trace, simulate it,
 * report. */
#ifndef CULPRIT_CMD_RUN_H
#define CULPRIT_CMD_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "cmd/options.h"
#include "cmd/profilers.h"
#include "cmd/save.h"
#include "cmd/slices.h"
#include "simulate/sampling.h"
#include "study/listed_regions.h"
#include "tap/tracers/tracer.h"

struct run_request {
    const char *verb; /* "sim" */
    int argc;         /* as typed, for the next useful command */
    char **argv;      /* NULL: a word that is not repeated there */
    struct input_options input;
    struct machine_options machine;
    struct output_options output;
    struct sampling sampling;
    struct profilers_request *profilers; /* NULL: the plain report */
    bool plain;                          /* explain terms */
    const char *kanata;                  /* file; NULL: none */
    bool kanata_window;                  /* an option chose the window */
    uint64_t kanata_from, kanata_cycles; /* a window of simulated cycles */
    struct slices_request slices;
    struct regions_request regions;
    struct save_options save;
    struct trace *begun;     /* already being read, and then closed here; NULL: it is opened */
    int signal;              /* that ended `begun` early, so that it is a part; 0: none */
    const char *note;        /* for the report; NULL: none */
    struct tracers *tracers; /* run_simulation frees them; NULL: none */
};

/* The options of a verb with a run_request at this place in its own. */
#define RUN_PARTS(at_)                                                                             \
    {&input_group, (at_) + offsetof(struct run_request, input)},                                   \
        {&machine_group, (at_) + offsetof(struct run_request, machine)},                           \
        {&output_group, (at_) + offsetof(struct run_request, output)},                             \
        {&grain_group, (at_) + offsetof(struct run_request, output.by)},                           \
        {&save_group, (at_) + offsetof(struct run_request, save)},                                 \
        {&for_group, (at_) + offsetof(struct run_request, input)}, {                               \
        &legend_group, (at_) + offsetof(struct run_request, output)                                \
    }

/* Returns the exit status. */
int run_simulation(const struct run_request *request);

#endif
