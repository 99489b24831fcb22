/* The script of bash. */
#include <stdio.h>

#include "options/completion_parts.h"

static void bash_name(FILE *file, const struct completed_verb *verb,
                      const struct option_row *option) {
    (void)verb;
    fprintf(file, " --%s%s", option->name, option->value && !option->optional ? "=" : "");
}

static void bash_value(FILE *file, const struct completed_verb *verb,
                       const struct option_row *option) {
    if (!option->value || (!completion_is_machine(option) && !completion_is_file(option) &&
                           !completion_has_choices(option)))
        return;
    fprintf(file, "    %s:--%s", verb->name, option->name);
    if (option->letter)
        fprintf(file, " | %s:-%c", verb->name, option->letter);
    fputs(") ", file);
    if (completion_is_machine(option)) {
        fputs("words=\"" COMPLETION_MACHINES "\"", file);
    } else if (completion_has_choices(option)) {
        fputs("words='", file);
        completion_put_choices(file, option, " ");
        fputc('\'', file);
    } else {
        fputs("files=1", file);
    }
    fputs(" ;;\n", file);
}

void completion_bash(const struct completed *completed, FILE *file) {
    fputs("# Completes culprit's command line in bash: source <(culprit completion bash)\n"
          "_culprit() {\n"
          "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} "
          "verb=${COMP_WORDS[1]}\n"
          "    local i words= files=\n"
          "    COMPREPLY=()\n"
          "    if [ \"$COMP_CWORD\" = 1 ]; then\n"
          "        COMPREPLY=($(compgen -W '",
          file);
    completion_put_verbs(completed, file);
    fputs(
        " help' -- \"$word\"))\n"
        "        return\n"
        "    fi\n"
        "    [ \"$word\" = = ] && word=\n"
        "    [ \"$before\" = = ] && before=${COMP_WORDS[COMP_CWORD-2]}\n"
        "    [ \"${COMP_WORDS[COMP_CWORD]}\" = = ] && before=${COMP_WORDS[COMP_CWORD-1]}\n"
        "    for ((i = 2; i < COMP_CWORD; i++)); do # a command's words are its own\n"
        "        if [ \"${COMP_WORDS[i]}\" = -- ] && declare -F _command_offset >/dev/null; then\n"
        "            _command_offset $((i + 1))\n"
        "            return\n"
        "        fi\n"
        "    done\n"
        "    case $verb:$before in\n",
        file);
    for (size_t i = 0; i < completed->verb_count; i++)
        completion_each_option(file, &completed->verbs[i], bash_value);
    fputs("    help:help) words='", file);
    completion_put_help_words(completed, file);
    fputs("' ;;\n"
          "    esac\n"
          "    if [ -n \"$words\" ]; then\n"
          "        COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
          "        return\n"
          "    fi\n"
          "    if [ -z \"$files\" ] && [[ $word = -* ]]; then\n"
          "        case $verb in\n",
          file);
    for (size_t i = 0; i < completed->verb_count; i++) {
        fprintf(file, "        %s) words='--help", completed->verbs[i].name);
        completion_each_option(file, &completed->verbs[i], bash_name);
        fputs("' ;;\n", file);
    }
    fputs("        esac\n"
          "        COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
          "        [[ ${#COMPREPLY[@]} = 1 && ${COMPREPLY[0]} = *= ]] && compopt -o nospace\n"
          "        return\n"
          "    fi\n"
          "    compopt -o filenames\n"
          "    COMPREPLY=($(compgen -f -- \"$word\"))\n"
          "}\n"
          "complete -F _culprit culprit\n",
          file);
}
