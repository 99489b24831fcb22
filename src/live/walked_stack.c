#include "live/walked_stack.h"

#include <assert.h>
#include <string.h>

#include "live/bpf/walk.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

static_assert((int)WALK_FRAMES_MAX == (int)LIVE_FRAMES_MAX, "one bound for both ways");

static enum live_stack_end end_of(uint8_t end) {
    return end == WALK_WHOLE       ? LIVE_STACK_WHOLE
           : end == WALK_TRUNCATED ? LIVE_STACK_TRUNCATED
                                   : LIVE_STACK_FAILED;
}

/* Of all but the event, which is told apart. */
static uint64_t hash_of(const struct walk_stack *stack, const uint8_t *words, uint64_t seed) {
    const uint64_t head[] = {stack->address, stack->user,
                             (uint64_t)stack->kernel << 32 | (uint64_t)stack->has_user << 16 |
                                 (uint64_t)stack->in_kernel << 8 | stack->end};
    return XXH3_64bits_withSeed(words, 8 * stack->count,
                                XXH3_64bits_withSeed(head, sizeof head, seed));
}

bool walked_stack_read(const uint8_t *bytes, const uint8_t *written, size_t size, uint64_t seed,
                       struct perf_record *record) {
    enum { HEAD = offsetof(struct walk_stack, words), PID_AT = 24, TID_AT = 28, TIME_AT = 32 };
    struct walk_stack stack;
    if (size < HEAD)
        return false;
    memcpy(&stack, written, HEAD);
    if (stack.mark != WALK_STACK_MARK || stack.count > (size - HEAD) / 8 ||
        stack.kernel > stack.count)
        return false;
    const size_t words = stack.count - stack.kernel;
    const bool tops = stack.has_tops && words;
    const uint8_t *callers = written + HEAD + 8 * stack.kernel;
    *record = (struct perf_record){.type = PERF_RECORD_SAMPLE,
                                   .id = stack.id,
                                   .address = stack.address,
                                   .kernel = stack.in_kernel,
                                   .has_stack = true,
                                   .walked = true,
                                   .alike = hash_of(&stack, written + HEAD, seed),
                                   .chain = written + HEAD,
                                   .chain_count = stack.kernel,
                                   .callers = callers,
                                   .caller_count = tops ? (words - 1) / 2 : words,
                                   .tops = tops,
                                   .end = end_of(stack.end)};
    if (stack.has_user) {
        record->registers.values[UNWIND_RIP] = stack.user;
        record->registers.known = 1u << UNWIND_RIP;
    }
    memcpy(&record->pid, bytes + PID_AT, sizeof record->pid);
    memcpy(&record->tid, bytes + TID_AT, sizeof record->tid);
    memcpy(&record->time, bytes + TIME_AT, sizeof record->time);
    return true;
}
