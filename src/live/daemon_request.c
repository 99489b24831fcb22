/* A daemon counts its merges, those that fail as well: when either count has grown since before the
 * signal, the answer is there. */
#include "live/daemon_request.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "live/daemon_lock.h"
#include "live/daemon_status.h"
#include "util/clock.h"

enum { PATIENCE_MS = 60000, POLL_MS = 20 };

static const int SIGNALS[] = {
    [DAEMON_FLUSH] = SIGUSR1, [DAEMON_NEW_EPOCH] = SIGHUP, [DAEMON_STOP] = SIGTERM};

static bool ask(struct daemon_status *status, struct error *error) {
    char path[PATH_MAX];
    if (!daemon_run_path("daemon.sock", path, error))
        return false;
    char *answer = daemon_status_ask(path, error);
    bool read = answer && daemon_status_read(answer, status, error);
    free(answer);
    return read;
}

static bool await_merge(const struct daemon_status *before, int process, struct error *error) {
    struct daemon_status status;
    struct pollfd ended = {.fd = process, .events = POLLIN};
    for (double end = clock_monotonic() + 1e-3 * PATIENCE_MS; clock_monotonic() < end;) {
        if (poll(&ended, 1, POLL_MS) > 0)
            return error_set(error, "the daemon, process %d, ended meanwhile", (int)before->pid);
        if (!ask(&status, error))
            return false;
        if (status.merges > before->merges)
            return true;
        if (status.failed_merges > before->failed_merges)
            return error_set(error, "the daemon cannot merge, and goes on counting: %.900s",
                             status.problem);
    }
    return error_set(error, "the daemon, process %d, has not merged within a minute",
                     (int)before->pid);
}

static bool await_end(pid_t pid, int process, struct error *error) {
    struct pollfd ended = {.fd = process, .events = POLLIN};
    return poll(&ended, 1, PATIENCE_MS) > 0 ||
           error_set(error, "the daemon, process %d, has not ended within a minute", (int)pid);
}

bool daemon_request(enum daemon_request request, pid_t *pid, struct error *error) {
    struct daemon_status before;
    *pid = daemon_lock_pid(error);
    if (*pid == 0)
        error_set(error, "no daemon runs on this machine; to start one: culprit daemon");
    if (*pid <= 0 || !ask(&before, error))
        return false;
    int process = (int)syscall(SYS_pidfd_open, *pid, 0);
    bool good = process >= 0 && kill(*pid, SIGNALS[request]) == 0;
    if (!good)
        error_errno(error, "cannot signal the daemon, process %d (try sudo)", (int)*pid);
    else
        good = request == DAEMON_STOP ? await_end(*pid, process, error)
                                      : await_merge(&before, process, error);
    if (process >= 0)
        close(process);
    return good;
}
