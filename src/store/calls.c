/* Trees of calls: what is there is read, what is new goes into it, and the whole is written. */
#include <stdlib.h>
#include <string.h>

#include "store/call_tree.h"
#include "store/database.h"
#include "util/array.h"
#include "util/order.h"

/* ---- adding ---- */

static int64_t total_of(const struct store_call *calls, size_t count) {
    uint64_t total = 0;
    for (size_t i = 0; i < count; i++)
        if (__builtin_add_overflow(total, calls[i].value, &total))
            return INT64_MAX;
    return saturated(total);
}

static bool decode(struct store *store, struct statement *statement, int column, int64_t id,
                   size_t *count, struct error *error) {
    size_t size;
    const void *blob = column_bytes(statement, column, &size);
    struct error damage;
    return blob_decode_calls(&store->codec, blob, size, &store->old_calls,
                             &store->old_calls_capacity, count, &damage) ||
           database_damaged(store, error, "calls %lld: %s", (long long)id, damage.message);
}

ORDER(by_image, int64_t, ascending(*a, *b))

int64_t *calls_images(const struct store_call *calls, size_t count, size_t *image_count) {
    int64_t *images = malloc((count + 1) * sizeof *images);
    *image_count = 0;
    if (!images)
        return NULL;
    for (size_t i = 0; i < count; i++)
        images[i] = calls[i].image;
    if (count)
        qsort(images, count, sizeof *images, by_image);
    for (size_t i = 0; i < count; i++)
        if (images[i] && (!*image_count || images[i] != images[*image_count - 1]))
            images[(*image_count)++] = images[i];
    return images;
}

/* Says which images the tree refers to. */
static bool add_images(struct store *store, int64_t id, const struct store_call *calls,
                       size_t count, struct error *error) {
    size_t image_count;
    int64_t *images = calls_images(calls, count, &image_count);
    if (!images)
        return database_out_of_memory(store, error);
    bool good = all_where(
        i, image_count,
        database_run(store, BIND(store, ADD_CALLS_IMAGE, error, INTEGER(images[i]), INTEGER(id)),
                     error));
    free(images);
    return good;
}

/* As `statement` has found it; 0: there is no tree yet. */
static bool read_present(struct store *store, struct statement *statement, int64_t *id,
                         size_t *count, struct error *error) {
    int row = statement ? database_step(store, statement, error) : -1;
    *id = 0;
    *count = 0;
    if (row <= 0)
        return row == 0;
    *id = column_integer(statement, 0);
    bool good = decode(store, statement, 1, *id, count, error);
    database_reset(statement);
    return good;
}

static bool write_tree(struct store *store, const struct store_call_tree *key, int64_t id,
                       const struct call_tree *tree, struct error *error) {
    if (!blob_encode_calls(&store->codec, tree->calls, tree->count, error))
        return error_prefix(error, "%s", store->path);
    const struct datum total = INTEGER(total_of(tree->calls, tree->count));
    const struct datum data = BLOB(store->codec.packed, store->codec.size);
    struct statement *statement =
        id ? BIND(store, SET_CALLS, error, INTEGER(id), total, data)
           : BIND(store, ADD_CALLS, error, INTEGER(key->session->id), INTEGER(key->process->id),
                  INTEGER(key->event->id), total, data);
    return database_write(store, statement, id ? NULL : &id, error) &&
           add_images(store, id, tree->calls, tree->count, error);
}

bool store_add_calls(struct store *store, int64_t session, int64_t process, int64_t event,
                     const struct store_call *calls, size_t count, struct error *error) {
    const struct store_call_tree key = {.session = &(struct store_session){.id = session},
                                        .process = &(struct store_process){.id = process},
                                        .event = &(struct store_event){.id = event}};
    struct call_tree tree = {.most = STORE_CALLS_MAX};
    size_t present;
    int64_t id;
    if (!count)
        return true;
    if (any_where(i, count, calls[i].parent != STORE_CALL_TOP && calls[i].parent >= i))
        return error_set(error, "%s: a caller does not stand before what it calls", store->path);
    if (!write_begin(store, error))
        return false;
    bool good = read_present(
        store, BIND(store, FIND_CALLS, error, INTEGER(session), INTEGER(process), INTEGER(event)),
        &id, &present, error);
    if (good && !(call_tree_merge(&tree, store->old_calls, present) &&
                  call_tree_merge(&tree, calls, count)))
        good = database_out_of_memory(store, error);
    good = good && write_tree(store, &key, id, &tree, error);
    call_tree_free(&tree);
    return write_end(store, good, error);
}

