/* culprit profilers: every profiler over one simulation, and its error against Oracle. */
#include "cmd/profilers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd/cmd.h"
#include "cmd/run.h"

enum key {
    KEY_PROFILER = 1024,
    KEY_LIST,
    KEY_SAMPLES,
    KEY_PERIOD,
    KEY_RANDOM,
    KEY_PERIODIC,
    KEY_SEED,
    KEY_SYSTEMATIC,
    KEY_FLOOR,
    KEY_THREADS
};

enum { DEFAULT_SAMPLES = 200000, MAX_SAMPLES = 100000000, MAX_THREADS = 64 };

static const struct argp_option OPTIONS[] = {
    {NULL, 0, NULL, 0, "Which profilers, and what they sample:", 4},
    {"profiler", KEY_PROFILER, "LIST", 0,
     "Configurations, separated by commas: a name, or a name with settings of its own, as in "
     "TIP:period=1000 or TIP:random,seed=2 (samples=N, period=CYCLES, random, periodic, seed=N). "
     "May be repeated; default: all, see --list",
     0},
    {"list", KEY_LIST, NULL, 0, "List the profilers", 0},
    {"samples", KEY_SAMPLES, "N", 0,
     "Samples over the run, at least N and less than twice as many (default 200K)", 0},
    {"period", KEY_PERIOD, "CYCLES", 0, "A sample every so many cycles; 1: every cycle", 0},
    {"random", KEY_RANDOM, NULL, 0, "A random cycle of every period (the default)", 0},
    {"periodic", KEY_PERIODIC, NULL, 0,
     "The last cycle of every period: it may keep step with a loop, as nothing in a simulated core "
     "disturbs it",
     0},
    {"seed", KEY_SEED, "N", 0, "Of the random choices (default 0)", 0},
    {"floor", KEY_FLOOR, "PERCENT", 0,
     "As many samples as it takes for this floor of the error of cycle stacks; simulates twice, a "
     "command from a temporary trace",
     0},
    {"systematic", KEY_SYSTEMATIC, NULL, 0,
     "Also the error that each profiler has when it samples every cycle", 0},
    {"threads", KEY_THREADS, "N", 0, "Threads that the profilers run on (default 1)", 0},
    {0}};

struct profilers_options {
    struct run_request run;
    struct profilers_request request;
    char *lists; /* all LISTs so far, separated by commas; owned */
    struct sampler_options sampling;
    bool samples_given, period_given;
};

/* ---- configurations ---- */

static void take_count(const struct argp_state *state, const char *where, const char *value,
                       uint64_t most, uint64_t *count) {
    *count = options_count(state, where, value);
    if (!*count || *count > most)
        options_fail(state, "%s %s: from 1 to %llu", where, value, (unsigned long long)most);
}

/* "period=1000", "random" ...; false: not a setting. */
static bool take_setting(const struct argp_state *state, const char *text,
                         struct sampler_options *sampling) {
    static const uint64_t LONGEST_PERIOD = UINT64_C(1) << 40;
    char where[64];
    const char *value = strchr(text, '=');
    int length = value ? (int)(value++ - text) : (int)strlen(text);
    snprintf(where, sizeof where, "--profiler, %.*s", length, text);
    if (!strcmp(text, "random")) {
        sampling->mode = SAMPLER_RANDOM;
    } else if (!strcmp(text, "periodic")) {
        sampling->mode = SAMPLER_PERIODIC;
    } else if (value && !strncmp(text, "period=", 7)) {
        take_count(state, where, value, LONGEST_PERIOD, &sampling->period);
    } else if (value && !strncmp(text, "samples=", 8)) {
        take_count(state, where, value, MAX_SAMPLES, &sampling->samples);
        sampling->period = 0;
    } else if (value && !strncmp(text, "seed=", 5)) {
        sampling->seed = options_count(state, where, value);
    } else {
        return false;
    }
    return true;
}

static void add_profile(const struct argp_state *state, struct profilers_options *options,
                        const char *name, const char *label) {
    struct profilers_request *request = &options->request;
    const struct profiler *profiler = profiler_find(name);
    if (!profiler)
        options_fail(state, "--profiler %s: no such profiler (see '%s --list')", name,
                     state->argv[0]);
    if (request->count == PROFILERS_MAX)
        options_fail(state, "--profiler: more than %d configurations", PROFILERS_MAX);
    request->labels[request->count] = label;
    request->profiles[request->count++] =
        (struct profile_options){.profiler = profiler, .sampling = options->sampling};
}

