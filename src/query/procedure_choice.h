/* Which procedures of a set of profiles are meant, and whose code of them can be read. */
#pragma once

#include "live/proc_files.h"
#include "query/procedure_profile.h"
#include "query/profile_table.h"

struct procedure_query {
    const char *text; /* "longest_match", mangled or readable, with or without parameters, or the
                         end of one name ("classify" of "Ns::Class<int>::classify(int)");
                         "IMAGE:NAME", "IMAGE+0xOFFSET" in the file, "0xADDRESS"; NULL: those
                         with most samples */
    const char *image, *process;    /* only of these; NULL: of all */
    const struct live_roots *roots; /* where a kernel's code is looked for; NULL: here */
    double least; /* without a text: share of all values, 0 to 1; 0: the one that has
                     most and can be read */
};

struct procedure_choice {
    char *name;                     /* "longest_match", "gzip+0x4f20" */
    struct procedure_extent extent; /* its build is the store's */
    uint32_t image;                 /* number in `program` */
};

struct procedure_choices {
    struct procedure_choice *items; /* most values first */
    size_t count, capacity;
    char *note; /* on what was chosen, and from what; NULL: nothing to say */
};

/* False, with one line that says what to do: there is none, its code cannot be read (JIT
 * code, a file that has changed, a kernel that runs no more or shows none of its memory), the store
 * cannot be read, or memory is out. Those of several that cannot be read are left out, with a note.
 * procedure_choices_free() either way. */
bool procedure_choose(struct procedure_choices *choices, const struct profile_set *set,
                      const struct profile_event *event, const struct procedure_query *query,
                      struct program *program, struct error *error);
void procedure_choices_free(struct procedure_choices *choices);
