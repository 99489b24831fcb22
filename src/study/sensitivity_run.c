/* The machines of the study are made, and so checked, as soon as the architecture of the trace is
 * known. */
#include "study/sensitivity_run.h"

#include "util/temporary.h"

bool sensitivity_run_begin(struct sensitivity_run *run, struct error *error) {
    return (run->folder = temporary_folder(&run->watch->temporaries, error));
}

static bool simulate(struct sensitivity_run *run, struct error *error) {
    const struct sensitivity *study = &run->study;
    const struct multisim_options options = {.trace = run->trace.path,
                                             .selection = run->trace.again,
                                             .jobs = run->jobs,
                                             .watcher = watcher_of(run->watch)};
    watch_begin(run->watch, "simulating", "instructions", 0);
    const bool good = multisim(&options, study->runs, study->run_count, error);
    watch_end(run->watch);
    uint32_t done = 0;
    for (uint32_t i = 0; i < study->run_count; i++) {
        done += study->runs[i].done;
        if (study->runs[i].done)
            run->instructions = study->runs[i].instructions;
    }
    run->partial = done < study->run_count || trace_is_cut(run->trace.trace);
    if (good && !done)
        return error_set(error, "interrupted before anything was simulated");
    return good && (run->instructions ||
                    input_nothing(run->watch, run->input, run->trace.trace, "simulated", error));
}

bool sensitivity_run_go(struct sensitivity_run *run, int *exec_status, struct error *error) {
    struct trace_input *trace = &run->trace;
    if (!trace_input_open(trace, run->watch, run->input, 0, run->folder, exec_status, error) ||
        !(run->machine = machine_choice_of(run->machines, trace_isa(trace->trace), error)))
        return false;
    if (!sensitivity_build(&run->study, run->machine, run->ideal, error))
        return error_prefix(error, "--sensitivity");
    return trace_input_read(trace, run->input->limit, error) && simulate(run, error);
}

void sensitivity_run_free(struct sensitivity_run *run) {
    trace_input_close(&run->trace);
    temporary_remove(&run->watch->temporaries, run->folder);
    sensitivity_free(&run->study);
}
