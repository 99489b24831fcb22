/* culprit record: what its files share. */
#ifndef CULPRIT_CMD_RECORD_H
#define CULPRIT_CMD_RECORD_H

#include <stdio.h>

#include "cmd/live_options.h"
#include "cmd/options.h"
#include "study/record.h"

struct record_request {
    char **command; /* NULL: --pid */
    pid_t pid;
    const char *store; /* NULL: the default one */
    struct output_options output;
    struct live_options sampled;
    double seconds; /* 0: as long as it runs */
};

bool record_report(const struct record_request *request, const struct recording *recording,
                   FILE *file, struct error *error);

#endif
