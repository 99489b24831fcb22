/* What of culprit works on this machine, part by part, and the command that mends what does not:
 * found by study/doctor.h. */
#pragma once

#include <stddef.h>

enum finding_state {
    FINDING_WORKS,
    FINDING_LIMITED, /* something is done in another way, or left out */
    FINDING_MISSING
};

struct finding {
    const char *what; /* "programs for x86-64" */
    enum finding_state state;
    char found[320]; /* what there is, or why not */
    char mend[256];  /* a command, or ""; it may need root */
};

enum { FINDINGS_MOST = 16 };
struct doctor {
    struct finding findings[FINDINGS_MOST];
    size_t count;
};
