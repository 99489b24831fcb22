/* A trace is a source of items, a decoder that turns them into batches, and what was learned about
 * processes, the header and the end on the way. */
#include "trace/trace.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "trace/code.h"
#include "trace/decode.h"
#include "trace/item.h"
#include "trace/notes.h"
#include "trace/resumed.h"
#include "trace/source.h"
#include "util/array.h"

struct trace {
    struct item_source source;
    struct decoder *decoder;
    struct notes notes;
    enum isa isa;
    bool addresses;
    char *command;
    struct trace_process *processes;
    size_t process_capacity;
    uint32_t process_count;
    struct trace_exit exit;
    struct trace_effect effect; /* what NULL: none */
    bool (*watch)(void *context, const struct trace_chunk *chunk, struct error *error);
    void *watch_context;
    struct file_writer *keep; /* NULL: nothing is kept */
    bool keep_may_end;        /* rather than fail */
    double *seconds; /* of the processes that a trace_again() tells of once more, or NULL */
    uint32_t seconds_count;
    uint64_t pass; /* for the next trace_next() */
    bool cut;
    bool drained; /* the source has ended */
    bool failed;
    struct error failure;
};

static void free_process(struct trace_process *process) {
    free(process->command);
    free(process->executable);
    free((char *)process->untraced_reason);
}

void trace_close(struct trace *trace) {
    if (!trace)
        return;
    if (trace->source.close)
        trace->source.close(trace->source.context);
    decoder_free(trace->decoder);
    notes_free(&trace->notes);
    for (uint32_t i = 0; i < trace->process_count; i++)
        free_process(&trace->processes[i]);
    free(trace->processes);
    struct error late;
    if (trace->keep)
        file_writer_close(trace->keep, NULL, &late);
    free(trace->effect.what);
    free(trace->seconds);
    free(trace->command);
    free(trace);
}

/* Puts the input's name and position in front of an error about its content. */
static bool blame_source(struct trace *trace, struct error *error) {
    char where[512] = "";
    if (trace->source.where)
        trace->source.where(trace->source.context, where, sizeof where);
    return where[0] ? error_prefix(error, "%s", where) : false;
}

static bool read_header(struct trace *trace, struct error *error) {
    struct item item;
    int status = trace->source.next(trace->source.context, &item, error);
    if (status < 0)
        return false;
    if (status == 0 || item.kind != ITEM_HEADER || item.header.isa >= ISA_COUNT) {
        error_set(error, "not a trace: it does not begin with a header");
        return blame_source(trace, error);
    }
    trace->isa = item.header.isa;
    trace->addresses = item.header.addresses;
    trace->command = strdup(item.header.command);
    trace->decoder = decoder_new(trace->isa, item.header.addresses, &trace->notes);
    return (trace->command && trace->decoder) || error_set(error, "out of memory for a trace");
}

struct trace *trace_from_source(const struct item_source *source, struct error *error) {
    struct trace *trace = calloc(1, sizeof *trace);
    if (!trace) {
        source->close(source->context);
        return error_null(error, "out of memory for a trace");
    }
    trace->source = *source;
    if (!read_header(trace, error)) {
        trace_close(trace);
        return NULL;
    }
    return trace;
}

static char *copy_or_null(const char *text) {
    return text ? strdup(text) : NULL;
}

static bool add_process(struct trace *trace, const struct item_process *item, struct error *error) {
    if (!array_room(trace->processes, trace->process_capacity, (size_t)trace->process_count + 1))
        return error_set(error, "out of memory for process %" PRIu32, item->process);
    const uint32_t number = trace->process_count++;
    struct trace_process *process = &trace->processes[number];
    *process = (struct trace_process){
        .pid = item->pid,
        .parent = item->parent,
        .generation = item->generation,
        .command = copy_or_null(item->command),
        .executable = copy_or_null(item->executable),
        .traced = item->traced,
        .untraced_reason = copy_or_null(item->untraced_reason),
        .seconds = number < trace->seconds_count ? trace->seconds[number] : 0};
    return (process->command && process->executable) ||
           error_set(error, "out of memory for process %" PRIu32, item->process);
}

