/* What the taps of a run share: buffers, and the first failure of a worker. Inside of
 * src/tap/. */
#pragma once

#include "tap/tap.h"

/* A tap comes or goes. Each tap holds a buffer, so the pool may have one buffer more, or one
 * less. */
void pool_join(struct tap_bus *bus);
void pool_leave(struct tap_bus *bus);

/* An empty buffer. Waits while TAP_POOL_BUFFERS are in use. NULL: out of memory. */
struct tap_buffer *pool_take(struct tap_bus *bus);

/* Hands the buffer to `references` executors, each of which gives it back once. */
void pool_hand_over(struct tap_bus *bus, struct tap_buffer *buffer, uint32_t references);
void pool_give_back(struct tap_bus *bus, struct tap_buffer *buffer);

/* A worker failed; the first failure is kept. */
void pool_fail(struct tap_bus *bus, const struct error *error);
/* False, with the first failure, if a worker failed. */
bool pool_good(struct tap_bus *bus, struct error *error);
