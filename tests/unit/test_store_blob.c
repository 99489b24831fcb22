/* The blobs of the store: their bytes by hand, what is written is read back, and no bytes at all
 * make the decoder read beyond them. */
#include "store/blob.h"
#include "store_fixture.h"

#include <zlib.h>

#include "util/little_endian.h"

/* Three values: offsets 0x1000, + 4, + 0; a signature that needs two bytes; a value that does.
 * 0x1000 = 32 · 128 is 80 20, 300 = 2 · 128 + 44 is ac 02, 258 = 2 · 128 + 2 is 82 02. */
static void bytes_by_hand(void **state) {
    (void)state;
    struct blob_codec codec = {0};
    const struct store_value values[] = {{0x1000, 0, 1}, {0x1004, 0, 300}, {0x1004, 258, 127}};
    const uint8_t body[] = {2,    3,                 /* signatures, three items */
                            0x80, 0x20, 0x04, 0x00,  /* offsets */
                            0x00, 0x00, 0x82, 0x02,  /* signatures */
                            0x01, 0xac, 0x02, 0x7f}; /* values */
    GOOD(blob_encode_values(&codec, values, 3, &error));
    assert_int_equal(codec.size, 4 + sizeof body);
    assert_memory_equal(codec.packed + 4, body, sizeof body);
    assert_int_equal(get_u32(codec.packed), crc32(0, body, sizeof body));

    const struct code_symbol symbols[] = {{0x40, 2, "f"}, {0x40, 0, ""}};
    const uint8_t named[] = {0, 2, 0x40, 0, 2, 0, 'f', 0, 0};
    GOOD(blob_encode_symbols(&codec, symbols, 2, &error));
    assert_int_equal(codec.size, 4 + sizeof named);
    assert_memory_equal(codec.packed + 4, named, sizeof named);
    blob_codec_free(&codec);
}

static uint64_t next_random(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33 ^ *state >> 11;
}

/* The largest numbers, none at all, and so many alike that they are compressed. */
static void round_trips(void **state) {
    (void)state;
    enum { MANY = 5000 };
    struct blob_codec codec = {0};
    struct store_value *many = calloc(MANY, sizeof *many), *read = NULL;
    size_t capacity = 0, count;
    uint64_t random = 7;
    for (size_t i = 0; i < MANY; i++)
        many[i] = (struct store_value){.offset = 16 * i, .value = 1 + next_random(&random) % 3};
    const struct store_value ends[] = {
        {0, 0, 0}, {0, UINT32_MAX, UINT64_MAX}, {UINT64_MAX, 0, 1}, {UINT64_MAX, UINT32_MAX, 1}};
    const struct {
        const struct store_value *values;
        size_t count, size_max;
    } cases[] = {{ends, 0, 6}, {ends, 4, 80}, {many, 1, 8}, {many, MANY, MANY / 2}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        GOOD(blob_encode_values(&codec, cases[i].values, cases[i].count, &error));
        assert_true(codec.size <= cases[i].size_max);
        GOOD(
            blob_decode_values(&codec, codec.packed, codec.size, &read, &capacity, &count, &error));
        assert_int_equal(count, cases[i].count);
        for (size_t j = 0; j < count; j++) {
            assert_int_equal(read[j].offset, cases[i].values[j].offset);
            assert_int_equal(read[j].signature, cases[i].values[j].signature);
            assert_int_equal(read[j].value, cases[i].values[j].value);
        }
    }
    free(many);
    free(read);
    blob_codec_free(&codec);
}

static void seal(uint8_t *blob, size_t size) {
    put_u32(blob, (uint32_t)crc32_z(0, blob + 4, size - 4));
}

/* Decodes a body behind a right checksum. */
static bool decodes(struct blob_codec *codec, const uint8_t *body, size_t size,
                    struct error *error) {
    uint8_t *blob = malloc(size + 4); /* exactly, so that a sanitizer sees what is read beyond */
    struct store_value *values = NULL;
    size_t capacity = 0, count;
    memcpy(blob + 4, body, size);
    seal(blob, size + 4);
    bool good = blob_decode_values(codec, blob, size + 4, &values, &capacity, &count, error);
    free(values);
    free(blob);
    return good;
}

