/* A buffer of the tap written by hand: records at given cycles, for workers to consume.
 *
 *     struct tap_script *script = tap_script_new();
 *     script_record(script, TAP_COMMIT, 4, TAP_DRAINED, 3, UOPS(tap_uop(0, 0, TAP_UOP_LAST)));
 *     worker.consume(worker.context, &script->buffer, &error) */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tap/index.h"
#include "tap/tap.h"

struct tap_script {
    struct tap_buffer buffer;
    struct tap_state after; /* the last record */
    struct shared_index index;
    uint64_t words[TAP_BUFFER_WORDS];
};

/* n and the words of µops. */
#define UOPS(...)                                                                                  \
    sizeof((uint64_t[]){__VA_ARGS__}) / 8, (uint64_t[]) {                                          \
        __VA_ARGS__                                                                                \
    }

static inline struct tap_script *tap_script_new(void) {
    struct tap_script *script = calloc(1, sizeof *script);
    assert_non_null(script);
    shared_index_init(&script->index);
    script->buffer.index = &script->index;
    script->buffer.words = script->words;
    return script;
}

static inline void tap_script_free(struct tap_script *script) {
    if (!script)
        return;
    shared_index_end(&script->index);
    free(script);
}

/* A commit or flush of the µops given, or (NULL) the dispatch or fetch of n. */
static inline void script_record(struct tap_script *script, unsigned kind, uint64_t cycle,
                                 enum tap_empty why, uint64_t empty, unsigned n,
                                 const uint64_t *uops) {
    struct tap_buffer *buffer = &script->buffer;
    assert_true(buffer->used + TAP_RECORD_WORDS <= TAP_BUFFER_WORDS);
    uint64_t *begin = buffer->words + buffer->used;
    buffer->words[buffer->used++] = tap_header(kind, why, n, empty, cycle - script->after.cycle);
    for (unsigned i = 0; i < tap_payload(kind, n); i++)
        buffer->words[buffer->used++] = uops[i];
    buffer->records[kind]++;
    struct tap_record record;
    tap_read(begin, &record);
    tap_advance(&script->after, &record);
}

/* The records so far were one buffer; what follows is the next. */
static inline void script_next_buffer(struct tap_script *script) {
    struct tap_buffer *buffer = &script->buffer;
    buffer->start = script->after;
    buffer->number++;
    buffer->used = buffer->life_count = 0;
    for (int kind = 0; kind < TAP_KINDS; kind++)
        buffer->records[kind] = 0;
    shared_index_forget(&script->index);
}
