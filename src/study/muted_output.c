/* One thread reads both ends until it is told to stop. */
#include "study/muted_output.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

static void *forget(void *context) {
    const struct muted_output *output = context;
    char buffer[1 << 16];
    struct pollfd wait[] = {
        {output->ends[0], POLLIN, 0}, {output->ends[1], POLLIN, 0}, {output->stop, POLLIN, 0}};
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    while (poll(wait, 3, -1) >= 0 || errno == EINTR) {
        if (wait[2].revents)
            break;
        for (int i = 0; i < 2; i++)
            if (wait[i].revents && read(wait[i].fd, buffer, sizeof buffer) <= 0)
                wait[i].fd = -1;
    }
    return NULL;
}

static bool open_terminal(int *file, int *end) {
    *end = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    const char *name = *end >= 0 && !grantpt(*end) && !unlockpt(*end) ? ptsname(*end) : NULL;
    *file = name ? open(name, O_RDWR | O_NOCTTY | O_CLOEXEC) : -1;
    return *file >= 0;
}

static bool is_null(const struct stat *status) {
    struct stat null;
    return S_ISCHR(status->st_mode) && stat("/dev/null", &null) == 0 &&
           null.st_rdev == status->st_rdev;
}

static bool open_like(int original, int *file, int *end) {
    struct stat status;
    int ends[2];
    if (isatty(original))
        return open_terminal(file, end);
    if (fstat(original, &status) < 0 || is_null(&status)) {
        *file = open("/dev/null", O_WRONLY | O_CLOEXEC);
        return *file >= 0;
    }
    if (pipe2(ends, O_CLOEXEC) < 0)
        return false;
    *end = ends[0];
    *file = ends[1];
    return true;
}

bool muted_output_open(struct muted_output *output, struct error *error) {
    *output = (struct muted_output){
        .files = {-1, -1}, .ends = {-1, -1}, .stop = eventfd(0, EFD_CLOEXEC), .opened = true};
    bool good = output->stop >= 0 &&
                open_like(STDOUT_FILENO, &output->files[0], &output->ends[0]) &&
                open_like(STDERR_FILENO, &output->files[1], &output->ends[1]);
    output->reading = good && !pthread_create(&output->thread, NULL, forget, output);
    if (output->reading)
        return true;
    error_errno(error, "no place for the output of the second run");
    muted_output_close(output);
    return false;
}

void muted_output_close(struct muted_output *output) {
    uint64_t one = 1;
    if (!output->opened)
        return;
    if (output->reading && write(output->stop, &one, sizeof one) == sizeof one)
        pthread_join(output->thread, NULL);
    for (int i = 0; i < 2; i++) {
        if (output->files[i] >= 0)
            close(output->files[i]);
        if (output->ends[i] >= 0)
            close(output->ends[i]);
    }
    if (output->stop >= 0)
        close(output->stop);
    *output = (struct muted_output){0};
}
