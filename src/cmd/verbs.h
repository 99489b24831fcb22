/* The table of verbs. */
#pragma once

#include <stddef.h>

/* In the order of --help. */
struct verb_entry {
    const char *question; /* heading of a new group, or NULL */
    const char *name, *summary;
    const struct verb *verb;
};
extern const struct verb_entry verb_entries[];
extern const size_t verb_count;
