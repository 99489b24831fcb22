/* When the traced processes begin and end: which of them have died, and the signals that end them
 * at an interrupt, a limit or a time. */
#include "trace/qemu/capture.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trace/qemu/made_code.h"
#include "util/array.h"
#include "util/clock.h"
#include "util/text.h"

static const double HELLO_SECONDS = 1; /* from fork to the child's first word */
static const double GRACE_SECONDS = 1; /* between interrupt, SIGTERM and SIGKILL */
static const double LEAVE_SECONDS = 5; /* between SIGTERM and SIGKILL when its time is over */

static void reap_child(struct capture *capture) {
    int status;
    if (capture->child_reaped || waitpid(capture->child, &status, WNOHANG) != capture->child)
        return;
    capture->child_reaped = true;
    capture->exit =
        (struct trace_exit){.known = !capture->stopped,
                            .stopped = capture->stopped && !capture->interrupted,
                            .signaled = WIFSIGNALED(status),
                            .status = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status)};
}

static bool is_dead(const struct capture *capture, const struct traced *process) {
    if (process->pid == capture->child)
        return capture->child_reaped;
    struct pollfd poller = {.fd = process->pidfd, .events = POLLIN};
    if (process->pidfd < 0)
        return kill(process->pid, 0) < 0 && errno == ESRCH;
    return poll(&poller, 1, 0) > 0 && poller.revents;
}

/* A dead process may have forked a child that has not sent RING_HELLO yet and needs its blocks. If
 * the fork failed, or the child was killed first, waiting for it ends after a while. */
static bool awaits_child(const struct capture *capture, uint32_t slot) {
    const struct ring_process *shared = &capture->control->processes[slot];
    return atomic_load(&shared->forks_begun) != atomic_load(&shared->forks_arrived) &&
           clock_monotonic() - capture->slots[slot].ended_at < HELLO_SECONDS;
}

bool lives_end_dead(struct capture *capture) {
    bool changed = false;
    reap_child(capture);
    for (uint32_t i = 0; i < RING_PROCESSES; i++) {
        struct traced *process = &capture->slots[i];
        if (!process->live)
            continue;
        if (!process->ending && is_dead(capture, process)) {
            chunks_harvest(capture, i);
            process->ending = true;
            process->ended_at = clock_monotonic();
            changed = true;
        }
        if (process->ending && !awaits_child(capture, i) && !chunks_pending(capture, i)) {
            made_code_name(capture, process);
            records_leave(capture, i);
            changed = true;
        }
    }
    return changed;
}

bool lives_any(const struct capture *capture) {
    return any_where(i, RING_PROCESSES,
                     capture->slots[i].live &&
                         (!capture->slots[i].ending || awaits_child(capture, i))) ||
           !capture->child_reaped;
}

/* Those that were forked after the end of the capture, which it does not know, kill themselves. */
static void signal_all(const struct capture *capture, int signal) {
    if (signal == SIGKILL) {
        atomic_store(&capture->control->stop, 1);
        atomic_store(&capture->control->phase, RING_DONE);
    }
    if (!capture->child_reaped)
        kill(capture->child, signal);
    for (uint32_t i = 0; i < RING_PROCESSES; i++) {
        const struct traced *process = &capture->slots[i];
        if (process->live && !process->ending && process->pid != capture->child &&
            process->pidfd >= 0)
            syscall(SYS_pidfd_send_signal, process->pidfd, signal, NULL, 0);
    }
}

void lives_begin_when_told(struct capture *capture) {
    uint32_t skipping = RING_SKIP;
    if (!capture->begin || capture->told_to_begin || !*capture->begin)
        return;
    capture->told_to_begin =
        atomic_compare_exchange_strong(&capture->control->phase, &skipping, RING_CAPTURE);
    if (capture->told_to_begin)
        capture_note(capture, "captured from the signal on, %s after the start",
                     text_duration(clock_monotonic() - capture->started_at).s);
}

void lives_end_in_time(struct capture *capture) {
    struct ring_control *control = capture->control;
    if (!capture->seconds || capture->interrupted)
        return;
    double now = clock_monotonic();
    if (!capture->begun_at && atomic_load(&control->phase) >= RING_CAPTURE)
        capture->begun_at = now;
    if (!capture->begun_at || now - capture->begun_at < capture->seconds)
        return;
    if (!capture->asked_at) {
        capture->asked_at = now;
        capture->stopped = true;
        atomic_store(&control->phase, RING_DONE);
        signal_all(capture, SIGTERM);
        capture_note(capture, "captured for %g s; then the command was asked to end (SIGTERM)",
                     capture->seconds);
    } else if (now - capture->asked_at > LEAVE_SECONDS && !capture->killed) {
        capture->killed = true;
        signal_all(capture, SIGKILL);
    }
}

void lives_press_for_end(struct capture *capture) {
    if (atomic_load(&capture->control->phase) == RING_DONE && capture->stop_at_limit &&
        !capture->stopped && !capture->interrupted) {
        capture->stopped = true;
        signal_all(capture, SIGKILL);
    }
    if (capture->stop && *capture->stop)
        capture->interrupted = 1;
    if (!capture->interrupted)
        return;
    if (!capture->interrupted_at) {
        capture->interrupted_at = clock_monotonic();
        atomic_store(&capture->control->stop, 0); /* processes may end in their own way */
        atomic_store(&capture->control->phase, RING_DONE);
    }
    const double waited = clock_monotonic() - capture->interrupted_at;
    const bool at_once = capture->kill && *capture->kill;
    if (at_once || waited > GRACE_SECONDS * (capture->signals_sent + 1)) {
        signal_all(capture, at_once || capture->signals_sent ? SIGKILL : SIGTERM);
        capture->signals_sent++;
        capture->stopped = true;
    }
}

void lives_kill(const void *context) {
    signal_all(context, SIGKILL);
}
