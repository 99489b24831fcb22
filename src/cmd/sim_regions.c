/* What run.c does for a trace, for a list of regions. */
#include "cmd/sim_regions.h"

#include <stdlib.h>

#include "cmd/cmd.h"
#include "cmd/interrupt.h"
#include "cmd/machine_choice.h"
#include "cmd/next.h"
#include "cmd/notes.h"
#include "cmd/output.h"
#include "report/report.h"
#include "simulate/regions.h"
#include "util/progress.h"

struct regions {
    const struct run_request *request;
    struct machine_choice *machines;
    struct output file;
    struct save save;
    struct region_list list;
    struct region_run *run;
    struct simulation simulation;
    struct program *program;
    struct report report;
    struct progress progress;
};

static void show_progress(void *context, uint64_t instructions) {
    progress_update(context, instructions);
}

static bool simulate(struct regions *regions, const struct machine *machine, struct error *error) {
    const struct run_request *request = regions->request;
    const struct region_list *list = &regions->list;
    struct saving *saving = save_to(&regions->save);
    save_describe(&regions->save, list->command, machine, request->machine.ideal);
    const struct region_run_options options = {.machine = machine,
                                               .ideal = request->machine.ideal,
                                               .isa = list->isa,
                                               .jobs = request->regions.jobs,
                                               .stop = &interrupt_signal,
                                               .progress = show_progress,
                                               .progress_context = &regions->progress,
                                               .keep = saving ? saving_keep_region : NULL,
                                               .keep_context = saving};
    uint64_t warm_up = request->regions.warm_up;
    progress_start(&regions->progress, stderr, "simulating", "instructions",
                   region_list_work(list, warm_up));
    bool good = (regions->run = region_run_new(&options, error)) &&
                region_run_add_list(regions->run, list, request->regions.list, warm_up, error) &&
                region_run_finish(regions->run, list->instructions, &regions->simulation, error);
    progress_finish(&regions->progress);
    regions->simulation.regions.slices = list->slice_count;
    return good;
}

static bool write_report(struct regions *regions, const struct machine *machine,
                         struct error *error) {
    const struct run_request *request = regions->request;
    const struct code *code = region_run_code(regions->run);
    struct report *report = &regions->report;
    struct report_request what = {.verb = request->verb,
                                  .program = regions->list.command,
                                  .machine = machine,
                                  .ideal = request->machine.ideal,
                                  .by = request->output.by,
                                  .top = request->output.top,
                                  .partial = regions->simulation.interrupted};
    if (!(regions->program = program_new()))
        return error_set(error, "out of memory for the report");
    if (!report_build(&what, &regions->simulation, code, regions->program, report, error))
        return false;
    note_images(report, code, regions->program);
    bool saved = save_note(&regions->save, report, error);
    struct error late;
    error = saved ? error : &late;
    report->next = next_command(report, false, request->argc, request->argv);
    return output_report(&regions->file, report, request->output.json, error) &&
           output_close(&regions->file, error) && saved;
}

static bool run_steps(struct regions *regions, struct error *error) {
    const struct run_request *request = regions->request;
    if (!machine_choice_load(regions->machines, &request->machine, error) ||
        !region_list_read(&regions->list, request->regions.list, error) ||
        !output_open(&regions->file, "--output", request->output.output, stdout, error) ||
        !save_open(&regions->save, &request->save, error))
        return false;
    const struct machine *machine = machine_choice_of(regions->machines, regions->list.isa, error);
    if (!machine)
        return false;
    interrupt_catch();
    return simulate(regions, machine, error) && write_report(regions, machine, error);
}

int run_regions(const struct run_request *request) {
    struct machine_choice machines = {0};
    struct regions regions = {.request = request, .machines = &machines};
    struct error error = {0};
    bool good = run_steps(&regions, &error);
    if (!good)
        print_error(&error);
    report_free(&regions.report);
    simulation_free(&regions.simulation);
    if (regions.program)
        program_free(regions.program);
    region_run_free(regions.run);
    region_list_free(&regions.list);
    output_discard(&regions.file);
    save_close(&regions.save);
    return interrupt_signal ? 128 + interrupt_signal : good ? 0 : STATUS_FAILED;
}
