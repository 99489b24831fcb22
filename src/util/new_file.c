#include "util/new_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
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

static int make_temporary(struct new_file *file) {
    snprintf(file->temporary, sizeof file->temporary, "%s.XXXXXX", file->target);
    const int descriptor = mkostemp(file->temporary, O_CLOEXEC);
    if (descriptor >= 0)
        at_kill_add(remove_temporary, file);
    else
        file->temporary[0] = 0;
    return descriptor;
}

/* It is there no longer. */
static void forget_temporary(struct new_file *file) {
    at_kill_remove(file);
    file->temporary[0] = 0;
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
    if (rename(file->temporary, file->target) != 0)
        return false;
    forget_temporary(file);
    return true;
}

void new_file_discard(struct new_file *file) {
    if (file->temporary[0])
        unlink(file->temporary);
    forget_temporary(file);
}
