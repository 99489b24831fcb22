/* The hybrid model on one processor or two. With a second one some configurations are evaluated
 * there, in batches of events, while the first goes on with the trace and the other configurations.
 * What is predicted is the same bit by bit. */
#pragma once

#include "model/hybrid.h"
#include "util/executor.h"

struct hybrid_split;
/* `configs` are copied. `executor` is the second processor, and outlives the model; NULL: there is
 * none. NULL with an error: out of memory. */
struct hybrid_split *hybrid_split_new(const struct hybrid_config *configs, uint32_t count,
                                      struct executor *executor, struct error *error);
void hybrid_split_free(struct hybrid_split *split);

/* A data sink, its context a struct hybrid_split: the next events of a thread. */
void hybrid_split_take(void *context, const struct data_event *events, uint32_t count);

/* Of one configuration, over all events so far. */
struct hybrid_result hybrid_split_result(struct hybrid_split *split, uint32_t config);
