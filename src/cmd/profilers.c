/* culprit profilers: every profiler over one simulation, and its error against Oracle. */
#include "cmd/profilers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd/cmd.h"
#include "cmd/run.h"

enum { DEFAULT_SAMPLES = 200000, MAX_SAMPLES = 100000000, MAX_THREADS = 64 };

#define LONGEST_PERIOD (UINT64_C(1) << 40)

struct profilers_options {
    struct run_request run;
    struct profilers_request request;
    char *lists; /* all LISTs so far, separated by commas; owned */
    struct sampler_options sampling;
    bool samples_given, period_given;
};

/* ---- configurations ---- */

/* "period=1000", "random" ...; false: not a setting. */
static bool take_setting(const struct argp_state *state, const char *text,
                         struct sampler_options *sampling) {
    char where[64];
    const char *value = strchr(text, '=');
    int length = value ? (int)(value++ - text) : (int)strlen(text);
    snprintf(where, sizeof where, "--profiler, %.*s", length, text);
    if (!strcmp(text, "random")) {
        sampling->mode = SAMPLER_RANDOM;
    } else if (!strcmp(text, "periodic")) {
        sampling->mode = SAMPLER_PERIODIC;
    } else if (value && !strncmp(text, "period=", 7)) {
        sampling->period = options_count_within(state, where, value, 1, LONGEST_PERIOD);
    } else if (value && !strncmp(text, "samples=", 8)) {
        sampling->samples = options_count_within(state, where, value, 1, MAX_SAMPLES);
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

static void take_list_of(struct argp_state *state, void *request, char *list) {
    struct profilers_options *options = request;
    char *joined = NULL;
    if (asprintf(&joined, "%s%s%s", options->lists ? options->lists : "", options->lists ? "," : "",
                 list) < 0)
        options_fail(state, "out of memory");
    free(options->lists);
    options->lists = joined;
}

static void take_show(struct argp_state *state, void *request, char *value) {
    (void)state, (void)request, (void)value;
    list_profilers();
}

/* "1.5%" or "1.5" */
static void take_floor(struct argp_state *state, void *request, char *value) {
    char *end;
    double percent = strtod(value, &end);
    if (end == value || (*end && strcmp(end, "%")) || !(percent >= 0.01 && percent < 100))
        options_fail(state, "--floor %s: a percentage from 0.01 to 100", value);
    ((struct profilers_options *)request)->request.floor = percent / 100;
}

#define REQUEST struct profilers_options
static const struct option_row OPTIONS[] = {
    HEADING(4, "Which profilers, and what they sample:"),
    TAKE("profiler", "LIST", take_list_of,
         "Configurations, separated by commas: a name, or a name with settings of its own, as in "
         "TIP:period=1000 or TIP:random,seed=2 (samples=N, period=CYCLES, random, periodic, "
         "seed=N). May be repeated; default: all, see --list"),
    TAKE("list", NULL, take_show, "List the profilers"),
    COUNT("samples", "N", sampling.samples,
          "Samples over the run, at least N and less than twice as many (default 200K)", .least = 1,
          .most = MAX_SAMPLES, GIVEN(samples_given)),
    COUNT("period", "CYCLES", sampling.period, "A sample every so many cycles; 1: every cycle",
          .least = 1, .most = LONGEST_PERIOD, GIVEN(period_given)),
    VALUE("random", sampling.mode, SAMPLER_RANDOM, "A random cycle of every period (the default)"),
    VALUE("periodic", sampling.mode, SAMPLER_PERIODIC,
          "The last cycle of every period: it may keep step with a loop, as nothing in a simulated "
          "core disturbs it"),
    COUNT("seed", "N", sampling.seed, "Of the random choices (default 0)"),
    TAKE("floor", "PERCENT", take_floor,
         "As many samples as it takes for this floor of the error of cycle stacks; simulates "
         "twice, a command from a temporary trace"),
    FLAG("systematic", request.systematic,
         "Also the error that each profiler has when it samples every cycle"),
    COUNT("threads", "N", request.threads, "Threads that the profilers run on (default 1)",
          .least = 1, .most = MAX_THREADS),
    {0}};

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

static void check(struct argp_state *state, void *request) {
    struct profilers_options *options = request;
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

static const struct option_part PARTS[] = {
    {&input_group, offsetof(struct profilers_options, run.input)},
    {&machine_group, offsetof(struct profilers_options, run.machine)},
    {&output_group, offsetof(struct profilers_options, run.output)},
    {&save_group, offsetof(struct profilers_options, run.save)},
    {&for_group, offsetof(struct profilers_options, run.input)},
    {0}};

static const struct command_line LINE = {
    .own = {.options = OPTIONS, .end = check},
    .parts = PARTS,
    .arguments = "[--] COMMAND...\nTRACE.ctrace",
    .help = "Runs every profiler over one simulation of a command, or of a trace, all sampling the "
            "same cycles, and reports how far each is from what every cycle says: its profile from "
            "Oracle's, its cycle stacks from the golden reference's.\v"
            "Example:\n  culprit profilers --limit 20M -- gzip -9 -c /bin/bash > /dev/null\n\n"
            "The report goes to standard error, the command keeps standard output and its exit "
            "status; 125 when culprit failed."};

int cmd_profilers(int argc, char **argv) {
    struct profilers_options options = {
        .run = {.verb = "profilers", .argc = argc, .sampling = sampling_everything()},
        .request = {.threads = 1},
        .sampling = {.mode = SAMPLER_RANDOM}};
    options.run.input.traces_allowed = true;
    options.run.profilers = &options.request;
    options.run.argv = options_parse(&LINE, argc, argv, &options);
    int status = run_simulation(&options.run);
    free(options.run.argv);
    for (uint32_t i = 0; i < options.request.count; i++)
        free((char *)options.request.labels[i]);
    free(options.lists);
    return status;
}
