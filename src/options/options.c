#include "options/options.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "core/core.h"
#include "trace/trace_name.h"

/* ---- input ---- */

#define REQUEST struct input_options
static const struct option_row INPUT_OPTIONS[] = {
    HEADING(1, "What part of the run:"),
    SKIP_ROW(skip),
    LIMIT_ROW(
        limit,
        "End after N instructions; a command then runs on to its end at full speed (or: --stop)"),
    STOP_ROW(stop),
    FROM_ROW(from),
    COUNT("thread", "N", thread, "Only the N-th thread, the first is 0"),
    FLAG("follow", follow, "Include the processes that the command starts"),
    FLAG("no-follow", no_follow,
         "Leave out the processes that it starts, as verbs do by themselves; 'culprit explain' "
         "includes them otherwise"),
    REPEATABLE_ROWS(fixed, variables, variable_count, seed, seed_given),
    LAYOUT_ROW(layout),
    {0}};

/* Besides files by their ending: standard input, and pipes, also of the shell's <(...). */
static bool is_trace(const char *argument) {
    struct stat file;
    return !strcmp(argument, "-") || !strcmp(argument, "/dev/stdin") ||
           !strncmp(argument, "/dev/fd/", 8) || trace_is_named(argument) ||
           (strchr(argument, '/') && stat(argument, &file) == 0 && S_ISFIFO(file.st_mode));
}

static bool take_input(struct argp_state *state, void *request, char *argument) {
    struct input_options *input = request;
    if (input->traces_allowed && !options_quoted(state) && is_trace(argument)) {
        if (!input->trace)
            input->trace = argument;
        else if (!input->more_allowed)
            options_fail(state, "%s: one trace at a time", argument);
        else if (input->more_count == input->more_allowed)
            options_fail(state, "%s: more than %u traces", argument, input->more_allowed + 1);
        else
            input->more_traces[input->more_count++] = argument;
        return true;
    }
    if (input->trace)
        options_fail(state, "%s: either a trace or a command, not both", argument);
    input->command = options_take_command(state);
    return true;
}

static void begin_input(void *request) {
    struct input_options *input = request;
    input->thread = -1;
    input->seed = 1;
}

void options_check_repeatable(const struct argp_state *state, const struct input_options *input) {
    if (input->variable_count && !input->fixed)
        options_fail(state, "--env: needs --repeatable; else the command has the environment here");
    if (input->layout && !input->fixed)
        options_fail(state, "--layout: needs --repeatable");
    if (input->seed_given && !input->fixed && !input->repeatable)
        options_fail(state, "--seed: needs --repeatable; else the random numbers are the kernel's");
}

static void check_input(struct argp_state *state, void *request) {
    const struct input_options *input = request;
    if (input->trace && input->follow)
        options_fail(state, "--follow: only while a command runs; the trace holds what was "
                            "followed when it was captured");
    if (input->no_follow && (input->follow || input->trace))
        options_fail(state, "--no-follow: only while a command runs, and not with --follow");
    if (input->fixed && input->trace)
        options_fail(state, "--repeatable: only while a command runs; a trace is the same anyway");
    if (input->seed_given && input->trace)
        options_fail(state, "--seed: only while a command runs; a trace is the same anyway");
    options_check_repeatable(state, input);
    if (input->stop && input->trace)
        options_fail(state, "--stop: only while a command runs");
    if (input->stop && !input->limit)
        options_fail(state, "--stop: ends the command at --limit N, which is missing");
}

const struct option_group input_group = {
    .options = INPUT_OPTIONS, .begin = begin_input, .argument = take_input, .end = check_input};

void options_fix_machine(const struct input_options *input, struct machine_options *machine) {
    machine->everywhere |= input->fixed;
}

void options_check_relink(const struct argp_state *state, const char *const *commands,
                          uint32_t count, uint32_t layouts) {
    if (count && layouts < 2)
        options_fail(state, "--relink: it is about layouts (add --layouts N)");
    for (uint32_t i = 0; i < count; i++)
        if (!strstr(commands[i], "{}"))
            options_fail(state, "--relink '%s': it does not say where the program goes ({})",
                         commands[i]);
}

bool options_may_follow(const struct input_options *input) {
    return input->command && !input->follow && !input->no_follow;
}

