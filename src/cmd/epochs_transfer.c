/* Export and import of epochs: as a store; by --format, or the file's first bytes, in other tools'
 * formats. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd/epochs.h"
#include "cmd/save.h"
#include "exchange/exchange.h"
#include "store/address.h"
#include "util/text.h"

static bool same_file(const char *one, const char *other) {
    struct stat a, b;
    return stat(one, &a) == 0 && stat(other, &b) == 0 && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino;
}

/* ---- as a store ---- */

/* Into a new file, which takes its name when it is complete. */
static bool export_store(struct store *store, const int64_t *epochs, size_t count, const char *path,
                         struct error *error) {
    struct output output;
    if (!output_open(&output, "export", path, stdout, error))
        return false;
    struct store *to = NULL;
    bool good = output.new_file.temporary[0] != 0 ||
                error_set(error, "export %s: a store needs a regular file", path);
    if (good)
        good = (to = store_open(output.new_file.temporary, STORE_WRITE, error)) != NULL;
    good = good && store_copy_sessions(to, store, epochs, count, error);
    store_close(to);
    good = good && output_close(&output, error);
    output_discard(&output);
    return good;
}

/* ---- in other formats ---- */

static bool export_format(struct store *store, const struct store_filter *filter,
                          enum exchange_format format, const char *path, struct error *error) {
    struct output output;
    bool good = output_open(&output, "export", path, stdout, error) &&
                exchange_export(store, filter, format, output.file, error) &&
                output_close(&output, error);
    output_discard(&output);
    return good;
}

/* How to look at it. */
static void print_viewer(enum exchange_format format, const char *path) {
    printf("\nnext: %s ", exchange_format_viewer(format));
    text_put_word(stdout, path);
    putchar('\n');
}

static bool import_format(struct store *store, const struct epochs_request *request,
                          struct error *error) {
    struct exchange_imported imported;
    enum exchange_format format = EXCHANGE_FORMATS;
    if (request->format)
        exchange_format_find(request->format, &format);
    if (!exchange_import(store, request->argument, format, &imported, error))
        return false;
    printf("imported %s record%s as epoch %" PRId64 " into %s: %zu process%s, %zu image%s, "
           "%zu event%s\n",
           text_grouped(imported.records).s, text_plural(imported.records), imported.session,
           store_path(store), imported.processes, imported.processes == 1 ? "" : "es",
           imported.images, text_plural(imported.images), imported.events,
           text_plural(imported.events));
    if (imported.unplaced)
        printf(
            "%s sample%s known by an address alone, which names nothing: import what 'perf script "
            "--show-mmap-events --show-task-events' prints\n",
            text_grouped(imported.unplaced).s, imported.unplaced == 1 ? " is" : "s are");
    printf("\nnext: culprit top --epoch %" PRId64, imported.session);
    if (request->store.store_count)
        text_put_option(stdout, "store", store_path(store));
    putchar('\n');
    return true;
}

static bool is_store(const char *path) {
    static const char magic[16] = "SQLite format 3";
    char begin[sizeof magic] = "";
    struct stat status;
    bool regular = stat(path, &status) == 0 && S_ISREG(status.st_mode);
    FILE *file = regular ? fopen(path, "re") : NULL;
    if (!file)
        return store_is_address(path);
    bool same =
        fread(begin, 1, sizeof begin, file) == sizeof begin && !memcmp(begin, magic, sizeof magic);
    fclose(file);
    return same;
}

/* ---- both ---- */

static bool push(struct epochs_request *request, struct error *error) {
    struct store *store = epochs_open(request, STORE_READ, error);
    struct store_filter filter = {.event = request->event};
    int64_t *epochs = NULL;
    const bool good = store &&
                      epochs_choose(store, request, &epochs, &filter.session_count, error) &&
                      (filter.sessions = epochs, save_push(store, &filter, request->push, error));
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
    struct store *store = epochs_open(request, STORE_READ, error);
    if (!store)
        return false;
    int64_t *epochs = NULL;
    size_t count;
    const char *path = request->argument;
    bool good = !same_file(store_path(store), path) ||
                error_set(error, "export %s: that is the store itself", path);
    enum exchange_format format = EXCHANGE_FORMATS;
    if (request->format)
        exchange_format_find(request->format, &format);
    good = good && epochs_choose(store, request, &epochs, &count, error);
    if (good && format == EXCHANGE_FORMATS)
        good = export_store(store, epochs, count, path, error);
    else if (good)
        good =
            export_format(store,
                          &(struct store_filter){
                              .sessions = epochs, .session_count = count, .event = request->event},
                          format, path, error);
    if (good && strcmp(path, "-") != 0) {
        printf("exported %zu epoch%s to %s\n", count, text_plural(count), path);
        if (format != EXCHANGE_FORMATS)
            print_viewer(format, path);
    }
    free(epochs);
    store_close(store);
    return good;
}

static bool count_epoch(void *context, const struct store_session *session,
                        const struct store_event *events, size_t event_count) {
    (void)session, (void)events, (void)event_count;
    ++*(size_t *)context;
    return true;
}

static bool import_store(struct store *store, const char *path, struct error *error) {
    if (same_file(store_path(store), path))
        return error_set(error, "import %s: that is the store itself", path);
    struct store *from = store_open(path, STORE_READ, error);
    if (!from)
        return false;
    size_t count = 0;
    bool good = store_each_session(from, count_epoch, &count, error) &&
                store_copy_sessions(store, from, NULL, 0, error);
    if (good)
        printf("imported %zu epoch%s into %s\n\nnext: culprit epochs\n", count, text_plural(count),
               store_path(store));
    store_close(from);
    return good;
}

/* The store is made when there is none. */
bool epochs_import(struct epochs_request *request, struct error *error) {
    const char *path = request->store.store_count ? request->store.stores[0] : NULL;
    struct store *store = store_open_default(path, STORE_WRITE, error);
    if (!store)
        return false;
    bool as_store =
        request->format ? !strcmp(request->format, "store") : is_store(request->argument);
    bool good = as_store ? import_store(store, request->argument, error)
                         : import_format(store, request, error);
    store_close(store);
    return good;
}
