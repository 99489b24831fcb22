/* A sweep in address order with a stack of open ranges, the innermost on top: whatever is on top
 * owns the addresses from `cursor` to the next event (a range opening or the top closing). Each
 * event emits at most one span, so n ranges give at most 2n spans. */
#include "program/span.h"

#include <stdlib.h>

#include "util/order.h"

ORDER(span_compare, struct span, ascending(a->start, b->start) ?: descending(a->end, b->end) ?:
           ascending(a->value, b->value))

static void span_emit(struct span_table *table, uint64_t start, uint64_t end, uint32_t value) {
    if (start >= end)
        return;
    struct span *last = table->count ? &table->spans[table->count - 1] : NULL;
    if (last && last->end == start && last->value == value)
        last->end = end;
    else
        table->spans[table->count++] = (struct span){start, end, value};
}

bool span_table_build(struct span_table *table, struct span *ranges, size_t count) {
    *table = (struct span_table){0};
    if (!count)
        return true;
    qsort(ranges, count, sizeof *ranges, span_compare);
    table->spans = calloc(count, 2 * sizeof *table->spans);
    size_t *open = calloc(count, sizeof *open);
    if (!table->spans || !open) {
        free(table->spans);
        free(open);
        table->spans = NULL;
        return false;
    }
    size_t depth = 0;
    uint64_t cursor = 0;
    for (size_t i = 0; i < count; i++) {
        const struct span *next = &ranges[i];
        if (next->start >= next->end)
            continue;
        for (; depth && ranges[open[depth - 1]].end <= next->start; depth--) {
            const struct span *top = &ranges[open[depth - 1]];
            span_emit(table, cursor, top->end, top->value);
            cursor = top->end > cursor ? top->end : cursor;
        }
        if (depth)
            span_emit(table, cursor, next->start, ranges[open[depth - 1]].value);
        cursor = next->start;
        open[depth++] = i;
    }
    for (; depth; depth--) {
        const struct span *top = &ranges[open[depth - 1]];
        span_emit(table, cursor, top->end, top->value);
        cursor = top->end > cursor ? top->end : cursor;
    }
    free(open);
    return true;
}

const struct span *span_table_find(const struct span_table *table, uint64_t address) {
    size_t low = first_where(i, table->count, table->spans[i].end > address);
    if (low < table->count && table->spans[low].start <= address)
        return &table->spans[low];
    return NULL;
}

void span_table_free(struct span_table *table) {
    free(table->spans);
    *table = (struct span_table){0};
}
