/* A number of what a machine is, whatever it is called and wherever it was read from: two machines
 * of one number simulate alike. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "machine/machine.h"
#include "util/error.h"

bool machine_identity(const struct machine *machine, uint64_t *number, struct error *error);
