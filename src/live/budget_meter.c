#include "live/budget_meter.h"

#include <bpf/bpf.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "live/interrupt_cost.h"
#include "util/clock.h"

/* Where it cannot be measured: what hardware takes. */
static const double INTERRUPT_SECONDS = 2e-6;
static const double HIT_SECONDS = 0.1e-6, MISS_SECONDS = 0.9e-6;

/* The first line of /proc/stat: user, nice, system, idle, iowait, irq, softirq, steal. What the
 * host takes is neither work nor idle. */
static void read_processors(struct budget_reading *reading) {
    double ticks[8] = {0};
    FILE *file = fopen("/proc/stat", "re");
    int read = file ? fscanf(file, "cpu %lf %lf %lf %lf %lf %lf %lf %lf", &ticks[0], &ticks[1],
                             &ticks[2], &ticks[3], &ticks[4], &ticks[5], &ticks[6], &ticks[7])
                    : 0;
    if (file)
        fclose(file);
    const double second = (double)sysconf(_SC_CLK_TCK);
    for (int i = 0; i < read && i < 7; i++)
        reading->all += ticks[i] / second;
    reading->idle = (ticks[3] + ticks[4]) / second;
}

static struct budget_reading read_all(const struct live_source *source) {
    struct budget_reading reading = {.time = clock_monotonic()};
    struct rusage usage;
    struct collector_statistics collected = {0};
    read_processors(&reading);
    getrusage(RUSAGE_SELF, &usage);
    reading.own = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                  1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
    if (source)
        live_source_statistics(source, &collected);
    reading.samples = (double)collected.samples;
    reading.program = collected.program_runs
                          ? 1e-9 * (double)collected.program_ns
                          : HIT_SECONDS * (double)collected.hits +
                                MISS_SECONDS * (double)(collected.samples - collected.hits);
    return reading;
}

void budget_meter_begin(struct budget_meter *meter, const struct live_event *event) {
    *meter = (struct budget_meter){.counts_time = bpf_enable_stats(BPF_STATS_RUN_TIME)};
    const double measured = interrupt_cost(event->kind == LIVE_CPU_CLOCK);
    meter->interrupt_seconds = measured > 0 ? measured : INTERRUPT_SECONDS;
    meter->before = read_all(NULL);
}

void budget_meter_end(struct budget_meter *meter) {
    if (meter->counts_time >= 0)
        close(meter->counts_time);
    meter->counts_time = -1;
}

struct budget_interval budget_meter_read(struct budget_meter *meter,
                                         const struct live_source *source) {
    const struct budget_reading now = read_all(source), *before = &meter->before;
    const struct budget_interval interval = {
        .seconds = now.time - before->time,
        .capacity = now.all - before->all,
        .busy = now.all - before->all - (now.idle - before->idle),
        .interrupts = (now.samples - before->samples) * meter->interrupt_seconds,
        .program = now.program - before->program,
        .own = now.own - before->own};
    meter->before = now;
    return interval;
}
