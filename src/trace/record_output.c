#include "trace/record_output.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/array.h"
#include "util/clock.h"
#include "util/little_endian.h"
#include "util/write_all.h"

enum { BUFFER_BYTES = 1 << 20 /* written out when more than this waits */, FLUSH_AFTER_MS = 500 };

bool record_output_broken(struct record_output *output, struct error *error) {
    *error = output->failure;
    return false;
}

static bool fail_write(struct record_output *output, int failure, struct error *error) {
    output->broken = true;
    errno = failure;
    error_errno(&output->failure, "%s: cannot write more than %" PRIu64 " bytes", output->path,
                output->written);
    return record_output_broken(output, error);
}

/* An old file goes when there is something new. (An empty one is let be: what was truncated, ext4
 * writes to the disk when it is closed, for tenths of a second.) */
static bool begin_file(struct record_output *output, struct error *error) {
    struct stat status;
    if (output->truncate && (fstat(output->fd, &status) != 0 || status.st_size > 0) &&
        ftruncate(output->fd, 0) != 0)
        return fail_write(output, errno, error);
    output->truncate = false;
    return true;
}

/* ---- behind ---- */

static void write_behind(void *context, uint64_t number) {
    struct record_output *output = context;
    struct record_buffer *buffer = &output->behind[number];
    buffer->done = output->failed ? 0 : write_all(output->fd, buffer->bytes, buffer->used);
    buffer->failure = output->failed || buffer->done == buffer->used ? 0 : errno;
    output->failed |= buffer->failure != 0;
}

/* The oldest buffer is free. */
static bool settle_oldest(struct record_output *output, struct error *error) {
    struct record_buffer *buffer = &output->behind[output->next];
    output->next = (output->next + 1) % RECORD_BUFFERS;
    if (!buffer->used)
        return true;
    executor_wait(output->thread, buffer->ticket);
    buffer->used = 0;
    output->written += buffer->done;
    return !buffer->failure || fail_write(output, buffer->failure, error);
}

bool record_output_settle(struct record_output *output, struct error *error) {
    bool good = true;
    for (int i = 0; i < RECORD_BUFFERS; i++)
        good = settle_oldest(output, error) && good;
    return good;
}

/* The buffer goes to the thread, and the oldest that this had takes its place. */
static bool hand_over(struct record_output *output, struct error *error) {
    const uint32_t number = output->next;
    struct record_buffer *buffer = &output->behind[number];
    if (!settle_oldest(output, error) || !begin_file(output, error))
        return false;
    const struct record_buffer spare = *buffer;
    *buffer = (struct record_buffer){
        .bytes = output->buffer, .used = output->used, .capacity = output->capacity};
    output->buffer = spare.bytes;
    output->capacity = spare.capacity;
    output->given += output->used;
    output->used = 0;
    buffer->ticket = executor_submit(output->thread, write_behind, output, number);
    return true;
}

/* ---- here ---- */

bool record_output_flush(struct record_output *output, struct error *error) {
    if (!record_output_settle(output, error) || !begin_file(output, error))
        return false;
    const size_t done = write_all(output->fd, output->buffer, output->used);
    output->written += done;
    if (done < output->used)
        return fail_write(output, errno, error);
    output->given += output->used;
    output->used = 0;
    return true;
}

bool record_output_flush_if_due(struct record_output *output, struct error *error) {
    const double now = clock_monotonic();
    const bool large = output->used >= BUFFER_BYTES;
    if (!output->used || (!large && now - output->waiting_since < 1e-3 * FLUSH_AFTER_MS))
        return true;
    struct error ignored;
    output->waiting_since = now;
    if (large && !output->thread)
        output->thread = executor_new("writing", &ignored);
    return output->thread ? hand_over(output, error) : record_output_flush(output, error);
}

uint8_t *record_append(struct record_output *output, size_t size) {
    if (!array_reserve((void **)&output->buffer, &output->capacity, output->used + size, 1)) {
        output->full = true;
        return NULL;
    }
    output->used += size;
    return output->buffer + output->used - size;
}

void record_add_bytes(struct record_output *output, const void *bytes, size_t size) {
    uint8_t *at = record_append(output, size);
    if (at && size)
        memcpy(at, bytes, size);
}

void record_add_u32(struct record_output *output, uint32_t value) {
    uint8_t *at = record_append(output, 4);
    if (at)
        put_u32(at, value);
}

void record_add_u64(struct record_output *output, uint64_t value) {
    uint8_t *at = record_append(output, 8);
    if (at)
        put_u64(at, value);
}

void record_add_string(struct record_output *output, const char *text) {
    size_t size = text ? strlen(text) + 1 : 0;
    record_add_u32(output, (uint32_t)size);
    record_add_bytes(output, text, size);
}

bool record_output_no_memory(const struct record_output *output, struct error *error) {
    return error_set(error, "out of memory writing trace %s", output->path);
}

void record_begin(struct record_output *output, enum record_type type) {
    static const uint8_t rest[RECORD_HEAD_BYTES - 4];
    output->record = output->used;
    record_add_u32(output, type);
    record_add_bytes(output, rest, sizeof rest);
}

/* The checksum covers type, size and payload. */
bool record_end(struct record_output *output, struct error *error) {
    if (output->full)
        return record_output_no_memory(output, error);
    uint8_t *header = output->buffer + output->record;
    size_t size = output->used - output->record - RECORD_HEAD_BYTES;
    if (size > RECORD_MAX_BYTES) {
        output->used = output->record;
        return error_set(error, "a record of %zu bytes is too large for trace %s", size,
                         output->path);
    }
    put_u32(header + 4, (uint32_t)size);
    put_u64(header + 8, record_checksum(header, header + RECORD_HEAD_BYTES, size));
    return true;
}

bool record_output_open(struct record_output *output, struct error *error) {
    const char *path = output->path;
    const int flags = O_WRONLY | O_CLOEXEC | O_NOCTTY;
    bool standard = strcmp(path, "-") == 0;
    if (standard) {
        output->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    } else {
        output->fd = open(path, flags | O_CREAT | O_EXCL, 0666);
        output->created = output->fd >= 0;
        if (output->fd < 0 && errno == EEXIST)
            output->fd = open(path, flags | O_CREAT, 0666);
    }
    struct stat status;
    if (output->fd < 0 || fstat(output->fd, &status) != 0)
        return error_errno(error, "%s: cannot write", path);
    if (S_ISBLK(status.st_mode))
        return error_set(error, "%s is a block device: a trace would destroy what is on it", path);
    if (isatty(output->fd))
        return error_set(error, "%s is a terminal: write the trace to a file or a pipe",
                         standard ? "standard output" : path);
    output->truncate = !standard && S_ISREG(status.st_mode);
    if (output->truncate && flock(output->fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return error_set(error, "%s: another culprit is writing it (-o FILE: another file)", path);
    return true;
}

void record_output_free(struct record_output *output) {
    executor_free(output->thread);
    if (output->fd >= 0)
        close(output->fd);
    for (int i = 0; i < RECORD_BUFFERS; i++)
        free(output->behind[i].bytes);
    free(output->buffer);
    free(output->path);
}
