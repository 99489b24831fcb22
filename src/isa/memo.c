/* A hash table that only grows, until it is full: an answer is published by one exchange of a
 * pointer, and never changes. How long an instruction is is not known before it is decoded, so an
 * answer is that to all bytes that decoding may look at; where the same code is read again they are
 * the same. */
#include "isa/memo.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum { SLOTS = 1 << 16, TRIED = 8 };

struct question {
    uint8_t bytes[INSN_MAX_LENGTH]; /* zero behind `size` */
    uint8_t size, isa;
};

struct answer {
    struct question question;
    bool decoded;
    struct insn insn;
};

struct insn_memo {
    _Atomic(const struct answer *) slots[SLOTS];
};

struct insn_memo *insn_memo_new(void) {
    return calloc(1, sizeof(struct insn_memo));
}

void insn_memo_free(struct insn_memo *memo) {
    for (size_t i = 0; memo && i < SLOTS; i++)
        free((void *)atomic_load_explicit(&memo->slots[i], memory_order_relaxed));
    free(memo);
}

static const struct answer *answer_new(const struct question *question, const uint8_t *bytes,
                                       size_t size) {
    struct answer *answer = malloc(sizeof *answer);
    if (!answer)
        return NULL;
    memset(answer, 0, sizeof *answer);
    answer->question = *question;
    answer->decoded = insn_decode(question->isa, bytes, size, &answer->insn);
    return answer;
}

/* The answer in a slot: of this question, of another, or a new one. NULL: out of memory. */
static const struct answer *answer_at(_Atomic(const struct answer *) *slot,
                                      const struct question *question, const uint8_t *bytes,
                                      size_t size) {
    const struct answer *found = atomic_load_explicit(slot, memory_order_acquire);
    if (found)
        return found;
    const struct answer *made = answer_new(question, bytes, size);
    if (!made || atomic_compare_exchange_strong_explicit(slot, &found, made, memory_order_acq_rel,
                                                         memory_order_acquire))
        return made;
    free((void *)made); /* another thread was first */
    return found;
}

bool insn_memo_decode(struct insn_memo *memo, enum isa isa, const uint8_t *bytes, size_t size,
                      struct insn *insn) {
    struct question question = {.size = size < INSN_MAX_LENGTH ? (uint8_t)size : INSN_MAX_LENGTH,
                                .isa = (uint8_t)isa};
    memcpy(question.bytes, bytes, question.size);
    const uint64_t hash = memo ? XXH3_64bits(&question, sizeof question) : 0;
    for (unsigned i = 0; memo && i < TRIED; i++) {
        const struct answer *answer =
            answer_at(&memo->slots[(hash + i) % SLOTS], &question, bytes, size);
        if (!answer)
            break;
        if (memcmp(&answer->question, &question, sizeof question) != 0)
            continue;
        if (answer->decoded)
            *insn = answer->insn;
        return answer->decoded;
    }
    return insn_decode(isa, bytes, size, insn);
}
