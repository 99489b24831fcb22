/* What of culprit works on this machine: each part tried as a verb would use it, and, of what does
 * not work, the command that mends it. */
#pragma once

#include <stdbool.h>
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

/* Takes about a second: a program is captured. */
void doctor_look(struct doctor *doctor);
/* Whether nothing is missing. */
bool doctor_is_well(const struct doctor *doctor);
