/* What `culprit daemon --status` tells. */
#pragma once

#include <stdio.h>

#include "live/daemon_status.h"

void daemon_status_text(const struct daemon_status *status, FILE *file);
