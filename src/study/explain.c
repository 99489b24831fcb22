/* Positions are instructions of the one thread that is profiled, of all programs that exec put in
 * it together. Chunks of events are never cut, so
 * a system call that would change the world ends a chunk, and where profiling ends sampling can
 * begin. */
#include "study/explain.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "region/chunk_profile.h"
#include "study/first_calls.h"
#include "study/kept_input.h"
#include "study/opened_trace.h"
#include "util/clock.h"
#include "util/temporary.h"
#include "util/text.h"

enum { NOTES = 5, NOTE_SIZE = 512 };

/* An interval of more than this share of the cycles to both sides is made narrower with more
 * regions: as many as bring it to AIM if all of it shrinks with the root of their number, but at
 * least LEAST_MORE and at most MOST_MORE times as many. */
static const double WIDE = 0.03, AIM = 0.025, LEAST_MORE = 1.25, MOST_MORE = 4;

struct explanation {
    struct explanation_request request;
    struct kept_input input;
    char *folder, *kept; /* temporary; NULL: not made */
    struct trace *trace;
    struct chunk_profile *profile;
    struct first_calls *calls; /* NULL: call paths are not asked for */
    const struct machine *machine;
    uint64_t profiled;      /* instructions */
    int signal;             /* that ended the first run early; 0: none */
    bool begins_again;      /* everything so far is kept */
    bool whole_kept;        /* the file has it to the end, of several threads */
    bool from_kept;         /* the file that was kept is read in place of a second run */
    char reason[256];       /* not to profile any longer; empty: there is none */
    struct simulation rest; /* what was sampled behind the profiled part */
    bool has_rest;
    struct forecasting_result forecast; /* of all parts */
    uint32_t regions;                   /* asked for last */
    struct second_run_result second;
    struct simulation simulation;
    char notes[NOTES][NOTE_SIZE];
    unsigned note_count;
    double started;
};

static __attribute__((format(printf, 2, 3))) void note(struct explanation *run, const char *format,
                                                       ...) {
    if (run->note_count == NOTES)
        return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(run->notes[run->note_count++], NOTE_SIZE, format, arguments);
    va_end(arguments);
}

const char *explanation_note(const struct explanation *run, unsigned number) {
    return number < run->note_count ? run->notes[number] : NULL;
}

/* ---- the first run ---- */

static bool make_folder(struct explanation *run, struct error *error) {
    if (!(run->folder = temporary_folder(&run->request.watch->temporaries, error)))
        return false;
    if (asprintf(&run->kept, "%s/beginning.ctrace", run->folder) >= 0)
        return true;
    run->kept = NULL;
    return error_set(error, "out of memory");
}

/* Whether threads are simulated together is decided when all is read. */
static bool choose_machine(struct explanation *run, struct error *error) {
    const struct opened_trace_request request = {.watch = run->request.watch,
                                                 .machines = run->request.machines};
    struct simulation_options options;
    if (!opened_trace_choose(&request, run->trace, &options, NULL, NULL, error))
        return false;
    run->machine = options.machine;
    return true;
}

/* Nobody looks at more than executions beyond what is kept, unless calls are followed: what may
 * come behind the profiled part begins with a system call, or is worth nothing, as the standard
 * input could not be kept. */
static struct capture_counts counted(const struct explanation_request *request) {
    const struct chunk_profile_settings settings = CHUNK_PROFILE_DEFAULTS;
    const uint64_t kept = request->kept > request->over ? request->kept : request->over;
    return chunk_profile_counts(&settings, request->details.extents ? 0 : kept);
}

static bool start_first(struct explanation *run, int *exec_status, struct error *error) {
    if (run->request.trace) {
        return make_folder(run, error) && (run->trace = opened_trace(run->request.trace, error)) &&
               choose_machine(run, error);
    }
    struct capture_options capture = *run->request.capture;
    capture.watch_effects = !run->request.rerun;
    capture.counted = counted(&run->request);
    if (!make_folder(run, error) || !kept_input_start(&run->input, error))
        return false;
    capture.descriptors[0] = run->input.first;
    *exec_status = 0;
    run->trace = trace_capture(&capture, exec_status, error);
    if (!run->trace)
        return false;
    return choose_machine(run, error) && trace_keep(run->trace, run->kept, error);
}

