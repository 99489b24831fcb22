#include "cmd/together_options.h"

#include <string.h>

static void check(struct argp_state *state, void *given) {
    const struct together_request *request = given;
    if (request->alone && (request->core_count || request->slack))
        options_fail(state, "--alone: %s is of threads that are simulated together",
                     request->core_count ? "--cores" : "--together");
}

static void take_cores(struct argp_state *state, void *given, char *value) {
    struct together_request *request = given;
    request->core_count = 0;
    for (char *word = value, *next; word; word = next) {
        if ((next = strchr(word, ',')))
            *next++ = 0;
        if (request->core_count == TOGETHER_SCALES + 1)
            options_fail(state, "--cores: more than %d numbers", TOGETHER_SCALES + 1);
        request->cores[request->core_count++] =
            (uint32_t)options_count_within(state, "--cores", word, 1, SHARED_MEMORY_CORES);
    }
}

#define REQUEST struct together_request
static const struct option_row OPTIONS[] = {
    HEADING(10, "Threads:"),
    TAKE("cores", "N[,N...]", take_cores,
         "Threads share a chip of N cores (default: chip.cores of the machine); of several numbers "
         "the last is reported, and how the program scales over all"),
    TOGETHER_ROW(slack),
    FLAG("alone", alone, "Each thread as if it had a machine of its own"),
    {0}};
#undef REQUEST

const struct option_group together_group = {.options = OPTIONS, .end = check};
