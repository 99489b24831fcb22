/* The bytes of a file of samples as its writer and reader share them; docs/shotgun-format.md. */
#pragma once

#include "shotgun/file.h"
#include "util/little_endian.h"
#include "util/record_reader.h"

/* File: magic, version, four zero bytes; then records. */
#define SHOTGUN_MAGIC                                                                              \
    "\x89"                                                                                         \
    "CSG\r\n\x1a\n"

enum {
    SHOTGUN_VERSION = 5,
    SHOTGUN_PROLOGUE_BYTES = RECORD_PROLOGUE_BYTES,
    SHOTGUN_PAYLOAD_MAX = RECORD_PAYLOAD_MAX,
    SHOTGUN_TEXT_MAX = 65535,
    SHOTGUN_HEADER_BYTES = 64, /* then the texts */
    SHOTGUN_INSN_BYTES = 32,
    SHOTGUN_DESCRIBED = 1 << 8, /* beside the length: a description (isa/described.h) */
    SHOTGUN_SAMPLE_BYTES = 28,  /* then its µops */
    SHOTGUN_UOP_BYTES = 40,
    SHOTGUN_END_BYTES = 24
};

enum shotgun_record {
    SHOTGUN_HEADER = 1,
    SHOTGUN_CODE,
    SHOTGUN_SAMPLES,
    SHOTGUN_SIGNATURES,
    SHOTGUN_END
};

/* One sample with its µops; the bytes it takes. */
uint32_t shotgun_pack(const struct shotgun_sample *sample, const struct shotgun_uop *uops,
                      uint8_t *bytes);
/* Reads one of at most `size` bytes; *taken of them. NULL, or what is wrong with it. */
const char *shotgun_unpack(const uint8_t *bytes, uint32_t size, struct shotgun_sample *sample,
                           struct shotgun_uop uops[SHOTGUN_INSN_UOPS], uint32_t *taken);
