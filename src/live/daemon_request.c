/* A daemon counts its merges, those that fail as well: when either count has grown since before the
 * signal, the answer is there. One that ends answers who waited for that before the signal. */
#include "live/daemon_request.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "live/daemon_lock.h"
#include "live/daemon_status.h"
#include "util/clock.h"
#include "util/text.h"

enum { PATIENCE_MS = 60000, POLL_MS = 20 };

static const int SIGNALS[] = {
    [DAEMON_FLUSH] = SIGUSR1, [DAEMON_NEW_EPOCH] = SIGHUP, [DAEMON_STOP] = SIGTERM};

static bool ask(struct daemon_status *status, struct error *error) {
    char path[PATH_MAX];
    if (!daemon_run_path(DAEMON_SOCKET, path, error))
        return false;
    char *answer = daemon_status_ask(path, error);
    bool read = answer && daemon_status_read(answer, status, error);
    free(answer);
    return read;
}

static bool await_merge(const struct daemon_status *before, int process, struct error *error) {
    struct daemon_status status;
    struct error unheard; /* one that merges answers afterwards */
    struct pollfd ended = {.fd = process, .events = POLLIN};
    for (double end = clock_monotonic() + 1e-3 * PATIENCE_MS; clock_monotonic() < end;) {
        if (poll(&ended, 1, POLL_MS) > 0)
            return error_set(error, "the daemon, process %d, ended meanwhile", (int)before->pid);
        if (!ask(&status, &unheard))
            continue;
        if (status.merges > before->merges)
            return true;
        if (status.failed_merges > before->failed_merges)
            return error_set(error, "the daemon cannot merge, and goes on counting: %.900s",
                             status.problem);
    }
    return error_set(error, "the daemon, process %d, has not merged within a minute",
                     (int)before->pid);
}

static bool await_end(pid_t pid, int last, int process, struct error *error) {
    struct pollfd ended = {.fd = process, .events = POLLIN};
    struct daemon_status status;
    struct error unheard;
    char *answer = daemon_status_receive(last, PATIENCE_MS, &unheard);
    const bool told = answer && daemon_status_read(answer, &status, error);
    free(answer);
    if (poll(&ended, 1, answer ? PATIENCE_MS : 0) <= 0)
        return error_set(error, "the daemon, process %d, has not ended within a minute", (int)pid);
    if (!answer)
        return error_set(error,
                         "the daemon, process %d, has ended, but not said whether it wrote what it "
                         "had counted",
                         (int)pid);
    if (told && status.problem[0])
        error_set(error,
                  "the daemon has ended, but %s sample%s that it had counted %s lost: %.800s",
                  text_grouped(status.unwritten).s, text_plural(status.unwritten),
                  status.unwritten == 1 ? "is" : "are", status.problem);
    return told && !status.problem[0];
}

static int connect_last(struct error *error) {
    char path[PATH_MAX];
    return daemon_run_path(DAEMON_LAST_SOCKET, path, error) ? daemon_status_connect(path, error)
                                                            : -1;
}

static bool ask_and_wait(enum daemon_request request, pid_t pid, int last,
                         const struct daemon_status *before, struct error *error) {
    int process = (int)syscall(SYS_pidfd_open, pid, 0);
    bool good = process >= 0 && kill(pid, SIGNALS[request]) == 0;
    if (!good)
        error_errno(error, "cannot signal the daemon, process %d (try sudo)", (int)pid);
    else
        good = request == DAEMON_STOP ? await_end(pid, last, process, error)
                                      : await_merge(before, process, error);
    if (process >= 0)
        close(process);
    return good;
}

bool daemon_request(enum daemon_request request, pid_t *pid, struct error *error) {
    struct daemon_status before;
    *pid = daemon_lock_pid(error);
    if (*pid == 0)
        error_set(error, "no daemon runs on this machine; to start one: culprit daemon");
    if (*pid <= 0 || !ask(&before, error))
        return false;
    int last = request == DAEMON_STOP ? connect_last(error) : -1;
    bool good =
        (request != DAEMON_STOP || last >= 0) && ask_and_wait(request, *pid, last, &before, error);
    if (last >= 0)
        close(last);
    return good;
}
