/* The bytes of a file that another tool wrote, unpacked on the way: plain, gzip, xz, or the members
 * of a zip file one after the other (deflated or stored). Inside of this room. */
#pragma once

#include "trace/record_input.h"

static inline uint32_t unpack_u16(const uint8_t *at) {
    return at[0] | (uint32_t)at[1] << 8;
}

struct unpack;

/* Takes over the input (allocated; freed with it, also on failure), of which `head` was read
 * already. */
struct unpack *unpack_open(struct record_input *input, const uint8_t *head, size_t head_size,
                           struct error *error);
void unpack_close(struct unpack *unpack);

/* Up to `size` bytes, fewer only before the end; −1: error. */
ssize_t unpack_bytes(struct unpack *unpack, uint8_t *to, size_t size, struct error *error);
/* The same, and they are handed out once more. At most UNPACK_PEEK. */
enum { UNPACK_PEEK = 16 << 10 };
ssize_t unpack_peek(struct unpack *unpack, uint8_t *to, size_t size, struct error *error);

const char *unpack_path(const struct unpack *unpack);
void unpack_interrupt(struct unpack *unpack); /* async-signal-safe: ends as at the end */
