/* culprit trace --regions: the regions of a list from one run of the command, each into a trace.
 * The list is written again when the run is over, with what is complete. */
#include <stdlib.h>
#include <string.h>

#include "cmd/interrupt.h"
#include "cmd/trace.h"
#include "report/region_traces_report.h"

static bool prepare(void *verb, struct error *error) {
    struct trace_job *job = verb;
    job->prefix = job->output ? strdup(job->output) : region_traces_prefix(job->regions);
    if (!job->prefix || asprintf(&job->list_path, "%s.regions.csv", job->prefix) < 0)
        return error_set(error, "out of memory");
    return region_list_read_merged(&job->list, job->regions, error) &&
           output_open(&job->list_file, "--output", job->list_path, NULL, error);
}

static bool run(void *verb, struct error *error) {
    struct trace_job *job = verb;
    struct region_traces *traces = &job->traces;
    const struct region_traces_options options = {.capture = input_conditions(&job->input),
                                                  .prefix = job->prefix,
                                                  .warm_up = job->warm_up,
                                                  .other_threads = job->other_threads,
                                                  .compress = job->compress,
                                                  .progress = watch_region_capture,
                                                  .context = &verb_watch};
    watch_begin_within(&verb_watch, "capturing", "instructions", job->list.instructions);
    if (!region_traces_start(traces, &job->list, &options, &job->verb.failed, error))
        return traces->list ? error_prefix(error, "%s", job->regions) : false;
    watch_regions(&verb_watch, traces->capture);
    const bool good = region_traces_run(traces, error);
    watch_regions(&verb_watch, NULL);
    watch_end(&verb_watch);
    if (!verb_watch.signal)
        job->verb.exit = region_capture_exit(traces->capture);
    return good || verb_report_late(&job->verb, error);
}

static bool write_report(void *verb, struct error *error) {
    struct trace_job *job = verb;
    const bool partial = verb_watch.signal;
    bool written = true;
    if (region_traces_complete(&job->traces)) {
        region_list_print(&job->list, job->list_file.file);
        written = output_close(&job->list_file, error);
    }
    if (job->verb.output.json)
        return region_traces_json(&job->traces, job->list_path, partial, stderr, error) && written;
    region_traces_text(&job->traces, job->list_path, partial, stderr);
    return written;
}

static void clean_up(void *verb) {
    struct trace_job *job = verb;
    region_traces_close(&job->traces);
    output_discard(&job->list_file);
    region_list_free(&job->list);
    free(job->prefix);
    free(job->list_path);
}

const struct verb trace_regions = {
    .prepare = prepare, .run = run, .report = write_report, .free = clean_up};
