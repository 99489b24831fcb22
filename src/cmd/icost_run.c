/* Every trace is read once, for its graph; then, for --multisim, each is simulated again with every
 * set wanted. What was done when a signal comes is reported: a breakdown that lacks sets is whole
 * in those it has. */
#include "cmd/icost.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/icost_input.h"
#include "cmd/interrupt.h"
#include "cmd/machine_choice.h"
#include "cmd/next.h"
#include "cmd/notes.h"
#include "cmd/output.h"
#include "cmd/temporary.h"
#include "report/breakdown_report.h"
#include "simulate/category_places.h"
#include "simulate/simulate.h"
#include "util/clock.h"
#include "util/progress.h"
#include "util/text.h"

enum { CATEGORIES = GRAPH_CATEGORIES };

/* One command or trace. */
struct program {
    struct icost_input input;
    char *label;
    uint64_t instructions, cycles; /* simulated */
    uint32_t threads;
    struct breakdown ways[WAY_COUNT]; /* cycles NULL: not measured */
    struct shotgun_statistics shotgun;
    struct icost_path *path;        /* NULL: not asked for */
    struct category_places *places; /* NULL: no category has any */
};

struct icost {
    struct icost_request *request;
    struct icost_regions regions;
    struct shotgun_file samples;
    struct machine_choice *machines;
    const struct machine *machine;
    struct report_files files;
    char *folder; /* for traces; NULL: none */
    struct program *programs;
    struct breakdown_program *rows; /* of the report */
    uint32_t count;                 /* programs that were begun */
    const char *names[CATEGORIES_MAX], *descriptions[CATEGORIES_MAX];
    uint32_t focus;
    struct breakdown_report report;
    struct progress progress;
};

static void show_progress(void *context, uint64_t instructions) {
    progress_update(context, instructions);
}

/* ---- what is asked for ---- */

static bool find_focus(struct icost *icost, struct error *error) {
    const char *focus = icost->request->focus;
    const struct category_choice *own = &icost->request->category;
    char known[CATEGORIES_MAX * (CATEGORY_NAME_BYTES + 2)] = "";
    icost->focus = BREAKDOWN_NO_FOCUS;
    for (uint32_t i = 0; i < (own->categories.count ? own->categories.count : CATEGORIES); i++) {
        icost->names[i] = own->categories.count ? own->categories.list[i].name : ideal_name(i);
        icost->descriptions[i] = own->categories.count ? own->texts[i] : ideal_description(i);
        snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s", i ? ", " : "",
                 icost->names[i]);
        if (focus && !strcmp(focus, icost->names[i]))
            icost->focus = i;
    }
    return !focus || icost->focus != BREAKDOWN_NO_FOCUS ||
           error_set(error, "--focus %s: no such category: choose from %s", focus, known);
}

/* The machine that the samples were taken on, with its changes; what is asked for comes on top. */
static bool sampled_machine(const struct machine_options *asked, struct shotgun_file *samples,
                            struct machine_options *options, struct error *error) {
    *options = (struct machine_options){.machine = samples->machine, .ideal = asked->ideal};
    char *rest = samples->settings, *line;
    uint32_t room = OPTIONS_MAX_SETTINGS - asked->setting_count;
    while ((line = strsep(&rest, "\n")) && rest) {
        if (options->setting_count == room)
            return error_set(error, "the samples' machine has too many changes (give --machine)");
        options->settings[options->setting_count++] = line;
    }
    for (uint32_t i = 0; i < asked->setting_count; i++)
        options->settings[options->setting_count++] = asked->settings[i];
    return true;
}

static bool choose_machines(struct icost *icost, struct error *error) {
    const struct icost_request *request = icost->request;
    struct machine_options options = request->machine;
    if (request->shotgun.path &&
        (!shotgun_read(request->shotgun.path, &icost->samples, error) ||
         (!options.machine &&
          !sampled_machine(&request->machine, &icost->samples, &options, error))))
        return false;
    return machine_choice_load(icost->machines, &options, error);
}

static bool prepare(struct icost *icost, struct error *error) {
    const struct icost_request *request = icost->request;
    uint32_t programs = 1 + request->input.more_count;
    icost->programs = calloc(programs, sizeof *icost->programs);
    icost->rows = calloc(programs, sizeof *icost->rows);
    if (!icost->programs || !icost->rows)
        return error_set(error, "out of memory for %" PRIu32 " programs", programs);
    return find_focus(icost, error) && choose_machines(icost, error) &&
           report_files_open(&icost->files, &request->output,
                             request->input.command ? stderr : stdout, error) &&
           (!request->multisim || (icost->folder = temporary_folder(error)));
}

