/* The payload of a record, taken piece by piece. Numbers are little-endian. Reading past its end
 * gives zeros and sets `bad`. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct payload {
    const uint8_t *at, *end; /* what is left of it */
    bool bad;
};

/* Beyond the end: zeros for up to 32 bytes, NULL for more. */
const uint8_t *payload_bytes(struct payload *payload, size_t size);
uint32_t payload_u32(struct payload *payload);
uint64_t payload_u64(struct payload *payload);
bool payload_bool(struct payload *payload);
/* Length and characters, with their end. NULL for an absent string; `required` ones are then bad.
 */
const char *payload_string(struct payload *payload, bool required);
