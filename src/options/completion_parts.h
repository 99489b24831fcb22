/* Inside of completion*.c: what the scripts of all shells are made of. */
#pragma once

#include "options/completion.h"

/* An option of a verb. */
typedef void completion_visit(FILE *file, const struct completed_verb *verb,
                              const struct option_row *option);
void completion_each_option(FILE *file, const struct completed_verb *verb, completion_visit *visit);

/* What a value is. */
bool completion_is_machine(const struct option_row *option);
bool completion_is_file(const struct option_row *option);
bool completion_has_choices(const struct option_row *option);

void completion_put_choices(FILE *file, const struct option_row *option, const char *between);
/* The first clause of the help; `escaped` characters have a backslash before them. A quote, which
 * would end the word of all shells, is left out. */
void completion_put_help(FILE *file, const char *help, const char *escaped);
void completion_put_verbs(const struct completed *completed, FILE *file);
/* What 'culprit help' tells of. */
void completion_put_help_words(const struct completed *completed, FILE *file);

/* The command that lists machines, in a substitution of bash and zsh. */
#define COMPLETION_MACHINES "$(culprit machines 2>/dev/null | sed -n '2,$s/ .*//p')"
