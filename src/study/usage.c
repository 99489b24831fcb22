#include "study/usage.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "live/command.h"
#include "study/command_signals.h"
#include "util/clock.h"

static double seconds_of(const struct timeval *time) {
    return (double)time->tv_sec + 1e-6 * (double)time->tv_usec;
}

static struct usage usage_of(const struct rusage *told, double wall) {
    return (struct usage){.wall = wall,
                          .user = seconds_of(&told->ru_utime),
                          .system = seconds_of(&told->ru_stime),
                          .resident_bytes = (uint64_t)told->ru_maxrss * 1024,
                          .minor_faults = (uint64_t)told->ru_minflt,
                          .major_faults = (uint64_t)told->ru_majflt,
                          .waits = (uint64_t)told->ru_nvcsw,
                          .preemptions = (uint64_t)told->ru_nivcsw};
}

static struct trace_exit exit_of(int status) {
    return (struct trace_exit){.known = true,
                               .signaled = WIFSIGNALED(status),
                               .status =
                                   WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status)};
}

/* A signal ends the wait of poll(), but not that of wait4(). */
static bool await(struct watch *watch, const struct command *command, int *status,
                  struct rusage *told) {
    enum { LOOK_MS = 10 }; /* at the signal that came just before, or where no end can be awaited */
    struct pollfd end = {.fd = command->process, .events = POLLIN};
    struct command_signals signals = command_signals_begin(watch, command->pid);
    pid_t ended;
    while ((ended = wait4(command->pid, status, WNOHANG, told)) == 0 ||
           (ended < 0 && errno == EINTR)) {
        command_signals_pass(&signals);
        poll(&end, 1, command->process < 0 ? LOOK_MS : 10 * LOOK_MS);
    }
    command_signals_end(&signals);
    return ended == command->pid;
}

/* ---- events ---- */

struct counting {
    const struct usages *usages;
    int counters[LIVE_EVENTS_MAX];
    size_t opened;
};

static void close_counters(struct counting *counting) {
    while (counting->opened)
        close(counting->counters[--counting->opened]);
}

/* From its exec on, and of its children. */
static bool open_counters(struct counting *counting, pid_t pid, struct error *error) {
    for (size_t i = 0; i < counting->usages->event_count; i++) {
        struct perf_event_attr attributes;
        live_event_attributes(&counting->usages->events[i], &attributes);
        attributes.inherit = 1;
        attributes.enable_on_exec = 1;
        const int counter =
            (int)syscall(SYS_perf_event_open, &attributes, pid, -1, -1, PERF_FLAG_FD_CLOEXEC);
        if (counter < 0)
            return live_event_refused(&counting->usages->events[i], errno, error);
        counting->counters[counting->opened++] = counter;
    }
    return true;
}

static void read_counters(const struct counting *counting, struct live_event_times *counts) {
    for (size_t i = 0; i < counting->opened; i++) {
        counts[i] = (struct live_event_times){0};
        live_event_read(counting->counters[i], &counts[i]);
    }
}

/* The kernel's too where that is permitted. */
static bool choose_events(const struct usage_request *request, struct usages *usages,
                          struct error *error) {
    usages->user_only = !live_kernel_permitted();
    return !request->events ||
           live_events_choose_counted(request->events, !usages->user_only, usages->events,
                                      &usages->event_count, error);
}

/* ---- runs ---- */

static bool run_counted(const struct usage_request *request, struct counting *counting,
                        struct usage *usage, struct trace_exit *exit, int *exec_status,
                        struct error *error) {
    struct command command;
    struct rusage told;
    int status;
    if (!command_start(&command, request->command, request->descriptors, error))
        return false;
    if (!open_counters(counting, command.pid, error)) {
        command_close(&command);
        return false;
    }
    const double began = clock_monotonic();
    if (!command_go(&command, exec_status, error)) {
        command_close(&command);
        return false;
    }
    const bool ended = await(request->watch, &command, &status, &told);
    const double wall = clock_monotonic() - began;
    command_close(&command);
    if (!ended)
        return error_errno(error, "%s: its end is not known", request->command[0]);
    *usage = usage_of(&told, wall);
    *exit = exit_of(status);
    read_counters(counting, usage->counts);
    return true;
}

static bool run_once(const struct usage_request *request, struct usages *usages, int *exec_status,
                     struct error *error) {
    struct counting counting = {.usages = usages};
    const bool good = run_counted(request, &counting, &usages->runs[usages->count], &usages->exit,
                                  exec_status, error);
    close_counters(&counting);
    return good;
}

bool usage_measure(const struct usage_request *request, struct usages *usages, int *exec_status,
                   struct error *error) {
    *usages = (struct usages){.runs = calloc(request->runs, sizeof *usages->runs)};
    if (!usages->runs)
        return error_set(error, "out of memory for %u runs", request->runs);
    if (!choose_events(request, usages, error))
        return false;
    bool failed = false;
    while (usages->count < request->runs && !failed && !request->watch->signal) {
        if (!run_once(request, usages, exec_status, error))
            return false;
        if (!request->watch->signal || !usages->count)
            usages->count++;
        failed = usages->exit.signaled || usages->exit.status;
    }
    usages->partial = usages->count < request->runs || request->watch->signal;
    return true;
}

void usages_free(struct usages *usages) {
    free(usages->runs);
    *usages = (struct usages){0};
}
