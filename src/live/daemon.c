/* One thread that sleeps until a signal, a question, an overflow buffer that fills, or the next
 * drain or merge. Distances of time are taken from a clock that nobody can set; an epoch's end is
 * its start and what has passed since. */
#include "live/daemon_parts.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdarg.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "live/daemon_lock.h"
#include "live/daemon_push.h"
#include "live/daemon_status.h"
#include "util/text.h"

enum { NAMES_SECONDS = 2, FIRST_INTERVAL = 2, FIRST_AMONG_OTHERS = -10 };

void daemon_say(const struct daemon *daemon, const char *format, ...) {
    char line[1400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    daemon->options->say(line);
}

uint64_t daemon_drained(const struct daemon *daemon) {
    struct resolver_statistics attributed;
    resolver_statistics(daemon->resolver, &attributed);
    return attributed.samples;
}

uint64_t daemon_unwritten(const struct daemon *daemon) {
    struct collector_statistics collected;
    live_source_statistics(&daemon->source, &collected);
    const uint64_t gone = daemon->written + collected.dropped;
    return collected.samples > gone ? collected.samples - gone : 0;
}

/* ---- drain ---- */

/* Callers are found while the processes and their files are still there; when samples were taken
 * is known as far as drains are apart. */
static double drain_seconds(const struct daemon_options *options) {
    static const double WITH_STACKS = 0.25;
    const double step =
        options->slicing.step_ns ? (double)options->slicing.step_ns / 1e9 : INFINITY;
    return fmin(options->stack_bytes ? WITH_STACKS : step, options->drain_seconds);
}

/* What is gathered must find room: when it cannot be merged, samples stay in the kernel, which
 * counts those that it has no room for either. */
static bool drain(struct daemon *daemon, struct error *error) {
    double time = daemon_now();
    daemon->next_drain = time + drain_seconds(daemon->options);
    if (resolver_full(daemon->resolver))
        return true;
    struct live_sink sink = resolver_sink(daemon->resolver);
    if (!live_source_drain(&daemon->source, &sink, error))
        return false;
    if (time >= daemon->next_names) {
        daemon->next_names = time + NAMES_SECONDS; /* drains come as often only with stacks */
        if (!resolver_collect_names(daemon->resolver, error))
            return false;
    }
    daemon->drains++;
    daemon->drained = time;
    return true;
}

/* Every merge drains first: a killed daemon loses no more than one interval. */
static bool merge(struct daemon *daemon, bool ended, struct error *error) {
    if (!drain(daemon, error))
        return false;
    daemon_merge(daemon, ended);
    return true;
}

static bool end_epoch(struct daemon *daemon, struct error *error) {
    if (!merge(daemon, true, error))
        return false;
    /* What could not be merged belongs to the old epoch, which goes on until it can be. */
    if (daemon->problem[0])
        return true;
    daemon_begin_epoch(daemon);
    daemon_say(daemon, "begins a new epoch");
    return true;
}

/* ---- the rate ---- */

static void set_rate(struct daemon *daemon) {
    const struct daemon_options *options = daemon->options;
    const double slower = options->rate / budget_rate(&daemon->budget);
    for (size_t i = 0; i < options->event_count; i++)
        daemon->sampled[i].period = (uint64_t)((double)options->events[i].period * slower) | 1;
    live_source_set_periods(&daemon->source, daemon->sampled);
}

/* Of samples at the old period the last have come: ring buffers hold back the newest for a round.
 */
static bool drain_all(struct daemon *daemon, struct error *error) {
    return drain(daemon, error) && (!daemon->source.recorder || drain(daemon, error));
}

/* Samples at different periods are of different events: what was gathered up to now is written
 * before the first at the new one arrives. A drain takes its time behind the moment up to which it
 * takes samples, so that the new period comes right before. */
static bool adjust_rate(struct daemon *daemon, struct error *error) {
    enum { SOON = 5, SETTLED = 30 };
    const struct budget before = daemon->budget;
    const struct budget_interval interval = budget_meter_read(&daemon->meter, &daemon->source);
    const bool changes = budget_adjust(&daemon->budget, &interval);
    daemon->next_adjustment = daemon_now() + (changes || daemon->budget.cost < 0 ? SOON : SETTLED);
    if (!changes)
        return true;
    if (daemon->problem[0]) {
        daemon->budget.step = before.step;
        return true;
    }
    set_rate(daemon);
    if (!drain_all(daemon, error))
        return false;
    daemon_merge(daemon, false);
    if (daemon->problem[0]) {
        daemon->budget.step = before.step;
        set_rate(daemon);
        return true;
    }
    memcpy(daemon->gathered, daemon->sampled, sizeof daemon->gathered);
    daemon->resampled = true;
    daemon_say(daemon, "sampling cost %.2g %% of the busy time: %.0f samples a second from now on",
               100 * daemon->budget.cost, budget_rate(&daemon->budget));
    return true;
}

/* ---- the loop ---- */

void daemon_signals(sigset_t *signals) {
    sigemptyset(signals);
    sigaddset(signals, SIGTERM);
    sigaddset(signals, SIGINT);
    sigaddset(signals, SIGHUP);
    sigaddset(signals, SIGUSR1);
}

static bool take_signal(struct daemon *daemon, struct error *error) {
    struct signalfd_siginfo signal;
    if (read(daemon->signals, &signal, sizeof signal) != sizeof signal)
        return true;
    switch (signal.ssi_signo) {
    case SIGHUP:
        return end_epoch(daemon, error);
    case SIGUSR1:
        return merge(daemon, false, error);
    default:
        daemon->stop = true;
        return true;
    }
}

/* On the clock; an epoch that cannot be merged goes on. */
static double epoch_ends(const struct daemon *daemon) {
    const double seconds = daemon->options->epoch_seconds;
    return seconds > 0 && !daemon->problem[0] ? daemon->epoch_began + seconds : INFINITY;
}

static int milliseconds_until_next(const struct daemon *daemon) {
    double next = fmin(fmin(daemon->next_drain, daemon->next_merge),
                       fmin(epoch_ends(daemon), daemon->next_adjustment));
    double wait = (next - daemon_now()) * 1e3 + 1;
    return wait < 0 ? 0 : wait > 60000 ? 60000 : (int)wait;
}

static bool work(struct daemon *daemon, struct error *error) {
    enum { SIGNALS, SOCKET, COLLECTOR, WAITS };
    struct pollfd waits[WAITS] = {
        [SIGNALS] = {.fd = daemon->signals, .events = POLLIN},
        [SOCKET] = {.fd = daemon->socket, .events = POLLIN},
        [COLLECTOR] = {.fd = live_source_descriptor(&daemon->source), .events = POLLIN}};
    /* Nothing can be drained: not woken again and again by a buffer that stays full. */
    if (resolver_full(daemon->resolver) && daemon->problem[0])
        waits[COLLECTOR].fd = -1;
    if (poll(waits, WAITS, milliseconds_until_next(daemon)) < 0 && errno != EINTR)
        return error_errno(error, "cannot wait for signals");
    if (waits[SIGNALS].revents && !take_signal(daemon, error))
        return false;
    if (waits[SOCKET].revents)
        daemon_answer(daemon, daemon->socket);
    double time = daemon_now();
    if ((waits[COLLECTOR].revents || time >= daemon->next_drain) && !drain(daemon, error))
        return false;
    if (time >= daemon->next_adjustment && !adjust_rate(daemon, error))
        return false;
    if (time >= epoch_ends(daemon))
        return end_epoch(daemon, error);
    bool full = resolver_full(daemon->resolver) && !daemon->problem[0];
    return (time < daemon->next_merge && !full) || merge(daemon, false, error);
}

static bool start(struct daemon *daemon, struct error *error) {
    const struct daemon_options *options = daemon->options;
    sigset_t signals;
    if ((daemon->lock = daemon_lock_take(error)) < 0)
        return false;
    /* What is wrong with the store is said before anything is collected. */
    live_host_read(&daemon->host);
    if (!daemon_check_store(daemon, error))
        return false;
    daemon_signals(&signals);
    if ((daemon->signals = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK)) < 0)
        return error_errno(error, "cannot take signals");
    if (!daemon_run_path(DAEMON_SOCKET, daemon->socket_path, error) ||
        (daemon->socket = daemon_status_listen(daemon->socket_path, error)) < 0 ||
        !daemon_run_path(DAEMON_LAST_SOCKET, daemon->last_path, error) ||
        (daemon->last = daemon_status_listen(daemon->last_path, error)) < 0)
        return false;
    const struct live_source_options source = {.events = options->events,
                                               .event_count = options->event_count,
                                               .stack_bytes = options->stack_bytes};
    if (!(daemon->resolver =
              resolver_new(options->events, options->event_count, options->entries, error)))
        return false;
    resolver_slice_by(daemon->resolver, &options->slicing); /* before processes are looked at */
    if (!options->no_symbols)
        resolver_take_names(daemon->resolver, false);
    const struct live_sink sink = resolver_sink(daemon->resolver);
    /* Ring buffers fill while it waits for a processor, most of all at first, when many tables are
     * made; where it may not go first, what finds no room is counted. */
    if (options->stack_bytes)
        setpriority(PRIO_PROCESS, 0, FIRST_AMONG_OTHERS);
    if (!live_source_begin(&daemon->source, &source, &sink, error) ||
        !resolver_scan(daemon->resolver, error))
        return false;
    if (options->budget > 0)
        budget_meter_begin(&daemon->meter, options->events);
    daemon->next_drain = daemon_now() + drain_seconds(options);
    daemon->next_merge = daemon_now() + options->merge_seconds;
    daemon->next_adjustment = options->budget > 0 ? daemon_now() + FIRST_INTERVAL : INFINITY;
    daemon_begin_epoch(daemon);
    return !options->push ||
           (daemon->push = daemon_push_begin(options, daemon->host.name, error)) != NULL;
}

