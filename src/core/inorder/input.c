/* From dynamic instructions to µops in the ring, in program order: branches are predicted, and a
 * memory operand becomes one µop for each access, of at most PIECE_BYTES. The last instruction of
 * the input waits for its successor, which tells where its branch went. */
#include <string.h>

#include "core/inorder/inorder.h"
#include "util/array.h"

enum { PIECE_BYTES = 64 };

struct accesses {
    const struct memory_access *items; /* the instruction's */
    uint32_t count;
};

static bool make_room(struct inorder *core, struct error *error) {
    return core->end - core->head < INPUT_UOPS || inorder_run(core, false, error);
}

static uint32_t insn_flags(const struct machine_core *core, const struct static_insn *insn,
                           const struct uop *uop, bool first) {
    bool last = uop->flags & UOP_LAST;
    uint16_t traits = machine_insn_flags(core, insn->operation, insn->flags, insn->is_cpuid);
    uint32_t flags = (last ? I_LAST : 0) | (first ? I_FIRST : 0);
    if (uop->operation == OP_LOAD)
        flags |= I_LOAD;
    if (uop->operation == OP_STORE)
        flags |= I_STORE;
    if (uop->flags & UOP_BRANCH)
        flags |= I_BRANCH;
    if (last && traits & INSN_SYSCALL)
        flags |= I_FLUSH | I_SYSCALL;
    if (last && insn->flags & INSN_FLUSHING)
        flags |= I_FLUSH;
    if (first && insn->flags & INSN_SERIALISING)
        flags |= I_SERIAL;
    if (first && insn->flags & INSN_FENCE_STORE)
        flags |= I_WAIT_STORES;
    if (insn->flags & INSN_PREFETCH)
        flags |= I_PREFETCH;
    return flags;
}

static struct inorder_uop *put(struct inorder *core, uint32_t number,
                               const struct static_insn *insn, const struct uop *uop,
                               uint32_t flags) {
    struct inorder_uop *to = uop_at(core, core->end++);
    *to = (struct inorder_uop){.pc = insn->address,
                               .insn = number,
                               .flags = (uint16_t)flags,
                               .operation = uop->operation,
                               .length = insn->length};
    for (uint32_t i = 0; i < UOP_MAX_SOURCES; i++)
        to->source[i] = i < uop->source_count ? uop->source[i] : NOTHING_READ;
    to->source[UOP_MAX_SOURCES] =
        uop->operation == OP_STORE && uop->data != REG_NONE ? uop->data : NOTHING_READ;
    for (uint32_t i = 0; i < UOP_MAX_DESTINATIONS; i++)
        to->destination[i] = i < uop->destination_count ? uop->destination[i] : NOTHING_WRITTEN;
    return to;
}

/* One µop for each piece of each access of the operand: a load or a store, as the operand is.
 * Without accesses, one µop that accesses nothing. */
static bool put_memory(struct inorder *core, uint32_t number, const struct static_insn *insn,
                       const struct uop *uop, uint32_t flags, const struct accesses *accesses,
                       struct error *error) {
    struct inorder_uop *last = NULL;
    for (uint32_t i = 0; i < accesses->count; i++) {
        const struct memory_access *access = &accesses->items[i];
        if (access->operand != uop->memory || access->is_store != (uop->operation == OP_STORE))
            continue;
        for (uint64_t done = 0; done < access->size_bytes; done += PIECE_BYTES) {
            if (last) {
                if (last->flags & I_LAST)
                    last->flags = (last->flags & ~(uint16_t)I_LAST) | TAP_UOP_REPEATED;
                flags &= ~(uint32_t)(I_FIRST | I_SERIAL | I_WAIT_STORES);
            }
            if (!make_room(core, error))
                return false;
            uint64_t left = access->size_bytes - done;
            uint64_t size = left < PIECE_BYTES ? left : PIECE_BYTES;
            last = put(core, number, insn, uop, flags);
            last->size_bytes = (uint32_t)size;
            last->address =
                access->descending ? access->address + left - size : access->address + done;
        }
    }
    if (!last && make_room(core, error))
        last = put(core, number, insn, uop, flags);
    return last != NULL;
}

