/* A run that turns out too long to be checked is not kept any longer. */
#include "study/icost.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "util/clock.h"
#include "util/jobs.h"
#include "util/temporary.h"

enum { CATEGORIES = GRAPH_CATEGORIES };

static void show_progress(void *context, uint64_t instructions) {
    struct icost_study *icost = context;
    if (icost->request->multisim == ICOST_CHECK && instructions > ICOST_CHECKED && icost->count)
        trace_input_forget(&icost->programs[icost->count - 1].input);
    watch_progress(icost->request->watch, instructions);
}

/* ---- what is asked for ---- */

static bool find_focus(struct icost_study *icost, struct error *error) {
    const char *focus = icost->request->focus;
    const struct category_choice *own = icost->request->category;
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

static bool choose_machines(struct icost_study *icost, struct error *error) {
    const struct icost_study_request *request = icost->request;
    struct machine_options options = *request->machine;
    if (request->shotgun->path &&
        (!shotgun_read(request->shotgun->path, &icost->samples, error) ||
         (!options.machine &&
          !sampled_machine(request->machine, &icost->samples, &options, error))))
        return false;
    return input_choose_machine(request->input, &options, icost->machines, error);
}

/* Whether a run is kept, to be simulated anew; of one that is known beforehand to be too long, for
 * a check it is not. */
static bool reads_again(const struct icost_study_request *request) {
    const struct input_options *input = request->input;
    if (request->pieces->parts & INSPECT_CRITICAL && !request->regions)
        return true; /* across threads */
    return request->multisim == ICOST_CHECK ? input->limit <= ICOST_CHECKED
                                            : request->multisim != ICOST_NONE;
}

/* All programs are simulated on the same machine. */
static bool choose_machine(struct icost_study *icost, const struct trace *trace,
                           struct error *error) {
    const struct machine *machine = machine_choice_of(icost->machines, trace_isa(trace), error);
    if (machine && icost->machine && machine != icost->machine && !icost->request->machine->machine)
        return error_set(error, "the traces are of several architectures, which no table compares "
                                "(give those of one)");
    icost->machine = machine;
    return machine;
}

/* ---- first reading ---- */

/* The breakdown from fragments, where it is wanted. Too little to construct one from is no failure
 * of a run that was interrupted. */
static bool finish_shotgun(struct icost_study *icost, struct icost_program *program,
                           struct shotgun *shotgun, double *seconds, struct error *error) {
    const struct shotgun_choice *choice = icost->request->shotgun;
    const struct shotgun_request request = {.design = choice->design,
                                            .fragments = choice->fragments,
                                            .ideal = icost->request->machine->ideal &
                                                     ((1u << CATEGORIES) - 1),
                                            .watcher = watcher_of(icost->request->watch)};
    struct error failure;
    double begun = clock_monotonic();
    if (!shotgun)
        return true;
    watch_begin(icost->request->watch, "constructing", "fragments",
                choice->design == SHOTGUN_SHORT_SIGNATURES ? choice->fragments : 0);
    bool good = shotgun_breakdown(shotgun, &request, &program->ways[WAY_PROFILER],
                                  &program->shotgun, &failure);
    watch_end(icost->request->watch);
    if (good) {
        *seconds = clock_monotonic() - begun;
        return true;
    }
    breakdown_free(&program->ways[WAY_PROFILER]);
    program->ways[WAY_PROFILER] = (struct breakdown){0};
    if (!icost->request->watch->signal)
        *error = failure;
    return icost->request->watch->signal;
}

static bool finish_pieces(struct icost_program *program, struct error *error) {
    return !program->pieces.keeper || pieces_inspect(&program->pieces, error);
}

/* Simulates a program with its graph, with samples and with pieces kept where they are wanted. */
static bool simulate_program(struct icost_study *icost, struct icost_program *program,
                             struct shotgun *shotgun, struct error *error) {
    const struct icost_study_request *request = icost->request;
    struct trace *trace = program->input.trace;
    struct simulation_observer observers[3];
    uint32_t observer_count = 0;
    if (shotgun)
        observers[observer_count++] =
            (struct simulation_observer){shotgun_attach, shotgun_detach, shotgun_learn, shotgun};
    if (program->pieces.keeper)
        observers[observer_count++] = pieces_observer(&program->pieces);
    if (program->places)
        observers[observer_count++] = category_places_observer(program->places);
    const struct categories *own = &request->category->categories;
    const struct simulation_options options = {
        .machine = icost->machine,
        .categories = own->count ? own : NULL,
        .ideal = request->machine->ideal,
        .sampling = sampling_everything(),
        .selection = program->input.selection,
        .graph = true,
        .details.extents = request->extents,
        .observers = observers,
        .observer_count = observer_count,
        .watcher = {show_progress, icost, &icost->request->watch->signal}};
    struct simulation *simulation = &program->simulation;
    watch_begin_within(icost->request->watch, "simulating", "instructions", request->input->limit);
    bool good = simulation_run(trace, &options, simulation, error);
    watch_end(icost->request->watch);
    program->instructions = simulation->instructions;
    program->cycles = simulation->cycles;
    program->ways[WAY_GRAPH] = simulation->breakdown;
    simulation->breakdown = (struct breakdown){0};
    program->seconds[WAY_GRAPH] = simulation->seconds;
    if (!good || !trace_input_end(&program->input, error) || !finish_pieces(program, error))
        return false;
    if (program->instructions)
        return finish_shotgun(icost, program, shotgun, &program->seconds[WAY_PROFILER], error);
    const bool later = program > icost->programs; /* there is something to report of the first */
    return (icost->request->watch->signal && later) ||
           input_nothing(icost->request->watch, request->input, trace, "simulated", error) ||
           error_prefix(error, "%s", program->label);
}

/* A trace in a file tells its code in a moment, long before it is simulated: places where nothing
 * is are told of at once, and if nothing is left there is nothing to simulate. */
static bool check_places(struct icost_study *icost, const struct icost_program *program,
                         struct error *error) {
    struct category_choice *own = icost->request->category;
    const char *path = program->input.file;
    struct category_places *places;
    struct trace *trace;
    if (!path)
        return true;
    if (!(places = category_places_new(&own->categories, own->places, error)))
        return false;
    bool good = (trace = trace_open(path, error)) &&
                category_places_read(places, trace, &icost->request->watch->signal, error) &&
                category_places_met(places, error);
    if (good && !icost->request->watch->signal)
        category_places_tell(places, icost->request->tell, NULL);
    trace_close(trace);
    category_places_free(places);
    return good;
}

static bool read_program(struct icost_study *icost, struct icost_program *program,
                         struct error *error) {
    const struct shotgun_choice *choice = icost->request->shotgun;
    const struct pieces_choice *pieces = icost->request->pieces;
    struct shotgun *shotgun = NULL;
    if (choice->wanted &&
        !(shotgun = shotgun_new(icost->machine, &choice->options, jobs_processors() > 1, error)))
        return false;
    struct category_choice *own = icost->request->category;
    if (own->placed &&
        (!check_places(icost, program, error) ||
         !(program->places = category_places_new(&own->categories, own->places, error))))
        return false;
    bool good = !pieces->parts || pieces_start(&program->pieces, pieces, icost->machine,
                                               trace_isa(program->input.trace), error);
    good = good && simulate_program(icost, program, shotgun, error);
    good = good && (!program->places || icost->request->watch->signal ||
                    category_places_met(program->places, error));
    shotgun_free(shotgun);
    return good;
}

static bool label(struct icost_program *program, const char *text, struct error *error) {
    return (program->label = strdup(text)) || error_set(error, "out of memory");
}

static bool read_regions(struct icost_study *icost, struct error *error) {
    struct icost_regions *regions = &icost->regions;
    struct icost_program *program = &icost->programs[icost->count++];
    if (!icost_regions(icost->request, icost->machines, regions, &icost->machine, error))
        return false;
    program->instructions = regions->list.instructions;
    program->cycles = regions->cycles;
    program->ways[WAY_GRAPH] = regions->breakdown;
    regions->breakdown = (struct breakdown){0};
    program->seconds[WAY_GRAPH] = regions->seconds;
    program->name = regions->list.command;
    return label(program, "regions", error);
}

/* A breakdown from samples that another run took. */
static bool read_samples(struct icost_study *icost, struct error *error) {
    struct icost_program *program = &icost->programs[icost->count++];
    struct shotgun_file *file = &icost->samples;
    if (!(icost->machine = machine_choice_of(icost->machines, file->code.code.isa, error)))
        return false;
    struct shotgun *shotgun = shotgun_from(icost->machine, file, error);
    bool good =
        shotgun && finish_shotgun(icost, program, shotgun, &program->seconds[WAY_PROFILER], error);
    shotgun_free(shotgun);
    program->name = file->command;
    return good && label(program, "samples", error);
}

bool icost_read(struct icost_study *icost, int *exec_status, struct error *error) {
    const struct input_options *options = icost->request->input;
    if (icost->request->regions)
        return read_regions(icost, error);
    if (icost->request->shotgun->path)
        return read_samples(icost, error);
    for (uint32_t i = 0; i <= options->more_count && !icost->request->watch->signal; i++) {
        struct icost_program *program = &icost->programs[icost->count++];
        if (!trace_input_open(&program->input, icost->request->watch, options, i, icost->folder,
                              exec_status, error) ||
            !choose_machine(icost, program->input.trace, error) ||
            !(program->label = trace_input_label(options, i)) ||
            !read_program(icost, program, error))
            return false;
        program->name = trace_command(program->input.trace);
    }
    return true;
}

uint32_t icost_measured(const struct icost_study *icost) {
    uint32_t count = 0;
    for (; count < icost->count; count++) {
        bool measured = false;
        for (int way = 0; way < WAY_COUNT; way++)
            measured |= icost->programs[count].ways[way].cycles != NULL;
        if (!measured)
            break;
    }
    return count;
}

/* ---- multisim ---- */

/* Whether a run is simulated anew; a check takes little time, so a run of any length is none. */
static bool is_wanted(const struct icost_study *icost, const struct icost_program *program) {
    enum icost_sets wanted = icost->request->multisim;
    return wanted == ICOST_CHECK ? program->input.path && program->ways[WAY_GRAPH].cycles
                                 : wanted != ICOST_NONE;
}

/* Once the graph is done: the path that goes over all threads. */
static bool find_path(struct icost_study *icost, struct icost_program *program,
                      struct error *error) {
    const char *file = program->input.path ? program->input.path : program->input.file;
    if (!(program->pieces.choice.parts & INSPECT_CRITICAL) ||
        program->simulation.thread_count < 2 || icost->request->watch->signal)
        return true;
    if (!(program->path = calloc(1, sizeof *program->path)))
        return error_set(error, "out of memory for the critical path");
    program->path->apart = "the run is long: its trace was not kept (culprit trace keeps it)";
    return !file || thread_path_find(icost->request->watch, file, icost->machine,
                                     &program->input.again, program->path, error);
}

static bool simulate_sets(struct icost_study *icost, uint32_t number, struct error *error) {
    const struct icost_study_request *request = icost->request;
    struct icost_program *program = &icost->programs[number];
    if (!is_wanted(icost, program))
        return true;
    bool check = request->multisim == ICOST_CHECK;
    const struct icost_wanted wanted = {request->multisim, icost->focus, request->largest,
                                        request->threshold};
    const struct icost_again again = {
        .watch = icost->request->watch,
        .machine = icost->machine,
        .own = request->category->categories.count ? &request->category->categories : NULL,
        .ideal = request->machine->ideal,
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
                                    &program->ways[WAY_MULTISIM], &program->simulations, error);
    program->seconds[WAY_MULTISIM] = clock_monotonic() - begun;
    icost->checked |= check && program->simulations;
    return good;
}

/* The breakdown that tells which causes cost most: of the graph where there is one. */
static const struct breakdown *shown(const struct icost_program *program) {
    return &program->ways[program->ways[WAY_GRAPH].cycles ? WAY_GRAPH : WAY_PROFILER];
}

static bool choose_focus(struct icost_study *icost, uint32_t measured, struct error *error) {
    const struct breakdown **breakdowns = calloc(measured, sizeof *breakdowns);
    if (!breakdowns)
        return error_set(error, "out of memory for %" PRIu32 " programs", measured);
    for (uint32_t i = 0; i < measured; i++)
        breakdowns[i] = shown(&icost->programs[i]);
    icost->focus = breakdown_costliest(breakdowns, measured);
    free(breakdowns);
    return true;
}

/* The focus is chosen here at the latest: its pairs may be all that are simulated. */
bool icost_simulate(struct icost_study *icost, struct error *error) {
    const uint32_t measured = icost_measured(icost);
    for (uint32_t i = 0; i < measured; i++)
        if (!find_path(icost, &icost->programs[i], error))
            return false;
    if (!icost->request->multisim || !measured)
        return true;
    bool good = icost->focus != BREAKDOWN_NO_FOCUS || choose_focus(icost, measured, error);
    for (uint32_t i = 0; good && i < measured; i++)
        good = icost->request->watch->signal || simulate_sets(icost, i, error);
    return good;
}

/* ---- the whole ---- */

bool icost_begin(struct icost_study *icost, const struct icost_study_request *request,
                 struct error *error) {
    uint32_t programs = 1 + request->input->more_count;
    *icost = (struct icost_study){.request = request,
                                  .machines = calloc(1, sizeof *icost->machines),
                                  .programs = calloc(programs, sizeof *icost->programs)};
    if (!icost->programs || !icost->machines)
        return error_set(error, "out of memory for %" PRIu32 " programs", programs);
    return find_focus(icost, error) && choose_machines(icost, error) &&
           (!reads_again(request) ||
            (icost->folder = temporary_folder(&request->watch->temporaries, error)));
}

static void free_program(struct icost_program *program) {
    pieces_free(&program->pieces);
    simulation_free(&program->simulation);
    category_places_free(program->places);
    trace_input_close(&program->input);
    if (program->path)
        thread_path_free(program->path);
    free(program->path);
    free(program->label);
    for (int way = 0; way < WAY_COUNT; way++)
        breakdown_free(&program->ways[way]);
}

void icost_free(struct icost_study *icost) {
    for (uint32_t i = 0; i < icost->count; i++)
        free_program(&icost->programs[i]);
    icost_regions_free(&icost->regions);
    shotgun_file_free(&icost->samples);
    free(icost->programs);
    free(icost->machines);
    if (icost->folder)
        temporary_remove(&icost->request->watch->temporaries, icost->folder);
    *icost = (struct icost_study){0};
}
