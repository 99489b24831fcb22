/* culprit completion: scripts by which shells complete verbs, options and their values, made from
 * the tables of options. */
#include <stdio.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/topics.h"
#include "cmd/verb.h"
#include "cmd/verbs.h"

enum shell { SHELL_BASH, SHELL_ZSH, SHELL_FISH, SHELLS };
static const char *const SHELL_NAMES[SHELLS] = {"bash", "zsh", "fish"};

struct job {
    struct verb_run verb;
    enum shell shell;
    bool given;
};

/* An option of a verb. */
typedef void visit_option(const struct verb_entry *entry, const struct option_row *option);

static void each_of_group(const struct verb_entry *entry, const struct option_group *group,
                          visit_option *visit) {
    for (const struct option_row *option = group->options; option && option->kind; option++)
        if (option->kind != OPTION_HEADING && option->name)
            visit(entry, option);
}

static void each_option(const struct verb_entry *entry, visit_option *visit) {
    each_of_group(entry, &entry->verb->line->own, visit);
    for (const struct option_part *part = entry->verb->line->parts; part && part->group; part++)
        each_of_group(entry, part->group, visit);
}

/* ---- what a value is ---- */

static bool is_machine(const struct option_row *option) {
    return !strcmp(option->name, "machine");
}

static bool is_file(const struct option_row *option) {
    return option->kind == OPTION_FILE ||
           (option->value && (strstr(option->value, "FILE") ||
                              (!strcmp(option->name, "regions") && strstr(option->value, "LIST"))));
}

static bool has_choices(const struct option_row *option) {
    return option->kind == OPTION_CHOICE && option->names;
}

static void put_choices(const struct option_row *option, const char *between) {
    bool begun = false;
    for (uint64_t i = 0; i < option->most; i++) {
        if (!option->names[i])
            continue;
        printf("%s%s", begun ? between : "", option->names[i]);
        begun = true;
    }
}

/* The first clause of the help; `escaped` characters have a backslash before them. A quote, which
 * would end the word of all shells, is left out. */
static void put_help(const char *help, const char *escaped) {
    enum { MOST = 72 };
    for (int i = 0; help && help[i] && i < MOST && help[i] != ';'; i++) {
        if (help[i] == '\'')
            continue;
        if (strchr(escaped, help[i]))
            putchar('\\');
        putchar(help[i]);
    }
}

static void put_verbs(void) {
    for (size_t i = 0; i < verb_count; i++)
        printf("%s%s", i ? " " : "", verb_entries[i].name);
}

#define MACHINES "$(culprit machines 2>/dev/null | sed -n '2,$s/ .*//p')"

/* ---- bash ---- */

static void bash_name(const struct verb_entry *entry, const struct option_row *option) {
    (void)entry;
    printf(" --%s%s", option->name, option->value && !option->optional ? "=" : "");
}

static void bash_value(const struct verb_entry *entry, const struct option_row *option) {
    if (!option->value || (!is_machine(option) && !is_file(option) && !has_choices(option)))
        return;
    printf("    %s:--%s", entry->name, option->name);
    if (option->letter)
        printf(" | %s:-%c", entry->name, option->letter);
    fputs(") ", stdout);
    if (is_machine(option)) {
        fputs("words=\"" MACHINES "\"", stdout);
    } else if (has_choices(option)) {
        fputs("words='", stdout);
        put_choices(option, " ");
        putchar('\'');
    } else {
        fputs("files=1", stdout);
    }
    fputs(" ;;\n", stdout);
}

/* What 'culprit help' tells of. */
static void put_help_words(void) {
    put_verbs();
    fputs(" topics", stdout);
    for (size_t i = 0; i < topic_count; i++)
        printf(" %s", topics[i].name);
}

