/* Ctrl-C and SIGTERM end a run early but in order: the first one asks for the partial report, a
 * second one, a quarter of a second later or more, kills culprit as usual; while a study waits for
 * a command on this machine, it ends that command (study/command_signals.h). */
#pragma once

#include <signal.h>

#include "study/input.h"

/* Of the verb that runs; main() gives it the stream of its progress. */
extern struct watch verb_watch;

/* From now on a signal that ends culprit, SIGPIPE included, ends what it runs as well and removes
 * its temporary files; what is ignored stays so. */
void interrupt_begin(void);

/* From now on SIGINT, SIGTERM and SIGHUP interrupt the verb. */
void interrupt_catch(void);

/* Likewise SIGQUIT and SIGPIPE, of verbs that save what they took. */
void interrupt_catch_all(void);

/* --on-signal: from now on that signal begins the capture, and a line on standard error says that
 * it is waited for; what becomes its number then, NULL: the capture begins at once. --for: a line
 * says for how long, and what the command's clients will see. */
const volatile sig_atomic_t *interrupt_await(const struct input_options *input);

/* Says that the interrupt was taken, and that what was captured until then is simulated now. */
void interrupt_tell(uint64_t instructions);
