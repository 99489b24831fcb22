/* One buffer in front of write(). */
#include "util/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "util/write_all.h"

bool stream_open(struct stream *stream, const char *path, struct error *error) {
    *stream = (struct stream){.path = path, .file = -1};
    stream->buffer = malloc(STREAM_BUFFER);
    if (!stream->buffer)
        return error_set(error, "%s: out of memory for its buffer", path);
    stream->file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (stream->file >= 0)
        return true;
    free(stream->buffer);
    stream->buffer = NULL;
    return error_errno(error, "%s: cannot write", path);
}

static bool fail(struct stream *stream, struct error *error) {
    stream->failed = true;
    return error_errno(error, "%s: cannot write", stream->path);
}

static bool put(struct stream *stream, const void *data, size_t size, struct error *error) {
    if (stream->failed)
        return error_set(error, "%s: cannot write", stream->path);
    return write_all(stream->file, data, size) == size || fail(stream, error);
}

bool stream_flush(struct stream *stream, struct error *error) {
    size_t used = stream->used;
    stream->used = 0;
    return put(stream, stream->buffer, used, error);
}

bool stream_close(struct stream *stream, struct error *error) {
    if (!stream->buffer)
        return true;
    bool good = stream_flush(stream, error);
    if (close(stream->file) != 0 && good)
        good = fail(stream, error);
    free(stream->buffer);
    stream->buffer = NULL;
    return good;
}

bool stream_write(struct stream *stream, const void *data, size_t size, struct error *error) {
    if (size > STREAM_BUFFER)
        return stream_flush(stream, error) &&
               (stream->written += size, put(stream, data, size, error));
    char *room = stream_room(stream, size, error);
    if (!room)
        return false;
    memcpy(room, data, size);
    stream_advance(stream, size);
    return true;
}

bool stream_begin(struct stream *stream, const char *path, const void *head, size_t size,
                  struct error *error) {
    if (!stream_open(stream, path, error))
        return false;
    if (stream_write(stream, head, size, error))
        return true;
    struct error late;
    stream_close(stream, &late);
    return false;
}
