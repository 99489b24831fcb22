/* What is remembered of decoded instructions is what decoding says, for every thread that asks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <string.h>

#include "isa/memo.h"

static uint64_t next_random(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 32;
}

/* Whether both say the same of these bytes. */
static bool same(struct insn_memo *memo, enum isa isa, const uint8_t *bytes, size_t size) {
    struct insn decoded, remembered;
    memset(&decoded, 0, sizeof decoded);
    memset(&remembered, 0, sizeof remembered);
    const bool good = insn_decode(isa, bytes, size, &decoded);
    return good == insn_memo_decode(memo, isa, bytes, size, &remembered) &&
           /* Both were zero before. NOLINTNEXTLINE(bugprone-suspicious-memory-comparison) */
           memcmp(&decoded, &remembered, sizeof decoded) == 0;
}

/* add rax, rbx; then the same bytes cut short, and as another machine's. */
static void answers_are_of_all_that_was_asked(void **state) {
    (void)state;
    const uint8_t bytes[16] = {0x48, 0x01, 0xd8, 0xc3};
    struct insn_memo *memo = insn_memo_new();
    struct insn insn;
    assert_non_null(memo);
    for (int again = 0; again < 2; again++) {
        assert_true(insn_memo_decode(memo, ISA_X86_64, bytes, 4, &insn));
        assert_int_equal(insn.length, 3);
        assert_false(insn_memo_decode(memo, ISA_X86_64, bytes, 2, &insn));
        assert_false(insn_memo_decode(memo, ISA_X86_64, bytes, 0, &insn));
        assert_true(insn_memo_decode(memo, ISA_X86_64, bytes + 3, 13, &insn));
        assert_int_equal(insn.branch, BRANCH_RETURN);
        assert_true(same(memo, ISA_RISCV64, bytes, 4));
        assert_true(insn_memo_decode(NULL, ISA_X86_64, bytes, 16, &insn));
    }
    insn_memo_free(memo);
    insn_memo_free(NULL);
}

struct asker {
    struct insn_memo *memo;
    uint64_t random;
    bool good;
};

/* Random bytes, most of which come again: as many as there is room for, and more. */
static void *ask(void *context) {
    struct asker *asker = context;
    asker->good = true;
    for (unsigned round = 0; asker->good && round < 120000; round++) {
        uint64_t content =
            round % 3 ? next_random(&asker->random) % 9000 : next_random(&asker->random);
        uint8_t bytes[16];
        for (unsigned i = 0; i < sizeof bytes; i++)
            bytes[i] = (uint8_t)(next_random(&content) >> 3);
        const size_t size = round % 3 ? content % 17 : sizeof bytes;
        asker->good = same(asker->memo, content % 4 ? ISA_X86_64 : ISA_RISCV64, bytes, size);
    }
    return NULL;
}

static void threads_share_it(void **state) {
    (void)state;
    struct insn_memo *memo = insn_memo_new();
    assert_non_null(memo);
    struct asker askers[3];
    pthread_t threads[3];
    for (unsigned i = 0; i < 3; i++) {
        askers[i] = (struct asker){.memo = memo, .random = i % 2 + 5};
        assert_int_equal(pthread_create(&threads[i], NULL, ask, &askers[i]), 0);
    }
    for (unsigned i = 0; i < 3; i++) {
        pthread_join(threads[i], NULL);
        assert_true(askers[i].good);
    }
    insn_memo_free(memo);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_are_of_all_that_was_asked),
        cmocka_unit_test(threads_share_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
