/* What a calibration found, as text and as JSON. */
#pragma once

#include <stdio.h>

#include "study/calibrate.h"

/* A line for each finding: value, spread, and the published value where there is one. */
void calibration_text(const struct calibrate_run *run, FILE *file);
/* One JSON object (docs/json.md). */
bool calibration_json(const struct calibrate_run *run, FILE *file, struct error *error);
