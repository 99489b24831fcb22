/* A machine as one JSON object: sections are objects, keys those of machine files. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "machine/machine.h"
#include "util/error.h"

bool machine_json(const struct machine *machine, FILE *file, struct error *error);

/* A file that describes this machine without a fault: its name as given, the machine's, and how
 * many instruction forms of which file go with it. */
bool machine_checked_json(const char *checked, const struct machine *machine, FILE *file,
                          struct error *error);
