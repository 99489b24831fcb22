/* Whether a command runs the same program later as now, by what its file holds. */
#pragma once

#include <stdbool.h>
#include <xxhash.h>

#include "util/error.h"

struct same_program {
    const char *name; /* the command's first word */
    XXH128_hash_t contents;
    bool known; /* the file was found, and may be read */
};

/* The program as it is now; `name` is kept. */
void same_program_note(struct same_program *program, const char *name);

/* False, with an error: the file holds other code than when it was noted. One that cannot be found
 * or read passes: running it says why. */
bool same_program_check(const struct same_program *program, struct error *error);
