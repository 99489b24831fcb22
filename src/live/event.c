/* Which events this machine has is found by opening each, the most precise form first. */
#include "live/event.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CACHE_MISS(cache)                                                                          \
    ((cache) | PERF_COUNT_HW_CACHE_OP_READ << 8 | PERF_COUNT_HW_CACHE_RESULT_MISS << 16)

/* A miss is taken to happen at most every 32 cycles: an assumption, which keeps the rate of samples
 * under that of cycles in all but the worst programs. */
static const struct {
    const char *name;
    uint32_t type;
    uint64_t config;
    unsigned cycles_per_event;
} EVENTS[LIVE_EVENT_KINDS] = {
    [LIVE_CYCLES] = {"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 1},
    [LIVE_CPU_CLOCK] = {"cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, 1},
    [LIVE_IMISS] = {"imiss", PERF_TYPE_HW_CACHE, CACHE_MISS(PERF_COUNT_HW_CACHE_L1I), 32},
    [LIVE_DMISS] = {"dmiss", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, 32},
    [LIVE_BRANCHMP] = {"branchmp", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES, 32}};

enum { PRECISE_MAX = 3, PERIOD_SPREAD = 32 };
static const char RATE_LIMIT[] = "/proc/sys/kernel/perf_event_max_sample_rate";
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
                                           .type = EVENTS[event->kind].type,
                                           .config = EVENTS[event->kind].config,
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

uint64_t live_event_period(const struct live_event *event, uint64_t random) {
    uint64_t spread = event->period / PERIOD_SPREAD;
    return event->period - spread + random % (2 * spread + 1);
}

/* 0, or errno of the most basic form. */
static int probe(struct live_event *event) {
    struct perf_event_attr attributes;
    for (int precise = event->kind == LIVE_CPU_CLOCK ? 0 : PRECISE_MAX;; precise--) {
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
    /* Odd: of no whole number of them is a period of the system's timers made. */
    event->period = (uint64_t)(rate / per_second / EVENTS[event->kind].cycles_per_event) | 1;
    return true;
}

/* `wanted`: the user named it, so that its absence is an error. */
static bool choose(enum live_event_kind kind, double per_second, bool kernel, bool wanted,
                   struct live_event *event, struct error *error) {
    *event = (struct live_event){.kind = kind, .name = EVENTS[kind].name, .kernel = kernel};
    if (!choose_period(event, per_second, error))
        return false;
    int refused = probe(event);
    if (!refused)
        return true;
    if (refused == EACCES || refused == EPERM)
        return live_event_refused(event, refused, error);
    if (wanted)
        return error_set(error, "%s: this machine offers no such event; cpu-clock works anywhere",
                         event->name);
    return choose(LIVE_CPU_CLOCK, per_second, kernel, true, event, error);
}

static bool kind_of(const char *name, size_t length, enum live_event_kind *kind) {
    for (*kind = 0; *kind < LIVE_EVENT_KINDS; (*kind)++)
        if (strlen(EVENTS[*kind].name) == length && !memcmp(EVENTS[*kind].name, name, length))
            return true;
    return false;
}

bool live_events_choose(const char *names, double per_second, bool kernel,
                        struct live_event *events, size_t *count, struct error *error) {
    *count = 0;
    if (!names) {
        *count = 1;
        return choose(LIVE_CYCLES, per_second, kernel, false, events, error);
    }
    for (const char *name = names;; name++) {
        size_t length = strcspn(name, ",");
        enum live_event_kind kind;
        if (!kind_of(name, length, &kind))
            return error_set(error,
                             "event \"%.*s\": one of cycles, cpu-clock, imiss, dmiss, branchmp",
                             (int)(length < 64 ? length : 64), name);
        for (size_t i = 0; i < *count; i++)
            if (events[i].kind == kind)
                return error_set(error, "event %s is named twice", events[i].name);
        if (!choose(kind, per_second, kernel, true, &events[(*count)++], error))
            return false;
        name += length;
        if (!*name)
            return true;
    }
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
        imprecise |= !clock && !event->precise;
        const double period = (double)event->period;
        const char *format = !clock         ? "%s%s every %.0f"
                             : period < 1e6 ? "%s%s every %.4g us"
                                            : "%s%s every %.4g ms";
        int wrote = snprintf(text + used, size - used, format, i ? ", " : "", event->name,
                             !clock         ? period
                             : period < 1e6 ? period / 1e3
                                            : period / 1e6);
        used += wrote > 0 ? (size_t)wrote : 0;
    }
    struct live_event probed = {.kind = LIVE_CYCLES, .name = "cycles", .period = 1000001};
    const char *why = "";
    if (timer)
        why = probe(&probed) ? ": this machine offers no hardware events; a sample may be late by "
                               "some instructions"
                             : ": a timer's interrupt; a sample may be late by some instructions";
    else if (imprecise)
        why = ": this machine offers no precise events; a sample may be late by some instructions";
    if (used < size)
        snprintf(text + used, size - used, "%s", why);
}
