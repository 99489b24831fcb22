/* Paths are kept where a signal handler finds them. What has none in the table, because there are
 * more than it holds, is left behind by such an end, and only then. */
#include "study/temporary.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* False: there is no place for it. */
static bool put(char *_Atomic places[TEMPORARIES], char *path) {
    for (int i = 0; i < TEMPORARIES; i++) {
        char *none = NULL;
        if (atomic_compare_exchange_strong(&places[i], &none, path))
            return true;
    }
    return false;
}

static char *remember(struct temporaries *temporaries, char *path) {
    char *copy = strdup(path);
    if (copy && !put(temporaries->names, copy))
        free(copy);
    put(temporaries->paths, path);
    return path;
}

static void forget(struct temporaries *temporaries, char *path) {
    for (int i = 0; i < TEMPORARIES; i++) {
        char *known = path;
        if (atomic_compare_exchange_strong(&temporaries->paths[i], &known, NULL))
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

char *temporary_folder(struct temporaries *temporaries, struct error *error) {
    char *folder = new_path("", error);
    if (!folder)
        return NULL;
    if (mkdtemp(folder))
        return remember(temporaries, folder);
    error_errno(error, "%s: cannot make a folder for traces (see TMPDIR)", folder);
    free(folder);
    return NULL;
}

char *temporary_trace(struct temporaries *temporaries, const char *option, struct error *error) {
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
    return remember(temporaries, path);
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

void temporary_remove(struct temporaries *temporaries, char *path) {
    if (!path)
        return;
    remove_path(path);
    forget(temporaries, path);
    free(path);
}

void temporary_unname(const struct temporaries *temporaries, struct error *error) {
    const char *name;
    for (int i = 0; i < TEMPORARIES && (name = temporaries->names[i]); i++)
        for (char *at; (at = strstr(error->message, name));) {
            const struct error before = *error;
            const size_t start = (size_t)(at - error->message);
            const char *end = before.message + start + strlen(name);
            end += *end == '/' ? strcspn(end, ": ,;)") : 0;
            snprintf(at, sizeof error->message - start, "a temporary file in %s%s",
                     temporary_parent(), end);
        }
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
