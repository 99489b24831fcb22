/* The seed ties the payload to its type and size. */
#include "util/record.h"

#include <xxhash.h>

uint64_t record_checksum(const uint8_t *head, const uint8_t *payload, size_t size) {
    return XXH3_64bits_withSeed(payload, size, XXH3_64bits(head, 8));
}
