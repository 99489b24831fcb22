/* Costs of lines are those of their instructions; what calls cost is told by stacks. */
#include "exchange/call_graph.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "attribute/component.h"
#include "util/array.h"
#include "util/order.h"

enum { NAME_BYTES = 4096, DEPTH_MOST = 4096 /* callers of a stack that are looked at */ };

struct builder {
    struct call_graph *graph;
    struct export *export;
    uint32_t first_column[GRAPH_COLUMNS]; /* of each event of the export */
    uint32_t *seen;                       /* edges of the stack that is being added */
    size_t seen_count, seen_capacity;
};

static bool no_memory(const struct builder *builder) {
    return error_set(builder->export->error, "out of memory for the call graph");
}

/* ---- columns ---- */

/* "cpu-clock" as callgrind's readers take names. */
static void name_column(struct graph_column *column, const char *name) {
    size_t length = 0;
    for (; *name && length < sizeof column->name - 1; name++)
        column->name[length++] = isalnum((unsigned char)*name) ? *name : '_';
    column->name[length] = 0;
}

static bool add_column(struct builder *builder, const char *name, const char *about) {
    struct call_graph *graph = builder->graph;
    if (graph->column_count == GRAPH_COLUMNS)
        return error_set(builder->export->error,
                         "more than %d events: choose one with --event NAME", GRAPH_COLUMNS);
    struct graph_column *column = &graph->columns[graph->column_count++];
    name_column(column, name);
    snprintf(column->about, sizeof column->about, "%s", about);
    return true;
}

static bool find_columns(struct builder *builder) {
    const struct export *export = builder->export;
    for (size_t i = 0; i < export->event_count; i++) {
        const struct export_event *event = &export->events[i];
        if (i < GRAPH_COLUMNS)
            builder->first_column[i] = builder->graph->column_count;
        if (!add_column(builder, event->name, event->name))
            return false;
        for (int part = COMPONENT_COUNT - 1; event->cycles && part >= 0; part--)
            if (!add_column(builder, component_key(part), component_name(part)))
                return false;
    }
    return true;
}

static void add_cost(struct builder *builder, uint64_t *costs, const struct export_stack *stack) {
    const size_t number = (size_t)(stack->event - builder->export->events);
    const uint32_t column = builder->first_column[number];
    costs[column] += stack->value;
    if (stack->event->cycles)
        costs[column + COMPONENT_COUNT - component_of(stack->signature)] += stack->value;
}

/* ---- places ---- */

static uint32_t text_number(struct builder *builder, const char *text) {
    char clean[NAME_BYTES];
    export_clean(clean, sizeof clean, text, 0);
    return intern_add(&builder->graph->texts, clean, strlen(clean));
}

/* Where a frame is: its function, file and line. */
static bool find_line(struct builder *builder, const struct export_frame *frame,
                      struct graph_line *line) {
    struct export *export = builder->export;
    struct call_graph *graph = builder->graph;
    struct location location = {0};
    struct graph_function function;
    char procedure[NAME_BYTES];
    if (!frame->image) {
        function = (struct graph_function){text_number(builder, export_cut_name(frame->offset)),
                                           text_number(builder, "")};
    } else {
        if (!image_names_locate(export->names, frame->image, frame->offset, &location,
                                export->error))
            return false;
        export_procedure(frame->image, &location, procedure, sizeof procedure);
        function = (struct graph_function){text_number(builder, procedure),
                                           text_number(builder, frame->image->path)};
    }
    *line = (struct graph_line){.file = text_number(builder, location.file ? location.file : "???"),
                                .line = location.line};
    line->function = intern_add(&graph->functions, &function, sizeof function);
    return (function.name != INTERN_NONE && function.image != INTERN_NONE &&
            line->file != INTERN_NONE && line->function != INTERN_NONE) ||
           no_memory(builder);
}

/* The number of an item, whose costs are 0 when it is new; INTERN_NONE: out of memory. */
static uint32_t cost_number(const struct call_graph *graph, struct intern *items, const void *key,
                            size_t size, uint64_t **costs, size_t *capacity) {
    const size_t columns = graph->column_count, known = items->count;
    const uint32_t number = intern_add(items, key, size);
    if (number == INTERN_NONE ||
        !array_reserve((void **)costs, capacity, (number + 1) * columns, sizeof **costs))
        return INTERN_NONE;
    if (number == known)
        memset(*costs + number * columns, 0, columns * sizeof **costs);
    return number;
}

