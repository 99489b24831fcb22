/* Instructions are found by (image, offset) while flows are made. What a µop is
 * on a machine follows from its static instruction alone, as the core prepares it
 * (core/ooo/prepare.c). */
#include "shotgun/code.h"

#include <stdlib.h>
#include <string.h>

#include "core/elimination.h"
#include "core/places.h"
#include "core/uop_timing.h"
#include "shotgun/signature.h"
#include "util/array.h"
#include "util/hash_index.h"

void shotgun_code_free(struct shotgun_code *copy) {
    free(copy->code.insns);
    free(copy->code.uops);
    free(copy->flows);
    *copy = (struct shotgun_code){0};
}

bool shotgun_code_learn(struct shotgun_code *copy, const struct code *code, struct error *error) {
    struct code *known = &copy->code;
    known->isa = code->isa;
    if (!array_room(known->insns, copy->insn_capacity, code->insn_count) ||
        !array_room(known->uops, copy->uop_capacity, code->uop_count))
        return error_set(error, "out of memory for static instructions");
    if (code->insn_count > known->insn_count) {
        memcpy(known->insns + known->insn_count, code->insns + known->insn_count,
               (code->insn_count - known->insn_count) * sizeof *known->insns);
        known->insn_count = code->insn_count;
    }
    if (code->uop_count > known->uop_count) {
        memcpy(known->uops + known->uop_count, code->uops + known->uop_count,
               (code->uop_count - known->uop_count) * sizeof *known->uops);
        known->uop_count = code->uop_count;
    }
    return true;
}

/* ---- flows ---- */

/* The last one there; CODE_UNKNOWN: none. */
static uint32_t number_at(const struct hash_index *index, const struct code *code, uint32_t image,
                          uint64_t offset) {
    const uint64_t hash = hash_pair(offset, image);
    uint32_t found = CODE_UNKNOWN;
    size_t at;
    for (uint32_t i = hash_index_first(index, hash, &at); i != HASH_INDEX_NONE;
         i = hash_index_next(index, hash, &at))
        if (code->insns[i].offset == offset && code->insns[i].image == image)
            found = i;
    return found;
}

static bool may_fuse(const struct code *code, uint32_t compare, uint32_t branch) {
    const struct static_insn *first = &code->insns[compare], *second = &code->insns[branch];
    const struct uop *last = &code->uops[first->first_uop + first->uop_count - 1u];
    return insn_fuses_compare(first, last) && insn_fuses_branch(second);
}

bool shotgun_code_link(struct shotgun_code *copy, struct error *error) {
    const struct code *code = &copy->code;
    struct hash_index index = {0};
    free(copy->flows);
    copy->flows = malloc(((size_t)code->insn_count + 1) * sizeof *copy->flows);
    if (!copy->flows || !hash_index_reserve(&index, code->insn_count))
        return error_set(error, "out of memory for static instructions");
    for (uint32_t i = 0; i < code->insn_count; i++)
        hash_index_add(&index, hash_pair(code->insns[i].offset, code->insns[i].image), i);
    for (uint32_t i = 0; i < code->insn_count; i++) {
        const struct static_insn *insn = &code->insns[i];
        uint64_t target = insn->offset + (uint64_t)(int64_t)insn->target_displacement;
        bool direct = insn->branch == BRANCH_CONDITIONAL || insn->branch == BRANCH_JUMP ||
                      insn->branch == BRANCH_CALL;
        copy->flows[i] = (struct shotgun_flow){
            .next = number_at(&index, code, insn->image, insn->offset + insn->length),
            .target = direct ? number_at(&index, code, insn->image, target) : CODE_UNKNOWN,
            .before = CODE_UNKNOWN};
    }
    for (uint32_t i = 0; i < code->insn_count; i++) {
        uint32_t next = copy->flows[i].next;
        if (next != CODE_UNKNOWN && may_fuse(code, i, next))
            copy->flows[next].before = i;
    }
    hash_index_free(&index);
    return true;
}

bool shotgun_fuses(const struct shotgun_code *copy, const struct machine *machine, uint32_t insn) {
    uint32_t next = copy->flows[insn].next;
    return machine->core.fuse_compare_branch && next != CODE_UNKNOWN &&
           may_fuse(&copy->code, insn, next);
}

/* ---- legal signatures ---- */

