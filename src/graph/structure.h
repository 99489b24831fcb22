/* The edges whose distances follow from program order and the machine alone: which µop is so many
 * instructions, taken branches, loads, stores or register writers back (graph/edges.def: FBW, FT,
 * CQ, CS). */
#pragma once

#include "graph/graph.h"

/* What a µop's life record says of it beyond its flags. */
enum graph_traits {
    TRAIT_INT_REGISTER = LIFE_INT_REGISTER, /* holds one until it commits */
    TRAIT_FP_REGISTER = LIFE_FP_REGISTER,
    TRAIT_FLAG_REGISTER = LIFE_FLAG_REGISTER,
    TRAIT_SERIAL = LIFE_SERIAL,          /* dispatches into an empty window only */
    TRAIT_SERIAL_END = LIFE_SERIAL_END,  /* nothing dispatches until it has committed */
    TRAIT_HOLDS_LOADS = LIFE_HOLDS_LOADS /* no later load dispatches until it has committed */
};

struct graph_structure;
/* NULL: out of memory. */
struct graph_structure *graph_structure_new(const struct machine *machine, enum isa isa);
void graph_structure_free(struct graph_structure *structure);

/* The next µop is the first of a graph. */
void graph_structure_begin(struct graph_structure *structure);

/* The next µop, whose flags say what it is: sets fetch_width, fetch_taken, load_entry, store_entry,
 * int_register, fp_register and serial. `traits`: enum graph_traits; other bits do not
 * matter. */
void graph_structure_add(struct graph_structure *structure, struct graph_uop *uop, unsigned traits);

/* The distance from the µop added last, a load, to the store that is so many stores back. */
uint16_t graph_structure_store(const struct graph_structure *structure, uint32_t stores_back);
