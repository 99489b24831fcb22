/* The bytes of a sample file as its writer and reader share them; docs/sample-format.md. */
#pragma once

#include "samples/samples.h"
#include "util/little_endian.h"
#include "util/record_reader.h"

/* File: magic, version, four zero bytes; then records. */
#define SAMPLE_MAGIC                                                                               \
    "\x89"                                                                                         \
    "CSM\r\n\x1a\n"

enum {
    SAMPLE_VERSION_NINE = 1, /* signatures have no ST-FW yet */
    SAMPLE_VERSION = 2,
    SAMPLE_PROLOGUE_BYTES = RECORD_PROLOGUE_BYTES,
    SAMPLE_PAYLOAD_MAX = RECORD_PAYLOAD_MAX,
    SAMPLE_HEADER_FIXED = 40,
    SAMPLE_BUILD_ID_MAX = 20,
    SAMPLE_IMAGE_FIXED = 8 + SAMPLE_BUILD_ID_MAX,
    SAMPLE_PLACE_BYTES = 24,
    SAMPLE_END_BYTES = 8,
    SAMPLE_BYTES_MAX = 40 + (2 + 5 + SAMPLE_MAX_BANKS) * 8
};

enum sample_record {
    SAMPLE_HEADER = 1,
    SAMPLE_IMAGE,
    SAMPLE_PLACE,
    SAMPLE_SAMPLES,
    SAMPLE_END,
    SAMPLE_RECORD_TYPES
};

/* Of one sample. */
uint32_t sample_bytes(const struct sample_header *header);
void sample_pack(const struct sample_header *header, const struct sample *sample, uint8_t *bytes);
/* NULL, or what is wrong with it. */
const char *sample_unpack(const struct sample_header *header, const uint8_t *bytes,
                          struct sample *sample);
