/* What the files of culprit completion share: they print to standard output, from the tables of
 * options. */
#pragma once

#include <stdbool.h>

#include "cmd/verb.h"
#include "cmd/verbs.h"

/* An option of a verb. */
typedef void completion_visit(const struct verb_entry *entry, const struct option_row *option);
void completion_each_option(const struct verb_entry *entry, completion_visit *visit);

/* What a value is. */
bool completion_is_machine(const struct option_row *option);
bool completion_is_file(const struct option_row *option);
bool completion_has_choices(const struct option_row *option);

void completion_put_choices(const struct option_row *option, const char *between);
/* The first clause of the help; `escaped` characters have a backslash before them. A quote, which
 * would end the word of all shells, is left out. */
void completion_put_help(const char *help, const char *escaped);
void completion_put_verbs(void);
/* What 'culprit help' tells of. */
void completion_put_help_words(void);

/* The command that lists machines, in a substitution of bash and zsh. */
#define COMPLETION_MACHINES "$(culprit machines 2>/dev/null | sed -n '2,$s/ .*//p')"

/* The scripts. */
void completion_bash(void);
void completion_zsh(void);
void completion_fish(void);
