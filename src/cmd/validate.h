/* `culprit validate`: of regions (validate.c), or against this very machine (validate_host.c). */
#pragma once

#include "cmd/explain.h"
#include "cmd/verb.h"
#include "report/host_report.h"
#include "report/validation.h"
#include "study/same_program.h"
#include "study/validate.h"

enum { VALIDATE_MAX_WARM_UPS = VALIDATION_MAX_TRIALS - 1 };

struct validate_host {
    bool wanted;
    bool given; /* an option that needs it */
    uint32_t runs, top;

    struct explain explain; /* what is compared */
    struct kept_input input;
    struct same_program program;
    struct host_runs measured;
    struct matched_profile matched;
    struct host_report report;
    char *folder, *store; /* temporary */
};

struct validate_job {
    struct verb_run verb;
    struct machine_options machine;
    const char *list, *full; /* NULL: a command is run */
    struct validate_run_request request;
    uint64_t warm_ups[VALIDATE_MAX_WARM_UPS];
    uint32_t warm_up_count, jobs;
    struct cluster_options cluster;
    bool regions_given; /* an option about regions */

    struct machine_choice machines;
    struct region_list regions;
    struct validate_run run;
    struct validation validation;
    struct validation_report report;

    struct validate_host host;
};

/* Before options are parsed. */
void validate_host_begin(struct validate_host *host);

/* With --host; its struct is a struct validate_job. */
extern const struct verb verb_validate_host;
