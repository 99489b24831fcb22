/* culprit completion: the script of a shell, from the tables of verbs and topics. */
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/verb.h"
#include "cmd/verbs.h"
#include "options/completion.h"
#include "options/topics.h"
#include "util/output.h"

enum shell { SHELL_BASH, SHELL_ZSH, SHELL_FISH, SHELLS };
static const char *const SHELL_NAMES[SHELLS] = {"bash", "zsh", "fish"};

struct job {
    struct verb_run verb;
    enum shell shell;
    bool given;
};

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
    static void (*const WRITE[SHELLS])(const struct completed *,
                                       FILE *) = {completion_bash, completion_zsh, completion_fish};
    struct completed_verb verbs[verb_count];
    const char *words[topic_count];
    for (size_t i = 0; i < verb_count; i++)
        verbs[i] = (struct completed_verb){.name = verb_entries[i].name,
                                           .summary = verb_entries[i].summary,
                                           .line = verb_entries[i].verb->line};
    for (size_t i = 0; i < topic_count; i++)
        words[i] = topics[i].name;
    const struct completed completed = {.verbs = verbs,
                                        .verb_count = verb_count,
                                        .help_words = words,
                                        .help_word_count = topic_count};
    WRITE[((struct job *)verb)->shell](&completed, stdout);
    return output_flush("the script", error);
}

const struct verb verb_completion = {.line = &LINE, .size = sizeof(struct job), .report = report};
