#include "exchange/export_columns.h"

#include <string.h>

static void add(struct export_columns *columns, const char *name, const char *ending,
                const char *unit) {
    struct export_column *column = &columns->items[columns->count++];
    snprintf(column->name, sizeof column->name, "%s%s", name, ending);
    column->unit = unit;
}

/* Cycles, then those of each component: "cycles_llc_miss". What a profiler sampled has no parts. */
static bool add_cycles(struct export_columns *columns, size_t number) {
    const struct export_event *event = &columns->export->events[number];
    uint32_t components = 0;
    add(columns, event->name, "", "cycles");
    if (!event->periodic && !export_components(columns->export, event, &components))
        return false;
    for (int i = 0; i < COMPONENT_COUNT; i++) {
        char ending[64];
        if (!(components & UINT32_C(1) << i))
            continue;
        columns->events[number].of_component[i] = columns->count;
        snprintf(ending, sizeof ending, "_%s", component_key(i));
        add(columns, event->name, ending, "cycles");
    }
    return true;
}

/* What samples stand for has the name that readers know: cpu in nanoseconds. */
static void add_samples(struct export_columns *columns, const struct export_event *event) {
    const bool alone = columns->export->event_count == 1;
    const bool time = !strcmp(event->period_unit, "ns");
    add(columns, alone ? "samples" : event->name, alone ? "" : "_samples", "count");
    if (event->periodic)
        add(columns, time && alone ? "cpu" : event->name, "", time ? "nanoseconds" : "count");
}

static bool add_event(struct export_columns *columns, size_t number) {
    const struct export_event *event = &columns->export->events[number];
    columns->events[number].first = columns->count;
    if (event->cycles)
        return add_cycles(columns, number);
    if (export_is_instructions(event->name, event->unit))
        add(columns, "instructions", "", "count");
    else if (strcmp(event->unit, "samples") != 0 && !event->periodic)
        add(columns, event->name, "", !strcmp(event->unit, "ns") ? "nanoseconds" : event->unit);
    else
        add_samples(columns, event);
    return true;
}

bool export_columns_find(struct export_columns *columns, const struct export *export) {
    *columns = (struct export_columns){.export = export};
    for (size_t i = 0; i < export->event_count; i++)
        if (i == EXPORT_COLUMN_EVENTS || columns->count + COMPONENT_COUNT + 2 > EXPORT_COLUMNS)
            return error_set(export->error, "%zu events are too many: choose with --event NAME",
                             export->event_count);
        else if (!add_event(columns, i))
            return false;
    return true;
}

void export_columns_fill(const struct export_columns *columns, const struct export_stack *stack,
                         int64_t *values) {
    const size_t number = (size_t)(stack->event - columns->export->events);
    const size_t first = columns->events[number].first;
    const size_t component = columns->events[number].of_component[component_of(stack->signature)];
    memset(values, 0, columns->count * sizeof *values);
    values[first] = (int64_t)stack->value;
    if (stack->event->periodic && !stack->event->cycles)
        values[first + 1] = (int64_t)stack->distance;
    if (component)
        values[component] = (int64_t)stack->value;
}

bool export_columns_period(const struct export_columns *columns, size_t *column) {
    const struct export_event *event = &columns->export->events[0];
    *column = 1;
    return event->periodic && !event->cycles;
}