static void refuses(void **state) {
    (void)state;
    struct blob_codec codec = {0};
    struct store_value *values = NULL;
    size_t capacity = 0, count;
    FAILS("too short",
          blob_decode_values(&codec, (uint8_t[5]){0}, 5, &values, &capacity, &count, &error));
    FAILS("checksum",
          blob_decode_values(&codec, (uint8_t[8]){1, 2}, 8, &values, &capacity, &count, &error));
#define BODY(...) ((uint8_t[]){__VA_ARGS__}), sizeof((uint8_t[]){__VA_ARGS__})
    struct error error = {0};
    assert_true(decodes(&codec, BODY(0, 1, 5, 6), &error));
    FAILS("does not know", decodes(&codec, BODY(4, 1, 5, 6), &error));
    FAILS("too short", decodes(&codec, BODY(0, 0x80), &error));
    FAILS("fewer bytes than items", decodes(&codec, BODY(0, 2, 5, 6, 7), &error));
    FAILS("fewer bytes",
          decodes(&codec, BODY(0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 5),
                  &error));
    FAILS("no sorted values", decodes(&codec, BODY(0, 1, 5, 6, 7), &error));    /* a byte behind */
    FAILS("no sorted values", decodes(&codec, BODY(0, 2, 5, 0, 6, 7), &error)); /* a pair twice */
    FAILS("no sorted values", decodes(&codec, BODY(2, 2, 5, 0, 3, 3, 6, 7), &error));
    FAILS("no sorted values", decodes(&codec, BODY(2, 2, 5, 0, 4, 3, 6, 7), &error));
    FAILS("no sorted values",
          decodes(&codec, BODY(0, 1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 5),
                  &error)); /* an offset of 65 bits */
    FAILS("impossible", decodes(&codec, BODY(1, 2, 0xff, 0xff, 0xff, 0x7f, 1, 2, 3), &error));
    FAILS("impossible", decodes(&codec, BODY(1, 2, 0x80), &error));
    FAILS("cannot be decompressed", decodes(&codec, BODY(1, 2, 8, 1, 2, 3, 4), &error));
    free(values);
    blob_codec_free(&codec);
}

/* Every cut and every flipped bit of a compressed blob is found by its checksum; behind a right one
 * the decoder either fails or gives sorted values. */
static void damage(void **state) {
    (void)state;
    struct blob_codec codec = {0}, other = {0};
    struct store_value values[200], *read = NULL;
    size_t capacity = 0, count;
    for (size_t i = 0; i < 200; i++)
        values[i] = (struct store_value){.offset = 7 * i, .signature = i & 3, .value = i};
    GOOD(blob_encode_values(&codec, values, 200, &error));
    assert_true(codec.packed[4] & 1);
    struct error error;
    for (size_t size = 0; size < codec.size; size++)
        assert_false(
            blob_decode_values(&other, codec.packed, size, &read, &capacity, &count, &error));
    for (size_t bit = 0; bit < 8 * codec.size; bit++) {
        codec.packed[bit / 8] ^= (uint8_t)(1 << bit % 8);
        assert_false(
            blob_decode_values(&other, codec.packed, codec.size, &read, &capacity, &count, &error));
        decodes(&other, codec.packed + 4, codec.size - 4, &error);
        codec.packed[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    free(read);
    blob_codec_free(&codec);
    blob_codec_free(&other);
}

/* ---- sums against a plain table ---- */

enum { OFFSETS = 50, SIGNATURES = 3, ROUNDS = 300 };

struct expected {
    uint64_t table[OFFSETS][SIGNATURES];
    size_t left;
};

static bool compare_profile(void *context, const struct store_profile *profile) {
    struct expected *expected = context;
    for (size_t i = 0; i < profile->count; i++) {
        const struct store_value *value = &profile->values[i];
        assert_int_equal(expected->table[value->offset][value->signature], value->value);
        expected->left--;
    }
    return true;
}

static void random_sums(void **state) {
    struct fixture *fixture = *state;
    struct store *store = fixture->store;
    struct expected expected = {0};
    uint64_t random = 42;
    int64_t session = add_session(store, "daemon", 1, 0), event = add_event(store, session, "c");
    int64_t process = add_process(store, session, "p"), image = add_image(store, "/bin/x");
    for (int round = 0; round < ROUNDS; round++) {
        struct store_value values[OFFSETS * SIGNATURES];
        size_t count = 0;
        for (uint64_t offset = 0; offset < OFFSETS; offset++)
            for (uint32_t signature = 0; signature < SIGNATURES; signature++)
                if (next_random(&random) % 9 == 0) {
                    uint64_t value = 1 + (next_random(&random) >> next_random(&random) % 31);
                    values[count++] = (struct store_value){offset, signature, value};
                    expected.table[offset][signature] += value;
                }
        GOOD(store_add_values(store, session, process, image, event, values, count, &error));
    }
    for (size_t i = 0; i < OFFSETS * SIGNATURES; i++)
        expected.left += expected.table[i / SIGNATURES][i % SIGNATURES] != 0;
    GOOD(store_each_profile(store, NULL, compare_profile, &expected, &error));
    assert_int_equal(expected.left, 0);
    GOOD(store_check(store, &error));

    const struct store_value most = {1, 1, UINT64_MAX};
    GOOD(store_add_values(store, session, process, image, event, &most, 1, &error));
    expected.table[1][1] = UINT64_MAX; /* sums stay there */
    expected.left = SIZE_MAX;
    GOOD(store_each_profile(store, NULL, compare_profile, &expected, &error));
    uint64_t total, bytes;
    GOOD(store_event_total(store, session, event, &total, &bytes, &error));
    assert_int_equal(total, INT64_MAX);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_by_hand), cmocka_unit_test(round_trips), cmocka_unit_test(refuses),
        cmocka_unit_test(damage),
        cmocka_unit_test_setup_teardown(random_sums, fixture_setup, fixture_teardown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
