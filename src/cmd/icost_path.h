/* Critical path, slack and loads in `culprit icost`: their options, and what is told of them. */
#ifndef CULPRIT_CMD_ICOST_PATH_H
#define CULPRIT_CMD_ICOST_PATH_H

#include "cmd/option.h"

#include "report/report.h"
#include "study/pieces.h"

extern const struct option_group path_group; /* of a struct pieces_choice */

/* Adds to the notes what the pieces of a program are worth, against the cycles of the whole run;
 * `of`: " of LABEL" or "". False: out of memory. */
bool icost_path_note(const struct pieces *pieces, struct report *report, uint64_t cycles,
                     const char *of);

#endif
