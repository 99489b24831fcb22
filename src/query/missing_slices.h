/* Why no samples of a set are in the slices chosen. */
#pragma once

#include "query/profile_set.h"

/* Sets the error; false. Only of a set that chooses. */
bool missing_slices(const struct profile_set *set, struct error *error);
