/* A hand-made source of items for tests of the trace room: items are appended, then read once. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "trace/event.h"
#include "trace/item.h"
#include "trace/source.h"

enum { SCRIPT_MAX = 4096 };

struct script {
    struct item items[SCRIPT_MAX];
    size_t count, at;
    uint32_t blocks[8];      /* next block number per process */
    uint32_t sizes[8][32];   /* instructions per process and block */
    uint64_t first_insn[64]; /* per thread */
};

static inline struct item *script_add(struct script *script, enum item_kind kind) {
    assert_true(script->count < SCRIPT_MAX);
    struct item *item = &script->items[script->count++];
    memset(item, 0, sizeof *item);
    item->kind = kind;
    return item;
}

static inline void script_process(struct script *script, uint32_t process) {
    script_add(script, ITEM_PROCESS)->process = (struct item_process){.process = process,
                                                                      .pid = 100 + process,
                                                                      .parent = UINT32_MAX,
                                                                      .command = "prog -x",
                                                                      .executable = "/bin/prog",
                                                                      .traced = true};
}

/* Header, process 0 and image 0 (/bin/prog mapped at 0x1000, file offset 0x1000). */
static inline void script_begin(struct script *script, enum isa isa) {
    memset(script, 0, sizeof *script);
    script_add(script, ITEM_HEADER)->header = (struct item_header){isa, "prog -x", "Linux", true};
    script_process(script, 0);
    script_add(script, ITEM_IMAGE)->image = (struct item_image){.process = 0,
                                                                .image = 0,
                                                                .path = "/bin/prog",
                                                                .kind = CODE_IMAGE_FILE,
                                                                .build_id = {1, 2, 3},
                                                                .build_id_size = 3,
                                                                .start = 0x1000,
                                                                .end = 0x9000,
                                                                .file_offset = 0x1000};
}

/* A block of image 0, mapped at file offset = address; returns its number. Bytes are kept. */
static inline uint32_t script_block(struct script *script, uint32_t process, uint64_t address,
                                    uint32_t insn_count, const char *bytes, uint32_t size) {
    script_add(script, ITEM_CODE)->code = (struct item_code){.process = process,
                                                             .block = script->blocks[process],
                                                             .image = 0,
                                                             .address = address,
                                                             .offset = address,
                                                             .insn_count = insn_count,
                                                             .size = size,
                                                             .bytes = (const uint8_t *)bytes};
    script->sizes[process][script->blocks[process] % 32] = insn_count;
    return script->blocks[process]++;
}

/* A chunk of thread `thread` of process 0; the events are kept by reference. */
static inline void script_data(struct script *script, uint32_t thread, const uint64_t *events,
                               uint32_t count) {
    uint64_t insn_count = 0;
    for (uint32_t i = 0; i < count; i++)
        if (event_kind(events[i]) == EVENT_BLOCK)
            insn_count += script->sizes[0][events[i] % 32];
    script_add(script, ITEM_DATA)->data =
        (struct item_data){.thread = thread,
                           .ticket = script->count,
                           .first_insn = script->first_insn[thread],
                           .insn_count = insn_count,
                           .event_count = count,
                           .events = events};
    script->first_insn[thread] += insn_count;
}

/* An event of a thread that has executed the instructions of the script so far, `insns` of the next
 * chunk included. The caller fills in the rest. */
static inline struct thread_event *script_event(struct script *script, uint32_t thread,
                                                enum thread_event_kind kind, uint64_t insns) {
    struct thread_event *event = &script_add(script, ITEM_THREAD_EVENT)->event;
    *event = (struct thread_event){.thread = thread,
                                   .kind = kind,
                                   .position = script->first_insn[thread] + insns,
                                   .entry = 2 * script->count,
                                   .exit = 2 * script->count + 1,
                                   .asked_ns = THREAD_EVENT_FOREVER,
                                   .bitset = UINT32_MAX,
                                   .other = THREAD_EVENT_NO_THREAD};
    return event;
}

