/* What all kinds of cores do alike: check input, warm and make what a core learns. */
#include "core/cores.h"

#include "branch/op_cache.h"
#include "util/counters.h"

bool core_input_error(struct error *error) {
    return error_set(error, "the trace names an instruction or access that it does not have");
}

static const struct branch_statistics NO_BRANCHES;

void core_subtract_branches(struct branch_statistics *all, const struct branch_statistics *warmed) {
    counters_add(all, &NO_BRANCHES, warmed, sizeof *all, 1);
}

/* Predicts and trains with the branch, as in simulation. `followed`: insn[1] is its successor. */
static void warm_branch(struct branch_predictor *predictor, const struct code *code,
                        const struct dynamic_insn *dynamic, bool followed) {
    const struct static_insn *insn = &code->insns[dynamic->insn];
    const bool taken = dynamic->flags & DYN_TAKEN;
    if (dynamic->flags & (DYN_FAULT | DYN_SIGNAL | DYN_GAP))
        return;
    if (followed)
        branch_predict(predictor, insn->address, insn->branch, insn->length, taken,
                       code->insns[dynamic[1].insn].address);
    else
        branch_await(predictor, insn->address, insn->branch, insn->length, taken);
}

void core_await_branch(struct branch_predictor *predictor, const struct code *code,
                       const struct dynamic_insn *last) {
    if (code->insns[last->insn].branch != BRANCH_NONE)
        warm_branch(predictor, code, last, false);
}

/* Warms the lines that the instruction begins and ends in, as fetch asks for them. */
static void warm_fetch(struct memory *memory, uint32_t line_shift, const struct static_insn *insn,
                       uint64_t *line) {
    const uint64_t last = insn->address + insn->length - 1;
    if (insn->address >> line_shift != *line)
        memory_warm_fetch(memory, insn->address);
    if ((insn->address ^ last) >> line_shift)
        memory_warm_fetch(memory, last);
    *line = last >> line_shift;
}

/* Warms the lines of the instruction, and of what it accesses. */
static inline void warm_lines(struct memory *memory, uint32_t line_shift,
                              const struct static_insn *what, const struct dynamic_insn *insn,
                              const struct memory_access *accesses, uint64_t *line) {
    warm_fetch(memory, line_shift, what, line);
    for (uint32_t k = 0; k < insn->memory_count; k++)
        if (what->flags & INSN_PREFETCH)
            memory_warm_prefetch(memory, accesses[k].address, insn->insn);
        else
            memory_warm_load(memory, accesses[k].address, accesses[k].size_bytes, insn->insn,
                             accesses[k].is_store);
}

static inline const struct memory_access *accesses_of(const struct core_input *input,
                                                      const struct dynamic_insn *insn) {
    return insn->memory_count ? input->accesses + (insn->memory - input->first_access) : NULL;
}

void core_warm_memory(struct memory *memory, uint32_t fetch_line_shift,
                      const struct core_input *input, uint32_t number, uint64_t *line) {
    const struct dynamic_insn *insn = &input->insns[number];
    warm_lines(memory, fetch_line_shift, &input->code->insns[insn->insn], insn,
               accesses_of(input, insn), line);
}

/* Whether a compare and the branch behind it are one. */
static bool is_fused(const struct code *code, const struct static_insn *compare,
                     const struct static_insn *branch) {
    const struct uop *last = &code->uops[compare->first_uop + compare->uop_count - 1u];
    return insn_fuses_compare(compare, last) && insn_fuses_branch(branch);
}

/* `before`: the instruction before it; NULL: none that it may fuse with. */
static void warm_op_cache(struct op_cache *cache, const struct code *code,
                          const struct static_insn *insn, const struct static_insn *before) {
    const uint64_t last = insn->address + insn->length - 1;
    if (before && cache->next == insn->address && is_fused(code, before, insn))
        op_cache_fuse(cache, last);
    else
        op_cache_take(cache, insn->address, last);
}

