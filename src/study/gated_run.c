/* A long run's cycles under each layout are estimated by the same regions, whose error they have in
 * common: what is taken of them is how they relate to those of layout 0, which is simulated in full
 * besides. */
#include "study/gated_run.h"

#include <math.h>

#include "util/text.h"

#define SAME_PART 4 /* of the limit: two runs that differ by less are taken for the same */

static bool check_exit(const struct gated_run *run, const struct trace_exit *exit,
                       struct error *error) {
    return !exit->known || !exit->status ||
           error_set(error, "%s: it ended with %s %d", run->command[0],
                     exit->signaled ? "signal" : "status", exit->status);
}

/* ---- in full ---- */

static bool begin(void *context, unsigned side, const struct simulated_run *simulated,
                  struct error *error) {
    const struct gated_run *run = context;
    return side || run->begin(run->context, simulated->options.machine, error);
}

static bool take(void *context, unsigned side, const struct simulated_run *simulated,
                 struct error *error) {
    struct gated_run *run = context;
    const struct trace *trace = simulated->trace;
    const struct trace_exit exit = simulated_run_exit(simulated);
    if (!check_exit(run, &exit, error))
        return false;
    if (!exit.known && !exit.stopped)
        return error_set(error, "%s: it did not come to its end", run->command[0]);
    run->seen[side] = layout_cycles_of(&simulated->simulation);
    run->first.limited |= simulated->input->limit || trace_is_cut(trace);
    return side || compared_run_take(&run->first, trace_command(trace), &simulated->simulation,
                                     trace_code(trace), simulated->options.machine, error);
}

/* The first run, or the second. */
static bool simulate(struct gated_run *run, unsigned side, struct error *error) {
    struct compare_run compare = {.watch = run->watch,
                                  .machines = run->machines,
                                  .threads = (struct together_request){TOGETHER_REGIONS},
                                  .ideal = run->options->ideal,
                                  .again = true,
                                  .begin = begin,
                                  .take = take,
                                  .context = run};
    compare.inputs[0] = compare.inputs[1] = run->options->input;
    compare.inputs[0].command = compare.inputs[1].command = NULL;
    compare.inputs[side].command = run->command;
    return compare_run_go(&compare, error);
}

/* ---- under layouts ---- */

static bool take_layout(void *context, const struct layout_result *result, struct error *error) {
    struct gated_run *run = context;
    if (!check_exit(run, &result->exit, error))
        return false;
    run->layouts[result->layout] = layout_cycles_of(result->simulation);
    return true;
}

static void relate(struct gated_run *run) {
    const double scale = (double)run->seen[0].cycles / (double)run->layouts[0].cycles;
    for (uint32_t i = 0; i < run->layout_count; i++) {
        run->layouts[i].cycles = (uint64_t)(scale * (double)run->layouts[i].cycles + 0.5);
        run->layouts[i].half_interval = 0;
    }
}

static bool lay_out(struct gated_run *run, struct error *error) {
    struct layouts_run layouts = {.watch = run->watch,
                                  .machines = run->machines,
                                  .inputs = {run->options->input},
                                  .input_count = 1,
                                  .count = run->layout_count,
                                  .jobs = run->jobs,
                                  .threads = (struct together_request){TOGETHER_REGIONS},
                                  .ideal = run->options->ideal,
                                  .over = input_is_part(&run->options->input) ? UINT64_MAX
                                                                              : EXPLAIN_OVER,
                                  .kept = EXPLAIN_KEPT,
                                  .warm_up = EXPLAIN_WARM_UP,
                                  .regions = EXPLAIN_REGIONS,
                                  .enough = true,
                                  .take = take_layout,
                                  .context = run};
    layouts.inputs[0].command = run->command;
    const bool good = layouts_run_go(&layouts, error);
    run->signal = layouts.signal;
    if (!good)
        return false;
    if (!run->layouts[0].known || layouts.signal)
        return error_set(error, "%s: not all layouts could be simulated", run->command[0]);
    run->exact = run->layouts[0].half_interval == 0;
    if (!run->exact)
        relate(run);
    return true;
}

/* ---- runs ---- */

bool gated_run_go(struct gated_run *run, struct error *error) {
    return simulate(run, 0, error) && (!run->layout_count || lay_out(run, error));
}

/* Layout 0 is another run, if it was simulated. */
bool gated_run_again(struct gated_run *run, struct error *error) {
    if (!run->layout_count || !run->exact)
        return simulate(run, 1, error);
    run->seen[1] = run->layouts[0];
    return true;
}

bool gated_run_repeatable(const struct gated_run *run, const char *name, double limit,
                          struct error *error) {
    const struct layout_cycles *seen = run->seen;
    const double apart = fabs((double)seen[1].cycles / (double)seen[0].cycles - 1);
    return apart * SAME_PART <= limit ||
           error_set(error,
                     "'%s' does not do the same each time: %s cycles and %s instructions, then %s "
                     "and %s (see what changes with culprit compare)",
                     name, text_grouped(seen[0].cycles).s, text_grouped(seen[0].instructions).s,
                     text_grouped(seen[1].cycles).s, text_grouped(seen[1].instructions).s);
}
