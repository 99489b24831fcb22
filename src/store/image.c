/* Images and their symbols. What was read of an image is kept, by its number, until the store is
 * closed: a week's walk meets each of them hundreds of times. */
#include <stdlib.h>
#include <string.h>

#include "store/database.h"
#include "util/array.h"
#include "util/hash_index.h"

struct stored_images {
    struct store_image **items; /* in the arena */
    size_t count, capacity;
    struct hash_index index; /* by id */
    struct arena arena;
};

void stored_images_free(struct stored_images *images) {
    if (!images)
        return;
    free(images->items);
    hash_index_free(&images->index);
    arena_free(&images->arena);
    free(images);
}

/* NULL: it was not read yet. */
static const struct store_image *find_image(const struct stored_images *images, int64_t id) {
    const uint64_t hash = hash_number((uint64_t)id);
    size_t at;
    for (uint32_t i = hash_index_first(&images->index, hash, &at); i != HASH_INDEX_NONE;
         i = hash_index_next(&images->index, hash, &at))
        if (images->items[i]->id == id)
            return images->items[i];
    return NULL;
}

static const char *keep_text(struct stored_images *images, struct statement *statement,
                             int column) {
    const char *text = column_text(statement, column);
    return arena_copy(&images->arena, text, strlen(text));
}

/* The row that `statement` is at. */
static const struct store_image *keep_image(struct store *store, struct statement *statement,
                                            int64_t id, struct error *error) {
    struct stored_images *images = store->images;
    struct store_image *image = arena_alloc(&images->arena, sizeof *image);
    if (!image || !array_room(images->items, images->capacity, images->count + 1) ||
        !hash_index_reserve(&images->index, images->count + 1)) {
        database_out_of_memory(store, error);
        return NULL;
    }
    int64_t kind = column_integer(statement, 0);
    size_t size;
    const void *build_id = column_bytes(statement, 2, &size);
    if (kind < 0 || kind >= IMAGE_KINDS || size > BUILD_ID_MAX) {
        database_damaged(store, error, "image %lld has impossible values", (long long)id);
        return NULL;
    }
    *image = (struct store_image){.id = id,
                                  .kind = (enum image_kind)kind,
                                  .path = keep_text(images, statement, 1),
                                  .build_id_size = size,
                                  .root = keep_text(images, statement, 3)};
    if (!image->path || !image->root) {
        database_out_of_memory(store, error);
        return NULL;
    }
    if (size)
        memcpy(image->build_id, build_id, size);
    hash_index_add(&images->index, hash_number((uint64_t)id), (uint32_t)images->count);
    images->items[images->count++] = image;
    return image;
}

const struct store_image *store_image_of(struct store *store, int64_t id, struct error *error) {
    if (!store->images && !(store->images = calloc(1, sizeof *store->images))) {
        database_out_of_memory(store, error);
        return NULL;
    }
    const struct store_image *image = find_image(store->images, id);
    if (image)
        return image;
    struct statement *statement = BIND(store, GET_IMAGE, error, INTEGER(id));
    int row = statement ? database_step(store, statement, error) : -1;
    if (row > 0) {
        image = keep_image(store, statement, id, error);
        database_reset(statement);
    } else if (row == 0) {
        database_damaged(store, error, "there is no image %lld", (long long)id);
    }
    return image;
}

bool store_each_image(struct store *store, store_image_visitor *visit, void *context,
                      struct error *error) {
    struct statement *statement = database_prepare(store, LIST_IMAGES, error);
    int row = -1;
    while (statement && (row = database_step(store, statement, error)) > 0) {
        store->damage[0] = 0;
        const struct store_image *image =
            store_image_of(store, column_integer(statement, 0), error);
        if (!image && database_pass_over(store, 0, "an image", error))
            continue;
        if (!image || !visit(context, image)) {
            row = image ? 0 : -1;
            break;
        }
    }
    database_finalize(statement);
    return row == 0;
}

bool store_image(struct store *store, const struct store_image *image, int64_t *id,
                 struct error *error) {
    if (image->build_id_size > BUILD_ID_MAX)
        return error_set(error, "%s: a build id of %zu bytes", image->path, image->build_id_size);
    const struct datum data[] = {INTEGER(image->kind), TEXT(image->path),
                                 BLOB(image->build_id, image->build_id_size), TEXT(image->root)};
    return database_find_or_add(store, FIND_IMAGE, ADD_IMAGE, data, 4, id, error);
}

