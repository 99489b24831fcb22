/* A run of `culprit icost` that makes a breakdown: what its steps share, and the notes. */
#ifndef CULPRIT_CMD_ICOST_RUN_H
#define CULPRIT_CMD_ICOST_RUN_H

#include "cmd/icost.h"
#include "cmd/output.h"
#include "report/breakdown_report.h"

/* What the pieces of a program's graph tell. */
struct icost_inspection {
    struct program *names;
    struct inspection_report report;
};

struct icost {
    struct icost_request *request;
    struct icost_study_request what;
    struct icost_study study; /* of that */
    struct report_files files;
    struct breakdown_program *rows; /* of the report */
    struct icost_inspection *inspections;
    struct breakdown_report report;
};

/* The categories that are made less or more, not taken away. */
uint32_t icost_changed(const struct icost_request *request);

/* Adds to the report, whose rows are chosen, what it rests on and the next command. False: out of
 * memory. */
bool icost_note(struct icost *icost, bool partial);

#endif
