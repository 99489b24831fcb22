#include "live/store_upkeep.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "live/daemon_lock.h"
#include "live/resolver.h"
#include "store/push.h"
#include "util/array.h"

static bool find_ongoing(void *context, const struct store_session *session,
                         const struct store_event *events, size_t event_count) {
    (void)events, (void)event_count;
    struct ongoing_epoch *ongoing = context;
    if (session->kind == SESSION_LIVE && !session->end && !strcmp(session->name, "daemon"))
        *ongoing = (struct ongoing_epoch){.session = session->id, .saved = session->saved};
    return true;
}

/* False: it cannot be found out. */
static bool read_ongoing(struct store *store, struct ongoing_epoch *ongoing, struct error *error) {
    *ongoing = (struct ongoing_epoch){0};
    if (!store_each_session(store, find_ongoing, ongoing, error) ||
        (ongoing->session && (ongoing->daemon = daemon_lock_pid(error)) < 0))
        return false;
    if (!ongoing->daemon)
        ongoing->session = 0;
    return true;
}

static bool may_remove(struct store *store, const int64_t *epochs, size_t count,
                       struct error *error) {
    struct ongoing_epoch ongoing;
    if (!read_ongoing(store, &ongoing, error))
        return false;
    return !any_where(i, count, epochs[i] == ongoing.session) ||
           error_set(error,
                     "epoch %" PRId64 " goes on, and process %d collects: 'culprit epochs new' "
                     "ends it",
                     ongoing.session, (int)ongoing.daemon);
}

bool store_upkeep_remove(struct store *store, const int64_t *epochs, size_t count,
                         struct error *error) {
    if (!may_remove(store, epochs, count, error) || !store_begin(store, error))
        return false;
    if (all_where(i, count, store_remove_session(store, epochs[i], error)))
        return store_commit(store, error);
    store_rollback(store);
    return false;
}

/* All but those that wait to be sent and the one that goes on. */
static bool prune_but(struct store *store, struct store_retention *retention,
                      const struct push_queue *waiting, const struct ongoing_epoch *ongoing,
                      uint64_t *removed, struct error *error) {
    int64_t *kept = malloc((waiting->count + 1) * sizeof *kept);
    if (!kept)
        return error_set(error, "out of memory");
    for (size_t i = 0; i < waiting->count; i++)
        kept[i] = waiting->epochs[i].session;
    kept[waiting->count] = ongoing->session;
    retention->kept = kept;
    retention->kept_count = waiting->count + 1;
    const bool good = store_prune(store, retention, removed, error);
    free(kept);
    return good;
}

bool store_upkeep_prune(struct store *store, int64_t before, uint64_t bytes,
                        struct store_upkeep_pruned *pruned, struct error *error) {
    struct store_retention retention = {.before = before, .bytes = bytes};
    struct push_queue waiting = {0};
    struct live_host host;
    *pruned = (struct store_upkeep_pruned){0};
    live_host_read(&host);
    const bool good =
        read_ongoing(store, &pruned->ongoing, error) &&
        push_queue_read_begun(store, host.name, &waiting, error) &&
        prune_but(store, &retention, &waiting, &pruned->ongoing, &pruned->removed, error);
    pruned->waiting = waiting.count;
    if (pruned->ongoing.saved >= before && !bytes)
        pruned->ongoing.session = 0;
    push_queue_free(&waiting);
    return good;
}
