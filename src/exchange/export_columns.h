/* Inside of the exchange room: the values that a stack has in formats with several: of a live event
 * samples and what they stand for, if that is known; of a simulation cycles, those of each
 * component that it has, and instructions. */
#pragma once

#include "attribute/component.h"
#include "exchange/export.h"

enum { EXPORT_COLUMNS = 128, EXPORT_COLUMN_EVENTS = EXPORT_COLUMNS / 2 };

struct export_column {
    char name[128];   /* "samples", "cpu", "cycles_llc_miss", "instructions" */
    const char *unit; /* "count", "nanoseconds", "cycles"; else the event's */
};

struct export_columns {
    const struct export *export;
    struct export_column items[EXPORT_COLUMNS];
    size_t count;
    /* Where an event's values are. */
    struct {
        size_t first;
        size_t of_component[COMPONENT_COUNT]; /* 0: it has none */
    } events[EXPORT_COLUMN_EVENTS];
};

/* False, with the export's error. */
bool export_columns_find(struct export_columns *columns, const struct export *export);
/* Sets values[0, count). */
void export_columns_fill(const struct export_columns *columns, const struct export_stack *stack,
                         int64_t *values);
/* Whether the first event's samples have a distance, and then the column that has it in sum. */
bool export_columns_period(const struct export_columns *columns, size_t *column);
