/* The in-order core's life. */
#include "core/inorder/inorder.h"

#include <stdlib.h>

static bool fits(const struct machine *machine, const struct core_options *options,
                 struct error *error) {
    uint32_t kinds = options->tap ? tap_kinds(options->tap) : 0;
    if (options->ideal & IDEAL_WIN)
        return error_set(error,
                         "machine %s issues in order: there is no window that win could "
                         "make larger",
                         machine->name);
    if (options->ideal & IDEAL_STFWD)
        return error_set(error,
                         "machine %s issues in order: loads do not look into its write buffer, so "
                         "that none waits for a store, which stfwd could take away",
                         machine->name);
    if (options->ideal & IDEAL_SPLIT)
        return error_set(
            error,
            "machine %s issues in order: accesses in two lines cost what others do, so "
            "there is nothing that split could take away",
            machine->name);
    if (kinds & 1 << TAP_LIFE)
        return error_set(error,
                         "machine %s issues in order: dependence graphs and pipeline views "
                         "need one that issues out of order, such as boom-tip",
                         machine->name);
    if (kinds & (1 << TAP_FETCH | 1 << TAP_DISPATCH))
        return error_set(error,
                         "machine %s issues in order: profilers that sample at fetch or "
                         "dispatch need one that issues out of order, such as boom-tip",
                         machine->name);
    return true;
}

struct inorder *inorder_new(const struct machine *machine, const struct core_options *options,
                            struct error *error) {
    if (!fits(machine, options, error))
        return NULL;
    struct inorder *core = calloc(1, sizeof *core);
    if (core) {
        core->uops = aligned_alloc(64, INPUT_UOPS * sizeof *core->uops);
        core->delays = calloc(INPUT_UOPS, sizeof *core->delays);
    }
    if (!core || !core->uops || !core->delays) {
        error_set(error, "out of memory for a core");
        inorder_free(core);
        return NULL;
    }
    core->machine = *machine;
    core->ideal = options->ideal;
    core->tap = options->tap;
    core->causes = options->causes;
    core->width = machine->core.dispatch_width;
    core->lookahead = machine->core.fetch_buffer + 2 * PACKET_UOPS;
    core->line = UNKNOWN;
    core->fetch_cycle = 1;
    core->write_cycle = 1;
    core->last_insn = UINT32_MAX;
    if (!core_learned_new(&core->learned, machine, options, error)) {
        inorder_free(core);
        return NULL;
    }
    if (core->tap) {
        core->buffer = tap_current(core->tap);
        core->buffer->start = core->tap_state;
        core->buffer->used = 0;
    }
    return core;
}

void inorder_free(struct inorder *core) {
    if (!core)
        return;
    core_learned_free(&core->learned);
    free(core->uops);
    free(core->delays);
    free(core->waiting_accesses);
    free(core);
}

bool inorder_finish(struct inorder *core, struct error *error) {
    struct error late;
    bool good = inorder_drain(core, error);
    inorder_show(core);
    return (!core->tap ||
            tap_flush(core->tap, &core->tap_state, &core->buffer, good ? error : &late)) &&
           good;
}

bool inorder_warm(struct inorder *core, const struct core_input *input, struct error *error) {
    if (!inorder_drain(core, error))
        return false;
    core->line = UNKNOWN;
    uint32_t shift = (uint32_t)__builtin_ctz(core->machine.l1i.line);
    return core_warm_learned(&core->learned, shift, false, input, &core->warmed, error);
}

void inorder_give(struct inorder *core, struct core_learned *learned) {
    *learned = core->learned;
    memory_restart(learned->memory);
    core->learned = (struct core_learned){NULL, NULL};
}

void inorder_warm_tables(struct inorder *core, uint64_t address, uint64_t bytes) {
    memory_warm_tables(core->learned.memory, address, bytes);
}

void inorder_pass(struct inorder *core, uint64_t cycles) {
    memory_pass(core->learned.memory, cycles);
}

const struct memory *inorder_memory(const struct inorder *core) {
    return core->learned.memory;
}

const struct branch_predictor *inorder_predictor(const struct inorder *core) {
    return core->learned.predictor;
}

void inorder_statistics(const struct inorder *core, struct core_statistics *statistics) {
    *statistics = core->statistics;
    statistics->cycles = core->cycle;
    branch_statistics(core->learned.predictor, &statistics->branch);
    core_subtract_branches(&statistics->branch, &core->warmed);
    memory_statistics(core->learned.memory, &statistics->memory);
}
