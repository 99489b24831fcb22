/* `culprit sim`: what a simulation of a run and one of a list of regions have in common. */
#pragma once

#include "cmd/run.h"
#include "report/kanata.h"
#include "study/listed_regions.h"
#include "study/slice_files.h"
#include "tap/tracers/tracer.h"

struct sim {
    struct run run;
    const char *kanata_path;                /* NULL: no picture */
    bool kanata_window;                     /* an option chose the window */
    uint64_t kanata_from, kanata_cycles;    /* a window of simulated cycles */
    const char *speedup_path, *bottle_path; /* NULL: no such picture */
    struct slices_request slices_request;
    struct tracers *tracers; /* NULL: none */
    struct regions_request regions;
    struct cluster_options cluster; /* of regions.cluster */

    /* Files beside the report (sim_files.c). */
    struct kanata *kanata;
    bool kanata_attached;
    struct output kanata_file, speedup_file, bottle_file;
    struct slices slices;
    struct tracer_run told; /* what tracers are told of the run */
    struct simulation_observer observers[2];

    struct listed_regions listed; /* --regions */
};

/* The regions of a list that were captured, simulated side by side, as an estimate of the whole. */
extern const struct verb sim_regions;

bool sim_prepare(void *sim, struct error *error);
bool sim_run(void *sim, struct error *error);
bool sim_report(void *sim, struct error *error);
void sim_free(void *verb);
