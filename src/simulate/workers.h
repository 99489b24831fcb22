/* What a run attaches to the taps of its cores besides Oracle and the golden reference: profilers
 * and the summary of commits. Inside of the simulate room. */
#pragma once

#include "simulate/simulate.h"
#include "tap/tap.h"
#include "util/executor.h"

struct workers;
/* `shared`: the thread on which Oracle runs, or NULL, and then everything runs on the caller's. */
struct workers *workers_new(const struct simulation_options *options, struct executor *shared,
                            struct error *error);
/* Of profiles alone, whose lanes follow those of call paths, on the thread `shared`. */
struct workers *workers_new_of_paths(const struct simulation_options *options,
                                     struct executor *shared, struct error *error);
/* After the taps; waits for the threads. */
void workers_free(struct workers *workers);

/* What one tap has. On an error `*good` is false; workers_detach() either way. */
struct attached;
struct attached *workers_attach(struct workers *workers, struct tap *tap, bool *good,
                                struct error *error);
struct attached *workers_follow(struct workers *workers, struct call_lane *lane, bool *good,
                                struct error *error);
/* After the tap is freed. */
void workers_detach(struct workers *workers, struct attached *attached);

/* Hands the results over to the simulation, which owns them from then on. */
bool workers_finish(struct workers *workers, struct simulation *simulation, struct error *error);
/* Likewise, after those. */
bool workers_finish_paths(struct workers *workers, struct simulation *simulation,
                          struct error *error);
