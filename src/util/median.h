/* Medians. */
#pragma once

#include <stddef.h>

double median_of_three(double a, double b, double c);

/* Of at least one, which it sorts; of an even number halfway between the middle two. */
double median_of(double *values, size_t count);
