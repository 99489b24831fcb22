/* argp reads options in order, so that those of the command stay the command's: the first argument
 * that is no option begins it. argp itself stays silent about mistakes (ARGP_NO_ERRS): it would say
 * them in two lines; options_parse() finds out from the tables what was wrong. */
#include "cmd/options.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd/cmd.h"
#include "cmd/interrupt.h"
#include "core/core.h"
#include "study/temporary.h"
#include "util/count.h"
#include "util/duration.h"
#include "util/nearest.h"

void print_error(const struct error *error) {
    struct error told = *error;
    temporary_unname(&verb_watch.temporaries, &told);
    fprintf(stderr, "culprit: %s\n", told.message);
}

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

double options_duration(const struct argp_state *state, const char *option, const char *text) {
    double seconds;
    if (!duration_read(text, &seconds) || seconds <= 0)
        options_fail(state, "%s %s: a time above 0, such as 30s, 5min, 1h or 7d", option, text);
    return seconds;
}

char **options_words(int argc, char **argv) {
    char **words = calloc((size_t)argc + 1, sizeof *words);
    if (!words) {
        print_error(&(struct error){"out of memory"});
        exit(STATUS_BROKEN);
    }
    memcpy(words, argv, (size_t)argc * sizeof *words);
    return words;
}

void options_leave_out(char **words, const struct argp_state *state, const char *value) {
    const int last = state->next - 1;
    if (state->argv[last] == value) /* "--tap", "VALUE"; else "--tap=VALUE" */
        words[last - 1] = NULL;
    words[last] = NULL;
}

/* ---- input ---- */

enum key {
    KEY_SKIP = 256,
    KEY_LIMIT,
    KEY_FROM,
    KEY_THREAD,
    KEY_FOLLOW,
    KEY_NO_FOLLOW,
    KEY_STOP,
    KEY_FOR,
    KEY_ON_SIGNAL,
    KEY_MACHINE,
    KEY_SET,
    KEY_IDEAL,
    KEY_BY,
    KEY_TOP,
    KEY_HELP
};

static const struct argp_option INPUT_OPTIONS[] = {
    {NULL, 0, NULL, 0, "What part of the run:", 1},
    {"skip", KEY_SKIP, "N", 0, "Begin after N instructions (50M, 2G)", 0},
    {"limit", KEY_LIMIT, "N", 0,
     "End after N instructions; a command then runs on to its end at full speed (or: --stop)", 0},
    {"stop", KEY_STOP, NULL, 0, OPTIONS_STOP_HELP, 0},
    {"from", KEY_FROM, "FUNCTION", 0, "Begin when this function is first entered", 0},
    {"thread", KEY_THREAD, "N", 0, "Only the N-th thread, the first is 0", 0},
    {"follow", KEY_FOLLOW, NULL, 0, "Include the processes that the command starts", 0},
    {"no-follow", KEY_NO_FOLLOW, NULL, 0,
     "Leave them out (only 'culprit explain' includes them by default)", 0},
    {0}};

/* Besides files by their ending: standard input, and pipes, also of the shell's <(...). */
static bool is_trace(const char *argument) {
    size_t length = strlen(argument);
    struct stat file;
    return !strcmp(argument, "-") || !strcmp(argument, "/dev/stdin") ||
           !strncmp(argument, "/dev/fd/", 8) ||
           (length > 7 && !strcmp(argument + length - 7, ".ctrace")) ||
           (strchr(argument, '/') && stat(argument, &file) == 0 && S_ISFIFO(file.st_mode));
}

static void take_input(struct input_options *input, struct argp_state *state, char *argument) {
    bool quoted = state->quoted && state->next > state->quoted;
    if (input->traces_allowed && !quoted && is_trace(argument)) {
        if (!input->trace)
            input->trace = argument;
        else if (!input->more_allowed)
            options_fail(state, "%s: one trace at a time", argument);
        else if (input->more_count == input->more_allowed)
            options_fail(state, "%s: more than %u traces", argument, input->more_allowed + 1);
        else
            input->more_traces[input->more_count++] = argument;
        return;
    }
    if (input->trace)
        options_fail(state, "%s: either a trace or a command, not both", argument);
    input->command = &state->argv[state->next - 1];
    state->next = state->argc;
}

bool options_may_follow(const struct input_options *input) {
    return input->command && !input->follow && !input->no_follow;
}

