/* The rows of all groups become one table of argp's, whose keys are their places in it; what is set
 * by a key follows from the row. argp reads options in order, so that those of the command stay the
 * command's: the first argument that is no option begins it. argp itself stays silent about
 * mistakes (ARGP_NO_ERRS), which it would say in two lines; the tables tell what was wrong. */
#include "cmd/option.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "util/count.h"
#include "util/duration.h"
#include "util/nearest.h"

void options_fail(const struct argp_state *state, const char *format, ...) {
    char message[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    fprintf(stderr, "%s: %s\n", state->argv[0], message);
    for (int i = 1; i < state->argc; i++)
        if (!strcmp(state->argv[i], "--"))
            exit(STATUS_BROKEN);
    exit(STATUS_USAGE);
}

/* ---- values ---- */

uint64_t options_count(const struct argp_state *state, const char *option, const char *text) {
    const char *end;
    uint64_t count;
    enum count_reading read = count_read(text, &count, &end);
    if (read == COUNT_NONE || *end)
        options_fail(state, "%s %s: not a count (a whole number, with K, M, G or T for thousands)",
                     option, text);
    if (read == COUNT_TOO_LARGE)
        options_fail(state, "%s %s: too large", option, text);
    return count;
}

uint64_t options_count_within(const struct argp_state *state, const char *option, const char *text,
                              uint64_t least, uint64_t most) {
    const uint64_t count = options_count(state, option, text);
    if (count < least || count > most)
        options_fail(state, "%s %s: from %" PRIu64 " to %" PRIu64, option, text, least, most);
    return count;
}

const char *options_file(const struct argp_state *state, const char *option, const char *path) {
    if (!strcmp(path, "-"))
        options_fail(state,
                     "%s -: standard output has the report, or what the command writes "
                     "(name a file)",
                     option);
    return path;
}

static uint64_t count_of(const struct argp_state *state, const struct option_row *option,
                         const char *text) {
    char name[64];
    snprintf(name, sizeof name, "--%s", option->name);
    const uint64_t count = options_count(state, name, text);
    const uint64_t limit = option->kind == OPTION_COUNT32 ? UINT32_MAX : UINT64_MAX;
    const uint64_t most = option->most ? option->most : limit;
    if (count >= option->least && count <= most)
        return count;
    if (option->must)
        options_fail(state, "%s %s: %s", name, text, option->must);
    if (most == limit && count > most)
        options_fail(state, "%s %s: too large", name, text);
    if (most == limit)
        options_fail(state, "%s %s: at least %" PRIu64, name, text, option->least);
    if (option->least == 0)
        options_fail(state, "%s %s: at most %" PRIu64, name, text, most);
    options_fail(state, "%s %s: from %" PRIu64 " to %" PRIu64, name, text, option->least, most);
}

static double duration_of(const struct argp_state *state, const struct option_row *option,
                          const char *text) {
    double seconds;
    if (!duration_read(text, &seconds) || seconds <= 0)
        options_fail(state, "--%s %s: a time above 0, such as 30s, 5min, 1h or 7d", option->name,
                     text);
    return seconds;
}

static double fraction_of(const struct argp_state *state, const struct option_row *option,
                          const char *text) {
    char *end;
    const double number = strtod(text, &end);
    if (end == text || *end || !(number >= 0 && number <= (double)option->most))
        options_fail(state, "--%s %s: a number from 0 to %" PRIu64, option->name, text,
                     option->most);
    return number;
}

static uint32_t choice_of(const struct argp_state *state, const struct option_row *option,
                          const char *text) {
    char list[512] = "";
    size_t used = 0, count = 0;
    for (uint32_t i = 0; i < option->most; i++)
        count += option->names[i] != NULL;
    for (uint32_t i = 0; i < option->most; i++) {
        if (!option->names[i])
            continue;
        if (!strcmp(text, option->names[i]))
            return i;
        if (used < sizeof list)
            used += (size_t)snprintf(list + used, sizeof list - used, "%s%s",
                                     !used        ? ""
                                     : count == 2 ? " or "
                                                  : ", ",
                                     option->names[i]);
    }
    options_fail(state, count == 2 ? "--%s %s: %s" : "--%s %s: one of %s", option->name, text,
                 list);
}

static void set(struct argp_state *state, const struct option_row *option, void *request,
                char *value) {
    char *const member = (char *)request + option->member;
    char name[64];
    snprintf(name, sizeof name, "--%s", option->name);
    switch (option->kind) {
    case OPTION_END:
    case OPTION_HEADING:
        break;
    case OPTION_TRUE:
    case OPTION_FALSE:
        *(bool *)member = option->kind == OPTION_TRUE;
        break;
    case OPTION_VALUE:
        *(uint32_t *)member = (uint32_t)option->most;
        break;
    case OPTION_TEXT:
        *(const char **)member = value;
        break;
    case OPTION_FILE:
        *(const char **)member = options_file(state, name, value);
        break;
    case OPTION_COUNT:
        *(uint64_t *)member = count_of(state, option, value);
        break;
    case OPTION_COUNT32:
        *(uint32_t *)member = (uint32_t)count_of(state, option, value);
        break;
    case OPTION_DURATION:
        *(double *)member = duration_of(state, option, value);
        break;
    case OPTION_FRACTION:
        *(double *)member = fraction_of(state, option, value);
        break;
    case OPTION_CHOICE:
        *(uint32_t *)member = choice_of(state, option, value);
        break;
    case OPTION_TAKE:
        option->take(state, request, value);
        break;
    }
    if (option->given)
        ((char *)request)[option->given - 1] = true;
}

/* ---- parsing ---- */

enum { KEY_HELP = 1023, KEY_FIRST = 1024 };

struct parsing {
    const struct command_line *line;
    void *request;
    char **words;
    struct {
        const struct option_row *option;
        void *request;
    } rows[OPTIONS_MOST];
    struct argp_option table[OPTIONS_MOST + 2];
    int count;
};

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

static void add_group(struct parsing *parsing, const struct option_group *group, void *request) {
    for (const struct option_row *option = group->options; option && option->kind; option++) {
        const bool heading = option->kind == OPTION_HEADING;
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

static bool set_option(const struct parsing *parsing, struct argp_state *state, int key,
                       char *value) {
    for (int i = 0; i < parsing->count; i++) {
        const struct option_row *option = parsing->rows[i].option;
        if (option->kind == OPTION_HEADING || key_of(option, i) != key)
            continue;
        if (option->not_again)
            leave_out(parsing->words, state, value);
        set(state, option, parsing->rows[i].request, value);
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

/* ---- mistakes ---- */

/* The long options of a verb. */
struct names {
    const char *names[OPTIONS_MOST];
    size_t count;
};

static void list_names(const struct parsing *parsing, struct names *names) {
    for (int i = 0; i < parsing->count; i++)
        if (parsing->table[i].name)
            names->names[names->count++] = parsing->table[i].name;
}

/* "--regions, --repeat", of those that begin with `beginning`; how many there are. */
static size_t list_beginning(const struct names *names, const char *beginning, char *list,
                             size_t size) {
    size_t count = 0, used = 0;
    list[0] = 0;
    for (size_t i = 0; i < names->count; i++)
        if (!strncmp(names->names[i], beginning, strlen(beginning))) {
            if (used < size)
                used += (size_t)snprintf(list + used, size - used, "%s--%s", count ? ", " : "",
                                         names->names[i]);
            count++;
        }
    return count;
}

static bool is_name(const struct names *names, const char *name) {
    for (size_t i = 0; i < names->count; i++)
        if (!strcmp(names->names[i], name))
            return true;
    return false;
}

/* --for and --on-signal where a run is not captured that way; NULL: another option. */
static const char *instead(const char *verb, const char *option) {
    static const struct {
        const char *verb, *text;
    } ROWS[] = {
        {"bbv", "slices are counted from the beginning of the run (--skip leaves some out)"},
        {"contend", "capture with it by 'culprit trace', and give the trace"},
        {"icost", "capture with it by 'culprit trace', and give the trace"},
        {"predict", "capture with it by 'culprit trace', and give the trace"},
        {"record", "not here (--time T ends the recording)"},
        {"regions", "not here: 'culprit bbv' runs the command"},
        {"validate", "not here: the whole run is needed, and a second one"}};
    const bool timed = !strcmp(option, "for") || !strcmp(option, "on-signal");
    for (size_t i = 0; timed && i < sizeof ROWS / sizeof *ROWS; i++)
        if (!strncmp(verb, "culprit ", 8) && !strcmp(verb + 8, ROWS[i].verb))
            return ROWS[i].text;
    return NULL;
}

static void explain_mistake(const struct argp_state *state, const struct parsing *parsing) {
    const char *argument = state->next > 1 ? state->argv[state->next - 1] : "",
               *verb = state->argv[0];
    if (strncmp(argument, "--", 2) || !argument[2])
        options_fail(state, "%s: unknown option (see '%s --help')", argument, verb);
    char name[64], list[512];
    struct names names = {0};
    const size_t length = strcspn(argument + 2, "=");
    snprintf(name, sizeof name, "%.*s", (int)length, argument + 2);
    list_names(parsing, &names);
    const size_t beginning = list_beginning(&names, name, list, sizeof list);
    const char *nearest = nearest_word(name, names.names, names.count);
    const char *other = instead(verb, name);
    if (beginning == 0 && other)
        options_fail(state, "--%s: %s", name, other);
    if (beginning == 0 && nearest)
        options_fail(state, "--%s: unknown option (did you mean '--%s'? see '%s --help')", name,
                     nearest, verb);
    if (beginning == 0)
        options_fail(state, "--%s: unknown option (see '%s --help')", name, verb);
    if (beginning > 1 && !is_name(&names, name))
        options_fail(state, "--%s: could be %s (see '%s --help')", name, list, verb);
    options_fail(state, "--%s: %s (see '%s --help')", name,
                 argument[2 + length] ? "takes no value" : "needs a value", verb);
}

static error_t parse(int key, char *value, struct argp_state *state) {
    const struct parsing *parsing = state->input;
    switch (key) {
    case KEY_HELP:
        argp_help(state->root_argp, stdout, ARGP_HELP_USAGE | ARGP_HELP_LONG | ARGP_HELP_DOC,
                  state->argv[0]);
        exit(fflush(stdout) == 0 ? 0 : STATUS_FAILED);
    case ARGP_KEY_INIT:
        begin(parsing);
        return 0;
    case ARGP_KEY_ARG:
        return take_argument(parsing, state, value) ? 0 : ARGP_ERR_UNKNOWN;
    case ARGP_KEY_END:
        end(parsing, state);
        return 0;
    case ARGP_KEY_ERROR:
        explain_mistake(state, parsing);
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
    const struct argp argp = {
        .options = parsing.table, .parser = parse, .args_doc = line->arguments, .doc = line->help};
    argp_parse(&argp, argc, argv, ARGP_IN_ORDER | ARGP_NO_ERRS | ARGP_NO_HELP, NULL, &parsing);
    return parsing.words;
}
