/* A trace through the profile, batch by batch. */
#include <stdio.h>
#include <string.h>

#include "model/locality.h"

static bool stopped(struct locality_watch watch) {
    return watch.stop && *watch.stop;
}

static bool run(struct trace *trace, struct selector *selector, struct locality_pass *pass,
                struct locality_watch watch, struct error *error) {
    struct trace_batch batch;
    uint64_t instructions = 0;
    int status;
    while ((status = trace_next(trace, &batch, error)) > 0 && !stopped(watch)) {
        selector_apply(selector, trace_code(trace), &batch);
        if (batch.insn_count &&
            !locality_add(pass, trace_code(trace), batch.insns, batch.insn_count, batch.accesses,
                          batch.access_count, (uint32_t)batch.first_access, error))
            return false;
        instructions += batch.insn_count;
        if (watch.progress)
            watch.progress(watch.context, instructions);
        if (selector_done(selector))
            break;
    }
    if (status < 0)
        return false;
    if (status == 0 && !selector_started(selector))
        return error_set(error, "the function was never entered (see its name with nm)");
    return instructions > 0 ||
           error_set(error, stopped(watch) ? "interrupted before the first instruction was profiled"
                                           : "no instructions were selected");
}

bool locality_measure(struct trace *trace, const struct selection *selection,
                      const struct locality_options *options, struct locality_watch watch,
                      struct locality *locality, struct error *error) {
    static const char *const ISAS[] = {[ISA_X86_64] = "x86-64", [ISA_RISCV64] = "riscv64"};
    struct selection one = *selection;
    if (one.thread < 0)
        one.thread = 0;
    *locality = (struct locality){0};
    struct selector *selector = selector_new(&one, error);
    struct locality_pass *pass = selector ? locality_new(options, error) : NULL;
    bool good = pass && run(trace, selector, pass, watch, error);
    selector_free(selector);
    if (!good) {
        locality_pass_free(pass);
        return false;
    }
    if (!locality_finish(pass, locality, error))
        return false;
    locality->partial = stopped(watch) || trace_is_cut(trace);
    snprintf(locality->isa, sizeof locality->isa, "%s", ISAS[trace_isa(trace)]);
    locality->program = strdup(trace_command(trace));
    return locality->program || error_set(error, "out of memory");
}
