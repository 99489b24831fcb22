/* Inside of sweep*.c: a run of culprit sweep. */
#pragma once

#include "cluster/cluster.h"
#include "cmd/verb.h"
#include "report/design_report.h"
#include "study/design_input.h"

struct sweep_job {
    struct verb_run verb;
    struct input_options input; /* of each program */
    struct design design;
    struct cluster_options cluster;
    const char *file, *csv;
    bool full, over_given, regions_given;
    enum design_sort sort;

    struct design_input from;
    struct output csv_file;
    struct design_report report;
};

extern const struct command_line sweep_line;
