/* A command under several layouts. A long run's cycles under each are estimated by the same
 * regions, whose error they have in common: what is taken of them is how they relate to those of
 * layout 0, which is simulated in full besides. */
#include "cmd/gate.h"
#include "cmd/interrupt.h"

enum { OVER = 80000000, KEPT = 1000000000, WARM_UP = 15000000, REGIONS = 160 };

struct taking {
    struct gate_layouts *layouts;
    const char *program;
};

static bool take(void *context, const struct layout_result *result, struct error *error) {
    const struct taking *taking = context;
    if (result->exit.known && result->exit.status)
        return error_set(error, "%s: it ended with %s %d", taking->program,
                         result->exit.signaled ? "signal" : "status", result->exit.status);
    taking->layouts->cycles[result->layout] = layout_cycles_of(result->simulation);
    return true;
}

static bool is_part(const struct input_options *input) {
    return input->skip || input->from || input->thread >= 0;
}

static void relate(struct gate_layouts *layouts) {
    struct layout_cycles *cycles = layouts->cycles;
    const double scale = (double)layouts->full / (double)cycles[0].cycles;
    for (uint32_t i = 0; i < layouts->count; i++) {
        cycles[i].cycles = (uint64_t)(scale * (double)cycles[i].cycles + 0.5);
        cycles[i].half_interval = 0;
    }
}

bool gate_layouts_run(const struct gate_job *job, const struct gate_options *options,
                      char **command, struct gate_layouts *layouts, struct error *error) {
    struct taking taking = {.layouts = layouts, .program = command[0]};
    struct layouts_run run = {.watch = &verb_watch,
                              .machines = &job->machines,
                              .inputs = {options->input},
                              .input_count = 1,
                              .count = layouts->count,
                              .jobs = job->jobs,
                              .threads = (struct together_request){TOGETHER_REGIONS},
                              .ideal = options->ideal,
                              .over = is_part(&options->input) ? UINT64_MAX : OVER,
                              .kept = KEPT,
                              .warm_up = WARM_UP,
                              .regions = REGIONS,
                              .enough = true,
                              .take = take,
                              .context = &taking};
    run.inputs[0].command = command;
    if (!layouts_run_go(&run, error))
        return false;
    const struct layout_cycles *first = &layouts->cycles[0];
    if (!first->known || run.signal)
        return error_set(error, "%s: not all layouts could be simulated", command[0]);
    layouts->exact = first->half_interval == 0;
    if (!layouts->exact)
        relate(layouts);
    return true;
}
