/* Which static instructions the categories with places are about: found while the code becomes
 * known, before any of it is simulated.
 *
 * A place is a function, by its name with or without its parameters, inlined ones included; a
 * source line, FILE:LINE, with as many of the last folders of FILE as wanted; or an address or a
 * range of them, 0x401000 or 0x401000-0x401020, as the instructions were first executed at. */
#ifndef CULPRIT_SIMULATE_CATEGORY_PLACES_H
#define CULPRIT_SIMULATE_CATEGORY_PLACES_H

#include "graph/category.h"
#include "simulate/simulate.h"

struct category_places;
/* `texts[i]`: the places of category i, separated by commas; NULL: it is about all instructions.
 * Both must outlive it; what sets of instructions held before is forgotten. NULL with an error. */
struct category_places *category_places_new(struct categories *categories, const char *const *texts,
                                            struct error *error);
struct simulation_observer category_places_observer(struct category_places *places);
/* After the simulation: false, with an error, when no instruction is at one of the places. */
bool category_places_met(const struct category_places *places, struct error *error);
void category_places_free(struct category_places *places);

#endif
