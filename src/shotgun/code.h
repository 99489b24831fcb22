/* The program's binary as a shotgun profiler reads it: what software knows of an instruction on a
 * machine without measuring it (interaction-cost paper Table V, marked S). It is a copy of the
 * trace's code, which outlives the trace. */
#pragma once

#include <assert.h>

#include "graph/structure.h"
#include "machine/machine.h"
#include "trace/dynamic.h"
#include "util/error.h"

enum { CODE_UNKNOWN = UINT32_MAX };

/* Where control may go from an instruction; CODE_UNKNOWN: to code that is not known, or nowhere. */
struct shotgun_flow {
    uint32_t next;   /* falls through to */
    uint32_t target; /* direct branch: taken to */
    uint32_t before; /* the compare that ends where this branch begins, and fuses with it if the
                        machine fuses */
};

struct shotgun_code {
    struct code code; /* its arrays are this struct's; without images */
    size_t insn_capacity, uop_capacity;
    struct shotgun_flow *flows; /* after shotgun_code_link() */
};

void shotgun_code_free(struct shotgun_code *copy);

/* Copies what is new. */
bool shotgun_code_learn(struct shotgun_code *copy, const struct code *code, struct error *error);

/* Finds the flows. Instructions are known by image and offset. */
bool shotgun_code_link(struct shotgun_code *copy, struct error *error);

static inline const struct static_insn *shotgun_insn(const struct shotgun_code *copy,
                                                     uint32_t insn) {
    const struct static_insn *found = &copy->code.insns[insn];
    assert(found->uop_count > 0);
    return found;
}

/* The instruction is a compare that fuses with the branch behind it on this machine. */
bool shotgun_fuses(const struct shotgun_code *copy, const struct machine *machine, uint32_t insn);

/* No execution of the instruction has these signature bits (§5.4.1): bit 1 without being a load,
 * store or branch; not bit 1 though it always branches or accesses memory, and no load of it missed
 * the L2, which would show in bit 2. */
bool shotgun_illegal(const struct shotgun_code *copy, uint32_t number, unsigned signature);

/* The static part of a µop on this machine: its flags, operation, pool and default latencies, no
 * distances. */
struct static_uop {
    struct graph_uop graph;
    unsigned traits; /* enum graph_traits */
    bool copy;       /* renaming makes its destinations other names for its source */
};
struct static_uop shotgun_static_uop(const struct shotgun_code *copy, const struct machine *machine,
                                     uint32_t number, uint32_t uop_index);

/* What a compare that fuses brings into the branch: enum graph_traits of its last µop, which
 * executes there also if it is an addition that renaming would else do. */
unsigned shotgun_compare_traits(const struct shotgun_code *copy, const struct machine *machine,
                                uint32_t number);
