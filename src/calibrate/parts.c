#include "calibrate/parts.h"

const struct calibrate_part *const calibrate_parts[] = {
    &calibrate_width,
    &calibrate_forms,
    NULL,
};
