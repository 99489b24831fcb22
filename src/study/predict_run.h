/* Long misses of a run, or of its regions, predicted by the hybrid model (model/predict.h). */
#pragma once

#include "model/predict_regions.h"
#include "region/captured.h"
#include "study/trace_input.h"

struct predict_run {
    /* Set before; the watch's progress and signal are added to the options. */
    struct watch *watch;
    const struct input_options *input;
    const char *list; /* of regions in place of the input; NULL: none */
    uint64_t warm_up; /* instructions before each, at most */
    struct predict_options options;

    struct trace_input trace; /* of the input */
    struct region_list regions;
    struct regions_lost lost;
    struct predicted_regions estimated; /* from them */
    struct hybrid_prediction prediction;
};

/* Fails also where nothing could miss. *exec_status is set when a command cannot be run.
 * predict_run_free() either way. */
bool predict_run_go(struct predict_run *run, int *exec_status, struct error *error);
/* Its command. */
const char *predict_run_program(const struct predict_run *run);
void predict_run_free(struct predict_run *run);
