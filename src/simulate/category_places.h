/* Which static instructions the categories with places are about: found while the code becomes
 * known, before any of it is simulated.
 *
 * A place is a function, by its name with or without its parameters, inlined ones included, or,
 * where none is called just that, by the end of its name (program/function_name.h); a
 * source line, FILE:LINE, with as many of the last folders of FILE as wanted; or an address or a
 * range of them, 0x401000 or 0x401000-0x401020, as the instructions were first executed at. */
#pragma once

#include <signal.h>

#include "graph/category.h"
#include "simulate/simulate.h"
#include "trace/trace.h"

struct category_places;
/* `texts[i]`: the places of category i, separated by commas; NULL: it is about all instructions.
 * Both must outlive it; what sets of instructions held before is forgotten. NULL with an error. */
struct category_places *category_places_new(struct categories *categories, const char *const *texts,
                                            struct error *error);
struct simulation_observer category_places_observer(struct category_places *places);
/* Instead of an observer: all code of a trace, which is read to its end. False with an error. */
bool category_places_read(struct category_places *places, struct trace *trace,
                          const volatile sig_atomic_t *stop, struct error *error);

/* To be called once all code is known. False, with an error: there is nothing to measure, as all
 * categories have places and no instruction is at any. */
bool category_places_met(const struct category_places *places, struct error *error);
/* A line for each place where no instruction is, with functions that may be meant, and for each
 * that is only the end of the names of functions. False when `tell` once was. */
bool category_places_tell(const struct category_places *places,
                          bool (*tell)(void *context, const char *text), void *context);
void category_places_free(struct category_places *places);