/* All programs are simulated on the same machine. */
static bool choose_machine(struct icost *icost, const struct trace *trace, struct error *error) {
    const struct machine *machine = machine_choice_of(icost->machines, trace_isa(trace), error);
    if (machine && icost->machine && machine != icost->machine && !icost->request->machine.machine)
        return error_set(error, "the traces are of several architectures, which no table compares "
                                "(give those of one)");
    icost->machine = machine;
    return machine;
}

/* ---- first reading ---- */

/* The breakdown from fragments, where it is wanted. Too little to construct one from is no failure
 * of a run that was interrupted. */
static bool finish_shotgun(struct icost *icost, struct program *program, struct shotgun *shotgun,
                           double *seconds, struct error *error) {
    const struct shotgun_choice *choice = &icost->request->shotgun;
    const struct shotgun_request request = {.design = choice->design,
                                            .fragments = choice->fragments,
                                            .ideal = icost->request->machine.ideal &
                                                     ((1u << CATEGORIES) - 1)};
    struct error failure;
    double begun = clock_monotonic();
    if (!shotgun || shotgun_breakdown(shotgun, &request, &program->ways[WAY_PROFILER],
                                      &program->shotgun, &failure)) {
        *seconds = clock_monotonic() - begun;
        return true;
    }
    breakdown_free(&program->ways[WAY_PROFILER]);
    program->ways[WAY_PROFILER] = (struct breakdown){0};
    if (!interrupt_signal)
        *error = failure;
    return interrupt_signal;
}

static bool finish_path(struct icost *icost, struct program *program, struct error *error) {
    const struct icost_request *request = icost->request;
    return !program->path || icost_path_finish(program->path, trace_code(program->input.trace),
                                               request->output.top, request->threshold, error);
}

/* Simulates a program with its graph, with samples and with pieces kept where they are wanted. */
static bool simulate_program(struct icost *icost, struct program *program, struct shotgun *shotgun,
                             struct breakdown_program *row, struct error *error) {
    const struct icost_request *request = icost->request;
    struct trace *trace = program->input.trace;
    struct simulation_observer observers[3];
    uint32_t observer_count = 0;
    if (shotgun)
        observers[observer_count++] =
            (struct simulation_observer){shotgun_attach, shotgun_detach, shotgun_learn, shotgun};
    if (program->path)
        observers[observer_count++] = icost_path_observer(program->path);
    if (program->places)
        observers[observer_count++] = category_places_observer(program->places);
    const struct categories *own = &request->category.categories;
    const struct simulation_options options = {.machine = icost->machine,
                                               .categories = own->count ? own : NULL,
                                               .ideal = request->machine.ideal,
                                               .sampling = sampling_everything(),
                                               .selection = program->input.selection,
                                               .graph = true,
                                               .observers = observers,
                                               .observer_count = observer_count,
                                               .progress = show_progress,
                                               .progress_context = &icost->progress,
                                               .stop = &interrupt_signal};
    struct simulation simulation;
    progress_start(&icost->progress, stderr, "simulating", "instructions", request->input.limit);
    bool good = simulation_run(trace, &options, &simulation, error);
    progress_finish(&icost->progress);
    program->instructions = simulation.instructions;
    program->cycles = simulation.cycles;
    program->threads = simulation.thread_count;
    program->ways[WAY_GRAPH] = simulation.breakdown;
    simulation.breakdown = (struct breakdown){0};
    row->seconds[WAY_GRAPH] = simulation.seconds;
    simulation_free(&simulation);
    if (!good || !icost_input_end(&program->input, error) || !finish_path(icost, program, error))
        return false;
    if (program->instructions)
        return finish_shotgun(icost, program, shotgun, &row->seconds[WAY_PROFILER], error);
    return interrupt_signal || explain_nothing(&request->input, trace, "simulated", error) ||
           error_prefix(error, "%s", program->label);
}

