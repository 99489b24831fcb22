/* The records that files of traces and of samples are made of: a head of RECORD_HEAD_BYTES, which
 * holds type and payload size (32 bits each) and the checksum of these and of the payload (64),
 * then the payload. */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { RECORD_HEAD_BYTES = 16 };

/* XXH3 of the payload, with that of the first 8 bytes of the head as its seed. */
uint64_t record_checksum(const uint8_t *head, const uint8_t *payload, size_t size);

/* Writes the head of a record whose payload of `size` bytes stands behind it. */
void record_seal(uint8_t *record, uint32_t type, uint32_t size);
