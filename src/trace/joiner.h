/* Joins the pieces in which wide accesses arrive, and matches accesses with operands. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "trace/code.h"

enum {
    JOINER_PIECE_BYTES = 1u << 31, /* at which the access of a rep instruction is split */
    JOINER_UNMATCHED = 255         /* operand of an access that the instruction does not have */
};

struct joiner {
    struct memory_access *first, *end, *limit;
    const struct insn_operands *operands;
    uint32_t index;      /* of the instruction in the block; CODE_NONE before the first */
    uint8_t cursor[2];   /* next operand to try, loads and stores */
    bool rep;            /* inside MARK_REP */
    bool open;           /* end[-1] may grow */
    uint64_t base, size; /* extent of the operand of end[-1]; size 0: not known */
};

/* The events that follow are of another instruction of the block. */
void joiner_start_insn(struct joiner *joiner, uint32_t index, const struct insn_operands *operands);

/* Takes a load or store event: a new access, more of the last one, or no room before `limit`. */
enum join { JOIN_NEW, JOIN_PIECE, JOIN_FULL };
enum join joiner_add(struct joiner *joiner, uint64_t event);

/* Gives the last access the extent of all elements of a rep instruction (MARK_SPAN). False: no
 * room. */
bool joiner_span(struct joiner *joiner, uint64_t payload);
