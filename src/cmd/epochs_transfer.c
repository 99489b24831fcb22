/* Export and import of epochs: as a store; by --format, or the file's first bytes, in other tools'
 * formats. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/epochs.h"
#include "exchange/push.h"
#include "report/epochs_report.h"
#include "store/address.h"
#include "store/exported.h"
#include "util/text.h"

/* ---- in other formats ---- */

static bool export_format(struct store *store, const struct store_filter *filter,
                          enum exchange_format format, const char *path, struct error *error) {
    struct output output;
    bool good = output_open(&output, "export", path, stdout, error) &&
                exchange_export(store, filter, format, output.file, stderr, error) &&
                output_close(&output, error);
    output_discard(&output);
    return good;
}

static bool import_format(struct store *store, const struct epochs_request *request,
                          struct error *error) {
    struct exchange_imported imported;
    enum exchange_format format = EXCHANGE_FORMATS;
    if (request->format)
        exchange_format_find(request->format, &format);
    if (!exchange_import(store, request->argument, format, &imported, error))
        return false;
    imported_text(&imported, store, request->store.store_count, stdout);
    return true;
}

/* ---- both ---- */

static bool push(struct epochs_request *request, struct error *error) {
    struct store *store = store_options_open(&request->store, STORE_READ, error);
    struct store_filter filter = {.event = request->event};
    int64_t *epochs = NULL;
    const bool good = store &&
                      epoch_choice_read(&request->choice, &request->store, store, &epochs,
                                        &filter.session_count, error) &&
                      (filter.sessions = epochs, push_store(store, &filter, request->push, error));
    if (good)
        printf("sent %zu epoch%s to %s\n", filter.session_count, text_plural(filter.session_count),
               request->push);
    free(epochs);
    store_close(store);
    return good;
}

bool epochs_export(struct epochs_request *request, struct error *error) {
    if (request->push)
        return store_is_address(request->push) ? epochs_push(request, error) : push(request, error);
    struct store *store = store_options_open(&request->store, STORE_READ, error);
    if (!store)
        return false;
    int64_t *epochs = NULL;
    size_t count;
    const char *path = request->argument;
    bool good = !store_is_file(store, path) ||
                error_set(error, "export %s: that is the store itself", path);
    enum exchange_format format = EXCHANGE_FORMATS;
    if (request->format)
        exchange_format_find(request->format, &format);
    good =
        good && epoch_choice_read(&request->choice, &request->store, store, &epochs, &count, error);
    if (good && format == EXCHANGE_FORMATS)
        good = store_export(store, epochs, count, path, error);
    else if (good)
        good =
            export_format(store,
                          &(struct store_filter){
                              .sessions = epochs, .session_count = count, .event = request->event},
                          format, path, error);
    if (good && strcmp(path, "-") != 0)
        exported_text(count, format, path, stdout);
    free(epochs);
    store_close(store);
    return good;
}

static bool import_store(struct store *store, const char *path, struct error *error) {
    size_t count;
    if (!store_import(store, path, &count, error))
        return false;
    printf("imported %zu epoch%s into %s\n\nnext: culprit epochs\n", count, text_plural(count),
           store_path(store));
    return true;
}

/* The store is made when there is none. */
bool epochs_import(struct epochs_request *request, struct error *error) {
    const char *path = request->store.store_count ? request->store.stores[0] : NULL;
    struct store *store = store_open_default(path, STORE_WRITE, error);
    if (!store)
        return false;
    bool as_store =
        request->format ? !strcmp(request->format, "store") : store_is_at(request->argument);
    bool good = as_store ? import_store(store, request->argument, error)
                         : import_format(store, request, error);
    store_close(store);
    return good;
}
