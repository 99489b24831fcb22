/* Targets: the branch target buffer, indirect branches, the return stack; what counts as late. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "unit/branch_streams.h"

static struct machine_branch with_btb(uint32_t entries, uint32_t ways) {
    struct machine_branch machine = SMALL;
    machine.btb_entries = entries;
    machine.btb_ways = ways;
    return machine;
}

static enum branch_outcome jump(struct branch_predictor *predictor, uint64_t address) {
    return branch_predict(predictor, address, BRANCH_JUMP, 2, true, 0x9000);
}

static enum branch_outcome indirect(struct branch_predictor *predictor, uint64_t address,
                                    uint64_t target) {
    return branch_predict(predictor, address, BRANCH_INDIRECT, 2, true, target);
}

static void first_encounter_is_late(void **state) {
    (void)state;
    struct branch_predictor *predictor = new_predictor(with_btb(16, 2));
    assert_int_equal(jump(predictor, 0x100), PREDICTED_LATE);
    assert_int_equal(jump(predictor, 0x100), PREDICTED_RIGHT);
    assert_int_equal(branch_predict(predictor, 0x200, BRANCH_CALL, 5, true, 0x9000),
                     PREDICTED_LATE);
    assert_int_equal(branch_predict(predictor, 0x200, BRANCH_CALL, 5, true, 0x9000),
                     PREDICTED_RIGHT);
    struct branch_statistics statistics;
    branch_statistics(predictor, &statistics);
    assert_int_equal(statistics.direct, 4);
    assert_int_equal(statistics.late, 2);
    branch_free(predictor);
}

/* Not taken: never in the buffer, never late. A wrong direction comes first, and puts the branch
 * into the buffer when it was taken. */
static void conditional_branches_and_the_buffer(void **state) {
    (void)state;
    struct branch_predictor *predictor = new_predictor(with_btb(16, 2));
    assert_int_equal(conditional(predictor, 0x100, false), PREDICTED_RIGHT); /* counter 0 */
    assert_int_equal(conditional(predictor, 0x100, true), PREDICTED_WRONG);  /* 1 */
    assert_int_equal(conditional(predictor, 0x100, true), PREDICTED_WRONG);  /* 2 */
    assert_int_equal(conditional(predictor, 0x100, true), PREDICTED_RIGHT);
    /* 0x108 shares the counter (3), not the place in the buffer. */
    assert_int_equal(conditional(predictor, 0x108, true), PREDICTED_LATE);
    assert_int_equal(conditional(predictor, 0x108, true), PREDICTED_RIGHT);
    branch_free(predictor);
}

/* One set of three ways, of which one may have a branch to another page: of two such branches in
 * turn each is late, with free ways beside them; those within the page are not. The youngest far
 * one takes the place of the other, or of the oldest of all where there is none. */
static void few_ways_have_targets_in_other_pages(void **state) {
    (void)state;
    struct machine_branch machine = with_btb(3, 3);
    machine.btb_far_ways = 1;
    struct branch_predictor *predictor = new_predictor(machine);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(jump(predictor, 0x100), PREDICTED_LATE);
        assert_int_equal(jump(predictor, 0x110), PREDICTED_LATE);
    }
    assert_int_equal(jump(predictor, 0x110), PREDICTED_RIGHT);
    assert_int_equal(jump(predictor, 0x9100), PREDICTED_LATE);
    assert_int_equal(jump(predictor, 0x9200), PREDICTED_LATE);
    assert_int_equal(jump(predictor, 0x110), PREDICTED_RIGHT);
    assert_int_equal(jump(predictor, 0x9100), PREDICTED_RIGHT);
    assert_int_equal(jump(predictor, 0x9200), PREDICTED_RIGHT);
    assert_int_equal(jump(predictor, 0x9300), PREDICTED_LATE); /* takes 0x110's place */
    assert_int_equal(jump(predictor, 0x100), PREDICTED_LATE);  /* 0x9100's */
    assert_int_equal(jump(predictor, 0x9200), PREDICTED_RIGHT);
    assert_int_equal(jump(predictor, 0x9300), PREDICTED_RIGHT);
    branch_free(predictor);
}

