/* What layouts.c and layouts_one.c share. Only these include this. */
#pragma once

#include <pthread.h>

#include "study/kept_input.h"
#include "study/layouts.h"
#include "study/muted_output.h"
#include "trace/code_placement.h"

/* How an input is run. */
struct road {
    struct capture_options capture;  /* of `explanation` */
    struct muted_output muted;       /* likewise */
    struct explanation *explanation; /* NULL, or one that is repeated by regions */
    bool sampled;                    /* systematically */
    bool told; /* the command has had its standard error in a run under layout 0 */
};

struct layouts {
    struct layouts_run *run;
    struct kept_input kept;
    struct road roads[LAYOUTS_INPUTS];
    struct movable_code programs[LAYOUTS_INPUTS];
    bool moves_code;      /* of all inputs, or of none, so that they stay alike */
    pthread_mutex_t lock; /* of what follows, and of run->take() */
    bool failed;          /* nothing more is taken */
};

/* One run, `number` in the order of layouts, of each the inputs in theirs; what comes of it is
 * taken. On any thread. `context` is a struct layouts. */
bool layouts_make_run(void *context, size_t number, struct watch *watch, struct error *error);
