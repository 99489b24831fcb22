/* What `culprit bbv` tells of the files that it wrote. */
#pragma once

#include <stdio.h>

#include "region/bbv_profile.h"

struct bbv_report {
    const char *path;    /* of the vectors */
    const char *counts;  /* of executions; NULL: not written */
    uint64_t slice_size; /* instructions */
    const struct bbv_profile_result *result;
};

void bbv_report_text(const struct bbv_report *report, FILE *file);
/* One object (docs/json.md). */
bool bbv_report_json(const struct bbv_report *report, FILE *file, struct error *error);
