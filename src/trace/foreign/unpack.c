/* What is packed is known by its first bytes. Members of gzip follow each other, xz is
 * what liblzma reads. Of a zip file (PKWARE's APPNOTE 6.3) only the local headers are read, in
 * their order, so that it can come through a pipe; where a member ends says its deflated data, and
 * a stored one must have its size in its header.
 *
 * Memory is bounded by the windows of the packers: 32 KiB, and what an xz file asks for up to a
 * limit. */
#include "trace/foreign/unpack.h"

#include <inttypes.h>
#include <lzma.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "util/error.h"
#include "util/little_endian.h"

enum packing { PLAIN, GZIP, XZ, ZIP };
enum { CHUNK = 64 << 10, HEAD_MAX = 64 };
#define XZ_MEMORY_LIMIT (UINT64_C(512) << 20)

enum {
    ZIP_LOCAL = 0x04034b50,
    ZIP_DESCRIPTOR = 0x08074b50,
    ZIP_LOCAL_BYTES = 30,
    ZIP_SIZES_FOLLOW = 8, /* flag: behind the data */
    ZIP_STORED = 0,
    ZIP_DEFLATED = 8
};

struct unpack {
    struct record_input *input;
    enum packing packing;
    uint8_t head[HEAD_MAX]; /* read already, of the packed bytes */
    size_t head_at, head_size;

    uint8_t packed[CHUNK]; /* not yet taken by the packer */
    size_t at, end;
    bool input_ended;

    z_stream zlib;
    bool zlib_open;
    lzma_stream xz;
    bool in_member;       /* ZIP */
    bool stored;          /* the member is */
    bool sizes_follow;    /* the member */
    uint64_t stored_left; /* bytes of it */

    bool ended;
    uint64_t offset;
    uint8_t ahead[UNPACK_PEEK]; /* unpacked, to be handed out */
    size_t ahead_at, ahead_end;
};

static bool damaged(const struct unpack *unpack, struct error *error, const char *what) {
    return error_set(error, "%s, at byte %" PRIu64 " unpacked: %s; the file is damaged",
                     unpack->input->path, unpack->offset, what);
}

/* ---- packed bytes ---- */

static ssize_t read_packed(struct unpack *unpack, uint8_t *to, size_t size, struct error *error) {
    size_t left = unpack->head_size - unpack->head_at;
    size_t first = left < size ? left : size;
    memcpy(to, unpack->head + unpack->head_at, first);
    unpack->head_at += first;
    const ssize_t n = record_input_bytes(unpack->input, to + first, size - first, error);
    return n < 0 ? n : (ssize_t)first + n;
}

/* Something in `packed`, unless the input has ended. */
static bool fill(struct unpack *unpack, struct error *error) {
    if (unpack->at < unpack->end || unpack->input_ended)
        return true;
    const ssize_t n = read_packed(unpack, unpack->packed, sizeof unpack->packed, error);
    if (n < 0)
        return false;
    unpack->at = 0;
    unpack->end = (size_t)n;
    unpack->input_ended = n == 0;
    return true;
}

/* Exactly so many, across the buffer's end. False: error, or *missing. */
static bool take(struct unpack *unpack, uint8_t *to, size_t size, bool *missing,
                 struct error *error) {
    *missing = false;
    for (size_t done = 0; done < size;) {
        if (!fill(unpack, error))
            return false;
        const size_t ready = unpack->end - unpack->at;
        const size_t n = ready < size - done ? ready : size - done;
        if (!ready)
            return *missing = true, false;
        memcpy(to + done, unpack->packed + unpack->at, n);
        unpack->at += n;
        done += n;
    }
    return true;
}

static bool skip(struct unpack *unpack, size_t size, bool *missing, struct error *error) {
    uint8_t scratch[256];
    while (size > 0) {
        const size_t n = size < sizeof scratch ? size : sizeof scratch;
        if (!take(unpack, scratch, n, missing, error))
            return false;
        size -= n;
    }
    return true;
}

/* ---- gzip, and deflated members of zip ---- */

/* Some unpacked bytes; 0: the member has ended, or the input within it; −1: error. */
static ssize_t inflate_some(struct unpack *unpack, uint8_t *to, size_t size, bool *member_ended,
                            struct error *error) {
    z_stream *zlib = &unpack->zlib;
    zlib->next_out = to;
    zlib->avail_out = (uInt)size;
    *member_ended = false;
    while (zlib->avail_out == size) {
        if (!fill(unpack, error))
            return -1;
        if (unpack->at == unpack->end)
            return damaged(unpack, error, "it is cut short"), -1;
        zlib->next_in = unpack->packed + unpack->at;
        zlib->avail_in = (uInt)(unpack->end - unpack->at);
        const int status = inflate(zlib, Z_NO_FLUSH);
        unpack->at = unpack->end - zlib->avail_in;
        if (status == Z_STREAM_END) {
            *member_ended = true;
            break;
        }
        if (status != Z_OK && status != Z_BUF_ERROR)
            return damaged(unpack, error, zlib->msg ? zlib->msg : "it cannot be unpacked"), -1;
    }
    return (ssize_t)(size - zlib->avail_out);
}

