/* The next useful command: what was typed, with the one option that shows more. */
#pragma once

#include "machine/choice.h"
#include "report/report.h"

/* Quoted for a shell; to be freed; NULL when there is nothing to suggest. `unfollowed`: --follow
 * would include more processes. argv[0] is "culprit VERB"; words that are NULL are left out;
 * `command` as below. */
char *next_command(const struct report *report, bool unfollowed, char *const *command, int argc,
                   char **argv);
/* What was typed, with this option in front of the others; likewise. */
char *next_with_option(const char *option, int argc, char **argv);
/* The same with "--NAME VALUE", which takes the place of that option where it was typed. `command`:
 * where the command begins in argv, whose own options stay; NULL: there is none. */
char *next_in_place(const char *option, char *const *command, int argc, char **argv);
/* The command by another verb, `verb` "culprit VERB", on the same machine; likewise. */
char *next_on_machine(const char *verb, const struct machine_options *machine,
                      char *const *command);