static bool read_program(struct icost *icost, struct program *program,
                         struct breakdown_program *row, struct error *error) {
    const struct shotgun_choice *choice = &icost->request->shotgun;
    const struct path_choice *paths = &icost->request->path;
    struct shotgun *shotgun = NULL;
    if (choice->wanted && !(shotgun = shotgun_new(icost->machine, &choice->options,
                                                  sysconf(_SC_NPROCESSORS_ONLN) > 1, error)))
        return false;
    struct category_choice *own = &icost->request->category;
    if (own->placed &&
        !(program->places = category_places_new(&own->categories, own->places, error)))
        return false;
    bool good = !paths->parts ||
                (program->path =
                     icost_path_new(paths, icost->machine, trace_isa(program->input.trace), error));
    good = good && simulate_program(icost, program, shotgun, row, error);
    good = good &&
           (!program->places || interrupt_signal || category_places_met(program->places, error));
    shotgun_free(shotgun);
    return good;
}

static bool read_regions(struct icost *icost, struct error *error) {
    struct icost_regions *regions = &icost->regions;
    struct program *program = &icost->programs[icost->count++];
    if (!icost_regions(icost->request, icost->machines, regions, &icost->machine, error))
        return false;
    program->instructions = regions->list.instructions;
    program->cycles = regions->cycles;
    program->ways[WAY_GRAPH] = regions->breakdown;
    regions->breakdown = (struct breakdown){0};
    icost->rows[0].seconds[WAY_GRAPH] = regions->seconds;
    icost->rows[0].name = regions->list.command;
    icost->rows[0].label = "regions";
    return true;
}

/* A breakdown from samples that another run took. */
static bool read_samples(struct icost *icost, struct error *error) {
    struct program *program = &icost->programs[icost->count++];
    struct shotgun_file *file = &icost->samples;
    if (!(icost->machine = machine_choice_of(icost->machines, file->code.code.isa, error)))
        return false;
    struct shotgun *shotgun = shotgun_from(icost->machine, file, error);
    bool good = shotgun && finish_shotgun(icost, program, shotgun,
                                          &icost->rows[0].seconds[WAY_PROFILER], error);
    shotgun_free(shotgun);
    icost->rows[0].name = file->command;
    icost->rows[0].label = "samples";
    icost->rows[0].shotgun = &program->shotgun;
    return good;
}

static bool read_programs(struct icost *icost, int *status, struct error *error) {
    const struct input_options *options = &icost->request->input;
    if (icost->request->regions.list)
        return read_regions(icost, error);
    if (icost->request->shotgun.path)
        return read_samples(icost, error);
    for (uint32_t i = 0; i <= options->more_count && !interrupt_signal; i++) {
        struct program *program = &icost->programs[icost->count++];
        if (!icost_input_open(&program->input, options, i, icost->folder, status, error) ||
            !choose_machine(icost, program->input.trace, error) ||
            !(program->label = icost_input_label(options, i)) ||
            !read_program(icost, program, &icost->rows[i], error))
            return false;
        icost->rows[i].name = trace_command(program->input.trace);
        icost->rows[i].label = program->label;
        icost->rows[i].shotgun = program->ways[WAY_PROFILER].cycles ? &program->shotgun : NULL;
        icost->rows[i].inspection = program->path ? icost_path_report(program->path) : NULL;
    }
    return true;
}

/* An interrupt leaves out the last programs. Returns how many were measured. */
static uint32_t fill_rows(struct icost *icost) {
    uint32_t count = 0;
    for (; count < icost->count; count++) {
        bool measured = false;
        for (int way = 0; way < WAY_COUNT; way++)
            if (icost->programs[count].ways[way].cycles) {
                icost->rows[count].ways[way] = &icost->programs[count].ways[way];
                measured = true;
            }
        if (!measured)
            break;
    }
    return count;
}

/* ---- multisim ---- */

/* Which sets; the empty one first. */
static uint32_t wanted_sets(const struct icost *icost, uint32_t sets[1 << CATEGORIES]) {
    enum icost_sets wanted = icost->request->multisim;
    uint32_t count = 0;
    for (uint32_t set = 0; set < 1u << CATEGORIES; set++) {
        int members = __builtin_popcount(set);
        if (wanted == ICOST_ALL || members < 2 ||
            (members == 2 && (wanted == ICOST_PAIRS || set & 1u << icost->focus)))
            sets[count++] = set;
    }
    return count;
}

/* Of the runs that are done; none when the first is not. */
static bool take_runs(struct icost *icost, struct program *program, const uint32_t *sets,
                      const struct multisim_run *runs, uint32_t count, struct error *error) {
    struct breakdown *breakdown = &program->ways[WAY_MULTISIM];
    if (!runs[0].done)
        return true;
    if (!breakdown_init(breakdown, CATEGORIES, icost->names, error))
        return false;
    breakdown->instructions = runs[0].instructions;
    for (uint32_t i = 0; i < count; i++)
        if (runs[i].done)
            breakdown->cycles[sets[i]] = (double)runs[i].cycles;
    return true;
}

