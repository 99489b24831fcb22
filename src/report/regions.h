/* What `culprit regions` tells: the regions, what their choice rests on, and a picture of the
 * phases over time. */
#pragma once

#include <jansson.h>

#include "region/choose.h"
#include "region/prediction.h"
#include "region/sweep.h"

/* A choice, as it was made; refers to what it was made from. */
struct regions_report {
    const struct profiled_runs *profile;
    const struct region_choice *choice;
    const struct choose_settings *settings;
    bool loaded; /* SimPoint's files: nothing was tried */
    /* Regions by place: number of the point in the choice. */
    uint32_t *order;
    uint64_t chosen_instructions;
    double *scatter; /* by cluster (region/scatter.h); NULL: not of SimPoint's choice */
    uint32_t scatter_count;
    bool bound; /* as many clusters as were allowed: there may be more phases */
};

/* False: out of memory. */
bool regions_report_init(struct regions_report *report, const struct profiled_runs *profile,
                         const struct region_choice *choice, const struct choose_settings *settings,
                         bool loaded);
void regions_report_free(struct regions_report *report);

/* At most 100 columns wide. */
void regions_text(const struct regions_report *report, FILE *out);
/* A new object (docs/json.md); NULL: out of memory. */
json_t *regions_json(const struct regions_report *report);

/* How far predicted costs are from true ones, beside draws and by cluster; likewise. */
void prediction_text(const struct prediction *prediction, FILE *out);
json_t *prediction_json(const struct prediction *prediction);

/* What is recommended, and the points of the front; all points. */
void sweep_text(const struct sweep *sweep, size_t input_count, FILE *out);
json_t *sweep_json(const struct sweep *sweep);

/* Error against instructions to simulate, a panel for each kind of sweep; with several inputs one
 * for the mean and one for the maximum. */
void sweep_svg(const struct sweep *sweep, size_t input_count, FILE *out);

/* A lane for each cluster, or with many threads a band for each of them, along the instructions of
 * the thread; regions are marked. Of `run`. Of a choice without labels only regions are drawn. */
void phases_svg(const struct regions_report *report, uint32_t run, FILE *out);