static enum branch_outcome call_and_return(struct branch_predictor *predictor, uint64_t address) {
    branch_predict(predictor, address, BRANCH_CALL, 5, true, 0x9000);
    return branch_predict(predictor, 0x9000, BRANCH_RETURN, 1, true, address + 5);
}

/* A set of two ways: the call and the return of one function are held, and a second call pushes the
 * first one out. Where returns have no entries both calls are. A return never is in another page,
 * wherever it goes to. */
static void returns_have_entries(void **state) {
    (void)state;
    for (int entries = 0; entries < 2; entries++) {
        struct machine_branch machine = with_btb(2, 2);
        machine.ras_entries = 4;
        machine.btb_returns = entries;
        machine.btb_far_ways = 1;
        struct branch_predictor *predictor = new_predictor(machine);
        assert_int_equal(call_and_return(predictor, 0x8ff0),
                         entries ? PREDICTED_LATE : PREDICTED_RIGHT);
        assert_int_equal(call_and_return(predictor, 0x8ff0), PREDICTED_RIGHT);
        struct branch_statistics statistics;
        branch_statistics(predictor, &statistics);
        assert_int_equal(statistics.late, 1 + entries);
        assert_int_equal(statistics.returns_wrong, 0);
        assert_int_equal(call_and_return(predictor, 0x9010), PREDICTED_RIGHT);
        assert_int_equal(branch_predict(predictor, 0x8ff0, BRANCH_CALL, 5, true, 0x9000),
                         entries ? PREDICTED_LATE : PREDICTED_RIGHT);
        branch_free(predictor);
    }
}

/* Two sets of two ways, selected by address / 2: 0x100, 0x104, 0x108 share one. Round robin over
 * three evicts each before its turn; a branch used every other time stays. */
static void conflicts_evict_the_least_recent(void **state) {
    (void)state;
    const uint64_t a = 0x100, b = 0x104, c = 0x108;
    struct branch_predictor *predictor = new_predictor(with_btb(4, 2));
    for (int i = 0; i < 5; i++) {
        assert_int_equal(jump(predictor, a), PREDICTED_LATE);
        assert_int_equal(jump(predictor, b), PREDICTED_LATE);
        assert_int_equal(jump(predictor, c), PREDICTED_LATE);
    }
    jump(predictor, a);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(jump(predictor, b), PREDICTED_LATE);
        assert_int_equal(jump(predictor, a), PREDICTED_RIGHT);
        assert_int_equal(jump(predictor, c), PREDICTED_LATE);
        assert_int_equal(jump(predictor, a), PREDICTED_RIGHT);
    }
    assert_int_equal(jump(predictor, 0x102), PREDICTED_LATE); /* the other set */
    assert_int_equal(jump(predictor, a), PREDICTED_RIGHT);
    branch_free(predictor);
}

static bool near_is_there(struct branch_predictor *predictor, uint64_t address) {
    return branch_is_near(predictor, address, BRANCH_JUMP, address + 0x40);
}

/* Branches at equal distances of 2 to 64 bytes fill all sets of a buffer whose sets go by a hash,
 * and so does the nearest one: 256 are all found, of a buffer by the lowest bits those alone that
 * lie at least as close together as its sets. */
static void distances_and_the_hash(void **state) {
    (void)state;
    for (uint64_t distance = 2; distance <= 64; distance *= 2) {
        struct machine_branch machine = with_btb(256, 4);
        machine.near_btb_entries = 256;
        for (int hash = 0; hash < 2; hash++) {
            machine.btb_hash = hash;
            struct branch_predictor *predictor = new_predictor(machine);
            for (uint64_t i = 0; i < 512; i++) {
                const uint64_t address = 0x10000 + i % 256 * distance;
                assert_int_equal(jump(predictor, address), i >= 256 && (hash || distance == 2)
                                                               ? PREDICTED_RIGHT
                                                               : PREDICTED_LATE);
                assert_int_equal(near_is_there(predictor, address), i >= 256);
            }
            branch_free(predictor);
        }
    }
}