static bool simulate_sets(struct icost *icost, uint32_t number, struct error *error) {
    struct program *program = &icost->programs[number];
    struct breakdown_program *row = &icost->rows[number];
    uint32_t sets[1 << CATEGORIES], count = wanted_sets(icost, sets);
    struct multisim_run *runs = calloc(count, sizeof *runs);
    if (!runs)
        return error_set(error, "out of memory for %" PRIu32 " simulations", count);
    for (uint32_t i = 0; i < count; i++)
        runs[i] = (struct multisim_run){.machine = icost->machine,
                                        .ideal = icost->request->machine.ideal | sets[i]};
    const struct multisim_options options = {.trace = program->input.path,
                                             .selection = program->input.again,
                                             .jobs = icost->request->jobs,
                                             .progress = show_progress,
                                             .progress_context = &icost->progress,
                                             .stop = &interrupt_signal};
    double begun = clock_monotonic();
    progress_start(&icost->progress, stderr, "simulating sets", "instructions",
                   program->instructions * count);
    bool good = multisim(&options, runs, count, error);
    progress_finish(&icost->progress);
    row->seconds[WAY_MULTISIM] = clock_monotonic() - begun;
    for (uint32_t i = 0; i < count; i++)
        row->simulations += runs[i].done;
    good = good && take_runs(icost, program, sets, runs, count, error);
    free(runs);
    return good;
}

/* The focus is chosen here at the latest: its pairs may be all that are simulated. */
static bool simulate_all_sets(struct icost *icost, struct error *error) {
    bool good = true;
    if (!icost->request->multisim)
        return true;
    uint32_t measured = fill_rows(icost);
    if (measured && icost->focus == BREAKDOWN_NO_FOCUS)
        icost->focus = breakdown_costliest(icost->rows, measured);
    for (uint32_t i = 0; good && i < icost->count; i++)
        good = interrupt_signal || simulate_sets(icost, i, error);
    return good;
}

/* ---- report ---- */

/* " of LABEL" where there are several programs. */
static const char *of_program(const struct icost *icost, uint32_t number, char text[64]) {
    if (icost->count == 1)
        return "";
    snprintf(text, 64, " of %.40s", icost->programs[number].label);
    return text;
}

static bool note_ways(struct icost *icost, uint32_t number) {
    const struct program *program = &icost->programs[number];
    const struct breakdown_program *row = &icost->rows[number];
    const struct breakdown *graph = &program->ways[WAY_GRAPH];
    struct report *report = &icost->report.report;
    char of[64];
    bool good = true;
    if (graph->cycles)
        good = report_note(
            report,
            "graph%s: from one simulation, in %s; its length is %s %% off the "
            "simulated cycles%s",
            of_program(icost, number, of), text_duration(row->seconds[WAY_GRAPH]).s,
            text_percent(fabs(graph->cycles[0] - (double)program->cycles), (double)program->cycles)
                .s,
            program->ways[WAY_MULTISIM].cycles || icost->request->category.categories.count
                ? ""
                : "; --multisim tells how far its costs are off");
    if (program->ways[WAY_PROFILER].cycles)
        good = good && shotgun_note(report, &icost->request->shotgun, &program->shotgun,
                                    of_program(icost, number, of));
    if (program->ways[WAY_MULTISIM].cycles)
        good = good && report_note(report, "multisim%s: %" PRIu32 " simulation%s in %s",
                                   of_program(icost, number, of), row->simulations,
                                   text_plural(row->simulations),
                                   text_duration(row->seconds[WAY_MULTISIM]).s);
    if (program->path)
        good = good && icost_path_note(program->path, report, program->cycles,
                                       of_program(icost, number, of));
    if (program->threads > 1)
        good = good && report_note(report,
                                   "%" PRIu32 " guest threads%s: each simulated on its own core "
                                   "without sharing, cycles summed",
                                   program->threads, of_program(icost, number, of));
    return good;
}

static bool note_regions(struct icost *icost) {
    const struct icost_regions *regions = &icost->regions;
    return report_note(&icost->report.report,
                       "estimated from %" PRIu32 " of %" PRIu32 " regions: %s of %s instructions "
                       "simulated, with their graphs, in %s",
                       regions->done, regions->count, text_count(regions->simulated).s,
                       text_count(regions->list.instructions).s,
                       text_duration(regions->seconds).s) &&
           report_note(&icost->report.report, "what a program reuses after longer than the warm-up "
                                              "may count as a miss");
}

