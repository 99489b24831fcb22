/* A column at a time, since numbers of one kind resemble each other: distances of offsets, then
 * signatures (when there are any), then values. */
#include "store/blob.h"

#include <string.h>
#include <zlib.h>

#include "util/array.h"
#include "util/little_endian.h"

enum {
    FLAG_COMPRESSED = 1, /* the columns are a zstd frame; their size in bytes is before it */
    FLAG_SIGNATURES = 2, /* there is a column of signatures */
    CHECKSUM_BYTES = 4,
    NUMBER_BYTES_MAX = 10,
    HEAD_BYTES_MAX = CHECKSUM_BYTES + 1 + 2 * NUMBER_BYTES_MAX,
    COMPRESSION_LEVEL = 3,
    COMPRESSIBLE_BYTES = 64 /* less is not worth trying */
};

void blob_codec_free(struct blob_codec *codec) {
    free(codec->plain);
    free(codec->packed);
    ZSTD_freeCCtx(codec->compressor);
    ZSTD_freeDCtx(codec->decompressor);
    memset(codec, 0, sizeof *codec);
}

/* ---- numbers: seven bits a byte, the lowest first, the high bit set on all but the last ---- */

static uint8_t *put_number(uint8_t *to, uint64_t number) {
    while (number >= 0x80) {
        *to++ = (uint8_t)(number | 0x80);
        number >>= 7;
    }
    *to++ = (uint8_t)number;
    return to;
}

struct bytes {
    const uint8_t *at, *end;
};

static inline bool get_number(struct bytes *bytes, uint64_t *number) {
    uint64_t result = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        if (bytes->at == bytes->end)
            return false;
        uint8_t byte = *bytes->at++;
        if (shift == 63 && byte > 1)
            return false;
        result |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80)) {
            *number = result;
            return true;
        }
    }
    return false;
}

/* ---- the frame around the columns ---- */

static bool out_of_memory(struct error *error) {
    return error_set(error, "out of memory");
}

static bool reserve_plain(struct blob_codec *codec, size_t size) {
    return array_reserve((void **)&codec->plain, &codec->plain_capacity, size ? size : 1, 1);
}

/* Compresses the columns behind the head; 0 when it does not pay or cannot be. */
static size_t compress_columns(struct blob_codec *codec, size_t size, uint8_t *to) {
    if (size < COMPRESSIBLE_BYTES)
        return 0;
    if (!codec->compressor && !(codec->compressor = ZSTD_createCCtx()))
        return 0;
    size_t packed = ZSTD_compressCCtx(codec->compressor, to, ZSTD_compressBound(size), codec->plain,
                                      size, COMPRESSION_LEVEL);
    return !ZSTD_isError(packed) && packed + packed / 16 < size && size / BLOB_EXPANSION < packed
               ? packed
               : 0;
}

/* Makes the blob of the `size` bytes in codec->plain. */
static bool pack(struct blob_codec *codec, uint8_t flags, size_t count, size_t size,
                 struct error *error) {
    if (!array_reserve((void **)&codec->packed, &codec->packed_capacity,
                       HEAD_BYTES_MAX + ZSTD_compressBound(size), 1))
        return out_of_memory(error);
    uint8_t *head = codec->packed + CHECKSUM_BYTES, *at = put_number(head + 1, count);
    uint8_t sized[NUMBER_BYTES_MAX];
    size_t size_bytes = (size_t)(put_number(sized, size) - sized);
    size_t packed = compress_columns(codec, size, at + size_bytes);
    if (packed) {
        flags |= FLAG_COMPRESSED;
        memcpy(at, sized, size_bytes);
        at += size_bytes + packed;
    } else if (size) {
        memcpy(at, codec->plain, size);
        at += size;
    }
    *head = flags;
    codec->size = (size_t)(at - codec->packed);
    put_u32(codec->packed, (uint32_t)crc32_z(0, head, codec->size - CHECKSUM_BYTES));
    return true;
}

static bool decompress(struct blob_codec *codec, struct bytes *bytes, struct error *error) {
    size_t packed;
    uint64_t size;
    if (!get_number(bytes, &size) ||
        size / BLOB_EXPANSION > (packed = (size_t)(bytes->end - bytes->at)))
        return error_set(error, "the size of its columns is impossible");
    if (!reserve_plain(codec, size) ||
        (!codec->decompressor && !(codec->decompressor = ZSTD_createDCtx())))
        return out_of_memory(error);
    size_t got = ZSTD_decompressDCtx(codec->decompressor, codec->plain, size, bytes->at, packed);
    if (ZSTD_isError(got) || got != size)
        return error_set(error, "its columns cannot be decompressed");
    *bytes = (struct bytes){codec->plain, codec->plain + size};
    return true;
}