struct explanation *explanation_start(const struct explanation_request *request, int *exec_status,
                                      struct error *error) {
    const struct chunk_profile_settings settings = CHUNK_PROFILE_DEFAULTS;
    struct explanation *run = calloc(1, sizeof *run);
    if (!run) {
        error_set(error, "out of memory");
        return NULL;
    }
    run->request = *request;
    run->started = clock_monotonic();
    if (!start_first(run, exec_status, error)) {
        explanation_free(run);
        return NULL;
    }
    run->profile = chunk_profile_new(run->trace, &settings);
    if (run->profile && request->details.extents)
        run->calls =
            first_calls_new(run->profile, request->details.extents, request->details.names);
    if (!run->profile || !run->calls != !request->details.extents) {
        error_set(error, "out of memory");
        explanation_free(run);
        return NULL;
    }
    if (run->calls)
        trace_watch(run->trace, first_calls_chunk, run->calls);
    else
        trace_watch(run->trace, chunk_profile_chunk, run->profile);
    return run;
}

const char *explanation_command(const struct explanation *run) {
    return trace_command(run->trace);
}

const struct machine *explanation_machine(const struct explanation *run) {
    return run->machine;
}

int explanation_signal(const struct explanation *run) {
    return run->signal;
}

uint64_t explanation_profiled(const struct explanation *run) {
    return run->profiled;
}

/* Fills `reason` when the run cannot be explained by regions. */
static bool has_several(struct explanation *run) {
    if (chunk_profile_has_children(run->profile))
        snprintf(run->reason, sizeof run->reason, "it has several processes");
    else if (chunk_profile_threaded(run->profile))
        snprintf(run->reason, sizeof run->reason, "it has several threads");
    return run->reason[0] != 0;
}

/* Likewise when it cannot be run again beyond here. */
static bool must_stop(struct explanation *run) {
    const struct trace_effect *effect = trace_effect(run->trace);
    if (effect && chunk_profile_reached(run->profile, effect->thread, effect->position))
        snprintf(run->reason, sizeof run->reason,
                 "it cannot be repeated (%s; --rerun runs it twice all the same)", effect->what);
    else if (run->input.failure)
        snprintf(run->reason, sizeof run->reason, "its standard input could not be kept: %s",
                 strerror(run->input.failure));
    return run->reason[0] != 0;
}

/* Several threads of one process, whose trace is kept: they are simulated together. */
static bool may_be_together(const struct explanation *run) {
    return run->request.threads && !run->machine->core.in_order &&
           !chunk_profile_has_children(run->profile);
}

/* What is kept of them, times that of a program with one. */
enum { KEPT_OF_THREADS = 8 };

static bool goes_on_together(const struct explanation *run) {
    return may_be_together(run) &&
           (run->request.trace || run->profiled / KEPT_OF_THREADS <= run->request.kept);
}

/* The next of the run: its calls are followed where they are asked for, else nothing is decoded. */
static int read_next(struct explanation *run, struct trace_batch *batch, struct error *error) {
    if (!run->calls)
        trace_pass(run->trace, UINT64_MAX);
    const int status = trace_next(run->trace, batch, error);
    if (status > 0 && run->calls && !first_calls_see(run->calls, trace_code(run->trace), batch)) {
        error_set(error, "out of memory for call paths");
        return -1;
    }
    return status;
}

/* To the end of the run, or to where profiling must stop. */
static bool profile(struct explanation *run, struct error *error) {
    struct trace_batch batch;
    bool kept = true, good = true; /* in a file of ours or of the user's */
    int status = 1;
    watch_begin_within(run->request.watch, "profiling", "instructions",
                       run->request.capture->limit);
    while (good && (status = read_next(run, &batch, error)) > 0) {
        run->profiled = chunk_profile_instructions(run->profile);
        watch_progress(run->request.watch, run->profiled);
        if (run->request.watch->signal && run->request.trace)
            break; /* a command is let go on to its end, which is near */
        if (run->profiled <= run->request.over)
            continue;
        if (has_several(run) && !((kept || run->request.trace) && goes_on_together(run)))
            break;
        if (run->profiled <= run->request.kept || run->reason[0])
            continue;
        if (must_stop(run))
            break;
        if (kept && run->kept) {
            good = trace_keep_end(run->trace, error);
            unlink(run->kept);
        }
        kept = false;
    }
    watch_end(run->request.watch);
    run->profiled = chunk_profile_instructions(run->profile);
    run->begins_again = kept;
    run->whole_kept = (kept || run->request.trace) && status == 0 &&
                      chunk_profile_threaded(run->profile) && may_be_together(run);
    if (good && status >= 0 && run->calls && !first_calls_end(run->calls, trace_code(run->trace)))
        return error_set(error, "out of memory for call paths");
    return good && status >= 0;
}