void options_check_regions(const struct argp_state *state, const struct input_options *input,
                           bool list, uint64_t warm_up, const char *done) {
    if (!list && warm_up != UINT64_MAX)
        options_fail(state, "--warm-up: it is about regions (add --regions LIST)");
    if (!list)
        return;
    if (input->command || input->trace)
        options_fail(state, "--regions: the list names its traces (no command, no other trace)");
    if (input->skip || input->limit || input->from || input->thread >= 0 || input->follow ||
        input->no_follow)
        options_fail(state,
                     "--regions: the list says what is %s (without --skip, --limit, --from, "
                     "--thread and --follow)",
                     done);
}

/* ---- a part of the run by time or signal ---- */

static void take_signal(struct argp_state *state, void *request, char *name) {
    const char *bare = strncmp(name, "SIG", 3) ? name : name + 3;
    if (strcmp(bare, "USR1") && strcmp(bare, "USR2"))
        options_fail(state, "--on-signal %s: USR1 or USR2", name);
    ((struct input_options *)request)->on_signal = strcmp(bare, "USR1") ? SIGUSR2 : SIGUSR1;
}

static const struct option_row FOR_OPTIONS[] = {
    DURATION("for", "TIME", seconds,
             "Ask a command that would not end (a server) to end after this time (10s, 2min) of "
             "capture, with SIGTERM; sim and explain simulate afterwards what it did until then",
             .group = 1),
    TAKE("on-signal", "USR1", take_signal,
         "Begin when culprit receives this signal, USR1 or USR2; the command runs uncaptured until "
         "then",
         .group = 1),
    {0}};
#undef REQUEST

static void check_for(struct argp_state *state, void *request) {
    const struct input_options *input = request;
    if (input->seconds && input->trace)
        options_fail(state, "--for: only while a command runs");
    if (input->on_signal && input->trace)
        options_fail(state, "--on-signal: only while a command runs");
    if (input->on_signal && (input->skip || input->from))
        options_fail(state, "--on-signal: says where to begin: leave out --skip and --from");
}

const struct option_group for_group = {.options = FOR_OPTIONS, .end = check_for};

/* ---- machine ---- */

static void take_ideal(struct argp_state *state, void *request, char *value) {
    struct error error = {0};
    if (!ideal_parse(value, &((struct machine_options *)request)->ideal, &error))
        options_fail(state, "--ideal: %s", error.message);
}

/* The rows say where the options lie in a verb's request: here they are all of it. */
struct simulated_on {
    struct machine_options machine;
};
#define REQUEST struct simulated_on
#define MACHINE_GROUP_ROWS(default_)                                                               \
    HEADING(2, "On which machine:"), MACHINE_ROWS(machine, default_),                              \
        TAKE("ideal", "LIST", take_ideal,                                                          \
             "Idealise, separated by commas: imiss (instruction misses hit), dmiss (data misses "  \
             "hit), dl1 (L1 data latency 0), shalu (one-cycle operations take 0), lgalu (longer "  \
             "ones take 0), bw (unlimited bandwidth), bmisp (branches predicted right), win "      \
             "(window 20 times larger), stfwd (stores forward to loads they cover in part), "      \
             "dlong (last-level misses hit), split (loads and stores that lie in two lines cost "  \
             "what others do)")
static const struct option_row MACHINE_OPTIONS[] = {
    MACHINE_GROUP_ROWS("of this host's processor, see culprit-machines(1), but of --repeatable "
                       "runs and layouts the same on every host, zen4; boom-tea for riscv64 "
                       "programs"),
    {0}};
static const struct option_row FIXED_MACHINE_OPTIONS[] = {
    MACHINE_GROUP_ROWS("of commands the same on every host, zen4; boom-tea for riscv64 programs"),
    {0}};
#undef REQUEST

const struct option_group machine_group = {.options = MACHINE_OPTIONS};
const struct option_group fixed_machine_group = {.options = FIXED_MACHINE_OPTIONS};

void options_take_cluster(const struct argp_state *state, struct cluster_options *options,
                          const char *value) {
    struct error error;
    cluster_options_free(options);
    if (!cluster_options_parse(options, value, &error))
        options_fail(state, "--cluster %s", error.message);
}
