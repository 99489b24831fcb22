/* The daemon's store is open only while it is read or written: whoever looks after the machine may
 * remove it, or put another in its place, at any time. */
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "live/daemon_parts.h"
#include "live/daemon_push.h"
#include "live/session.h"
#include "store/push.h"
#include "util/text.h"

enum { RETRY_SECONDS = 30 };

/* ---- epochs ---- */

void daemon_begin_epoch(struct daemon *daemon) {
    struct resolver_statistics attributed;
    struct collector_statistics collected;
    resolver_statistics(daemon->resolver, &attributed);
    live_source_statistics(&daemon->source, &collected);
    daemon->unknown_before = attributed.unknown;
    daemon->dropped_before = collected.dropped;
    daemon->session = 0;
    resolver_slice_by(daemon->resolver, &daemon->options->slicing);
    daemon->epoch_began = daemon->drained < 0 ? daemon_now() : daemon->drained;
    daemon->epoch_start = clock_since_1970() - (int64_t)(daemon_ago(daemon->epoch_began) * 1e9);
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

/* Epochs that wait to be sent, and the one that goes on: they stay. To be freed. */
static int64_t *kept_epochs(const struct daemon *daemon, const struct push_queue *queue) {
    int64_t *kept = malloc((queue->count + 1) * sizeof *kept);
    if (kept)
        kept[queue->count] = daemon->session;
    for (size_t i = 0; kept && i < queue->count; i++)
        kept[i] = queue->epochs[i].session;
    return kept;
}

static bool prune_but(struct daemon *daemon, const struct push_queue *queue, struct error *error) {
    const struct daemon_options *options = daemon->options;
    uint64_t removed = 0;
    int64_t before =
        options->keep_seconds > 0 ? clock_since_1970() - (int64_t)(options->keep_seconds * 1e9) : 0;
    if (!before && !options->keep_bytes)
        return true;
    int64_t *kept = kept_epochs(daemon, queue);
    const bool pruned = kept
                            ? store_prune(daemon->store,
                                          &(struct store_retention){.before = before,
                                                                    .bytes = options->keep_bytes,
                                                                    .kept = kept,
                                                                    .kept_count = queue->count + 1},
                                          &removed, error)
                            : error_set(error, "out of memory");
    free(kept);
    if (!pruned)
        return false;
    if (removed)
        daemon_say(daemon, "removed %llu old epoch%s from %s", (unsigned long long)removed,
                   text_plural(removed), options->store);
    return true;
}

/* What no longer finds room among those that wait. */
static bool bound_queue(struct daemon *daemon, struct push_queue *queue, struct error *error) {
    uint64_t given_up;
    if (!push_queue_read(daemon->store, daemon->host.name, queue, error) ||
        !push_queue_bound(daemon->store, queue, daemon->options->queue_bytes, &given_up, error))
        return false;
    if (given_up)
        daemon_say(daemon,
                   "%llu epoch%s found no room among those that wait to be sent, and will "
                   "not be (--queue %s)",
                   (unsigned long long)given_up, text_plural(given_up),
                   text_bytes(daemon->options->queue_bytes).s);
    daemon_push_wake(daemon->push, queue->count, queue->bytes, given_up);
    return true;
}

static bool prune(struct daemon *daemon, struct error *error) {
    struct push_queue queue = {0};
    const bool pruned =
        (!daemon->push || bound_queue(daemon, &queue, error)) && prune_but(daemon, &queue, error);
    push_queue_free(&queue);
    return pruned;
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
        daemon_say(daemon, "epoch %lld was removed while it went on: goes on in a new one",
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
    daemon_say(daemon, "%s is damaged: it is %s.damaged-%lld now, and a new one is begun", path,
               path, now);
    return true;
}

/* What is gathered. A failure is said once, not each time. */
void daemon_merge(struct daemon *daemon, bool ended) {
    struct error failure = {0};
    double time = daemon_now();
    bool failed = daemon->problem[0] != 0;
    bool saved =
        save(daemon, ended, &failure) || (set_aside(daemon) && save(daemon, ended, &failure));
    if (saved) {
        daemon->merges++;
        daemon->merged = time;
        daemon->next_merge = time + daemon->options->merge_seconds;
        daemon->problem[0] = 0;
        daemon->written = daemon_drained(daemon);
        /* Symbol tables and unwind tables came and went meanwhile. */
        malloc_trim(0);
        if (failed)
            daemon_say(daemon, "merging into %s again; nothing that was counted is lost",
                       daemon->options->store);
        return;
    }
    daemon->failed_merges++;
    double retry = daemon->options->merge_seconds < RETRY_SECONDS ? daemon->options->merge_seconds
                                                                  : RETRY_SECONDS;
    daemon->next_merge = time + retry;
    if (!failed || strcmp(daemon->problem, failure.message) != 0)
        daemon_say(daemon, "cannot merge: %s; goes on counting, tries again every %s",
                   failure.message, text_duration(retry).s);
    memcpy(daemon->problem, failure.message, sizeof daemon->problem);
}

bool daemon_check_store(struct daemon *daemon, struct error *error) {
    const bool usable = open_store(daemon, error) && end_stale_epochs(daemon, error);
    close_store(daemon);
    return usable;
}
