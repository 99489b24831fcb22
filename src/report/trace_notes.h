/* Notes that reports of several verbs have in common. */
#pragma once

#include "region/captured.h"
#include "report/report.h"
#include "study/layouts.h"
#include "study/localities.h"

/* "signal 11 (Segmentation fault) ended the command", in `text`; NULL: none did. */
const char *signal_that_ended(struct trace_exit exit, char *text, size_t size);

/* What the capture warned of, and which processes are in it. True when there were processes that
 * are not included. */
bool note_trace(struct report *report, const struct trace *trace);

/* How code that was made at run time, without names, would have them, when it has a hundredth of
 * the cycles: the whole command to type. `command` is that of argv; NULL: a trace was read. */
void note_made_code(struct report *report, const struct code *code, char *const *command, int argc,
                    char **argv);

/* That the other regions of a list stand for those that were not captured, when there are any. */
void note_lost_regions(struct report *report, const char *list, const struct regions_lost *lost);

/* That a program's trace breaks off, or broke off when its profile was `saved`. */
void note_cut(struct report *report, const char *path, bool saved);
/* Of the programs whose traces break off, which makes the report partial. */
void note_cut_programs(struct report *report, const struct locality_inputs *inputs);

/* Of a run that may differ from the next under one layout, too: it has threads. */
void note_raced(struct report *report, const struct layout_result *result);
