/* Inside of this room: functions of two builds with their lines and types, matched
 * (compared_run.h). */
#pragma once

#include "query/compared_run.h"

enum { NO_LINE = UINT32_MAX };

/* By image, function, file, line and offset (compared_functions.c). */
void compared_places_sort(struct compared_run *run);
/* The functions of sorted places, in their order, each with its lines; both arrays are the
 * caller's. False: out of memory, and they are to be freed all the same. */
bool compared_functions_find(const struct compared_run *run, struct compared_function **functions,
                             size_t *count, struct compared_line **lines);
/* Whether a function is in sorted places (compared_inlined.c). */
bool compared_has_function(const struct compared_run *run, const char *image, const char *name);
/* Sums up the functions of the later run that the earlier one has left out, or may have, as that
 * has: `before` has left some out. Places are sorted, and are sorted again then
 * (compared_summary.c). */
void compared_rest_match(const struct compared_run *before, struct compared_run *after);
/* Of the first word of `text`, below COMPARED_KINDS (compared_renamed.c). */
unsigned compared_kind(const char *text);

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
