/* Moments as people write them: "14:05", "14:05:30" (today), "2026-11-26", "2026-11-26 14:05",
 * "2026-11-26T14:05:30Z", "10min ago", "-10min" or "10min", "@1795660000" (seconds since 1970),
 * "now". */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* The whole text, in ns since 1970: local time, or UTC with a Z or " UTC" behind it. `now`: of what
 * is relative to it. False: it is no moment. */
bool when_read(const char *text, int64_t now, int64_t *moment);
