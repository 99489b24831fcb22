/* The next useful command: what was typed, with the one option that shows more. */
#ifndef CULPRIT_CMD_NEXT_H
#define CULPRIT_CMD_NEXT_H

#include "report/report.h"

/* Quoted for a shell; to be freed; NULL when there is nothing to suggest. `unfollowed`: --follow
 * would include more processes. argv[0] is "culprit VERB"; words that are NULL are left out. */
char *next_command(const struct report *report, bool unfollowed, int argc, char **argv);
/* What was typed, with this option in front of the others; likewise. */
char *next_with_option(const char *option, int argc, char **argv);

#endif
