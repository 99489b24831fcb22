/* What an instruction does to the registers and units of an in-order core, as sets. */
#pragma once

#include "machine/machine.h"

/* Registers by number, and behind them the machine's pools of units that are not pipelined. */
enum { RESOURCE_POOL = REG_COUNT, RESOURCES = REG_COUNT + MACHINE_MAX_POOLS };
typedef unsigned __int128 resource_set;
static_assert(RESOURCES <= 128, "one bit each");

#define RESOURCE(number) ((resource_set)1 << (number))

/* The lowest of a set that is not empty. */
static inline unsigned resource_lowest(resource_set set) {
    uint64_t low = (uint64_t)set;
    return low ? (unsigned)__builtin_ctzll(low)
               : 64 + (unsigned)__builtin_ctzll((uint64_t)(set >> 64));
}
static inline unsigned resource_count(resource_set set) {
    return (unsigned)(__builtin_popcountll((uint64_t)set) +
                      __builtin_popcountll((uint64_t)(set >> 64)));
}

/* Pools that have a class of operations which holds its unit for more than a cycle. */
resource_set machine_busy_pools(const struct machine *machine);

struct effect {
    resource_set waits; /* named: it waits until they are there */
    resource_set loads; /* of registers: pending behind it, as it loads them */
    bool self;          /* it waits for what it loads itself */
};
struct effect effect_of(const struct insn *insn, const struct machine *machine,
                        resource_set busy_pools);

/* What calls leave in registers, by the conventions of the architecture. */
struct conventions {
    resource_set arguments; /* of a call, from the caller */
    resource_set results;   /* of a call, from the callee */
    resource_set kept;      /* by callees, which restore them */
    resource_set never;     /* come from a load: the stack pointer and the like */
};
struct conventions conventions_of(enum isa isa);
