/* culprit sim --regions: what a run does for a trace, for lists of regions. */
#include "cluster/cluster.h"
#include "cmd/interrupt.h"
#include "cmd/sim.h"
#include "report/missing_names.h"
#include "report/trace_notes.h"

static bool prepare(void *verb, struct error *error) {
    struct sim *sim = verb;
    struct run *run = &sim->run;
    const struct machine **machine = &run->study.options.machine;
    sim->regions.trace = run->input.trace;
    path_options_look(&run->path_options, &run->input);
    if (sim->regions.cluster && !cluster_is_here(error))
        return false;
    if (!machine_choice_load(&run->machines, &run->machine, error) ||
        !listed_regions_read(&sim->listed, &sim->regions, error) ||
        !verb_open_report(&run->verb, error) ||
        !paths_prepare(&run->paths, &run->path_options, &run->verb.late, error) ||
        !save_open(&run->save, &run->save_options, &verb_watch.temporaries, error) ||
        !(*machine = machine_choice_of(&run->machines, sim->listed.lists[0].isa, error)) ||
        !run_may_have_levels(run, *machine, error) || !run_open_roofline(run, error))
        return false;
    sim->regions.details.top_down = run_wants_levels(run);
    save_describe(&run->save, sim->listed.command, *machine, run->machine.ideal);
    return true;
}

static bool simulate(void *verb, struct error *error) {
    struct sim *sim = verb;
    struct run *run = &sim->run;
    if (sim->regions.trace && !run_details(run, error))
        return false;
    if (sim->regions.trace)
        sim->regions.details = run->study.options.details;
    return listed_regions_simulate(&sim->listed, &verb_watch, run->study.options.machine,
                                   run->machine.ideal, save_to(&run->save), error);
}

static bool write_report(void *verb, struct error *error) {
    struct sim *sim = verb;
    struct run *run = &sim->run;
    const struct regions_request *request = &sim->regions;
    const struct listed_regions *listed = &sim->listed;
    const struct code *code = region_run_code(listed->run);
    struct report *report = &run->report;
    if (!run_report_build(run, &listed->simulation, code, listed->command,
                          listed->simulation.interrupted, NULL, error))
        return false;
    missing_names_note_code(report, code, run->program);
    if (request->list_count > 1)
        report_note(report,
                    "%u runs together: the share of each region is of all of them, and says "
                    "nothing of one run by itself",
                    request->list_count);
    for (uint32_t i = 0; i < request->list_count; i++)
        note_lost_regions(report, request->lists[i], &listed->lost[i]);
    run_save_finish(run, report);
    return run_report_write(run, error);
}

static void clean_up(void *verb) {
    struct sim *sim = verb;
    sim_free(sim);
    listed_regions_free(&sim->listed);
    cluster_options_free(&sim->cluster);
}

const struct verb sim_regions = {
    .prepare = prepare, .run = simulate, .report = write_report, .free = clean_up};
