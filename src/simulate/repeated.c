/* The file is read up to REPEATED_HELD instructions when the program is opened. If that is all, the
 * trace stays open for its code. A runner hands out slices of what is held or of its own trace's
 * batches. */
#include "simulate/repeated.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "util/array.h"

/* A trace that is being read, and what is selected of it. */
struct pass {
    struct trace *trace;
    struct selector *selector;
};

struct repeated {
    const char *path;
    struct selection selection;
    enum isa isa;
    bool held;
    struct trace *trace; /* of what is held */
    struct dynamic_insn *insns;
    struct memory_access *accesses;
    size_t insn_count, insn_capacity, access_count, access_capacity;
};

struct runner {
    struct repeated *program;
    struct pass pass;         /* of a program that is not held */
    struct trace_batch batch; /* what is handed out in slices */
    uint32_t at;              /* of it, the next instruction */
};

/* ---- one pass over the file ---- */

static void pass_end(struct pass *pass) {
    selector_free(pass->selector);
    if (pass->trace)
        trace_close(pass->trace);
    *pass = (struct pass){NULL, NULL};
}

static bool pass_begin(const struct repeated *program, struct pass *pass, struct error *error) {
    pass->trace = trace_open(program->path, error);
    if (pass->trace && (pass->selector = selector_new(&program->selection, error)))
        return true;
    pass_end(pass);
    return false;
}

/* 1: the next batch, perhaps empty; 0: the end; -1: error. */
static int pass_next(struct pass *pass, struct trace_batch *batch, struct error *error) {
    if (selector_done(pass->selector))
        return 0;
    int status = trace_next(pass->trace, batch, error);
    if (status > 0)
        selector_apply(pass->selector, trace_code(pass->trace), batch);
    return status;
}

/* ---- what is held ---- */

static void forget(struct repeated *program) {
    free(program->insns);
    free(program->accesses);
    program->insns = NULL;
    program->accesses = NULL;
    program->insn_count = program->access_count = 0;
}

static bool keep(struct repeated *program, const struct trace_batch *batch, struct error *error) {
    size_t insns = program->insn_count, accesses = program->access_count;
    if (!array_room(program->insns, program->insn_capacity, insns + batch->insn_count) ||
        !array_room(program->accesses, program->access_capacity, accesses + batch->access_count))
        return error_set(error, "%s: out of memory", program->path);
    if (batch->insn_count)
        memcpy(program->insns + insns, batch->insns, batch->insn_count * sizeof *program->insns);
    if (batch->access_count)
        memcpy(program->accesses + accesses, batch->accesses,
               batch->access_count * sizeof *program->accesses);
    for (uint32_t i = 0; i < batch->insn_count; i++)
        program->insns[insns + i].memory += (uint32_t)(accesses - batch->first_access);
    program->insn_count += batch->insn_count;
    program->access_count += batch->access_count;
    return true;
}

static bool load(struct repeated *program, struct pass *pass, struct error *error) {
    struct trace_batch batch;
    int status;
    while ((status = pass_next(pass, &batch, error)) > 0) {
        if (!keep(program, &batch, error))
            return false;
        if (program->insn_count > REPEATED_HELD || program->access_count > 2 * REPEATED_HELD) {
            forget(program);
            return true;
        }
    }
    if (status < 0)
        return false;
    if (!selector_started(pass->selector))
        return error_set(error, "%s: function %s was never entered", program->path,
                         program->selection.from_symbol);
    if (!program->insn_count)
        return error_set(error, "%s: no instructions in what is selected of it", program->path);
    program->held = true;
    program->trace = pass->trace;
    pass->trace = NULL;
    return true;
}

static bool is_file(const char *path, struct error *error) {
    struct stat status;
    if (stat(path, &status))
        return error_errno(error, "%s", path);
    return S_ISREG(status.st_mode) ||
           error_set(error,
                     "%s: not a file, but a program that runs again and again is read as "
                     "often",
                     path);
}

struct repeated *repeated_open(const char *path, const struct selection *selection,
                               struct error *error) {
    struct repeated *program = calloc(1, sizeof *program);
    struct pass pass = {NULL, NULL};
    if (!program)
        return error_null(error, "%s: out of memory", path);
    program->path = path;
    program->selection = *selection;
    if (selection->thread < 0)
        program->selection.thread = 0;
    bool good = is_file(path, error) && pass_begin(program, &pass, error);
    if (good) {
        program->isa = trace_isa(pass.trace);
        good =
            trace_has_addresses(pass.trace)
                ? load(program, &pass, error)
                : error_set(error, "%s: no memory addresses are in it, so it cannot be simulated",
                            path);
    }
    pass_end(&pass);
    if (good)
        return program;
    repeated_close(program);
    return NULL;
}

void repeated_close(struct repeated *program) {
    if (!program)
        return;
    if (program->trace)
        trace_close(program->trace);
    forget(program);
    free(program);
}

enum isa repeated_isa(const struct repeated *program) {
    return program->isa;
}

/* ---- who runs it ---- */

struct runner *runner_new(struct repeated *program, struct error *error) {
    struct runner *runner = calloc(1, sizeof *runner);
    if (!runner)
        return error_null(error, "%s: out of memory", program->path);
    runner->program = program;
    if (program->held)
        runner->batch = (struct trace_batch){.insns = program->insns,
                                             .insn_count = (uint32_t)program->insn_count,
                                             .accesses = program->accesses,
                                             .access_count = (uint32_t)program->access_count};
    return runner;
}

void runner_free(struct runner *runner) {
    if (!runner)
        return;
    pass_end(&runner->pass);
    free(runner);
}

/* More of the file, from its beginning after its end. */
static bool read_on(struct runner *runner, bool *ends, struct error *error) {
    if (!runner->pass.trace && !pass_begin(runner->program, &runner->pass, error))
        return false;
    int status = pass_next(&runner->pass, &runner->batch, error);
    runner->at = 0;
    if (status < 0)
        return false;
    *ends = status == 0;
    if (status == 0) {
        runner->batch.insn_count = 0;
        pass_end(&runner->pass);
    }
    return true;
}

bool runner_next(struct runner *runner, const struct code **code, struct trace_batch *batch,
                 bool *ends, struct error *error) {
    bool held = runner->program->held;
    *ends = false;
    if (!held && runner->at == runner->batch.insn_count && !read_on(runner, ends, error))
        return false;
    uint32_t left = runner->batch.insn_count - runner->at;
    uint32_t end = runner->at + (left < REPEATED_BATCH ? left : REPEATED_BATCH);
    *batch = batch_slice(&runner->batch, runner->at, end);
    *code = *ends ? NULL : trace_code(held ? runner->program->trace : runner->pass.trace);
    runner->at = end;
    if (held && end == runner->batch.insn_count) {
        *ends = true;
        runner->at = 0;
    }
    return true;
}
