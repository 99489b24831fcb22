/* --fields: the map of a struct, and what it would save to lay it out anew. */
#pragma once

#include "options/options.h"
#include "study/struct_advice.h"

extern const struct option_group struct_group; /* of a struct struct_wish */

/* Fails where only a part of a trace file is asked for, as all of it is read. */
void structs_check(struct argp_state *state, const struct struct_wish *wish,
                   const struct input_options *input);
