#include "trace/payload.h"

#include <string.h>

#include "util/little_endian.h"

const uint8_t *payload_bytes(struct payload *payload, size_t size) {
    static const uint8_t zeros[32];
    if (size > (size_t)(payload->end - payload->at)) {
        payload->bad = true;
        return size <= sizeof zeros ? zeros : NULL;
    }
    const uint8_t *at = payload->at;
    payload->at += size;
    return at;
}

uint32_t payload_u32(struct payload *payload) {
    return get_u32(payload_bytes(payload, 4));
}

uint64_t payload_u64(struct payload *payload) {
    return get_u64(payload_bytes(payload, 8));
}

bool payload_bool(struct payload *payload) {
    uint32_t value = payload_u32(payload);
    payload->bad |= value > 1;
    return value;
}

const char *payload_string(struct payload *payload, bool required) {
    uint32_t size = payload_u32(payload);
    if (size == 0) {
        payload->bad |= required;
        return required ? "" : NULL;
    }
    const uint8_t *at = payload_bytes(payload, size);
    if (payload->bad || memchr(at, 0, size) != at + size - 1) {
        payload->bad = true;
        return "";
    }
    return (const char *)at;
}
