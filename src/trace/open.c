/* The two ways to begin a trace: from a file or pipe, and live from a running command. */
#include "trace/item.h"
#include "trace/source.h"
#include "trace/trace.h"

struct trace *trace_open(const char *path, struct error *error) {
    struct item_source source = {0};
    return file_source_open(path, &source, error) ? trace_from_source(&source, error) : NULL;
}

struct trace *trace_open_again(const char *path, struct insn_memo *memo, struct error *error) {
    struct trace *trace = trace_open(path, error);
    if (trace)
        trace_remember(trace, memo);
    return trace;
}

struct trace *trace_open_beside(const char *path, struct trace *read, struct error *error) {
    struct trace *trace = trace_open(path, error);
    if (trace)
        trace_share(trace, read);
    return trace;
}

struct trace *trace_capture(const struct capture_options *options, int *exec_status,
                            struct error *error) {
    struct item_source source = {0};
    return capture_start(options, &source, exec_status, error) ? trace_from_source(&source, error)
                                                               : NULL;
}