/* A list holds "NAME", "NAME:setting" and, after one of these, "setting". The label of what is
 * listed is its part of the list, with the profiler's own name. */
static void take_list(const struct argp_state *state, struct profilers_options *options) {
    struct profilers_request *request = &options->request;
    char *rest = options->lists, *item;
    while ((item = strsep(&rest, ",")) != NULL) {
        struct sampler_options unused = {0};
        char *settings = strchr(item, ':'), *label = NULL;
        bool is_setting = !settings && take_setting(state, item, &unused);
        if (is_setting && !request->count)
            options_fail(state, "--profiler %s: a setting, of which profiler?", item);
        if (!is_setting) {
            if (settings)
                *settings++ = 0;
            add_profile(state, options, item, NULL);
        }
        struct profile_options *profile = &request->profiles[request->count - 1];
        const char *before = request->labels[request->count - 1];
        const char *setting = is_setting ? item : settings;
        if (setting && !take_setting(state, setting, &profile->sampling))
            options_fail(state,
                         "--profiler %s:%s: a setting is one of samples=N, period=CYCLES, random, "
                         "periodic, seed=N",
                         profile->profiler->name, setting);
        bool room = asprintf(&label, "%s%s%s", before ? before : profile->profiler->name,
                             !setting                        ? ""
                             : before && strchr(before, ':') ? ","
                                                             : ":",
                             setting ? setting : "") >= 0;
        if (!room)
            options_fail(state, "out of memory");
        free((char *)before);
        request->labels[request->count - 1] = label;
    }
}

static void take_profilers(const struct argp_state *state, struct profilers_options *options) {
    struct profilers_request *request = &options->request;
    if (options->lists)
        take_list(state, options);
    for (const struct profiler *const *profiler = profilers; !options->lists && *profiler;
         profiler++)
        add_profile(state, options, (*profiler)->name, strdup((*profiler)->name));
    for (uint32_t i = 0; i < request->count; i++)
        for (uint32_t k = 0; k < i; k++)
            if (!strcmp(request->labels[i], request->labels[k]))
                options_fail(state, "--profiler: %s is there twice", request->labels[i]);
    request->profile_count = request->count;
    for (uint32_t i = 0; request->systematic && i < request->count; i++) {
        bool first = true;
        for (uint32_t k = 0; k < i; k++)
            first &= request->profiles[k].profiler != request->profiles[i].profiler;
        if (first)
            request->profiles[request->profile_count++] = (struct profile_options){
                .profiler = request->profiles[i].profiler, .sampling = {.period = 1}};
    }
}

static void list_profilers(void) {
    for (const struct profiler *const *row = profilers; *row; row++) {
        const struct profiler *profiler = *row;
        printf("%-9s %s\n%-9s %s", profiler->name, profiler->description, "", profiler->section);
        if (profiler->events)
            printf("; tells of");
        for (unsigned event = 0; event < PSV_BITS; event++)
            if (profiler->events & 1u << event)
                printf(" %s", psv_name(event));
        putchar('\n');
    }
    exit(fflush(stdout) == 0 ? 0 : STATUS_FAILED);
}

/* ---- options ---- */

static void add_list(const struct argp_state *state, struct profilers_options *options,
                     const char *list) {
    char *joined = NULL;
    if (asprintf(&joined, "%s%s%s", options->lists ? options->lists : "", options->lists ? "," : "",
                 list) < 0)
        options_fail(state, "out of memory");
    free(options->lists);
    options->lists = joined;
}

/* "1.5%" or "1.5" */
static double take_floor(const struct argp_state *state, const char *value) {
    char *end;
    double percent = strtod(value, &end);
    if (end == value || (*end && strcmp(end, "%")) || !(percent >= 0.01 && percent < 100))
        options_fail(state, "--floor %s: a percentage from 0.01 to 100", value);
    return percent / 100;
}

