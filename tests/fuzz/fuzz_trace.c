/* Trace files of arbitrary records. The checksums of an input are made right before it is read, so
 * that what lies behind them is tested; each batch that comes out must keep its promises, and so
 * must the list of what threads did. */
#include <string.h>

#include "input.h"
#include "trace/file_format.h"
#include "trace/trace.h"
#include "trace/wake_pairs.h"

static void check_batch(const struct trace *trace, const struct trace_batch *batch) {
    const struct code *code = trace_code(trace);
    require(batch->insn_count <= TRACE_BATCH_INSNS && batch->access_count <= TRACE_BATCH_ACCESSES);
    require(batch->thread < trace_thread_count(trace));
    require(batch->process < trace_process_count(trace));
    for (uint32_t i = 0; i < batch->insn_count; i++) {
        const struct dynamic_insn *insn = &batch->insns[i];
        require(insn->insn < code->insn_count);
        uint32_t first = insn->memory - (uint32_t)batch->first_access;
        require(first <= batch->access_count && insn->memory_count <= batch->access_count - first);
        for (uint32_t m = 0; m < insn->memory_count; m++)
            require(batch->accesses[first + m].size_bytes > 0);
    }
    require(batch->order_count <= TRACE_BATCH_ORDERS);
    for (uint32_t i = 0; i < batch->order_count; i++) {
        require(batch->orders[i].reader - batch->first_insn < batch->insn_count);
        require(i == 0 || batch->orders[i - 1].reader <= batch->orders[i].reader);
    }
    require(batch->python_count <= TRACE_BATCH_PYTHON);
    for (uint32_t i = 0; i < batch->python_count; i++) {
        const struct trace_python *python = &batch->python[i];
        require(python->position - batch->first_insn - 1 < batch->insn_count);
        require(i == 0 || python[-1].position <= python->position);
        require(python->function <= code->python_count);
    }
    require(batch->memory_count <= TRACE_BATCH_MEMORY);
    for (uint32_t i = 0; i < batch->memory_count; i++) {
        const struct trace_memory *event = &batch->memory[i];
        require(event->position - batch->first_insn <= batch->insn_count);
        require(i == 0 || event[-1].position <= event->position);
        require(event->kind > 0 && event->kind < TRACE_MEMORY_KINDS);
        require(event->image == UINT32_MAX || event->image < trace_code(trace)->image_count);
    }
    for (uint32_t i = 0; i < batch->event_count; i++) {
        uint64_t at = batch->events[i].position - 1 - batch->first_insn;
        require(batch->events[i].thread == batch->thread);
        require(at < batch->insn_count && batch->insns[at].flags & DYN_SYSCALL);
    }
}

static void check_events(const char *path) {
    struct thread_event_list list;
    struct wake_pairs pairs;
    struct error error;
    if (!thread_events_read(path, &list, &error))
        return;
    require(list.first[list.thread_count] == list.count);
    require(wake_pairs_find(&list, &pairs, &error));
    for (size_t i = 0; i < list.count; i++) {
        size_t by = pairs.released_by[i];
        require(by == WAKE_PAIRS_NONE ||
                (by < list.count && list.events[by].entry <= list.events[i].exit));
    }
    wake_pairs_free(&pairs);
    thread_events_free(&list);
}

static void read_alone(const char *path, uint32_t thread) {
    struct error error;
    struct trace_batch batch;
    struct trace *trace = trace_open(path, &error);
    if (trace)
        trace_alone(trace, thread);
    while (trace && trace_next(trace, &batch, &error) > 0) {
        require(batch.thread == thread);
        check_batch(trace, &batch);
    }
    trace_close(trace);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    uint8_t *bytes = malloc(size + 1);
    require(bytes != NULL);
    memcpy(bytes, data, size);
    seal_records(bytes, size, FILE_PROLOGUE_BYTES);
    struct memory_file file = memory_file(bytes, size);
    free(bytes);

    struct error error;
    struct trace *trace = trace_open(file.path, &error);
    struct trace_batch batch;
    while (trace && trace_next(trace, &batch, &error) > 0)
        check_batch(trace, &batch);
    trace_close(trace);
    for (uint32_t thread = 0; thread < 2; thread++)
        read_alone(file.path, thread);
    check_events(file.path);
    close(file.fd);
    return 0;
}