static void close_socket(int socket, const char *path) {
    if (socket < 0)
        return;
    close(socket);
    unlink(path);
}

/* Tells those who told it to stop what came of it. */
static bool merge_last(struct daemon *daemon, struct error *error) {
    if (!merge(daemon, true, error))
        return false;
    uint64_t lost = daemon_unwritten(daemon);
    daemon_push_end(daemon->push);
    daemon->push = NULL;
    while (daemon_answer(daemon, daemon->last))
        continue;
    return !daemon->problem[0] ||
           error_set(error,
                     "stopped, but %s sample%s counted since the last merge "
                     "are lost: %.900s",
                     text_grouped(lost).s, text_plural(lost), daemon->problem);
}

static void finish(struct daemon *daemon) {
    daemon_push_end(daemon->push);
    close_socket(daemon->socket, daemon->socket_path);
    close_socket(daemon->last, daemon->last_path);
    budget_meter_end(&daemon->meter);
    live_source_end(&daemon->source);
    resolver_free(daemon->resolver);
    if (daemon->signals >= 0)
        close(daemon->signals);
    if (daemon->lock >= 0)
        daemon_lock_release(daemon->lock);
}

bool daemon_run(const struct daemon_options *options, struct error *error) {
    struct daemon daemon = {.options = options,
                            .lock = -1,
                            .signals = -1,
                            .socket = -1,
                            .last = -1,
                            .drained = -1,
                            .merged = -1,
                            .meter = {.counts_time = -1},
                            .budget = budget_begin(options->budget, options->rate)};
    memcpy(daemon.sampled, options->events, options->event_count * sizeof *options->events);
    memcpy(daemon.gathered, daemon.sampled, sizeof daemon.gathered);
    daemon.began = daemon_now();
    bool fine = start(&daemon, error);
    if (fine) {
        char sampling[256];
        live_events_describe(options->events, options->event_count, sampling, sizeof sampling);
        daemon_say(&daemon, "collects into %s: %s", options->store, sampling);
        while (fine && !daemon.stop)
            fine = work(&daemon, error);
        fine = fine && merge_last(&daemon, error);
    }
    finish(&daemon);
    return fine;
}
