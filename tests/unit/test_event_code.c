/* Coded events: a case by hand, the same bytes from each form of packing, and blocks whose lists of
 * slots grow. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "trace/event.h"
#include "trace/event_code.h"

static uint64_t random_state;
static uint64_t random_next(void) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return random_state >> 33 ^ random_state << 31;
}

/* ---- by hand ---- */

/* Blocks 0 and 1 enter each other. The predictions of a new slot are 0. */
static void test_blocks_by_hand(void **state) {
    (void)state;
    static const uint64_t events[] = {
        0, /* the beginning's slot: 0 off, class 0 */
        1, /* block 0's: 1 off, z = 2, class 1 */
        1, /* block 1's: 1 off, z = 2 */
        0, /* block 1's, which was 1 and has no stride yet: -1 off, z = 1 */
        3, /* block 0's, which was 1: 2 off, z = 4 */
        5, /* block 3's: z = 10 */
    };
    static const uint8_t expected[] = {0x00 | 1 << 2 | 1 << 4 | 1 << 6, 1 | 1 << 2, 2, 2, 1, 4, 10};
    struct event_predictor predictor;
    struct event_packing packing;
    struct error error;
    uint8_t coded[256];
    size_t size;
    assert_true(event_code_bound(6) <= sizeof coded);
    event_packing_init(&packing, event_pack_form());
    event_predictor_init(&predictor);
    assert_true(event_encode(&predictor, &packing, 6, events, 6, coded, &size, &error));
    assert_int_equal(size, sizeof expected);
    assert_memory_equal(coded, expected, size);
    event_predictor_free(&predictor);
}

/* Loads 8 bytes on each time: the stride is known when it has come twice. */
static void test_stride_by_hand(void **state) {
    (void)state;
    struct event_slot slot = {0};
    const uint64_t at = event_access(0, 3, 2, 0x1000);
    assert_int_equal(event_learn(&slot, at), at);
    assert_int_equal(event_learn(&slot, at + 8), 8);
    assert_int_equal(event_learn(&slot, at + 16), 8); /* now it has come twice */
    assert_int_equal(event_predicted(&slot), at + 24);
    assert_int_equal(event_learn(&slot, at + 24), 0);
    assert_int_equal(event_learn(&slot, at), (uint64_t)-32); /* once: the stride stays */
    assert_int_equal(event_learn(&slot, at + 8), 0);
}

static void test_unknown_block(void **state) {
    (void)state;
    static const uint64_t events[] = {0, 7};
    struct event_predictor predictor;
    struct event_packing packing;
    struct error error;
    uint8_t coded[256];
    size_t size;
    event_packing_init(&packing, event_pack_form());
    event_predictor_init(&predictor);
    assert_true(event_encode(&predictor, &packing, 8, events, 2, coded, &size, &error));
    assert_false(event_encode(&predictor, &packing, 7, events, 2, coded, &size, &error));
    assert_string_equal(error.message, "block 7 entered of 7");
    event_predictor_free(&predictor);
}

/* ---- forms of packing ---- */

enum { MOST = 300, ROUNDS = 20000 };

/* Of any number of bytes, and at the limits of the classes and of the escapes. */
static uint64_t random_error(unsigned larger) {
    static const uint64_t limits[] = {0, 0xff, 0xffff, ESCAPE_RAW, ESCAPE_WIDE, UINT64_C(1) << 48};
    const uint64_t r = random_next(), kind = r % 100;
    if (kind < 60)
        return unzigzag(r >> 8 & 3 ? 0 : random_next() & 0xff);
    if (kind < 90)
        return unzigzag(random_next() & ((UINT64_C(1) << (r >> 8) % 32) - 1));
    if (kind >= 90 + larger)
        return 0;
    return kind < 95 ? unzigzag(limits[(r >> 8) % 6] + (r >> 16) % 3 - 1) : random_next();
}

