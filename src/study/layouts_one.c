/* One run of a command under a layout: in one pass, also of a program that is linked anew, or by
 * the regions that were chosen under layout 0. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "study/layouts_parts.h"
#include "study/relinked.h"
#include "util/file_name.h"
#include "util/quoted_command.h"
#include "util/temporary.h"

static bool hand_over(struct layouts *layouts, const struct layout_result *result,
                      struct error *error) {
    struct layouts_run *run = layouts->run;
    pthread_mutex_lock(&layouts->lock);
    const bool good = layouts->failed || run->take(run->context, result, error);
    run->taken[result->input] += good && !layouts->failed;
    pthread_mutex_unlock(&layouts->lock);
    return good;
}

static bool simulate_in_one_pass(struct layouts *layouts, struct watch *watch,
                                 const struct input_options *input,
                                 const struct layout_result *which, struct error *error) {
    const struct layouts_run *run = layouts->run;
    struct simulated_run study = {.watch = watch,
                                  .input = input,
                                  .machines = run->machines,
                                  .threads = run->threads,
                                  .code_stays = !layouts->moves_code};
    struct code_placement placement = {.moved = NULL};
    if (layouts->moves_code && which->layout) {
        study.placement = &placement;
        if (!code_placement_make(&layouts->programs[which->input], which->layout, &placement))
            return error_set(error, "out of memory for functions elsewhere");
    }
    study.options.sampling =
        layouts->roads[which->input].sampled ? sampling_default() : sampling_everything();
    study.options.ideal = run->ideal;
    int failed = 0;
    bool good =
        simulated_run_open(&study, &failed, error) && simulated_run_go(&study, &failed, error);
    if (good && !watch->signal) {
        const struct layout_result result = {.input = which->input,
                                             .layout = which->layout,
                                             .simulation = &study.simulation,
                                             .code = trace_code(study.trace),
                                             .machine = study.options.machine,
                                             .command = which->command ? which->command
                                                                       : trace_command(study.trace),
                                             .limited = input->limit || trace_is_cut(study.trace),
                                             .exit = simulated_run_exit(&study),
                                             .trace = study.trace};
        good = hand_over(layouts, &result, error);
    }
    if (failed)
        layouts->run->failed = failed;
    simulated_run_free(&study);
    code_placement_free(&placement);
    return good;
}

/* Both outputs go nowhere, but that layout 0 keeps standard error. */
static bool run_muted(struct layouts *layouts, struct watch *watch, struct input_options *input,
                      const struct layout_result *result, struct error *error) {
    struct muted_output muted = {0};
    const int descriptor = kept_input_again(&layouts->kept, error);
    bool good = descriptor >= 0 && muted_output_open(&muted, error);
    input->layout = result->layout;
    input->descriptors[0] = descriptor;
    if (good) {
        input->descriptors[1] = muted.files[0];
        input->descriptors[2] =
            result->layout || layouts->roads[result->input].told ? muted.files[1] : 0;
        good = simulate_in_one_pass(layouts, watch, input, result, error);
    }
    muted_output_close(&muted);
    if (descriptor > 0)
        close(descriptor);
    return good;
}

/* The program of the command, linked anew into a folder of its own, under its own name. */
static bool run_relinked(struct layouts *layouts, struct watch *watch, struct input_options *input,
                         const struct layout_result *result, struct error *error) {
    const char *command = layouts->run->relinks[result->input];
    size_t count = 0;
    while (input->command[count])
        count++;
    char *folder = temporary_folder(&watch->temporaries, error), *program = NULL;
    char **words = calloc(count + 1, sizeof *words), *joined = quoted_command(input->command);
    bool good = folder != NULL;
    if (good && (!words || !joined ||
                 asprintf(&program, "%s/%s", folder, file_base_name(input->command[0])) < 0))
        good = error_set(error, "out of memory for a program");
    good = good && relinked(command, program, result->layout, watch, error);
    if (good) {
        memcpy(words, input->command, count * sizeof *words);
        words[0] = program;
        input->command = words;
        const struct layout_result named = {
            .input = result->input, .layout = result->layout, .command = joined};
        good = run_muted(layouts, watch, input, &named, error);
    }
    temporary_remove(&watch->temporaries, folder);
    free(program);
    free(joined);
    free(words);
    return good;
}

static bool take_regions(struct layouts *layouts, const struct explanation *explanation,
                         const struct simulation *simulation, const struct code *code,
                         const struct layout_result *which, struct error *error) {
    const struct trace *trace = explanation_trace(explanation);
    const struct layout_result result = {.input = which->input,
                                         .layout = which->layout,
                                         .simulation = simulation,
                                         .code = code,
                                         .machine = explanation_machine(explanation),
                                         .command = explanation_command(explanation),
                                         .limited = trace_is_cut(trace),
                                         .exit = trace_exit_status(trace),
                                         .trace = which->layout ? NULL : trace,
                                         .explanation = which->layout ? NULL : explanation};
    return hand_over(layouts, &result, error);
}

/* Under layout 0 this has been done. */
static bool repeat_regions(struct layouts *layouts, struct watch *watch,
                           struct explanation *explanation, const struct layout_result *result,
                           struct error *error) {
    if (!result->layout) {
        struct simulation simulation;
        const struct code *code;
        explanation_result(explanation, &simulation, &code);
        const bool good = take_regions(layouts, explanation, &simulation, code, result, error);
        simulation_free(&simulation);
        return good;
    }
    struct explanation_repetition repetition = {
        .watch = watch, .layout = result->layout, .input = &layouts->kept};
    bool good = explanation_repeat(explanation, &repetition, error);
    if (good && !repetition.diverged && !watch->signal)
        good = take_regions(layouts, explanation, &repetition.simulation, repetition.code, result,
                            error);
    pthread_mutex_lock(&layouts->lock);
    layouts->run->lost += good && repetition.diverged;
    pthread_mutex_unlock(&layouts->lock);
    explanation_repetition_free(&repetition);
    return good;
}

static bool make(struct layouts *layouts, const struct layout_result *result, struct watch *watch,
                 struct error *error) {
    struct explanation *explanation = layouts->roads[result->input].explanation;
    struct input_options input = layouts->run->inputs[result->input];
    return explanation ? repeat_regions(layouts, watch, explanation, result, error)
           : layouts->run->relinks[result->input]
               ? run_relinked(layouts, watch, &input, result, error)
               : run_muted(layouts, watch, &input, result, error);
}

bool layouts_make_run(void *context, size_t number, struct watch *watch, struct error *error) {
    struct layouts *layouts = context;
    const uint32_t inputs = layouts->run->input_count;
    const struct layout_result result = {.input = (unsigned)(number % inputs),
                                         .layout = (uint32_t)(number / inputs)};
    const bool good = make(layouts, &result, watch, error);
    pthread_mutex_lock(&layouts->lock);
    layouts->failed |= !good;
    pthread_mutex_unlock(&layouts->lock);
    return good;
}
