/* What a calibration found, as a machine file; and the machine that it starts from. */
#pragma once

#include <stdio.h>

#include "calibrate/calibration.h"
#include "machine/machine.h"

enum { MACHINE_VALUE = 256 };
/* The value of "core.rob" or "class.load.latency" in the machine, as its file has it, or of a
 * figure that the file has in parts ("l2.load_to_use", figure.h). False: it has no such key. */
bool machine_value(const struct machine *machine, const char *key, char text[MACHINE_VALUE]);

/* The value of a finding as a machine file has it. */
void finding_value(const struct finding *finding, char text[MACHINE_VALUE]);

/* Writes `base` with what was measured in place of its own figures. Each line says which it is:
 * "measured", with its spread; "published", of the machine that the base is; "not measurable here",
 * and the published one kept. Of findings that no machine can have, the published one is kept as
 * well. `processor`: the kind that it is of (processor_kind()); "": of none, as when simulated.
 * `forms`: the name of the table of forms that lies beside the file (form_table.h); NULL: the
 * base's. */
bool calibration_write(const struct calibration *calibration, const struct machine *base,
                       const char *description, const char *processor, const char *forms,
                       FILE *file, struct error *error);