static uint32_t branch_flags(struct inorder *core, const struct static_insn *insn,
                             const struct dynamic_insn *dynamic, const struct dynamic_insn *next) {
    bool taken = dynamic->flags & DYN_TAKEN;
    uint32_t flags = taken ? I_TAKEN : 0;
    if (dynamic->flags & (DYN_SIGNAL | DYN_GAP))
        return flags; /* where it really went is not known */
    if (!next) {
        branch_await(core->learned.predictor, insn->address, insn->branch, insn->length, taken);
        return flags;
    }
    enum branch_outcome outcome =
        branch_predict(core->learned.predictor, insn->address, insn->branch, insn->length, taken,
                       core->code->insns[next->insn].address);
    if (core->ideal & IDEAL_BMISP)
        return flags;
    return flags | (outcome == PREDICTED_WRONG ? I_MISPREDICTED : 0) |
           (outcome == PREDICTED_LATE ? I_LATE : 0);
}

static bool take(struct inorder *core, const struct dynamic_insn *dynamic,
                 const struct memory_access *items, const struct dynamic_insn *next,
                 struct error *error) {
    const struct static_insn *insn = &core->code->insns[dynamic->insn];
    struct accesses accesses = {items, dynamic->memory_count};
    if (dynamic->flags & DYN_FAULT) /* did not complete: it leaves no trace but its handler */
        return true;
    for (uint32_t i = 0; i < insn->uop_count; i++) {
        const struct uop *uop = &core->code->uops[insn->first_uop + i];
        uint32_t flags = insn_flags(&core->machine.core, insn, uop, i == 0);
        if (flags & I_BRANCH)
            flags |= branch_flags(core, insn, dynamic, next);
        if (flags & I_LAST && dynamic->flags & DYN_SIGNAL)
            flags |= I_FLUSH;
        if (flags & (I_LOAD | I_STORE)) {
            if (!put_memory(core, dynamic->insn, insn, uop, flags, &accesses, error))
                return false;
        } else {
            if (!make_room(core, error))
                return false;
            put(core, dynamic->insn, insn, uop, flags);
        }
    }
    return true;
}

static bool take_waiting(struct inorder *core, const struct dynamic_insn *next,
                         struct error *error) {
    if (!core->is_waiting)
        return true;
    core->is_waiting = false;
    return take(core, &core->waiting, core->waiting_accesses, next, error);
}

static bool keep_waiting(struct inorder *core, const struct dynamic_insn *insn,
                         const struct memory_access *accesses, struct error *error) {
    if (!array_reserve((void **)&core->waiting_accesses, &core->waiting_capacity,
                       insn->memory_count, sizeof *core->waiting_accesses))
        return error_set(error, "out of memory for %u memory accesses", insn->memory_count);
    if (insn->memory_count)
        memcpy(core->waiting_accesses, accesses, insn->memory_count * sizeof *accesses);
    core->waiting = *insn;
    core->is_waiting = true;
    return true;
}

bool inorder_push(struct inorder *core, const struct core_input *input, struct error *error) {
    static const struct memory_access none;
    const struct dynamic_insn *insns = input->insns;
    if (input->insn_count == 0)
        return true;
    core->code = input->code;
    for (uint32_t i = 0; i < input->insn_count; i++)
        if (!core_input_is_there(core->code, &insns[i], input->access_count, input->first_access))
            return core_input_error(error);
    branch_follow(core->learned.predictor, core->code->insns[insns[0].insn].address);
    if (!take_waiting(core, insns, error))
        return false;
    for (uint32_t i = 0; i < input->insn_count; i++) {
        const struct memory_access *own =
            insns[i].memory_count ? input->accesses + (insns[i].memory - input->first_access)
                                  : &none;
        if (i + 1 == input->insn_count)
            return keep_waiting(core, &insns[i], own, error) && inorder_run(core, false, error);
        if (!take(core, &insns[i], own, &insns[i + 1], error))
            return false;
    }
    return true;
}

bool inorder_drain(struct inorder *core, struct error *error) {
    return core->code == NULL ||
           (take_waiting(core, NULL, error) && inorder_run(core, true, error));
}
