/* Oracle (paper A §2): every cycle to the instruction that the commit state names, 1/n to each of n
 * that commit together. Also counts states, instructions and executions. */
#include <stdlib.h>
#include <string.h>

#include "attribute/pics.h"
#include "attribute/span.h"
#include "util/array.h"

struct oracle {
    struct oracle_result result;
    struct pics *profile;
    uint64_t *executions;
    size_t executions_capacity;
    uint32_t insn_count; /* highest instruction seen + 1 */
};

struct oracle *oracle_new(void) {
    struct oracle *oracle = calloc(1, sizeof *oracle);
    if (oracle && !(oracle->profile = pics_new())) {
        free(oracle);
        return NULL;
    }
    return oracle;
}

void oracle_free(struct oracle *oracle) {
    if (!oracle)
        return;
    pics_free(oracle->profile);
    free(oracle->executions);
    free(oracle);
}

static inline bool count_execution(struct oracle *oracle, uint32_t insn) {
    if (insn >= oracle->insn_count) {
        size_t old = oracle->executions_capacity;
        if (!array_reserve((void **)&oracle->executions, &oracle->executions_capacity,
                           (size_t)insn + 1, sizeof *oracle->executions))
            return false;
        memset(oracle->executions + old, 0,
               (oracle->executions_capacity - old) * sizeof *oracle->executions);
        oracle->insn_count = insn + 1;
    }
    oracle->executions[insn]++;
    return true;
}

static bool consume(void *context, const struct tap_buffer *buffer, struct error *error) {
    struct oracle *oracle = context;
    uint64_t cycle = buffer->start.cycle, last_commit = buffer->start.last_commit;
    uint32_t last_insn = tap_uop_insn(buffer->start.last_uop);
    const uint64_t *word = buffer->words, *end = buffer->words + buffer->used;
    bool room = true;
    while (word < end) {
        struct tap_record record;
        word = tap_read(word, &record);
        cycle += record.delta;
        if (record.kind != TAP_COMMIT && record.kind != TAP_FLUSH)
            continue;
        struct span span;
        span_of(&record, cycle, last_commit, &span);
        for (unsigned state = 0; state < STATE_COUNT; state++)
            oracle->result.states[state] += span.states[state];
        oracle->result.cycles += cycle - last_commit;
        last_commit = cycle;
        if (span.last)
            room &= pics_add_fast(oracle->profile, last_insn, 0, span.last * CYCLE_UNITS);
        if (span.next)
            room &= pics_add_fast(oracle->profile, tap_uop_insn(record.uops[0]), 0,
                                  span.next * CYCLE_UNITS);
        if (record.kind == TAP_FLUSH)
            continue;
        uint64_t share = CYCLE_UNITS / record.count, rest = CYCLE_UNITS % record.count;
        for (unsigned i = 0; i < record.count; i++) {
            uint32_t insn = tap_uop_insn(record.uops[i]), flags = tap_uop_flags(record.uops[i]);
            room &= pics_add_fast(oracle->profile, insn, 0, share + (i < rest));
            if (flags & TAP_UOP_LAST) {
                oracle->result.instructions += flags & TAP_UOP_FUSED ? 2 : 1;
                room &= count_execution(oracle, insn);
            }
        }
        oracle->result.uops += record.count;
        last_insn = tap_uop_insn(record.uops[record.count - 1]);
    }
    return room || error_set(error, "out of memory for the profile");
}

struct tap_worker oracle_worker(struct oracle *oracle) {
    return (struct tap_worker){"oracle", 0, consume, oracle};
}

void oracle_result(const struct oracle *oracle, struct oracle_result *result) {
    *result = oracle->result;
}

const struct pics *oracle_profile(const struct oracle *oracle) {
    return oracle->profile;
}

const uint64_t *oracle_executions(const struct oracle *oracle, uint32_t *count) {
    *count = oracle->insn_count;
    return oracle->executions;
}
