/* Inside of the exchange room: profiles as what calling context is summed up to in the formats of
 * callgrind: cost by function and line, and what a function's calls of another cost with all that
 * these called (gprof: Graham et al. 1982). A function that calls itself, or that is called again
 * further in, counts once for each stack. */
#pragma once

#include "exchange/export.h"
#include "util/intern.h"

enum { GRAPH_COLUMNS = 32, GRAPH_NAME_BYTES = 48 };

/* A column of costs: of an event; cycles of a simulation have a column for each component, too. */
struct graph_column {
    char name[GRAPH_NAME_BYTES]; /* letters, digits, "_" */
    char about[GRAPH_NAME_BYTES];
};

struct graph_function {
    uint32_t name, image; /* texts */
};

struct graph_line {
    uint32_t function, file; /* file: a text */
    uint32_t line;           /* 0: not known */
};

/* Calls at a line. */
struct graph_edge {
    struct graph_line from;
    uint32_t to; /* function */
};

struct call_graph {
    struct graph_column columns[GRAPH_COLUMNS];
    uint32_t column_count;
    struct intern texts;
    struct intern functions; /* struct graph_function */
    struct intern lines;     /* struct graph_line */
    struct intern edges;     /* struct graph_edge */
    uint64_t *line_costs;    /* [lines.count][column_count] */
    uint64_t *edge_costs;    /* [edges.count][column_count] */
    size_t line_capacity, edge_capacity;
    uint64_t totals[GRAPH_COLUMNS];
};

/* False, with the export's error. call_graph_free() either way. */
bool call_graph_build(struct call_graph *graph, struct export *export);
void call_graph_free(struct call_graph *graph);

static inline const struct graph_function *graph_function_of(const struct call_graph *graph,
                                                             uint32_t number) {
    return (const void *)graph->functions.items[number].bytes;
}
static inline const struct graph_line *graph_line_of(const struct call_graph *graph,
                                                     uint32_t number) {
    return (const void *)graph->lines.items[number].bytes;
}
static inline const struct graph_edge *graph_edge_of(const struct call_graph *graph,
                                                     uint32_t number) {
    return (const void *)graph->edges.items[number].bytes;
}
/* Numbers of lines, and of edges, by function and line: to be freed. NULL: out of memory. */
uint32_t *call_graph_lines_sorted(const struct call_graph *graph);
uint32_t *call_graph_edges_sorted(const struct call_graph *graph);
