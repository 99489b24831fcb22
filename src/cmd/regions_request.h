/* What `culprit regions` was asked for. */
#ifndef CULPRIT_CMD_REGIONS_REQUEST_H
#define CULPRIT_CMD_REGIONS_REQUEST_H

#include <jansson.h>

#include "cmd/option.h"
#include "region/sweep.h"

struct regions_request {
    struct choose_settings settings;
    bool max_clusters_given, merge, run_given, json;
    uint32_t run;
    const char **vectors, **costs; /* in the order of the command line */
    uint32_t vector_count, cost_count, draws;
    bool predict, sweep;
    struct sweep_settings grids;
    const char *output, *simpoints, *weights, *load_simpoints, *load_weights, *labels, *svg;
};

/* Of a request with room for as many vectors and costs as there are arguments. */
extern const struct command_line regions_line;
void regions_request_free(struct regions_request *request);

/* With --sweep: reads, sweeps, prints. */
bool regions_sweep(const struct regions_request *request, struct error *error);

/* On standard output; the object is let go. */
bool regions_print_json(json_t *object, struct error *error);

#endif
