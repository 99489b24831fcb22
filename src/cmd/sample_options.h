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

/* The list of epochs (as of --epoch; NULL: none was given) that is meant. */
const char *sample_options_epochs(const struct sample_options *options, const char *list);
/* Leaves those epochs that can have such samples. False, with an error: there is none. */
bool sample_options_narrow(struct store *store, const struct sample_options *options,
                           int64_t *sessions, size_t *count, struct error *error);

/* " --pid 42", for the next useful command. */
void sample_options_put(const struct sample_options *options, FILE *file);
