/* Chunks of events that lie before the instructions that caches are shown are stamped as they come
 * from the trace; those before the ones that predictors learn from are passed over undecoded. */
#include "simulate/warming.h"

#include <stdlib.h>

#include "simulate/selection.h"

struct warming_run {
    const struct warming *warming;
    struct trace *trace;
    struct core_learned *before, *at_start;
    struct before_region *stamps;               /* NULL: it is known already */
    uint64_t stamp_from, train_from, show_from; /* positions */
    uint64_t stamped_to;                        /* position behind the last chunk that came */
    uint32_t process;                           /* of what is stamped */
    uint64_t position; /* behind the last instruction that was decoded or passed */
    bool rebuilt;      /* caches, where `show_from` is */
};

static const struct core_learned NOTHING = {NULL, NULL};

/* ---- stamps ---- */

static uint32_t insns_of_block(void *context, uint32_t block) {
    const struct warming_run *run = context;
    return trace_block(run->trace, run->process, block).insn_count;
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

/* Of the process whose chunks are stamped. */
static struct stamped_blocks blocks_of_trace(struct warming_run *run) {
    return (struct stamped_blocks){run, trace_block_count(run->trace, run->process), insns_of_block,
                                   span_of_block};
}

static bool stamp_chunk(void *context, const struct trace_chunk *chunk, struct error *error) {
    struct warming_run *run = context;
    const struct stamped_chunk stamped = {chunk->events, chunk->event_count, chunk->insn_count};
    const uint64_t begin = run->stamped_to, end = begin + chunk->insn_count;
    if (run->warming->only >= 0 && chunk->thread != (uint32_t)run->warming->only)
        return true;
    run->stamped_to = end;
    if (begin >= run->show_from || end <= run->stamp_from || run->stamp_from == run->show_from)
        return true;
    if (chunk->process != run->process) /* other data at the same addresses */
        before_region_clear(run->stamps);
    run->process = chunk->process;
    const struct stamped_blocks blocks = blocks_of_trace(run);
    return before_region_add(run->stamps, &stamped, run->show_from - begin, &blocks, error);
}

static uint64_t cycles_of(const struct warming *warming, uint64_t instructions) {
    return (uint64_t)((double)instructions * warming->cycles_per_instruction);
}

static void rebuild_from(const struct warming_run *run, const struct stamped_before *before) {
    const struct stamped_stretch stretch = {before->events,
                                            cycles_of(run->warming, before->instructions),
                                            cycles_of(run->warming, run->warming->skipped)};
    memory_rebuild(run->before->memory, before->lines, before->count, stretch);
}

static bool rebuild(struct warming_run *run, struct error *error) {
    struct stamped_before found;
    if (run->warming->stamped) {
        rebuild_from(run, run->warming->stamped);
        return true;
    }
    const struct stamped_blocks blocks = blocks_of_trace(run);
    if (!before_region_end(run->stamps, &blocks, &found, error))
        return false;
    rebuild_from(run, &found);
    stamped_before_free(&found);
    before_region_clear(run->stamps);
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

/* The predictor learns on, and what it says of the region is kept for those who simulate it. */
static bool copy_start(struct warming_run *run, struct error *error) {
    const struct warming *warming = run->warming;
    struct core_learned *start = run->at_start;
    if (warming->room) {
        *start = *warming->room;
        *warming->room = NOTHING;
    }
    if (!core_learned_copy(start, warming->machine, warming->ideal, run->before->memory, NULL,
                           error))
        return false;
    start->predictor =
        branch_replay(run->before->predictor, &warming->machine->branch, warming->outcomes);
    branch_record(run->before->predictor, warming->outcomes);
    return start->predictor || error_set(error, "branch predictor: out of memory");
}

static bool keep_start(struct warming_run *run, struct error *error) {
    if (run->warming->go_on)
        return copy_start(run, error);
    *run->at_start = *run->before;
    *run->before = NOTHING;
    memory_restart(run->at_start->memory);
    return true;
}

static uint64_t next_stop(const struct warming_run *run) {
    const uint64_t stops[] = {run->train_from, run->show_from, run->warming->start};
    uint64_t next = run->warming->end;
    for (size_t i = 0; i < sizeof stops / sizeof *stops; i++)
        if (stops[i] > run->position && stops[i] < next)
            next = stops[i];
    return next;
}

/* What is to be done before the instruction at the position. */
static bool reach(struct warming_run *run, struct error *error) {
    if (run->position >= run->train_from && !run->before->memory && !run->at_start->memory &&
        !know_nothing(run->warming, run->before, error))
        return false;
    if (run->position == run->show_from && !run->rebuilt) {
        run->rebuilt = true;
        if (!rebuild(run, error))
            return false;
    }
    return run->position != run->warming->start || run->at_start->memory || keep_start(run, error);
}

static bool is_done(const struct warming_run *run) {
    return run->at_start->memory && (!run->warming->go_on || run->position >= run->warming->end);
}

/* From the instructions at the position. */
static bool learn(const struct warming_run *run, const struct trace_batch *piece,
                  struct error *error) {
    const bool shown = run->position >= run->show_from;
    const struct core_learned learned = {shown ? run->before->memory : NULL,
                                         run->before->predictor};
    const struct core_input input = core_input_of(trace_code(run->trace), piece);
    return core_learned_warm(&learned, run->warming->machine, &input, error);
}

/* Of instructions at the position that caches were shown. */
static void pass_time(const struct warming_run *run, uint32_t count) {
    if (!run->before->memory || run->position < run->show_from)
        return;
    const uint64_t shown = run->position - run->show_from;
    memory_pass(run->before->memory,
                cycles_of(run->warming, shown + count) - cycles_of(run->warming, shown));
}

static bool show_batch(struct warming_run *run, const struct trace_batch *batch,
                       struct error *error) {
    for (uint32_t begin = 0, end, counted; begin < batch->insn_count; begin = end) {
        if (!reach(run, error))
            return false;
        if (is_done(run))
            return true;
        end = batch_count(batch, begin, next_stop(run) - run->position, &counted);
        const struct trace_batch piece = batch_slice(batch, begin, end);
        if (run->position >= run->train_from && !learn(run, &piece, error))
            return false;
        pass_time(run, counted);
        run->position += counted;
    }
    run->position += batch->passed;
    return reach(run, error);
}

static bool show(struct warming_run *run, struct error *error) {
    const struct warming *warming = run->warming;
    struct trace_batch batch;
    bool good = reach(run, error);
    while (good && !is_done(run) && !watcher_stops(&warming->watcher)) {
        if (run->position < run->train_from)
            trace_pass(run->trace, run->train_from - run->position);
        const int status = trace_next(run->trace, &batch, error);
        if (status <= 0)
            return status == 0;
        good = show_batch(run, &batch, error);
        watcher_tell(&warming->watcher, run->position);
    }
    return good;
}

/* What goes on to the next region. */
static bool end_to_learn(const struct warming_run *run, struct error *error) {
    const struct core_learned *before = run->before;
    if (before->memory)
        memory_restart(before->memory);
    if (before->predictor)
        branch_record(before->predictor, NULL);
    return !run->warming->go_on || !run->warming->outcomes->incomplete ||
           error_set(error, "out of memory for what is predicted of branches");
}

/* So many instructions before the region, but none that does not count. */
static uint64_t position_before(const struct warming *warming, uint64_t instructions) {
    const uint64_t most = warming->warm < warming->start ? warming->warm : warming->start;
    return warming->start - (instructions < most ? instructions : most);
}

bool warming_run(struct trace *trace, const struct warming *warming, struct core_learned *before,
                 struct core_learned *at_start, struct error *error) {
    struct warming_run run = {.warming = warming,
                              .trace = trace,
                              .before = before,
                              .at_start = at_start,
                              .stamps =
                                  warming->stamped ? NULL : before_region_new(warming->machine),
                              .stamp_from = position_before(warming, warming->warm),
                              .train_from = position_before(warming, warming->trained),
                              .show_from = position_before(warming, warming->shown)};
    *at_start = NOTHING;
    if (!run.stamps && !warming->stamped)
        return error_set(error, "out of memory for time stamps");
    if (!warming->stamped)
        trace_watch(trace, stamp_chunk, &run);
    const bool good = show(&run, error) && end_to_learn(&run, error);
    trace_watch(trace, NULL, NULL);
    before_region_free(run.stamps);
    return good;
}
