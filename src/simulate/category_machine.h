/* Categories of a user's own as changes of the machine that is simulated, where there is one: what
 * is taken away of all parts of a standard category, translation, and operations. */
#pragma once

#include "graph/category.h"
#include "machine/machine.h"

/* Whether each can be simulated; else an error that says which cannot. */
bool category_machine_knows(const struct categories *categories, struct error *error);

/* Changes `machine` as the categories of `set` say, all of which it must know; *ideal: enum ideal,
 * to be added to what is idealised. */
void category_machine_apply(const struct categories *categories, uint32_t set,
                            struct machine *machine, uint32_t *ideal);
