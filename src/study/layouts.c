/* Pairs are made one after the other, so that what is there after an interrupt is as many layouts
 * of one build as of the other. */
#include "study/layouts_parts.h"

#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "study/pool.h"
#include "util/command_path.h"

static bool make_runs(struct layouts *layouts, struct error *error) {
    struct layouts_run *run = layouts->run;
    const struct pool_work work = {.watch = run->watch,
                                   .label = "layouts",
                                   .count = (size_t)run->count * run->input_count,
                                   .jobs = run->jobs,
                                   .item = layouts_make_run,
                                   .context = layouts};
    struct error failure;
    const bool good = pool_run(&work, &failure);
    run->signal = watch_take(run->watch);
    uint32_t least = run->taken[0];
    for (uint32_t i = 1; i < run->input_count; i++)
        least = run->taken[i] < least ? run->taken[i] : least;
    if (run->signal)
        return least || error_set(error, "interrupted before the first layout was simulated");
    if (!good)
        *error = failure;
    return good;
}

/* ---- which road ---- */

static bool explain(struct layouts *layouts, unsigned number, enum explanation_kind *kind,
                    struct error *error) {
    struct layouts_run *run = layouts->run;
    struct road *road = &layouts->roads[number];
    /* The run reads from where the one before it began. */
    if (layouts->kept.offset >= 0)
        lseek(STDIN_FILENO, layouts->kept.offset, SEEK_SET);
    if (!muted_output_open(&road->muted, error))
        return false;
    road->capture = input_capture(run->watch, &run->inputs[number]);
    road->capture.descriptors[1] = road->muted.files[0];
    const struct explanation_request request = {.watch = run->watch,
                                                .capture = &road->capture,
                                                .machines = run->machines,
                                                .ideal = run->ideal,
                                                .over = run->over,
                                                .kept = run->kept,
                                                .whole = true,
                                                .rerun = true,
                                                .threads = !run->threads.alone,
                                                .sampling = sampling_default(),
                                                .warm_up = run->warm_up,
                                                .simulate_warm_up = run->simulate_warm_up,
                                                .regions = run->regions,
                                                .enough = run->enough};
    road->explanation = explanation_start(&request, &run->failed, error);
    return road->explanation && explanation_go(road->explanation, kind, error);
}

/* The command may still run, and write. */
static void leave(struct road *road) {
    explanation_free(road->explanation);
    road->explanation = NULL;
    muted_output_close(&road->muted);
    road->muted = (struct muted_output){0};
}

/* What is not by regions begins anew, like the other layouts. */
static bool choose_road(struct layouts *layouts, unsigned number, struct error *error) {
    struct road *road = &layouts->roads[number];
    enum explanation_kind kind;
    if (layouts->run->over == UINT64_MAX || layouts->run->relinks[number])
        return true;
    road->told = true;
    const bool good = explain(layouts, number, &kind, error);
    if (layouts->run->watch->signal)
        return error_set(error, "interrupted before the first layout was simulated");
    if (!good)
        return false;
    if (kind == EXPLANATION_DONE && explanation_repeats(road->explanation))
        return true;
    road->sampled = kind != EXPLANATION_SHORT;
    leave(road);
    return true;
}

/* Regions that are chosen once begin with what caches hold of code where it lies. */
static bool read_programs(struct layouts *layouts, struct error *error) {
    const struct layouts_run *run = layouts->run;
    layouts->moves_code = true;
    for (unsigned i = 0; i < run->input_count && layouts->moves_code; i++) {
        char path[PATH_MAX];
        if (run->count == 1 || layouts->roads[i].explanation || run->relinks[i] ||
            command_find(run->inputs[i].command[0], path, sizeof path) != 0)
            layouts->moves_code = false;
        else if (!movable_code_read(path, &layouts->programs[i]))
            return error_set(error, "out of memory for the functions of %s", path);
        else
            layouts->moves_code = layouts->programs[i].count;
    }
    return true;
}

static bool go(struct layouts *layouts, struct error *error) {
    struct layouts_run *run = layouts->run;
    if (!kept_input_read_all(run->watch, error) || !kept_input_start(&layouts->kept, error))
        return false;
    for (unsigned i = 0; i < run->input_count; i++) {
        run->inputs[i].fixed = true;
        if (!choose_road(layouts, i, error))
            return false;
    }
    return read_programs(layouts, error) && make_runs(layouts, error);
}

bool layouts_run_go(struct layouts_run *run, struct error *error) {
    struct layouts *layouts = calloc(1, sizeof *layouts);
    if (!layouts)
        return error_set(error, "out of memory for layouts");
    layouts->run = run;
    pthread_mutex_init(&layouts->lock, NULL);
    const bool good = go(layouts, error);
    for (unsigned i = 0; i < run->input_count; i++) {
        leave(&layouts->roads[i]);
        movable_code_free(&layouts->programs[i]);
    }
    kept_input_free(&layouts->kept);
    pthread_mutex_destroy(&layouts->lock);
    free(layouts);
    return good;
}
