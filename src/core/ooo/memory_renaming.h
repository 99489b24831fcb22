/* Memory renaming (Tyson and Austin 1997): a load whose address has the same registers as that of
 * a store a little before it, none of which has been written since, and the same displacement,
 * reads what that stored. Rename knows the three and makes the load's destination another name for
 * what was stored: who reads it waits for that, not for the load, which still executes, to confirm
 * it.
 *
 * As Zen 5 has it, by measurement (docs/results/host-blocks.md): the last stores of integers are
 * remembered; between store and load the stack pointer may be moved by push, pop, call, return and
 * additions of constants, other registers not at all; what has no register in its address is not
 * remembered; nor does a load get another name that extends 1 or 2 bytes, or a sign, or that writes
 * a register of its address. That displacements are the same shows in the addresses, as the
 * registers are. A store between the two to the same address by other registers, which the
 * processor finds out late, is known here in time: the load is an ordinary one.
 *
 * Where the registers differ, a load may be predicted to read from the store that lies as many
 * stores before it as the last time (predictive store forwarding): as Zen 4 has it, by measurement,
 * of the 24 loads that were predicted or found last, and Golden Cove of more than a thousand. A
 * prediction that would be wrong is none here. */
#pragma once

#include "core/ooo/loads_stores.h"
#include "util/array.h"

/* movsx and movsxd, behind a prefix of operand size or REX. */
static inline bool extends_sign(const struct static_insn *insn) {
    enum { OPERAND_SIZE = 0x66, REX = 0x40, MOVSXD = 0x63, TWO_BYTES = 0x0f, MOVSX = 0xbe };
    const uint8_t *code = insn->bytes;
    code += *code == OPERAND_SIZE;
    code += (*code & 0xf0) == REX;
    return !insn->described && (*code == MOVSXD || (*code == TWO_BYTES && (code[1] & ~1) == MOVSX));
}

/* Whether a load or store may take part, but for the registers of its address. */
static inline bool may_rename(const struct static_insn *insn, const struct uop *uop) {
    if (insn->flags & INSN_PREFETCH)
        return false;
    if (uop->operation == OP_STORE)
        return uop->data == REG_NONE || !register_is_fp(uop->data);
    return uop->operation == OP_LOAD && uop->destination_count == 1 &&
           !register_is_fp(uop->destination[0]) && !extends_sign(insn) &&
           !any_where(i, uop->source_count, uop->source[i] == uop->destination[0]);
}

/* The µop writes its destinations, but for one that it adds a constant to. */
STAGE void note_change(struct ooo *core, const struct prepared_uop *operands, uint32_t flags,
                       uint64_t at) {
    const uint32_t count = flags & U_MANY ? UOP_MAX_DESTINATIONS : 2;
    for (uint32_t i = 0; i < count; i++)
        if (operands->destination[i] != operands->steps)
            core->registers.changed[operands->destination[i]] = at + 1;
}

STAGE void remember_store(struct ooo *core, struct standing *now, uint64_t at,
                          const struct stream_uop *stream) {
    const struct prepared_uop *operands = stream->operands;
    const struct registers *registers = &core->registers;
    core->remembered[now->remembered++ % REMEMBERED_STORES] =
        (struct remembered_store){.number = now->stores,
                                  .uop = at,
                                  .address = stream->address,
                                  .wake = registers->wake[operands->data],
                                  .writer = registers->writer[operands->data],
                                  .issue = registers->issue[operands->data],
                                  .base = operands->source[0],
                                  .index = operands->source[1]};
}

/* The store that the load's destination is another name for, of those that it could read from:
 * `met` covers it, and the load is renamed in this cycle. NULL: none. Lives look for stores further
 * back than the queue has entries. */
static inline const struct remembered_store *renames(struct ooo *core, const struct standing *now,
                                                     const struct stream_uop *load, uint32_t flags,
                                                     uint64_t cycle, const struct store_met *met) {
    const struct prepared_uop *operands = load->operands;
    const uint64_t *changed = core->registers.changed;
    const uint64_t known = lesser(now->remembered, core->machine.memory_renaming);
    const bool extends = flags & U_LAST && load->size_bytes < 4 &&
                         !(core->machine.renaming_bytes && load->size_bytes == 1);
    if (met->number == UNKNOWN || !met->covers || extends ||
        now->stores - met->number > core->machine.store_queue ||
        (core->machine.renaming_queue && !in_queue(core, met->number, cycle)))
        return NULL;
    for (uint64_t back = 1; back <= known; back++) {
        const struct remembered_store *store =
            &core->remembered[(now->remembered - back) % REMEMBERED_STORES];
        if (store->number != met->number)
            continue;
        if (store->address != load->address)
            return NULL;
        if (store->base == operands->source[0] && store->index == operands->source[1] &&
            changed[store->base] <= store->uop && changed[store->index] <= store->uop)
            return store;
        return core->machine.predicted_forwards &&
                       predicts_forward(core, load->insn, (uint32_t)(now->stores - store->number))
                   ? store
                   : NULL;
    }
    return NULL;
}
