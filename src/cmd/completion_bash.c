/* The script of bash. */
#include <stdio.h>

#include "cmd/completion.h"

static void bash_name(const struct verb_entry *entry, const struct option_row *option) {
    (void)entry;
    printf(" --%s%s", option->name, option->value && !option->optional ? "=" : "");
}

static void bash_value(const struct verb_entry *entry, const struct option_row *option) {
    if (!option->value || (!completion_is_machine(option) && !completion_is_file(option) &&
                           !completion_has_choices(option)))
        return;
    printf("    %s:--%s", entry->name, option->name);
    if (option->letter)
        printf(" | %s:-%c", entry->name, option->letter);
    fputs(") ", stdout);
    if (completion_is_machine(option)) {
        fputs("words=\"" COMPLETION_MACHINES "\"", stdout);
    } else if (completion_has_choices(option)) {
        fputs("words='", stdout);
        completion_put_choices(option, " ");
        putchar('\'');
    } else {
        fputs("files=1", stdout);
    }
    fputs(" ;;\n", stdout);
}

void completion_bash(void) {
    fputs("# Completes culprit's command line in bash: source <(culprit completion bash)\n"
          "_culprit() {\n"
          "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} "
          "verb=${COMP_WORDS[1]}\n"
          "    local i words= files=\n"
          "    COMPREPLY=()\n"
          "    if [ \"$COMP_CWORD\" = 1 ]; then\n"
          "        COMPREPLY=($(compgen -W '",
          stdout);
    completion_put_verbs();
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
        stdout);
    for (size_t i = 0; i < verb_count; i++)
        completion_each_option(&verb_entries[i], bash_value);
    fputs("    help:help) words='", stdout);
    completion_put_help_words();
    fputs("' ;;\n"
          "    esac\n"
          "    if [ -n \"$words\" ]; then\n"
          "        COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
          "        return\n"
          "    fi\n"
          "    if [ -z \"$files\" ] && [[ $word = -* ]]; then\n"
          "        case $verb in\n",
          stdout);
    for (size_t i = 0; i < verb_count; i++) {
        printf("        %s) words='--help", verb_entries[i].name);
        completion_each_option(&verb_entries[i], bash_name);
        fputs("' ;;\n", stdout);
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
          stdout);
}
