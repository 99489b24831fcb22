/* The seed ties the payload to its type and size. */
#include "util/record.h"

#include <xxhash.h>

#include "util/little_endian.h"

uint64_t record_checksum(const uint8_t *head, const uint8_t *payload, size_t size) {
    return XXH3_64bits_withSeed(payload, size, XXH3_64bits(head, 8));
}

void record_seal(uint8_t *record, uint32_t type, uint32_t size) {
    put_u32(record, type);
    put_u32(record + 4, size);
    put_u64(record + 8, record_checksum(record, record + RECORD_HEAD_BYTES, size));
}
