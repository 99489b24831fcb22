/* Stores with arbitrary bytes. The first byte tells what the rest is used as: a blob of values, of
 * symbols or of calls, whose checksum is corrected first, or a whole file, which is then read,
 * checked, written, merged and pruned. The result must keep the promises of store.h. */
#include <fcntl.h>
#include <string.h>
#include <zlib.h>

#include "input.h"
#include "store/blob.h"

static void check_order(const struct store_value *values, size_t count) {
    for (size_t i = 1; i < count; i++)
        require(values[i - 1].offset < values[i].offset ||
                (values[i - 1].offset == values[i].offset &&
                 values[i - 1].signature < values[i].signature));
}

/* What can be decoded is the same after encoding and decoding again. */
static void try_values(const uint8_t *blob, size_t size) {
    struct blob_codec codec = {0};
    struct store_value *values = NULL, *again = NULL;
    size_t capacity = 0, again_capacity = 0, count, again_count;
    struct error error;
    if (blob_decode_values(&codec, blob, size, &values, &capacity, &count, &error)) {
        check_order(values, count);
        require(blob_encode_values(&codec, values, count, &error));
        require(blob_decode_values(&codec, codec.packed, codec.size, &again, &again_capacity,
                                   &again_count, &error));
        require(count == again_count);
        for (size_t i = 0; i < count; i++)
            require(values[i].offset == again[i].offset &&
                    values[i].signature == again[i].signature && values[i].value == again[i].value);
    }
    free(values);
    free(again);
    blob_codec_free(&codec);
}

static void try_symbols(const uint8_t *blob, size_t size) {
    struct blob_codec codec = {0};
    struct code_symbol *symbols;
    size_t count;
    struct error error;
    if (blob_decode_symbols(&codec, blob, size, &symbols, &count, &error)) {
        for (size_t i = 0; i < count; i++)
            require(strlen(symbols[i].name) <= size * BLOB_EXPANSION &&
                    (i == 0 || symbols[i - 1].start <= symbols[i].start));
        store_free_symbols(symbols, count);
    }
    blob_codec_free(&codec);
}

static void try_calls(const uint8_t *blob, size_t size) {
    struct blob_codec codec = {0};
    struct store_call *calls = NULL, *again = NULL;
    size_t capacity = 0, again_capacity = 0, count, again_count;
    struct error error;
    if (blob_decode_calls(&codec, blob, size, &calls, &capacity, &count, &error)) {
        require(blob_encode_calls(&codec, calls, count, &error));
        require(blob_decode_calls(&codec, codec.packed, codec.size, &again, &again_capacity,
                                  &again_count, &error));
        require(count == again_count);
        for (size_t i = 0; i < count; i++)
            require((calls[i].parent == STORE_CALL_TOP || calls[i].parent < i) &&
                    calls[i].parent == again[i].parent && calls[i].image == again[i].image &&
                    calls[i].offset == again[i].offset && calls[i].value == again[i].value);
    }
    free(calls);
    free(again);
    blob_codec_free(&codec);
}

static bool visit_calls(void *context, const struct store_call_tree *tree) {
    (void)context;
    for (size_t i = 0; i < tree->count; i++)
        require(tree->calls[i].parent == STORE_CALL_TOP || tree->calls[i].parent < i);
    return true;
}

static bool visit_profile(void *context, const struct store_profile *profile) {
    (void)context;
    check_order(profile->values, profile->count);
    require(strlen(profile->image->path) + strlen(profile->process->command) +
                strlen(profile->session->name) + strlen(profile->event->name) <
            SIZE_MAX / 2);
    require(profile->image->build_id_size <= BUILD_ID_MAX);
    return true;
}

struct first_two {
    int64_t ids[2];
    size_t count;
};

static bool keep_session(void *context, const struct store_session *session,
                         const struct store_event *events, size_t event_count) {
    (void)events, (void)event_count;
    struct first_two *first = context;
    first->ids[first->count++] = session->id;
    return first->count < 2;
}

static void try_file(const char *path) {
    struct error error;
    struct first_two first = {.count = 0};
    uint64_t removed;
    struct store *store = store_open(path, STORE_READ, &error);
    if (store) {
        store_check(store, &error);
        store_each_profile(store, NULL, visit_profile, NULL, &error);
        store_each_call_tree(store, NULL, visit_calls, NULL, &error);
        store_close(store);
    }
    if (!(store = store_open(path, STORE_WRITE, &error)))
        return;
    store_each_session(store, keep_session, &first, &error);
    store_merge_sessions(store, first.ids, first.count, &error);
    struct store_session session = {.name = "new", .weight = 1, .start = 1, .end = 2};
    store_add_session(store, &session, &session.id, &error);
    store_prune(store, &(struct store_retention){.before = 100}, &removed, &error);
    store_close(store);
}

/* SQLite keeps files beside the store, so it cannot be one without a folder. */
static void write_and_try(const uint8_t *data, size_t size) {
    char folder[] = "/dev/shm/culprit-fuzz-XXXXXX", path[64], companion[80];
    require(mkdtemp(folder) != NULL);
    snprintf(path, sizeof path, "%s/store", folder);
    int file = open(path, O_WRONLY | O_CREAT, 0600);
    require(file >= 0 && write(file, data, size) == (ssize_t)size && close(file) == 0);
    try_file(path);
    static const char *const ENDINGS[] = {"", "-wal", "-shm", "-journal"};
    for (int i = 0; i < 4; i++) {
        snprintf(companion, sizeof companion, "%s%s", path, ENDINGS[i]);
        unlink(companion);
    }
    require(rmdir(folder) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 6)
        return 0;
    if (data[0] != 'v' && data[0] != 's' && data[0] != 'c') {
        write_and_try(data, size);
        return 0;
    }
    uint8_t *blob = malloc(size - 1);
    require(blob != NULL);
    memcpy(blob, data + 1, size - 1);
    put_u32(blob, (uint32_t)crc32_z(0, blob + 4, size - 5));
    (data[0] == 'v' ? try_values : data[0] == 's' ? try_symbols : try_calls)(blob, size - 1);
    free(blob);
    return 0;
}
