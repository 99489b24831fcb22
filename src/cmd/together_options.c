#include "cmd/together_options.h"

static void check(struct argp_state *state, void *given) {
    const struct together_request *request = given;
    if (request->alone && (request->cores || request->slack))
        options_fail(state, "--alone: %s is of threads that are simulated together",
                     request->cores ? "--cores" : "--together");
}

#define REQUEST struct together_request
static const struct option_row OPTIONS[] = {
    HEADING(10, "Threads:"),
    COUNT("cores", "N", cores,
          "Threads share a chip of N cores (default: chip.cores of the machine)", .least = 1,
          .most = SHARED_MEMORY_CORES),
    COUNT("together", "CYCLES", slack,
          "No thread gets more than so many cycles ahead of the others (default 100)", .least = 1,
          .most = 1000000),
    FLAG("alone", alone, "Each thread as if it had a machine of its own"),
    {0}};
#undef REQUEST

const struct option_group together_group = {.options = OPTIONS, .end = check};
