/* Formulas of numbers and names: "l2.size/1K + 2*core.rob". They have + - * / ( ), numbers, which
 * may end in one of K M G (of 1024), and names of letters, digits, '_' and '.'. */
#pragma once

#include "util/error.h"

/* value_of() gives the value of a name, or an error. The error of a formula says at which character
 * it is wrong. A value is finite. */
bool arithmetic_value(const char *text,
                      bool (*value_of)(void *context, const char *name, double *value,
                                       struct error *error),
                      void *context, double *value, struct error *error);