/* 257 in turn, and all that share a set with the one too many are lost, by age. */
static void the_nearest_buffer_forgets(void **state) {
    (void)state;
    struct machine_branch machine = with_btb(1024, 4);
    struct branch_predictor *single = new_predictor(machine);
    assert_true(near_is_there(single, 0x100));
    branch_free(single);
    machine.near_btb_entries = 256;
    struct branch_predictor *predictor = new_predictor(machine);
    unsigned found = 0;
    for (unsigned i = 0; i < 2 * 257; i++)
        found += near_is_there(predictor, 0x10000 + i % 257 * 16ull);
    assert_int_equal(found, 257 - 5);
    branch_free(predictor);
}

/* Of a buffer for others: what goes to its own page needs no entry, unless it calls or goes to
 * where a register says, and takes none. */
static void what_needs_no_entry_in_the_nearest_buffer(void **state) {
    (void)state;
    static const enum branch_kind NEEDLESS[] = {BRANCH_CONDITIONAL, BRANCH_JUMP};
    static const enum branch_kind OTHERS[] = {BRANCH_CALL, BRANCH_INDIRECT, BRANCH_INDIRECT_CALL,
                                              BRANCH_RETURN};
    struct machine_branch machine = with_btb(1024, 4);
    machine.near_btb_entries = 4;
    machine.near_btb_far = true;
    struct branch_predictor *predictor = new_predictor(machine);
    for (unsigned i = 0; i < 4; i++) {
        assert_false(branch_is_near(predictor, 0x1000 + i, OTHERS[i], 0x1fff));
        assert_true(branch_is_near(predictor, 0x1000 + i, OTHERS[i], 0x1fff));
    }
    for (unsigned i = 0; i < 8; i++)
        assert_true(branch_is_near(predictor, 0x1100 + i, NEEDLESS[i % 2], 0x1fff));
    for (unsigned i = 0; i < 4; i++)
        assert_true(branch_is_near(predictor, 0x1000 + i, OTHERS[i], 0x1fff));
    for (unsigned i = 0; i < 2; i++) {
        assert_false(branch_is_near(predictor, 0x1100 + i, NEEDLESS[i], 0x2000));
        assert_true(branch_is_near(predictor, 0x1100 + i, NEEDLESS[i], 0x2000));
    }
    branch_free(predictor);
}

static void perfect_buffer(void **state) {
    (void)state;
    struct branch_predictor *predictor = new_predictor(with_btb(0, 1));
    for (uint64_t i = 0; i < 1000; i++) {
        assert_int_equal(jump(predictor, 0x100 + 4 * i), PREDICTED_RIGHT);
        assert_int_equal(indirect(predictor, 0x50, 0x1000 + i), PREDICTED_RIGHT);
    }
    branch_free(predictor);
}

static void last_target_without_a_table(void **state) {
    (void)state;
    struct branch_predictor *predictor = new_predictor(with_btb(16, 2));
    const uint64_t targets[] = {0x10, 0x10, 0x20, 0x10, 0x10};
    const enum branch_outcome expected[] = {PREDICTED_WRONG, PREDICTED_RIGHT, PREDICTED_WRONG,
                                            PREDICTED_WRONG, PREDICTED_RIGHT};
    for (int i = 0; i < 5; i++)
        assert_int_equal(indirect(predictor, 0x100, targets[i]), expected[i]);
    branch_free(predictor);
}

/* Wrong predictions of the last 500 of 2000 dispatches of a bytecode loop. */
static uint64_t interpreter(uint32_t indirect_entries, const char *program, size_t length) {
    struct machine_branch machine = with_btb(64, 2);
    machine.indirect_entries = indirect_entries;
    struct branch_predictor *predictor = new_predictor(machine);
    struct branch_statistics before, after;
    for (size_t i = 0; i < 2000; i++) {
        if (i == 1500)
            branch_statistics(predictor, &before);
        indirect(predictor, 0x400, 0x1000 + (uint64_t)program[i % length] * 0x40);
    }
    branch_statistics(predictor, &after);
    branch_free(predictor);
    assert_int_equal(after.indirect, 2000);
    return after.indirect_wrong - before.indirect_wrong;
}

