#include "study/compare_run.h"

#include <string.h>
#include <unistd.h>

#include "study/kept_input.h"
#include "study/muted_output.h"
#include "util/text.h"

struct sides {
    struct compare_run *run;
    struct kept_input kept;
    struct profiled_run profiled[2];
};

/* From the file that the run was kept in, where there is one. */
static bool simulate(struct compare_run *run, unsigned side, const char *file,
                     struct error *error) {
    struct simulated_run study = {.watch = run->watch,
                                  .input = &run->inputs[side],
                                  .machines = run->machines,
                                  .file = file,
                                  .threads = run->threads};
    study.options.sampling = sampling_everything();
    study.options.ideal = run->ideal;
    study.options.details.extents = run->extents[side];
    const bool good =
        (!file || (study.trace = trace_open(file, error))) &&
        simulated_run_open(&study, &run->failed, error) &&
        (!run->begin || run->begin(run->context, side, &study, error)) &&
        simulated_run_go(&study, &run->failed, error) &&
        (!run->watch->signal || error_set(error, "interrupted before both runs were simulated")) &&
        run->take(run->context, side, &study, error);
    simulated_run_free(&study);
    return good;
}

/* ---- with the input and output of a side ---- */

typedef bool side_step(struct sides *sides, unsigned side, struct error *error);

static bool simulate_side(struct sides *sides, unsigned side, struct error *error) {
    return simulate(sides->run, side, NULL, error);
}

static bool profile_side(struct sides *sides, unsigned side, struct error *error) {
    struct profiled_run *profiled = &sides->profiled[side];
    *profiled =
        (struct profiled_run){.watch = sides->run->watch, .input = &sides->run->inputs[side]};
    return profiled_run_go(profiled, &sides->run->failed, error);
}

static bool do_quietly(struct sides *sides, unsigned side, side_step *step, struct error *error) {
    struct compare_run *run = sides->run;
    struct input_options *input = &run->inputs[side];
    struct muted_output muted = {0};
    if (!input->command)
        return step(sides, side, error);
    const int descriptor = kept_input_again(&sides->kept, error);
    if (descriptor < 0)
        return false;
    bool good = muted_output_open(&muted, error);
    input->descriptors[0] = descriptor;
    input->descriptors[1] = good ? muted.files[0] : 0;
    input->descriptors[2] = good && run->again && side ? muted.files[1] : 0;
    good = good && step(sides, side, error);
    muted_output_close(&muted);
    if (descriptor > 0)
        close(descriptor);
    return good;
}

static bool has_run(const struct compare_run *run, unsigned side) {
    return run->inputs[side].command || run->inputs[side].trace;
}

/* ---- by regions ---- */

/* Profiles the runs as long as regions of both may be found, and says whether. */
static bool profile_both(struct sides *sides, bool *regions, struct error *error) {
    struct compare_run *run = sides->run;
    *regions = true;
    for (unsigned side = 0; side < 2 && *regions; side++) {
        const struct profiled_run *profiled = &sides->profiled[side];
        if (!do_quietly(sides, side, profile_side, error))
            return false;
        *regions = profiled->instructions > run->over && !profiled->obstacle;
        if (profiled->instructions > run->over)
            run->obstacle = profiled->obstacle;
    }
    return true;
}

/* *matched: it is done. */
static bool match(struct sides *sides, bool *matched, struct error *error) {
    struct compare_run *run = sides->run;
    struct matched_runs runs = {.watch = run->watch,
                                .runs = {&sides->profiled[0], &sides->profiled[1]},
                                .ideal = run->ideal,
                                .extents = {run->extents[0], run->extents[1]},
                                .regions = run->regions};
    runs.machine = machine_choice_of(run->machines, trace_isa(sides->profiled[0].trace), error);
    bool good = runs.machine && matched_runs_go(&runs, error);
    *matched = good && !runs.why_not[0];
    if (*matched)
        good = run->take_matched(run->context, &runs, error);
    else
        snprintf(run->obstacle_text, sizeof run->obstacle_text, "%s", runs.why_not);
    run->obstacle = run->obstacle_text[0] ? run->obstacle_text : NULL;
    matched_runs_free(&runs);
    return good;
}

/* A run that was profiled from its file, unless that was not kept. */
static bool simulate_kept(struct sides *sides, unsigned side, struct error *error) {
    const char *file = sides->profiled[side].path;
    return file ? simulate(sides->run, side, file, error)
                : do_quietly(sides, side, simulate_side, error);
}

static bool go(struct sides *sides, struct error *error) {
    struct compare_run *run = sides->run;
    bool regions = false, matched = false, good = true;
    if (run->over && has_run(run, 0) && has_run(run, 1))
        good = profile_both(sides, &regions, error);
    if (good && regions)
        good = match(sides, &matched, error);
    for (unsigned side = 0; good && !matched && side < 2; side++)
        if (has_run(run, side))
            good = simulate_kept(sides, side, error);
    return good;
}

bool compare_run_go(struct compare_run *run, struct error *error) {
    struct sides sides = {.run = run};
    const bool commands = run->inputs[0].command || run->inputs[1].command;
    const bool good = (!commands || (kept_input_read_all(run->watch, error) &&
                                     kept_input_start(&sides.kept, error))) &&
                      go(&sides, error);
    kept_input_free(&sides.kept);
    for (unsigned side = 0; side < 2; side++)
        if (sides.profiled[side].watch)
            profiled_run_free(&sides.profiled[side]);
    return good;
}

char **compare_command(const char *word, char **arguments, char **copy) {
    size_t count = 0;
    while (arguments && arguments[count])
        count++;
    *copy = strdup(word);
    char **command = *copy ? text_words(*copy, count) : NULL;
    if (!command)
        return NULL;
    size_t words = 0;
    while (command[words])
        words++;
    for (size_t i = 0; i < count; i++)
        command[words++] = arguments[i];
    return command;
}
