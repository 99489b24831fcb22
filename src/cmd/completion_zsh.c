/* The script of zsh. */
#include <stdio.h>

#include "cmd/completion.h"

static void zsh_option(const struct verb_entry *entry, const struct option_row *option) {
    (void)entry;
    printf("        '--%s%s[", option->name, !option->value ? "" : option->optional ? "=-" : "=");
    completion_put_help(option->help, "[]:\\");
    putchar(']');
    if (option->value) {
        printf("%s:%s:", option->optional ? ":" : "", option->value);
        if (completion_is_machine(option)) {
            fputs("_culprit_machines", stdout);
        } else if (completion_has_choices(option)) {
            putchar('(');
            completion_put_choices(option, " ");
            putchar(')');
        } else if (completion_is_file(option)) {
            fputs("_files", stdout);
        }
    }
    fputs("' \\\n", stdout);
}

void completion_zsh(void) {
    fputs("#compdef culprit\n"
          "# Completes culprit's command line in zsh: culprit completion zsh > DIR/_culprit, where "
          "DIR "
          "is in $fpath\n"
          "_culprit_machines() {\n"
          "    local -a names\n"
          "    names=(${(f)" COMPLETION_MACHINES "})\n"
          "    compadd -a names\n"
          "}\n"
          "_culprit() {\n"
          "    if ((CURRENT == 2)); then\n"
          "        local -a verbs\n"
          "        verbs=(\n",
          stdout);
    for (size_t i = 0; i < verb_count; i++) {
        printf("            '%s:", verb_entries[i].name);
        completion_put_help(verb_entries[i].summary, "\\");
        fputs("'\n", stdout);
    }
    fputs("        )\n"
          "        _describe verb verbs\n"
          "        return\n"
          "    fi\n"
          "    local verb=$words[2]\n"
          "    shift words\n"
          "    ((CURRENT--))\n"
          "    case $verb in\n",
          stdout);
    for (size_t i = 0; i < verb_count; i++) {
        printf("    %s) _arguments -S \\\n", verb_entries[i].name);
        completion_each_option(&verb_entries[i], zsh_option);
        fputs("        '*::: := _normal' ;;\n", stdout);
    }
    fputs("    help) compadd -- ", stdout);
    completion_put_help_words();
    fputs(" ;;\n"
          "    esac\n"
          "}\n"
          "_culprit \"$@\"\n",
          stdout);
}
