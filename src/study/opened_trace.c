#include "study/opened_trace.h"

struct trace *opened_trace(const char *path, struct error *error) {
    struct trace *trace = trace_open(path, error);
    if (!trace || trace_has_addresses(trace))
        return trace;
    trace_close(trace);
    error_set(error,
              "%s: no memory addresses are in it, so it cannot be simulated (capture it without "
              "--no-addresses)",
              path);
    return NULL;
}

bool opened_trace_choose(const struct opened_trace_request *request, struct trace *trace,
                         struct simulation_options *options, struct together *together,
                         const char **why, struct error *error) {
    watch_trace(request->watch, trace);
    options->machine = machine_choice_of(request->machines, trace_isa(trace), error);
    if (!options->machine)
        return false;
    if (!request->threads || !request->file)
        return true;
    return together_choose(request->threads, request->file, options, together, why, error);
}
