#include "cluster/outside.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/array.h"
#include "util/clock.h"
#include "util/spawn.h"
#include "util/text.h"

enum { MOST_SAID = 64 << 20, PIECE = 1 << 16, ENDS = 2, LOOK_AGAIN_NANOSECONDS = 5000000 };

struct stream {
    int descriptor; /* -1: at its end */
    char *text;
    size_t size, capacity;
};

void last_line(const char *text, size_t size, char *line, size_t room) {
    size_t end = size;
    while (end && strchr(" \t\r\n", text[end - 1]))
        end--;
    size_t from = end;
    while (from && text[from - 1] != '\n')
        from--;
    const size_t length = end - from < room - 1 ? end - from : room - 1;
    memcpy(line, text + from, length);
    line[length] = 0;
}

/* False: too much, or out of memory. */
static bool read_some(struct stream *stream) {
    if (stream->size > MOST_SAID ||
        !array_room(stream->text, stream->capacity, stream->size + PIECE + 1))
        return false;
    const ssize_t got = read(stream->descriptor, stream->text + stream->size, PIECE);
    if (got < 0 && (errno == EINTR || errno == EAGAIN))
        return true;
    if (got <= 0) {
        close(stream->descriptor);
        stream->descriptor = -1;
    } else {
        stream->size += (size_t)got;
    }
    stream->text[stream->size] = 0;
    return true;
}

/* False with an error. What the program has started itself may hold the streams open: they are read
 * until they end, or the time has come. */
static bool listen_to(struct stream streams[ENDS], double until, const char *name,
                      struct error *error) {
    while (streams[0].descriptor >= 0 || streams[1].descriptor >= 0) {
        struct pollfd wanted[ENDS] = {{.fd = streams[0].descriptor, .events = POLLIN},
                                      {.fd = streams[1].descriptor, .events = POLLIN}};
        const double left = until - clock_monotonic();
        if (left <= 0)
            return error_set(error, "%s: no answer", name);
        if (poll(wanted, ENDS, (int)(1000 * left) + 1) < 0 && errno != EINTR)
            return error_errno(error, "%s", name);
        for (int i = 0; i < ENDS; i++)
            if (wanted[i].fd >= 0 && wanted[i].revents && !read_some(&streams[i]))
                return error_set(error, "%s: it says too much", name);
    }
    return true;
}

static bool await(pid_t child, bool kill_it, double until, int *status) {
    if (kill_it)
        kill(-child, SIGKILL);
    while (waitpid(child, status, WNOHANG) == 0) {
        if (!kill_it && clock_monotonic() > until) {
            kill(-child, SIGKILL);
            kill_it = true;
        }
        nanosleep(&(struct timespec){.tv_nsec = LOOK_AGAIN_NANOSECONDS}, NULL);
    }
    return !kill_it;
}

static bool run(struct outside *outside, struct stream streams[ENDS], const char *const *words,
                double seconds, struct error *error) {
    int out[2] = {-1, -1}, err[2] = {-1, -1}, status = 0;
    pid_t child;
    if (pipe2(out, O_CLOEXEC) != 0)
        return error_errno(error, "%s", words[0]);
    if (pipe2(err, O_CLOEXEC) != 0) {
        close(out[0]);
        close(out[1]);
        return error_errno(error, "%s", words[0]);
    }
    errno = spawn((char *const *)words, out[1], err[1], &child);
    const bool started = !errno || error_errno(error, "cannot run %s", words[0]);
    close(out[1]);
    close(err[1]);
    streams[0].descriptor = out[0];
    streams[1].descriptor = err[0];
    const double until = clock_monotonic() + seconds;
    bool good = started && listen_to(streams, until, words[0], error);
    if (started && !await(child, !good, until, &status) && good)
        good = error_set(error, "%s: no answer", words[0]);
    for (int i = 0; i < ENDS; i++)
        if (streams[i].descriptor >= 0)
            close(streams[i].descriptor);
    outside->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return good;
}

bool outside_run(struct outside *outside, const char *const *words, double seconds,
                 struct error *error) {
    struct stream streams[ENDS] = {0};
    char line[sizeof outside->complaint / 2];
    *outside = (struct outside){0};
    const bool good = run(outside, streams, words, seconds, error);
    outside->said = streams[0].text;
    outside->said_size = streams[0].size;
    last_line(streams[1].text ? streams[1].text : "", streams[1].size, line, sizeof line);
    text_clean(outside->complaint, sizeof outside->complaint, line);
    free(streams[1].text);
    return good && (outside->said || error_set(error, "out of memory for what %s says", words[0]));
}

void outside_free(struct outside *outside) {
    free(outside->said);
    *outside = (struct outside){0};
}
