/* What `culprit daemon --status` tells. */
#ifndef CULPRIT_REPORT_DAEMON_STATUS_H
#define CULPRIT_REPORT_DAEMON_STATUS_H

#include <stdio.h>

#include "live/daemon_status.h"

void daemon_status_text(const struct daemon_status *status, FILE *file);

#endif
