/* `culprit contend`: what its two lives share, the report and --profile. */
#pragma once

#include "cmd/verb.h"
#include "options/sharing_options.h"
#include "report/contend_report.h"
#include "study/contend_run.h"

struct contend {
    struct verb_run verb;
    struct sharing_options_given given;
    double ipc[SHARING_MAX_WORDS];
    uint32_t ipc_count;
    bool frames;
    struct contend_run run;
    struct contend_report report;

    char *const *command; /* of --profile; NULL: a trace, the only word */
    const char *profile;  /* where it is saved; NULL: programs are compared */
    bool stop;            /* kill the command at the limit */
    struct cache_shape shapes[LOCALITY_MAX_LEVELS]; /* beside the machine's own */
    uint32_t shape_count;
    struct output profile_file;
    struct trace *trace;
    struct locality locality;
};

/* contend --profile: measures one program and saves what it is like, in a file that contend and
 * throughput take in place of it. */
extern const struct verb contend_profile;

/* --shapes: "4096x12,1024x8", sets × ways of shared caches. */
void contend_take_shapes(struct argp_state *state, void *contend, char *value);
/* The machine, which must have a cache that is shared. */
bool contend_prepare_machine(struct contend *contend, struct error *error);
