/* `culprit icost`: what its files share. */
#ifndef CULPRIT_CMD_ICOST_H
#define CULPRIT_CMD_ICOST_H

#include "cmd/icost_category.h"
#include "cmd/icost_path.h"
#include "cmd/icost_shotgun.h"
#include "cmd/options.h"
#include "cmd/run.h"
#include "graph/breakdown.h"
#include "machine/choice.h"
#include "region/captured.h"
#include "simulate/sensitivity.h"
#include "study/icost_sets.h"

struct icost_request {
    int argc;
    struct input_options input;
    struct machine_options machine;
    struct output_options output;
    struct regions_request regions;
    struct shotgun_choice shotgun;
    struct path_choice path;
    struct category_choice category;
    const char *focus; /* a category; NULL: the costliest */
    double threshold;  /* share of the time */
    uint32_t largest;  /* members of a set that is shown */
    enum icost_sets multisim;
    bool multisim_given;
    uint32_t jobs;            /* simulations at once; 0: as many as processors */
    struct sensitivity study; /* no parameters: none */
};

/* The breakdown of a run from its regions. `machine` is chosen by the list. */
struct icost_regions {
    struct region_list list;
    struct regions_lost lost;
    struct breakdown breakdown;
    uint64_t cycles, simulated; /* estimated of the run; instructions of the regions */
    uint32_t count, done;       /* regions */
    double seconds;
};
/* icost_regions_free() either way. */
bool icost_regions(const struct icost_request *request, const struct machine_choice *machines,
                   struct icost_regions *regions, const struct machine **machine,
                   struct error *error);
void icost_regions_free(struct icost_regions *regions);

/* Each returns the exit status. */
int icost_breakdown(struct icost_request *request);
int icost_sensitivity(struct icost_request *request);

#endif
