/* annotate --simulate: the command is explained as `culprit explain` does it, and its profile saved
 * in a store of its own, which is then read as any simulated epoch is. */
#include <stdlib.h>

#include "cmd/annotate.h"
#include "cmd/interrupt.h"
#include "query/time_event.h"
#include "util/temporary.h"

/* What the command runs on is the processor that was sampled, unless --machine says otherwise. */
static bool load_machines(struct annotate_job *job, struct error *error) {
    struct run *run = &job->explain.run;
    run->machine.machine = job->machine;
    if (!annotate_processor_of(&job->run.set, &job->processor, error))
        return false;
    const bool told = *job->processor.vendor || *job->processor.brand;
    if (told && !annotate_is_here(&job->processor))
        run->machine.elsewhere = &job->processor;
    return input_choose_machine(&run->input, &run->machine, &run->machines, error);
}

/* Of what is no time a simulation has nothing to show beside. */
static bool is_of_time(const struct annotate_job *job, const char *option, struct error *error) {
    const struct profile_set *set = &job->run.set;
    const struct profile_event *event = job->event || !set->event_count
                                            ? profile_set_event(set, job->event, error)
                                            : profile_set_time_event(set);
    if (!event || profile_event_is_time(event))
        return event != NULL;
    if (job->event)
        return error_set(error, "%s: beside samples of time, not of %s", option, event->name);
    return error_set(error,
                     "%s: %s has samples of %s and none of time, beside which it is shown: "
                     "'culprit record -- COMMAND' first",
                     option, set->label, event->name);
}

static bool read_samples(struct annotate_job *job, struct error *error) {
    return profile_read(&job->run, error) ||
           error_prefix(error, "--simulate is shown beside samples, which 'culprit record -- "
                               "COMMAND' collects");
}

/* A procedure without samples is an error before the command is run. */
static bool has_procedure(const struct annotate_job *job, struct error *error) {
    struct annotate_settings settings = {.set = &job->run.set, .program = job->run.program};
    struct procedure_choices choices = {0};
    const bool good =
        (settings.event = annotate_choose_event(&settings, job->event, job->picture, error)) &&
        procedure_choose(&choices, settings.set, settings.event, &job->query, job->run.program,
                         error);
    procedure_choices_free(&choices);
    annotate_settings_free(&settings);
    return good;
}

bool annotate_simulate_prepare(void *verb, struct error *error) {
    struct annotate_job *job = verb;
    struct run *run = &job->explain.run;
    if (!read_samples(job, error) || !verb_open_report(&job->run.verb, error))
        return false;
    if (job->run.set.simulated)
        return error_set(error, "--simulate: %s is a simulation itself", job->run.set.label);
    if (!is_of_time(job, "--simulate", error) || !has_procedure(job, error))
        return false;
    run->verb = job->run.verb;
    run->study.forecasts = false;
    run->input.follow = run->input.command;
    return load_machines(job, error) &&
           (job->folder = temporary_folder(&verb_watch.temporaries, error)) &&
           snprintf(job->simulated_store, sizeof job->simulated_store, "%s/simulated.db",
                    job->folder) < (int)sizeof job->simulated_store &&
           (run->save_options = (struct save_options){.save = true, .store = job->simulated_store},
            save_open(&run->save, &run->save_options, &verb_watch.temporaries, error));
}

/* The profile in its store; what could not be saved is an error. */
static bool save(struct explain *explain, struct error *error) {
    struct run *run = &explain->run;
    const bool done = explain->kind == EXPLANATION_DONE;
    struct report unread = {.verb = "annotate",
                            .simulation = done ? &explain->simulation : &run->study.simulation};
    if (done)
        run_save_finish(run, &unread);
    else
        run_save(run, NULL, 0, &unread);
    report_free(&unread);
    if (run->verb.late.message[0]) {
        *error = run->verb.late;
        return false;
    }
    return run->save.saving.session ||
           error_set(error, "--simulate: nothing was simulated that could be shown");
}

static bool read_saved(struct annotate_job *job, struct error *error) {
    struct saving *saving = &job->explain.run.save.saving;
    return profile_set_read(&job->simulated, saving->store, &saving->session, 1, false, error);
}

bool annotate_simulate_run(void *verb, struct error *error) {
    struct annotate_job *job = verb;
    struct verb_run *of = &job->explain.run.verb;
    const bool good = explain_run(&job->explain, error) && save(&job->explain, error);
    job->run.verb.failed = of->failed;
    job->run.verb.measured = of->measured;
    job->run.verb.ended_by = of->ended_by;
    job->run.verb.exit = of->exit;
    return good && read_saved(job, error);
}

bool annotate_read_simulated(struct annotate_job *job, struct error *error) {
    int64_t *sessions;
    size_t count;
    if (!job->simulated_epoch)
        return true;
    if (job->run.set.simulated)
        return error_set(error,
                         "--simulated: %s is a simulation itself (choose what was sampled "
                         "with --epoch)",
                         job->run.set.label);
    if (!is_of_time(job, "--simulated", error))
        return false;
    if (!store_options_choose(job->run.store, job->simulated_epoch, &sessions, &count, error))
        return false;
    const bool good =
        profile_set_read(&job->simulated, job->run.store, sessions, count, false, error) &&
        (job->simulated.simulated ||
         error_set(error, "--simulated: %s is no simulation (culprit explain --save makes one)",
                   job->simulated.label));
    free(sessions);
    return good;
}

void annotate_simulate_free(void *verb) {
    struct annotate_job *job = verb;
    profile_set_free(&job->simulated);
    explain_free(&job->explain);
    temporary_remove(&verb_watch.temporaries, job->folder);
    profile_free(&job->run);
}
