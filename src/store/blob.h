/* The blobs of the store (docs/store-format.md): values and symbols as columns of variable-length
 * numbers, compressed where that pays, with a checksum. Blobs may be hostile: decoding checks every
 * bound, and allocates at most BLOB_EXPANSION times the size of the blob and the structs for what
 * is in it. */
#pragma once

#include <zstd.h>

#include "store/store.h"

enum { BLOB_EXPANSION = 64 }; /* what a blob may become when decompressed, times its size */

/* Buffers that are used again from blob to blob; all zero at first. */
struct blob_codec {
    uint8_t *plain, *packed;
    size_t plain_capacity, packed_capacity;
    size_t size; /* of what was encoded, in `packed` */
    ZSTD_CCtx *compressor;
    ZSTD_DCtx *decompressor;
};
void blob_codec_free(struct blob_codec *codec);

/* Encodes sorted values into codec->packed. False: out of memory, or they are not sorted. */
bool blob_encode_values(struct blob_codec *codec, const struct store_value *values, size_t count,
                        struct error *error);
/* Into the growable array *values. */
bool blob_decode_values(struct blob_codec *codec, const uint8_t *blob, size_t size,
                        struct store_value **values, size_t *capacity, size_t *count,
                        struct error *error);

/* The same of symbols, sorted by start. Decoded, they and their names are one allocation, *symbols,
 * NULL when there are none. */
bool blob_encode_symbols(struct blob_codec *codec, const struct code_symbol *symbols, size_t count,
                         struct error *error);
bool blob_decode_symbols(struct blob_codec *codec, const uint8_t *blob, size_t size,
                         struct code_symbol **symbols, size_t *count, struct error *error);

/* The same of a calling context tree, parents before children. Decoded, that holds as well, and the
 * numbers of images are not negative. */
bool blob_encode_calls(struct blob_codec *codec, const struct store_call *calls, size_t count,
                       struct error *error);
bool blob_decode_calls(struct blob_codec *codec, const uint8_t *blob, size_t size,
                       struct store_call **calls, size_t *capacity, size_t *count,
                       struct error *error);
