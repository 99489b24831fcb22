#include "options/together_options.h"

#include <stdlib.h>
#include <string.h>

static void check(struct argp_state *state, void *given) {
    const struct together_request *request = given;
    const bool placed = request->affinity.group_count || request->affinity.in_turn_count;
    if (request->alone && (request->core_count || request->slack || placed))
        options_fail(state, "--alone: %s is of threads that are simulated together",
                     request->core_count ? "--cores"
                     : placed            ? "--affinity"
                                         : "--together");
}

/* To be cut: the words of the command line are those of the next command. */
static char *copy(const struct argp_state *state, const char *value) {
    char *list = strdup(value);
    if (!list)
        options_fail(state, "out of memory");
    return list;
}

static void take_cores(struct argp_state *state, void *given, char *value) {
    struct together_request *request = given;
    char *list = copy(state, value), *rest = list;
    request->core_count = 0;
    for (char *word; (word = strsep(&rest, ","));) {
        if (request->core_count == TOGETHER_SCALES + 1)
            options_fail(state, "--cores: more than %d numbers", TOGETHER_SCALES + 1);
        request->cores[request->core_count++] =
            (uint32_t)options_count_within(state, "--cores", word, 1, SHARED_MEMORY_CORES);
    }
    free(list);
}

enum { MOST_THREAD = 1000000 };

static uint32_t number(const struct argp_state *state, const char *word, uint64_t most) {
    return (uint32_t)options_count_within(state, "--affinity", word, 0, most);
}

/* "3" or "3-5" on a core. */
static void take_threads(const struct argp_state *state, struct together_affinity *affinity,
                         char *word, uint32_t core) {
    char *last = strchr(word, '-');
    if (last)
        *last++ = 0;
    if (affinity->group_count == AFFINITY_MOST)
        options_fail(state, "--affinity: more than %d groups of threads", AFFINITY_MOST);
    struct affinity_group *group = &affinity->groups[affinity->group_count++];
    *group = (struct affinity_group){.first = number(state, word, MOST_THREAD), .core = core};
    group->last = last ? number(state, last, MOST_THREAD) : group->first;
    if (group->last < group->first)
        options_fail(state, "--affinity: %s-%s: the first is behind the last", word, last);
}

/* "1,3-5:0" */
static void take_group(const struct argp_state *state, struct together_affinity *affinity,
                       char *value) {
    char *place = strchr(value, ':'), *rest = value;
    if (!place)
        options_fail(state, "--affinity: '%s': THREADS:CORE is missing its core", value);
    *place++ = 0;
    const uint32_t core = number(state, place, SHARED_MEMORY_CORES - 1);
    for (char *word; (word = strsep(&rest, ","));)
        take_threads(state, affinity, word, core);
}

static void take_in_turn(const struct argp_state *state, struct together_affinity *affinity,
                         char *rest) {
    affinity->in_turn_count = 0;
    for (char *word; (word = strsep(&rest, ","));) {
        if (affinity->in_turn_count == AFFINITY_MOST)
            options_fail(state, "--affinity: more than %d cores", AFFINITY_MOST);
        affinity->in_turn[affinity->in_turn_count++] = number(state, word, SHARED_MEMORY_CORES - 1);
    }
}

void affinity_take(const struct argp_state *state, struct together_affinity *affinity,
                   const char *value) {
    char *list = copy(state, value), *rest = list;
    if (!strpbrk(value, ":/"))
        take_in_turn(state, affinity, rest);
    else
        for (char *group; (group = strsep(&rest, "/"));)
            take_group(state, affinity, group);
    free(list);
}

static void take_affinity(struct argp_state *state, void *given, char *value) {
    affinity_take(state, &((struct together_request *)given)->affinity, value);
}

#define REQUEST struct together_request
static const struct option_row OPTIONS[] = {
    HEADING(10, "Threads:"),
    TAKE("cores", "N[,N...]", take_cores,
         "Threads share a chip of N cores (default: chip.cores of the machine); of several numbers "
         "the last is reported, and how the program scales over all"),
    AFFINITY_ROW(take_affinity),
    TOGETHER_ROW(slack),
    COUNT("thread-regions", "N", regions,
          "Of threads that are not simulated in full, N regions, or all slices there are (default "
          "160)",
          .least = 1, .most = 1 << 20),
    COUNT("thread-slice", "N", slice,
          "A region has about N instructions of all threads, without those that only wait for "
          "others (default 500k)",
          .least = 1000),
    FLAG("alone", alone, "Each thread as if it had a machine of its own"),
    {0}};
#undef REQUEST

const struct option_group together_group = {.options = OPTIONS, .end = check};