/* `memory`: NULL is a constant where it is. */
static inline __attribute__((always_inline)) bool
warm(struct memory *memory, struct branch_predictor *predictor, uint32_t fetch_line_shift,
     bool fuses, const struct core_input *input, struct error *error) {
    const struct code *code = input->code;
    const struct dynamic_insn *insn = input->insns, *const end = insn + input->insn_count;
    struct op_cache *const op_cache = branch_op_cache(predictor);
    const struct static_insn *before = NULL;
    uint64_t line = UINT64_MAX;
    for (; insn < end; insn++) {
        if (!core_input_is_there(code, insn, input->access_count, input->first_access))
            return core_input_error(error);
        const struct static_insn *what = &code->insns[insn->insn];
        if (insn == input->insns)
            branch_follow(predictor, what->address);
        if (memory)
            warm_lines(memory, fetch_line_shift, what, insn, accesses_of(input, insn), &line);
        if (op_cache && !(insn->flags & DYN_FAULT))
            warm_op_cache(op_cache, code, what, before);
        before = fuses ? what : NULL;
        if (what->branch != BRANCH_NONE)
            warm_branch(predictor, code, insn, insn + 1 < end && insn[1].insn < code->insn_count);
    }
    return true;
}

bool core_warm_learned(const struct core_learned *learned, uint32_t fetch_line_shift, bool fuses,
                       const struct core_input *input, struct branch_statistics *warmed,
                       struct error *error) {
    struct branch_statistics before, after;
    branch_statistics(learned->predictor, &before);
    if (!warm(learned->memory, learned->predictor, fetch_line_shift, fuses, input, error))
        return false;
    branch_statistics(learned->predictor, &after);
    core_subtract_branches(&after, &before);
    counters_add(warmed, &after, &NO_BRANCHES, sizeof after, 1);
    return true;
}

bool core_learned_warm(const struct core_learned *learned, const struct machine *machine,
                       const struct core_input *input, struct error *error) {
    const bool fuses = machine->core.fuse_compare_branch;
    if (!learned->memory)
        return warm(NULL, learned->predictor, 0, fuses, input, error);
    const uint32_t shift = (uint32_t)__builtin_ctz(machine->l1i.present ? machine->l1i.line : 64);
    return warm(learned->memory, learned->predictor, shift, fuses, input, error);
}

uint32_t core_memory_ideal(uint32_t ideal) {
    return (ideal & IDEAL_IMISS ? MEMORY_IDEAL_FETCH : 0) |
           (ideal & IDEAL_DMISS ? MEMORY_IDEAL_DATA : 0) |
           (ideal & IDEAL_DLONG ? MEMORY_IDEAL_LONG : 0);
}

bool core_learned_new(struct core_learned *learned, const struct machine *machine,
                      const struct core_options *options, struct error *error) {
    if (options->learned && options->learned->memory) {
        *learned = *options->learned;
        *options->learned = (struct core_learned){NULL, NULL};
        return true;
    }
    learned->memory = options->memory
                          ? options->memory
                          : memory_new(machine, core_memory_ideal(options->ideal), error);
    learned->predictor = learned->memory ? branch_new(&machine->branch, error) : NULL;
    return learned->predictor != NULL;
}

static bool copy_predictor(struct core_learned *copy, const struct machine *machine,
                           const struct branch_predictor *predictor, struct error *error) {
    branch_free(copy->predictor);
    copy->predictor = predictor ? branch_copy(predictor, &machine->branch) : NULL;
    if (copy->predictor || !predictor)
        return true;
    core_learned_free(copy);
    return error_set(error, "branch predictor: out of memory");
}

bool core_learned_copy(struct core_learned *copy, const struct machine *machine, uint32_t ideal,
                       const struct memory *memory, const struct branch_predictor *predictor,
                       struct error *error) {
    if (copy->memory) {
        memory_restart(copy->memory);
        memory_idealise(copy->memory, core_memory_ideal(ideal));
    } else if (!(copy->memory = memory_new(machine, core_memory_ideal(ideal), error))) {
        core_learned_free(copy);
        return false;
    }
    memory_copy(copy->memory, memory);
    return copy_predictor(copy, machine, predictor, error);
}

void core_learned_free(struct core_learned *learned) {
    memory_free(learned->memory);
    branch_free(learned->predictor);
    *learned = (struct core_learned){NULL, NULL};
}
