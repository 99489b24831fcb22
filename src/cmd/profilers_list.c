/* Which profilers `culprit profilers` runs: the configurations of --profiler. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/profilers.h"

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
        sampling->period = options_count_within(state, where, value, 1, PROFILERS_PERIOD_MAX);
    } else if (value && !strncmp(text, "samples=", 8)) {
        sampling->samples = options_count_within(state, where, value, 1, PROFILERS_SAMPLES_MAX);
        sampling->period = 0;
    } else if (value && !strncmp(text, "seed=", 5)) {
        sampling->seed = options_count(state, where, value);
    } else {
        return false;
    }
    return true;
}

static void add_profile(const struct argp_state *state, struct profilers *job, const char *name,
                        char *label) {
    const struct profiler *profiler = profiler_find(name);
    if (!profiler)
        options_fail(state, "--profiler %s: no such profiler (see '%s --list')", name,
                     state->argv[0]);
    if (job->count == PROFILERS_MAX)
        options_fail(state, "--profiler: more than %d configurations", PROFILERS_MAX);
    job->labels[job->count] = label;
    job->profiles[job->count++] =
        (struct profile_options){.profiler = profiler, .sampling = job->sampling};
}

/* A list holds "NAME", "NAME:setting" and, after one of these, "setting". The label of what is
 * listed is its part of the list, with the profiler's own name. */
static void take_list(const struct argp_state *state, struct profilers *job) {
    char *rest = job->lists, *item;
    while ((item = strsep(&rest, ",")) != NULL) {
        struct sampler_options unused = {0};
        char *settings = strchr(item, ':'), *label = NULL;
        bool is_setting = !settings && take_setting(state, item, &unused);
        if (is_setting && !job->count)
            options_fail(state, "--profiler %s: a setting, of which profiler?", item);
        if (!is_setting) {
            if (settings)
                *settings++ = 0;
            add_profile(state, job, item, NULL);
        }
        struct profile_options *profile = &job->profiles[job->count - 1];
        const char *before = job->labels[job->count - 1];
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
        job->labels[job->count - 1] = label;
    }
}

void profilers_choose(const struct argp_state *state, struct profilers *job) {
    uint32_t *count = &job->run.study.options.profile_count;
    if (job->lists)
        take_list(state, job);
    for (const struct profiler *const *profiler = profilers; !job->lists && *profiler; profiler++)
        add_profile(state, job, (*profiler)->name, strdup((*profiler)->name));
    for (uint32_t i = 0; i < job->count; i++)
        for (uint32_t k = 0; k < i; k++)
            if (!strcmp(job->labels[i], job->labels[k]))
                options_fail(state, "--profiler: %s is there twice", job->labels[i]);
    *count = job->count;
    for (uint32_t i = 0; job->systematic && i < job->count; i++) {
        bool first = true;
        for (uint32_t k = 0; k < i; k++)
            first &= job->profiles[k].profiler != job->profiles[i].profiler;
        if (first)
            job->profiles[(*count)++] = (struct profile_options){
                .profiler = job->profiles[i].profiler, .sampling = {.period = 1}};
    }
}
