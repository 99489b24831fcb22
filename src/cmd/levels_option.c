/* The option of verbs that simulate about where slots of dispatch go. */
#include "attribute/top_down.h"
#include "cmd/run.h"

#define REQUEST struct run
static const struct option_row OPTIONS[] = {
    HEADING(9, "Where slots go:"),
    FLAG("levels", levels_asked,
         "Top-down levels: each slot of dispatch is Retiring, Bad Speculation, Frontend Bound or "
         "Backend Bound, and what of these; with --by function, line, instruction, image or loop"),
    {0}};
#undef REQUEST

const struct option_group levels_group = {.options = OPTIONS};

void run_check_levels(struct run *run, const struct argp_state *state) {
    const enum report_by by = run->verb.output.by;
    if (!run->levels_asked)
        return;
    if (by == BY_PATH || by == BY_FIELD || by == BY_OBJECT)
        options_fail(state,
                     "--levels: they are told by function, line, instruction, image or loop");
    if (path_options_any(&run->path_options) || run->struct_options.given ||
        path_options_data(&run->path_options, by))
        options_fail(state, "--levels: it takes the place of --tree, --callers, --folded, --data, "
                            "--fields and --python");
    run->path_options.no_python = true;
}

bool run_may_have_levels(const struct run *run, const struct machine *machine,
                         struct error *error) {
    const char *missing = top_down_missing(machine, run->machine.ideal);
    return !run->levels_asked || !missing || error_set(error, "--levels: %s", missing);
}
