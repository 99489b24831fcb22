/* Ctrl-C and SIGTERM end a run early but in order: the first one asks for the partial report, a
 * second one, a quarter of a second later or more, kills culprit as usual. */
#ifndef CULPRIT_CMD_INTERRUPT_H
#define CULPRIT_CMD_INTERRUPT_H

#include <signal.h>

#include "trace/region_capture.h"
#include "trace/trace.h"

/* Becomes the number of the signal that asked to end. */
extern volatile sig_atomic_t interrupt_signal;

/* The signal that asked to end what was done so far, which is forgotten: 0: none did. What follows
 * is ended by the next one. */
int interrupt_take(void);

/* From now on SIGINT and SIGTERM set interrupt_signal and interrupt the trace. */
void interrupt_catch(void);
/* The trace to interrupt; NULL: none (before it is closed). */
void interrupt_watch(struct trace *trace);
/* Likewise a capture of regions. */
void interrupt_watch_regions(struct region_capture *regions);

/* --on-signal: from now on this signal begins the capture, and a line on standard error says that
 * it is waited for. What becomes its number then; NULL when `signal` is 0: none is. */
const volatile sig_atomic_t *interrupt_await(int signal);

/* Exit status for a command that has ended, as a shell gives it; when it is not known how it ended,
 * that of the signal that ended the run, or STATUS_BROKEN. */
int command_status(struct trace_exit exit);

#endif
