/* What the cycle-level core says of long data misses: each machine runs twice, as it is and with a
 * last-level data miss that takes no longer than a hit; the difference is what they cost. Branches
 * and instruction fetch are ideal, as the model has them (Chen 2009 §5.1). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "machine/machine.h"
#include "trace/trace.h"
#include "util/error.h"

struct core_input;
struct executor;

/* Of one thread on one machine. */
struct check_pair {
    struct core *real, *ideal;
};
bool check_pair_new(struct check_pair *pair, const struct machine *machine,
                    struct executor *const executors[2], struct error *error);
void check_pair_free(struct check_pair *pair);
bool check_pair_add(struct check_pair *pair, const struct core_input *input, struct error *error);
/* Instructions before the first: they warm caches. */
bool check_pair_warm(struct check_pair *pair, const struct core_input *input, struct error *error);
/* Adds the cycles of all it was given. */
bool check_pair_finish(struct check_pair *pair, uint64_t *cycles, uint64_t *cycles_ideal_long,
                       struct error *error);