static bool add_line(struct builder *builder, const struct graph_line *line,
                     const struct export_stack *stack) {
    struct call_graph *graph = builder->graph;
    const uint32_t number = cost_number(graph, &graph->lines, line, sizeof *line,
                                        &graph->line_costs, &graph->line_capacity);
    if (number == INTERN_NONE)
        return no_memory(builder);
    add_cost(builder, graph->line_costs + number * (size_t)graph->column_count, stack);
    add_cost(builder, graph->totals, stack);
    return true;
}

/* Once for each stack, however often its function calls itself. */
static bool add_edge(struct builder *builder, const struct graph_edge *edge,
                     const struct export_stack *stack) {
    struct call_graph *graph = builder->graph;
    const uint32_t number = cost_number(graph, &graph->edges, edge, sizeof *edge,
                                        &graph->edge_costs, &graph->edge_capacity);
    if (number == INTERN_NONE)
        return no_memory(builder);
    if (any_where(i, builder->seen_count, builder->seen[i] == number))
        return true;
    if (!array_push(builder->seen, builder->seen_capacity, builder->seen_count, number))
        return no_memory(builder);
    add_cost(builder, graph->edge_costs + number * (size_t)graph->column_count, stack);
    return true;
}

static bool visit_place(void *context, const struct export_stack *stack) {
    struct builder *builder = context;
    struct graph_line line;
    return find_line(builder, &stack->frames[0], &line) && add_line(builder, &line, stack);
}

/* What calls the outermost function of each stack. Without it readers would take a function that is
 * outermost in some stacks and called in others for what its calls cost alone. */
static bool find_top(struct builder *builder, struct graph_line *line) {
    const struct graph_function function = {text_number(builder, "[outermost]"),
                                            text_number(builder, "")};
    *line = (struct graph_line){
        .function = intern_add(&builder->graph->functions, &function, sizeof function),
        .file = text_number(builder, "???")};
    return (function.name != INTERN_NONE && function.image != INTERN_NONE &&
            line->file != INTERN_NONE && line->function != INTERN_NONE) ||
           no_memory(builder);
}

static bool visit_stack(void *context, const struct export_stack *stack) {
    struct builder *builder = context;
    struct graph_line inner, outer;
    builder->seen_count = 0;
    if (!find_line(builder, &stack->frames[0], &inner))
        return false;
    for (size_t i = 1; i < stack->count && i < DEPTH_MOST; i++, inner = outer) {
        if (!find_line(builder, &stack->frames[i], &outer) ||
            !add_edge(builder, &(struct graph_edge){outer, inner.function}, stack))
            return false;
    }
    return find_top(builder, &outer) &&
           add_edge(builder, &(struct graph_edge){outer, inner.function}, stack);
}

/* ---- in order ---- */

static int compare_lines(const struct graph_line *a, const struct graph_line *b) {
    return ascending(a->function, b->function) ?: ascending(a->file, b->file)
                                               ?: ascending(a->line, b->line);
}

static int by_line(const void *left, const void *right, void *context) {
    const struct call_graph *graph = context;
    return compare_lines(graph_line_of(graph, *(const uint32_t *)left),
                         graph_line_of(graph, *(const uint32_t *)right));
}

static int by_edge(const void *left, const void *right, void *context) {
    const struct call_graph *graph = context;
    const struct graph_edge *a = graph_edge_of(graph, *(const uint32_t *)left);
    const struct graph_edge *b = graph_edge_of(graph, *(const uint32_t *)right);
    return compare_lines(&a->from, &b->from) ?: ascending(a->to, b->to);
}

static uint32_t *sorted(const struct call_graph *graph, size_t count,
                        int (*by)(const void *, const void *, void *)) {
    uint32_t *order = malloc((count ? count : 1) * sizeof *order);
    for (uint32_t i = 0; order && i < count; i++)
        order[i] = i;
    if (order)
        qsort_r(order, count, sizeof *order, by, (void *)graph);
    return order;
}

uint32_t *call_graph_lines_sorted(const struct call_graph *graph) {
    return sorted(graph, graph->lines.count, by_line);
}

uint32_t *call_graph_edges_sorted(const struct call_graph *graph) {
    return sorted(graph, graph->edges.count, by_edge);
}

bool call_graph_build(struct call_graph *graph, struct export *export) {
    *graph = (struct call_graph){0};
    struct builder builder = {.graph = graph, .export = export};
    const bool good = find_columns(&builder) && export_each_place(export, visit_place, &builder) &&
                      export_each_called(export, visit_stack, &builder);
    free(builder.seen);
    return good;
}

void call_graph_free(struct call_graph *graph) {
    intern_free(&graph->texts);
    intern_free(&graph->functions);
    intern_free(&graph->lines);
    intern_free(&graph->edges);
    free(graph->line_costs);
    free(graph->edge_costs);
}
