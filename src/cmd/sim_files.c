/* A run of `culprit sim`, with the files that it writes beside the report: a picture of the
 * pipeline, what tracers record, slices. */
#include <signal.h>

#include "cmd/sim.h"
#include "util/jobs.h"

bool sim_prepare(void *verb, struct error *error) {
    struct sim *sim = verb;
    if (!run_prepare(&sim->run, error) || !slices_open(&sim->slices, &sim->slices_request, error))
        return false;
    if (sim->tracers && !tracers_open(sim->tracers, jobs_processors() > 1, error))
        return error_prefix(error, "--tap");
    if ((sim->speedup_path &&
         !output_open(&sim->speedup_file, "--speedup-stack", sim->speedup_path, NULL, error)) ||
        (sim->bottle_path &&
         !output_open(&sim->bottle_file, "--bottle-graph", sim->bottle_path, NULL, error)))
        return false;
    if (!sim->kanata_path)
        return true;
    sim->run.save.pipeline = sim->kanata = kanata_new(sim->kanata_from, sim->kanata_cycles);
    return sim->kanata ? output_open(&sim->kanata_file, "--kanata", sim->kanata_path, NULL, error)
                       : error_set(error, "out of memory");
}

/* The picture is of the first thread simulated. */
static bool attach_kanata(void *context, struct tap_source source, struct tap *tap, void **state,
                          struct error *error) {
    struct sim *sim = context;
    (void)source, (void)state;
    if (sim->kanata_attached)
        return true;
    sim->kanata_attached = true;
    struct tap_worker worker = kanata_worker(sim->kanata);
    return tap_add_worker(tap, &worker, error);
}

static void observe(struct sim *sim) {
    struct simulation_options *options = &sim->run.study.options;
    const struct machine_options *changed = &sim->run.machine;
    options->observers = sim->observers;
    options->slicing = sim->slices_request.path ? &sim->slices.slicing : NULL;
    if (sim->kanata)
        sim->observers[options->observer_count++] =
            (struct simulation_observer){.attach = attach_kanata, .context = sim};
    if (!sim->tracers)
        return;
    signal(SIGPIPE, SIG_IGN); /* one may write to a pipe; the command runs already */
    sim->told = (struct tracer_run){.machine = options->machine,
                                    .command = trace_command(sim->run.study.trace),
                                    .settings = changed->settings,
                                    .setting_count = changed->setting_count};
    tracers_tell(sim->tracers, &sim->told);
    sim->observers[options->observer_count++] =
        (struct simulation_observer){.attach = tracers_attach,
                                     .detach = tracers_detach,
                                     .learn = tracers_learn,
                                     .context = sim->tracers};
}

bool sim_run(void *verb, struct error *error) {
    struct sim *sim = verb;
    struct simulated_run *study = &sim->run.study;
    struct error late;
    if (!run_open(&sim->run, error))
        return false;
    observe(sim);
    bool good = simulated_run_go(study, &sim->run.verb.failed, error);
    /* What was recorded is in the files, also when the run failed. */
    if (sim->tracers &&
        !tracers_close(sim->tracers, trace_code(study->trace), good ? error : &late))
        good = false;
    return run_result(&sim->run, good, error);
}

/* Files that a --tap left empty, or did not end, for want of a trigger. */
static void note_triggers(const struct sim *sim, struct report *report) {
    const char *kind, *path, *what;
    for (uint32_t next = 0;
         sim->tracers && (what = tracers_missed(sim->tracers, &next, &kind, &path));)
        report_note(report, "--tap %s:%s: %s", kind, path, what);
}

static bool write_picture(struct sim *sim, struct error *error) {
    if (!sim->kanata)
        return true;
    if (!kanata_write(sim->kanata, trace_code(sim->run.study.trace), sim->kanata_file.file, error))
        return false;
    if (!kanata_count(sim->kanata))
        fprintf(stderr,
                "culprit: --kanata %s: no instruction was in flight in these cycles (see "
                "--kanata-from)\n",
                sim->kanata_path);
    return output_close(&sim->kanata_file, error);
}

/* A picture of threads that were simulated together. */
static bool write_threads(struct sim *sim, struct output *output,
                          void (*draw)(const struct threads_report *, const char *, FILE *),
                          struct error *error) {
    const struct report *report = &sim->run.report;
    if (!output->file)
        return true;
    if (!report->threads.together)
        return error_set(error, "%s %s: threads were not simulated together: %s", output->option,
                         output->path,
                         sim->run.study.apart ? sim->run.study.apart
                                              : "the program has one (give a trace file of one "
                                                "with several)");
    draw(&report->threads, report->program, output->file);
    return output_close(output, error);
}

bool sim_report(void *verb, struct error *error) {
    struct sim *sim = verb;
    const struct simulation *simulation = &sim->run.study.simulation;
    if (!run_report_begin(&sim->run, NULL, error))
        return false;
    note_triggers(sim, &sim->run.report);
    return run_report_write(&sim->run, error) && write_picture(sim, error) &&
           write_threads(sim, &sim->speedup_file, speedup_svg, error) &&
           write_threads(sim, &sim->bottle_file, bottles_svg, error) &&
           slices_write(&sim->slices, simulation->slices, simulation->slice_count, error);
}

void sim_free(void *verb) {
    struct sim *sim = verb;
    run_free(&sim->run);
    kanata_free(sim->kanata);
    tracers_free(sim->tracers);
    output_discard(&sim->kanata_file);
    output_discard(&sim->speedup_file);
    output_discard(&sim->bottle_file);
    slices_discard(&sim->slices);
}
