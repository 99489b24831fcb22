/* What run.c does for a trace, for a list of regions. */
#include "cmd/sim_regions.h"

#include <stdlib.h>

#include "cmd/cmd.h"
#include "cmd/interrupt.h"
#include "cmd/next.h"
#include "cmd/notes.h"
#include "cmd/output.h"
#include "machine/choice.h"
#include "report/missing_names.h"
#include "report/report.h"
#include "simulate/regions.h"

struct regions {
    const struct run_request *request;
    struct machine_choice *machines;
    struct output file;
    struct save save;
    struct region_list lists[RUN_MOST_LISTS]; /* of each run, when several were merged */
    struct regions_lost lost[RUN_MOST_LISTS];
    char *command; /* of all of them */
    uint64_t instructions, slices;
    struct region_run *run;
    struct simulation simulation;
    struct program *program;
    struct report report;
};

/* How many processes and threads there are in the lists so far. */
struct counted {
    uint32_t processes, threads;
};

/* Those of later lists are others than those of the first, though each counts from 0. */
static void tell_apart(struct region_list *list, struct counted *before) {
    struct counted most = {0};
    for (size_t i = 0; i < list->region_count; i++) {
        struct region *region = &list->regions[i];
        most.processes = region->process > most.processes ? region->process : most.processes;
        most.threads = region->thread > most.threads ? region->thread : most.threads;
        region->process += before->processes;
        region->thread += before->threads;
    }
    before->processes += most.processes + 1;
    before->threads += most.threads + 1;
}

static bool name_commands(struct regions *regions, uint32_t count, struct error *error) {
    size_t size;
    FILE *out = open_memstream(&regions->command, &size);
    for (uint32_t i = 0; out && i < count; i++)
        fprintf(out, "%s%s", i ? ", " : "", regions->lists[i].command);
    return (out && fclose(out) == 0) || error_set(error, "out of memory for the commands");
}

static bool read_lists(struct regions *regions, struct error *error) {
    const struct regions_request *request = &regions->request->regions;
    const uint32_t count = request->list_count;
    struct counted counted = {0};
    for (uint32_t i = 0; i < count; i++)
        if (!region_list_read_merged(&regions->lists[i], request->lists[i], error))
            return false;
    if (!region_lists_are_whole(regions->lists, request->lists, count, error))
        return false;
    regions->instructions =
        count > 1 ? regions->lists[0].all_instructions : region_list_stands_for(regions->lists);
    for (uint32_t i = 0; i < count; i++) {
        struct region_list *list = &regions->lists[i];
        if (!region_list_do_without(list, request->lists[i], &regions->lost[i], error))
            return false;
        tell_apart(list, &counted);
        regions->slices += list->slice_count;
    }
    return name_commands(regions, count, error);
}

static bool add_lists(struct regions *regions, struct error *error) {
    const struct regions_request *request = &regions->request->regions;
    bool good = true;
    for (uint32_t i = 0; i < request->list_count && good; i++)
        good = region_run_add_list(regions->run, &regions->lists[i], request->lists[i],
                                   request->warm_up, error);
    return good;
}

static bool simulate(struct regions *regions, const struct machine *machine, struct error *error) {
    const struct run_request *request = regions->request;
    struct saving *saving = save_to(&regions->save);
    save_describe(&regions->save, regions->command, machine, request->machine.ideal);
    const struct region_run_options options = {.machine = machine,
                                               .ideal = request->machine.ideal,
                                               .isa = regions->lists[0].isa,
                                               .jobs = request->regions.jobs,
                                               .stop = &verb_watch.signal,
                                               .progress = watch_progress,
                                               .progress_context = &verb_watch,
                                               .keep = saving ? saving_keep_region : NULL,
                                               .keep_context = saving};
    uint64_t work = 0;
    for (uint32_t i = 0; i < request->regions.list_count; i++)
        work += region_list_work(&regions->lists[i], request->regions.warm_up);
    watch_begin(&verb_watch, "simulating", "instructions", work);
    bool good = (regions->run = region_run_new(&options, error)) && add_lists(regions, error) &&
                region_run_finish(regions->run, regions->instructions, &regions->simulation, error);
    watch_end(&verb_watch);
    regions->simulation.regions.slices = regions->slices;
    return good;
}

static void add_notes(struct regions *regions) {
    struct report *report = &regions->report;
    const struct regions_request *request = &regions->request->regions;
    if (request->list_count > 1)
        report_note(report,
                    "%u runs together: the share of each region is of all of them, and says "
                    "nothing of one run by itself",
                    request->list_count);
    for (uint32_t i = 0; i < request->list_count; i++)
        note_lost_regions(report, request->lists[i], &regions->lost[i]);
}

static bool write_report(struct regions *regions, const struct machine *machine,
                         struct error *error) {
    const struct run_request *request = regions->request;
    const struct code *code = region_run_code(regions->run);
    struct report *report = &regions->report;
    struct report_request what = {.verb = request->verb,
                                  .program = regions->command,
                                  .machine = machine,
                                  .ideal = request->machine.ideal,
                                  .by = request->output.by,
                                  .top = request->output.top,
                                  .partial = regions->simulation.interrupted};
    if (!(regions->program = program_new()))
        return error_set(error, "out of memory for the report");
    if (!report_build(&what, &regions->simulation, code, regions->program, report, error))
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
        !read_lists(regions, error) ||
        !output_open_report(&regions->file, &request->output, false, error) ||
        !save_open(&regions->save, &request->save, error))
        return false;
    const struct machine *machine =
        machine_choice_of(regions->machines, regions->lists[0].isa, error);
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
    for (uint32_t i = 0; i < request->regions.list_count; i++)
        region_list_free(&regions.lists[i]);
    free(regions.command);
    output_discard(&regions.file);
    save_close(&regions.save);
    return verb_watch.signal ? 128 + verb_watch.signal : good ? 0 : STATUS_FAILED;
}