/* ---- what comes behind the profiled part ---- */

static void note_sampled(struct explanation *run, const struct simulation *simulation,
                         const char *what) {
    double half = sampling_interval(&simulation->spread);
    if (half >= 0 && simulation->cycles)
        note(run, "%s: %s instructions, sampled systematically, ± %.1f %% (95 %%)", what,
             text_count(simulation->executed).s, 100 * half / (double)simulation->cycles);
    else
        note(run, "%s: %s instructions, sampled systematically", what,
             text_count(simulation->executed).s);
}

static bool sample_rest(struct explanation *run, struct error *error) {
    struct forecasting forecasting = {0};
    if (run->request.forecasts && !forecasting_start(&forecasting, run->machine, run->request.ideal,
                                                     FORECAST_SOME, MULTISIM_DRAW, error))
        return false;
    const struct stack_starts *starts = first_calls_starts(run->calls);
    const struct stack_start *last = starts ? stack_starts_last(starts) : NULL;
    const struct simulation_options options = {
        .machine = run->machine,
        .ideal = run->request.ideal,
        .details = run->request.details,
        .start = {last ? starts : NULL, last, last ? stack_start_thread(last) : 0},
        .instructions = forecasting.observers,
        .instruction_observer_count = forecasting.observer_count,
        .count_splits = forecasting.multisim != NULL,
        .sampling = run->request.sampling,
        .selection = {.thread = -1},
        .watcher = watcher_of(run->request.watch)};
    trace_watch(run->trace, NULL, NULL);
    watch_begin(run->request.watch, "sampling", "instructions", 0);
    run->has_rest = true;
    bool good = simulation_run(run->trace, &options, &run->rest, error);
    watch_end(run->request.watch);
    forecasting_end(&forecasting, &run->forecast);
    if (good)
        note_sampled(run, &run->rest, "from there on");
    return good;
}

/* ---- all of it ---- */

/* The regions have been saved as they came: they are worth nothing after a third run. */
static void save_sampled(const struct explanation *run) {
    const struct second_run_result *second = &run->second;
    struct saving *saving = run->request.saving;
    if (saving && second->trace) {
        saving_undo(saving);
        saving_add(saving, run->has_rest ? "the first part" : NULL, 1, &second->sampled,
                   trace_code(second->trace), NULL, 0);
    }
    if (saving && run->has_rest)
        saving_add(saving, "the rest", 1, &run->rest, trace_code(run->trace), NULL, 0);
}

static void note_loss(struct explanation *run) {
    const struct second_run_result *second = &run->second;
    note(run,
         "run again, the program went another way in part (%s): the regions that were not found, "
         "which stood for %.1f %% of the instructions, are left out, and those most like them "
         "stand for that too",
         second->why.message, 100 * (double)second->loss.instructions / (double)run->profiled);
}

/* By this many regions, in one run more; `again`: what would be saved is known from those of the
 * run before. */
