/* Calibrates this processor, or a simulated machine. */
#pragma once

#include "calibrate/calibration.h"
#include "calibrate/simulated.h"
#include "machine/processor.h"
#include "study/study.h"

enum { CALIBRATE_PARTS = 32 };

struct calibrate_run {
    /* Set before. */
    struct watch *watch;
    struct processor processor;                          /* this one */
    const struct machine *simulated_machine;             /* NULL: this processor */
    const struct machine *published;                     /* figures to compare with */
    const struct calibrate_part *parts[CALIBRATE_PARTS]; /* that are wanted */
    uint32_t part_count;                                 /* 0: all */
    bool quick;

    struct simulated_meter simulated;
    struct host_meter native;
    struct calibration calibration;
    uint32_t parts_run;
    bool partial; /* interrupted */
    double seconds;
};

/* False where there is nothing to calibrate. */
bool calibrate_run_prepare(struct calibrate_run *run, struct error *error);
/* After an interrupt what was found so far is there; false when that is nothing. */
bool calibrate_run_go(struct calibrate_run *run, struct error *error);
void calibrate_run_free(struct calibrate_run *run);