const char *options_file(const struct argp_state *state, const char *option, const char *path) {
    if (!strcmp(path, "-"))
        options_fail(state,
                     "%s -: standard output has the report, or what the command writes "
                     "(name a file)",
                     option);
    return path;
}

uint64_t options_limit(const struct argp_state *state, const char *text) {
    const uint64_t limit = options_count(state, "--limit", text);
    if (!limit)
        options_fail(state, "--limit 0: at least one instruction (leave it out for no limit)");
    return limit;
}

const char *options_from(const struct argp_state *state, const char *text) {
    if (!*text)
        options_fail(state, "--from: the name is empty");
    return text;
}

int options_thread(const struct argp_state *state, const char *text) {
    const uint64_t thread = options_count(state, "--thread", text);
    if (thread > INT32_MAX)
        options_fail(state, "--thread %s: too large", text);
    return (int)thread;
}

void options_add_setting(struct machine_options *machine, const struct argp_state *state,
                         const char *setting) {
    if (machine->setting_count == MACHINE_MOST_SETTINGS)
        options_fail(state, "--set: more than %d (write a machine file with 'base = NAME')",
                     MACHINE_MOST_SETTINGS);
    machine->settings[machine->setting_count++] = setting;
}

void options_check_regions(const struct argp_state *state, const struct input_options *input,
                           const char *done) {
    if (input->command || input->trace)
        options_fail(state, "--regions: the list names its traces (no command, no other trace)");
    if (input->skip || input->limit || input->from || input->thread >= 0 || input->follow ||
        input->no_follow)
        options_fail(state,
                     "--regions: the list says what is %s (without --skip, --limit, --from, "
                     "--thread and --follow)",
                     done);
}

