#include "util/output.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static bool open_directly(struct output *output, struct error *error) {
    output->file = fopen(output->path, "we");
    return output->file || error_errno(error, "%s %s: cannot write", output->option, output->path);
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
    if (!new_file_find(&output->new_file, path, error))
        return error_prefix(error, "%s %s", option, path);
    if (output->new_file.special)
        return open_directly(output, error);
    output->file = new_file_open(&output->new_file);
    return output->file ||
           (output->new_file.exists
                ? open_directly(output, error)
                : error_errno(error, "%s %s: cannot make a file there", option, path));
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
    struct new_file *new_file = &output->new_file;
    if (!new_file_close(file, output->durable && new_file_is_made(new_file)))
        return error_errno(error, "%s %s: cannot write", output->option, output->path);
    return !new_file_is_made(new_file) || new_file_rename(new_file) ||
           error_errno(error, "%s %s: cannot put what is written there", output->option,
                       output->path);
}

bool output_flush(const char *what, struct error *error) {
    return (fflush(stdout) == 0 && !ferror(stdout)) || error_errno(error, "%s", what);
}

void output_discard(struct output *output) {
    if (output->file && output->taken)
        give_back_standard_output(output, output->file);
    else if (output->file && output->path)
        fclose(output->file);
    output->file = NULL;
    new_file_discard(&output->new_file);
}
