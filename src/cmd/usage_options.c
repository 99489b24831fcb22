/* Options of verbs that simulate about how well the machine is used: where slots of dispatch go,
 * and how near loops come to what it allows. */
#include "attribute/top_down.h"
#include "cmd/run.h"

#define REQUEST struct run
static const struct option_row OPTIONS[] = {
    HEADING(9, "How well the machine is used:"),
    FLAG("levels", levels_asked,
         "Top-down levels: each slot of dispatch is Retiring, Bad Speculation, Frontend Bound or "
         "Backend Bound, and what of these; with --by function, line, instruction, image or loop"),
    WRITTEN_FILE(
        "roofline", "FILE", roofline_path,
        "Draw the operations of each loop a second, by those it has for a byte, below what "
        "the machine allows, as SVG; also as a table",
        .not_again = true),
    {0}};
#undef REQUEST

const struct option_group machine_usage_group = {.options = OPTIONS};

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

bool run_open_roofline(struct run *run, struct error *error) {
    return !run->roofline_path ||
           output_open(&run->roofline_file, "--roofline", run->roofline_path, NULL, error);
}

bool run_build_roofline(struct run *run, const struct simulation *simulation,
                        const struct code *code, struct error *error) {
    if (!run->roofline_path)
        return true;
    run->report.roofline = &run->roofline;
    return roofline_build(simulation, code, run->program, run->study.options.machine,
                          &run->roofline, error);
}

bool run_draw_roofline(struct run *run, struct error *error) {
    if (!run->roofline_path)
        return true;
    roofline_svg(&run->roofline, run->report.program, run->roofline_file.file);
    return output_close(&run->roofline_file, error);
}

void run_free_roofline(struct run *run) {
    roofline_free(&run->roofline);
    output_discard(&run->roofline_file);
}
