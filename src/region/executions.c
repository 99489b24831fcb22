/* Reads items (trace/item.h): of DATA only which block was entered, and marks that say that a block
 * was left early or that something came in between. */
#include "region/executions.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "region/run_items.h"
#include "trace/event.h"
#include "util/array.h"

enum { MAX_THREADS = 1 << 20 };

struct counted_thread {
    bool known;
    uint64_t position; /* instructions so far */
    struct execution_place place;
};

struct counting {
    struct executions *result;
    struct counted_thread *threads;
    size_t thread_count, thread_capacity;
    struct error *error;
};

void executions_free(struct executions *executions) {
    profile_code_free(&executions->code);
    execution_counts_free(&executions->counts);
    array_free_each(executions->executables, executions->executable_count);
    free(executions->command);
    notes_free(&executions->notes);
    *executions = (struct executions){.instructions = 0};
}

static bool out_of_memory(const struct counting *counting) {
    return error_set(counting->error, "out of memory for what is executed");
}

static bool enter(struct counting *counting, struct counted_thread *thread,
                  const struct item_data *data, uint64_t event) {
    struct executions *result = counting->result;
    const uint32_t id = profile_code_id(&result->code, data->process, event_block_number(event));
    if (!id)
        return error_set(counting->error,
                         "a block was executed that is not defined: the program "
                         "may have overwritten the memory that it is told through");
    return execution_enter(&result->counts, &result->code, &thread->place, id) ||
           out_of_memory(counting);
}

static bool take_mark(struct counting *counting, struct counted_thread *thread, uint64_t event) {
    struct execution_place *place = &thread->place;
    const uint64_t payload = event_payload(event);
    switch (event_mark_kind(event)) {
    case MARK_EXECUTED:
        if (place->id &&
            payload < profile_code_at(&counting->result->code, place->id)->place.insn_count)
            place->cut = (uint32_t)payload + 1;
        return true;
    case MARK_SIGNAL:
        place->signal = true;
        return true;
    case MARK_GAP:
        return execution_leave(&counting->result->counts, place) || out_of_memory(counting);
    default:
        return true;
    }
}

static struct counted_thread *thread_of(struct counting *counting, const struct item_data *data) {
    if (data->process >= counting->result->code.process_count)
        return error_null(counting->error, "process %" PRIu32 " is not defined", data->process);
    if (data->thread >= MAX_THREADS)
        return error_null(counting->error, "more than %d threads", MAX_THREADS);
    if (!array_zeroed_room(counting->threads, counting->thread_capacity, (size_t)data->thread + 1))
        return error_null(counting->error, "out of memory for %" PRIu32 " threads", data->thread);
    if (counting->thread_count <= data->thread)
        counting->thread_count = (size_t)data->thread + 1;
    struct counted_thread *thread = counting->threads + data->thread;
    counting->result->threads += !thread->known;
    thread->known = true;
    return thread;
}

static bool take_data(struct counting *counting, const struct item_data *data) {
    struct counted_thread *thread = thread_of(counting, data);
    if (!thread)
        return false;
    if (thread->position != data->first_insn &&
        !execution_leave(&counting->result->counts, &thread->place))
        return out_of_memory(counting);
    thread->position = data->first_insn + data->insn_count;
    counting->result->instructions += data->insn_count;
    for (uint32_t i = 0; i < data->event_count; i++) {
        const uint64_t event = data->events[i];
        const unsigned kind = event_kind(event);
        if (kind == EVENT_BLOCK ? !enter(counting, thread, data, event)
                                : kind == EVENT_MARK && !take_mark(counting, thread, event))
            return false;
    }
    return true;
}

static bool take_process(struct counting *counting, const struct item_process *item) {
    struct executions *result = counting->result;
    result->processes += item->traced;
    if (!item->traced)
        notes_add(&result->notes, "process %" PRIu32 " (%s) is not included: %s", item->pid,
                  item->command, item->untraced_reason ? item->untraced_reason : "not traced");
    if (!profile_code_process(&result->code, item->process, counting->error))
        return false;
    char *executable = item->traced ? strdup(item->executable) : NULL;
    if (!item->traced)
        return true;
    if (executable && array_push(result->executables, result->executable_capacity,
                                 result->executable_count, executable))
        return true;
    free(executable);
    return out_of_memory(counting);
}

static bool take_item(void *context, const struct item *item) {
    struct counting *counting = context;
    struct executions *result = counting->result;
    switch (item->kind) {
    case ITEM_HEADER:
        result->code.isa = item->header.isa;
        free(result->command);
        result->command = strdup(item->header.command);
        return result->command || out_of_memory(counting);
    case ITEM_PROCESS:
        return take_process(counting, &item->process);
    case ITEM_IMAGE:
        return profile_code_image(&result->code, &item->image, counting->error);
    case ITEM_CODE:
        return profile_code_block(&result->code, &item->code, counting->error);
    case ITEM_DATA:
        return take_data(counting, &item->data);
    case ITEM_NOTE:
    case ITEM_CUT:
        notes_add(&result->notes, "%s", item->note);
        return true;
    case ITEM_END:
        result->exit = item->end;
        result->complete = item->end.known || item->end.stopped;
        return true;
    default:
        return true;
    }
}

bool executions_count(const struct executions_options *options, struct executions *executions,
                      int *exec_status, struct error *error) {
    struct item_source source = {0};
    struct counting counting = {.result = executions, .error = error};
    *executions = (struct executions){.instructions = 0};
    *exec_status = 0;
    const struct run_items items = {
        .capture = options->capture,
        .trace = options->trace,
        .slice_size = options->capture ? options->capture->slice_size : 0,
        .watcher = &options->watcher,
        .take = take_item,
        .context = &counting,
        .instructions = &executions->instructions,
        .seconds = &executions->seconds,
    };
    if (!run_items_open(&items, &source, exec_status, error))
        return false;
    bool good = run_items_take(&items, &source, error);
    source.close(source.context);
    for (size_t i = 0; i < counting.thread_count; i++)
        if (!execution_leave(&executions->counts, &counting.threads[i].place) && good)
            good = out_of_memory(&counting);
    free(counting.threads);
    return good && (execution_counts_end(&executions->counts) || out_of_memory(&counting));
}
