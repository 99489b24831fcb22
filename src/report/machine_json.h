/* A machine as one JSON object: sections are objects, keys those of machine files. */
#ifndef CULPRIT_REPORT_MACHINE_JSON_H
#define CULPRIT_REPORT_MACHINE_JSON_H

#include <stdbool.h>
#include <stdio.h>

#include "machine/machine.h"
#include "util/error.h"

bool machine_json(const struct machine *machine, FILE *file, struct error *error);

#endif
