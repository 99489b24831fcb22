/* Whoever writes has a lock on the file's directory while it reads what is there and writes a new
 * file in its place: two gates that update one file lose nothing. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/baseline.h"
#include "report/baseline_field.h"
#include "util/new_file.h"

enum { MAX_BYTES = 4 << 20 };

static bool find(struct new_file *file, const char *path, struct error *error) {
    if (!new_file_find(file, path, error))
        return error_prefix(error, "%s", path);
    return !file->special || error_set(error, "%s: not a regular file", path);
}

/* A stream to the new file; NULL with an error. */
static FILE *open_new(struct new_file *file, struct error *error) {
    FILE *stream = new_file_open(file);
    if (!stream)
        error_errno(error, "%s: cannot make a file beside it", file->target);
    return stream;
}

/* The directory that the file lies in, locked. −1 with an error. */
static int lock_directory(const struct new_file *file, struct error *error) {
    char directory[PATH_MAX] = ".";
    const char *slash = strrchr(file->target, '/');
    if (slash) /* of the root it is the whole name */
        snprintf(directory, sizeof directory, "%.*s",
                 slash == file->target ? 1 : (int)(slash - file->target), file->target);
    const int lock = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int status = -1;
    while (lock >= 0 && (status = flock(lock, LOCK_EX)) != 0 && errno == EINTR)
        continue;
    if (status == 0)
        return lock;
    error_errno(error, "%s: cannot lock its directory", file->target);
    if (lock >= 0)
        close(lock);
    return -1;
}

/* ---- contents ---- */

char *baseline_load(const char *path, size_t *size, bool *absent, struct error *error) {
    struct stat status;
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    *absent = file < 0 && errno == ENOENT;
    if (file < 0)
        return *absent ? NULL : (error_errno(error, "%s", path), NULL);
    char *text = NULL;
    if (fstat(file, &status) != 0)
        error_errno(error, "%s", path);
    else if (!S_ISREG(status.st_mode))
        error_set(error, "%s: not a regular file", path);
    else if (status.st_size > MAX_BYTES)
        error_set(error, "%s: larger than %d MiB, no baseline", path, MAX_BYTES >> 20);
    else if (!(text = malloc((size_t)status.st_size + 1)))
        error_set(error, "%s: out of memory", path);
    *size = 0;
    ssize_t got = 0;
    while (text && *size < (size_t)status.st_size &&
           (got = read(file, text + *size, (size_t)status.st_size - *size)) > 0)
        *size += (size_t)got;
    close(file);
    if (text)
        text[*size] = 0;
    if (got >= 0 || !text)
        return text;
    free(text);
    return error_errno(error, "%s", path), NULL;
}

static size_t index_of(const char *name, const char *const *names, size_t count) {
    size_t i = 0;
    while (i < count && strcmp(names[i], name) != 0)
        i++;
    return i;
}

/* What there was with the entries replaced, those that are new, and what was behind them. */
static void print(const struct baseline *old, const char *const *names, char *const *texts,
                  size_t count, FILE *file) {
    const char *at = old->text ? strchr(old->text, '\n') + 1 : "";
    const char *end = old->text ? old->end : at;
    fprintf(file, "culprit-baseline\t%d\n", BASELINE_FORMAT);
    for (size_t i = 0; i < old->count; i++) {
        const struct baseline_entry *entry = &old->entries[i];
        const size_t replaced = index_of(entry->name, names, count);
        fwrite(at, 1, (size_t)(entry->text - at), file);
        if (replaced < count)
            fputs(texts[replaced], file);
        else
            fwrite(entry->text, 1, entry->size, file);
        at = entry->text + entry->size;
    }
    fwrite(at, 1, (size_t)(end - at), file);
    for (size_t i = 0; i < count; i++)
        if (!baseline_find(old, names[i]))
            fputs(texts[i], file);
    fputs(*end ? end : "end\n", file);
}

static bool write_anew(struct new_file *new_file, const struct baseline *old,
                       const char *const *names, char *const *texts, size_t count,
                       struct error *error) {
    FILE *file = open_new(new_file, error);
    if (!file)
        return false;
    print(old, names, texts, count, file);
    return (new_file_close(file, true) && new_file_rename(new_file)) ||
           error_errno(error, "%s: cannot write", new_file->target);
}

bool baseline_put(const char *path, const char *const *names, char *const *texts, size_t count,
                  struct error *error) {
    struct new_file new_file = {0};
    struct baseline old = {0};
    int lock = -1;
    const bool good =
        find(&new_file, path, error) && (lock = lock_directory(&new_file, error)) >= 0 &&
        baseline_read(&old, path, error) && write_anew(&new_file, &old, names, texts, count, error);
    baseline_free(&old);
    new_file_discard(&new_file);
    if (lock >= 0)
        close(lock);
    return good;
}

bool baseline_check_writable(const char *path, struct error *error) {
    struct new_file new_file;
    FILE *file = find(&new_file, path, error) ? open_new(&new_file, error) : NULL;
    const bool good = file;
    if (file)
        fclose(file);
    new_file_discard(&new_file);
    return good;
}
