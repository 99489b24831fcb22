/* What the scripts of all shells are made of. */
#include "options/completion_parts.h"

#include <stdio.h>
#include <string.h>

static void each_of_group(FILE *file, const struct completed_verb *verb,
                          const struct option_group *group, completion_visit *visit) {
    for (const struct option_row *option = group->options; option && option->kind; option++)
        if (option->kind != OPTION_HEADING && option->name)
            visit(file, verb, option);
}

void completion_each_option(FILE *file, const struct completed_verb *verb,
                            completion_visit *visit) {
    each_of_group(file, verb, &verb->line->own, visit);
    for (const struct option_part *part = verb->line->parts; part && part->group; part++)
        each_of_group(file, verb, part->group, visit);
}

bool completion_is_machine(const struct option_row *option) {
    return !strcmp(option->name, "machine");
}

bool completion_is_file(const struct option_row *option) {
    return option->kind == OPTION_FILE ||
           (option->value && (strstr(option->value, "FILE") ||
                              (!strcmp(option->name, "regions") && strstr(option->value, "LIST"))));
}

bool completion_has_choices(const struct option_row *option) {
    return option->kind == OPTION_CHOICE && option->names;
}

void completion_put_choices(FILE *file, const struct option_row *option, const char *between) {
    bool begun = false;
    for (uint64_t i = 0; i < option->most; i++) {
        if (!option->names[i])
            continue;
        fprintf(file, "%s%s", begun ? between : "", option->names[i]);
        begun = true;
    }
}

void completion_put_help(FILE *file, const char *help, const char *escaped) {
    enum { MOST = 72 };
    for (int i = 0; help && help[i] && i < MOST && help[i] != ';'; i++) {
        if (help[i] == '\'')
            continue;
        if (strchr(escaped, help[i]))
            fputc('\\', file);
        fputc(help[i], file);
    }
}

void completion_put_verbs(const struct completed *completed, FILE *file) {
    for (size_t i = 0; i < completed->verb_count; i++)
        fprintf(file, "%s%s", i ? " " : "", completed->verbs[i].name);
}

void completion_put_help_words(const struct completed *completed, FILE *file) {
    completion_put_verbs(completed, file);
    fputs(" topics", file);
    for (size_t i = 0; i < completed->help_word_count; i++)
        fprintf(file, " %s", completed->help_words[i]);
}
