/* Scripts by which shells complete verbs, options and their values, made from the tables of
 * options. */
#pragma once

#include <stdio.h>

#include "options/option.h"

struct completed_verb {
    const char *name, *summary;
    const struct command_line *line;
};

/* What there is to complete. */
struct completed {
    const struct completed_verb *verbs;
    size_t verb_count;
    const char *const *help_words; /* what 'culprit help' tells of, beside verbs and "topics" */
    size_t help_word_count;
};

void completion_bash(const struct completed *completed, FILE *file);
void completion_zsh(const struct completed *completed, FILE *file);
void completion_fish(const struct completed *completed, FILE *file);
