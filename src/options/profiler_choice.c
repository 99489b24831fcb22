#include "options/profiler_choice.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
        sampling->period = options_count_within(state, where, value, 1, PROFILER_CHOICE_PERIOD);
    } else if (value && !strncmp(text, "samples=", 8)) {
        sampling->samples = options_count_within(state, where, value, 1, PROFILER_CHOICE_SAMPLES);
        sampling->period = 0;
    } else if (value && !strncmp(text, "seed=", 5)) {
        sampling->seed = options_count(state, where, value);
    } else {
        return false;
    }
    return true;
}

static void add_profile(const struct argp_state *state, struct profiler_choice *choice,
                        const char *name, char *label) {
    const struct profiler *profiler = profiler_find(name);
    if (!profiler)
        options_fail(state, "--profiler %s: no such profiler (see '%s --list')", name,
                     state->argv[0]);
    if (choice->count == PROFILER_CHOICE_MAX)
        options_fail(state, "--profiler: more than %d configurations", PROFILER_CHOICE_MAX);
    choice->labels[choice->count] = label;
    choice->profiles[choice->count++] =
        (struct profile_options){.profiler = profiler, .sampling = choice->sampling};
}

/* A list holds "NAME", "NAME:setting" and, after one of these, "setting". The label of what is
 * listed is its part of the list, with the profiler's own name. */
static void take_list(const struct argp_state *state, struct profiler_choice *choice) {
    char *rest = choice->lists, *item;
    while ((item = strsep(&rest, ",")) != NULL) {
        struct sampler_options unused = {0};
        char *settings = strchr(item, ':'), *label = NULL;
        bool is_setting = !settings && take_setting(state, item, &unused);
        if (is_setting && !choice->count)
            options_fail(state, "--profiler %s: a setting, of which profiler?", item);
        if (!is_setting) {
            if (settings)
                *settings++ = 0;
            add_profile(state, choice, item, NULL);
        }
        struct profile_options *profile = &choice->profiles[choice->count - 1];
        const char *before = choice->labels[choice->count - 1];
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
        choice->labels[choice->count - 1] = label;
    }
}

void profiler_choice_add_list(const struct argp_state *state, struct profiler_choice *choice,
                              const char *list) {
    const char *lists = choice->lists;
    char *joined = NULL;
    if (asprintf(&joined, "%s%s%s", lists ? lists : "", lists ? "," : "", list) < 0)
        options_fail(state, "out of memory");
    free(choice->lists);
    choice->lists = joined;
}

/* The first configuration of its profiler: one of every cycle is enough. */
static bool is_first(const struct profiler_choice *choice, uint32_t number) {
    for (uint32_t i = 0; i < number; i++)
        if (choice->profiles[i].profiler == choice->profiles[number].profiler)
            return false;
    return true;
}

void profiler_choice_make(const struct argp_state *state, struct profiler_choice *choice) {
    if (choice->lists)
        take_list(state, choice);
    for (const struct profiler *const *profiler = profilers; !choice->lists && *profiler;
         profiler++)
        add_profile(state, choice, (*profiler)->name, strdup((*profiler)->name));
    for (uint32_t i = 0; i < choice->count; i++)
        for (uint32_t k = 0; k < i; k++)
            if (!strcmp(choice->labels[i], choice->labels[k]))
                options_fail(state, "--profiler: %s is there twice", choice->labels[i]);
    choice->all = choice->count;
    for (uint32_t i = 0; choice->systematic && i < choice->count; i++)
        if (is_first(choice, i))
            choice->profiles[choice->all++] = (struct profile_options){
                .profiler = choice->profiles[i].profiler, .sampling = {.period = 1}};
}

void profiler_choice_free(struct profiler_choice *choice) {
    for (uint32_t i = 0; i < choice->count; i++)
        free(choice->labels[i]);
    free(choice->lists);
}