bool store_set_symbols(struct store *store, int64_t image, const struct code_symbol *symbols,
                       size_t count, struct error *error) {
    if (!blob_encode_symbols(&store->codec, symbols, count, error))
        return error_prefix(error, "%s: symbols of image %lld", store->path, (long long)image);
    return database_write(store,
                          BIND(store, SET_SYMBOLS, error, INTEGER(image),
                               BLOB(store->codec.packed, store->codec.size)),
                          NULL, error);
}

/* Both, sorted by start, each start once, as one allocation like those that are decoded. NULL: out
 * of memory. */
static struct code_symbol *join_symbols(const struct code_symbol *one, size_t one_count,
                                        const struct code_symbol *other, size_t other_count,
                                        size_t *count) {
    size_t bytes = (one_count + other_count) * sizeof *one;
    for (size_t i = 0; i < one_count; i++)
        bytes += strlen(one[i].name) + 1;
    for (size_t i = 0; i < other_count; i++)
        bytes += strlen(other[i].name) + 1;
    struct code_symbol *joined = malloc(bytes + 1);
    if (!joined)
        return NULL;
    char *names = (char *)(joined + one_count + other_count);
    *count = 0;
    for (size_t i = 0, k = 0; i < one_count || k < other_count;) {
        const bool first = k == other_count || (i < one_count && one[i].start <= other[k].start);
        const struct code_symbol *next = first ? &one[i] : &other[k];
        k += k < other_count && other[k].start == next->start;
        i += first;
        joined[*count] = *next;
        joined[(*count)++].name = names;
        names = stpcpy(names, next->name) + 1;
    }
    return joined;
}

/* What a server has of an image's symbols may have come in parts, from several hosts. */
bool symbols_join(struct store *store, int64_t image, const void *blob, size_t size,
                  struct code_symbol **symbols, size_t *count, struct error *error) {
    struct code_symbol *part;
    size_t part_count;
    struct error damage;
    if (!blob_decode_symbols(&store->codec, blob, size, &part, &part_count, &damage))
        return database_damaged(store, error, "the symbols of image %lld: %s", (long long)image,
                                damage.message);
    if (!*count) {
        free(*symbols);
        *symbols = part;
        *count = part_count;
        return true;
    }
    size_t joined_count;
    struct code_symbol *joined = join_symbols(*symbols, *count, part, part_count, &joined_count);
    free(part);
    if (!joined)
        return database_out_of_memory(store, error);
    free(*symbols);
    *symbols = joined;
    *count = joined_count;
    return true;
}

/* Anybody who sends may add to what is known of a build. */
static bool pass_over_symbols(struct store *store, int64_t image, struct error *error) {
    const struct store_image *known = store->images ? find_image(store->images, image) : NULL;
    return database_pass_over(store, 0, known ? known->path : "an image", error);
}

bool store_get_symbols(struct store *store, int64_t image, struct code_symbol **symbols,
                       size_t *count, struct error *error) {
    *symbols = NULL;
    *count = 0;
    struct statement *statement = BIND(store, GET_SYMBOLS, error, INTEGER(image));
    int row = -1;
    while (statement && (row = database_step(store, statement, error)) > 0) {
        size_t size;
        const void *blob = column_bytes(statement, 0, &size);
        store->damage[0] = 0;
        if (!symbols_join(store, image, blob, size, symbols, count, error)) {
            if (pass_over_symbols(store, image, error))
                continue;
            database_reset(statement);
            store_free_symbols(*symbols, *count);
            *symbols = NULL;
            *count = 0;
            return false;
        }
    }
    return row == 0;
}

void store_free_symbols(struct code_symbol *symbols, size_t count) {
    (void)count; /* one allocation, names and all */
    free(symbols);
}

bool images_sweep(struct store *store, struct error *error) {
    return database_execute(store, SWEEP_IMAGES, 0, error) &&
           database_execute(store, SWEEP_SYMBOLS, 0, error) &&
           database_execute(store, SWEEP_SENT_SYMBOLS, 0, error);
}