static ssize_t gzip_some(struct unpack *unpack, uint8_t *to, size_t size, struct error *error) {
    for (;;) {
        bool member_ended;
        const ssize_t n = inflate_some(unpack, to, size, &member_ended, error);
        if (n < 0)
            return n;
        if (member_ended) {
            if (!fill(unpack, error))
                return -1;
            unpack->ended = unpack->at == unpack->end || unpack->packed[unpack->at] != 0x1f;
            inflateReset(&unpack->zlib);
        }
        if (n > 0 || unpack->ended)
            return n;
    }
}

/* ---- zip ---- */

/* The next member's header. False: error, or there is none (`ended`). */
static bool begin_member(struct unpack *unpack, struct error *error) {
    uint8_t header[ZIP_LOCAL_BYTES];
    bool missing;
    if (!take(unpack, header, sizeof header, &missing, error) || get_u32(header) != ZIP_LOCAL) {
        unpack->ended = missing || get_u32(header) != ZIP_LOCAL;
        return false;
    }
    const uint32_t flags = unpack_u16(header + 6), method = unpack_u16(header + 8);
    const uint32_t size = get_u32(header + 18);
    unpack->sizes_follow = flags & ZIP_SIZES_FOLLOW;
    unpack->stored = method == ZIP_STORED;
    unpack->stored_left = size;
    if (flags & 1)
        return error_set(error, "%s is encrypted: unpack it first", unpack->input->path);
    if (method != ZIP_STORED && method != ZIP_DEFLATED)
        return error_set(error, "%s is packed by method %" PRIu32 " of zip: unpack it first",
                         unpack->input->path, method);
    if (unpack->stored && (unpack->sizes_follow || size == UINT32_MAX))
        return error_set(error, "%s has a stored member of unknown size: unpack it first",
                         unpack->input->path);
    if (!skip(unpack, (size_t)unpack_u16(header + 26) + unpack_u16(header + 28), &missing, error)) {
        return missing ? damaged(unpack, error, "it is cut short") : false;
    }
    inflateReset(&unpack->zlib);
    return unpack->in_member = true;
}

/* Behind the data, with or without a signature, sizes of 4 or of 8 bytes: the next header follows.
 */
static bool end_member(struct unpack *unpack, struct error *error) {
    enum { LEAST = 12, MOST = 24 };
    uint8_t descriptor[MOST];
    bool missing;
    unpack->in_member = false;
    if (!unpack->sizes_follow)
        return true;
    if (!take(unpack, descriptor, LEAST, &missing, error))
        return missing ? damaged(unpack, error, "it is cut short") : false;
    if (get_u32(descriptor) == ZIP_DESCRIPTOR &&
        !take(unpack, descriptor + LEAST, 4, &missing, error))
        return missing ? damaged(unpack, error, "it is cut short") : false;
    if (!fill(unpack, error))
        return false;
    /* What follows begins with 'P' unless the sizes had 8 bytes. */
    if (unpack->at < unpack->end && unpack->packed[unpack->at] != 'P' &&
        !skip(unpack, 8, &missing, error))
        return missing ? damaged(unpack, error, "it is cut short") : false;
    return true;
}

static ssize_t stored_some(struct unpack *unpack, uint8_t *to, size_t size, bool *member_ended,
                           struct error *error) {
    if (!fill(unpack, error))
        return -1;
    size_t n = unpack->end - unpack->at;
    n = n < size ? n : size;
    n = n < unpack->stored_left ? n : (size_t)unpack->stored_left;
    if (!n && unpack->stored_left)
        return damaged(unpack, error, "it is cut short"), -1;
    memcpy(to, unpack->packed + unpack->at, n);
    unpack->at += n;
    unpack->stored_left -= n;
    *member_ended = !unpack->stored_left;
    return (ssize_t)n;
}

static ssize_t zip_some(struct unpack *unpack, uint8_t *to, size_t size, struct error *error) {
    for (;;) {
        bool member_ended;
        if (!unpack->in_member && !begin_member(unpack, error))
            return unpack->ended ? 0 : -1;
        const ssize_t n = unpack->stored ? stored_some(unpack, to, size, &member_ended, error)
                                         : inflate_some(unpack, to, size, &member_ended, error);
        if (n < 0 || (member_ended && !end_member(unpack, error)))
            return -1;
        if (n > 0)
            return n;
    }
}

/* ---- xz ---- */

