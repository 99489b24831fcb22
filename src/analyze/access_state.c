#include "analyze/access_state.h"

const struct slot *state_slot(const struct state *state, int64_t offset) {
    for (unsigned i = 0; i < ACCESS_SLOTS; i++)
        if (state->slots[i].value.kind != VALUE_UNSET && state->slots[i].offset == offset)
            return &state->slots[i];
    return NULL;
}

void state_spill(struct state *state, int64_t offset, const struct value *value) {
    struct slot *slot = (struct slot *)state_slot(state, offset);
    for (unsigned i = 0; !slot && i < ACCESS_SLOTS; i++)
        if (state->slots[i].value.kind == VALUE_UNSET)
            slot = &state->slots[i];
    if (slot)
        *slot = (struct slot){offset, *value};
}

static struct value keep_origin(struct value value, const struct value *from) {
    value.origin = from->origin;
    value.behind = from->behind;
    return value;
}

static bool is_unchanged(const struct value *met, const struct value *here) {
    return value_is_same(met, here) && value_is_copy(met, here);
}

static bool meet_register(struct types *types, struct value *here, const struct value *there,
                          uint32_t origin, bool forced) {
    struct value met = value_meet(types, here, there, forced);
    if (here->kind != VALUE_UNSET && there->kind != VALUE_UNSET)
        met = value_is_copy(here, there) ? keep_origin(met, here) : value_as(met, origin);
    const bool changed = !is_unchanged(&met, here);
    *here = met;
    return changed;
}

static bool meet_slot(struct types *types, struct state *state, const struct slot *slot,
                      bool forced) {
    const struct slot *here = state_slot(state, slot->offset);
    struct value met = here ? value_meet(types, &here->value, &slot->value, forced) : slot->value;
    if (here)
        met = value_is_copy(&here->value, &slot->value) ? keep_origin(met, &here->value)
                                                        : value_as(met, 0);
    if (here ? is_unchanged(&met, &here->value) : forced)
        return false;
    state_spill(state, slot->offset, &met);
    return state_slot(state, slot->offset) != NULL;
}

bool state_meet(struct types *types, struct state *state, uint32_t block, const struct state *from,
                bool forced) {
    bool changed = false;
    for (unsigned i = 0; i < ACCESS_REGISTERS; i++)
        changed |= meet_register(types, &state->registers[i], &from->registers[i],
                                 origin_of(block, AT_BLOCK, i), forced);
    for (unsigned i = 0; i < ACCESS_SLOTS; i++)
        if (from->slots[i].value.kind != VALUE_UNSET)
            changed |= meet_slot(types, state, &from->slots[i], forced);
    return changed;
}
