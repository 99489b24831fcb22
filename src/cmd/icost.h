/* `culprit icost`: what its files share. */
#ifndef CULPRIT_CMD_ICOST_H
#define CULPRIT_CMD_ICOST_H

#include "cmd/icost_category.h"
#include "cmd/icost_path.h"
#include "cmd/icost_shotgun.h"
#include "cmd/options.h"
#include "cmd/run.h"
#include "machine/choice.h"
#include "simulate/sensitivity.h"
#include "study/icost.h"

struct icost_request {
    int argc;
    struct input_options input;
    struct machine_options machine;
    struct output_options output;
    struct regions_request regions;
    struct shotgun_choice shotgun;
    struct pieces_choice path;
    struct category_choice category;
    const char *focus; /* a category; NULL: the costliest */
    double threshold;  /* share of the time */
    uint32_t largest;  /* members of a set that is shown */
    enum icost_sets multisim;
    bool multisim_given;
    uint32_t jobs;            /* simulations at once; 0: as many as processors */
    struct sensitivity study; /* no parameters: none */
};

/* Each returns the exit status. */
int icost_breakdown(struct icost_request *request);
int icost_sensitivity(struct icost_request *request);

#endif
