/* Lines that move between cores, by how they are shared, and what fits them: padding ends false
 * sharing, copies of each thread's own end true sharing. */
#pragma once

#include <stdbool.h>

#include "simulate/line_remedy.h"
#include "simulate/line_traffic.h"

/* Of the sharing of a line, by the cycles that were waited: false from this share on of what is
 * known, true up to the rest, mixed between. */
#define SHARING_MOSTLY 0.9

enum line_sharing { SHARING_UNKNOWN, SHARING_FALSE, SHARING_TRUE, SHARING_MIXED };
/* The share of false sharing of a line's moves that are known, by cycles; −1: none is known. */
double sharing_false_share(const struct moved_line *line);
enum line_sharing sharing_of(const struct moved_line *line);

/* Whether copies, or padding, fit the line: padding also where sharing is mixed. */
bool sharing_fits(const struct moved_line *line, bool copies);
/* There is room for it. */
void sharing_add_line(struct line_remedies *remedies, const struct moved_line *line, bool copies);
