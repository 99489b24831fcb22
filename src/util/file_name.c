#include "util/file_name.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *file_base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

void file_name_from_maps(char *path) {
    static const char newline[] = "\\012";
    char *to = path;
    for (const char *from = path; *from; to++) {
        const bool escaped = !strncmp(from, newline, sizeof newline - 1);
        *to = escaped ? '\n' : *from;
        from += escaped ? sizeof newline - 1 : 1;
    }
    *to = 0;
}

bool file_name_from(const char *from, const char *drop, const char *ending,
                    char name[NAME_MAX + 1]) {
    const char *slash = strrchr(from, '/'), *base = slash ? slash + 1 : from;
    size_t length = strlen(base), dropped = drop ? strlen(drop) : 0;
    if (dropped && length > dropped && strcmp(base + length - dropped, drop) == 0)
        length -= dropped;
    return length && snprintf(name, NAME_MAX + 1, "%.*s%s", (int)length, base, ending) <= NAME_MAX;
}

bool file_is_at(const struct stat *file, const char *path) {
    struct stat other;
    return stat(path, &other) == 0 && other.st_dev == file->st_dev && other.st_ino == file->st_ino;
}

void file_remove_regular(const char *path) {
    struct stat status;
    if (stat(path, &status) == 0 && S_ISREG(status.st_mode))
        unlink(path);
}
