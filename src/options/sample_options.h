/* Which samples of the epochs chosen: the options that verbs share which read profiles. */
#pragma once

#include "options/option.h"
#include "store/store.h"

enum { SAMPLE_OPTIONS_HOSTS = 64, SAMPLE_OPTIONS_BUILDS = 16 };

struct sample_options {
    const char *process; /* NULL: all */
    const char *hosts[SAMPLE_OPTIONS_HOSTS];
    size_t host_count; /* 0: all */
    const char *builds[SAMPLE_OPTIONS_BUILDS];
    size_t build_count;          /* of verbs that compare: a set each; else 0 or 1 */
    struct sample_choice choice; /* of the rest; of a single build, too */
};
extern const struct option_group sample_group; /* --process, --pid, --thread, --cpu, --cgroup,
                                                  --since, --until, --host, --build; group 1 */
/* For verbs that take one build: exits when there are more. */
void sample_options_one_build(struct argp_state *state, const struct sample_options *options);

/* The value of an option as a moment, ns since 1970: "14:05", "10min ago". Exits on a mistake. */
int64_t options_moment(const struct argp_state *state, const char *option, const char *value);

/* " --pid 42", for the next useful command. */
void sample_options_put(const struct sample_options *options, FILE *file);
