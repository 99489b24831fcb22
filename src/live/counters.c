/* The child waits on a pipe until its counters are open; they begin with its exec. */
#include "live/counters.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/descriptors.h"

static const struct {
    uint32_t type;
    uint64_t config;
    const char *name;
} EVENTS[] = {
    [COUNTED_CYCLES] = {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, "cycles"},
    [COUNTED_INSTRUCTIONS] = {PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, "instructions"},
    [COUNTED_FAULTS] = {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, "page faults"}};

/* A descriptor, or −1 with errno. */
static int open_counter(enum counted_event event, pid_t process) {
    struct perf_event_attr attributes = {.size = sizeof attributes,
                                         .type = EVENTS[event].type,
                                         .config = EVENTS[event].config,
                                         .read_format = PERF_FORMAT_TOTAL_TIME_ENABLED |
                                                        PERF_FORMAT_TOTAL_TIME_RUNNING,
                                         .disabled = 1,
                                         .inherit = 1,
                                         .exclude_kernel = 1,
                                         .exclude_hv = 1,
                                         .enable_on_exec = 1};
    return (int)syscall(SYS_perf_event_open, &attributes, process, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

bool counters_have(enum counted_event event) {
    int counter = open_counter(event, 0);
    if (counter >= 0)
        close(counter);
    return counter >= 0;
}

static bool read_counter(int counter, uint64_t *count) {
    struct {
        uint64_t value, enabled, running;
    } found;
    if (read(counter, &found, sizeof found) != sizeof found)
        return false;
    *count = found.value;
    if (found.running && found.running < found.enabled)
        *count = (uint64_t)((double)found.value * (double)found.enabled / (double)found.running);
    return true;
}

static void become(char *const *command, const int descriptors[3], int go) {
    char ready;
    if (read(go, &ready, 1) != 1)
        _exit(126);
    for (int i = 0; i < 3; i++)
        if (descriptors[i] && dup2(descriptors[i], i) < 0)
            _exit(126);
    descriptors_mute_inherited();
    execvp(command[0], command);
    _exit(127);
}

/* Lets the child go, or not, and waits for it; true: it was run. */
static bool finish(pid_t child, int go, bool run) {
    int status = 0;
    bool told = run && write(go, "g", 1) == 1;
    close(go);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    return told &&
           !(WIFEXITED(status) && (WEXITSTATUS(status) == 126 || WEXITSTATUS(status) == 127));
}

bool counters_run(char *const *command, const int descriptors[3], const enum counted_event *events,
                  uint64_t *counts, unsigned count, struct error *error) {
    int go[2], counters[COUNTERS_MAX];
    unsigned opened = 0;
    if (pipe(go) != 0)
        return error_errno(error, "a pipe");
    pid_t child = fork();
    if (child == 0) {
        close(go[1]);
        become(command, descriptors, go[0]);
    }
    close(go[0]);
    if (child < 0) {
        close(go[1]);
        return error_errno(error, "starting %s", command[0]);
    }
    bool good = true;
    for (; good && opened < count; opened += good)
        if ((counters[opened] = open_counter(events[opened], child)) < 0)
            good = error_errno(error, "counting %s", EVENTS[events[opened]].name);
    bool run = finish(child, go[1], good);
    if (good && !run)
        good = error_set(error, "%s: cannot be run", command[0]);
    for (unsigned i = 0; i < opened; i++) {
        if (good && !read_counter(counters[i], &counts[i]))
            good = error_set(error, "counting %s: no count was read", EVENTS[events[i]].name);
        close(counters[i]);
    }
    return good;
}
