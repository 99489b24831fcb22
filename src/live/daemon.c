/* One thread that sleeps until a signal, a question, an overflow buffer that fills, or the next
 * drain or merge. Distances of time are taken from a clock that nobody can set; an epoch's end is
 * its start and what has passed since. */
#include "live/daemon.h"

#include <errno.h>
#include <malloc.h>
#include <math.h>
#include <poll.h>
#include <stdarg.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "live/budget_meter.h"
#include "live/daemon_lock.h"
#include "live/daemon_status.h"
#include "live/resolver.h"
#include "live/scaling.h"
#include "live/session.h"
#include "live/source.h"
#include "util/clock.h"
#include "util/text.h"

enum { NAMES_SECONDS = 2, RETRY_SECONDS = 30, FIRST_INTERVAL = 2, FIRST_AMONG_OTHERS = -10 };

struct daemon {
    const struct daemon_options *options;
    /* As they are now, and as they were when what is gathered was sampled. */
    struct live_event sampled[LIVE_EVENTS_MAX], gathered[LIVE_EVENTS_MAX];
    struct live_event stored[LIVE_EVENTS_MAX]; /* as gathered, of counters that took turns */
    struct live_scaling scaling;
    struct budget budget;
    struct budget_meter meter;
    double next_adjustment;
    struct live_source source;
    struct resolver *resolver;
    struct live_host host;
    int lock, signals, socket;
    int last; /* socket of those who wait for what it tells when it ends */
    char socket_path[PATH_MAX], last_path[PATH_MAX];
    double began, drained, merged; /* clock; drained, merged < 0: not yet */
    double next_drain, next_merge, next_names;
    bool stop;

    struct store *store;             /* NULL but while it is read or written */
    struct stat file;                /* of the store, when it was opened last */
    int64_t session;                 /* 0: begun at the next merge */
    int64_t whole;                   /* the last epoch of which no slices are left; 0: not known */
    int64_t events[LIVE_EVENTS_MAX]; /* of the session */
    bool resampled;                  /* these have other periods */
    int64_t epoch_start;             /* ns since 1970 */
    double epoch_began;              /* clock */
    uint64_t unknown_before, dropped_before; /* the epoch */

    uint64_t drains, merges, failed_merges;
    uint64_t written;   /* samples in the store */
    char problem[1024]; /* of the last merge; empty: none */
};

static double now(void) {
    return clock_seconds(CLOCK_BOOTTIME);
}

static double ago(double time) {
    return time < 0 ? -1 : now() - time;
}

