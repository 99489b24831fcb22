/* What run.c does for a trace, for a list of regions. */
#include "cmd/sim_regions.h"

#include "cmd/cmd.h"
#include "cmd/interrupt.h"
#include "cmd/next.h"
#include "cmd/output.h"
#include "machine/choice.h"
#include "report/missing_names.h"
#include "report/report.h"
#include "report/trace_notes.h"

struct regions {
    const struct run_request *request;
    struct machine_choice *machines;
    struct output file;
    struct save save;
    struct listed_regions study;
    struct program *program;
    struct report report;
};

static void add_notes(struct regions *regions) {
    struct report *report = &regions->report;
    const struct regions_request *request = &regions->request->regions;
    if (request->list_count > 1)
        report_note(report,
                    "%u runs together: the share of each region is of all of them, and says "
                    "nothing of one run by itself",
                    request->list_count);
    for (uint32_t i = 0; i < request->list_count; i++)
        note_lost_regions(report, request->lists[i], &regions->study.lost[i]);
}

static bool write_report(struct regions *regions, const struct machine *machine,
                         struct error *error) {
    const struct run_request *request = regions->request;
    const struct code *code = region_run_code(regions->study.run);
    struct report *report = &regions->report;
    struct report_request what = {.verb = request->verb,
                                  .program = regions->study.command,
                                  .machine = machine,
                                  .ideal = request->machine.ideal,
                                  .by = request->output.by,
                                  .top = request->output.top,
                                  .partial = regions->study.simulation.interrupted};
    if (!(regions->program = program_new()))
        return error_set(error, "out of memory for the report");
    if (!report_build(&what, &regions->study.simulation, code, regions->program, report, error))
        return false;
    missing_names_note_code(report, code, regions->program);
    add_notes(regions);
    bool saved = save_note(&regions->save, report, error);
    struct error late;
    error = saved ? error : &late;
    report->next = next_command(report, false, NULL, request->argc, request->argv);
    return output_report(&regions->file, report, &request->output, error) &&
           output_close(&regions->file, error) && saved;
}

static bool run_steps(struct regions *regions, struct error *error) {
    const struct run_request *request = regions->request;
    if (!machine_choice_load(regions->machines, &request->machine, error) ||
        !listed_regions_read(&regions->study, &request->regions, error) ||
        !output_open_report(&regions->file, &request->output, false, error) ||
        !save_open(&regions->save, &request->save, error))
        return false;
    const struct machine *machine =
        machine_choice_of(regions->machines, regions->study.lists[0].isa, error);
    if (!machine)
        return false;
    save_describe(&regions->save, regions->study.command, machine, request->machine.ideal);
    interrupt_catch();
    return listed_regions_simulate(&regions->study, &verb_watch, machine, request->machine.ideal,
                                   save_to(&regions->save), error) &&
           write_report(regions, machine, error);
}

int run_regions(const struct run_request *request) {
    struct machine_choice machines = {0};
    struct regions regions = {.request = request, .machines = &machines};
    struct error error = {0};
    bool good = run_steps(&regions, &error);
    if (!good)
        print_error(&error);
    report_free(&regions.report);
    if (regions.program)
        program_free(regions.program);
    listed_regions_free(&regions.study);
    output_discard(&regions.file);
    save_close(&regions.save);
    return verb_watch.signal ? 128 + verb_watch.signal : good ? 0 : STATUS_FAILED;
}
