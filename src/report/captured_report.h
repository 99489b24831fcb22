/* What was captured of a command, or read from a trace of another tool, and is in a file now. */
#pragma once

#include <stdio.h>

#include "trace/convert.h"

struct captured_report {
    const char *path; /* "-": no file */
    const struct capture_result *result;
    const struct champsim_lost *lost; /* by the format of the file */
    bool champsim;                    /* that is ChampSim's */
    bool addresses;                   /* of memory accesses are in it */
    bool good;                        /* there is something to do next with it */
    bool partial;
};

void captured_text(const struct captured_report *report, FILE *file);
bool captured_json(const struct captured_report *report, FILE *file, struct error *error);