static void path_tells_indirect_targets(void **state) {
    (void)state;
    const char five[] = "abcde", mixed[] = "abacabadabacabae";
    assert_int_equal(interpreter(0, five, 5), 500);
    assert_int_equal(interpreter(512, five, 5), 0);
    assert_true(interpreter(0, mixed, 16) >= 450);
    assert_in_range(interpreter(512, mixed, 16), 0, 5);
    const char same[] = "a";
    assert_int_equal(interpreter(512, same, 1), 0);
}

static struct branch_predictor *by_history(void) {
    struct machine_branch machine = with_btb(64, 2);
    machine.indirect_entries = 512;
    machine.indirect_history = 16;
    return new_predictor(machine);
}

/* Wrong predictions of the last 500 of 2000 dispatches by an indirect jump at 0x40c, to blocks in
 * turn that go back to it: each from its own place or all from one, to `entry`. */
static uint64_t dispatch(uint64_t targets, bool one_place, uint64_t entry) {
    struct branch_predictor *predictor = by_history();
    uint64_t wrong = 0;
    for (uint64_t i = 0; i < 2000; i++) {
        const uint64_t target = 0x1000 + i % targets * 0x40;
        const bool right = indirect(predictor, 0x40c, target) == PREDICTED_RIGHT;
        wrong += i >= 1500 && !right;
        branch_predict(predictor, one_place ? 0x3000 : target + 8, BRANCH_JUMP, 5, true, entry);
    }
    branch_free(predictor);
    return wrong;
}

/* Three targets in any order teach paths of all lengths, of conditional branches that always do the
 * same; of two in turn the block before tells, on these paths as well. */
static void the_block_before_counts_on_every_path(void **state) {
    (void)state;
    struct branch_predictor *predictor = by_history();
    uint64_t wrong = 0, random = 1;
    for (uint64_t i = 0; i < 2000; i++) {
        const uint64_t number = i < 300 ? random_next(&random) % 3 : i % 2;
        const uint64_t target = 0x1000 + number * 0x40;
        const bool right = indirect(predictor, 0x40c, target) != PREDICTED_WRONG;
        wrong += i >= 1500 && !right;
        branch_predict(predictor, 0x3000, BRANCH_CONDITIONAL, 2, true, 0x3010);
        branch_predict(predictor, target + 8, BRANCH_JUMP, 5, true, 0x400);
    }
    branch_free(predictor);
    assert_int_equal(wrong, 0);
}

/* Without conditional branches: which of the blocks jumps tells the next one, and nothing does
 * where all jump from one place, or to another block of 64 bytes than that of the indirect jump. */
static void the_block_before_tells_indirect_targets(void **state) {
    (void)state;
    assert_int_equal(dispatch(5, false, 0x400), 0);
    assert_int_equal(dispatch(5, true, 0x400), 500);
    assert_int_equal(dispatch(5, false, 0x3fc), 500);
    assert_int_equal(dispatch(1, true, 0x3fc), 0);
}

/* Wrong predictions of the last 500 of 2000 dispatches by an indirect jump at 0x40c, by so many
 * blocks before: to eight blocks in turn, each of which goes on by a branch of this kind and so
 * many jumps, the last of them back to it. */
