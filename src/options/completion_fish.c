/* The script of fish. */
#include <stdio.h>

#include "options/completion_parts.h"

static void fish_option(FILE *file, const struct completed_verb *verb,
                        const struct option_row *option) {
    fprintf(file, "complete -c culprit -n '__fish_seen_subcommand_from %s' -l %s", verb->name,
            option->name);
    if (option->letter)
        fprintf(file, " -s %c", option->letter);
    if (option->value && !option->optional)
        fputs(completion_is_file(option) ? " -rF" : " -x", file);
    if (completion_is_machine(option)) {
        fputs(" -a '(culprit machines 2>/dev/null | string match -rg \"^(\\\\S+)\" | tail -n +2)'",
              file);
    } else if (completion_has_choices(option)) {
        fputs(" -a '", file);
        completion_put_choices(file, option, " ");
        fputc('\'', file);
    }
    fputs(" -d '", file);
    completion_put_help(file, option->help, "\\");
    fputs("'\n", file);
}

void completion_fish(const struct completed *completed, FILE *file) {
    fputs("# Completes culprit's command line in fish: culprit completion fish | source\n", file);
    for (size_t i = 0; i < completed->verb_count; i++) {
        fprintf(file, "complete -c culprit -n __fish_use_subcommand -f -a %s -d '",
                completed->verbs[i].name);
        completion_put_help(file, completed->verbs[i].summary, "\\");
        fputs("'\n", file);
    }
    for (size_t i = 0; i < completed->verb_count; i++)
        completion_each_option(file, &completed->verbs[i], fish_option);
    fputs("complete -c culprit -n '__fish_seen_subcommand_from help' -f -a '", file);
    completion_put_help_words(completed, file);
    fputs("'\n", file);
}
