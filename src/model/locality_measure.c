/* A trace through the profile, batch by batch. */
#include <stdio.h>
#include <string.h>

#include "core/core.h"
#include "model/locality.h"

static bool run(struct trace *trace, struct selector *selector, struct locality_pass *pass,
                const struct watcher *watcher, struct error *error) {
    struct trace_batch batch;
    uint64_t instructions = 0;
    int status;
    while ((status = trace_next(trace, &batch, error)) > 0 && !watcher_stops(watcher)) {
        selector_apply(selector, trace_code(trace), &batch);
        const struct core_input input = core_input_of(trace_code(trace), &batch);
        if (batch.insn_count && !locality_add(pass, &input, error))
            return false;
        instructions += batch.insn_count;
        watcher_tell(watcher, instructions);
        if (selector_done(selector))
            break;
    }
    if (status < 0)
        return false;
    if (status == 0 && !selector_started(selector))
        return error_set(error, "the function was never entered (see its name with nm)");
    return instructions > 0 ||
           error_set(
               error, "%s",
               watcher_stops(watcher) ? "interrupted before the first instruction was profiled"
               : trace_is_cut(trace) && trace_note_count(trace) ? trace_note(trace, 0)
                                                                : "no instructions were selected");
}

bool locality_measure(struct trace *trace, const struct selection *selection,
                      const struct locality_options *options, const struct watcher *watcher,
                      struct locality *locality, struct error *error) {
    static const char *const ISAS[] = {[ISA_X86_64] = "x86-64", [ISA_RISCV64] = "riscv64"};
    struct selection one = *selection;
    if (one.thread < 0)
        one.thread = 0;
    *locality = (struct locality){0};
    struct selector *selector = selector_new(&one, error);
    struct locality_pass *pass = selector ? locality_new(options, error) : NULL;
    bool good = pass && run(trace, selector, pass, watcher, error);
    selector_free(selector);
    if (!good) {
        locality_pass_free(pass);
        return false;
    }
    if (!locality_finish(pass, locality, error))
        return false;
    locality->partial = watcher_stops(watcher) || trace_is_cut(trace);
    snprintf(locality->isa, sizeof locality->isa, "%s", ISAS[trace_isa(trace)]);
    locality->program = strdup(trace_command(trace));
    return locality->program || error_set(error, "out of memory");
}
