/* Beginning, merging, removing, compacting and checking. */
#include "cmd/epochs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "live/daemon_request.h"
#include "report/epochs_report.h"
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
    struct store *store = store_options_open(&request->store, STORE_WRITE, error);
    if (store && !store_options_choose(store, request->argument, epochs, count, error)) {
        store_close(store);
        return NULL;
    }
    return store;
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

bool epochs_remove(struct epochs_request *request, struct error *error) {
    int64_t *epochs;
    size_t count;
    struct store *store = open_and_choose(request, &epochs, &count, error);
    if (!store)
        return false;
    const bool good = store_upkeep_remove(store, epochs, count, error);
    if (good) {
        printf("removed %zu epoch%s\n", count, text_plural(count));
        unused_text(store, request->store.store_count, stdout);
    }
    free(epochs);
    store_close(store);
    return good;
}

bool epochs_prune(struct epochs_request *request, struct error *error) {
    struct store *store = store_options_open(&request->store, STORE_WRITE, error);
    if (!store)
        return false;
    double age = (double)clock_since_1970() - request->older_seconds * 1e9;
    int64_t before = request->older_seconds && age > 0 ? (int64_t)age : 0;
    struct store_upkeep_pruned pruned;
    const bool good = store_upkeep_prune(store, before, request->size_bytes, &pruned, error);
    if (good) {
        pruned_text(&pruned, stdout);
        unused_text(store, request->store.store_count, stdout);
    }
    store_close(store);
    return good;
}

bool epochs_compact(struct epochs_request *request, struct error *error) {
    struct store *store = store_options_open(&request->store, STORE_WRITE, error);
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
    struct store *store = store_options_open(&request->store, STORE_WRITE, &ignored);
    if (!store)
        store = store_options_open(&request->store, STORE_READ, error);
    if (!store)
        return false;
    bool good = store_check(store, error);
    if (good)
        printf("%s: good\n", store_path(store));
    store_close(store);
    return good;
}