static void put_bash(void) {
    fputs("# Completes culprit's command line in bash: source <(culprit completion bash)\n"
          "_culprit() {\n"
          "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} "
          "verb=${COMP_WORDS[1]}\n"
          "    local i words= files=\n"
          "    COMPREPLY=()\n"
          "    if [ \"$COMP_CWORD\" = 1 ]; then\n"
          "        COMPREPLY=($(compgen -W '",
          stdout);
    put_verbs();
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
        each_option(&verb_entries[i], bash_value);
    fputs("    help:help) words='", stdout);
    put_help_words();
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
        each_option(&verb_entries[i], bash_name);
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

/* ---- zsh ---- */

static void zsh_option(const struct verb_entry *entry, const struct option_row *option) {
    (void)entry;
    printf("        '--%s%s[", option->name, !option->value ? "" : option->optional ? "=-" : "=");
    put_help(option->help, "[]:\\");
    putchar(']');
    if (option->value) {
        printf("%s:%s:", option->optional ? ":" : "", option->value);
        if (is_machine(option)) {
            fputs("_culprit_machines", stdout);
        } else if (has_choices(option)) {
            putchar('(');
            put_choices(option, " ");
            putchar(')');
        } else if (is_file(option)) {
            fputs("_files", stdout);
        }
    }
    fputs("' \\\n", stdout);
}

static void put_zsh(void) {
    fputs("#compdef culprit\n"
          "# Completes culprit's command line in zsh: culprit completion zsh > DIR/_culprit, where "
          "DIR "
          "is in $fpath\n"
          "_culprit_machines() {\n"
          "    local -a names\n"
          "    names=(${(f)" MACHINES "})\n"
          "    compadd -a names\n"
          "}\n"
          "_culprit() {\n"
          "    if ((CURRENT == 2)); then\n"
          "        local -a verbs\n"
          "        verbs=(\n",
          stdout);
    for (size_t i = 0; i < verb_count; i++) {
        printf("            '%s:", verb_entries[i].name);
        put_help(verb_entries[i].summary, "\\");
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
        each_option(&verb_entries[i], zsh_option);
        fputs("        '*::: := _normal' ;;\n", stdout);
    }
    fputs("    help) compadd -- ", stdout);
    put_help_words();
    fputs(" ;;\n"
          "    esac\n"
          "}\n"
          "_culprit \"$@\"\n",
          stdout);
}

/* ---- fish ---- */

static void fish_option(const struct verb_entry *entry, const struct option_row *option) {
    printf("complete -c culprit -n '__fish_seen_subcommand_from %s' -l %s", entry->name,
           option->name);
    if (option->letter)
        printf(" -s %c", option->letter);
    if (option->value && !option->optional)
        fputs(is_file(option) ? " -rF" : " -x", stdout);
    if (is_machine(option)) {
        fputs(" -a '(culprit machines 2>/dev/null | string match -rg \"^(\\\\S+)\" | tail -n +2)'",
              stdout);
    } else if (has_choices(option)) {
        fputs(" -a '", stdout);
        put_choices(option, " ");
        putchar('\'');
    }
    fputs(" -d '", stdout);
    put_help(option->help, "\\");
    fputs("'\n", stdout);
}

static void put_fish(void) {
    fputs("# Completes culprit's command line in fish: culprit completion fish | source\n", stdout);
    for (size_t i = 0; i < verb_count; i++) {
        printf("complete -c culprit -n __fish_use_subcommand -f -a %s -d '", verb_entries[i].name);
        put_help(verb_entries[i].summary, "\\");
        fputs("'\n", stdout);
    }
    for (size_t i = 0; i < verb_count; i++)
        each_option(&verb_entries[i], fish_option);
    fputs("complete -c culprit -n '__fish_seen_subcommand_from help' -f -a '", stdout);
    put_help_words();
    fputs("'\n", stdout);
}

/* ---- the verb ---- */

static bool take_shell(struct argp_state *state, void *request, char *value) {
    struct job *job = request;
    if (job->given)
        options_fail(state, "%s: one argument too many", value);
    job->given = true;
    for (int i = 0; i < SHELLS; i++) {
        job->shell = (enum shell)i;
        if (!strcmp(value, SHELL_NAMES[i]))
            return true;
    }
    options_fail(state, "%s: one of bash, zsh, fish", value);
}

static void check(struct argp_state *state, void *request) {
    if (!((struct job *)request)->given)
        options_fail(state, "of which shell? bash, zsh or fish");
}

static const struct command_line LINE = {
    .own = {.argument = take_shell, .end = check},
    .arguments = "bash|zsh|fish",
    .help = "Prints a script by which a shell completes verbs, options and their values."
            "\vExample:\n  source <(culprit completion bash)\n\n"
            "'make install' puts the scripts where shells look for them."};

static bool report(void *verb, struct error *error) {
    static void (*const PUT[SHELLS])(void) = {put_bash, put_zsh, put_fish};
    PUT[((struct job *)verb)->shell]();
    return verb_flush("the script", error);
}

const struct verb verb_completion = {.line = &LINE, .size = sizeof(struct job), .report = report};
