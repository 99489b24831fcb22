#include "report/threads_report.h"

static const struct {
    const char *key, *name, *colour, *description;
} PARTS[SPEEDUP_PARTS] = {
    [SPEEDUP_RUNNING] = {"running", "running", "#2ca02c",
                         "threads ran; last level and memory that they share included"},
    [SPEEDUP_COHERENCE] = {"coherence", "coherence", "#d62728",
                           "ran, but waited for a line that another core had"},
    [SPEEDUP_LOCK] = {"lock", "locks", "#ff7f0e", "waited for a lock that another thread had"},
    [SPEEDUP_BARRIER] = {"barrier", "barriers", "#9467bd",
                         "waited at a barrier for the last thread to come"},
    [SPEEDUP_EVENT] = {"event", "other waits", "#e377c2",
                       "waited for a signal of another thread, as at a condition"},
    [SPEEDUP_JOIN] = {"join", "thread's end", "#8c564b", "waited for another thread to end"},
    [SPEEDUP_SLEEP] = {"sleep", "sleeping", "#17becf", "waited for a time that it had asked for"},
    [SPEEDUP_READY] = {"ready", "ready", "#bcbd22", "a thread was about to run"},
    [SPEEDUP_NOTHING] = {"no_thread", "no thread", "#c7c7c7",
                         "fewer threads were there than cores: serial parts"}};

const char *speedup_part_name(enum speedup_part part) {
    return PARTS[part].name;
}

const char *speedup_part_key(enum speedup_part part) {
    return PARTS[part].key;
}

const char *speedup_part_description(enum speedup_part part) {
    return PARTS[part].description;
}

const char *speedup_part_colour(enum speedup_part part) {
    return PARTS[part].colour;
}

struct speedup speedup_of(const struct course_counts *counts, uint32_t most_cores,
                          double coherence) {
    const uint32_t demand = course_demand(counts);
    const struct course_cores cores =
        course_cores(counts, demand < most_cores ? demand : most_cores);
    struct speedup speedup = {.cores = cores.cores};
    const double cycles = (double)cores.cycles;
    if (!cores.cycles)
        return speedup;
    speedup.beyond = cores.beyond / cycles;
    double *parts = speedup.parts;
    parts[SPEEDUP_COHERENCE] = coherence * cores.running / cycles;
    parts[SPEEDUP_RUNNING] = cores.running / cycles - parts[SPEEDUP_COHERENCE];
    parts[SPEEDUP_LOCK] = cores.waiting[COURSE_LOCK] / cycles;
    parts[SPEEDUP_BARRIER] = cores.waiting[COURSE_BARRIER] / cycles;
    parts[SPEEDUP_EVENT] = cores.waiting[COURSE_EVENT] / cycles;
    parts[SPEEDUP_JOIN] = cores.waiting[COURSE_JOIN] / cycles;
    parts[SPEEDUP_SLEEP] = cores.waiting[COURSE_SLEEPING] / cycles;
    parts[SPEEDUP_READY] = cores.waiting[COURSE_READY] / cycles;
    parts[SPEEDUP_NOTHING] = cores.nothing / cycles;
    return speedup;
}
