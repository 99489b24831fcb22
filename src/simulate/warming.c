/* Chunks of events that lie before the instructions to be shown are stamped as they come from the
 * trace, and passed over undecoded. */
#include "simulate/warming.h"

#include <stdlib.h>

#include "memory/stamps.h"
#include "simulate/selection.h"

struct warming_run {
    const struct warming *warming;
    struct trace *trace;
    struct core_learned *before, *at_start;
    struct stamps *stamps;
    uint64_t stamp_from, show_from; /* positions */
    uint64_t stamped_to;            /* position behind the last chunk that came */
    uint32_t process;               /* of what is stamped */
    uint64_t position;              /* behind the last instruction that was decoded or passed */
    struct core *core;              /* from show_from on; it simulates nothing */
};

/* ---- stamps ---- */

static bool stamp_chunk(void *context, const struct trace_chunk *chunk, struct error *error) {
    struct warming_run *run = context;
    const uint64_t begin = run->stamped_to, end = begin + chunk->insn_count;
    if (run->warming->only >= 0 && chunk->thread != (uint32_t)run->warming->only)
        return true;
    run->stamped_to = end;
    if (end > run->show_from || end <= run->stamp_from)
        return true;
    if (chunk->process != run->process)
        stamps_clear(run->stamps); /* other data at the same addresses */
    run->process = chunk->process;
    return stamps_events(run->stamps, chunk->events, chunk->event_count,
                         trace_block_count(run->trace, chunk->process)) ||
           error_set(error, "out of memory for time stamps");
}

static void span_of_block(void *context, uint32_t block, uint64_t *start, uint64_t *end) {
    const struct warming_run *run = context;
    const struct code *code = trace_code(run->trace);
    const struct trace_block what = trace_block(run->trace, run->process, block);
    *start = *end = 0;
    if (!what.insn_count)
        return;
    const struct static_insn *last = &code->insns[what.insns[what.insn_count - 1].insn];
    *start = code->insns[what.insns[0].insn].address;
    *end = last->address + last->length;
}

static uint32_t shortest_line(const struct machine *machine) {
    const uint32_t data = machine->l1d.line, code = machine->l1i.line;
    return machine->l1i.present && code < data ? code : data;
}

static bool rebuild(struct warming_run *run, struct error *error) {
    size_t count;
    struct stamped_line *lines = stamps_lines(run->stamps, span_of_block, run, &count);
    if (!lines)
        return error_set(error, "out of memory for time stamps");
    memory_rebuild(run->before->memory, lines, count);
    free(lines);
    stamps_clear(run->stamps);
    return true;
}

/* ---- what is shown ---- */

/* What a core that has executed nothing knows. */
static bool know_nothing(const struct warming *warming, struct core_learned *learned,
                         struct error *error) {
    const struct core_options options = {.ideal = warming->ideal};
    struct core *core = core_new(warming->machine, &options, error);
    const bool good = core && core_finish(core, error);
    if (good)
        core_give(core, learned);
    if (core)
        core_free(core);
    return good;
}

static bool begin_to_show(struct warming_run *run, struct error *error) {
    const struct core_options options = {.ideal = run->warming->ideal, .learned = run->before};
    if (!run->before->memory && !know_nothing(run->warming, run->before, error))
        return false;
    return rebuild(run, error) && (run->core = core_new(run->warming->machine, &options, error));
}

static bool keep_start(struct warming_run *run, struct error *error) {
    const struct warming *warming = run->warming;
    if (warming->go_on && warming->room) {
        *run->at_start = *warming->room;
        *warming->room = (struct core_learned){NULL, NULL};
    }
    if (warming->go_on)
        return core_learned_copy(run->at_start, warming->machine, warming->ideal,
                                 core_memory(run->core), core_predictor(run->core), error);
    if (!core_finish(run->core, error))
        return false;
    core_give(run->core, run->at_start);
    core_free(run->core);
    run->core = NULL;
    return true;
}

static uint64_t next_stop(const struct warming_run *run) {
    const struct warming *warming = run->warming;
    return run->position < run->show_from   ? run->show_from
           : run->position < warming->start ? warming->start
                                            : warming->end;
}

/* What is to be done before the instruction at the position. */
static bool reach(struct warming_run *run, struct error *error) {
    if (run->position == run->show_from && !run->core && !begin_to_show(run, error))
        return false;
    return run->position != run->warming->start || run->at_start->memory || keep_start(run, error);
}

static bool is_done(const struct warming_run *run) {
    return run->at_start->memory && (!run->warming->go_on || run->position >= run->warming->end);
}

static bool show_batch(struct warming_run *run, const struct trace_batch *batch,
                       struct error *error) {
    for (uint32_t begin = 0, end, counted; begin < batch->insn_count; begin = end) {
        if (!reach(run, error))
            return false;
        if (is_done(run))
            return true;
        end = batch_count(batch, begin, next_stop(run) - run->position, &counted);
        run->position += counted;
        if (!run->core)
            continue;
        const struct trace_batch piece = batch_slice(batch, begin, end);
        const struct core_input input = core_input_of(trace_code(run->trace), &piece);
        if (!core_warm(run->core, &input, error))
            return false;
    }
    run->position += batch->passed;
    return reach(run, error);
}

static bool show(struct warming_run *run, struct error *error) {
    const struct warming *warming = run->warming;
    struct trace_batch batch;
    bool good = reach(run, error);
    while (good && !is_done(run) && !watcher_stops(&warming->watcher)) {
        if (run->position < run->show_from)
            trace_pass(run->trace, run->show_from - run->position);
        const int status = trace_next(run->trace, &batch, error);
        if (status <= 0)
            return status == 0;
        good = show_batch(run, &batch, error);
        watcher_tell(&warming->watcher, run->position);
    }
    return good;
}

bool warming_run(struct trace *trace, const struct warming *warming, struct core_learned *before,
                 struct core_learned *at_start, struct error *error) {
    const uint64_t warm = warming->warm < warming->start ? warming->warm : warming->start;
    struct warming_run run = {.warming = warming,
                              .trace = trace,
                              .before = before,
                              .at_start = at_start,
                              .stamps = stamps_new(shortest_line(warming->machine)),
                              .stamp_from = warming->start - warm,
                              .show_from = warming->start -
                                           (warming->trained < warm ? warming->trained : warm)};
    *at_start = (struct core_learned){NULL, NULL};
    if (!run.stamps)
        return error_set(error, "out of memory for time stamps");
    trace_watch(trace, stamp_chunk, &run);
    bool good = show(&run, error);
    trace_watch(trace, NULL, NULL);
    if (run.core) {
        good = core_finish(run.core, error) && good;
        core_give(run.core, before);
        core_free(run.core);
    }
    stamps_free(run.stamps);
    return good;
}
