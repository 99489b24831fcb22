/* --limit: what becomes of the command when it is reached. */
#ifndef CULPRIT_CMD_LIMIT_H
#define CULPRIT_CMD_LIMIT_H

#include <stdbool.h>

#include "trace/trace.h"
#include "util/progress.h"

/* What --stop does, as the help says it. */
#define LIMIT_STOP_HELP "Kill the command when --limit is reached, rather than let it run on"

/* The limit is `capture->limit`; while the command runs on behind it, `progress`, which begins with
 * that total, or NULL, says so. */
void limit_watch(struct capture_options *capture, bool stop, struct progress *progress);

#endif
