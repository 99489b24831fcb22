/* Inside of this room: what may have been meant by a name that is not there. */
#pragma once

#include "query/profile_table.h"

enum { NAMES_TOLD = 4 };

/* A list of names for a message: 'Ns::f', 'Ns::g', ... */
struct name_list {
    char text[900];
    size_t count; /* also those that are not in the text */
};

/* A procedure, as it can be chosen by. Those beyond NAMES_TOLD are only counted. */
void name_list_add_procedure(struct name_list *list, const char *procedure);

/* Those of the table's procedures that have the name in theirs, in small or capital letters, then
 * those whose last word is some letters different, of each those with most values first. */
void near_procedures(struct name_list *list, const struct profile_table *table, const char *name);

/* Adds a name that has `wanted` in it, or is some letters different, if it is not there. */
void name_list_add_near(struct name_list *list, const char *name, const char *wanted);
