#include "study/predict_run.h"

#include "simulate/regions.h"
#include "util/text.h"

static bool of_regions(struct predict_run *run, const char *label, struct error *error) {
    struct region_list *list = &run->regions;
    if (!region_list_read(list, run->list, error) ||
        !region_list_do_without(list, run->list, &run->lost, error))
        return false;
    watch_begin(run->watch, label, "instructions", region_list_work(list, run->warm_up));
    const bool good = predict_regions(list, run->list, run->warm_up, &run->options, &run->estimated,
                                      &run->prediction, error);
    watch_end(run->watch);
    return good;
}

static bool of_trace(struct predict_run *run, const char *label, int *exec_status,
                     struct error *error) {
    struct trace_input *input = &run->trace;
    if (!trace_input_open(input, run->watch, run->input, 0, NULL, exec_status, error))
        return false;
    run->options.selection = input->selection;
    watch_begin_within(run->watch, label, "instructions", run->input->limit);
    const bool good = predict(input->trace, &run->options, &run->prediction, error);
    watch_end(run->watch);
    return good && trace_input_end(input, error);
}

const char *predict_run_program(const struct predict_run *run) {
    return run->list ? run->regions.command : trace_command(run->trace.trace);
}

bool predict_run_go(struct predict_run *run, int *exec_status, struct error *error) {
    const char *label = run->options.check ? "simulating" : "predicting";
    const struct hybrid_prediction *prediction = &run->prediction;
    run->options.watcher = watcher_of(run->watch);
    if (run->list ? !of_regions(run, label, error) : !of_trace(run, label, exec_status, error))
        return false;
    if (!prediction->instructions)
        return input_nothing(run->watch, run->input, run->trace.trace, "predicted", error);
    return prediction->machines[0].counts.accesses > 0 ||
           error_set(error,
                     "%s: none of the %s instructions loads or stores anything, so nothing "
                     "can miss",
                     predict_run_program(run), text_count(prediction->instructions).s);
}

void predict_run_free(struct predict_run *run) {
    hybrid_prediction_free(&run->prediction);
    trace_input_close(&run->trace);
    region_list_free(&run->regions);
}
