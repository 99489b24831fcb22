/* Temporary files, below $TMPDIR or /tmp: a folder for the files of one run of culprit. */
#ifndef CULPRIT_CMD_TEMPORARY_H
#define CULPRIT_CMD_TEMPORARY_H

#include "util/error.h"

/* $TMPDIR, or /tmp. */
const char *temporary_parent(void);

/* Its path, the caller's; NULL with an error. */
char *temporary_folder(struct error *error);
/* Removes it with the files in it, and frees the path. NULL: there is none. */
void temporary_remove(char *folder);

#endif
