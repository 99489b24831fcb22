/* Inside of the calibrate room: targets of indirect jumps (part `targets`). */
#pragma once

#include "calibrate/calibration.h"

/* How many targets of one indirect jump are predicted. */
bool indirect_measure(struct calibration *calibration, struct error *error);
