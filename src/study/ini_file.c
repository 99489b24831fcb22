#include "study/ini_file.h"

#include <errno.h>
#include <ini.h>
#include <stdio.h>
#include <string.h>

struct reading {
    const struct ini_file *file;
    struct error *error;
    FILE *stream;
    int line;        /* from 1 */
    int failed_line; /* of the first error of ours; 0: none */
};

static int handle_key(void *context, const char *section, const char *key, const char *value) {
    struct reading *reading = context;
    const struct ini_file *file = reading->file;
    if (reading->failed_line)
        return 0;
    if (file->take(file->context, section, key, value, reading->error))
        return 1;
    reading->failed_line = reading->line;
    return 0;
}

static char *next_line(char *line, int size, void *context) {
    struct reading *reading = context;
    reading->line++;
    if (!fgets(line, size, reading->stream))
        return NULL;
    if (strlen(line) + 1 < (size_t)size || line[size - 2] == '\n')
        return line;
    if (!reading->failed_line) {
        error_set(reading->error, "longer than %d bytes", size - 2);
        reading->failed_line = reading->line;
    }
    return NULL;
}

bool ini_file_read(const struct ini_file *file, struct error *error) {
    struct reading reading = {.file = file, .error = error, .stream = fopen(file->path, "re")};
    if (!reading.stream)
        return error_errno(error, "%.200s", file->path);
    const int line = ini_parse_stream(next_line, &reading, handle_key, &reading);
    const bool unread = ferror(reading.stream);
    const int number = errno;
    fclose(reading.stream);
    errno = number;
    if (unread)
        return error_errno(error, "%.200s", file->path);
    if (reading.failed_line && (line <= 0 || line == reading.failed_line))
        return error_prefix(error, "%.200s:%d", file->path, reading.failed_line);
    if (line)
        return error_set(error, "%.200s:%d: neither [%s], key = value nor ; comment", file->path,
                         line > 0 ? line : reading.line, file->section);
    return true;
}
