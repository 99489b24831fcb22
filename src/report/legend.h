/* When a report explains its words: on a terminal once, to whoever sees them for the first time,
 * and when it is asked to. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

/* The file is a terminal, and no report on one had the legend before:
 * $XDG_STATE_HOME/culprit/legend
 * (~/.local/state) is not there. */
bool legend_is_new(FILE *file);
/* Makes that file, when `file` is a terminal; where it cannot be made the next report has the
 * legend again. */
void legend_was_shown(FILE *file);
