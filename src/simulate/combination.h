/* Simulations of regions, each standing for a number of the whole run's instructions, as one
 * simulation of the whole run (PinPoints §2.1: each point's statistics times its weight).
 *
 * Everything is scaled: instructions, cycles, states, events counted, cells and executions. Scaled
 * figures are whole numbers again that keep every identity of a simulation exactly: states sum to
 * cycles, cells to cycles × CYCLE_UNITS, executions to instructions, threads to both. Parts of a
 * sum are rounded so that each running total is right to less than one (its fraction is passed on
 * to the next part), what is no sum of parts to the nearest. */
#pragma once

#include "simulate/simulate.h"

/* Makes it stand for `instructions` in place of those simulated. The same number: nothing changes.
 * It must hold neither sampled windows, profiles nor slices. Fails without instructions. */
bool simulation_scale(struct simulation *simulation, uint64_t instructions, struct error *error);

struct code_union;
struct combination;
struct combination *combination_new(void);
void combination_free(struct combination *combination);

/* Scales `part` to `instructions` and adds it, as of one thread. numbers[i]: what its instruction i
 * is called in the combination, whose code is `code`; its call paths and objects are so already.
 * Any order of adding gives the same sums. Sums over 2^64 units are refused. */
bool combination_add(struct combination *combination, struct simulation *part,
                     const uint32_t *numbers, const struct code *code, uint32_t process,
                     uint32_t thread, uint64_t instructions, struct error *error);

/* The sum, scaled to `instructions` (when parts are missing it stands for the whole run all the
 * same). order[i]: what instruction i of the combination, whose code has been sorted, is called
 * now, one to one. The caller calls simulation_free either way. */
bool combination_finish(struct combination *combination, uint64_t instructions,
                        const struct code_union *code, const uint32_t *order,
                        struct simulation *result, struct error *error);
