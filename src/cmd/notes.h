/* Notes that reports of several verbs have in common. */
#ifndef CULPRIT_CMD_NOTES_H
#define CULPRIT_CMD_NOTES_H

#include "cmd/options.h"
#include "region/captured.h"
#include "report/report.h"
#include "study/localities.h"

/* What the capture warned of, and which processes are in it. True when there were processes that
 * are not included. */
bool note_trace(struct report *report, const struct trace *trace);

/* How code that was made at run time, without names, would have them, when it has a hundredth of
 * the cycles: the whole command to type. `command` is that of argv; NULL: a trace was read. */
void note_made_code(struct report *report, const struct code *code, char *const *command, int argc,
                    char **argv);

/* That the other regions of a list stand for those that were not captured, when there are any. */
void note_lost_regions(struct report *report, const char *list, const struct regions_lost *lost);

/* That the traces of programs break off, or broke off when they were profiled; whether any did. */
bool note_cut(struct report *report, const struct locality_inputs *inputs);

#endif