static inline void script_thread_end(struct script *script, uint32_t thread) {
    script_add(script, ITEM_THREAD_END)->thread_ended = thread;
}

static inline int script_next(void *context, struct item *item, struct error *error) {
    (void)error;
    struct script *script = context;
    if (script->at == script->count)
        return 0;
    *item = script->items[script->at++];
    return 1;
}

static inline void script_close(void *context) {
    (void)context;
}

static inline struct trace *script_open(struct script *script) {
    struct error error;
    script->at = 0;
    struct item_source source = {.next = script_next, .close = script_close, .context = script};
    struct trace *trace = trace_from_source(&source, &error);
    assert_non_null(trace);
    return trace;
}

/* ---- batches as text ---- */

/* One instruction: static number, flags (Taken, rEp xN, sYscall, Signal, Fault, Gap) and accesses
 * (load or store, address+size/operand, d if descending). */
static inline size_t render_insn(char *text, size_t size, const struct trace_batch *batch,
                                 uint32_t i) {
    const struct dynamic_insn *insn = &batch->insns[i];
    size_t n = (size_t)snprintf(text, size, "%u", insn->insn);
    static const char LETTERS[] = "TEYSFG";
    for (int flag = 0; flag < 6; flag++)
        if (insn->flags & 1 << flag)
            n += (size_t)snprintf(text + n, size - n, "%c", LETTERS[flag]);
    if (insn->flags & DYN_REP)
        n += (size_t)snprintf(text + n, size - n, "x%u", insn->repeat);
    for (uint32_t m = 0; m < insn->memory_count; m++) {
        uint32_t at = insn->memory - (uint32_t)batch->first_access + m;
        assert_true(at < batch->access_count);
        const struct memory_access *access = &batch->accesses[at];
        n += (size_t)snprintf(text + n, size - n, " %c%lx+%u/%u%s", access->is_store ? 's' : 'l',
                              (unsigned long)access->address, access->size_bytes, access->operand,
                              access->descending ? "d" : "");
    }
    n += (size_t)snprintf(text + n, size - n, "; ");
    return n;
}

/* Reads all of a trace: "t0: 0 l2000+4/0; 1T; \n" per thread in order of number. Returns the status
 * of the last trace_next(). Consecutive numbering is checked. */
static inline int render_trace(struct trace *trace, char *text, size_t size, struct error *error) {
    enum { THREADS = 8 };
    char *lines[THREADS];
    size_t lengths[THREADS] = {0};
    uint64_t insns[THREADS] = {0}, accesses[THREADS] = {0};
    bool ended[THREADS] = {false};
    for (int t = 0; t < THREADS; t++)
        assert_non_null(lines[t] = calloc(1, size));
    struct trace_batch batch;
    int status;
    while ((status = trace_next(trace, &batch, error)) > 0) {
        assert_true(batch.thread < THREADS && batch.insn_count <= TRACE_BATCH_INSNS);
        uint32_t t = batch.thread;
        assert_false(ended[t]);
        ended[t] = batch.thread_ended;
        assert_int_equal(batch.first_insn, insns[t]);
        assert_int_equal(batch.first_access, accesses[t]);
        insns[t] += batch.insn_count;
        accesses[t] += batch.access_count;
        for (uint32_t i = 0; i < batch.insn_count && lengths[t] + 4096 < size; i++)
            lengths[t] += render_insn(lines[t] + lengths[t], size - lengths[t], &batch, i);
    }
    size_t n = 0;
    text[0] = 0;
    for (int t = 0; t < THREADS; t++) {
        if (insns[t] || ended[t])
            n += (size_t)snprintf(text + n, size - n, "t%d%s: %s\n", t, ended[t] ? "." : "",
                                  lines[t]);
        free(lines[t]);
    }
    return status;
}
