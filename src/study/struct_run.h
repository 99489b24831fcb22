/* A struct that the cycles of a simulation go to: its map, which of its fields are accessed
 * together, and what it would save to lay it out anew, by simulating the trace again with its
 * elements moved (simulate/element_layout.h). */
#pragma once

#include "query/struct_map.h"
#include "simulate/simulate.h"
#include "study/struct_elements.h"
#include "study/study.h"

struct struct_remedy {
    bool split;                   /* else reordered */
    uint64_t hot_size, cold_size; /* bytes of each element's parts */
    uint64_t least;               /* accesses that a hot field has */
    uint64_t cycles;              /* with it */
};

struct struct_run {
    /* Set before. */
    struct watch *watch;
    const char *file;                         /* the trace that was simulated */
    const char *type;                         /* name; NULL: that with most cycles of misses */
    const struct simulation *simulation;      /* by code numbers */
    const struct simulation_options *options; /* as it was simulated */
    const struct code *code;
    struct program *program;
    double least;  /* share of the run's cycles that misses of its fields must have, or nothing is
                      laid out anew */
    uint64_t most; /* instructions to simulate for that; 0: as many as it takes */

    struct struct_map map;
    struct field_rows rows;
    struct struct_elements elements;
    struct struct_remedy remedies[3]; /* the best of each kind; room for one more meanwhile */
    uint32_t remedy_count;
    uint64_t simulated; /* instructions */
    bool has_threads;   /* simulated together: no remedy is simulated */
    bool interrupted;
};

/* The remedy that saves most; NULL: none was simulated. */
const struct struct_remedy *struct_run_best(const struct struct_run *run);

/* False with an error. struct_run_free() either way. */
bool struct_run_go(struct struct_run *run, struct error *error);
void struct_run_free(struct struct_run *run);
