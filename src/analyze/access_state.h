/* Inside of this room: what registers hold, and the slots of the stack that they were spilled to,
 * at one place of a procedure. */
#pragma once

#include "analyze/access_value.h"

enum { ACCESS_REGISTERS = 32, ACCESS_SLOTS = 24 };

struct slot {
    int64_t offset;     /* behind the canonical frame address */
    struct value value; /* unset: the slot is free */
};

struct state {
    struct value registers[ACCESS_REGISTERS];
    struct slot slots[ACCESS_SLOTS];
};

/* The origin of what an instruction makes, or of what ways that meet at a block leave, in a
 * register. */
enum { AT_INSN = 0, AT_BLOCK = 1 };
static inline uint32_t origin_of(uint32_t number, bool at_block, unsigned reg) {
    return 1 + ((number * 2 + at_block) * ACCESS_REGISTERS | (reg & (ACCESS_REGISTERS - 1)));
}

/* NULL: nothing was spilled there. */
const struct slot *state_slot(const struct state *state, int64_t offset);
/* Forgotten where there are as many already. */
void state_spill(struct state *state, int64_t offset, const struct value *value);

/* One more way to the head of a block, whose state takes in what comes by it. True: it changed.
 * `forced`: see value_meet(). */
bool state_meet(struct types *types, struct state *state, uint32_t block, const struct state *from,
                bool forced);