bool shotgun_illegal(const struct shotgun_code *copy, uint32_t number, unsigned signature) {
    const struct static_insn *insn = &copy->code.insns[number];
    bool loads = false, stores = false;
    for (uint32_t i = 0; i < insn->uop_count; i++) {
        loads |= copy->code.uops[insn->first_uop + i].operation == OP_LOAD;
        stores |= copy->code.uops[insn->first_uop + i].operation == OP_STORE;
    }
    if (signature & SIGNATURE_1)
        return !loads && !stores && insn->branch == BRANCH_NONE;
    bool always =
        loads || stores || (insn->branch != BRANCH_NONE && insn->branch != BRANCH_CONDITIONAL);
    return always && !(loads && signature & SIGNATURE_2);
}

/* ---- µops on a machine ---- */

static uint32_t flags_of(const struct machine *machine, const struct static_insn *insn,
                         const struct uop *uop, bool first) {
    bool last = uop->flags & UOP_LAST;
    uint32_t flags = (first ? GRAPH_FIRST : 0) | (last ? GRAPH_LAST : 0);
    if (first && insn->flags & INSN_FENCE_STORE)
        flags |= GRAPH_WAITS_HEAD;
    if (last && machine_insn_flags(&machine->core, insn->operation, insn->flags, insn->is_cpuid) &
                    (INSN_SYSCALL | INSN_FLUSHING))
        flags |= GRAPH_FLUSHES;
    if (eliminates(&machine->core, insn, uop) != NOT_ELIMINATED)
        flags |= GRAPH_ELIMINATED;
    return flags;
}

/* The category of its execution, which takes so long (graph/build.c). */
static uint32_t category_of(const struct uop *uop, uint32_t latency, uint32_t flags) {
    if (uop->operation == OP_LOAD)
        return GRAPH_LOAD;
    if (uop->operation == OP_STORE)
        return GRAPH_STORE;
    if (uop->operation == OP_SYSTEM || uop->operation == OP_CLOCK || flags & GRAPH_ELIMINATED)
        return 0;
    bool integer = uop->operation == OP_INT_ALU || uop->operation == OP_BRANCH;
    return integer && latency <= 1 ? GRAPH_SHORT : GRAPH_LONG;
}

static unsigned traits_of(const struct machine *machine, enum isa isa,
                          const struct static_insn *insn, const struct uop *uop, uint32_t flags) {
    unsigned traits = 0;
    if (flags & GRAPH_FIRST && insn->flags & INSN_SERIALISING)
        traits |= TRAIT_SERIAL;
    if (flags & GRAPH_LAST && insn->flags & INSN_SERIALISING)
        traits |= TRAIT_SERIAL_END;
    if (flags & GRAPH_LAST && insn->flags & INSN_FENCE_LOAD)
        traits |= TRAIT_HOLDS_LOADS;
    for (uint32_t i = 0; i < uop->destination_count && !(flags & GRAPH_ELIMINATED); i++)
        traits |= machine_flag_register(&machine->core, isa, uop->destination[i])
                      ? TRAIT_FLAG_REGISTER
                  : register_is_fp(uop->destination[i]) ? TRAIT_FP_REGISTER
                                                        : TRAIT_INT_REGISTER;
    return traits;
}

struct static_uop shotgun_static_uop(const struct shotgun_code *copy, const struct machine *machine,
                                     uint32_t number, uint32_t uop_index) {
    const struct static_insn *insn = &copy->code.insns[number];
    const struct uop *uop = &copy->code.uops[insn->first_uop + uop_index];
    const struct machine_class *class = &machine->classes[uop->operation];
    uint32_t flags = flags_of(machine, insn, uop, uop_index == 0);
    const struct machine_form *form = uop_timing_form(machine, insn);
    const struct uop_timing timing =
        uop_timing(machine, form, insn, &copy->code.uops[insn->first_uop], uop_index);
    flags |= category_of(uop, timing.latency, flags);
    if (shares_place(&machine->core, &copy->code.uops[insn->first_uop], uop_index))
        flags |= GRAPH_SHARES;
    return (struct static_uop){
        .graph = {.insn = number,
                  .flags = flags,
                  .operation = uop->operation,
                  .pool = (uint8_t) class->pool,
                  .execution = timing.latency < GRAPH_FAR ? (uint16_t)timing.latency : GRAPH_FAR},
        .traits = traits_of(machine, copy->code.isa, insn, uop, flags),
        .copy = eliminates(&machine->core, insn, uop) == OTHER_NAME};
}

unsigned shotgun_compare_traits(const struct shotgun_code *copy, const struct machine *machine,
                                uint32_t number) {
    const struct static_insn *insn = &copy->code.insns[number];
    const uint32_t last = insn->first_uop + insn->uop_count - 1u;
    return traits_of(machine, copy->code.isa, insn, &copy->code.uops[last], GRAPH_LAST);
}