static ssize_t xz_some(struct unpack *unpack, uint8_t *to, size_t size, struct error *error) {
    lzma_stream *xz = &unpack->xz;
    xz->next_out = to;
    xz->avail_out = size;
    while (xz->avail_out == size) {
        if (!fill(unpack, error))
            return -1;
        xz->next_in = unpack->packed + unpack->at;
        xz->avail_in = unpack->end - unpack->at;
        const lzma_ret status = lzma_code(xz, unpack->input_ended ? LZMA_FINISH : LZMA_RUN);
        unpack->at = unpack->end - xz->avail_in;
        if (status == LZMA_STREAM_END) {
            unpack->ended = true;
            break;
        }
        if (status == LZMA_MEMLIMIT_ERROR)
            return error_set(error, "%s needs more than %" PRIu64 " MiB to unpack: unpack it first",
                             unpack->input->path, XZ_MEMORY_LIMIT >> 20),
                   -1;
        if (status == LZMA_BUF_ERROR)
            return damaged(unpack, error, "it is cut short"), -1;
        if (status != LZMA_OK)
            return damaged(unpack, error, "it cannot be unpacked"), -1;
    }
    return (ssize_t)(size - xz->avail_out);
}

/* ---- all ---- */

static ssize_t plain_some(struct unpack *unpack, uint8_t *to, size_t size, struct error *error) {
    const ssize_t n = read_packed(unpack, to, size, error);
    unpack->ended = n == 0;
    return n;
}

static ssize_t some(struct unpack *unpack, uint8_t *to, size_t size, struct error *error) {
    if (unpack->ended || unpack->input->interrupted)
        return 0;
    switch (unpack->packing) {
    case GZIP:
        return gzip_some(unpack, to, size, error);
    case XZ:
        return xz_some(unpack, to, size, error);
    case ZIP:
        return zip_some(unpack, to, size, error);
    default:
        return plain_some(unpack, to, size, error);
    }
}

static ssize_t unpack_all(struct unpack *unpack, uint8_t *to, size_t size, struct error *error) {
    size_t done = 0;
    while (done < size) {
        const ssize_t n = some(unpack, to + done, size - done, error);
        if (n < 0)
            return unpack->input->interrupted ? (ssize_t)done : -1;
        if (n == 0)
            break;
        done += (size_t)n;
        unpack->offset += (uint64_t)n;
    }
    return (ssize_t)done;
}

ssize_t unpack_bytes(struct unpack *unpack, uint8_t *to, size_t size, struct error *error) {
    const size_t left = unpack->ahead_end - unpack->ahead_at;
    const size_t first = left < size ? left : size;
    memcpy(to, unpack->ahead + unpack->ahead_at, first);
    unpack->ahead_at += first;
    const ssize_t n = unpack_all(unpack, to + first, size - first, error);
    return n < 0 ? n : (ssize_t)first + n;
}

ssize_t unpack_peek(struct unpack *unpack, uint8_t *to, size_t size, struct error *error) {
    if (size > sizeof unpack->ahead)
        size = sizeof unpack->ahead;
    const ssize_t n = unpack_bytes(unpack, to, size, error);
    if (n > 0)
        memcpy(unpack->ahead, to, (size_t)n);
    unpack->ahead_at = 0;
    unpack->ahead_end = n > 0 ? (size_t)n : 0;
    return n;
}

const char *unpack_path(const struct unpack *unpack) {
    return unpack->input->path;
}

void unpack_interrupt(struct unpack *unpack) {
    unpack->input->interrupted = 1;
}

static enum packing packing_of(const uint8_t *head, size_t size) {
    static const uint8_t XZ_MAGIC[] = {0xfd, '7', 'z', 'X', 'Z', 0};
    if (size >= 3 && head[0] == 0x1f && head[1] == 0x8b && head[2] == 8)
        return GZIP;
    if (size >= sizeof XZ_MAGIC && !memcmp(head, XZ_MAGIC, sizeof XZ_MAGIC))
        return XZ;
    return size >= 4 && get_u32(head) == ZIP_LOCAL ? ZIP : PLAIN;
}

static bool begin(struct unpack *unpack) {
    enum { RAW = -15, GZIP_ONLY = 16 + 15 };
    if (unpack->packing == XZ)
        return lzma_stream_decoder(&unpack->xz, XZ_MEMORY_LIMIT, LZMA_CONCATENATED) == LZMA_OK;
    if (unpack->packing == PLAIN)
        return true;
    unpack->zlib_open =
        inflateInit2(&unpack->zlib, unpack->packing == ZIP ? RAW : GZIP_ONLY) == Z_OK;
    return unpack->zlib_open;
}

struct unpack *unpack_open(struct record_input *input, const uint8_t *head, size_t head_size,
                           struct error *error) {
    struct unpack *unpack = calloc(1, sizeof *unpack);
    if (!unpack) {
        error_set(error, "out of memory reading trace %s", input->path);
        record_input_close(input);
        free(input);
        return NULL;
    }
    unpack->input = input;
    unpack->head_size = head_size < HEAD_MAX ? head_size : HEAD_MAX;
    memcpy(unpack->head, head, unpack->head_size);
    unpack->packing = packing_of(head, head_size);
    if (!begin(unpack)) {
        error_set(error, "out of memory reading trace %s", input->path);
        unpack_close(unpack);
        return NULL;
    }
    return unpack;
}

void unpack_close(struct unpack *unpack) {
    if (unpack->zlib_open)
        inflateEnd(&unpack->zlib);
    if (unpack->packing == XZ)
        lzma_end(&unpack->xz);
    record_input_close(unpack->input);
    free(unpack->input);
    free(unpack);
}
