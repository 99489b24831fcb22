/* How fast this processor is now. */
#pragma once

#include "util/error.h"

/* Cycles per second, as a chain of dependent additions takes one each; in some 5 ms. False where
 * there is no x86-64 processor. */
bool host_frequency(double *frequency, struct error *error);