static uint64_t dispatch_by_blocks(uint32_t blocks, enum branch_kind kind, uint64_t jumps) {
    struct machine_branch machine = with_btb(64, 2);
    machine.indirect_entries = 8192;
    machine.indirect_history = 16;
    machine.indirect_blocks = blocks;
    machine.ras_entries = 8;
    struct branch_predictor *predictor = new_predictor(machine);
    uint64_t wrong = 0;
    for (uint64_t i = 0; i < 2000; i++) {
        const uint64_t target = 0x1000 + i % 8 * 0x40;
        const bool right = indirect(predictor, 0x40c, target) != PREDICTED_WRONG;
        wrong += i >= 1500 && !right;
        branch_predict(predictor, target + 8, kind, 1, true, jumps ? 0x5000 : 0x400);
        for (uint64_t k = 0; k < jumps; k++)
            branch_predict(predictor, 0x5000 + 0x100 * k, BRANCH_JUMP, 5, true,
                           k + 1 < jumps ? 0x5100 + 0x100 * k : 0x400);
    }
    branch_free(predictor);
    return wrong;
}

/* Of three blocks, behind two jumps the target's is still known, behind three it is not; nor is one
 * that returns, or goes on by an indirect jump, unless that is the last block. */
static void several_blocks_before_tell_indirect_targets(void **state) {
    (void)state;
    for (uint32_t blocks = 1; blocks <= 4; blocks++)
        for (uint64_t jumps = 0; jumps < 5; jumps++)
            assert_int_equal(dispatch_by_blocks(blocks, BRANCH_JUMP, jumps),
                             jumps < blocks ? 0 : 500);
    assert_int_equal(dispatch_by_blocks(3, BRANCH_RETURN, 0), 500);
    assert_int_equal(dispatch_by_blocks(1, BRANCH_RETURN, 0), 0);
    assert_int_equal(dispatch_by_blocks(3, BRANCH_INDIRECT, 1), 500);
    assert_int_equal(dispatch_by_blocks(3, BRANCH_INDIRECT, 0), 0);
}

/* Wrong predictions of the last 100 of 2000 dispatches to one of two targets at random, of which a
 * conditional branch tells which, with so many others behind it, always taken or never. */
static uint64_t told_by_a_branch(int others, bool taken) {
    struct branch_predictor *predictor = by_history();
    uint64_t wrong = 0, random = 1;
    for (int i = 0; i < 2000; i++) {
        const bool odd = random_next(&random) >> 40 & 1;
        branch_predict(predictor, 0x300, BRANCH_CONDITIONAL, 2, odd, 0x310);
        for (int k = 0; k < others; k++)
            branch_predict(predictor, 0x400 + 16 * (uint64_t)k, BRANCH_CONDITIONAL, 2, taken,
                           0x408 + 16 * (uint64_t)k);
        const bool right = indirect(predictor, 0x2004, odd ? 0x3000 : 0x3040) != PREDICTED_WRONG;
        wrong += i >= 1900 && !right;
        branch_predict(predictor, 0x3106, BRANCH_JUMP, 5, true, 0x300);
    }
    branch_free(predictor);
    return wrong;
}

/* The paths are of 2, 4, 8 and 16 branches: behind 15 it is still on the longest, behind 16 no
 * longer. Those that are never taken are none. */
static void outcomes_tell_indirect_targets(void **state) {
    (void)state;
    assert_int_equal(told_by_a_branch(0, true), 0);
    assert_int_equal(told_by_a_branch(3, true), 0);
    assert_in_range(told_by_a_branch(15, true), 0, 10);
    assert_in_range(told_by_a_branch(16, true), 30, 70);
    assert_int_equal(told_by_a_branch(100, false), 0);
}

/* A call of five bytes at `address`, or a return to `to`. */
static void call(struct branch_predictor *predictor, uint64_t address, enum branch_kind kind) {
    branch_predict(predictor, address, kind, 5, true, 0x9000);
}
static enum branch_outcome return_to(struct branch_predictor *predictor, uint64_t to) {
    return branch_predict(predictor, 0x9100, BRANCH_RETURN, 1, true, to);
}

static void returns_match_calls(void **state) {
    (void)state;
    struct branch_predictor *predictor = new_predictor(SMALL);
    call(predictor, 0x100, BRANCH_CALL);
    call(predictor, 0x200, BRANCH_INDIRECT_CALL);
    call(predictor, 0x300, BRANCH_CALL);
    assert_int_equal(return_to(predictor, 0x305), PREDICTED_RIGHT);
    assert_int_equal(return_to(predictor, 0x205), PREDICTED_RIGHT);
    assert_int_equal(return_to(predictor, 0x106), PREDICTED_WRONG); /* returned elsewhere */
    struct branch_statistics statistics;
    branch_statistics(predictor, &statistics);
    assert_int_equal(statistics.returns, 3);
    assert_int_equal(statistics.returns_wrong, 1);
    assert_int_equal(statistics.indirect, 1);
    branch_free(predictor);
}

