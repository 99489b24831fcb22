/* Times as people write them: a number and one of s, min (or m), h, d, w: "30s", "1.5h", "10 min".
 */
#pragma once

#include <stdbool.h>

/* The whole text, in seconds: finite and ≥ 0. A bare number is seconds. False: it is no time. */
bool duration_read(const char *text, double *seconds);
