/* `culprit explain`: in one pass, or by regions when the run is long; see study/explain.h. */
#pragma once

#include "cmd/run.h"
#include "report/layouts_taken.h"

/* The row of --regions, of the members where an explanation has them. */
#define EXPLAIN_REGIONS(regions_, enough_)                                                         \
    COUNT("regions", "N", regions_,                                                                \
          "Simulate N regions: more take longer and leave less error (default 160, and up to 640 " \
          "when these leave more than 3 % open)",                                                  \
          .least = 2, .most = 10000, .must = "2 to 10000", GIVEN(enough_))

struct explain {
    struct run run;
    uint64_t over; /* instructions; longer runs are explained by regions; UINT64_MAX: none is */
    uint64_t kept; /* likewise; of longer ones in a second run */
    bool over_given, warm_given;
    const char *one_pass; /* the option that asks for it; NULL: none */
    bool rerun;
    bool whole;       /* a part of the run is of no use: an interrupt ends the explanation */
    uint64_t warm_up; /* instructions before each region */
    bool simulate_warm_up;
    uint32_t regions; /* as many, or all slices there are */
    bool enough;      /* no more than these */

    uint32_t layout_count; /* 0: the run is explained, not its layouts compared */
    struct layouts_run layouts;
    struct layouts_report layouts_report;
    struct layouts_taken layouts_taken;

    struct explanation *explanation;
    enum explanation_kind kind;
    struct trace *trace; /* the first run's, when it was explained by regions */
    struct simulation simulation;
    const struct code *code;
};

/* Before options are parsed. */
void explain_begin(void *verb);

/* Steps of an explanation that may take a second run. */
bool explain_run(void *explain, struct error *error);
bool explain_report(void *explain, struct error *error);
/* The report, not yet written, in explain->run.report; the profile is saved. */
bool explain_build(struct explain *explain, struct error *error);
void explain_free(void *verb);

/* --layouts: what does not go with it; the steps. */
void explain_check_layouts(const struct argp_state *state, struct explain *explain);
extern const struct verb explain_layouts;
