/* What the scripts of all shells are made of. */
#include "cmd/completion.h"

#include <stdio.h>
#include <string.h>

#include "cmd/topics.h"

static void each_of_group(const struct verb_entry *entry, const struct option_group *group,
                          completion_visit *visit) {
    for (const struct option_row *option = group->options; option && option->kind; option++)
        if (option->kind != OPTION_HEADING && option->name)
            visit(entry, option);
}

void completion_each_option(const struct verb_entry *entry, completion_visit *visit) {
    each_of_group(entry, &entry->verb->line->own, visit);
    for (const struct option_part *part = entry->verb->line->parts; part && part->group; part++)
        each_of_group(entry, part->group, visit);
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

void completion_put_choices(const struct option_row *option, const char *between) {
    bool begun = false;
    for (uint64_t i = 0; i < option->most; i++) {
        if (!option->names[i])
            continue;
        printf("%s%s", begun ? between : "", option->names[i]);
        begun = true;
    }
}

void completion_put_help(const char *help, const char *escaped) {
    enum { MOST = 72 };
    for (int i = 0; help && help[i] && i < MOST && help[i] != ';'; i++) {
        if (help[i] == '\'')
            continue;
        if (strchr(escaped, help[i]))
            putchar('\\');
        putchar(help[i]);
    }
}

void completion_put_verbs(void) {
    for (size_t i = 0; i < verb_count; i++)
        printf("%s%s", i ? " " : "", verb_entries[i].name);
}

void completion_put_help_words(void) {
    completion_put_verbs();
    fputs(" topics", stdout);
    for (size_t i = 0; i < topic_count; i++)
        printf(" %s", topics[i].name);
}