static bool show_chunk(const struct trace *trace, const struct item_data *data,
                       struct error *error) {
    const struct trace_chunk chunk = {.thread = data->thread,
                                      .process = data->process,
                                      .first_insn = data->first_insn,
                                      .insn_count = data->insn_count,
                                      .event_count = data->event_count,
                                      .events = data->events,
                                      .counted = data->counted};
    return !trace->watch || trace->watch(trace->watch_context, &chunk, error);
}

static bool take_item(struct trace *trace, const struct item *item, struct error *error) {
    if (!decoder_feed(trace->decoder, item, error))
        return blame_source(trace, error);
    switch (item->kind) {
    case ITEM_DATA:
        return show_chunk(trace, &item->data, error);
    case ITEM_EFFECT:
        if (!trace->effect.what)
            trace->effect = (struct trace_effect){item->effect.thread, item->effect.position,
                                                  strdup(item->effect.what)};
        return trace->effect.what || error_set(error, "out of memory for a trace");
    case ITEM_CHILD:
        if (item->child.process < trace->process_count)
            trace->processes[item->child.process].seconds += item->child.seconds;
        return true;
    case ITEM_HEADER:
        error_set(error, "a second header");
        return blame_source(trace, error);
    case ITEM_PROCESS:
        return add_process(trace, &item->process, error);
    case ITEM_CUT:
        trace->cut = true;
        notes_add(&trace->notes, "%s", item->note);
        return true;
    case ITEM_NOTE:
        notes_add(&trace->notes, "%s", item->note);
        return true;
    case ITEM_END:
        trace->exit = item->end;
        return true;
    default:
        return true;
    }
}

/* ---- what is kept in a file ---- */

bool trace_keeps(const struct trace *trace) {
    return trace->keep;
}

bool trace_keep_if_possible(struct trace *trace, const char *path, struct error *error) {
    trace->keep_may_end = true;
    return trace_keep(trace, path, error);
}

bool trace_keep(struct trace *trace, const char *path, struct error *error) {
    const struct item header = {.kind = ITEM_HEADER,
                                .header = {.isa = trace->isa,
                                           .command = trace->command,
                                           .host = "",
                                           .addresses = trace->addresses}};
    trace->keep = file_writer_open(path, false, error);
    return trace->keep && file_writer_put(trace->keep, &header, error);
}

bool trace_keep_end(struct trace *trace, struct error *error) {
    struct file_writer *keep = trace->keep;
    trace->keep = NULL;
    return !keep || file_writer_close(keep, NULL, error);
}

static bool keep_item(struct trace *trace, const struct item *item, struct error *error) {
    if (!trace->keep || item->kind == ITEM_EFFECT || item->kind == ITEM_CHILD ||
        item->kind == ITEM_MARKER || item->kind == ITEM_CUT)
        return true;
    if (file_writer_put(trace->keep, item, error))
        return true;
    if (!trace->keep_may_end)
        return false;
    struct error again;
    trace_keep_end(trace, &again);
    return true;
}

struct trace *trace_again(struct trace *trace, const char *path, struct error *error) {
    struct item_source source;
    if (!trace_keep_end(trace, error) ||
        !resumed_source_open(path, &trace->source, trace->drained, trace->exit, &source, error)) {
        trace_close(trace);
        return NULL;
    }
    trace->source.close = NULL; /* the new trace's now */
    uint32_t count = trace->process_count;
    double *seconds = calloc((size_t)count + 1, sizeof *seconds);
    for (uint32_t i = 0; seconds && i < count; i++)
        seconds[i] = trace->processes[i].seconds;
    struct trace_effect effect = trace->effect;
    trace->effect.what = NULL;
    trace_close(trace);
    if (!(trace = trace_from_source(&source, error))) {
        free(seconds);
        free(effect.what);
        return NULL;
    }
    trace->effect = effect;
    trace->seconds = seconds; /* which no file keeps */
    trace->seconds_count = seconds ? count : 0;
    return trace;
}

/* ---- reading ---- */

