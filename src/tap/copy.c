#include "tap/copy.h"

#include <stdlib.h>
#include <string.h>

#include "tap/index.h"

struct tap_buffer *tap_copy_new(void) {
    struct tap_buffer *copy = calloc(1, sizeof *copy);
    if (!copy || !(copy->words = malloc(TAP_BUFFER_WORDS * sizeof *copy->words)) ||
        !(copy->index = calloc(1, sizeof *copy->index))) {
        tap_copy_free(copy);
        return NULL;
    }
    shared_index_init(copy->index);
    return copy;
}

void tap_copy_free(struct tap_buffer *copy) {
    if (!copy)
        return;
    if (copy->index)
        shared_index_end(copy->index);
    free(copy->index);
    free(copy->words);
    free(copy);
}

void tap_copy(struct tap_buffer *copy, const struct tap_buffer *buffer) {
    copy->start = buffer->start;
    copy->number = buffer->number;
    copy->used = buffer->used;
    memcpy(copy->records, buffer->records, sizeof copy->records);
    memcpy(copy->words, buffer->words, buffer->used * sizeof *copy->words);
    shared_index_forget(copy->index);
}
