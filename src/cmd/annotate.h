/* `culprit annotate`: what its files share. */
#pragma once

#include <limits.h>

#include "cmd/explain.h"
#include "cmd/profile_run.h"
#include "report/annotated.h"

struct annotate_job {
    struct profile_run run;
    struct procedure_query query;
    const char *event, *machine, *picture;
    enum annotate_view view;
    bool all, least_given, exact;
    struct annotation_style style;

    /* A simulation beside the samples: of a command or trace, or an epoch. */
    bool simulate;
    const char *simulated_epoch; /* NULL: none */
    struct explain explain;
    struct processor processor; /* that was sampled */
    char *folder;               /* of the store that its profile is in */
    char simulated_store[PATH_MAX];
    struct profile_set simulated; /* epoch_count 0: there is none */
};

/* Steps. */
bool annotate_report(void *job, struct error *error);
bool annotate_simulate_prepare(void *job, struct error *error);
bool annotate_simulate_run(void *job, struct error *error);
void annotate_simulate_free(void *verb);
/* Reads the epoch of --simulated, if it was given. */
bool annotate_read_simulated(struct annotate_job *job, struct error *error);
