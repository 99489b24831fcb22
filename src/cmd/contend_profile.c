#include <string.h>

#include "cmd/cmd.h"
#include "cmd/contend.h"
#include "cmd/interrupt.h"

void contend_take_shapes(struct argp_state *state, void *contend, char *value) {
    struct contend *job = contend;
    struct error error;
    if (!cache_shapes_add(value, LOCALITY_MAX_LEVELS - 1, job->shapes, &job->shape_count, &error))
        options_fail(state, "--shapes %.100s: %s", value, error.message);
}

static bool prepare(void *verb, struct error *error) {
    struct contend *job = verb;
    return contend_prepare_machine(job, error) &&
           output_open(&job->profile_file, "--profile", job->profile, NULL, error);
}

static bool run(void *verb, struct error *error) {
    struct contend *job = verb;
    const struct locality_run_request request = {.watch = &verb_watch,
                                                 .command = job->command,
                                                 .path = job->command ? NULL : job->given.words[0],
                                                 .stop = job->stop,
                                                 .selection = job->given.selection,
                                                 .machine = job->run.options.machine,
                                                 .shapes = job->shapes,
                                                 .shape_count = job->shape_count,
                                                 .frames = job->frames};
    const bool good =
        locality_run(&request, &job->trace, &job->locality, &job->verb.failed, error) &&
        locality_write(&job->locality, job->profile_file.file, error) &&
        output_close(&job->profile_file, error);
    verb_command_ended(&job->verb, job->trace);
    return good;
}

static bool tell(void *verb, struct error *error) {
    (void)error;
    const struct contend *job = verb;
    const bool apart = job->command || !strcmp(job->profile, "-");
    locality_text(&job->locality, job->run.options.machine, apart ? stderr : stdout);
    return true;
}

static void clean_up(void *verb) {
    struct contend *job = verb;
    trace_close(job->trace);
    locality_free(&job->locality);
    output_discard(&job->profile_file);
}

const struct verb contend_profile = {
    .prepare = prepare, .run = run, .report = tell, .free = clean_up};
