/* The script of zsh. */
#include <stdio.h>

#include "options/completion_parts.h"

static void zsh_option(FILE *file, const struct completed_verb *verb,
                       const struct option_row *option) {
    (void)verb;
    fprintf(file, "        '--%s%s[", option->name,
            !option->value     ? ""
            : option->optional ? "=-"
                               : "=");
    completion_put_help(file, option->help, "[]:\\");
    fputc(']', file);
    if (option->value) {
        fprintf(file, "%s:%s:", option->optional ? ":" : "", option->value);
        if (completion_is_machine(option)) {
            fputs("_culprit_machines", file);
        } else if (completion_has_choices(option)) {
            fputc('(', file);
            completion_put_choices(file, option, " ");
            fputc(')', file);
        } else if (completion_is_file(option)) {
            fputs("_files", file);
        }
    }
    fputs("' \\\n", file);
}

void completion_zsh(const struct completed *completed, FILE *file) {
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
          file);
    for (size_t i = 0; i < completed->verb_count; i++) {
        fprintf(file, "            '%s:", completed->verbs[i].name);
        completion_put_help(file, completed->verbs[i].summary, "\\");
        fputs("'\n", file);
    }
    fputs("        )\n"
          "        _describe verb verbs\n"
          "        return\n"
          "    fi\n"
          "    local verb=$words[2]\n"
          "    shift words\n"
          "    ((CURRENT--))\n"
          "    case $verb in\n",
          file);
    for (size_t i = 0; i < completed->verb_count; i++) {
        fprintf(file, "    %s) _arguments -S \\\n", completed->verbs[i].name);
        completion_each_option(file, &completed->verbs[i], zsh_option);
        fputs("        '*::: := _normal' ;;\n", file);
    }
    fputs("    help) compadd -- ", file);
    completion_put_help_words(completed, file);
    fputs(" ;;\n"
          "    esac\n"
          "}\n"
          "_culprit \"$@\"\n",
          file);
}
