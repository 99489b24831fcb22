/* The options of verbs that simulate threads: together, or each alone. */
#pragma once

#include "options/option.h"
#include "study/together_threads.h"

#define TOGETHER_ROW(slack_)                                                                       \
    COUNT("together", "CYCLES", slack_,                                                            \
          "No thread gets more than so many cycles ahead of the others (default: half of the "     \
          "shortest transfer of a line)",                                                          \
          .least = 1, .most = 1000000)

#define AFFINITY_ROW(take_)                                                                        \
    TAKE("affinity", "PLACES", take_,                                                              \
         "Keep threads on cores: 0,1,0 puts the first three on those, further ones in turn; "      \
         "1,3-5:0/2:1 threads 1 and 3 to 5 on core 0, thread 2 on core 1, others anywhere. More "  \
         "than one on a core take turns")
/* Adds what such a value says; exits on a mistake. */
void affinity_take(const struct argp_state *state, struct together_affinity *affinity,
                   const char *value);

extern const struct option_group together_group; /* of a struct together_request */