/* After an error of the source, what was held back is still handed out. */
static bool read_item(struct trace *trace) {
    struct item item;
    int status = trace->source.next(trace->source.context, &item, &trace->failure);
    trace->failed = status < 0 || (status > 0 && (!take_item(trace, &item, &trace->failure) ||
                                                  !keep_item(trace, &item, &trace->failure)));
    trace->drained = trace->failed || status == 0;
    if (trace->drained)
        decoder_finish(trace->decoder);
    return !trace->drained;
}

void trace_only(struct trace *trace, uint32_t thread) {
    decoder_only(trace->decoder, (int)thread);
}

void trace_alone(struct trace *trace, uint32_t thread) {
    trace_only(trace, thread);
    if (trace->source.only)
        trace->source.only(trace->source.context, thread);
}

void trace_outline(struct trace *trace) {
    decoder_outline(trace->decoder);
    if (trace->source.only)
        trace->source.only(trace->source.context, SOURCE_NO_THREAD);
}

void trace_remember(struct trace *trace, struct insn_memo *memo) {
    decoder_remember(trace->decoder, memo);
}

void trace_share(struct trace *trace, struct trace *read) {
    decoder_share(trace->decoder, read->decoder);
}

int trace_next(struct trace *trace, struct trace_batch *batch, struct error *error) {
    decoder_pass(trace->decoder, trace->pass);
    trace->pass = 0;
    for (;;) {
        int status = decoder_next(trace->decoder, batch, error);
        if (status < 0)
            blame_source(trace, error);
        if (status != 0)
            return status;
        if (trace->drained && trace->failed)
            *error = trace->failure;
        if (trace->drained)
            return trace->failed ? -1 : 0;
        read_item(trace);
    }
}

void trace_settle(struct trace *trace) {
    decoder_settle(trace->decoder);
}

void trace_place(struct trace *trace, const struct code_placement *placement) {
    decoder_place(trace->decoder, placement);
}

void trace_pass(struct trace *trace, uint64_t insns) {
    trace->pass = insns;
}

void trace_watch(struct trace *trace,
                 bool (*watch)(void *context, const struct trace_chunk *chunk, struct error *error),
                 void *context) {
    trace->watch = watch;
    trace->watch_context = context;
}

uint32_t trace_block_count(const struct trace *trace, uint32_t process) {
    const struct code_table *table = decoder_table(trace->decoder);
    return process < table->process_count ? table->processes[process].count : 0;
}

struct trace_block trace_block(const struct trace *trace, uint32_t process, uint32_t block) {
    const struct code_table *table = decoder_table(trace->decoder);
    const struct code_block *known = &table->blocks[table->processes[process].blocks[block]];
    return (struct trace_block){&table->templates[known->template], known->insn_count};
}

const struct trace_effect *trace_effect(const struct trace *trace) {
    return trace->effect.what ? &trace->effect : NULL;
}

void trace_interrupt(struct trace *trace) {
    if (trace->source.interrupt)
        trace->source.interrupt(trace->source.context);
}

const struct code *trace_code(const struct trace *trace) {
    return decoder_code(trace->decoder);
}
enum isa trace_isa(const struct trace *trace) {
    return trace->isa;
}
uint32_t trace_process_count(const struct trace *trace) {
    return trace->process_count;
}
const struct trace_process *trace_process(const struct trace *trace, uint32_t number) {
    return number < trace->process_count ? &trace->processes[number] : NULL;
}
bool trace_process_goes_on(const struct trace *trace, uint32_t number) {
    const struct trace_process *process = trace_process(trace, number);
    return process && process->traced && process->generation > 0;
}
uint32_t trace_thread_count(const struct trace *trace) {
    return decoder_thread_count(trace->decoder);
}
struct trace_thread trace_thread(const struct trace *trace, uint32_t thread) {
    return decoder_thread(trace->decoder, thread);
}
const char *trace_command(const struct trace *trace) {
    return trace->command;
}
bool trace_has_addresses(const struct trace *trace) {
    return trace->addresses;
}
struct trace_exit trace_exit_status(const struct trace *trace) {
    return trace->exit;
}
bool trace_is_cut(const struct trace *trace) {
    return trace->cut;
}
uint32_t trace_note_count(const struct trace *trace) {
    return trace->notes.count;
}
const char *trace_note(const struct trace *trace, uint32_t number) {
    return number < trace->notes.count ? trace->notes.text[number] : NULL;
}
