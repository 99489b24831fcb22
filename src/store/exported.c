/* The copy is a store under a temporary name, which takes its own when it is complete. */
#include "store/exported.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "store/address.h"
#include "util/file_name.h"
#include "util/output.h"

bool store_export(struct store *store, const int64_t *sessions, size_t count, const char *path,
                  struct error *error) {
    struct output output;
    if (!output_open(&output, "export", path, stdout, error))
        return false;
    struct store *to = NULL;
    bool good = new_file_is_made(&output.new_file) ||
                error_set(error, "export %s: a store needs a regular file", path);
    good = good && (new_file_name(&output.new_file) ||
                    error_errno(error, "export %s: cannot make a file there", path));
    if (good)
        good = (to = store_open(output.new_file.temporary, STORE_WRITE, error)) != NULL;
    good = good && store_copy_sessions(to, store, sessions, count, error);
    store_close(to);
    good = good && output_close(&output, error);
    output_discard(&output);
    return good;
}

static bool count_session(void *context, const struct store_session *session,
                          const struct store_event *events, size_t event_count) {
    (void)session, (void)events, (void)event_count;
    ++*(size_t *)context;
    return true;
}

bool store_import(struct store *store, const char *path, size_t *count, struct error *error) {
    if (store_is_file(store, path))
        return error_set(error, "import %s: that is the store itself", path);
    struct store *from = store_open(path, STORE_READ, error);
    *count = 0;
    const bool good = from && store_each_session(from, count_session, count, error) &&
                      store_copy_sessions(store, from, NULL, 0, error);
    store_close(from);
    return good;
}

bool store_is_file(const struct store *store, const char *path) {
    struct stat status;
    return stat(store_path(store), &status) == 0 && file_is_at(&status, path);
}

bool store_is_at(const char *path) {
    static const char magic[16] = "SQLite format 3";
    char begin[sizeof magic] = "";
    struct stat status;
    const bool regular = stat(path, &status) == 0 && S_ISREG(status.st_mode);
    FILE *file = regular ? fopen(path, "re") : NULL;
    if (!file)
        return store_is_address(path);
    const bool same =
        fread(begin, 1, sizeof begin, file) == sizeof begin && !memcmp(begin, magic, sizeof magic);
    fclose(file);
    return same;
}
