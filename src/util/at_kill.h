/* What has still to be done when a signal ends culprit at once: programs that it runs are killed,
 * files that are not complete are removed. The one table of it is of the process, for a signal
 * handler has no other way to find it. A process that was forked does nothing of its parent's. */
#pragma once

/* From now on act(context) is done then, by a signal handler: it must be safe there. Where there
 * are more than AT_KILL_PLACES it is not done. */
enum { AT_KILL_PLACES = 256 };
void at_kill_add(void (*act)(const void *context), const void *context);
/* No longer; nothing when there is none. */
void at_kill_remove(const void *context);

/* Does all of it. Safe in a signal handler. */
void at_kill_act(void);
