/* Inside of the calibrate room: the parts; a new one is a file, a line here and a line in parts.c.
 */
#pragma once

#include "calibrate/calibration.h"

extern const struct calibrate_part calibrate_width, calibrate_forms;
