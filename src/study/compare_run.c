#include "study/compare_run.h"

#include <unistd.h>

#include "study/kept_input.h"
#include "study/muted_output.h"

static bool simulate(struct compare_run *run, unsigned side, struct error *error) {
    struct simulated_run study = {.watch = run->watch,
                                  .input = &run->inputs[side],
                                  .machines = run->machines,
                                  .threads = run->threads};
    study.options.sampling = sampling_everything();
    study.options.ideal = run->ideal;
    const bool good =
        simulated_run_open(&study, &run->failed, error) &&
        (!run->begin || run->begin(run->context, side, &study, error)) &&
        simulated_run_go(&study, &run->failed, error) &&
        (!run->watch->signal || error_set(error, "interrupted before both runs were simulated")) &&
        run->take(run->context, side, &study, error);
    simulated_run_free(&study);
    return good;
}

/* With standard input as `descriptor`, which is closed; 0: culprit's own. */
static bool simulate_quietly(struct compare_run *run, unsigned side, int descriptor,
                             struct error *error) {
    struct muted_output muted = {0};
    struct input_options *input = &run->inputs[side];
    bool good = muted_output_open(&muted, error);
    input->descriptors[0] = descriptor;
    input->descriptors[1] = good ? muted.files[0] : 0;
    input->descriptors[2] = good && run->again && side ? muted.files[1] : 0;
    good = good && simulate(run, side, error);
    muted_output_close(&muted);
    if (descriptor > 0)
        close(descriptor);
    return good;
}

bool compare_run_go(struct compare_run *run, struct error *error) {
    struct kept_input kept = {0};
    const bool commands = run->inputs[0].command || run->inputs[1].command;
    bool good = !commands || (kept_input_read_all(error) && kept_input_start(&kept, error));
    for (unsigned side = 0; good && side < 2; side++) {
        const struct input_options *input = &run->inputs[side];
        if (!input->command && !input->trace)
            continue;
        const int descriptor = input->command ? kept_input_again(&kept, error) : 0;
        good = descriptor >= 0 && (input->command ? simulate_quietly(run, side, descriptor, error)
                                                  : simulate(run, side, error));
    }
    kept_input_free(&kept);
    return good;
}
