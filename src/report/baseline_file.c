/* Whoever writes has a lock on the file's directory while it reads what is there, writes the file
 * anew beside it and renames that: two gates that update one file lose nothing. */
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

enum { MAX_BYTES = 4 << 20 };

struct target {
    char path[PATH_MAX];           /* links followed */
    char temporary[PATH_MAX + 32]; /* "": none */
    char directory[PATH_MAX];
    mode_t mode;
    int lock; /* −1: none */
};

static bool find_target(struct target *target, const char *path, struct error *error) {
    struct stat existing;
    const bool exists = stat(path, &existing) == 0;
    *target = (struct target){.lock = -1};
    if (exists && !S_ISREG(existing.st_mode))
        return error_set(error, "%s: not a regular file", path);
    if (exists && access(path, W_OK) != 0)
        return error_errno(error, "%s: cannot write", path);
    if (exists ? !realpath(path, target->path)
               : snprintf(target->path, sizeof target->path, "%s", path) >= PATH_MAX)
        return error_set(error, "%s: the name is too long", path);
    const mode_t mask = umask(0);
    umask(mask);
    target->mode = exists ? existing.st_mode & 07777 : 0666 & ~mask;
    const char *slash = strrchr(target->path, '/');
    if (slash == target->path)
        strcpy(target->directory, "/");
    else if (slash)
        snprintf(target->directory, sizeof target->directory, "%.*s", (int)(slash - target->path),
                 target->path);
    else
        strcpy(target->directory, ".");
    return true;
}

static bool lock(struct target *target, struct error *error) {
    target->lock = open(target->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int status = -1;
    while (target->lock >= 0 && (status = flock(target->lock, LOCK_EX)) != 0 && errno == EINTR)
        continue;
    return status == 0 || error_errno(error, "%s: cannot lock its directory", target->path);
}

/* A stream to a file beside it; NULL with an error. */
static FILE *open_beside(struct target *target, struct error *error) {
    snprintf(target->temporary, sizeof target->temporary, "%s.XXXXXX", target->path);
    const int file = mkostemp(target->temporary, O_CLOEXEC);
    if (file < 0) {
        target->temporary[0] = 0;
        return error_errno(error, "%s: cannot make a file beside it", target->path), NULL;
    }
    if (fchmod(file, target->mode) != 0)
        errno = 0; /* a file system without permissions */
    FILE *stream = fdopen(file, "w");
    if (!stream) {
        error_errno(error, "%s", target->path);
        close(file);
    }
    return stream;
}

static void discard(struct target *target) {
    if (target->temporary[0])
        unlink(target->temporary);
    target->temporary[0] = 0;
    if (target->lock >= 0)
        close(target->lock);
    target->lock = -1;
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

static bool write_anew(struct target *target, const struct baseline *old, const char *const *names,
                       char *const *texts, size_t count, struct error *error) {
    FILE *file = open_beside(target, error);
    if (!file)
        return false;
    print(old, names, texts, count, file);
    bool good = fflush(file) == 0 && !ferror(file) && fsync(fileno(file)) == 0;
    good &= fclose(file) == 0;
    if (good && rename(target->temporary, target->path) == 0) {
        target->temporary[0] = 0;
        return true;
    }
    return error_errno(error, "%s: cannot write", target->path);
}

bool baseline_put(const char *path, const char *const *names, char *const *texts, size_t count,
                  struct error *error) {
    struct target target;
    struct baseline old = {0};
    bool good = find_target(&target, path, error) && lock(&target, error) &&
                baseline_read(&old, path, error) &&
                write_anew(&target, &old, names, texts, count, error);
    baseline_free(&old);
    discard(&target);
    return good;
}

bool baseline_check_writable(const char *path, struct error *error) {
    struct target target;
    FILE *file = find_target(&target, path, error) ? open_beside(&target, error) : NULL;
    const bool good = file;
    if (file)
        fclose(file);
    discard(&target);
    return good;
}
