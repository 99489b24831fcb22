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

static bool open_trace(struct job *job, int *status, struct error *error) {
    const struct contend_profile_request *request = job->request;
    const struct selection *selection = &request->given->selection;
    if (!request->command) {
        job->trace = trace_open(request->given->words[0], error);
        return job->trace && (trace_has_addresses(job->trace) ||
                              error_set(error,
                                        "%.500s: no memory addresses are in it (capture it "
                                        "without --no-addresses)",
                                        request->given->words[0]));
    }
    struct capture_options capture = {.command = request->command,
                                      .addresses = true,
                                      .skip = selection->skip,
                                      .limit = selection->limit,
                                      .from_symbol = selection->from_symbol,
                                      .thread = selection->thread < 0 ? 0 : selection->thread};
    watch_limit(&verb_watch, &capture, request->stop);
    int exec_status = STATUS_BROKEN;
    job->trace = trace_capture(&capture, &exec_status, error);
    if (!job->trace)
        *status = exec_status ? exec_status : STATUS_BROKEN;
    return job->trace != NULL;
}

static bool measure(struct job *job, struct error *error) {
    const struct contend_profile_request *request = job->request;
    const struct machine_cache *last = machine_shared_cache(job->machine);
    struct cache_shape shapes[LOCALITY_MAX_LEVELS] = {cache_shape_of(last)};
    for (uint32_t i = 0; i < request->shape_count; i++) {
        shapes[i + 1] = request->shapes[i];
        shapes[i + 1].line = last->line;
    }
    const struct locality_options options = {.machine = job->machine,
                                             .shared = shapes,
                                             .shared_count = 1 + request->shape_count,
                                             .frames = request->frames,
                                             .core = true,
                                             .foreign = locality_foreign_rates,
                                             .foreign_count =
                                                 locality_rates_for(job->machine->chip.threads)};
    const struct selection all = {.thread = -1};
    const struct locality_watch watch = {watch_progress, &verb_watch, &verb_watch.signal};
    struct trace_batch batch;
    struct error late;
    watch_begin_within(&verb_watch, "profiling", "instructions", request->given->selection.limit);
    const bool good =
        locality_measure(job->trace, request->command ? &all : &request->given->selection, &options,
                         watch, &job->locality, error);
    watch_end(&verb_watch);
    while (request->command && trace_next(job->trace, &batch, &late) > 0)
        continue;
    return good || error_prefix(error, "%.500s", trace_command(job->trace));
}

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
    if (!open_trace(job, failed, error))
        return false;
    watch_trace(&verb_watch, job->trace);
    if (!measure(job, error) || !locality_write(&job->locality, job->file.file, error) ||
        !output_close(&job->file, error))
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
    watch_trace(&verb_watch, NULL);
    trace_close(job.trace);
    locality_free(&job.locality);
    output_discard(&job.file);
    return status;
}
