/* Slices of a run by the work of its threads: what only waits is none, a slice ends at the head of
 * a loop, and each thread's blocks are its own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "simulate/work_meter.h"
#include "simulate/work_profile.h"

/* Two loops of four instructions, at 0x1000 and 0x2000: a load, two others, a branch back. */
enum { INSNS = 8, LOOP = 4, MOST = 4096 };
static struct static_insn insns[INSNS];
static struct code code = {.isa = ISA_X86_64, .insns = insns, .insn_count = INSNS};
static uint8_t flags[INSNS];
static struct dynamic_insn dynamic[MOST];
static struct memory_access accesses[MOST];
static uint32_t count, access_count;

static void begin(void) {
    memset(insns, 0, sizeof insns);
    memset(flags, 0, sizeof flags);
    for (uint32_t i = 0; i < INSNS; i++)
        insns[i] =
            (struct static_insn){.address = 0x1000 * (i / LOOP + 1) + 4 * (i % LOOP),
                                 .length = 4,
                                 .branch = i % LOOP == LOOP - 1 ? BRANCH_CONDITIONAL : BRANCH_NONE};
    flags[3] = flags[7] = WORK_BRANCH | WORK_ENDS;
    count = access_count = 0;
}

/* So many iterations of a loop, from its first instruction on; `step` bytes between loads. The last
 * iteration's branch falls through. */
static void iterate(uint32_t loop, uint32_t iterations, uint32_t step, bool stores) {
    for (uint32_t i = 0; i < iterations; i++)
        for (uint32_t k = 0; k < LOOP; k++) {
            dynamic[count] = (struct dynamic_insn){
                .insn = loop * LOOP + k, .memory = access_count, .memory_count = k == 0};
            if (k == LOOP - 1 && i + 1 < iterations)
                dynamic[count].flags = DYN_TAKEN;
            if (k == 0)
                accesses[access_count++] = (struct memory_access){
                    .address = 0x8000 + (uint64_t)i * step, .size_bytes = 4, .is_store = stores};
            count++;
        }
}

static struct trace_batch piece_of(uint32_t thread) {
    return (struct trace_batch){.thread = thread,
                                .insn_count = count,
                                .access_count = access_count,
                                .insns = dynamic,
                                .accesses = accesses,
                                .all_completed = true};
}

/* The work of what was iterated, by one thread. */
static uint64_t work_of(void) {
    struct work_meter meter;
    assert_true(work_meter_init(&meter, &code, flags, 1));
    const struct trace_batch piece = piece_of(0);
    work_meter_piece(&meter, &piece);
    const uint64_t work = meter.work;
    work_meter_free(&meter);
    return work;
}

static void work_counts_all_that_does_something(void **state) {
    (void)state;
    begin();
    iterate(0, 10, 4, false); /* reads an array */
    assert_int_equal(work_of(), 40);
    begin();
    iterate(0, 10, 0, true); /* writes the same word: others may see that */
    assert_int_equal(work_of(), 40);
}

/* Ten iterations that read one word. What led to the first is not known, so it counts; the next
 * eight end with the branch taken and read what the one before did; the last one's branch is not
 * taken. 40 − 8 × 4. */
static void reading_one_word_again_and_again_is_waiting(void **state) {
    (void)state;
    begin();
    iterate(0, 10, 0, false);
    assert_int_equal(work_of(), 8);
}

/* An atomic operation that stores to the word that it tries. */
static void trying_in_vain_is_waiting(void **state) {
    (void)state;
    begin();
    flags[0] = WORK_ATOMIC;
    iterate(0, 10, 0, false);
    for (uint32_t i = access_count; i-- > 0;) {
        accesses[2 * i] = accesses[2 * i + 1] = accesses[i];
        accesses[2 * i + 1].is_store = true;
    }
    access_count *= 2;
    for (uint32_t i = 0; i < count; i++) {
        dynamic[i].memory *= 2;
        dynamic[i].memory_count *= 2;
    }
    assert_int_equal(work_of(), 8);
}

static void pauses_and_routines_are_no_work(void **state) {
    (void)state;
    begin();
    flags[1] = WORK_NONE | WORK_PAUSE;
    flags[2] = WORK_NONE;
    iterate(1, 5, 4, false);
    assert_int_equal(work_of(), 20);
    begin();
    flags[1] = flags[2] = WORK_NONE;
    iterate(0, 5, 4, false);
    assert_int_equal(work_of(), 10);
}

static struct work_profile *profile;
static struct work_slices slices;

static void begin_profile(uint64_t slice, uint32_t most) {
    const struct work_profile_settings settings = {
        .slice = slice, .most_slices = most, .dimensions = 15, .seed = 1};
    assert_non_null(profile = work_profile_new(&settings, &code, flags, 2));
}