static bool take_regions(struct explanation *run, uint32_t regions, bool again,
                         struct error *error) {
    const struct second_run_request request = {
        .watch = run->request.watch,
        .capture = run->request.capture,
        .trace = run->from_kept ? run->kept : run->request.trace,
        .machine = run->machine,
        .ideal = run->request.ideal,
        .isa = trace_isa(run->trace),
        .harmless = !run->request.rerun,
        .input = &run->input,
        .folder = run->folder,
        .profile = run->profile,
        .instructions = run->profiled,
        .warm_up = run->request.warm_up,
        .stamped = !run->request.simulate_warm_up,
        .details = run->request.details,
        .starts = first_calls_starts(run->calls),
        .regions = regions,
        .forecast_is_known = again || !run->request.forecasts,
        .sampling = run->request.sampling,
        .saving = run->request.saving};
    struct second_run_result *second = &run->second;
    run->regions = regions;
    if (!second_run(&request, second, error))
        return false;
    if (second->trace)
        note(run,
             "run again, the program went another way (%s): it was run a third time, sampled "
             "systematically",
             second->why.message);
    else if (second->loss.points)
        note_loss(run);
    if (!second->trace && second->skew)
        note(run,
             "the second run was not quite as the first: regions were found up to %s "
             "instructions from where they had been",
             text_count(second->skew).s);
    save_sampled(run);
    if (second->trace && !run->has_rest) {
        run->simulation = second->sampled;
        second->sampled = (struct simulation){0};
        return true;
    }
    if ((second->trace && !region_run_add_simulation(second->regions, &second->sampled,
                                                     trace_code(second->trace), error)) ||
        (run->has_rest &&
         !region_run_add_simulation(second->regions, &run->rest, trace_code(run->trace), error)) ||
        !region_run_finish(second->regions, run->profiled + run->rest.executed, &run->simulation,
                           error))
        return false;
    run->simulation.regions.slices = second->slices;
    run->simulation.regions.phases = second->phases;
    run->simulation.regions.phase_count = second->phase_count;
    second->phases = NULL;
    return true;
}

/* Half of the interval, as a share of the cycles, when more regions could make it narrower; else 0.
 */
static double too_wide(const struct explanation *run) {
    const struct simulation *simulation = &run->simulation;
    double half = simulation_interval(simulation);
    bool could = !run->request.enough && !run->has_rest && !run->second.trace &&
                 !run->second.loss.points && !run->request.watch->signal &&
                 simulation->regions.count < simulation->regions.slices;
    return could && half > WIDE * (double)simulation->cycles ? half / (double)simulation->cycles
                                                             : 0;
}

/* Regions, when so many left this share of the cycles open to both sides. */
static uint32_t enough_regions(uint32_t regions, double half) {
    const double more = half * half / (AIM * AIM);
    return (uint32_t)(regions * fmin(MOST_MORE, fmax(LEAST_MORE, more)));
}

static bool explain_by_regions(struct explanation *run, struct error *error) {
    run->from_kept = run->begins_again && !run->request.trace;
    if (run->from_kept && !trace_keep_end(run->trace, error))
        return false;
    if (!take_regions(run, run->request.regions, false, error))
        return false;
    double half = too_wide(run);
    if (half > 0) {
        uint32_t before = run->simulation.regions.count;
        const struct forecasting_result forecast = run->second.forecast;
        second_run_free(&run->second);
        run->second = (struct second_run_result){0};
        simulation_free(&run->simulation);
        if (run->request.saving)
            saving_undo(run->request.saving);
        run->note_count = 0;
        if (!take_regions(run, enough_regions(run->request.regions, half), true, error))
            return false;
        if (!run->second.trace)
            run->second.forecast = forecast;
        note(run, "%" PRIu32 " regions left ± %s %% of the CPI open, so more were taken%s", before,
             text_percent(half, 1).s, run->from_kept ? "" : ", in one more run");
    }
    forecasting_sum(&run->forecast, &run->second.forecast);
    return true;
}

/* Whoever asked to end the run waits for the report of it, when there is something to tell. */
static void take_interrupt(struct explanation *run) {
    if (!run->request.watch->signal || run->request.whole ||
        run->profiled + run->rest.executed == 0)
        return;
    run->signal = watch_take(run->request.watch);
    if (run->request.interrupted)
        run->request.interrupted(run->profiled + run->rest.executed);
}

/* Once more, from the file alone. */
static bool read_kept(struct explanation *run, struct error *error) {
    const bool good = trace_keep_end(run->trace, error);
    trace_close(run->trace);
    run->trace = good ? trace_open(run->kept, error) : NULL;
    watch_trace(run->request.watch, run->trace);
    return run->trace != NULL;
}

const char *explanation_file(const struct explanation *run) {
    return run->whole_kept && !run->request.trace ? run->kept : NULL;
}

void explanation_drop_file(struct explanation *run) {
    temporary_remove(&run->request.watch->temporaries, run->folder);
    run->folder = NULL;
}

