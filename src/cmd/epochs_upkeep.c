/* Beginning, merging, removing, compacting and checking. */
#include "cmd/epochs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "live/daemon_lock.h"
#include "live/daemon_request.h"
#include "live/resolver.h"
#include "store/push.h"
#include "util/array.h"
#include "util/clock.h"
#include "util/text.h"

bool epochs_new(struct epochs_request *request, struct error *error) {
    (void)request;
    pid_t daemon;
    if (!daemon_request(DAEMON_NEW_EPOCH, &daemon, error))
        return false;
    printf("the daemon, process %d, has begun a new epoch\n", (int)daemon);
    return true;
}

/* The epochs that the argument names. */
static struct store *open_and_choose(const struct epochs_request *request, int64_t **epochs,
                                     size_t *count, struct error *error) {
    struct store *store = epochs_open(request, STORE_WRITE, error);
    if (store && !store_options_choose(store, request->argument, epochs, count, error)) {
        store_close(store);
        return NULL;
    }
    return store;
}

/* What removing has left unused, and how to give it back. */
static void print_unused(const struct epochs_request *request, struct store *store) {
    uint64_t bytes, unused;
    struct error error;
    if (!store_size(store, &bytes, &unused, &error) || !unused)
        return;
    printf("of %s, %s are unused\n\nnext: culprit epochs compact", text_bytes(bytes).s,
           text_bytes(unused).s);
    if (request->store.store_count)
        text_put_option(stdout, "store", store_path(store));
    putchar('\n');
}

bool epochs_merge(struct epochs_request *request, struct error *error) {
    int64_t *epochs;
    size_t count;
    struct store *store = open_and_choose(request, &epochs, &count, error);
    if (!store)
        return false;
    bool good = count > 1 || error_set(error, "merge %s: only one epoch", request->argument);
    if (good && (good = store_merge_sessions(store, epochs, count, error)))
        printf("%zu epochs are now epoch %" PRId64 "\n", count, epochs[0]);
    free(epochs);
    store_close(store);
    return good;
}

/* The epoch that a daemon writes. */
struct ongoing {
    int64_t epoch; /* 0: none */
    int64_t saved;
    pid_t daemon;
};

static bool find_ongoing(void *context, const struct store_session *session,
                         const struct store_event *events, size_t event_count) {
    (void)events, (void)event_count;
    struct ongoing *ongoing = context;
    if (session->kind == SESSION_LIVE && !session->end && !strcmp(session->name, "daemon"))
        *ongoing = (struct ongoing){.epoch = session->id, .saved = session->saved};
    return true;
}

/* Without a daemon an epoch that has not ended is of a writer that died. False: it cannot be found
 * out. */
static bool read_ongoing(struct store *store, struct ongoing *ongoing, struct error *error) {
    *ongoing = (struct ongoing){0};
    if (!store_each_session(store, find_ongoing, ongoing, error) ||
        (ongoing->epoch && (ongoing->daemon = daemon_lock_pid(error)) < 0))
        return false;
    if (!ongoing->daemon)
        ongoing->epoch = 0;
    return true;
}

static bool may_remove(struct store *store, const int64_t *epochs, size_t count,
                       struct error *error) {
    struct ongoing ongoing;
    if (!read_ongoing(store, &ongoing, error))
        return false;
    return !any_where(i, count, epochs[i] == ongoing.epoch) ||
           error_set(error,
                     "epoch %" PRId64 " goes on, and process %d collects: 'culprit epochs new' "
                     "ends it",
                     ongoing.epoch, (int)ongoing.daemon);
}

bool epochs_remove(struct epochs_request *request, struct error *error) {
    int64_t *epochs;
    size_t count;
    struct store *store = open_and_choose(request, &epochs, &count, error);
    if (!store)
        return false;
    bool good = may_remove(store, epochs, count, error) && store_begin(store, error);
    if (good) {
        for (size_t i = 0; good && i < count; i++)
            good = store_remove_session(store, epochs[i], error);
        if (good)
            good = store_commit(store, error);
        else
            store_rollback(store);
    }
    if (good) {
        printf("removed %zu epoch%s\n", count, text_plural(count));
        print_unused(request, store);
    }
    free(epochs);
    store_close(store);
    return good;
}

/* All but those that wait to be sent and the one that goes on. */
static bool prune_but(struct store *store, struct store_retention *retention,
                      const struct push_queue *waiting, const struct ongoing *ongoing,
                      uint64_t *removed, struct error *error) {
    int64_t *kept = malloc((waiting->count + 1) * sizeof *kept);
    if (!kept)
        return error_set(error, "out of memory");
    for (size_t i = 0; i < waiting->count; i++)
        kept[i] = waiting->epochs[i].session;
    kept[waiting->count] = ongoing->epoch;
    retention->kept = kept;
    retention->kept_count = waiting->count + 1;
    const bool good = store_prune(store, retention, removed, error);
    free(kept);
    return good;
}

bool epochs_prune(struct epochs_request *request, struct error *error) {
    struct store *store = epochs_open(request, STORE_WRITE, error);
    if (!store)
        return false;
    double age = (double)clock_since_1970() - request->older_seconds * 1e9;
    int64_t before = request->older_seconds && age > 0 ? (int64_t)age : 0;
    struct store_retention retention = {.before = before, .bytes = request->size_bytes};
    struct push_queue waiting = {0};
    struct live_host host;
    struct ongoing ongoing;
    uint64_t removed;
    live_host_read(&host);
    bool good = read_ongoing(store, &ongoing, error) &&
                push_queue_read_begun(store, host.name, &waiting, error) &&
                prune_but(store, &retention, &waiting, &ongoing, &removed, error);
    if (good) {
        if (waiting.count)
            printf("%zu epoch%s to be sent, and stay%s ('culprit epochs remove' removes any)\n",
                   waiting.count, waiting.count == 1 ? " waits" : "s wait",
                   waiting.count == 1 ? "s" : "");
        printf("removed %" PRIu64 " epoch%s\n", removed, text_plural(removed));
        if (ongoing.epoch && (ongoing.saved < before || request->size_bytes))
            printf("epoch %" PRId64 " stays: it goes on, and process %d collects "
                   "('culprit epochs new' ends it)\n",
                   ongoing.epoch, (int)ongoing.daemon);
        print_unused(request, store);
    }
    push_queue_free(&waiting);
    store_close(store);
    return good;
}

bool epochs_compact(struct epochs_request *request, struct error *error) {
    struct store *store = epochs_open(request, STORE_WRITE, error);
    if (!store)
        return false;
    uint64_t before, after;
    bool good = store_compact(store, &before, &after, error);
    if (good)
        printf("%s became %s\n", text_bytes(before).s, text_bytes(after).s);
    store_close(store);
    return good;
}

/* Opened for writing where it may be: that recovers what a writer left that died, and migrates. */
bool epochs_check(struct epochs_request *request, struct error *error) {
    struct error ignored;
    struct store *store = epochs_open(request, STORE_WRITE, &ignored);
    if (!store)
        store = epochs_open(request, STORE_READ, error);
    if (!store)
        return false;
    bool good = store_check(store, error);
    if (good)
        printf("%s: good\n", store_path(store));
    store_close(store);
    return good;
}
