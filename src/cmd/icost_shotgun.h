/* Shotgun profiling in `culprit icost`: its options, and what is told of it. */
#ifndef CULPRIT_CMD_ICOST_SHOTGUN_H
#define CULPRIT_CMD_ICOST_SHOTGUN_H

#include "cmd/option.h"

#include "report/report.h"
#include "study/icost.h"

/* What is not asked for. */
struct shotgun_choice shotgun_choice_default(void);
extern const struct option_group shotgun_group; /* of a struct shotgun_choice */

/* Adds to the notes what the fragments of a program are worth; `of`: " of LABEL" or "". False: out
 * of memory. */
bool shotgun_note(struct report *report, const struct shotgun_choice *choice,
                  const struct shotgun_statistics *statistics, const char *of);

#endif
