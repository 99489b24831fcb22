/* Ctrl-C and SIGTERM end a run early but in order: the first one asks for the partial report, a
 * second one, a quarter of a second later or more, kills culprit as usual. */
#ifndef CULPRIT_CMD_INTERRUPT_H
#define CULPRIT_CMD_INTERRUPT_H

#include <signal.h>

#include "study/study.h"

/* Of the verb that runs; main() gives it the stream of its progress. */
extern struct watch verb_watch;

/* From now on SIGINT and SIGTERM interrupt it. */
void interrupt_catch(void);

/* --on-signal: from now on this signal begins the capture, and a line on standard error says that
 * it is waited for. What becomes its number then; NULL when `signal` is 0: none is. */
const volatile sig_atomic_t *interrupt_await(int signal);

/* --for: a line on standard error: for how long, and what the command's clients will see. */
void interrupt_announce(double seconds);

/* Exit status for a command that has ended, as a shell gives it; when it is not known how it ended,
 * that of the signal that ended the run, or STATUS_BROKEN. */
int command_status(struct trace_exit exit);

#endif
