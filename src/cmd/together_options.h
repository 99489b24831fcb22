/* The options of verbs that simulate threads: together, or each alone. */
#pragma once

#include "cmd/option.h"
#include "study/together_threads.h"

extern const struct option_group together_group; /* of a struct together_request */