/* ---- visiting ---- */

struct walk {
    struct session_rows rows;
    store_call_tree_visitor *visit;
    void *context;
};

/* Where many write, a tree may name images that are not there. */
static bool know_images(struct store *store, size_t count, struct error *error) {
    int64_t last = 0;
    for (size_t i = 0; store->backend->many_writers && i < count; i++) {
        const int64_t image = store->old_calls[i].image;
        if (image && image != last && !store_image_of(store, image, error))
            return false;
        last = image;
    }
    return true;
}

/* The row that the walk's statement is at. What it holds is the visitor's own: it may read on. */
static bool visit_row(void *context, const struct session_entry *entry, struct error *error) {
    struct walk *walk = context;
    struct store *store = walk->rows.store;
    const struct store_filter *filter = walk->rows.filter;
    struct statement *statement = walk->rows.statement;
    int64_t id = column_integer(statement, 0);
    const struct store_event *event = session_event(entry, column_integer(statement, 2));
    if (!event || column_is_null(statement, 5))
        return database_damaged(store, error, "calls %lld are of no known event or process",
                                (long long)id);
    if (!filter_admits_event(filter, event))
        return true;
    const struct store_process process = process_of_row(statement, 1, 5);
    if (filter && filter->choice &&
        !sample_choice_admits(filter->choice, &entry->session, &process))
        return true;
    struct store_call_tree visited = {
        .session = &entry->session, .event = event, .process = &process};
    if (!decode(store, statement, 3, id, &visited.count, error) ||
        !know_images(store, visited.count, error))
        return false;
    struct store_call *calls = store->old_calls;
    size_t capacity = store->old_calls_capacity;
    store->old_calls = NULL;
    store->old_calls_capacity = 0;
    visited.calls = calls;
    walk->rows.ended = !walk->visit(walk->context, &visited);
    free(store->old_calls);
    store->old_calls = calls;
    store->old_calls_capacity = capacity;
    return true;
}

bool store_each_call_tree(struct store *store, const struct store_filter *filter,
                          store_call_tree_visitor *visit, void *context, struct error *error) {
    struct walk walk = {
        .rows = {.store = store, .filter = filter}, .visit = visit, .context = context};
    return session_rows_walk(&walk.rows, WALK_CALLS, 4, visit_row, &walk, error);
}

/* ---- checking ---- */

static bool has_image(struct store *store, int64_t id, int64_t image, struct error *error) {
    struct statement *statement = BIND(store, HAS_CALLS_IMAGE, error, INTEGER(image), INTEGER(id));
    if (!statement || database_step(store, statement, error) < 0)
        return false;
    const int64_t count = column_integer(statement, 0);
    database_reset(statement);
    return count || database_damaged(store, error, "calls %lld refer to image %lld unsaid",
                                     (long long)id, (long long)image);
}

static bool check_tree(struct store *store, struct statement *statement, struct error *error) {
    int64_t id = column_integer(statement, 0);
    size_t count;
    if (!decode(store, statement, 2, id, &count, error))
        return false;
    const struct store_call *calls = store->old_calls;
    if (total_of(calls, count) != column_integer(statement, 1))
        return database_damaged(store, error, "calls %lld: their total is wrong", (long long)id);
    size_t image_count;
    int64_t *images = calls_images(calls, count, &image_count);
    bool good = images ? all_where(i, image_count, has_image(store, id, images[i], error))
                       : database_out_of_memory(store, error);
    free(images);
    return good;
}

bool calls_check(struct store *store, struct error *error) {
    struct statement *statement = database_prepare(store, CHECK_CALLS, error);
    int row = -1;
    while (statement && (row = database_step(store, statement, error)) > 0)
        if (!check_tree(store, statement, error)) {
            row = -1;
            break;
        }
    database_finalize(statement);
    return row == 0;
}
