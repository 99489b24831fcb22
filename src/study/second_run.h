/* The second run of a command that was profiled: regions are chosen, captured and simulated. See
 * study/explain.h. */
#pragma once

#include "region/chunk_profile.h"
#include "region/leave_out.h"
#include "simulate/regions.h"
#include "simulate/saving.h"
#include "study/forecasting.h"
#include "study/kept_input.h"
#include "study/study.h"

/* Regions that were chosen elsewhere, of a trace file, in the order of the run. */
struct given_regions {
    struct given_region {
        uint64_t first, instructions; /* [first, first + instructions) of the first thread */
        uint64_t stands_for;          /* instructions of the run */
        uint32_t cluster;
    } * regions;
    uint32_t count;
    size_t slice_count; /* that they were chosen from */
};

struct second_run_request {
    struct watch *watch;
    const struct capture_options *capture; /* the first run's */
    const char *trace;                     /* file in place of a command; or NULL */
    const struct machine *machine;
    uint32_t ideal;
    enum isa isa;
    bool harmless;                     /* end it before it changes the world */
    const struct kept_input *input;    /* the first run has ended */
    const char *folder;                /* for traces, which are removed again */
    struct chunk_profile *profile;     /* complete */
    uint64_t instructions;             /* in it */
    uint64_t warm_up;                  /* before each region */
    bool stamped;                      /* by time stamps, as struct region_trace */
    uint32_t regions;                  /* as many, or all slices there are */
    const struct given_regions *given; /* these; with `trace`. NULL: they are chosen here */
    struct simulation_details details;
    const struct stack_starts *starts; /* of the first run; NULL: not known */
    bool forecast_is_known;            /* regions are only simulated: `forecast` stays empty */
    struct sampling sampling;          /* of a third run, when the second goes another way */
    struct saving *saving;             /* keeps the regions; NULL: nothing does */
};

/* The second run went as the first, or nearly so, and its regions, complete but not yet combined,
 * stand for the instructions of the profile; or a third was sampled, and `regions` is worth
 * nothing. */
struct second_run_result {
    struct region_run *regions;
    size_t slices;        /* that the regions were chosen from */
    struct phase *phases; /* that these are */
    size_t phase_count;
    uint64_t skew;             /* a region was found that many instructions from where it was */
    struct region_loss loss;   /* regions that were not found: others stand for what they did */
    struct simulation sampled; /* with `trace`, whose code it speaks of; NULL: regions */
    struct trace *trace;
    struct forecasting forecasting;     /* while regions are simulated */
    struct forecasting_result forecast; /* of the regions, or of what was sampled */
    struct error why;                   /* not empty: regions were not found; which, and why */
};

/* The caller calls second_run_free() either way. */
bool second_run(const struct second_run_request *request, struct second_run_result *result,
                struct error *error);
/* May be called again after second_run_free(), with another number of regions. */
void second_run_free(struct second_run_result *result);