/* The same bytes as the plain form's, and none further behind them than is said. */
static void compare(enum event_pack_form form) {
    static uint64_t errors[MOST], events[MOST];
    static uint8_t classes[2][MOST], bytes[2][10 * MOST + EVENT_PACK_SLACK + 1];
    struct event_packing plain, other;
    event_packing_init(&plain, EVENT_PACK_PLAIN);
    event_packing_init(&other, form);
    random_state = 1;
    for (int round = 0; round < ROUNDS; round++) {
        const size_t count = random_next() % (MOST + 1);
        const unsigned larger = round % 4 ? 0 : 10;
        for (size_t i = 0; i < count; i++) {
            errors[i] = random_error(larger);
            events[i] = random_next();
        }
        memset(classes, 0xaa, sizeof classes);
        const size_t size =
            (size_t)(event_pack(&plain, errors, events, count, classes[0], bytes[0]) - bytes[0]);
        bytes[1][size + EVENT_PACK_SLACK] = 0x55;
        assert_int_equal(event_pack(&other, errors, events, count, classes[1], bytes[1]) - bytes[1],
                         size);
        assert_memory_equal(classes[0], classes[1], MOST);
        assert_memory_equal(bytes[0], bytes[1], size);
        assert_int_equal(bytes[1][size + EVENT_PACK_SLACK], 0x55);
    }
}

static void compare_if_there(enum event_pack_form form, const char *needs) {
    if (event_pack_form() < form) {
        print_message("missing: a processor with %s\n", needs);
        skip();
    }
    compare(form);
}

static void test_avx2(void **state) {
    (void)state;
    compare_if_there(EVENT_PACK_AVX2, "AVX2");
}

static void test_avx512(void **state) {
    (void)state;
    compare_if_there(EVENT_PACK_AVX512, "AVX-512 and VBMI2");
}

/* ---- slots ---- */

enum { LONG = 3 * EVENT_CODE_BLOCK_SLOTS };

/* A block with more events than slots, among short ones. */
static void make_long_block(uint64_t *events, uint64_t address) {
    events[0] = event_block(2);
    for (size_t i = 1; i < LONG; i++)
        events[i] = event_access(0, 3, 1, address + 8 * i);
    for (size_t i = LONG; i < LONG + 8; i++)
        events[i] = event_block(i % 2);
}

static void test_blocks_grow(void **state) {
    (void)state;
    enum { COUNT = LONG + 8 };
    static uint64_t events[COUNT], decoded[COUNT];
    struct event_predictor writer, reader;
    struct event_packing packing;
    struct error error;
    uint8_t *coded = malloc(event_code_bound(COUNT) + EVENT_CODE_SLACK);
    size_t sizes[4];
    event_packing_init(&packing, event_pack_form());
    event_predictor_init(&writer);
    event_predictor_init(&reader);
    for (int round = 0; round < 4; round++) {
        make_long_block(events, 0x10000000 + (uint64_t)round * 65536);
        assert_true(
            event_encode(&writer, &packing, 3, events, COUNT, coded, &sizes[round], &error));
        assert_true(event_decode(&reader, 3, coded, sizes[round], decoded, COUNT, &error));
        assert_memory_equal(events, decoded, sizeof events);
    }
    /* 4 of the beginning, of block 0 and of block 1; 4 + 8 + ... + 1024 of block 2. */
    assert_int_equal(writer.slot_count, 3 * 4 + 2044);
    assert_int_equal(reader.slot_count, writer.slot_count);
    for (uint32_t block = 0; block <= 3; block++)
        assert_int_equal((uintptr_t)writer.blocks[block] % 64, 0);
    assert_int_equal(writer.rooms[3], EVENT_CODE_BLOCK_SLOTS);
    /* By the fourth time all strides are known, of the accesses that share the last slot by the
     * first: classes alone, but for few. */
    assert_true(sizes[3] < COUNT / 4 + 64);
    event_predictor_reset(&writer);
    assert_int_equal(writer.slot_count, 0);
    assert_true(event_encode(&writer, &packing, 3, events, COUNT, coded, &sizes[0], &error));
    event_predictor_free(&writer);
    event_predictor_free(&reader);
    free(coded);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blocks_by_hand), cmocka_unit_test(test_stride_by_hand),
        cmocka_unit_test(test_unknown_block),  cmocka_unit_test(test_avx2),
        cmocka_unit_test(test_avx512),         cmocka_unit_test(test_blocks_grow),
    };
    return cmocka_run_group_tests_name("event code", tests, NULL, NULL);
}
