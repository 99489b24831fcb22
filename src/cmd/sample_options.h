/* Which samples of the epochs chosen: the options that verbs share which read profiles. */
#pragma once

#include "cmd/option.h"
#include "store/store.h"

struct sample_options {
    const char *process, *host;  /* NULL: all */
    struct sample_choice choice; /* of the rest */
};
extern const struct option_group sample_group; /* --process, --pid, --thread, --cpu, --cgroup,
                                                  --since, --until, --host; group 1 */

/* " --pid 42", for the next useful command. */
void sample_options_put(const struct sample_options *options, FILE *file);
