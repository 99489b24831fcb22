/* What an instruction computes and moves, for rooflines (Williams, Waterman and Patterson 2009;
 * with bytes as the core asks for them, the cache-aware one of Ilic, Pratas and Sousa 2014). A pure
 * function of its arguments, safe on any bytes. */
#pragma once

#include "isa/insn.h"

/* Of one execution, or of one element of a repeated string instruction. */
struct insn_work {
    uint32_t fp;             /* additions, multiplications, divisions and roots, of every lane; a
                                fused multiply-add is two */
    uint32_t integer;        /* additions, logic, shifts, compares, multiplications, divisions, of
                                every lane; of addresses only where an instruction computes one */
    uint32_t loaded, stored; /* bytes */
    uint32_t lanes;          /* in which it computes; 0: it does not */
};

/* False: no instruction. */
bool insn_work_of(enum isa isa, const uint8_t *bytes, size_t size, struct insn_work *work);
