#pragma once

#include <stddef.h>

/* Of at least one value, which it sorts; of an even number halfway between the middle two. */
double median_of(double *values, size_t count);
