#include "cmd/contend_profile.h"

#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/interrupt.h"
#include "cmd/output.h"
#include "machine/choice.h"
#include "study/localities.h"
#include "util/text.h"

bool contend_shapes_add(struct contend_profile_request *request, const char *text,
                        struct error *error) {
    for (const char *at = text; *at;) {
        char *end;
        const unsigned long sets = strtoul(at, &end, 10);
        const unsigned long ways = *end == 'x' ? strtoul(end + 1, &end, 10) : 0;
        if (!sets || sets > 1 << 22 || sets & (sets - 1) || !ways || ways > LOCALITY_MAX_WAYS ||
            (*end && *end != ','))
            return error_set(error,
                             "--shapes %.100s: SETSxWAYS,... where sets are a power of two and "
                             "ways 1 to %d",
                             text, LOCALITY_MAX_WAYS);
        if (request->shape_count == LOCALITY_MAX_LEVELS - 1)
            return error_set(error, "--shapes %.100s: at most %d", text, LOCALITY_MAX_LEVELS - 1);
        request->shapes[request->shape_count++] =
            (struct cache_shape){.sets = (uint32_t)sets, .ways = (uint32_t)ways};
        at = *end ? end + 1 : end;
    }
    return true;
}

struct job {
    const struct contend_profile_request *request;
    struct machine_choice choice;
    const struct machine *machine;
    struct trace *trace;
    struct locality locality;
    struct output file;
};

static void tell(const struct job *job) {
    const struct locality *locality = &job->locality;
    const struct locality_level *shared = &locality->levels[1];
    const double thousands = 1e-3 * (double)locality->events.instructions;
    const bool apart = job->request->command || !strcmp(job->request->path, "-");
    fprintf(apart ? stderr : stdout,
            "%s%s instructions, %s loads and stores; misses per 1000 instructions: L1D %.3f, %s "
            "%.3f\n",
            locality->partial ? "(partial) " : "", text_count(locality->events.instructions).s,
            text_count(locality->events.accesses).s, (double)locality->levels[0].misses / thousands,
            job->machine->llc.present ? "LLC" : "L2", (double)shared->misses / thousands);
}

static bool run_steps(struct job *job, int *failed, struct error *error) {
    const struct contend_profile_request *request = job->request;
    if (!machine_choice_load(&job->choice, &request->given->machine, error))
        return false;
    job->machine = &job->choice.candidates[0].machine;
    if (!machine_shared_cache(job->machine))
        return error_set(error, "machine %s has no cache beyond the L1 that could be shared",
                         job->machine->name);
    if (!output_open(&job->file, "--profile", request->path, NULL, error))
        return false;
    interrupt_catch();
    const struct locality_run_request run = {.watch = &verb_watch,
                                             .command = request->command,
                                             .path =
                                                 request->command ? NULL : request->given->words[0],
                                             .stop = request->stop,
                                             .selection = request->given->selection,
                                             .machine = job->machine,
                                             .shapes = request->shapes,
                                             .shape_count = request->shape_count,
                                             .frames = request->frames};
    if (!locality_run(&run, &job->trace, &job->locality, failed, error) ||
        !locality_write(&job->locality, job->file.file, error) || !output_close(&job->file, error))
        return false;
    tell(job);
    return true;
}

int contend_profile(const struct contend_profile_request *request, struct error *error) {
    struct job job = {.request = request};
    int status = request->command ? STATUS_BROKEN : STATUS_FAILED;
    if (run_steps(&job, &status, error))
        status = request->command    ? command_status(trace_exit_status(job.trace))
                 : verb_watch.signal ? 128 + verb_watch.signal
                                     : 0;
    else if (verb_watch.signal)
        status = 128 + verb_watch.signal;
    trace_close(job.trace);
    locality_free(&job.locality);
    output_discard(&job.file);
    return status;
}
