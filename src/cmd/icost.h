/* `culprit icost`: what its two lives share, the breakdown and --sensitivity. */
#pragma once

#include "cmd/verb.h"
#include "options/path_options.h"
#include "report/breakdown_report.h"
#include "report/sensitivity_report.h"
#include "study/icost.h"
#include "study/sensitivity_run.h"

struct icost {
    struct verb_run verb;
    struct input_options input;
    struct machine_options machine;
    struct shotgun_choice shotgun;
    struct pieces_choice path;
    struct category_choice category;
    struct path_options path_options;
    struct icost_study_request request; /* refers to the above */
    struct cluster_options cluster;     /* of request.cluster */
    bool multisim_given;
    struct sensitivity_run sensitivity; /* no parameters: a breakdown */

    /* The breakdown. */
    struct icost_study study;
    struct breakdown_report report;
    struct paths paths;
    struct program *names; /* of them */
    /* --sensitivity */
    struct machine_choice machines;
    struct sensitivity_report sensitivity_report;
};

extern const struct verb icost_sensitivity;
bool icost_prepare(void *icost, struct error *error);
bool icost_run(void *icost, struct error *error);
bool icost_report(void *icost, struct error *error);
void icost_clean_up(void *icost);

extern const struct option_group icost_shotgun_group;  /* of a struct shotgun_choice */
extern const struct option_group icost_path_group;     /* of a struct pieces_choice */
extern const struct option_group icost_category_group; /* of a struct category_choice */
