/* Which events this machine has is found by opening each, the most precise form first. */
#include "live/event.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "live/event_name.h"

enum { PRECISE_MAX = 3, PERIOD_SPREAD = 32 };
static const char RATE_LIMIT[] = "/proc/sys/kernel/perf_event_max_sample_rate";
static const struct live_roots ROOTS = {.proc = "/proc", .sys = "/sys", .files = ""};
static const char PARANOID[] = "/proc/sys/kernel/perf_event_paranoid";

/* Every time that a thread leaves its processor. */
static void attributes_of_waits(const struct live_event *event,
                                struct perf_event_attr *attributes) {
    *attributes = (struct perf_event_attr){.size = sizeof *attributes,
                                           .type = PERF_TYPE_SOFTWARE,
                                           .config = PERF_COUNT_SW_CONTEXT_SWITCHES,
                                           .sample_period = 1,
                                           .sample_type = PERF_SAMPLE_IP,
                                           .disabled = 1,
                                           .exclude_kernel = !event->kernel};
}

void live_event_attributes(const struct live_event *event, struct perf_event_attr *attributes) {
    if (live_event_lasts(event->kind)) {
        attributes_of_waits(event, attributes);
        return;
    }
    *attributes = (struct perf_event_attr){.size = sizeof *attributes,
                                           .type = event->type,
                                           .config = event->config[0],
                                           .config1 = event->config[1],
                                           .config2 = event->config[2],
                                           .read_format = PERF_FORMAT_TOTAL_TIME_ENABLED |
                                                          PERF_FORMAT_TOTAL_TIME_RUNNING,
                                           .sample_period = event->period,
                                           .sample_type = PERF_SAMPLE_IP,
                                           .disabled = 1,
                                           .exclude_kernel = !event->kernel,
                                           .exclude_hv = 1,
                                           .exclude_idle = event->kind == LIVE_CPU_CLOCK,
                                           .exclude_guest = event->kind != LIVE_CPU_CLOCK,
                                           .precise_ip = event->precise};
}

static bool read_number(const char *path, double *number) {
    FILE *file = fopen(path, "re");
    bool good = file && fscanf(file, "%lf", number) == 1;
    if (file)
        fclose(file);
    return good;
}

bool live_event_refused(const struct live_event *event, int number, struct error *error) {
    double paranoid;
    errno = number;
    if ((number == EACCES || number == EPERM) && read_number(PARANOID, &paranoid))
        return paranoid <= (event->kernel ? 1 : 2)
                   ? error_set(error,
                               "sampling %s is not permitted: of another user's process it needs "
                               "CAP_PERFMON (or root), in a container a seccomp profile that "
                               "allows perf_event_open",
                               event->name)
                   : error_set(error,
                               "sampling %s%s is not permitted: it needs CAP_PERFMON (or root), or "
                               "kernel.perf_event_paranoid at most %d (it is %.0f)",
                               event->name, event->kernel ? " in the kernel" : "",
                               event->kernel ? 1 : 2, paranoid);
    if (number == EMFILE)
        return error_errno(error, "sampling %s: raise the limit of open files (ulimit -n)",
                           event->name);
    return error_errno(error, "sampling %s", event->name);
}

/* 0, or errno of the most basic form. */
static int probe(struct live_event *event) {
    struct perf_event_attr attributes;
    const bool hardware = event->kind == LIVE_CYCLES || event->kind == LIVE_HARDWARE;
    for (int precise = hardware && event->period ? PRECISE_MAX : 0;; precise--) {
        event->precise = (uint8_t)precise;
        live_event_attributes(event, &attributes);
        int counter =
            (int)syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
        if (counter >= 0) {
            close(counter);
            return 0;
        }
        if (!precise)
            return errno;
    }
}

bool live_kernel_permitted(void) {
    struct live_event timer = {
        .kind = LIVE_CPU_CLOCK, .type = PERF_TYPE_SOFTWARE, .period = 1000000, .kernel = true};
    const int refused = probe(&timer);
    return refused != EACCES && refused != EPERM;
}

