/* Anybody can write to the folder: a map counts only if the process's own user wrote it, and links
 * are not followed. */
#include "program/perf_map.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAP_BYTES_MAX = 64 << 20, NAME_BYTES_MAX = 512, LINE_BYTES = 1024 };

/* Hexadecimal, with or without 0x; NULL: none, or it does not fit. */
static const char *read_hex(const char *text, uint64_t *value) {
    char *end;
    if (*text == '-' || *text == '+' || *text == ' ')
        return NULL;
    errno = 0;
    *value = strtoull(text, &end, 16);
    return end == text || errno ? NULL : end;
}

static bool take_line(const char *line, struct symbol_cover *cover) {
    uint64_t start, size;
    const char *at = read_hex(line, &start);
    if (!at || *at != ' ' || !(at = read_hex(at + 1, &size)) || *at != ' ' || !size ||
        start + size < start)
        return true;
    size_t name = strnlen(++at, NAME_BYTES_MAX);
    return !name || symbol_cover_add(cover, start, size, at, name);
}

/* Reads the next line, of which it keeps what fits into `line`, with a NUL behind it. Returns its
 * size in the file, which is not bounded in a hostile one; 0: there are no more. */
static size_t read_line(FILE *stream, char line[LINE_BYTES]) {
    size_t size = 0, length = 0;
    for (int byte; size < MAP_BYTES_MAX && (byte = getc_unlocked(stream)) != EOF;) {
        size++;
        if (byte == '\n')
            break;
        if (length < LINE_BYTES - 1)
            line[length++] = (char)byte;
    }
    line[length] = 0;
    return size;
}

bool perf_map_read(int file, struct symbol_cover *cover) {
    FILE *stream = fdopen(file, "r");
    if (!stream) {
        close(file);
        return true;
    }
    char line[LINE_BYTES];
    size_t total = 0;
    bool good = true;
    for (size_t size; good && total < MAP_BYTES_MAX && (size = read_line(stream, line));
         total += size)
        good = take_line(line, cover);
    fclose(stream);
    return good;
}

static int open_map(const char *path, uid_t user) {
    struct stat found;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    if (file < 0)
        return -1;
    if (fstat(file, &found) == 0 && S_ISREG(found.st_mode) && found.st_uid == user)
        return file;
    close(file);
    return -1;
}

int perf_map_open(const char *proc, const char *files, uint32_t pid, uint32_t inner_pid,
                  uid_t user) {
    char path[PATH_MAX];
    if (user == (uid_t)-1)
        return -1;
    snprintf(path, sizeof path, "%s/%" PRIu32 "/root/tmp/perf-%" PRIu32 ".map", proc, pid,
             inner_pid);
    int file = open_map(path, user);
    if (file >= 0)
        return file;
    snprintf(path, sizeof path, "%s/tmp/perf-%" PRIu32 ".map", files, pid);
    return open_map(path, user);
}
