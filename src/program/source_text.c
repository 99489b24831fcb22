/* A file is read whole when a line of it is first asked for; the last few are kept. */
#include "program/source_text.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/array.h"

enum { KEPT_FILES = 16, LARGEST_FILE = 16 << 20, LINE_BYTES = 512 };

struct source_file {
    char *name;
    char *bytes;    /* NULL: it cannot be read */
    size_t *starts; /* of its lines, and one more */
    size_t count, capacity;
};

struct source_text {
    struct source_file files[KEPT_FILES];
    size_t used, oldest;
    char line[LINE_BYTES];
};

struct source_text *source_text_new(void) {
    return calloc(1, sizeof(struct source_text));
}

static void drop(struct source_file *file) {
    free(file->name);
    free(file->bytes);
    free(file->starts);
    *file = (struct source_file){0};
}

void source_text_free(struct source_text *text) {
    for (size_t i = 0; text && i < text->used; i++)
        drop(&text->files[i]);
    free(text);
}

/* NULL: no regular file that can be read. */
static char *read_whole(const char *name, size_t *size) {
    int file = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat status;
    char *bytes = NULL;
    *size = 0;
    if (file >= 0 && fstat(file, &status) == 0 && S_ISREG(status.st_mode) &&
        status.st_size <= LARGEST_FILE && (bytes = malloc((size_t)status.st_size + 1))) {
        for (ssize_t got; *size < (size_t)status.st_size; *size += (size_t)got)
            if ((got = read(file, bytes + *size, (size_t)status.st_size - *size)) <= 0)
                break;
    }
    if (file >= 0)
        close(file);
    return bytes;
}

static bool index_lines(struct source_file *file, size_t size) {
    for (size_t at = 0; at <= size;) {
        if (!array_reserve((void **)&file->starts, &file->capacity, file->count + 2,
                           sizeof *file->starts))
            return false;
        file->starts[file->count++] = at;
        const char *end = at < size ? memchr(file->bytes + at, '\n', size - at) : NULL;
        at = end ? (size_t)(end - file->bytes) + 1 : size + 1;
        file->starts[file->count] = at;
    }
    return true;
}

static struct source_file *file_of(struct source_text *text, const char *name) {
    for (size_t i = 0; i < text->used; i++)
        if (!strcmp(text->files[i].name, name))
            return &text->files[i];
    char *copy = strdup(name);
    if (!copy)
        return NULL;
    struct source_file *file = &text->files[text->oldest];
    if (text->used < KEPT_FILES)
        file = &text->files[text->used++];
    else
        text->oldest = (text->oldest + 1) % KEPT_FILES;
    drop(file);
    file->name = copy;
    size_t size;
    file->bytes = read_whole(name, &size);
    if (file->bytes && !index_lines(file, size)) {
        free(file->bytes);
        file->bytes = NULL;
    }
    return file;
}

/* A line without what ends it; NULL: there is none. */
static const char *find_line(struct source_text *text, const char *name, uint32_t line,
                             size_t *length) {
    const struct source_file *file = file_of(text, name);
    if (!file || !file->bytes || line == 0 || line > file->count)
        return NULL;
    const char *at = file->bytes + file->starts[line - 1];
    *length = file->starts[line] - file->starts[line - 1] - 1;
    while (*length && (at[*length - 1] == '\r' || at[*length - 1] == ' '))
        --*length;
    return at;
}

const char *source_text_line(struct source_text *text, const char *name, uint32_t line) {
    size_t length;
    const char *at = find_line(text, name, line, &length);
    if (!at)
        return NULL;
    while (length && (*at == ' ' || *at == '\t'))
        at++, length--;
    length = length < LINE_BYTES ? length : LINE_BYTES - 1;
    for (size_t i = 0; i < length; i++)
        text->line[i] = at[i] == '\t' || !at[i] ? ' ' : at[i];
    text->line[length] = 0;
    return text->line;
}

const char *source_text_whole_line(struct source_text *text, const char *name, uint32_t line) {
    enum { TAB = 8 };
    size_t length, column = 0;
    const char *at = find_line(text, name, line, &length);
    if (!at)
        return NULL;
    for (size_t i = 0; i < length && column < LINE_BYTES - 1; i++) {
        const size_t end = at[i] == '\t' ? (column / TAB + 1) * TAB : column + 1;
        for (; column < end && column < LINE_BYTES - 1; column++)
            text->line[column] = at[i] == '\t' || !at[i] ? ' ' : at[i];
    }
    text->line[column] = 0;
    return text->line;
}
