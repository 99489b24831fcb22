/* The rows of all groups become one table of argp's, whose keys are their places in it; what is set
 * by a key follows from the row. argp reads options in order, so that those of the command stay the
 * command's: the first argument that is no option begins it. argp itself stays silent about
 * mistakes (ARGP_NO_ERRS), which it would say in two lines; the tables tell what was wrong. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options/exit_status.h"
#include "options/option_parsing.h"
#include "util/ascii_stream.h"
#include "util/output.h"

enum { KEY_HELP = 1023, KEY_FIRST = 1024 };

static int key_of(const struct option_row *option, int place) {
    return option->letter ? option->letter : KEY_FIRST + place;
}

static void add_row(struct parsing *parsing, const struct option_row *option, void *request,
                    const struct argp_option *row) {
    const int place = parsing->count++;
    if (place >= OPTIONS_MOST)
        abort(); /* a larger table */
    parsing->rows[place].option = option;
    parsing->rows[place].request = request;
    parsing->table[place] = *row;
}

/* A verb's own row stands for one of that name that verbs share. */
static bool has_row(const struct parsing *parsing, const char *name) {
    for (int i = 0; name && i < parsing->count; i++)
        if (parsing->table[i].name && !strcmp(parsing->table[i].name, name))
            return true;
    return false;
}

static void add_group(struct parsing *parsing, const struct option_group *group, void *request) {
    for (const struct option_row *option = group->options; option && option->kind; option++) {
        const bool heading = option->kind == OPTION_HEADING;
        if (has_row(parsing, option->name))
            continue;
        add_row(parsing, option, request,
                &(struct argp_option){.name = option->name,
                                      .key = heading ? 0 : key_of(option, parsing->count),
                                      .arg = option->value,
                                      .flags = option->optional ? OPTION_ARG_OPTIONAL : 0,
                                      .doc = option->help,
                                      .group = option->group});
        if (option->alias)
            add_row(parsing, option, request,
                    &(struct argp_option){.name = option->alias,
                                          .key = key_of(option, parsing->count),
                                          .flags = OPTION_ALIAS});
    }
}

static void *request_of(const struct parsing *parsing, const struct option_part *part) {
    return (char *)parsing->request + part->member;
}

static void begin(const struct parsing *parsing) {
    const struct command_line *line = parsing->line;
    if (line->own.begin)
        line->own.begin(parsing->request);
    for (const struct option_part *part = line->parts; part && part->group; part++)
        if (part->group->begin)
            part->group->begin(request_of(parsing, part));
}

static bool take_argument(const struct parsing *parsing, struct argp_state *state, char *value) {
    const struct command_line *line = parsing->line;
    if (line->own.argument && line->own.argument(state, parsing->request, value))
        return true;
    for (const struct option_part *part = line->parts; part && part->group; part++)
        if (part->group->argument && part->group->argument(state, request_of(parsing, part), value))
            return true;
    return false;
}

/* What verbs share is checked first. */
static void end(const struct parsing *parsing, struct argp_state *state) {
    const struct command_line *line = parsing->line;
    for (const struct option_part *part = line->parts; part && part->group; part++)
        if (part->group->end)
            part->group->end(state, request_of(parsing, part));
    if (line->own.end)
        line->own.end(state, parsing->request);
}

/* "--tap", "VALUE", or "--tap=VALUE" */
static void leave_out(char **words, const struct argp_state *state, const char *value) {
    const int last = state->next - 1;
    if (value && state->argv[last] == value)
        words[last - 1] = NULL;
    words[last] = NULL;
}

static bool set_option(struct parsing *parsing, struct argp_state *state, int key, char *value) {
    for (int i = 0; i < parsing->count; i++) {
        const struct option_row *option = parsing->rows[i].option;
        if (option->kind == OPTION_HEADING || key_of(option, i) != key)
            continue;
        if (option->not_again)
            leave_out(parsing->words, state, value);
        option_set(state, option, parsing->rows[i].request, value);
        option_note_file(parsing, option, parsing->rows[i].request, value);
        return true;
    }
    return false;
}

char **options_take_command(struct argp_state *state) {
    char **command = &state->argv[state->next - 1];
    state->next = state->argc;
    return command;
}

bool options_quoted(const struct argp_state *state) {
    return state->quoted && state->next > state->quoted;
}

static error_t parse(int key, char *value, struct argp_state *state) {
    struct parsing *parsing = state->input;
    struct error error;
    switch (key) {
    case KEY_HELP:
        argp_help(state->root_argp, shown_stream(stdout),
                  ARGP_HELP_USAGE | ARGP_HELP_LONG | ARGP_HELP_DOC, state->argv[0]);
        if (output_flush("cannot write", &error))
            exit(0);
        fprintf(stderr, "culprit: %s\n", error.message);
        exit(STATUS_FAILED);
    case ARGP_KEY_INIT:
        begin(parsing);
        return 0;
    case ARGP_KEY_ARG:
        if (!parsing->first)
            parsing->first = state->next - 1;
        if (!take_argument(parsing, state, value))
            options_fail(state, "%s: takes no argument (see '%s --help')", value, state->argv[0]);
        return 0;
    case ARGP_KEY_END:
        end(parsing, state);
        option_check_files(state, parsing);
        return 0;
    case ARGP_KEY_ERROR:
        option_explain_mistake(state, parsing);
        return 0;
    default:
        return set_option(parsing, state, key, value) ? 0 : ARGP_ERR_UNKNOWN;
    }
}

char **options_parse(const struct command_line *line, int argc, char **argv, void *request) {
    struct parsing parsing = {
        .line = line, .request = request, .words = calloc((size_t)argc + 1, sizeof(char *))};
    if (!parsing.words) {
        fputs("culprit: out of memory\n", stderr);
        exit(STATUS_BROKEN);
    }
    memcpy(parsing.words, argv, (size_t)argc * sizeof *argv);
    add_group(&parsing, &line->own, request);
    for (const struct option_part *part = line->parts; part && part->group; part++)
        add_group(&parsing, part->group, request_of(&parsing, part));
    parsing.table[parsing.count] =
        (struct argp_option){.name = "help", .key = KEY_HELP, .doc = "Show this", .group = -1};
    const struct argp argp = {.options = parsing.table,
                              .parser = parse,
                              .args_doc = line->arguments,
                              .doc = line->help,
                              .help_filter = line->filter};
    argp_parse(&argp, argc, argv, ARGP_IN_ORDER | ARGP_NO_ERRS | ARGP_NO_HELP, NULL, &parsing);
    return parsing.words;
}
