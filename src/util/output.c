/* A symbolic link is followed first, so that the file it names is replaced and not the link. */
#include "util/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool open_directly(struct output *output, struct error *error) {
    output->file = fopen(output->path, "we");
    return output->file || error_errno(error, "%s %s: cannot write", output->option, output->path);
}

/* The permissions that a new file would get. */
static void set_mode(int file, const struct stat *existing) {
    mode_t mask = umask(0);
    umask(mask);
    if (fchmod(file, existing ? existing->st_mode & 07777 : 0666 & ~mask) != 0)
        errno = 0; /* a file system without permissions */
}

bool output_open(struct output *output, const char *option, const char *path, FILE *standard,
                 struct error *error) {
    memset(output, 0, sizeof *output);
    output->option = option;
    output->path = path;
    if (!path || !strcmp(path, "-")) {
        output->path = NULL;
        output->file = path ? stdout : standard;
        return true;
    }
    struct stat existing;
    bool exists = stat(path, &existing) == 0;
    if (exists && !S_ISREG(existing.st_mode))
        return open_directly(output, error);
    if (exists && access(path, W_OK) != 0)
        return error_errno(error, "%s %s: cannot write", option, path);
    if (exists ? !realpath(path, output->target)
               : snprintf(output->target, sizeof output->target, "%s", path) >=
                     (int)sizeof output->target) {
        return error_set(error, "%s %s: the name is too long", option, path);
    }
    snprintf(output->temporary, sizeof output->temporary, "%s.XXXXXX", output->target);
    int file = mkostemp(output->temporary, O_CLOEXEC);
    if (file < 0) {
        output->temporary[0] = 0;
        return exists ? open_directly(output, error)
                      : error_errno(error, "%s %s: cannot make a file there", option, path);
    }
    set_mode(file, exists ? &existing : NULL);
    output->file = fdopen(file, "w");
    if (!output->file) {
        error_errno(error, "%s %s", option, path);
        close(file);
        output_discard(output);
        return false;
    }
    return true;
}

bool output_take_standard(struct output *output, const char *option, struct error *error) {
    *output = (struct output){.option = option};
    fflush(stdout);
    int file = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    output->file = file >= 0 ? fdopen(file, "w") : NULL;
    if (!output->file || dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
        return error_errno(error, "cannot write the report to standard output");
    output->taken = true;
    return true;
}

static bool give_back_standard_output(struct output *output, FILE *file) {
    output->taken = false;
    dup2(fileno(file), STDOUT_FILENO);
    return fclose(file) == 0;
}

bool output_close(struct output *output, struct error *error) {
    FILE *file = output->file;
    output->file = NULL;
    if (output->taken) {
        bool good = !ferror(file);
        good &= give_back_standard_output(output, file);
        return good || errno == EPIPE || error_errno(error, "cannot write the report");
    }
    if (!output->path) {
        bool good = fflush(file) == 0 && !ferror(file);
        return good || errno == EPIPE || error_errno(error, "cannot write the report");
    }
    bool good = !ferror(file);
    if (output->durable && output->temporary[0])
        good &= fflush(file) == 0 && fsync(fileno(file)) == 0;
    good &= fclose(file) == 0;
    if (!good)
        return error_errno(error, "%s %s: cannot write", output->option, output->path);
    if (output->temporary[0] && rename(output->temporary, output->target) != 0)
        return error_errno(error, "%s %s: cannot rename %s", output->option, output->path,
                           output->temporary);
    output->temporary[0] = 0;
    return true;
}

void output_discard(struct output *output) {
    if (output->file && output->taken)
        give_back_standard_output(output, output->file);
    else if (output->file && output->path)
        fclose(output->file);
    output->file = NULL;
    if (output->temporary[0])
        unlink(output->temporary);
    output->temporary[0] = 0;
}