static void add(uint32_t thread) {
    struct error error = {0};
    const struct trace_batch piece = piece_of(thread);
    assert_true(work_profile_piece(profile, &piece, &error));
    count = access_count = 0;
}

static void finish(void) {
    struct error error = {0};
    assert_true(work_profile_finish(profile, &slices, &error));
}

/* 10 iterations of 4: there are 10 instructions before the head of the third iteration that ends
 * behind it, 12; 24 before that of the sixth; 36 before that of the ninth. */
static void slices_end_at_heads(void **state) {
    (void)state;
    begin();
    begin_profile(10, 100);
    iterate(0, 10, 4, false);
    add(0);
    finish();
    assert_int_equal(slices.count, 4);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(slices.slices[i].before, 12 * i);
        assert_int_equal(slices.slices[i].work_before, 12 * i);
        assert_int_equal(slices.slices[i].work, 12);
    }
    assert_int_equal(slices.slices[3].work, 4);
    assert_int_equal(slices.work, 40);
    assert_int_equal(slices.instructions, 40);
    work_profile_free(profile);
}

/* Jumps that never lead back, as in an interpreter: a slice ends before its twentieth instruction.
 */
static void slices_without_heads_end_too(void **state) {
    (void)state;
    begin();
    begin_profile(10, 100);
    for (uint32_t i = 0; i < 12; i++)
        iterate(0, 1, 4, false);
    add(0);
    finish();
    assert_int_equal(slices.count, 3);
    assert_int_equal(slices.slices[1].work_before, slices.slices[0].work);
    assert_int_equal(slices.slices[0].work, 19);
    assert_int_equal(slices.slices[1].work, 19);
    assert_int_equal(slices.instructions, 48);
    work_profile_free(profile);
}

/* Another thread's waiting makes a slice no longer in work, but in instructions. */
static void waiting_is_in_the_slice_but_no_work_of_it(void **state) {
    (void)state;
    begin();
    begin_profile(20, 100);
    iterate(0, 3, 4, false);
    add(0);
    iterate(1, 10, 0, false);
    add(1);
    iterate(0, 3, 4, false);
    add(0);
    finish();
    assert_int_equal(slices.instructions, 64);
    assert_int_equal(slices.work, 12 + 8 + 12);
    /* 20 of work when thread 1 has waited; thread 0 comes to a head 4 instructions later. */
    assert_int_equal(slices.count, 2);
    assert_int_equal(slices.slices[1].before, 56);
    assert_int_equal(slices.slices[1].work_before, 24);
    work_profile_free(profile);
}

static double distance(size_t a, size_t b) {
    double sum = 0;
    for (uint32_t i = 0; i < slices.vectors->dimensions; i++) {
        const double apart = (double)slices.vectors->coordinates[a * slices.vectors->stride + i] -
                             (double)slices.vectors->coordinates[b * slices.vectors->stride + i];
        sum += apart * apart;
    }
    return sum;
}

/* The same code by thread 0, thread 1, and thread 0 again. */
static void each_thread_has_blocks_of_its_own(void **state) {
    (void)state;
    begin();
    begin_profile(16, 100);
    for (uint32_t i = 0; i < 3; i++) {
        iterate(0, 5, 4, false);
        add(i % 2);
    }
    finish();
    assert_int_equal(slices.count, 4);
    /* [0, 16) thread 0; then 4 of it and 12 of thread 1 */
    assert_true(distance(0, 1) > 0.01);
    assert_true(distance(0, 3) < 1e-9);
    work_profile_free(profile);
}

static void many_slices_become_longer(void **state) {
    (void)state;
    begin();
    begin_profile(4, 8);
    iterate(0, 40, 4, false);
    add(0);
    finish();
    assert_true(slices.count < 8);
    uint64_t before = 0;
    for (size_t i = 0; i < slices.count; i++) {
        assert_int_equal(slices.slices[i].work_before, before);
        before += slices.slices[i].work;
    }
    assert_int_equal(before, 160);
    work_profile_free(profile);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(work_counts_all_that_does_something),
        cmocka_unit_test(reading_one_word_again_and_again_is_waiting),
        cmocka_unit_test(trying_in_vain_is_waiting),
        cmocka_unit_test(pauses_and_routines_are_no_work),
        cmocka_unit_test(slices_end_at_heads),
        cmocka_unit_test(slices_without_heads_end_too),
        cmocka_unit_test(waiting_is_in_the_slice_but_no_work_of_it),
        cmocka_unit_test(each_thread_has_blocks_of_its_own),
        cmocka_unit_test(many_slices_become_longer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
