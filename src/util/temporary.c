/* Paths are kept where a signal handler finds them. What has none in the table, because there are
 * more than it holds, is left behind by such an end, and only then. */
#include "util/temporary.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FOLDERS "culprit-run-" /* how names of folders begin */
#define OPEN    "/proc/self/fd/"

/* Its place; −1: there is none for it. */
static int put(char *_Atomic places[TEMPORARIES], char *path) {
    for (int i = 0; i < TEMPORARIES; i++) {
        char *none = NULL;
        if (atomic_compare_exchange_strong(&places[i], &none, path))
            return i;
    }
    return -1;
}

/* `lock`: descriptor, kept open as long as the path is there; without a place, until the end. */
static char *remember(struct temporaries *temporaries, char *path, int lock) {
    char *copy = strdup(path);
    if (copy && put(temporaries->names, copy) < 0)
        free(copy);
    const int place = put(temporaries->paths, path);
    if (place >= 0)
        temporaries->locks[place] = lock + 1;
    return path;
}

static void forget(struct temporaries *temporaries, char *path) {
    for (int i = 0; i < TEMPORARIES; i++) {
        char *known = path;
        if (temporaries->paths[i] != path)
            continue;
        const int lock = temporaries->locks[i] - 1;
        temporaries->locks[i] = 0;
        atomic_compare_exchange_strong(&temporaries->paths[i], &known, NULL);
        if (lock >= 0)
            close(lock);
        break;
    }
}

const char *temporary_parent(void) {
    const char *parent = getenv("TMPDIR");
    return parent && *parent ? parent : "/tmp";
}

/* A path below temporary_parent() for mkdtemp() or mkostemp() to complete. */
static char *new_path(struct error *error) {
    char *path;
    if (asprintf(&path, "%s/" FOLDERS "XXXXXX", temporary_parent()) >= 0)
        return path;
    return error_null(error, "out of memory");
}

static int open_folder(int parent, const char *path) {
    return openat(parent, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* opendir() is not safe in a signal handler. */
static void remove_folder(const char *path) {
    _Alignas(struct dirent64) char entries[4096];
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    ssize_t got;
    while (folder >= 0 && (got = syscall(SYS_getdents64, folder, entries, sizeof entries)) > 0)
        for (ssize_t at = 0; at < got;) {
            const struct dirent64 *entry = (const struct dirent64 *)(entries + at);
            unlinkat(folder, entry->d_name, 0);
            at += entry->d_reclen;
        }
    if (folder >= 0)
        close(folder);
    rmdir(path);
}

/* Folders of this user that nobody has locked. */
static void sweep(const char *parent) {
    DIR *all = opendir(parent);
    for (const struct dirent *entry; all && (entry = readdir(all));) {
        struct stat status;
        char path[4096];
        if (strncmp(entry->d_name, FOLDERS, sizeof FOLDERS - 1) != 0 ||
            snprintf(path, sizeof path, "%s/%s", parent, entry->d_name) >= (int)sizeof path)
            continue;
        const int folder = open_folder(dirfd(all), entry->d_name);
        if (folder < 0)
            continue;
        if (fstat(folder, &status) == 0 && status.st_uid == geteuid() &&
            flock(folder, LOCK_EX | LOCK_NB) == 0)
            remove_folder(path);
        close(folder);
    }
    if (all)
        closedir(all);
}

/* The lock of a folder that was just made; −1: another culprit has removed it before it was had. */
static int lock_folder(const char *path) {
    struct stat status;
    const int folder = open_folder(AT_FDCWD, path);
    if (folder >= 0 && flock(folder, LOCK_EX | LOCK_NB) == 0 && fstat(folder, &status) == 0 &&
        status.st_nlink)
        return folder;
    if (folder >= 0)
        close(folder);
    return -1;
}

/* A file system without locks has its folders removed by nobody. */
static bool has_locks(const char *path) {
    const int folder = open_folder(AT_FDCWD, path);
    const bool good = folder < 0 || flock(folder, LOCK_SH | LOCK_NB) == 0 || errno == EWOULDBLOCK;
    if (folder >= 0)
        close(folder);
    return good;
}

char *temporary_folder(struct temporaries *temporaries, struct error *error) {
    enum { TRIES = 20 };
    if (!temporaries->swept)
        sweep(temporary_parent());
    temporaries->swept = true;
    for (int i = 0; i < TRIES; i++) {
        char *folder = new_path(error);
        if (!folder)
            return NULL;
        if (!mkdtemp(folder)) {
            error_errno(error, "%s: cannot make a folder for traces (see TMPDIR)", folder);
            free(folder);
            return NULL;
        }
        const int lock = lock_folder(folder);
        if (lock >= 0 || !has_locks(folder))
            return remember(temporaries, folder, lock);
        free(folder);
    }
    return error_null(error, "folders for traces in %s are removed again at once (see TMPDIR)",
                      temporary_parent());
}

char *temporary_trace(struct temporaries *temporaries, const char *option, struct error *error) {
    char *path = new_path(error), *open;
    if (!path)
        return NULL;
    const int file = mkostemp(path, O_CLOEXEC);
    if (file < 0) {
        error_errno(error, "%s: %s: cannot make a file for the trace (see TMPDIR)", option, path);
        free(path);
        return NULL;
    }
    unlink(path);
    free(path);
    if (asprintf(&open, OPEN "%d", file) >= 0)
        return remember(temporaries, open, file);
    close(file);
    return error_null(error, "out of memory");
}

static void remove_path(const char *path) {
    if (unlink(path) != 0)
        remove_folder(path);
}

void temporary_remove(struct temporaries *temporaries, char *path) {
    if (!path)
        return;
    if (strncmp(path, OPEN, sizeof OPEN - 1) != 0)
        remove_path(path);
    forget(temporaries, path);
    free(path);
}

/* What to do where the folder is full. */
static void name_another(struct error *error) {
    const size_t length = strlen(error->message);
    if (error->number == ENOSPC)
        snprintf(error->message + length, sizeof error->message - length,
                 " (TMPDIR=FOLDER names another)");
}

void temporary_unname(const struct temporaries *temporaries, struct error *error) {
    const char *name;
    bool named = false;
    for (int i = 0; i < TEMPORARIES && (name = temporaries->names[i]); i++)
        for (char *at; (at = strstr(error->message, name));) {
            const struct error before = *error;
            const size_t start = (size_t)(at - error->message);
            const char *end = before.message + start + strlen(name);
            end += *end == '/' ? strcspn(end, ": ,;)") : strspn(end, "0123456789");
            snprintf(at, sizeof error->message - start, "a temporary file in %s%s",
                     temporary_parent(), end);
            named = true;
        }
    if (named)
        name_another(error);
}

void temporary_abandon(const struct temporaries *temporaries) {
    for (int i = 0; i < TEMPORARIES; i++) {
        const char *path = atomic_load(&temporaries->paths[i]);
        if (path)
            remove_path(path);
    }
}

void temporaries_free(struct temporaries *temporaries) {
    for (int i = 0; i < TEMPORARIES; i++)
        free(atomic_exchange(&temporaries->names[i], NULL));
}
