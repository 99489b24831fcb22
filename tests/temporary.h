/* Files and directories for the time of a test, where $TMPDIR says or in /tmp. */
#pragma once

#include <stdio.h>
#include <stdlib.h>

enum { TEMPORARY_BYTES = 128 };

/* For mkstemp() and mkdtemp(). A TMPDIR that is too long is passed over. */
static inline char *temporary_name(char path[TEMPORARY_BYTES], const char *test) {
    const char *folder = getenv("TMPDIR");
    int size = folder && *folder
                   ? snprintf(path, TEMPORARY_BYTES, "%s/culprit-%s-XXXXXX", folder, test)
                   : TEMPORARY_BYTES;
    if (size >= TEMPORARY_BYTES)
        snprintf(path, TEMPORARY_BYTES, "/tmp/culprit-%s-XXXXXX", test);
    return path;
}