bool live_machine_permitted(bool programs, struct error *error) {
    const struct live_event timer = {
        .kind = LIVE_CPU_CLOCK, .type = PERF_TYPE_SOFTWARE, .period = 1000000};
    struct perf_event_attr attributes;
    double paranoid;
    live_event_attributes(&timer, &attributes);
    const int counter =
        (int)syscall(SYS_perf_event_open, &attributes, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
    if (counter >= 0)
        close(counter);
    if (counter >= 0 || (errno != EACCES && errno != EPERM) || !read_number(PARANOID, &paranoid))
        return true;
    if (programs || paranoid <= 0)
        return error_set(error,
                         "sampling the whole machine needs CAP_PERFMON%s: run it as root, or "
                         "in a unit with AmbientCapabilities (culprit record needs none)",
                         programs ? " and CAP_BPF" : "");
    return error_set(error,
                     "sampling the whole machine with stacks needs CAP_PERFMON (or root; to read "
                     "what others have mapped, CAP_SYS_PTRACE), or kernel.perf_event_paranoid at "
                     "most 0 (it is %.0f)",
                     paranoid);
}

uint64_t live_event_period(const struct live_event *event, uint64_t random) {
    uint64_t spread = event->period / PERIOD_SPREAD;
    return event->period - spread + random % (2 * spread + 1);
}

/* Highest, in Hz, since a period of cycles must not come out too short. */
static double clock_rate(void) {
    double rate = 0;
    if (read_number("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", &rate) && rate > 0)
        return rate * 1e3;
    FILE *file = fopen("/proc/cpuinfo", "re");
    char line[256];
    while (file && fgets(line, sizeof line, file) && rate <= 0)
        sscanf(line, "cpu MHz : %lf", &rate);
    if (file)
        fclose(file);
    return rate > 0 ? rate * 1e6 : 2e9;
}

static bool choose_period(struct live_event *event, double per_second, struct error *error) {
    double limit, rate = event->kind == LIVE_CPU_CLOCK ? 1e9 : clock_rate();
    if (!(per_second >= 1 && per_second <= 1e6))
        return error_set(error, "%g samples per second: from 1 to 1000000", per_second);
    if (read_number(RATE_LIMIT, &limit) && per_second > limit)
        return error_set(error,
                         "%.0f samples per second: the kernel allows %.0f "
                         "(kernel.perf_event_max_sample_rate)",
                         per_second, limit);
    if (event->period)
        return true; /* given */
    /* Odd: of no whole number of them is a period of the system's timers made. */
    event->period = event->cycles_each ? (uint64_t)(rate / per_second / event->cycles_each) | 1 : 1;
    return true;
}

static bool refuse_absent(const struct live_event *event, struct error *error) {
    return error_set(error, "%s: this machine offers no such event; cpu-clock works anywhere",
                     event->name);
}

/* Samples of what happens in the kernel alone are all of the kernel. */
static bool refuse_user_alone(struct live_event *event, struct error *error) {
    event->kernel = true;
    const int refused = probe(event);
    if (!refused)
        return error_set(error, "sampling %s: it happens in the kernel, not in user code",
                         event->name);
    return refused != EACCES && refused != EPERM
               ? refuse_absent(event, error)
               : error_set(
                     error,
                     "sampling %s is not permitted: it happens in the kernel, whose samples need "
                     "CAP_PERFMON (or root), or kernel.perf_event_paranoid at most 1",
                     event->name);
}

/* What events are wanted for. */
struct choosing {
    double per_second;
    bool counted; /* in place of that */
    bool kernel;
    bool named; /* by the user, so that its absence is an error */
};

static bool choose(struct live_event *event, const struct choosing *choosing, struct error *error) {
    const bool kernel = event->kernel = choosing->kernel;
    if (choosing->counted)
        event->period = 0;
    else if (!choose_period(event, choosing->per_second, error))
        return false;
    if (event->in_kernel && !kernel)
        return refuse_user_alone(event, error);
    int refused = probe(event);
    if (!refused)
        return true;
    if (refused == EACCES || refused == EPERM)
        return live_event_refused(event, refused, error);
    if (choosing->named)
        return refuse_absent(event, error);
    const struct choosing timer = {choosing->per_second, choosing->counted, kernel, true};
    return event_name_parse(&ROOTS, "cpu-clock", strlen("cpu-clock"), event, error) &&
           choose(event, &timer, error);
}

static bool same_event(const struct live_event *one, const struct live_event *other) {
    return one->type == other->type && !memcmp(one->config, other->config, sizeof one->config);
}

static bool choose_all(const char *names, const struct choosing *choosing,
                       struct live_event *events, size_t *count, struct error *error) {
    *count = 0;
    for (const char *name = names;; name++) {
        const size_t length = event_name_length(name);
        struct live_event *event = &events[*count];
        if (*count == LIVE_EVENTS_MAX)
            return error_set(error, "--events: %d at most", LIVE_EVENTS_MAX);
        if (!event_name_parse(&ROOTS, name, length, event, error))
            return false;
        for (size_t i = 0; i < *count; i++)
            if (same_event(&events[i], event))
                return error_set(error, "event %s is named twice", events[i].name);
        const bool other = strncmp(event->name, name, strlen(event->name)) != 0;
        if (!choose(event, choosing, error))
            return other && choosing->named ? error_prefix(error, "%.*s", (int)length, name)
                                            : false;
        ++*count;
        name += length;
        if (!*name)
            return true;
    }
}

bool live_events_choose(const char *names, double per_second, bool kernel,
                        struct live_event *events, size_t *count, struct error *error) {
    const struct choosing choosing = {
        .per_second = per_second, .kernel = kernel, .named = names != NULL};
    return choose_all(names ? names : "cycles", &choosing, events, count, error);
}

bool live_events_choose_counted(const char *names, bool kernel, struct live_event *events,
                                size_t *count, struct error *error) {
    const struct choosing choosing = {.counted = true, .kernel = kernel, .named = true};
    return choose_all(names, &choosing, events, count, error);
}

bool live_event_here(const struct live_event *event) {
    struct live_event probed = *event;
    probed.period = probed.period ? probed.period : 1000001;
    return !probe(&probed);
}

uint64_t live_event_scaled_period(uint64_t period, const struct live_event_times *times) {
    if (!times->running || times->running >= times->enabled)
        return period;
    return (uint64_t)llrint((double)period * (double)times->enabled / (double)times->running);
}

double live_event_scaled_count(const struct live_event_times *times) {
    if (!times->running || times->running >= times->enabled)
        return (double)times->count;
    return (double)times->count * (double)times->enabled / (double)times->running;
}

bool live_event_read(int counter, struct live_event_times *times) {
    struct {
        uint64_t count, enabled, running;
    } found;
    if (read(counter, &found, sizeof found) != sizeof found)
        return false;
    times->count += found.count;
    times->enabled += found.enabled;
    times->running += found.running;
    return true;
}

void live_events_describe(const struct live_event *events, size_t count, char *text, size_t size) {
    size_t used = 0;
    bool timer = false, imprecise = false;
    if (size)
        *text = 0;
    for (size_t i = 0; i < count && used < size; i++) {
        const struct live_event *event = &events[i];
        if (live_event_lasts(event->kind))
            continue;
        bool clock = event->kind == LIVE_CPU_CLOCK;
        timer |= clock;
        imprecise |= event->cycles_each && !clock && !event->precise;
        const double period = (double)event->period;
        const char *format = !clock && event->period == 1 ? "%s%s each time"
                             : !clock                     ? "%s%s every %.0f"
                             : period < 1e6               ? "%s%s every %.4g us"
                                                          : "%s%s every %.4g ms";
        int wrote = snprintf(text + used, size - used, format, i ? ", " : "", event->name,
                             !clock         ? period
                             : period < 1e6 ? period / 1e3
                                            : period / 1e6);
        used += wrote > 0 ? (size_t)wrote : 0;
    }
    const struct live_event cycles = {.kind = LIVE_CYCLES, .name = "cycles"};
    const char *why = "";
    if (timer)
        why = !live_event_here(&cycles)
                  ? ": this machine offers no hardware events; a sample may be late by "
                    "some instructions"
                  : ": a timer's interrupt; a sample may be late by some instructions";
    else if (imprecise)
        why = ": this machine offers no precise events; a sample may be late by some instructions";
    if (used < size)
        snprintf(text + used, size - used, "%s", why);
}
