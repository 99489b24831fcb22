/* Epochs on a server: making its tables, sending. */
#include "cmd/epochs.h"

#include <stdio.h>
#include <stdlib.h>

#include "live/resolver.h"
#include "report/epochs_report.h"
#include "store/address.h"
#include "util/order.h"

bool epochs_init(struct epochs_request *request, struct error *error) {
    char path[PATH_MAX];
    struct store_server_made made;
    const char *given = request->store.store_count ? request->store.stores[0] : path;
    if (given == path && !store_default_path(path, STORE_READ, error))
        return false;
    if (!store_is_address(given))
        return error_set(error, "init makes the tables of a server: --store "
                                "postgresql://USER@HOST/DATABASE (a file is made when it is first "
                                "written)");
    if (!store_server_init(given, &made, error))
        return false;
    server_made_text(&made, stdout);
    return true;
}

/* ---- sending ---- */

ORDER(by_number, int64_t, ascending(*a, *b))

/* In the order in which they were begun, whatever the clock said. */
static bool send_chosen(struct epochs_request *request, struct push *push, struct pushed *sent,
                        struct error *error) {
    int64_t *epochs = NULL;
    size_t count;
    bool good =
        epoch_choice_read(&request->choice, &request->store, push->file, &epochs, &count, error);
    if (good) {
        qsort(epochs, count, sizeof *epochs, by_number);
        good = push_sessions(push, epochs, count, sent, error);
    }
    free(epochs);
    return good;
}

bool epochs_push(struct epochs_request *request, struct error *error) {
    struct store *file = store_options_open(&request->store, STORE_WRITE, error);
    struct store *server = file ? store_open(request->push, STORE_WRITE, error) : NULL;
    struct live_host host;
    struct push push = {0};
    struct pushed sent = {0};
    live_host_read(&host);
    const bool good = server && push_begin(&push, file, server, error) &&
                      (epoch_choice_any(&request->choice, &request->store)
                           ? send_chosen(request, &push, &sent, error)
                           : push_waiting(&push, host.name, &sent, error));
    if (server)
        pushed_text(&push, &sent, good, stdout);
    push_end(&push);
    store_close(server);
    store_close(file);
    return good;
}
