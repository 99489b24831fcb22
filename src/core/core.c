/* Calls the kind of core that the machine asks for. The indirection costs once per batch, not per
 * instruction. */
#include <stdlib.h>

#include "core/cores.h"

struct core {
    struct ooo *ooo; /* one of them */
    struct inorder *inorder;
};

struct core *core_new(const struct machine *machine, const struct core_options *options,
                      struct error *error) {
    struct core *core = calloc(1, sizeof *core);
    if (!core) {
        error_set(error, "out of memory for a core");
        return NULL;
    }
    if ((options->memory || options->predecodes) && machine->core.in_order)
        error_set(error, "machine %s is in order: its cores cannot share %s", machine->name,
                  options->memory ? "memory" : "predecoded instructions");
    else if (machine->core.in_order)
        core->inorder = inorder_new(machine, options, error);
    else
        core->ooo = ooo_new(machine, options, error);
    if (core->ooo || core->inorder)
        return core;
    free(core);
    return NULL;
}

void core_free(struct core *core) {
    if (!core)
        return;
    ooo_free(core->ooo);
    inorder_free(core->inorder);
    free(core);
}

bool core_push(struct core *core, const struct core_input *input, struct error *error) {
    return core->ooo ? ooo_push(core->ooo, input, error)
                     : inorder_push(core->inorder, input, error);
}

enum core_state core_run(struct core *core, uint64_t until, uint64_t others, bool all,
                         struct error *error) {
    return ooo_run(core->ooo, until, others, all, error);
}

void core_move(struct core *core, struct memory *memory) {
    ooo_move(core->ooo, memory);
}

void core_succeed(struct core *core, struct core *before) {
    ooo_succeed(core->ooo, before->ooo);
}

uint64_t core_cycle(const struct core *core) {
    return ooo_cycle(core->ooo);
}

uint64_t core_earliest(const struct core *core) {
    return ooo_earliest(core->ooo);
}

void core_wait_until(struct core *core, uint64_t cycle) {
    ooo_wait_until(core->ooo, cycle);
}

bool core_predecode_again(struct core *core, const struct branch_predictor *predictor,
                          struct error *error) {
    return ooo_predecode_again(core->ooo, predictor, error);
}

bool core_push_predecoded(struct core *core, const struct core *from, struct error *error) {
    return ooo_push_predecoded(core->ooo, from->ooo, error);
}

uint32_t core_needless(const struct core *core) {
    return ooo_needless(core->ooo);
}

bool core_warm(struct core *core, const struct core_input *input, struct error *error) {
    return core->ooo ? ooo_warm(core->ooo, input, error)
                     : inorder_warm(core->inorder, input, error);
}

bool core_warm_tables(struct core *core, uint64_t address, uint64_t bytes, struct error *error) {
    if (!core_drain(core, error))
        return false;
    if (core->ooo)
        ooo_warm_tables(core->ooo, address, bytes);
    else
        inorder_warm_tables(core->inorder, address, bytes);
    return true;
}

void core_pass(struct core *core, uint64_t instructions) {
    struct core_statistics so_far;
    core_statistics(core, &so_far);
    const double cpi =
        so_far.instructions ? (double)so_far.cycles / (double)so_far.instructions : 1;
    const uint64_t cycles = (uint64_t)((double)instructions * cpi);
    if (core->ooo)
        ooo_pass(core->ooo, cycles);
    else
        inorder_pass(core->inorder, cycles);
}

bool core_drain(struct core *core, struct error *error) {
    return core->ooo ? ooo_drain(core->ooo, error) : inorder_drain(core->inorder, error);
}

bool core_finish(struct core *core, struct error *error) {
    return core->ooo ? ooo_finish(core->ooo, error) : inorder_finish(core->inorder, error);
}

void core_give(struct core *core, struct core_learned *learned) {
    if (core->ooo)
        ooo_give(core->ooo, learned);
    else
        inorder_give(core->inorder, learned);
}

const struct memory *core_memory(const struct core *core) {
    return core->ooo ? ooo_memory(core->ooo) : inorder_memory(core->inorder);
}

const struct branch_predictor *core_predictor(const struct core *core) {
    return core->ooo ? ooo_predictor(core->ooo) : inorder_predictor(core->inorder);
}

void core_statistics(const struct core *core, struct core_statistics *statistics) {
    if (core->ooo)
        ooo_statistics(core->ooo, statistics);
    else
        inorder_statistics(core->inorder, statistics);
}