/* *columns becomes what the blob holds; each of its items takes `item_bytes` of them or more. */
static bool unpack(struct blob_codec *codec, const uint8_t *blob, size_t size, size_t item_bytes,
                   uint8_t *flags, size_t *count, struct bytes *columns, struct error *error) {
    if (size < CHECKSUM_BYTES + 2)
        return error_set(error, "it is too short");
    *columns = (struct bytes){blob + CHECKSUM_BYTES, blob + size};
    if (get_u32(blob) != (uint32_t)crc32_z(0, columns->at, size - CHECKSUM_BYTES))
        return error_set(error, "its checksum is wrong");
    *flags = *columns->at++;
    uint64_t items;
    if (*flags & ~(FLAG_COMPRESSED | FLAG_SIGNATURES))
        return error_set(error, "it is of a kind that this culprit does not know");
    if (!get_number(columns, &items))
        return error_set(error, "it is too short");
    if (*flags & FLAG_COMPRESSED && !decompress(codec, columns, error))
        return false;
    if (items > (size_t)(columns->end - columns->at) / item_bytes)
        return error_set(error, "it has fewer bytes than items");
    *count = (size_t)items;
    return true;
}

/* ---- values ---- */

static bool in_order(const struct store_value *before, const struct store_value *value) {
    return before->offset < value->offset ||
           (before->offset == value->offset && before->signature < value->signature);
}

bool blob_encode_values(struct blob_codec *codec, const struct store_value *values, size_t count,
                        struct error *error) {
    size_t most;
    if (__builtin_mul_overflow(count, (size_t)3 * NUMBER_BYTES_MAX, &most) ||
        !reserve_plain(codec, most))
        return out_of_memory(error);
    uint8_t *at = codec->plain;
    uint32_t any_signature = 0;
    for (size_t i = 0; i < count; i++) {
        if (i && !in_order(&values[i - 1], &values[i]))
            return error_set(error, "values are not sorted");
        at = put_number(at, values[i].offset - (i ? values[i - 1].offset : 0));
        any_signature |= values[i].signature;
    }
    for (size_t i = 0; any_signature && i < count; i++)
        at = put_number(at, values[i].signature);
    for (size_t i = 0; i < count; i++)
        at = put_number(at, values[i].value);
    return pack(codec, any_signature ? FLAG_SIGNATURES : 0, count, (size_t)(at - codec->plain),
                error);
}

static bool get_offsets(struct bytes *columns, struct store_value *values, size_t count) {
    uint64_t offset = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t distance;
        if (!get_number(columns, &distance) || __builtin_add_overflow(offset, distance, &offset))
            return false;
        values[i] = (struct store_value){.offset = offset};
    }
    return true;
}

static bool get_signatures(struct bytes *columns, struct store_value *values, size_t count) {
    for (size_t i = 0; i < count; i++) {
        uint64_t signature;
        if (!get_number(columns, &signature) || signature > UINT32_MAX)
            return false;
        values[i].signature = (uint32_t)signature;
    }
    return true;
}

bool blob_decode_values(struct blob_codec *codec, const uint8_t *blob, size_t size,
                        struct store_value **values, size_t *capacity, size_t *count,
                        struct error *error) {
    uint8_t flags = 0;
    struct bytes columns = {0};
    if (!unpack(codec, blob, size, 2, &flags, count, &columns, error))
        return false;
    if (!array_reserve((void **)values, capacity, *count, sizeof **values))
        return out_of_memory(error);
    bool good = get_offsets(&columns, *values, *count) &&
                (!(flags & FLAG_SIGNATURES) || get_signatures(&columns, *values, *count));
    for (size_t i = 0; good && i < *count; i++)
        good = get_number(&columns, &(*values)[i].value) &&
               (i == 0 || in_order(&(*values)[i - 1], &(*values)[i]));
    if (!good || columns.at != columns.end)
        return error_set(error, "its columns are no sorted values");
    return true;
}

/* ---- symbols ---- */

bool blob_encode_symbols(struct blob_codec *codec, const struct code_symbol *symbols, size_t count,
                         struct error *error) {
    size_t most = 0;
    for (size_t i = 0; i < count; i++)
        if (__builtin_add_overflow(most, 2 * NUMBER_BYTES_MAX + strlen(symbols[i].name) + 1, &most))
            return out_of_memory(error);
    if (!reserve_plain(codec, most))
        return out_of_memory(error);
    uint8_t *at = codec->plain;
    for (size_t i = 0; i < count; i++) {
        if (i && symbols[i].start < symbols[i - 1].start)
            return error_set(error, "symbols are not sorted");
        at = put_number(at, symbols[i].start - (i ? symbols[i - 1].start : 0));
    }
    for (size_t i = 0; i < count; i++)
        at = put_number(at, symbols[i].size);
    for (size_t i = 0; i < count; i++) {
        size_t length = strlen(symbols[i].name) + 1;
        memcpy(at, symbols[i].name, length);
        at += length;
    }
    return pack(codec, 0, count, (size_t)(at - codec->plain), error);
}

