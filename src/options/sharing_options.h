/* Options that the verbs on threads that share caches have in common, `contend` and `throughput`:
 * which programs, what part of them, on which machine, by which model of contention. */
#pragma once

#include "model/contention.h"
#include "options/options.h"
#include "simulate/selection.h"
#include "study/localities.h"

enum { SHARING_MAX_WORDS = 256 };

struct sharing_options_given {
    const char *words[SHARING_MAX_WORDS]; /* arguments that are no options: traces and profiles */
    uint32_t word_count;
    struct selection selection;
    struct machine_options machine; /* may be a chip of many threads */
    struct contention_options contention;
    struct machine_choice choice; /* room for what the machine is loaded into */
};
/* Its request is a struct sharing_options_given, which it first sets to the defaults; the machine
 * is niagara. */
extern const struct option_group sharing_group;
