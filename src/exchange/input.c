/* zlib passes through what is not compressed. One buffer holds the longest line; what is left of it
 * moves to its beginning before it is filled again. */
#include "exchange/input.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool attach(struct input *input, int descriptor, struct error *error) {
    input->file = descriptor < 0 ? NULL : gzdopen(descriptor, "rb");
    if (input->file)
        return gzbuffer(input->file, 1 << 17), true;
    error_errno(error, "%s: cannot read", input->path);
    if (descriptor >= 0)
        close(descriptor);
    return false;
}

bool input_open(struct input *input, const char *path, struct error *error) {
    bool standard = !strcmp(path, "-");
    *input = (struct input){.path = standard ? "standard input" : path};
    int descriptor =
        standard ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3) : open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0 || fstat(descriptor, &input->status) != 0)
        return attach(input, descriptor, error);
    if (S_ISDIR(input->status.st_mode)) {
        close(descriptor);
        return error_set(error, "%s: is a folder, not a profile", input->path);
    }
    input->buffer = malloc(INPUT_LINE_MAX + 1);
    if (!input->buffer) {
        close(descriptor);
        return error_set(error, "%s: out of memory", input->path);
    }
    return attach(input, descriptor, error);
}

void input_close(struct input *input) {
    if (input->file)
        gzclose_r(input->file);
    free(input->buffer);
    *input = (struct input){0};
}

/* ---- errors ---- */

static bool fail(const struct input *input, struct error *error, const char *what, uint64_t where,
                 const char *format, va_list arguments) {
    char text[512];
    vsnprintf(text, sizeof text, format, arguments);
    return error_set(error, "%s: %s %" PRIu64 ": %s", input->path, what, where, text);
}

bool input_fail_line(const struct input *input, struct error *error, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fail(input, error, "line", input->line, format, arguments);
    va_end(arguments);
    return false;
}

bool input_fail_offset(const struct input *input, struct error *error, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fail(input, error, "offset", input->consumed, format, arguments);
    va_end(arguments);
    return false;
}

/* ---- reading ---- */

/* Reads until the buffer is full or the file ends. */
static bool fill(struct input *input, struct error *error) {
    memmove(input->buffer, input->buffer + input->begin, input->end - input->begin);
    input->end -= input->begin;
    input->begin = 0;
    while (!input->ended && input->end < INPUT_LINE_MAX) {
        int got = gzread(input->file, input->buffer + input->end,
                         (unsigned)(INPUT_LINE_MAX - input->end));
        int status;
        const char *message = gzerror(input->file, &status);
        if (got < 0 || (status != Z_OK && status != Z_STREAM_END))
            return input_fail_offset(input, error, "%s",
                                     status == Z_ERRNO       ? strerror(errno)
                                     : status == Z_BUF_ERROR ? "the compressed file ends too early"
                                                             : message);
        input->ended = got == 0;
        input->end += (size_t)got;
    }
    return true;
}

bool input_peek(struct input *input, const char **bytes, size_t *size, struct error *error) {
    if (!fill(input, error))
        return false;
    *bytes = input->buffer + input->begin;
    *size = input->end - input->begin;
    return true;
}

static void consume(struct input *input, size_t size) {
    input->begin += size;
    input->consumed += size;
}

int input_line(struct input *input, char **line, size_t *length, struct error *error) {
    size_t have = input->end - input->begin;
    char *start = input->buffer + input->begin;
    char *newline = have ? memchr(start, '\n', have) : NULL;
    if (!newline) {
        if (!fill(input, error))
            return -1;
        start = input->buffer;
        have = input->end;
        newline = have ? memchr(start, '\n', have) : NULL;
    }
    if (!have)
        return 0;
    input->line++;
    if (!newline && have == INPUT_LINE_MAX && !input->ended) {
        input_fail_line(input, error, "longer than a megabyte: this is no output of perf script");
        return -1;
    }
    *length = newline ? (size_t)(newline - start) : have;
    start[*length] = 0;
    if (memchr(start, 0, *length)) {
        input_fail_line(input, error, "a byte 0: this is no text");
        return -1;
    }
    consume(input, *length + (newline != NULL));
    *line = start;
    return 1;
}

int input_byte(struct input *input, uint8_t *byte, struct error *error) {
    if (input->begin == input->end && !fill(input, error))
        return -1;
    if (input->begin == input->end)
        return 0;
    *byte = (uint8_t)input->buffer[input->begin];
    consume(input, 1);
    return 1;
}

bool input_bytes(struct input *input, void *to, uint64_t size, struct error *error) {
    char *target = to;
    while (size) {
        if (input->begin == input->end && !fill(input, error))
            return false;
        size_t part = input->end - input->begin;
        if (!part)
            return input_fail_offset(input, error, "the file ends in the middle of a record");
        part = part < size ? part : size;
        if (target) {
            memcpy(target, input->buffer + input->begin, part);
            target += part;
        }
        consume(input, part);
        size -= part;
    }
    return true;
}

/* ---- twice ---- */

bool input_make_rewindable(struct input *input, struct error *error) {
    if (S_ISREG(input->status.st_mode))
        return true;
    FILE *copy = tmpfile();
    if (!copy)
        return error_errno(error, "%s: cannot make a temporary copy", input->path);
    bool good = true;
    uint64_t copied = 0;
    while (good && (good = fill(input, error)) && input->end) {
        if ((copied += input->end) > INPUT_PIPE_MAX)
            good = error_set(error,
                             "%s: more than 1 GiB from a pipe: write it into a file, import that",
                             input->path);
        else if (fwrite(input->buffer, 1, input->end, copy) != input->end)
            good = error_errno(error, "%s: cannot write a temporary copy", input->path);
        input->begin = input->end;
    }
    if (good && fflush(copy) != 0)
        good = error_errno(error, "%s: cannot write a temporary copy", input->path);
    int descriptor = good ? fcntl(fileno(copy), F_DUPFD_CLOEXEC, 3) : -1;
    fclose(copy);
    if (!good)
        return false;
    gzclose_r(input->file);
    if (descriptor >= 0)
        lseek(descriptor, 0, SEEK_SET);
    input->begin = input->end = 0;
    input->ended = false;
    return attach(input, descriptor, error);
}

bool input_rewind(struct input *input, struct error *error) {
    input->begin = input->end = 0;
    input->consumed = input->line = 0;
    input->ended = false;
    return gzrewind(input->file) == 0 || error_set(error, "%s: cannot be read twice", input->path);
}
