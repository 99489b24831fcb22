#include "study/sharing_run.h"

#include <stdlib.h>
#include <string.h>

#include "study/opened_trace.h"
#include "util/array.h"
#include "util/temporary.h"

/* ---- what is simulated ---- */

static bool capture_command(struct sharing_run *run, int *exec_status, struct error *error) {
    struct capture_options capture = input_capture(run->watch, run->input);
    capture.begin = run->begin;
    const bool good = timed_capture(run->watch, &capture, &run->timed, exec_status, error);
    run->file = run->timed.path;
    return good;
}

bool sharing_run_open(struct sharing_run *run, int *exec_status, struct error *error) {
    struct simulation_options *options = &run->options;
    const char *why = NULL;
    run->file = run->input->trace;
    if (run->input->command && !capture_command(run, exec_status, error))
        return false;
    if (!strcmp(run->file, "-"))
        return error_set(error, "a trace that is simulated more than once must be in a file");
    if (!(run->trace = opened_trace(run->file, error)))
        return false;
    options->ideal = run->ideal;
    options->sampling = sampling_everything();
    if (run->input->command)
        options->selection = (struct selection){.thread = -1};
    else
        options->selection = input_selection(run->input);
    options->watcher = watcher_of(run->watch);
    const struct opened_trace_request request = {.watch = run->watch,
                                                 .machines = run->machines,
                                                 .threads = &run->threads,
                                                 .file = run->file};
    if (!opened_trace_choose(&request, run->trace, options, &run->together, &why, error))
        return false;
    run->threads_seen = options->together;
    return !why || error_set(error, "threads cannot be simulated together: %s", why);
}

static bool simulate(struct sharing_run *run, const char *label, struct trace *trace,
                     const struct simulation_options *options, struct simulation *simulation,
                     struct error *error) {
    watch_begin(run->watch, label, "instructions", run->simulation.executed);
    const bool good = simulation_run(trace, options, simulation, error);
    watch_end(run->watch);
    return good;
}

/* ---- remedies ---- */

static bool try_remedy(struct sharing_run *run, struct sharing_remedy remedy,
                       struct line_remedies *remedies, struct error *error) {
    struct simulation_options options = run->options;
    struct together together = run->together;
    struct simulation simulation;
    struct trace *trace = trace_open(run->file, error);
    if (!trace)
        return false;
    line_remedies_sort(remedies);
    together.remedies = remedies;
    together.watch = (struct together_watch){.see = NULL};
    options.together = &together;
    options.instructions = NULL;
    options.instruction_observer_count = 0;
    watch_trace(run->watch, trace);
    const bool good = simulate(run, remedy.copies ? "with private copies" : "with padding", trace,
                               &options, &simulation, error);
    watch_trace(run->watch, NULL);
    remedy.lines = remedies->count;
    remedy.cycles = simulation.together.cycles;
    run->interrupted |= simulation.interrupted;
    if (good && !simulation.interrupted)
        run->remedies[run->remedy_count++] = remedy;
    simulation_free(&simulation);
    trace_close(trace);
    return good;
}

/* All lines that it fits, unless nobody would notice. */
static bool try_all(struct sharing_run *run, bool copies, struct line_remedies *remedies,
                    struct error *error) {
    uint64_t cycles = 0;
    remedies->count = 0;
    for (size_t i = 0; i < run->sum.count; i++)
        if (sharing_fits(&run->sum.lines[i], copies)) {
            sharing_add_line(remedies, &run->sum.lines[i], copies);
            cycles += run->sum.lines[i].cycles;
        }
    return !sharing_noticed(run, cycles) ||
           try_remedy(run, (struct sharing_remedy){.copies = copies, .line = SIZE_MAX}, remedies,
                      error);
}

static bool try_alone(struct sharing_run *run, size_t number, struct line_remedies *remedies,
                      struct error *error) {
    const struct moved_line *line = &run->sum.lines[number];
    if (sharing_of(line) == SHARING_UNKNOWN || !sharing_noticed(run, line->cycles))
        return true;
    const bool copies = sharing_fits(line, true);
    for (size_t i = 0; i < run->remedy_count; i++)
        if (run->remedies[i].copies == copies && run->remedies[i].line == SIZE_MAX &&
            run->remedies[i].lines == 1)
            return true; /* it was the only one */
    remedies->count = 0;
    sharing_add_line(remedies, line, copies);
    return try_remedy(run, (struct sharing_remedy){.copies = copies, .line = number}, remedies,
                      error);
}

static bool try_remedies(struct sharing_run *run, struct error *error) {
    struct line_remedies remedies = {.line_bytes = run->options.machine->l1d.line};
    remedies.items = malloc((run->sum.count + 1) * sizeof *remedies.items);
    if (!remedies.items)
        return error_set(error, "out of memory for remedies");
    bool good = true;
    for (int copies = 0; good && copies < 2 && !run->interrupted; copies++)
        good = try_all(run, copies, &remedies, error);
    for (size_t i = 0; good && i < run->alone && i < run->sum.count && !run->interrupted; i++)
        good = try_alone(run, i, &remedies, error);
    free(remedies.items);
    return good;
}

/* ---- the whole ---- */

bool sharing_noticed(const struct sharing_run *run, uint64_t cycles) {
    return cycles && (double)cycles >= SHARING_NOTICED * (double)run->thread_cycles;
}

static void count_threads(struct sharing_run *run) {
    const struct together_result *together = &run->simulation.together;
    for (uint32_t i = 0; i < together->thread_count; i++)
        if (together->threads[i].known) {
            run->thread_count++;
            run->thread_cycles += together->threads[i].cycles[THREAD_RUNNING];
        }
    if (run->simulation.interrupted) /* of threads under way it is not known where they were */
        run->thread_cycles = run->simulation.cycles;
}

/* Of one thread there is nothing to simulate. What the trace says of itself stands at its end. */
static bool pass_over(struct sharing_run *run, struct error *error) {
    struct trace_batch batch;
    int status;
    trace_outline(run->trace);
    while ((status = trace_next(run->trace, &batch, error)) > 0)
        ;
    watch_trace(run->watch, NULL);
    return status == 0;
}

bool sharing_run_go(struct sharing_run *run, struct error *error) {
    const uint32_t line_bytes = run->options.machine->l1d.line;
    if (!run->threads_seen)
        return pass_over(run, error);
    if (!(run->traffic = line_traffic_new(line_bytes, error)))
        return false;
    const struct instruction_observer observer = line_traffic_observer(run->traffic);
    run->together.watch = line_traffic_watch(run->traffic);
    run->options.instructions = &observer;
    run->options.instruction_observer_count = 1;
    bool good = simulate(run, "simulating", run->trace, &run->options, &run->simulation, error);
    run->options.instructions = NULL;
    run->options.instruction_observer_count = 0;
    trace_settle(run->trace);
    watch_trace(run->watch, NULL);
    run->sum = line_traffic_sum(run->traffic);
    run->interrupted = run->simulation.interrupted;
    count_threads(run);
    if (good && line_traffic_failed(run->traffic))
        good = error_set(error, "out of memory for lines");
    return good && (run->interrupted || try_remedies(run, error));
}

void sharing_run_free(struct sharing_run *run) {
    watch_trace(run->watch, NULL);
    simulation_free(&run->simulation);
    line_traffic_free(run->traffic);
    if (run->trace)
        trace_close(run->trace);
    temporary_remove(&run->watch->temporaries, run->timed.path);
}
