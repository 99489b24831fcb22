/* Temporary files, below $TMPDIR or /tmp: a folder for the files of one run of culprit, or a trace.
 *
 * Nothing outlives a culprit that is killed for long: a trace has no name, and goes with the
 * process that has it open; a folder is locked (flock(2)) by whoever made it, and what nobody has
 * locked any more is removed by the next one that makes a folder. */
#pragma once

#include <stdatomic.h>

#include "util/error.h"

enum { TEMPORARIES = 64 };

/* What there is, and the names of all that there were, as far as they have a place here. All zero
 * at first. */
struct temporaries {
    char *_Atomic paths[TEMPORARIES], *_Atomic names[TEMPORARIES];
    int locks[TEMPORARIES]; /* of each path: descriptor + 1; 0: none */
    bool swept;             /* what others left behind has been looked for */
};

/* $TMPDIR, or /tmp. */
const char *temporary_parent(void);

/* The path of a new folder; NULL with an error. temporary_remove() takes it. */
char *temporary_folder(struct temporaries *temporaries, struct error *error);

/* The path of a new, empty file for a trace, which this process alone can open; NULL with an error,
 * which names the `option` that needs it. temporary_remove() takes it. */
char *temporary_trace(struct temporaries *temporaries, const char *option, struct error *error);

/* Removes it, a folder with the files in it, and frees the path. NULL: there is none. */
void temporary_remove(struct temporaries *temporaries, char *path);

/* Takes out of an error the names of such files, and of what lies in such folders, which are gone
 * when it is read: "region 3: /tmp/culprit-aX3f/r3.ctrace: ..." -> "region 3: a temporary file in
 * /tmp: ...". */
void temporary_unname(const struct temporaries *temporaries, struct error *error);

/* Removes all that there are: for a signal handler that ends culprit, safe there. */
void temporary_abandon(const struct temporaries *temporaries);

/* Frees the names; what there is still stays. */
void temporaries_free(struct temporaries *temporaries);
