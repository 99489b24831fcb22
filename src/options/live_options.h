/* What verbs have in common that sample the live machine: which events, how often. */
#pragma once

#include "live/slices.h"
#include "options/option.h"

struct live_options {
    const char *events; /* NULL: what the machine has (live_events_choose) */
    double rate;        /* samples per second and processor */
    bool rate_given;    /* by the user */
    bool stacks;
    bool no_symbols;
    uint64_t stack_bytes; /* copied; 0: no callers */
    bool slices_given;    /* by the user */
    struct sample_slicing slicing;
};
/* As if --stacks had been given. */
void live_options_take_stacks(struct live_options *options);
extern const struct option_group live_group; /* --events, --rate, --slices, --stacks, --stack-bytes,
                                                in group 1; fills in defaults */

/* Of --events list: prints them and ends. */
void options_list_events(const char *value);
