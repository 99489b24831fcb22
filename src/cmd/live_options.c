#include "cmd/live_options.h"

#include "cmd/options.h"

/* 5200: about what DCPI took (§4.1.1), and no multiple of common timers' rates. */
enum { RATE_DEFAULT = 5200, RATE_MAX = 100000 };

enum { KEY_EVENTS = 1700, KEY_RATE };

static const struct argp_option OPTIONS[] = {
    {"events", KEY_EVENTS, "LIST", 0,
     "Of cycles, imiss, dmiss, branchmp, cpu-clock, with commas between (default: cycles; "
     "cpu-clock where there are no hardware events)",
     1},
    {"rate", KEY_RATE, "HZ", 0, "Samples per second of each processor that is busy (5200)", 1},
    {0}};

static error_t parse(int key, char *value, struct argp_state *state) {
    struct live_options *options = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        options->rate = RATE_DEFAULT;
        return 0;
    case KEY_EVENTS:
        options->events = value;
        return 0;
    case KEY_RATE:
        options->rate = (double)options_count(state, "--rate", value);
        if (options->rate < 1 || options->rate > RATE_MAX)
            options_fail(state, "--rate %s: 1 to %d samples per second", value, RATE_MAX);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

const struct argp live_argp = {.options = OPTIONS, .parser = parse};
