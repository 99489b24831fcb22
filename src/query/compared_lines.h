/* Inside of this room: lines and types of a function of two builds, matched (compared_run.h). */
#pragma once

#include "query/compared_run.h"

enum { NO_LINE = UINT32_MAX };

/* matches[i]: the line of `after` that is line i of `before`, or NO_LINE. False: out of memory. */
bool compared_lines_match(const struct compared_function *before,
                          const struct compared_function *after, uint32_t *matches);

/* The type of another size that accesses of both sides are to which take most cycles, if there is
 * one, as `types` (compared_types.c). */
void compared_types_find(struct compared_change *change);

/* Gives instructions of functions that are inlined in one run, and stand alone in the other, to the
 * function that was inlined, with `within` as told. Places are sorted; false: they still are
 * (compared_inlined.c). */
bool compared_inlined_match(struct compared_run *before, struct compared_run *after);

/* Functions that are not matched, and clearly alike: partners[i] is the one after of function i
 * before, and both are matched then. False: out of memory (compared_renamed.c). */
bool compared_renamed_find(const struct compared_runs *runs, bool *const matched[2],
                           size_t *partners);
