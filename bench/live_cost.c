/* One run of a command while the whole machine is sampled, or not: what it and the sampling took.
 *
 *     live_cost [-e ENTRIES] [-s] none|empty|culprit|perf RATE COMMAND...
 *
 * "empty": a BPF program that does nothing, the bare interrupt; "perf": perf record -a beside it.
 * -s: have the kernel count the time in the BPF program, which itself costs time. Prints one line
 * of NAME=VALUE; times in seconds. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "live/collector.h"
#include "util/clock.h"

static void fail(const char *message) {
    fprintf(stderr, "live_cost: %s\n", message);
    exit(1);
}

static double seconds_of(const struct timeval *time) {
    return (double)time->tv_sec + (double)time->tv_usec / 1e6;
}

/* Processor time of this process. */
static double own_seconds(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return seconds_of(&usage.ru_utime) + seconds_of(&usage.ru_stime);
}

/* ---- what is delivered is only counted ---- */

struct delivered {
    unsigned long long samples, entries, unknown, processes, files;
};

static bool count_process(void *context, const struct live_process *process, struct error *error) {
    (void)process, (void)error;
    ((struct delivered *)context)->processes++;
    return true;
}

static bool count_file(void *context, const struct live_file *file, struct error *error) {
    (void)file, (void)error;
    ((struct delivered *)context)->files++;
    return true;
}

static bool count_sample(void *context, const struct live_sample *sample, struct error *error) {
    struct delivered *delivered = context;
    (void)error;
    delivered->samples += sample->count;
    delivered->entries++;
    delivered->unknown += sample->at.place == PLACE_UNKNOWN ? sample->count : 0;
    return true;
}

/* ---- runs ---- */

/* Its output goes nowhere. */
static pid_t start(char **command) {
    pid_t child;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    errno = posix_spawnp(&child, command[0], &actions, NULL, command, environ);
    if (errno)
        fail(command[0]);
    posix_spawn_file_actions_destroy(&actions);
    return child;
}

static void finish(pid_t child, double begin) {
    int status;
    struct rusage usage;
    if (wait4(child, &status, 0, &usage) != child || status)
        fail("the command failed");
    printf("wall=%.6f processor=%.6f", clock_monotonic() - begin,
           seconds_of(&usage.ru_utime) + seconds_of(&usage.ru_stime));
}

static void run_timed(char **command) {
    double begin = clock_monotonic();
    finish(start(command), begin);
}

/* What the daemon does: drain when an overflow buffer passes half. Returns how often. */
static unsigned run_drained(struct collector *collector, const struct live_sink *sink,
                            char **command) {
    struct error error = {0};
    unsigned drains = 0;
    double begin = clock_monotonic();
    pid_t child = start(command);
    struct pollfd waits[] = {{.fd = (int)syscall(SYS_pidfd_open, child, 0), .events = POLLIN},
                             {.fd = collector_descriptor(collector), .events = POLLIN}};
    while (poll(waits, 2, -1) >= 0 && !waits[0].revents)
        if (waits[1].revents && !collector_drain(collector, sink, &error))
            fail(error.message);
        else
            drains++;
    close(waits[0].fd);
    finish(child, begin);
    return drains;
}

static void run_collected(const struct collector_options *options, bool count_time,
                          char **command) {
    struct error error = {0};
    struct delivered delivered = {0};
    struct live_sink sink = {&delivered, count_process, count_file, count_sample};
    struct collector_statistics statistics;
    int counting = count_time ? bpf_enable_stats(BPF_STATS_RUN_TIME) : -1;
    struct collector *collector = collector_new(options, &error);
    if (!collector)
        fail(error.message);
    usleep(100000);
    double begin = own_seconds();
    unsigned drains = run_drained(collector, &sink, command);
    if (!options->empty && !collector_drain(collector, &sink, &error))
        fail(error.message);
    double drained = own_seconds() - begin;
    collector_statistics(collector, &statistics);
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf(" samples=%llu hits=%llu inserted=%llu evicted=%llu dropped=%llu searched=%llu"
           " delivered=%llu entries=%llu unknown=%llu processes=%llu files=%llu drains=%u"
           " drain=%.6f program=%.9f runs=%llu kernel_bytes=%llu processors=%u resident=%ld",
           (unsigned long long)statistics.samples, (unsigned long long)statistics.hits,
           (unsigned long long)statistics.inserted, (unsigned long long)statistics.evicted,
           (unsigned long long)statistics.dropped, (unsigned long long)statistics.searched,
           delivered.samples, delivered.entries, delivered.unknown, delivered.processes,
           delivered.files, drains, drained, (double)statistics.program_ns / 1e9,
           (unsigned long long)statistics.program_runs, (unsigned long long)statistics.bytes,
           statistics.processors, usage.ru_maxrss * 1024);
    collector_free(collector);
    if (counting >= 0)
        close(counting);
}

/* perf writes below $TMPDIR, without it to memory, into a file that is gone at once. */
static void run_beside_perf(const struct live_event *event, char **command) {
    const char *folder = getenv("TMPDIR");
    char period[32], output[PATH_MAX];
    snprintf(output, sizeof output, "%s/culprit-perf-XXXXXX",
             folder && *folder ? folder : "/dev/shm");
    int status, file = mkstemp(output);
    if (file < 0)
        fail("no file can be made below $TMPDIR, or in /dev/shm without it");
    close(file);
    snprintf(period, sizeof period, "%llu", (unsigned long long)event->period);
    char *perf[] = {"perf", "record", "-q", "-a",   "-e", (char *)event->name,
                    "-c",   period,   "-o", output, NULL};
    pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGINT);
        execvp(perf[0], perf);
        _exit(127);
    }
    usleep(500000);
    if (child < 0 || waitpid(child, &status, WNOHANG) != 0) {
        unlink(output);
        fail("perf record cannot be run");
    }
    run_timed(command);
    kill(child, SIGINT);
    struct rusage usage;
    while (wait4(child, &status, 0, &usage) < 0 && errno == EINTR)
        continue;
    printf(" drain=%.6f", seconds_of(&usage.ru_utime) + seconds_of(&usage.ru_stime));
    unlink(output);
}

int main(int argc, char **argv) {
    struct collector_options options = {0};
    struct live_event events[LIVE_EVENTS_MAX];
    struct error error = {0};
    bool count_time = false;
    for (int option; (option = getopt(argc, argv, "+e:s")) != -1;)
        if (option == 'e')
            options.entries = (uint32_t)strtoul(optarg, NULL, 10);
        else if (option == 's')
            count_time = true;
        else
            return 2;
    if (argc - optind < 3)
        fail("[-e ENTRIES] [-s] none|empty|culprit|perf RATE COMMAND...");
    const char *mode = argv[optind];
    char **command = argv + optind + 2;
    if (!live_events_choose(NULL, strtod(argv[optind + 1], NULL), true, events,
                            &options.event_count, &error))
        fail(error.message);
    options.events = events;
    options.empty = !strcmp(mode, "empty");
    if (!strcmp(mode, "none"))
        run_timed(command);
    else if (!strcmp(mode, "perf"))
        run_beside_perf(events, command);
    else
        run_collected(&options, count_time, command);
    printf("\n");
    return 0;
}
