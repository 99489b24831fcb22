/* A command as one text, with which a shell would run it: its words are quoted where they must be,
 * as text_put_word() does. Files of earlier versions have the words as they are, joined by spaces.
 */
#pragma once

#include <stdbool.h>

/* "python3 -c 'print(1)'", to be freed; NULL: out of memory. */
char *quoted_command(char *const *words);

/* Whether a text is what quoted_command() makes of the words that a shell would find in it. Joined
 * words that need no quotes are, too. */
bool quoted_command_is(const char *text);

/* Its first word without quotes, to be freed; of other texts what is before the first space. NULL:
 * out of memory. */
char *quoted_command_program(const char *command);

/* Whether two are one command: the same text, or either has the joined words of the other. */
bool quoted_command_same(const char *one, const char *other);
