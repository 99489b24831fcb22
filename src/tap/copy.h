/* A copy of a tap's buffer that a worker makes for workers behind it, which see other words of µops
 * than the core recorded. */
#pragma once

#include "tap/tap.h"

/* NULL: out of memory. */
struct tap_buffer *tap_copy_new(void);
void tap_copy_free(struct tap_buffer *copy);
/* The same records, without lives. Its payload may be changed until its index is asked for. */
void tap_copy(struct tap_buffer *copy, const struct tap_buffer *buffer);
