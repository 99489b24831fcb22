/* What the daemon tells of itself: rates, losses, what it costs. */
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "live/daemon_parts.h"
#include "live/daemon_push.h"
#include "live/daemon_status.h"
#include "live/event.h"
#include "store/address.h"

static uint64_t resident_bytes(void) {
    unsigned long whole, resident;
    FILE *file = fopen("/proc/self/statm", "re");
    bool read = file && fscanf(file, "%lu %lu", &whole, &resident) == 2;
    if (file)
        fclose(file);
    return read ? resident * (uint64_t)sysconf(_SC_PAGESIZE) : 0;
}

/* With the log of what is not yet in the file. */
static uint64_t store_bytes(const char *path) {
    char log[PATH_MAX];
    struct stat file;
    uint64_t bytes = stat(path, &file) == 0 ? (uint64_t)file.st_size : 0;
    snprintf(log, sizeof log, "%s-wal", path);
    return bytes + (stat(log, &file) == 0 ? (uint64_t)file.st_size : 0);
}

static void tell_of_push(const struct daemon *daemon, struct daemon_status *status) {
    struct daemon_push_status push;
    char address[PATH_MAX];
    daemon_push_read(daemon->push, &push);
    snprintf(status->push, sizeof status->push, "%s",
             store_shown_address(daemon->options->push, address));
    status->push_sent = push.sent;
    status->push_waiting = push.waiting;
    status->push_waiting_bytes = push.waiting_bytes;
    status->push_given_up = push.given_up;
    status->last_push = daemon_ago(push.last);
    memcpy(status->push_problem, push.problem, sizeof status->push_problem);
}

bool daemon_answer(const struct daemon *daemon, int socket) {
    const struct daemon_options *options = daemon->options;
    struct collector_statistics collected;
    struct python_statistics python;
    struct resolver_statistics attributed;
    struct rusage usage;
    live_source_python(&daemon->source, &python);
    live_source_statistics(&daemon->source, &collected);
    resolver_statistics(daemon->resolver, &attributed);
    getrusage(RUSAGE_SELF, &usage);
    struct daemon_status status = {
        .pid = getpid(),
        .processors = collected.processors,
        .uptime = daemon_ago(daemon->began),
        .rate = budget_rate(&daemon->budget),
        .budget = options->budget,
        .cost = daemon->budget.cost,
        .interrupt_seconds = options->budget > 0 ? daemon->meter.interrupt_seconds : -1,
        .epoch = daemon->session,
        .epoch_seconds = daemon_ago(daemon->epoch_began),
        .samples = collected.samples,
        .hits = collected.hits,
        .evicted = collected.evicted,
        .dropped = collected.dropped,
        .attributed = attributed.samples,
        .unknown = attributed.unknown,
        .kernel = attributed.kernel,
        .stacks_whole = attributed.stacks[LIVE_STACK_WHOLE],
        .stacks_truncated = attributed.stacks[LIVE_STACK_TRUNCATED],
        .stacks_failed = attributed.stacks[LIVE_STACK_FAILED],
        .python_samples = python.samples,
        .python_whole = python.whole,
        .python_partial = python.partial,
        .entries = attributed.entries,
        .entries_max = attributed.entries_max,
        .unwritten = daemon_unwritten(daemon),
        .processes = attributed.processes,
        .images = attributed.images,
        .drains = daemon->drains,
        .merges = daemon->merges,
        .failed_merges = daemon->failed_merges,
        .last_drain = daemon_ago(daemon->drained),
        .last_merge = daemon_ago(daemon->merged),
        .last_push = -1,
        .processor_seconds = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                             (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6,
        .program_seconds = collected.program_runs ? (double)collected.program_ns * 1e-9 : -1,
        .resident_bytes = resident_bytes(),
        .kernel_bytes = collected.bytes,
        .store_bytes = store_bytes(options->store),
    };
    snprintf(status.store, sizeof status.store, "%s", options->store);
    memcpy(status.problem, daemon->problem, sizeof status.problem);
    if (daemon->push)
        tell_of_push(daemon, &status);
    live_events_describe(daemon->sampled, options->event_count, status.sampling,
                         sizeof status.sampling);
    return daemon_status_answer(socket, &status);
}
