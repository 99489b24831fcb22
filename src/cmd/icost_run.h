/* A run of `culprit icost` that makes a breakdown: what its steps share, and the notes. */
#ifndef CULPRIT_CMD_ICOST_RUN_H
#define CULPRIT_CMD_ICOST_RUN_H

#include "cmd/icost.h"
#include "cmd/output.h"
#include "report/breakdown_report.h"
#include "simulate/category_places.h"
#include "simulate/simulate.h"
#include "study/trace_input.h"

/* One command or trace. */
struct icost_program {
    struct trace_input input;
    char *label;
    uint64_t instructions, cycles;    /* simulated */
    struct simulation simulation;     /* but for its breakdown; zero of regions and samples */
    struct breakdown ways[WAY_COUNT]; /* cycles NULL: not measured */
    struct shotgun_statistics shotgun;
    struct icost_path *path;        /* NULL: not asked for */
    struct category_places *places; /* NULL: no category has any */
};

struct icost {
    struct icost_request *request;
    struct icost_regions regions;
    struct shotgun_file samples;
    struct machine_choice *machines;
    const struct machine *machine;
    struct report_files files;
    char *folder; /* for traces; NULL: none */
    struct icost_program *programs;
    struct breakdown_program *rows; /* of the report */
    uint32_t count;                 /* programs that were begun */
    const char *names[CATEGORIES_MAX], *descriptions[CATEGORIES_MAX];
    uint32_t focus;
    bool checked; /* some rows were simulated to check the graph */
    struct breakdown_report report;
};

/* The categories that are made less or more, not taken away. */
uint32_t icost_changed(const struct icost_request *request);

/* Adds to the report, whose rows are chosen, what it rests on and the next command. False: out of
 * memory. */
bool icost_note(struct icost *icost, bool partial);

#endif
