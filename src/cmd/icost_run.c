/* Every trace is read once, for its graph; then, for --multisim, each is simulated again with every
 * set wanted. What was done when a signal comes is reported: a breakdown that lacks sets is whole
 * in those it has. */
#include "cmd/icost_run.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/interrupt.h"
#include "cmd/notes.h"
#include "machine/choice.h"
#include "study/temporary.h"
#include "util/clock.h"

enum { CATEGORIES = GRAPH_CATEGORIES };

/* A run that turns out too long to be checked is not kept any longer. */
static void show_progress(void *context, uint64_t instructions) {
    struct icost *icost = context;
    if (icost->request->multisim == ICOST_CHECK && instructions > ICOST_CHECKED && icost->count)
        trace_input_forget(&icost->programs[icost->count - 1].input);
    watch_progress(&verb_watch, instructions);
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
    uint32_t room = MACHINE_MOST_SETTINGS - asked->setting_count;
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

/* Whether a run is kept, to be simulated anew; of one that is known beforehand to be too long, for
 * a check it is not. */
static bool reads_again(const struct icost_request *request) {
    const struct input_options *input = &request->input;
    return request->multisim == ICOST_CHECK ? input->limit <= ICOST_CHECKED
                                            : request->multisim != ICOST_NONE;
}

static bool prepare(struct icost *icost, struct error *error) {
    const struct icost_request *request = icost->request;
    uint32_t programs = 1 + request->input.more_count;
    icost->programs = calloc(programs, sizeof *icost->programs);
    icost->rows = calloc(programs, sizeof *icost->rows);
    if (!icost->programs || !icost->rows)
        return error_set(error, "out of memory for %" PRIu32 " programs", programs);
    return find_focus(icost, error) && choose_machines(icost, error) &&
           report_files_open(&icost->files, &request->output, request->input.command, error) &&
           (!reads_again(request) ||
            (icost->folder = temporary_folder(&verb_watch.temporaries, error)));
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
static bool finish_shotgun(struct icost *icost, struct icost_program *program,
                           struct shotgun *shotgun, double *seconds, struct error *error) {
    const struct shotgun_choice *choice = &icost->request->shotgun;
    const struct shotgun_request request = {.design = choice->design,
                                            .fragments = choice->fragments,
                                            .ideal = icost->request->machine.ideal &
                                                     ((1u << CATEGORIES) - 1),
                                            .progress = watch_progress,
                                            .progress_context = &verb_watch,
                                            .stop = &verb_watch.signal};
    struct error failure;
    double begun = clock_monotonic();
    if (!shotgun)
        return true;
    watch_begin(&verb_watch, "constructing", "fragments",
                choice->design == SHOTGUN_SHORT_SIGNATURES ? choice->fragments : 0);
    bool good = shotgun_breakdown(shotgun, &request, &program->ways[WAY_PROFILER],
                                  &program->shotgun, &failure);
    watch_end(&verb_watch);
    if (good) {
        *seconds = clock_monotonic() - begun;
        return true;
    }
    breakdown_free(&program->ways[WAY_PROFILER]);
    program->ways[WAY_PROFILER] = (struct breakdown){0};
    if (!verb_watch.signal)
        *error = failure;
    return verb_watch.signal;
}

static bool finish_path(struct icost *icost, struct icost_program *program, struct error *error) {
    const struct icost_request *request = icost->request;
    return !program->path || icost_path_finish(program->path, trace_code(program->input.trace),
                                               request->output.top, request->threshold, error);
}

/* Simulates a program with its graph, with samples and with pieces kept where they are wanted. */
static bool simulate_program(struct icost *icost, struct icost_program *program,
                             struct shotgun *shotgun, struct breakdown_program *row,
                             struct error *error) {
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
                                               .progress_context = icost,
                                               .stop = &verb_watch.signal};
    struct simulation *simulation = &program->simulation;
    watch_begin_within(&verb_watch, "simulating", "instructions", request->input.limit);
    bool good = simulation_run(trace, &options, simulation, error);
    watch_end(&verb_watch);
    program->instructions = simulation->instructions;
    program->cycles = simulation->cycles;
    program->ways[WAY_GRAPH] = simulation->breakdown;
    simulation->breakdown = (struct breakdown){0};
    row->seconds[WAY_GRAPH] = simulation->seconds;
    if (!good || !trace_input_end(&program->input, error) || !finish_path(icost, program, error))
        return false;
    if (program->instructions)
        return finish_shotgun(icost, program, shotgun, &row->seconds[WAY_PROFILER], error);
    const bool later = program > icost->programs; /* there is something to report of the first */
    return (verb_watch.signal && later) ||
           input_nothing(&verb_watch, &request->input, trace, "simulated", error) ||
           error_prefix(error, "%s", program->label);
}

static bool print_place(void *context, const char *text) {
    (void)context;
    fprintf(stderr, "culprit: %s\n", text);
    return true;
}

/* A trace in a file tells its code in a moment, long before it is simulated: places where nothing
 * is are told of at once, and if nothing is left there is nothing to simulate. */
static bool check_places(struct icost *icost, const struct icost_program *program,
                         struct error *error) {
    struct category_choice *own = &icost->request->category;
    const char *path = program->input.file;
    struct category_places *places;
    struct trace *trace;
    if (!path)
        return true;
    if (!(places = category_places_new(&own->categories, own->places, error)))
        return false;
    bool good = (trace = trace_open(path, error)) &&
                category_places_read(places, trace, &verb_watch.signal, error) &&
                category_places_met(places, error);
    if (good && !verb_watch.signal)
        category_places_tell(places, print_place, NULL);
    trace_close(trace);
    category_places_free(places);
    return good;
}

static bool read_program(struct icost *icost, struct icost_program *program,
                         struct breakdown_program *row, struct error *error) {
    const struct shotgun_choice *choice = &icost->request->shotgun;
    const struct path_choice *paths = &icost->request->path;
    struct shotgun *shotgun = NULL;
    if (choice->wanted && !(shotgun = shotgun_new(icost->machine, &choice->options,
                                                  sysconf(_SC_NPROCESSORS_ONLN) > 1, error)))
        return false;
    struct category_choice *own = &icost->request->category;
    if (own->placed &&
        (!check_places(icost, program, error) ||
         !(program->places = category_places_new(&own->categories, own->places, error))))
        return false;
    bool good = !paths->parts ||
                (program->path =
                     icost_path_new(paths, icost->machine, trace_isa(program->input.trace), error));
    good = good && simulate_program(icost, program, shotgun, row, error);
    good = good &&
           (!program->places || verb_watch.signal || category_places_met(program->places, error));
    shotgun_free(shotgun);
    return good;
}

static bool read_regions(struct icost *icost, struct error *error) {
    struct icost_regions *regions = &icost->regions;
    struct icost_program *program = &icost->programs[icost->count++];
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
    struct icost_program *program = &icost->programs[icost->count++];
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
    if (icost->request->regions.list_count)
        return read_regions(icost, error);
    if (icost->request->shotgun.path)
        return read_samples(icost, error);
    for (uint32_t i = 0; i <= options->more_count && !verb_watch.signal; i++) {
        struct icost_program *program = &icost->programs[icost->count++];
        if (!trace_input_open(&program->input, &verb_watch, options, i, icost->folder, status,
                              error) ||
            !choose_machine(icost, program->input.trace, error) ||
            !(program->label = trace_input_label(options, i)) ||
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

/* Whether a run is simulated anew; a check takes little time, so a run of any length is none. */
static bool is_wanted(const struct icost *icost, const struct icost_program *program) {
    enum icost_sets wanted = icost->request->multisim;
    return wanted == ICOST_CHECK ? program->input.path && program->ways[WAY_GRAPH].cycles
                                 : wanted != ICOST_NONE;
}

static bool simulate_sets(struct icost *icost, uint32_t number, struct error *error) {
    const struct icost_request *request = icost->request;
    struct icost_program *program = &icost->programs[number];
    struct breakdown_program *row = &icost->rows[number];
    if (!is_wanted(icost, program))
        return true;
    bool check = request->multisim == ICOST_CHECK;
    const struct icost_wanted wanted = {request->multisim, icost->focus, request->largest,
                                        request->threshold};
    const struct icost_again again = {
        .watch = &verb_watch,
        .machine = icost->machine,
        .own = request->category.categories.count ? &request->category.categories : NULL,
        .ideal = request->machine.ideal,
        .jobs = request->jobs,
        .path = program->input.path,
        .selection = &program->input.again,
        .instructions = program->instructions,
        .cycles = check ? program->cycles : 0};
    uint32_t sets[1 << CATEGORIES_MAX];
    uint32_t count = icost_wanted_sets(&wanted, &program->ways[WAY_GRAPH], sets);
    if (check && count == 1)
        return true;
    double begun = clock_monotonic();
    bool good = icost_simulate_sets(&again, &program->ways[WAY_GRAPH], sets, count,
                                    &program->ways[WAY_MULTISIM], &row->simulations, error);
    row->seconds[WAY_MULTISIM] = clock_monotonic() - begun;
    icost->checked |= check && row->simulations;
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
    for (uint32_t i = 0; good && i < measured; i++)
        good = verb_watch.signal || simulate_sets(icost, i, error);
    return good;
}

/* ---- report ---- */

static bool write_report(struct icost *icost, struct error *error) {
    const struct icost_request *request = icost->request;
    bool partial = verb_watch.signal;
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
                                              .top = request->output.top,
                                              .changed = icost_changed(request),
                                              .checked = icost->checked};
    if (!icost->report.program_count)
        return error_set(error, "interrupted before anything was measured");
    if (!breakdown_report_choose(&icost->report) || !icost_note(icost, partial))
        return error_set(error, "out of memory for the report");
    const struct page page = page_of(icost->files.report.file);
    if (!request->output.json)
        breakdown_text(&icost->report, &page);
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
        return verb_watch.signal && !icost->programs[0].instructions ? 128 + verb_watch.signal
                                                                     : failed;
    return live                ? command_status(trace_exit_status(icost->programs[0].input.trace))
           : verb_watch.signal ? 128 + verb_watch.signal
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
        simulation_free(&icost.programs[i].simulation);
        category_places_free(icost.programs[i].places);
        trace_input_close(&icost.programs[i].input);
        free(icost.programs[i].label);
        for (int way = 0; way < WAY_COUNT; way++)
            breakdown_free(&icost.programs[i].ways[way]);
    }
    icost_regions_free(&icost.regions);
    shotgun_file_free(&icost.samples);
    free(icost.programs);
    free(icost.rows);
    temporary_remove(&verb_watch.temporaries, icost.folder);
    report_files_discard(&icost.files);
    return status;
}
