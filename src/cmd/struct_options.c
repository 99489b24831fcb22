#include "cmd/struct_options.h"

#include <string.h>

#define REQUEST struct struct_options
static const struct option_row OPTIONS[] = {
    TEXT("fields", "TYPE", type,
         "The map of a struct, its fields by line of 64 bytes with what they cost and which are "
         "accessed together, and what it would save to reorder or split it, simulated; without "
         "a name, of the one with most cycles of misses",
         .group = 13 /* "Which data:", of path_options.c */, .optional = true, GIVEN(given)),
    {0}};
#undef REQUEST

const struct option_group struct_group = {.options = OPTIONS};

void structs_prepare(const struct struct_options *options, struct simulated_run *study) {
    study->again = options->given;
}

bool structs_run(const struct struct_options *options, const struct simulated_run *study,
                 struct program *program, struct struct_run *structs, struct error *error) {
    if (!options->given)
        return true;
    *structs = (struct struct_run){.watch = study->watch,
                                   .file = simulated_run_file(study),
                                   .type = options->type,
                                   .simulation = &study->simulation,
                                   .options = &study->options,
                                   .code = trace_code(study->trace),
                                   .program = program};
    if (study->simulation.interrupted || study->watch->signal) {
        structs->interrupted = true;
        return true;
    }
    return struct_run_go(structs, error);
}

void structs_check(struct argp_state *state, const struct struct_options *options,
                   const struct input_options *input) {
    if (!options->given || !input->trace)
        return;
    if (!strcmp(input->trace, "-"))
        options_fail(state, "--fields: a trace that is read again must be in a file");
    if (input->skip || input->limit || input->from || input->thread >= 0)
        options_fail(state, "--fields: it is about a whole trace (without --skip, --limit, --from "
                            "and --thread)");
}
