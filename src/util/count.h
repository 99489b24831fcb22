/* A count as people write it: a whole number, with K, M, G or T for thousands, millions ...; before
 * these also 1.5, if that makes a whole number. */
#pragma once

#include <stdint.h>

enum count_reading { COUNT_READ, COUNT_TOO_LARGE, COUNT_NONE };

/* *end tells where what is no part of the count begins. */
enum count_reading count_read(const char *text, uint64_t *count, const char **end);
