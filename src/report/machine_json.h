/* A machine as one JSON object: sections are objects, keys those of machine files. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "machine/machine.h"
#include "util/error.h"

bool machine_json(const struct machine *machine, FILE *file, struct error *error);
