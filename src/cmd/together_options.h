/* The options of verbs that simulate threads: together, or each alone. */
#pragma once

#include "cmd/option.h"
#include "study/together_threads.h"

#define TOGETHER_ROW(slack_)                                                                       \
    COUNT("together", "CYCLES", slack_,                                                            \
          "No thread gets more than so many cycles ahead of the others (default: half of the "     \
          "shortest transfer of a line)",                                                          \
          .least = 1, .most = 1000000)

extern const struct option_group together_group; /* of a struct together_request */