__attribute__((format(printf, 2, 3))) static void say(const struct daemon *daemon,
                                                      const char *format, ...) {
    char line[1400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    daemon->options->say(line);
}

static uint64_t drained(const struct daemon *daemon) {
    struct resolver_statistics attributed;
    resolver_statistics(daemon->resolver, &attributed);
    return attributed.samples;
}

/* Those in the kernel, too. */
static uint64_t unwritten(const struct daemon *daemon) {
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
    double time = now();
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

/* ---- epochs ---- */

/* From the last drain on: what the kernel holds by now is of the new epoch. */
static void begin_epoch(struct daemon *daemon) {
    struct resolver_statistics attributed;
    struct collector_statistics collected;
    resolver_statistics(daemon->resolver, &attributed);
    live_source_statistics(&daemon->source, &collected);
    daemon->unknown_before = attributed.unknown;
    daemon->dropped_before = collected.dropped;
    daemon->session = 0;
    resolver_slice_by(daemon->resolver, &daemon->options->slicing);
    daemon->epoch_began = daemon->drained < 0 ? now() : daemon->drained;
    daemon->epoch_start = clock_since_1970() - (int64_t)(ago(daemon->epoch_began) * 1e9);
}

/* The epoch as it is up to now; `ended`: it ended with the last drain. */
static struct store_session session_of(const struct daemon *daemon, bool ended) {
    struct resolver_statistics attributed;
    struct collector_statistics collected;
    resolver_statistics(daemon->resolver, &attributed);
    live_source_statistics(&daemon->source, &collected);
    double lasted = daemon->drained - daemon->epoch_began;
    return (struct store_session){.id = daemon->session,
                                  .kind = SESSION_LIVE,
                                  .name = "daemon",
                                  .host = daemon->host.name,
                                  .kernel = daemon->host.kernel,
                                  .processor = daemon->host.processor,
                                  .weight = 1,
                                  .start = daemon->epoch_start,
                                  .end = ended ? daemon->epoch_start + (int64_t)(lasted * 1e9) : 0,
                                  .unknown = attributed.unknown - daemon->unknown_before,
                                  .dropped = collected.dropped - daemon->dropped_before};
}

static bool add_session(struct daemon *daemon, struct error *error) {
    struct store_session session = session_of(daemon, false);
    const struct daemon_options *options = daemon->options;
    bool added = live_session_add(daemon->store, &session, daemon->stored, options->event_count,
                                  daemon->events, error);
    daemon->session = session.id;
    daemon->resampled = false;
    return added;
}

/* A daemon that was killed left its epoch without an end: it reaches as far as it was saved. No
 * other daemon runs now. */
struct stale {
    const struct daemon *daemon;
    struct store_session session; /* id 0: none */
};

static bool find_stale(void *context, const struct store_session *session,
                       const struct store_event *events, size_t event_count) {
    (void)events;
    (void)event_count;
    struct stale *stale = context;
    if (session->kind != SESSION_LIVE || session->end != 0 || strcmp(session->name, "daemon") ||
        strcmp(session->host, stale->daemon->host.name))
        return true;
    stale->session = (struct store_session){.id = session->id,
                                            .end = session->saved,
                                            .unknown = session->unknown,
                                            .dropped = session->dropped};
    return false;
}

static bool end_stale_epochs(struct daemon *daemon, struct error *error) {
    struct stale stale = {.daemon = daemon};
    do {
        stale.session.id = 0;
        if (!store_each_session(daemon->store, find_stale, &stale, error) ||
            (stale.session.id && !store_update_session(daemon->store, &stale.session, error)))
            return false;
    } while (stale.session.id);
    return true;
}

/* ---- merge ---- */

static void close_store(struct daemon *daemon) {
    store_close(daemon->store);
    daemon->store = NULL;
}

/* Opened for each merge: between two the file may be removed, replaced or damaged, and who reads it
 * finds it closed in order. */
static bool open_store(struct daemon *daemon, struct error *error) {
    struct stat file;
    const char *path = daemon->options->store;
    if (!(daemon->store = store_open(path, STORE_WRITE, error)))
        return false;
    if (stat(path, &file) != 0) {
        error_errno(error, "%s: cannot be read any more", path);
        close_store(daemon);
        return false;
    }
    if (file.st_dev != daemon->file.st_dev || file.st_ino != daemon->file.st_ino)
        daemon->session = 0;
    daemon->file = file;
    return true;
}

static bool prune(struct daemon *daemon, struct error *error) {
    const struct daemon_options *options = daemon->options;
    uint64_t removed = 0;
    int64_t before =
        options->keep_seconds > 0 ? clock_since_1970() - (int64_t)(options->keep_seconds * 1e9) : 0;
    if ((before || options->keep_bytes) &&
        !store_prune(daemon->store, before, options->keep_bytes, daemon->session, &removed, error))
        return false;
    if (removed)
        say(daemon, "removed %llu old epoch%s from %s", (unsigned long long)removed,
            text_plural(removed), options->store);
    return true;
}

struct old_epoch {
    struct daemon *daemon;
    int64_t before, found; /* ns since 1970; 0: none */
    struct error *error;
    bool good;
};

static bool find_sliced(void *context, const struct store_session *session,
                        const struct store_event *events, size_t event_count) {
    (void)events;
    (void)event_count;
    struct old_epoch *old = context;
    struct daemon *daemon = old->daemon;
    bool has = false;
    if (session->kind != SESSION_LIVE || !session->end || session->end >= old->before ||
        session->id <= daemon->whole || strcmp(session->name, "daemon") != 0 ||
        strcmp(session->host, daemon->host.name) != 0)
        return true;
    old->good = store_has_slices(daemon->store, session->id, &has, old->error);
    if (has)
        old->found = session->id;
    else
        daemon->whole = session->id;
    return old->good && !has;
}

/* One epoch at a merge: the daemon's own, which follow one another. */
static bool forget_slices(struct daemon *daemon, struct error *error) {
    const double keep = daemon->options->keep_slices_seconds;
    struct old_epoch old = {.daemon = daemon,
                            .before = clock_since_1970() - (int64_t)(keep * 1e9),
                            .error = error,
                            .good = true};
    if (!store_each_session(daemon->store, find_sliced, &old, error) || !old.good)
        return false;
    return !old.found || store_forget_slices(daemon->store, old.found, error);
}

static bool is_session(void *context, const struct store_session *session,
                       const struct store_event *events, size_t event_count) {
    (void)events;
    (void)event_count;
    int64_t *wanted = context;
    if (session->id == *wanted)
        *wanted = 0;
    return *wanted;
}

/* Whoever removed the epoch wanted what was in it gone, not what comes. */
static bool find_session(struct daemon *daemon, struct error *error) {
    int64_t wanted = daemon->session;
    if (!wanted)
        return true;
    if (!store_each_session(daemon->store, is_session, &wanted, error))
        return false;
    if (wanted) {
        say(daemon, "epoch %lld was removed while it went on: goes on in a new one",
            (long long)wanted);
        daemon->session = 0;
    }
    return true;
}

static bool prepare_session(struct daemon *daemon, struct error *error) {
    if (!find_session(daemon, error))
        return false;
    if (!daemon->session)
        return add_session(daemon, error);
    if (!daemon->resampled)
        return true;
    daemon->resampled = !live_session_resume(daemon->store, daemon->session, daemon->stored,
                                             daemon->options->event_count, daemon->events, error);
    return !daemon->resampled;
}

static bool write_all(struct daemon *daemon, bool ended, struct error *error) {
    const size_t count = daemon->options->event_count;
    struct live_event_times times[LIVE_EVENTS_MAX] = {0};
    live_source_times(&daemon->source, times);
    daemon->resampled |=
        live_scaling_find(&daemon->scaling, daemon->gathered, times, count, daemon->stored);
    if (!prepare_session(daemon, error) ||
        !resolver_save(daemon->resolver, daemon->store, daemon->session, daemon->events, error))
        return false;
    live_scaling_saved(&daemon->scaling, daemon->gathered, times, count, daemon->stored);
    struct store_session session = session_of(daemon, ended);
    return store_update_session(daemon->store, &session, error) && prune(daemon, error) &&
           forget_slices(daemon, error);
}

static bool save(struct daemon *daemon, bool ended, struct error *error) {
    bool saved = open_store(daemon, error) && write_all(daemon, ended, error);
    close_store(daemon);
    return saved;
}

/* A damaged store is moved out of the way, with the log beside it, so that what is counted from now
 * on has a place; whoever looks after the machine finds it under its new name. */
static bool set_aside(struct daemon *daemon) {
    static const char *const endings[] = {"", "-wal", "-shm"};
    const char *path = daemon->options->store;
    char from[PATH_MAX], to[PATH_MAX];
    if (!store_is_damaged(path))
        return false;
    long long now = (long long)time(NULL);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        snprintf(from, sizeof from, "%s%s", path, endings[i]);
        if (snprintf(to, sizeof to, "%s.damaged-%lld%s", path, now, endings[i]) >= PATH_MAX ||
            (rename(from, to) != 0 && i == 0))
            return false;
    }
    say(daemon, "%s is damaged: it is %s.damaged-%lld now, and a new one is begun", path, path,
        now);
    return true;
}

/* What is gathered. A failure is said once, not each time. */
static void merge_gathered(struct daemon *daemon, bool ended) {
    struct error failure = {0};
    double time = now();
    bool failed = daemon->problem[0] != 0;
    bool saved =
        save(daemon, ended, &failure) || (set_aside(daemon) && save(daemon, ended, &failure));
    if (saved) {
        daemon->merges++;
        daemon->merged = time;
        daemon->next_merge = time + daemon->options->merge_seconds;
        daemon->problem[0] = 0;
        daemon->written = drained(daemon);
        /* Symbol tables and unwind tables came and went meanwhile. */
        malloc_trim(0);
        if (failed)
            say(daemon, "merging into %s again; nothing that was counted is lost",
                daemon->options->store);
        return;
    }
    daemon->failed_merges++;
    double retry = daemon->options->merge_seconds < RETRY_SECONDS ? daemon->options->merge_seconds
                                                                  : RETRY_SECONDS;
    daemon->next_merge = time + retry;
    if (!failed || strcmp(daemon->problem, failure.message) != 0)
        say(daemon, "cannot merge: %s; goes on counting, tries again every %s", failure.message,
            text_duration(retry).s);
    memcpy(daemon->problem, failure.message, sizeof daemon->problem);
}

/* Every merge drains first: a killed daemon loses no more than one interval. */
static bool merge(struct daemon *daemon, bool ended, struct error *error) {
    if (!drain(daemon, error))
        return false;
    merge_gathered(daemon, ended);
    return true;
}

static bool end_epoch(struct daemon *daemon, struct error *error) {
    if (!merge(daemon, true, error))
        return false;
    /* What could not be merged belongs to the old epoch, which goes on until it can be. */
    if (daemon->problem[0])
        return true;
    begin_epoch(daemon);
    say(daemon, "begins a new epoch");
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
    daemon->next_adjustment = now() + (changes || daemon->budget.cost < 0 ? SOON : SETTLED);
    if (!changes)
        return true;
    if (daemon->problem[0]) {
        daemon->budget.step = before.step;
        return true;
    }
    set_rate(daemon);
    if (!drain_all(daemon, error))
        return false;
    merge_gathered(daemon, false);
    if (daemon->problem[0]) {
        daemon->budget.step = before.step;
        set_rate(daemon);
        return true;
    }
    memcpy(daemon->gathered, daemon->sampled, sizeof daemon->gathered);
    daemon->resampled = true;
    say(daemon, "sampling cost %.2g %% of the busy time: %.0f samples a second from now on",
        100 * daemon->budget.cost, budget_rate(&daemon->budget));
    return true;
}

/* ---- status ---- */

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

static bool answer(const struct daemon *daemon, int socket) {
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
        .uptime = ago(daemon->began),
        .rate = budget_rate(&daemon->budget),
        .budget = options->budget,
        .cost = daemon->budget.cost,
        .interrupt_seconds = options->budget > 0 ? daemon->meter.interrupt_seconds : -1,
        .epoch = daemon->session,
        .epoch_seconds = ago(daemon->epoch_began),
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
        .unwritten = unwritten(daemon),
        .processes = attributed.processes,
        .images = attributed.images,
        .drains = daemon->drains,
        .merges = daemon->merges,
        .failed_merges = daemon->failed_merges,
        .last_drain = ago(daemon->drained),
        .last_merge = ago(daemon->merged),
        .processor_seconds = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                             (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6,
        .program_seconds = collected.program_runs ? (double)collected.program_ns * 1e-9 : -1,
        .resident_bytes = resident_bytes(),
        .kernel_bytes = collected.bytes,
        .store_bytes = store_bytes(options->store),
    };
    snprintf(status.store, sizeof status.store, "%s", options->store);
    memcpy(status.problem, daemon->problem, sizeof status.problem);
    live_events_describe(daemon->sampled, options->event_count, status.sampling,
                         sizeof status.sampling);
    return daemon_status_answer(socket, &status);
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
    double wait = (next - now()) * 1e3 + 1;
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
        answer(daemon, daemon->socket);
    double time = now();
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
    bool usable = open_store(daemon, error) && end_stale_epochs(daemon, error);
    close_store(daemon);
    if (!usable)
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
    daemon->next_drain = now() + drain_seconds(options);
    daemon->next_merge = now() + options->merge_seconds;
    daemon->next_adjustment = options->budget > 0 ? now() + FIRST_INTERVAL : INFINITY;
    begin_epoch(daemon);
    return true;
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
    uint64_t lost = unwritten(daemon);
    while (answer(daemon, daemon->last))
        continue;
    return !daemon->problem[0] ||
           error_set(error,
                     "stopped, but %s sample%s counted since the last merge "
                     "are lost: %.900s",
                     text_grouped(lost).s, text_plural(lost), daemon->problem);
}

static void finish(struct daemon *daemon) {
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
    daemon.began = now();
    bool fine = start(&daemon, error);
    if (fine) {
        char sampling[256];
        live_events_describe(options->events, options->event_count, sampling, sizeof sampling);
        say(&daemon, "collects into %s: %s", options->store, sampling);
        while (fine && !daemon.stop)
            fine = work(&daemon, error);
        fine = fine && merge_last(&daemon, error);
    }
    finish(&daemon);
    return fine;
}
