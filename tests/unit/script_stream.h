/* A hand-made trace put into the trace of a region in memory. */
#pragma once

#include "trace/region_stream.h"
#include "unit/trace_script.h"

static inline void put_item(struct region_stream *stream, struct item item) {
    struct error error;
    if (item.kind == ITEM_DATA) {
        const size_t bytes = item.data.event_count * sizeof *item.data.events;
        uint64_t *copy = malloc(bytes);
        assert_non_null(copy);
        item.data.events = memcpy(copy, item.data.events, bytes);
    }
    assert_true(region_stream_put(stream, &item, &error));
}

/* Items [from, to). */
static inline void script_put(const struct script *script, struct region_stream *stream,
                              size_t from, size_t to) {
    for (size_t i = from; i < to; i++)
        put_item(stream, script->items[i]);
}