bool explanation_go(struct explanation *run, enum explanation_kind *kind, struct error *error) {
    bool good = profile(run, error);
    if (good && run->request.whole && run->request.watch->signal)
        return error_set(error, "interrupted");
    if (good)
        take_interrupt(run);
    if (good && (run->profiled <= run->request.over || run->whole_kept)) {
        *kind = EXPLANATION_SHORT;
    } else if (good && run->reason[0] && (run->begins_again || run->request.trace)) {
        *kind = EXPLANATION_ONE_PASS;
        note(run, "sampled systematically in one pass, not by regions: %s", run->reason);
    } else {
        *kind = EXPLANATION_DONE;
        if (good && run->reason[0])
            note(run, "by regions up to instruction %s, where %s", text_grouped(run->profiled).s,
                 run->reason);
        if (!good || (!run->begins_again && !kept_input_enough(&run->input, error)) ||
            (run->reason[0] && !sample_rest(run, error)))
            return false;
        take_interrupt(run);
        return kept_input_end(&run->input, error) && explain_by_regions(run, error);
    }
    trace_watch(run->trace, NULL, NULL);
    watch_trace(run->request.watch, NULL);
    if (run->request.trace) {
        trace_close(run->trace);
        run->trace = opened_trace(run->request.trace, error);
    } else if (run->whole_kept) {
        return read_kept(run, error);
    } else {
        run->trace = trace_again(run->trace, run->kept, error);
        watch_trace(run->request.watch, run->trace);
    }
    /* It is open: nothing is left behind when a second interrupt or a closed pipe ends culprit. */
    temporary_remove(&run->request.watch->temporaries, run->folder);
    run->folder = NULL;
    return run->trace != NULL;
}

const struct trace *explanation_trace(const struct explanation *run) {
    return run->trace;
}

struct trace *explanation_take_trace(struct explanation *run) {
    struct trace *trace = run->trace;
    run->trace = NULL;
    return trace;
}

void explanation_result(struct explanation *run, struct simulation *simulation,
                        const struct code **code) {
    *simulation = run->simulation;
    run->simulation = (struct simulation){0};
    simulation->seconds = clock_monotonic() - run->started;
    *code = run->second.trace && !run->has_rest ? trace_code(run->second.trace)
                                                : region_run_code(run->second.regions);
}

/* ---- under other layouts ---- */

bool explanation_repeats(const struct explanation *run) {
    return !run->request.trace && !run->has_rest && run->second.regions && !run->second.trace;
}

bool explanation_repeat(const struct explanation *run, struct explanation_repetition *repetition,
                        struct error *error) {
    struct second_run_result *second = &repetition->second;
    struct capture_options capture = *run->request.capture;
    capture.layout = repetition->layout;
    watch_limit(repetition->watch, &capture, true);
    if (!(repetition->folder = temporary_folder(&repetition->watch->temporaries, error)))
        return false;
    const struct second_run_request request = {.watch = repetition->watch,
                                               .capture = &capture,
                                               .machine = run->machine,
                                               .ideal = run->request.ideal,
                                               .isa = trace_isa(run->trace),
                                               .harmless = !run->request.rerun,
                                               .input = repetition->input,
                                               .folder = repetition->folder,
                                               .profile = run->profile,
                                               .instructions = run->profiled,
                                               .warm_up = run->request.warm_up,
                                               .stamped = !run->request.simulate_warm_up,
                                               .regions = run->regions,
                                               .forecast_is_known = true,
                                               .sampling = run->request.sampling};
    if (!second_run(&request, second, error))
        return false;
    repetition->diverged = second->trace != NULL;
    if (repetition->diverged)
        return true;
    repetition->code = region_run_code(second->regions);
    return region_run_finish(second->regions, run->profiled, &repetition->simulation, error);
}

void explanation_repetition_free(struct explanation_repetition *repetition) {
    second_run_free(&repetition->second);
    simulation_free(&repetition->simulation);
    temporary_remove(&repetition->watch->temporaries, repetition->folder);
}

struct forecasting_result explanation_forecast(const struct explanation *run) {
    return run->forecast;
}

void explanation_free(struct explanation *run) {
    if (!run)
        return;
    second_run_free(&run->second);
    first_calls_free(run->calls);
    chunk_profile_free(run->profile);
    simulation_free(&run->rest);
    simulation_free(&run->simulation);
    watch_trace(run->request.watch, NULL);
    trace_close(run->trace);
    kept_input_free(&run->input);
    temporary_remove(&run->request.watch->temporaries, run->folder);
    free(run->kept);
    free(run);
}
