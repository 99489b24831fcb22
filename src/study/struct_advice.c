#include "study/struct_advice.h"

#include <string.h>

/* An advice takes at most so many instructions more, and no struct whose misses are fewer. */
enum { ADVISED_INSTRUCTIONS = 60000000 };
static const double ADVISED_LEAST = 0.03;

void struct_advice_prepare(const struct struct_wish *wish, struct simulated_run *study) {
    study->again = wish->given;
    study->keeps = !wish->given && study->forecasts;
}

static bool is_asked_for(const struct struct_wish *wish, const struct simulated_run *study) {
    const struct input_options *input = study->input;
    const bool whole = input->command || !(input->skip || input->limit || input->from ||
                                           input->thread >= 0 || !strcmp(input->trace, "-"));
    return wish->given ||
           (study->forecasts && whole && simulated_run_file(study) && !study->options.together &&
            study->simulation.executed <= ADVISED_INSTRUCTIONS);
}

bool struct_advice_go(const struct struct_wish *wish, struct simulated_run *study,
                      struct program *program, struct struct_run *structs, struct error *error) {
    if (!is_asked_for(wish, study))
        return true;
    *structs = (struct struct_run){.watch = study->watch,
                                   .file = simulated_run_file(study),
                                   .type = wish->type,
                                   .simulation = &study->simulation,
                                   .options = &study->options,
                                   .code = trace_code(study->trace),
                                   .program = program,
                                   .least = wish->given ? 0 : ADVISED_LEAST,
                                   .most = wish->given ? 0 : ADVISED_INSTRUCTIONS};
    bool good = true;
    if (study->simulation.interrupted || study->watch->signal)
        structs->interrupted = true;
    else
        good = struct_run_go(structs, error);
    if (!wish->given)
        simulated_run_drop(study);
    return good || !wish->given; /* without an advice there is a report all the same */
}