static error_t parse_input(int key, char *value, struct argp_state *state) {
    struct input_options *input = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        input->thread = -1;
        return 0;
    case KEY_SKIP:
        input->skip = options_count(state, "--skip", value);
        return 0;
    case KEY_LIMIT:
        input->limit = options_limit(state, value);
        return 0;
    case KEY_FROM:
        input->from = options_from(state, value);
        return 0;
    case KEY_THREAD:
        input->thread = options_thread(state, value);
        return 0;
    case KEY_FOLLOW:
        input->follow = true;
        return 0;
    case KEY_NO_FOLLOW:
        input->no_follow = true;
        return 0;
    case KEY_STOP:
        input->stop = true;
        return 0;
    case ARGP_KEY_ARG:
        take_input(input, state, value);
        return 0;
    case ARGP_KEY_END:
        if (input->trace && input->follow)
            options_fail(state, "--follow: only while a command runs; the trace holds what was "
                                "followed when it was captured");
        if (input->no_follow && (input->follow || input->trace))
            options_fail(state, "--no-follow: only while a command runs, and not with --follow");
        if (input->stop && input->trace)
            options_fail(state, "--stop: only while a command runs");
        if (input->stop && !input->limit)
            options_fail(state, "--stop: ends the command at --limit N, which is missing");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

const struct argp input_argp = {.options = INPUT_OPTIONS, .parser = parse_input};

static const struct argp_option FOR_OPTIONS[] = {
    {"for", KEY_FOR, "TIME", 0,
     "Ask a command that would not end (a server) to end after this time (10s, 2min) of capture, "
     "with SIGTERM; sim and explain simulate afterwards what it did until then",
     1},
    {"on-signal", KEY_ON_SIGNAL, "USR1", 0,
     "Begin when culprit receives this signal, USR1 or USR2; the command runs uncaptured until "
     "then",
     1},
    {0}};

static int signal_of(const struct argp_state *state, const char *name) {
    const char *bare = strncmp(name, "SIG", 3) ? name : name + 3;
    if (strcmp(bare, "USR1") && strcmp(bare, "USR2"))
        options_fail(state, "--on-signal %s: USR1 or USR2", name);
    return strcmp(bare, "USR1") ? SIGUSR2 : SIGUSR1;
}

static error_t parse_for(int key, char *value, struct argp_state *state) {
    struct input_options *input = state->input;
    switch (key) {
    case KEY_FOR:
        input->seconds = options_duration(state, "--for", value);
        return 0;
    case KEY_ON_SIGNAL:
        input->on_signal = signal_of(state, value);
        return 0;
    case ARGP_KEY_END:
        if (input->seconds && input->trace)
            options_fail(state, "--for: only while a command runs");
        if (input->on_signal && input->trace)
            options_fail(state, "--on-signal: only while a command runs");
        if (input->on_signal && (input->skip || input->from))
            options_fail(state, "--on-signal: says where to begin: leave out --skip and --from");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

const struct argp for_argp = {.options = FOR_OPTIONS, .parser = parse_for};

/* ---- machine ---- */

static const struct argp_option MACHINE_OPTIONS[] = {
    {NULL, 0, NULL, 0, "On which machine:", 2},
    {"machine", KEY_MACHINE, "NAME", 0,
     "A machine of 'culprit machines', or a file (default: zen4 for x86-64, boom-tea for riscv64)",
     0},
    {"set", KEY_SET, "SECTION.KEY=VALUE", 0, "Change one figure of it; may be repeated", 0},
    {"ideal", KEY_IDEAL, "LIST", 0,
     "Idealise, separated by commas: imiss (instruction misses hit), dmiss (data misses hit), dl1 "
     "(L1 data latency 0), shalu (one-cycle operations take 0), lgalu (longer ones take 0), bw "
     "(unlimited bandwidth), bmisp (branches predicted right), win (window 20 times larger), stfwd "
     "(stores forward to loads they cover in part), dlong (last-level misses hit)",
     0},
    {0}};

static error_t parse_machine(int key, char *value, struct argp_state *state) {
    struct machine_options *machine = state->input;
    struct error error = {0};
    switch (key) {
    case KEY_MACHINE:
        machine->machine = value;
        return 0;
    case KEY_SET:
        options_add_setting(machine, state, value);
        return 0;
    case KEY_IDEAL:
        if (!ideal_parse(value, &machine->ideal, &error))
            options_fail(state, "--ideal: %s", error.message);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

const struct argp machine_argp = {.options = MACHINE_OPTIONS, .parser = parse_machine};

/* ---- output ---- */

/* A device takes both the report and the picture. */
static bool same_file(const char *one, const char *other) {
    struct stat a, b;
    const bool there = stat(one, &a) == 0;
    if (!strcmp(one, other))
        return !there || !S_ISCHR(a.st_mode);
    return there && S_ISREG(a.st_mode) && stat(other, &b) == 0 && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino;
}

error_t options_parse_output(int key, char *value, struct argp_state *state) {
    struct output_options *output = state->input;
    switch (key) {
    case OUTPUT_JSON:
        output->json = true;
        return 0;
    case OUTPUT_FILE:
        output->output = value;
        if (output->words)
            options_leave_out(output->words, state, value);
        return 0;
    case OUTPUT_SVG:
        output->svg = value;
        if (output->words)
            options_leave_out(output->words, state, value);
        return 0;
    case ARGP_KEY_END:
        if (output->output && output->svg && same_file(output->output, output->svg))
            options_fail(state, "--svg %s: the report goes there (--output)", output->svg);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option REPORT_OPTIONS[] = {OUTPUT_ROWS(4), {0}};
const struct argp report_argp = {.options = REPORT_OPTIONS, .parser = options_parse_output};

static const struct argp_option OUTPUT_OPTIONS[] = {
    OUTPUT_ROWS(3), {"top", KEY_TOP, "N", 0, "Rows per table (default 10; 0: all)", 0}, {0}};

static error_t parse_output(int key, char *value, struct argp_state *state) {
    struct output_options *output = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        output->top = 10;
        return 0;
    case KEY_TOP: {
        uint64_t top = options_count(state, "--top", value);
        output->top = top > UINT32_MAX ? UINT32_MAX : (uint32_t)top;
        return 0;
    }
    default:
        return options_parse_output(key, value, state);
    }
}

const struct argp output_argp = {.options = OUTPUT_OPTIONS, .parser = parse_output};

static const struct argp_option LEGEND_OPTIONS[] = {
    {"legend", OUTPUT_LEGEND, NULL, 0,
     "Explain the words of the report, as the first on a terminal does; without a command, all", 3},
    {0}};

static error_t parse_legend(int key, char *value, struct argp_state *state) {
    (void)value;
    struct output_options *output = state->input;
    if (key != OUTPUT_LEGEND)
        return ARGP_ERR_UNKNOWN;
    output->legend = true;
    if (output->words)
        options_leave_out(output->words, state, NULL);
    return 0;
}

const struct argp legend_argp = {.options = LEGEND_OPTIONS, .parser = parse_legend};

static const struct argp_option GRAIN_OPTIONS[] = {
    {"by", KEY_BY, "GRAIN", 0, "function (default), line, instruction or image", 3}, {0}};

static error_t parse_grain(int key, char *value, struct argp_state *state) {
    static const char *const GRAINS[] = {[BY_FUNCTION] = "function",
                                         [BY_LINE] = "line",
                                         [BY_INSTRUCTION] = "instruction",
                                         [BY_IMAGE] = "image"};
    enum report_by *grain = state->input;
    if (key != KEY_BY)
        return ARGP_ERR_UNKNOWN;
    for (int by = BY_FUNCTION; by <= BY_IMAGE; by++)
        if (!strcmp(value, GRAINS[by])) {
            *grain = (enum report_by)by;
            return 0;
        }
    options_fail(state, "--by %s: one of function, line, instruction, image", value);
}

const struct argp grain_argp = {.options = GRAIN_OPTIONS, .parser = parse_grain};

/* ---- mistakes ---- */

enum { MOST_OPTIONS = 128 };

/* The long options of a verb. */
struct names {
    const char *names[MOST_OPTIONS];
    size_t count;
};

static void list_names(const struct argp *argp, struct names *names) {
    for (const struct argp_option *option = argp->options;
         option && (option->name || option->key || option->doc || option->group); option++)
        if (option->name && !(option->flags & OPTION_HIDDEN) && names->count < MOST_OPTIONS)
            names->names[names->count++] = option->name;
    for (const struct argp_child *child = argp->children; child && child->argp; child++)
        list_names(child->argp, names);
}

/* "--regions, --repeat", of those that begin with `begin`; how many there are. */
static size_t list_beginning(const struct names *names, const char *begin, char *list,
                             size_t size) {
    size_t count = 0, used = 0;
    list[0] = 0;
    for (size_t i = 0; i < names->count; i++)
        if (!strncmp(names->names[i], begin, strlen(begin))) {
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
static const char *instead(const char *verb, const char *option, size_t length) {
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
    const bool timed = (length == 3 && !strncmp(option, "for", 3)) ||
                       (length == 9 && !strncmp(option, "on-signal", 9));
    for (size_t i = 0; timed && i < sizeof ROWS / sizeof *ROWS; i++)
        if (!strncmp(verb, "culprit ", 8) && !strcmp(verb + 8, ROWS[i].verb))
            return ROWS[i].text;
    return NULL;
}

static void explain_mistake(const struct argp_state *state, const struct argp *argp) {
    const char *argument = state->next > 1 ? state->argv[state->next - 1] : "",
               *verb = state->argv[0];
    if (strncmp(argument, "--", 2) || !argument[2])
        options_fail(state, "%s: unknown option (see '%s --help')", argument, verb);
    char name[64], list[512];
    struct names names = {0};
    size_t length = strcspn(argument + 2, "=");
    snprintf(name, sizeof name, "%.*s", (int)length, argument + 2);
    list_names(argp, &names);
    const size_t beginning = list_beginning(&names, name, list, sizeof list);
    const char *nearest = nearest_word(name, names.names, names.count);
    const char *other = instead(verb, argument + 2, length);
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

/* Wraps the verb's argp to be told of mistakes, and for --help, on which argp is silent as well. */
struct wrapped {
    const struct argp *argp;
    void *input;
};

static error_t parse_wrapped(int key, char *value, struct argp_state *state) {
    (void)value;
    struct wrapped *wrapped = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = wrapped->input;
        return 0;
    case KEY_HELP:
        argp_help(state->root_argp, stdout, ARGP_HELP_USAGE | ARGP_HELP_LONG | ARGP_HELP_DOC,
                  state->argv[0]);
        exit(fflush(stdout) == 0 ? 0 : STATUS_FAILED);
    case ARGP_KEY_ERROR:
        explain_mistake(state, wrapped->argp);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

void options_parse(const struct argp *argp, int argc, char **argv, void *input) {
    static const struct argp_option options[] = {{"help", KEY_HELP, NULL, 0, "Show this", -1}, {0}};
    struct argp_child children[] = {{argp, 0, NULL, 0}, {0}};
    struct argp whole = {.options = options,
                         .parser = parse_wrapped,
                         .args_doc = argp->args_doc,
                         .doc = argp->doc,
                         .children = children};
    struct argp inner = *argp;
    inner.args_doc = inner.doc = NULL;
    children[0].argp = &inner;
    struct wrapped wrapped = {argp, input};
    argp_parse(&whole, argc, argv, ARGP_IN_ORDER | ARGP_NO_ERRS | ARGP_NO_HELP, NULL, &wrapped);
}
