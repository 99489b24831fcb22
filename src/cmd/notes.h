/* Notes that reports of several verbs have in common. */
#ifndef CULPRIT_CMD_NOTES_H
#define CULPRIT_CMD_NOTES_H

#include "cmd/options.h"
#include "report/report.h"

/* What the capture warned of, and which processes are in it. True when there were processes that
 * are not included. */
bool note_trace(struct report *report, const struct trace *trace);

/* The error of a run in which nothing was selected that could be `done`: "simulated"; false. */
bool explain_nothing(const struct input_options *input, const struct trace *trace, const char *done,
                     struct error *error);

/* Why functions of costly images have no names. */
void note_images(struct report *report, const struct code *code, struct program *program);

#endif
