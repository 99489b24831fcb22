#include "trace/foreign/pack.h"

#include <lzma.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "util/output.h"

enum { BUFFER = 64 << 10, GZIP_LEVEL = 6, XZ_LEVEL = 2, GZIP_WINDOW = 16 + 15, MEMORY = 8 };
enum packing { PLAIN, GZIP, XZ };

struct pack {
    struct output output;
    const char *path;
    enum packing packing;
    bool ready; /* the packer is */
    z_stream zlib;
    lzma_stream xz;
    uint64_t written;
    uint8_t buffer[BUFFER];
};

static bool ends_in(const char *path, const char *ending) {
    const size_t length = strlen(path), size = strlen(ending);
    return length > size && strcmp(path + length - size, ending) == 0;
}

static bool begin(struct pack *pack) {
    if (pack->packing == GZIP)
        return deflateInit2(&pack->zlib, GZIP_LEVEL, Z_DEFLATED, GZIP_WINDOW, MEMORY,
                            Z_DEFAULT_STRATEGY) == Z_OK;
    return pack->packing == PLAIN ||
           lzma_easy_encoder(&pack->xz, XZ_LEVEL, LZMA_CHECK_CRC64) == LZMA_OK;
}

struct pack *pack_open(const char *path, struct error *error) {
    struct pack *pack = calloc(1, sizeof *pack);
    if (!pack)
        return error_null(error, "out of memory writing %s", path);
    pack->path = path;
    pack->packing = ends_in(path, ".gz") ? GZIP : ends_in(path, ".xz") ? XZ : PLAIN;
    pack->ready = begin(pack);
    if (!pack->ready)
        error_set(error, "out of memory writing %s", path);
    if (!pack->ready || !output_open(&pack->output, "--output", path, stdout, error)) {
        struct error ignored;
        pack_close(pack, false, NULL, &ignored);
        return NULL;
    }
    return pack;
}

static bool put(struct pack *pack, const uint8_t *bytes, size_t size, struct error *error) {
    pack->written += size;
    return fwrite(bytes, 1, size, pack->output.file) == size ||
           error_errno(error, "cannot write %s", pack->path);
}

static bool deflate_bytes(struct pack *pack, const uint8_t *bytes, size_t size, int flush,
                          struct error *error) {
    pack->zlib.next_in = (uint8_t *)bytes;
    pack->zlib.avail_in = (uInt)size;
    do {
        pack->zlib.next_out = pack->buffer;
        pack->zlib.avail_out = BUFFER;
        deflate(&pack->zlib, flush);
        if (!put(pack, pack->buffer, BUFFER - pack->zlib.avail_out, error))
            return false;
    } while (pack->zlib.avail_out == 0);
    return true;
}

static bool xz_bytes(struct pack *pack, const uint8_t *bytes, size_t size, lzma_action action,
                     struct error *error) {
    lzma_ret status;
    pack->xz.next_in = bytes;
    pack->xz.avail_in = size;
    do {
        pack->xz.next_out = pack->buffer;
        pack->xz.avail_out = BUFFER;
        status = lzma_code(&pack->xz, action);
        if (status != LZMA_OK && status != LZMA_STREAM_END)
            return error_set(error, "out of memory writing %s", pack->path);
        if (!put(pack, pack->buffer, BUFFER - pack->xz.avail_out, error))
            return false;
    } while (action == LZMA_FINISH ? status != LZMA_STREAM_END : pack->xz.avail_in > 0);
    return true;
}

bool pack_bytes(struct pack *pack, const uint8_t *bytes, size_t size, struct error *error) {
    if (pack->packing == GZIP)
        return deflate_bytes(pack, bytes, size, Z_NO_FLUSH, error);
    if (pack->packing == XZ)
        return xz_bytes(pack, bytes, size, LZMA_RUN, error);
    return put(pack, bytes, size, error);
}

uint64_t pack_written(const struct pack *pack) {
    return pack->written;
}

static bool finish(struct pack *pack, struct error *error) {
    if (pack->packing == GZIP)
        return deflate_bytes(pack, NULL, 0, Z_FINISH, error);
    return pack->packing == PLAIN || xz_bytes(pack, NULL, 0, LZMA_FINISH, error);
}

bool pack_close(struct pack *pack, bool keep, uint64_t *written, struct error *error) {
    bool good = !keep || (finish(pack, error) && output_close(&pack->output, error));
    output_discard(&pack->output);
    if (pack->ready && pack->packing == GZIP)
        deflateEnd(&pack->zlib);
    if (pack->ready && pack->packing == XZ)
        lzma_end(&pack->xz);
    if (written)
        *written = pack->written;
    free(pack);
    return good;
}
