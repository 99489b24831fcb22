/* Paths are kept where a signal handler finds them. What has none in the table, because there are
 * more than it holds, is left behind by such an end, and only then. */
#include "cmd/temporary.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PLACES = 64 };

static char *_Atomic places[PLACES];

/* Of all that were made, for messages; what a table of them does not hold is named. */
static char *_Atomic names[PLACES];

static char *remember(char *path) {
    char *copy = strdup(path);
    for (int i = 0; i < PLACES && copy; i++) {
        char *none = NULL;
        if (atomic_compare_exchange_strong(&names[i], &none, copy))
            copy = NULL;
    }
    free(copy);
    for (int i = 0; i < PLACES; i++) {
        char *none = NULL;
        if (atomic_compare_exchange_strong(&places[i], &none, path))
            break;
    }
    return path;
}

static void forget(char *path) {
    for (int i = 0; i < PLACES; i++) {
        char *known = path;
        if (atomic_compare_exchange_strong(&places[i], &known, NULL))
            break;
    }
}

const char *temporary_parent(void) {
    const char *parent = getenv("TMPDIR");
    return parent && *parent ? parent : "/tmp";
}

/* A path below temporary_parent() for mkdtemp() or mkstemps() to complete. */
static char *new_path(const char *ending, struct error *error) {
    char *path;
    if (asprintf(&path, "%s/culprit-XXXXXX%s", temporary_parent(), ending) >= 0)
        return path;
    error_set(error, "out of memory");
    return NULL;
}

char *temporary_folder(struct error *error) {
    char *folder = new_path("", error);
    if (!folder)
        return NULL;
    if (mkdtemp(folder))
        return remember(folder);
    error_errno(error, "%s: cannot make a folder for traces (see TMPDIR)", folder);
    free(folder);
    return NULL;
}

char *temporary_trace(const char *option, struct error *error) {
    char *path = new_path(".ctrace", error);
    if (!path)
        return NULL;
    int file = mkstemps(path, (int)sizeof ".ctrace" - 1);
    if (file < 0) {
        error_errno(error, "%s: %s: cannot make a file for the trace (see TMPDIR)", option, path);
        free(path);
        return NULL;
    }
    close(file);
    return remember(path);
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

static void remove_path(const char *path) {
    if (unlink(path) != 0)
        remove_folder(path);
}

void temporary_remove(char *path) {
    if (!path)
        return;
    remove_path(path);
    forget(path);
    free(path);
}

void temporary_unname(struct error *error) {
    for (int i = 0; i < PLACES && names[i]; i++)
        for (char *at; (at = strstr(error->message, names[i]));) {
            const struct error before = *error;
            const size_t start = (size_t)(at - error->message);
            const char *end = before.message + start + strlen(names[i]);
            end += *end == '/' ? strcspn(end, ": ,;)") : 0;
            snprintf(at, sizeof error->message - start, "a temporary file in %s%s",
                     temporary_parent(), end);
        }
}

void temporary_abandon(void) {
    for (int i = 0; i < PLACES; i++) {
        const char *path = atomic_load(&places[i]);
        if (path)
            remove_path(path);
    }
}