/* Six calls with a ring of four entries: the inner four returns are right; the outer two find the
 * inner addresses again; a call after that is predicted right again. */
static void return_stack_wraps(void **state) {
    (void)state;
    struct branch_predictor *predictor = new_predictor(SMALL);
    for (uint64_t i = 1; i <= 6; i++)
        call(predictor, i * 0x100, BRANCH_CALL);
    for (uint64_t i = 6; i > 2; i--)
        assert_int_equal(return_to(predictor, i * 0x100 + 5), PREDICTED_RIGHT);
    assert_int_equal(return_to(predictor, 0x205), PREDICTED_WRONG);
    assert_int_equal(return_to(predictor, 0x105), PREDICTED_WRONG);
    call(predictor, 0x700, BRANCH_CALL);
    assert_int_equal(return_to(predictor, 0x705), PREDICTED_RIGHT);
    branch_free(predictor);
}

/* Recursion deeper than the stack: all frames return to one address, and the stale ones fit. */
static void recursion_beyond_the_stack(void **state) {
    (void)state;
    struct branch_predictor *predictor = new_predictor(SMALL);
    for (int i = 0; i < 100; i++)
        call(predictor, 0x100, BRANCH_CALL);
    for (int i = 0; i < 100; i++)
        assert_int_equal(return_to(predictor, 0x105), PREDICTED_RIGHT);
    branch_free(predictor);
}

static void perfect_prediction(void **state) {
    (void)state;
    struct machine_branch machine = with_btb(4, 2);
    machine.direction = DIRECTION_PERFECT;
    struct branch_predictor *predictor = new_predictor(machine);
    uint64_t random = 1;
    for (uint64_t i = 0; i < 1000; i++) {
        uint64_t address = random_next(&random), target = random_next(&random);
        assert_int_equal(conditional(predictor, address, i & 1), PREDICTED_RIGHT);
        assert_int_equal(jump(predictor, address), PREDICTED_RIGHT);
        assert_int_equal(indirect(predictor, address, target), PREDICTED_RIGHT);
        assert_int_equal(return_to(predictor, target), PREDICTED_RIGHT);
    }
    const struct branch_statistics expected = {
        .conditional = 1000, .direct = 1000, .indirect = 1000, .returns = 1000};
    struct branch_statistics statistics;
    branch_statistics(predictor, &statistics);
    assert_memory_equal(&statistics, &expected, sizeof expected);
    branch_free(predictor);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_encounter_is_late),
        cmocka_unit_test(conditional_branches_and_the_buffer),
        cmocka_unit_test(few_ways_have_targets_in_other_pages),
        cmocka_unit_test(returns_have_entries),
        cmocka_unit_test(conflicts_evict_the_least_recent),
        cmocka_unit_test(distances_and_the_hash),
        cmocka_unit_test(the_nearest_buffer_forgets),
        cmocka_unit_test(what_needs_no_entry_in_the_nearest_buffer),
        cmocka_unit_test(perfect_buffer),
        cmocka_unit_test(last_target_without_a_table),
        cmocka_unit_test(path_tells_indirect_targets),
        cmocka_unit_test(the_block_before_tells_indirect_targets),
        cmocka_unit_test(several_blocks_before_tell_indirect_targets),
        cmocka_unit_test(the_block_before_counts_on_every_path),
        cmocka_unit_test(outcomes_tell_indirect_targets),
        cmocka_unit_test(returns_match_calls),
        cmocka_unit_test(return_stack_wraps),
        cmocka_unit_test(recursion_beyond_the_stack),
        cmocka_unit_test(perfect_prediction),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
