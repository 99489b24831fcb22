#include "cmd/live_options.h"

/* 5200: about what DCPI took (§4.1.1), and no multiple of common timers' rates. */
enum { RATE_DEFAULT = 5200, RATE_MAX = 100000 };

static void take_rate(struct argp_state *state, void *request, char *value) {
    double *rate = &((struct live_options *)request)->rate;
    ((struct live_options *)request)->rate_given = true;
    *rate = (double)options_count(state, "--rate", value);
    if (*rate < 1 || *rate > RATE_MAX)
        options_fail(state, "--rate %s: 1 to %d samples per second", value, RATE_MAX);
}

#define REQUEST struct live_options
static const struct option_row OPTIONS[] = {
    TEXT("events", "LIST", events,
         "Of cycles, imiss, dmiss, branchmp, cpu-clock, with commas between (default: cycles; "
         "cpu-clock where there are no hardware events)",
         .group = 1),
    TAKE("rate", "HZ", take_rate, "Samples per second of each processor that is busy (5200)",
         .group = 1),
    {0}};

static void begin(void *request) {
    ((struct live_options *)request)->rate = RATE_DEFAULT;
}

const struct option_group live_group = {.options = OPTIONS, .begin = begin};
