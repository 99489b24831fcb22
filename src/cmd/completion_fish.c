/* The script of fish. */
#include <stdio.h>

#include "cmd/completion.h"

static void fish_option(const struct verb_entry *entry, const struct option_row *option) {
    printf("complete -c culprit -n '__fish_seen_subcommand_from %s' -l %s", entry->name,
           option->name);
    if (option->letter)
        printf(" -s %c", option->letter);
    if (option->value && !option->optional)
        fputs(completion_is_file(option) ? " -rF" : " -x", stdout);
    if (completion_is_machine(option)) {
        fputs(" -a '(culprit machines 2>/dev/null | string match -rg \"^(\\\\S+)\" | tail -n +2)'",
              stdout);
    } else if (completion_has_choices(option)) {
        fputs(" -a '", stdout);
        completion_put_choices(option, " ");
        putchar('\'');
    }
    fputs(" -d '", stdout);
    completion_put_help(option->help, "\\");
    fputs("'\n", stdout);
}

void completion_fish(void) {
    fputs("# Completes culprit's command line in fish: culprit completion fish | source\n", stdout);
    for (size_t i = 0; i < verb_count; i++) {
        printf("complete -c culprit -n __fish_use_subcommand -f -a %s -d '", verb_entries[i].name);
        completion_put_help(verb_entries[i].summary, "\\");
        fputs("'\n", stdout);
    }
    for (size_t i = 0; i < verb_count; i++)
        completion_each_option(&verb_entries[i], fish_option);
    fputs("complete -c culprit -n '__fish_seen_subcommand_from help' -f -a '", stdout);
    completion_put_help_words();
    fputs("'\n", stdout);
}