static bool note_worth(struct icost *icost) {
    struct report *report = &icost->report.report;
    bool whole = !icost->request->regions.list, good = whole || note_regions(icost);
    for (uint32_t i = 0; whole && i < icost->report.program_count; i++)
        good &= note_ways(icost, i);
    good = good && report_note(report, "a cost is what a machine without that cause at all would "
                                       "save: a bound on what any change to the program or "
                                       "machine can");
    if (whole)
        good = good && report_note(report, "caches, TLBs and predictors were empty at the start: "
                                           "in short runs their first misses weigh too much");
    return good &&
           report_note(report, "not modelled: the kernel (cycles are user cycles; a system call "
                               "only flushes), execution down wrong paths");
}

static bool note_all(struct icost *icost, bool partial) {
    struct report *report = &icost->report.report;
    bool unfollowed = false;
    if (partial && !report_note(report, "PARTIAL: the run was cut short; this is what was done so "
                                        "far"))
        return false;
    for (uint32_t i = 0; i < icost->count; i++)
        unfollowed |=
            icost->programs[i].input.trace && note_trace(report, icost->programs[i].input.trace);
    const struct icost_request *request = icost->request;
    if (unfollowed && request->input.command && !request->input.follow)
        report->next = next_with_option("--follow", request->argc, request->output.words);
    else if (!partial && !request->multisim && !request->category.categories.count &&
             !request->regions.list && !request->shotgun.path)
        report->next = next_with_option("--multisim", request->argc, request->output.words);
    return note_worth(icost);
}

static bool write_report(struct icost *icost, struct error *error) {
    const struct icost_request *request = icost->request;
    bool partial = interrupt_signal;
    for (uint32_t i = 0; i < icost->count; i++)
        partial |= icost->programs[i].input.trace && trace_is_cut(icost->programs[i].input.trace);
    icost->report = (struct breakdown_report){.report = {.verb = "icost",
                                                         .machine = icost->machine,
                                                         .ideal = request->machine.ideal,
                                                         .partial = partial},
                                              .programs = icost->rows,
                                              .program_count = fill_rows(icost),
                                              .descriptions = icost->descriptions,
                                              .focus = icost->focus,
                                              .threshold = request->threshold,
                                              .largest = request->largest,
                                              .top = request->output.top};
    if (!icost->report.program_count)
        return error_set(error, "interrupted before anything was measured");
    if (!breakdown_report_choose(&icost->report) || !note_all(icost, partial))
        return error_set(error, "out of memory for the report");
    if (!request->output.json)
        breakdown_text(&icost->report, text_use_colour(icost->files.report.file),
                       icost->files.report.file);
    else if (!breakdown_json(&icost->report, icost->files.report.file, error))
        return false;
    if (request->output.svg)
        breakdown_svg(&icost->report, icost->files.picture.file);
    return report_files_close(&icost->files, error);
}

static int run_steps(struct icost *icost, struct error *error) {
    bool live = icost->request->input.command;
    int failed = live ? STATUS_BROKEN : STATUS_FAILED;
    if (!prepare(icost, error))
        return failed;
    interrupt_catch();
    if (!read_programs(icost, &failed, error) || !simulate_all_sets(icost, error) ||
        !write_report(icost, error))
        return failed;
    return live               ? command_status(trace_exit_status(icost->programs[0].input.trace))
           : interrupt_signal ? 128 + interrupt_signal
                              : 0;
}

int icost_breakdown(struct icost_request *request) {
    struct machine_choice machines = {0};
    struct icost icost = {.request = request, .machines = &machines};
    struct error error = {0};
    int status = run_steps(&icost, &error);
    if (error.message[0])
        print_error(&error);
    breakdown_report_free(&icost.report);
    for (uint32_t i = 0; i < icost.count; i++) {
        icost_path_free(icost.programs[i].path);
        category_places_free(icost.programs[i].places);
        icost_input_close(&icost.programs[i].input);
        free(icost.programs[i].label);
        for (int way = 0; way < WAY_COUNT; way++)
            breakdown_free(&icost.programs[i].ways[way]);
    }
    icost_regions_free(&icost.regions);
    shotgun_file_free(&icost.samples);
    free(icost.programs);
    free(icost.rows);
    temporary_remove(icost.folder);
    report_files_discard(&icost.files);
    return status;
}
