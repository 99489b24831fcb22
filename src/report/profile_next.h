/* What to look at next after `culprit top`: into the procedure or file that has most, or what else
 * could be told apart. Two parts of a command, for the verb to put between them the options that
 * chose what is shown. */
#pragma once

#include "report/profile_report.h"

/* "culprit annotate". */
void profile_next_verb(const struct profile_report *report, FILE *file);
/* " longest_match", " --image /usr/bin/gzip". */
void profile_next_rows(const struct profile_report *report, FILE *file);
