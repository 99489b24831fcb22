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

/* An advice takes at most so many instructions more, and no struct whose misses are fewer. */
enum { ADVISED_INSTRUCTIONS = 60000000 };
static const double ADVISED_LEAST = 0.03;

void structs_prepare(const struct struct_options *options, struct simulated_run *study) {
    study->again = options->given;
    study->keeps = !options->given && study->forecasts;
}

static bool is_asked_for(const struct struct_options *options, const struct simulated_run *study) {
    const struct input_options *input = study->input;
    const bool whole = input->command || !(input->skip || input->limit || input->from ||
                                           input->thread >= 0 || !strcmp(input->trace, "-"));
    return options->given ||
           (study->forecasts && whole && simulated_run_file(study) && !study->options.together &&
            study->simulation.executed <= ADVISED_INSTRUCTIONS);
}

bool structs_run(const struct struct_options *options, struct simulated_run *study,
                 struct program *program, struct struct_run *structs, struct error *error) {
    if (!is_asked_for(options, study))
        return true;
    *structs = (struct struct_run){.watch = study->watch,
                                   .file = simulated_run_file(study),
                                   .type = options->type,
                                   .simulation = &study->simulation,
                                   .options = &study->options,
                                   .code = trace_code(study->trace),
                                   .program = program,
                                   .least = options->given ? 0 : ADVISED_LEAST,
                                   .most = options->given ? 0 : ADVISED_INSTRUCTIONS};
    bool good = true;
    if (study->simulation.interrupted || study->watch->signal)
        structs->interrupted = true;
    else
        good = struct_run_go(structs, error);
    if (!options->given)
        simulated_run_drop(study);
    return good || !options->given; /* without an advice there is a report all the same */
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
