/* `culprit annotate`: what its files share. */
#pragma once

#include "cmd/profile_options.h"
#include "report/annotated.h"

struct annotate_job {
    struct profile_run run;
    struct procedure_query query;
    const char *event, *machine, *picture;
    enum annotate_view view;
    bool all, least_given, exact;
    struct annotation_style style;
};

/* A step. */
bool annotate_report(void *job, struct error *error);