/* A trace that can be read once is no good for --floor. */
static void check_floor(const struct argp_state *state, const struct profilers_options *options) {
    struct stat file;
    const char *trace = options->run.input.trace;
    if (options->samples_given || options->period_given)
        options_fail(state, "--floor: it chooses the samples itself (leave out --samples and "
                            "--period)");
    if (trace && (!strcmp(trace, "-") || (stat(trace, &file) == 0 && !S_ISREG(file.st_mode))))
        options_fail(state,
                     "--floor: it reads the trace twice, and %s can be read once (save it "
                     "to a file first)",
                     trace);
}

static void check(const struct argp_state *state, struct profilers_options *options) {
    if (options->request.floor > 0)
        check_floor(state, options);
    if (!options->samples_given && !options->request.floor)
        options->sampling.samples = DEFAULT_SAMPLES;
    if (options->samples_given && options->period_given)
        options_fail(state, "--samples and --period: each says how often; give one of them");
    if (!options->run.input.command && !options->run.input.trace)
        options_fail(state, "what to simulate? (culprit profilers [OPTION...] -- COMMAND..., or "
                            "culprit profilers FILE.ctrace)");
    take_profilers(state, options);
}

static error_t parse(int key, char *value, struct argp_state *state) {
    struct profilers_options *options = state->input;
    uint64_t count;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &options->run.input;
        state->child_inputs[1] = &options->run.machine;
        state->child_inputs[2] = &options->run.output;
        state->child_inputs[3] = &options->run.save;
        state->child_inputs[4] = &options->run.input;
        return 0;
    case KEY_PROFILER:
        add_list(state, options, value);
        return 0;
    case KEY_LIST:
        list_profilers();
        return 0;
    case KEY_SAMPLES:
        options->samples_given = true;
        take_count(state, "--samples", value, MAX_SAMPLES, &options->sampling.samples);
        return 0;
    case KEY_PERIOD:
        options->period_given = true;
        take_count(state, "--period", value, UINT64_C(1) << 40, &options->sampling.period);
        return 0;
    case KEY_RANDOM:
        options->sampling.mode = SAMPLER_RANDOM;
        return 0;
    case KEY_PERIODIC:
        options->sampling.mode = SAMPLER_PERIODIC;
        return 0;
    case KEY_SEED:
        options->sampling.seed = options_count(state, "--seed", value);
        return 0;
    case KEY_SYSTEMATIC:
        options->request.systematic = true;
        return 0;
    case KEY_FLOOR:
        options->request.floor = take_floor(state, value);
        return 0;
    case KEY_THREADS:
        take_count(state, "--threads", value, MAX_THREADS, &count);
        options->request.threads = (uint32_t)count;
        return 0;
    case ARGP_KEY_END:
        check(state, options);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child CHILDREN[] = {
    {&input_argp, 0, NULL, 0}, {&machine_argp, 0, NULL, 0}, {&output_argp, 0, NULL, 0},
    {&save_argp, 0, NULL, 0},  {&for_argp, 0, NULL, 0},     {0}};

static const struct argp ARGP = {
    .options = OPTIONS,
    .parser = parse,
    .args_doc = "[--] COMMAND...\nTRACE.ctrace",
    .doc = "Runs every profiler over one simulation of a command, or of a trace, all sampling the "
           "same cycles, and reports how far each is from what every cycle says: its profile from "
           "Oracle's, its cycle stacks from the golden reference's.\v"
           "Example:\n  culprit profilers --limit 20M -- gzip -9 -c /bin/bash > /dev/null\n\n"
           "The report goes to standard error, the command keeps standard output and its exit "
           "status; 125 when culprit failed.",
    .children = CHILDREN};

int cmd_profilers(int argc, char **argv) {
    struct profilers_options options = {.run = {.verb = "profilers",
                                                .argc = argc,
                                                .argv = options_words(argc, argv),
                                                .sampling = sampling_everything()},
                                        .request = {.threads = 1},
                                        .sampling = {.mode = SAMPLER_RANDOM}};
    options.run.input.traces_allowed = true;
    options.run.profilers = &options.request;
    options.run.output.words = options.run.argv;
    options_parse(&ARGP, argc, argv, &options);
    int status = run_simulation(&options.run);
    free(options.run.argv);
    for (uint32_t i = 0; i < options.request.count; i++)
        free((char *)options.request.labels[i]);
    free(options.lists);
    return status;
}
