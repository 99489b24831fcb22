/* The copying thread sleeps in poll() until there is input or it is told to stop; a command that
 * no longer reads breaks its pipe, which ends the copy as it would end whoever writes. */
#include "study/kept_input.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "study/study.h"
#include "util/temporary.h"
#include "util/write_all.h"

enum { BUFFER = 1 << 16 };

/* False: stop. */
static bool copy_some(struct kept_input *input, char *buffer) {
    struct pollfd wait[] = {{STDIN_FILENO, POLLIN, 0}, {input->stop, POLLIN, 0}};
    if (poll(wait, 2, -1) < 0)
        return errno == EINTR;
    if (wait[1].revents)
        return false;
    ssize_t size = read(STDIN_FILENO, buffer, BUFFER);
    if (size < 0 && (errno == EINTR || errno == EAGAIN))
        return true;
    if (size <= 0)
        return false;
    if (!input->enough && !input->failure &&
        write_all(input->file, buffer, (size_t)size) < (size_t)size)
        input->failure = errno; /* the first run goes on all the same */
    return write_all(input->to, buffer, (size_t)size) == (size_t)size;
}

static void *copy(void *context) {
    struct kept_input *input = context;
    char buffer[BUFFER];
    sigset_t all;
    sigfillset(&all); /* SIGPIPE too: it is the command's */
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    while (copy_some(input, buffer))
        ;
    close(input->to);
    return NULL;
}

/* A descriptor; −1 with an error. */
static int open_copy(struct error *error) {
    const int file = open(temporary_parent(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (file < 0)
        error_errno(error, "no temporary file to keep standard input in (set TMPDIR)");
    return file;
}

static bool is_pipe(void) {
    struct stat status;
    return fstat(STDIN_FILENO, &status) == 0 &&
           (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode));
}

/* Less than this passes between an interrupt and the end of the wait for input. */
enum { LOOK_MILLISECONDS = 100 };

/* False: none is there yet, or poll() was interrupted. */
static bool is_readable(void) {
    struct pollfd input = {STDIN_FILENO, POLLIN, 0};
    return poll(&input, 1, LOOK_MILLISECONDS) > 0;
}

/* False with errno, or as watch->signal asked. */
static bool copy_all(struct watch *watch, int file) {
    char buffer[BUFFER];
    ssize_t size = 1;
    while (size && !watch->signal) {
        progress_wait(&watch->progress,
                      "reading standard input to its end, for all runs (Ctrl-C ends it)");
        if (!is_readable())
            continue;
        size = read(STDIN_FILENO, buffer, sizeof buffer);
        if (size < 0 ? errno != EINTR && errno != EAGAIN
                     : write_all(file, buffer, (size_t)size) < (size_t)size)
            return false;
    }
    return !watch->signal && lseek(file, 0, SEEK_SET) == 0 &&
           dup2(file, STDIN_FILENO) == STDIN_FILENO;
}

bool kept_input_read_all(struct watch *watch, struct error *error) {
    if (!is_pipe())
        return true;
    const int file = open_copy(error);
    if (file < 0)
        return false;
    progress_start(&watch->progress, watch->stream, "reading", "bytes", 0);
    const bool good = copy_all(watch, file);
    if (watch->signal)
        error_set(error, "interrupted while standard input was read: nothing was run");
    else if (!good)
        error_errno(error, "cannot keep standard input");
    progress_finish(&watch->progress);
    close(file);
    return good;
}

static bool start_copy(struct kept_input *input, struct error *error) {
    int ends[2];
    if ((input->file = open_copy(error)) < 0)
        return false;
    if (pipe2(ends, O_CLOEXEC) < 0)
        return error_errno(error, "cannot keep standard input");
    input->first = ends[0];
    input->to = ends[1];
    input->stop = eventfd(0, EFD_CLOEXEC);
    input->copying = input->stop >= 0 && !pthread_create(&input->thread, NULL, copy, input);
    return input->copying || error_errno(error, "cannot keep standard input");
}

bool kept_input_start(struct kept_input *input, struct error *error) {
    *input = (struct kept_input){.file = -1, .to = -1, .stop = -1, .offset = -1};
    struct stat status;
    if (fstat(STDIN_FILENO, &status) < 0)
        return true; /* closed: for the second run, too */
    if (S_ISREG(status.st_mode))
        input->offset = lseek(STDIN_FILENO, 0, SEEK_CUR);
    return !is_pipe() || start_copy(input, error);
}

static bool is_kept(const struct kept_input *input, struct error *error) {
    errno = input->failure;
    return !errno || error_errno(error, "standard input could not be kept for a second run (set "
                                        "TMPDIR, or use --systematic)");
}

/* What the first run has read went into the copy before. */
bool kept_input_enough(struct kept_input *input, struct error *error) {
    input->enough = true;
    return is_kept(input, error);
}

bool kept_input_end(struct kept_input *input, struct error *error) {
    if (!input->copying)
        return true;
    uint64_t one = 1;
    /* The thread may wait for room in the pipe: without a reader that ends. */
    close(input->first);
    input->first = 0;
    if (write(input->stop, &one, sizeof one) == sizeof one)
        pthread_join(input->thread, NULL);
    input->copying = false;
    return input->enough || is_kept(input, error);
}

int kept_input_again(const struct kept_input *input, struct error *error) {
    char path[64];
    bool terminal = input->offset < 0 && input->file < 0;
    snprintf(path, sizeof path, "/proc/self/fd/%d", input->file >= 0 ? input->file : STDIN_FILENO);
    int file = open(terminal ? "/dev/null" : path, O_RDONLY | O_CLOEXEC);
    if (file >= 0 && input->offset > 0 && lseek(file, input->offset, SEEK_SET) < 0) {
        close(file);
        file = -1;
    }
    if (file < 0)
        error_errno(error, "standard input cannot be read again");
    return file;
}

void kept_input_free(struct kept_input *input) {
    struct error late;
    if (!input->stop)
        return; /* never started */
    kept_input_end(input, &late);
    if (input->file >= 0)
        close(input->file);
    if (input->first > 0)
        close(input->first);
    if (input->stop >= 0)
        close(input->stop);
    input->stop = 0;
}