static bool get_symbols(struct bytes *columns, struct code_symbol *symbols, size_t count) {
    uint64_t start = 0, distance;
    for (size_t i = 0; i < count; i++) {
        if (!get_number(columns, &distance) || __builtin_add_overflow(start, distance, &start))
            return false;
        symbols[i].start = start;
    }
    return all_where(i, count, get_number(columns, &symbols[i].size));
}

/* The names, copied behind the symbols. */
static bool get_names(struct bytes *columns, struct code_symbol *symbols, size_t count) {
    size_t size = (size_t)(columns->end - columns->at);
    char *names = (char *)(symbols + count), *end = names + size;
    memcpy(names, columns->at, size);
    for (size_t i = 0; i < count; i++) {
        char *nul = memchr(names, 0, (size_t)(end - names));
        if (!nul)
            return false;
        symbols[i].name = names;
        names = nul + 1;
    }
    return names == end;
}

bool blob_decode_symbols(struct blob_codec *codec, const uint8_t *blob, size_t size,
                         struct code_symbol **symbols, size_t *count, struct error *error) {
    uint8_t flags = 0;
    struct bytes columns = {0};
    *symbols = NULL;
    if (!unpack(codec, blob, size, 3, &flags, count, &columns, error))
        return false;
    if (*count == 0)
        return columns.at == columns.end || error_set(error, "it has bytes but no symbols");
    /* `unpack` has seen as many bytes as symbols: neither product nor sum overflows. */
    *symbols = malloc(*count * sizeof **symbols + (size_t)(columns.end - columns.at));
    if (!*symbols)
        return out_of_memory(error);
    if (!(flags & FLAG_SIGNATURES) && get_symbols(&columns, *symbols, *count) &&
        get_names(&columns, *symbols, *count))
        return true;
    free(*symbols);
    *symbols = NULL;
    return error_set(error, "its columns are no symbols");
}

/* ---- calls ---- */

/* A parent is told by how far before its child it stands; 0: there is none. */
bool blob_encode_calls(struct blob_codec *codec, const struct store_call *calls, size_t count,
                       struct error *error) {
    size_t most;
    if (__builtin_mul_overflow(count, (size_t)4 * NUMBER_BYTES_MAX, &most) ||
        !reserve_plain(codec, most))
        return out_of_memory(error);
    uint8_t *at = codec->plain;
    for (size_t i = 0; i < count; i++) {
        if (calls[i].parent != STORE_CALL_TOP && calls[i].parent >= i)
            return error_set(error, "a caller does not stand before what it calls");
        at = put_number(at, calls[i].parent == STORE_CALL_TOP ? 0 : i - calls[i].parent);
    }
    for (size_t i = 0; i < count; i++)
        at = put_number(at, (uint64_t)calls[i].image);
    for (size_t i = 0; i < count; i++)
        at = put_number(at, calls[i].offset);
    for (size_t i = 0; i < count; i++)
        at = put_number(at, calls[i].value);
    return pack(codec, 0, count, (size_t)(at - codec->plain), error);
}

static bool get_callers(struct bytes *columns, struct store_call *calls, size_t count) {
    for (size_t i = 0; i < count; i++) {
        uint64_t distance;
        if (!get_number(columns, &distance) || distance > i)
            return false;
        calls[i] =
            (struct store_call){.parent = distance ? (uint32_t)(i - distance) : STORE_CALL_TOP};
    }
    return true;
}

static bool get_images(struct bytes *columns, struct store_call *calls, size_t count) {
    for (size_t i = 0; i < count; i++) {
        uint64_t image;
        if (!get_number(columns, &image) || image > INT64_MAX)
            return false;
        calls[i].image = (int64_t)image;
    }
    return true;
}

bool blob_decode_calls(struct blob_codec *codec, const uint8_t *blob, size_t size,
                       struct store_call **calls, size_t *capacity, size_t *count,
                       struct error *error) {
    uint8_t flags = 0;
    struct bytes columns = {0};
    if (!unpack(codec, blob, size, 4, &flags, count, &columns, error))
        return false;
    if (*count > STORE_CALLS_MAX)
        return error_set(error, "it has more calls than a tree may have");
    if (!array_reserve((void **)calls, capacity, *count, sizeof **calls))
        return out_of_memory(error);
    if ((flags & FLAG_SIGNATURES) || !get_callers(&columns, *calls, *count) ||
        !get_images(&columns, *calls, *count) ||
        !all_where(i, *count, get_number(&columns, &(*calls)[i].offset)) ||
        !all_where(i, *count, get_number(&columns, &(*calls)[i].value)) ||
        columns.at != columns.end)
        return error_set(error, "its columns are no calls");
    return true;
}
