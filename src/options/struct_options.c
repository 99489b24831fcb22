#include "options/struct_options.h"

#include <string.h>

#define REQUEST struct struct_wish
static const struct option_row OPTIONS[] = {
    TEXT("fields", "TYPE", type,
         "The map of a struct, its fields by line of 64 bytes with what they cost and which are "
         "accessed together, and what it would save to reorder or split it, simulated; without "
         "a name, of the one with most cycles of misses",
         .group = 13 /* "Which data:", of path_options.c */, .optional = true, GIVEN(given)),
    {0}};
#undef REQUEST

const struct option_group struct_group = {.options = OPTIONS};

void structs_check(struct argp_state *state, const struct struct_wish *wish,
                   const struct input_options *input) {
    if (!wish->given || !input->trace)
        return;
    if (!strcmp(input->trace, "-"))
        options_fail(state, "--fields: a trace that is read again must be in a file");
    if (input->skip || input->limit || input->from || input->thread >= 0)
        options_fail(state, "--fields: it is about a whole trace (without --skip, --limit, --from "
                            "and --thread)");
}
