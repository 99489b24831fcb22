#include "util/new_file.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/at_kill.h"

bool new_file_find(struct new_file *file, const char *path, struct error *error) {
    struct stat existing;
    *file = (struct new_file){.exists = stat(path, &existing) == 0};
    file->special = file->exists && !S_ISREG(existing.st_mode);
    if (file->special)
        return true;
    if (file->exists && access(path, W_OK) != 0)
        return error_errno(error, "cannot write");
    if (file->exists
            ? !realpath(path, file->target)
            : snprintf(file->target, sizeof file->target, "%s", path) >= (int)sizeof file->target)
        return error_set(error, "the name is too long");
    const mode_t mask = umask(0);
    umask(mask);
    file->mode = file->exists ? existing.st_mode & 07777 : 0666 & ~mask;
    return true;
}

static void remove_temporary(const void *context) {
    unlink(((const struct new_file *)context)->temporary);
}

/* It is there no longer. */
static void forget_temporary(struct new_file *file) {
    at_kill_remove(file);
    file->temporary[0] = 0;
}

/* A name beside the target: its own, cut where that would be too long, and six digits. */
static bool choose_name(struct new_file *file) {
    enum { DIGITS = sizeof ".123456" - 1 };
    uint32_t random;
    if (getrandom(&random, sizeof random, 0) != sizeof random)
        return false;
    const char *slash = strrchr(file->target, '/');
    const char *last = slash ? slash + 1 : file->target;
    const size_t kept = strnlen(last, NAME_MAX - DIGITS);
    snprintf(file->temporary, sizeof file->temporary, "%.*s.%06x",
             (int)((size_t)(last - file->target) + kept), file->target, random & 0xffffff);
    return true;
}

/* Makes a file of a new name beside the target, or gives one that has none (`nameless` ≥ 0) that
 * name. Negative with errno: neither. */
static int put_name(struct new_file *file, int nameless) {
    enum { TRIES = 100 };
    char whole[64];
    int made = -1;
    snprintf(whole, sizeof whole, "/proc/self/fd/%d", nameless);
    for (int i = 0; i < TRIES && choose_name(file); i++) {
        made = nameless >= 0 ? linkat(AT_FDCWD, whole, AT_FDCWD, file->temporary, AT_SYMLINK_FOLLOW)
                             : open(file->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (made >= 0 || errno != EEXIST)
            break;
    }
    if (made >= 0)
        at_kill_add(remove_temporary, file);
    else
        file->temporary[0] = 0;
    return made;
}

/* A copy of what was written without a name, where that cannot be given one. Once it is written to
 * its end. False with errno: there is none. */
static bool copy_under_name(struct new_file *file) {
    const int named = put_name(file, -1);
    if (named < 0)
        return false;
    off_t from = 0;
    ssize_t moved;
    while ((moved = sendfile(named, file->descriptor, &from, INT_MAX)) > 0)
        ;
    bool good = moved == 0 && fsync(named) == 0;
    if (good && fchmod(named, file->mode) != 0)
        errno = 0; /* a file system without permissions */
    good &= close(named) == 0;
    if (!good) {
        const int why = errno;
        unlink(file->temporary);
        forget_temporary(file);
        errno = why;
    }
    return good;
}

/* A file without a name, which goes with its last descriptor, however culprit ends. Negative: the
 * file system has none, or nothing could give it a name later. */
static int make_nameless(const struct new_file *file) {
    char folder[PATH_MAX];
    snprintf(folder, sizeof folder, "%s", file->target);
    const int made = open(dirname(folder), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (made >= 0 && access("/proc/self/fd", X_OK) == 0)
        return made;
    if (made >= 0)
        close(made);
    return -1;
}

static int make_temporary(struct new_file *file) {
    const int nameless = make_nameless(file);
    if (nameless >= 0) {
        file->descriptor = fcntl(nameless, F_DUPFD_CLOEXEC, 0);
        file->nameless = file->descriptor >= 0;
        if (file->nameless)
            return nameless;
        close(nameless);
    }
    return put_name(file, -1);
}

bool new_file_is_made(const struct new_file *file) {
    return file->nameless || file->temporary[0];
}

bool new_file_name(struct new_file *file) {
    if (!file->nameless)
        return true;
    if (put_name(file, file->descriptor) < 0 && !copy_under_name(file))
        return false;
    close(file->descriptor);
    file->nameless = false;
    return true;
}

FILE *new_file_open(struct new_file *file) {
    const int descriptor = make_temporary(file);
    if (descriptor < 0)
        return NULL;
    if (fchmod(descriptor, file->mode) != 0)
        errno = 0; /* a file system without permissions */
    FILE *stream = fdopen(descriptor, "w");
    if (!stream) {
        const int why = errno;
        close(descriptor);
        new_file_discard(file);
        errno = why;
    }
    return stream;
}

bool new_file_close(FILE *stream, bool durable) {
    bool good = !ferror(stream);
    if (durable)
        good &= fflush(stream) == 0 && fsync(fileno(stream)) == 0;
    good &= fclose(stream) == 0;
    return good;
}

bool new_file_rename(struct new_file *file) {
    if (!new_file_name(file) || rename(file->temporary, file->target) != 0)
        return false;
    forget_temporary(file);
    return true;
}

void new_file_discard(struct new_file *file) {
    if (file->nameless)
        close(file->descriptor);
    file->nameless = false;
    if (file->temporary[0])
        unlink(file->temporary);
    forget_temporary(file);
}
