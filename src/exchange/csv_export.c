/* Comma-separated values (RFC 4180), a line for each place and event, below one with their names;
 * callers are left out. */
#include <inttypes.h>
#include <stdlib.h>

#include "exchange/call_graph.h"

/* In quotes, a quote doubled. */
static void put_text(FILE *file, const char *text) {
    fputc('"', file);
    for (; *text; text++) {
        if (*text == '"')
            fputc('"', file);
        fputc(*text, file);
    }
    fputs("\",", file);
}

static void put_line(const struct call_graph *graph, uint32_t number, FILE *file) {
    const struct graph_line *line = graph_line_of(graph, number);
    const struct graph_function *function = graph_function_of(graph, line->function);
    put_text(file, intern_text(&graph->texts, function->image));
    put_text(file, intern_text(&graph->texts, function->name));
    put_text(file, intern_text(&graph->texts, line->file));
    fprintf(file, "%" PRIu32, line->line);
    for (uint32_t i = 0; i < graph->column_count; i++)
        fprintf(file, ",%" PRIu64, graph->line_costs[(size_t)number * graph->column_count + i]);
    fputc('\n', file);
}

bool export_csv(struct export *export) {
    struct call_graph graph;
    bool good = call_graph_build(&graph, export);
    uint32_t *lines = good ? call_graph_lines_sorted(&graph) : NULL;
    if (good && !lines)
        good = error_set(export->error, "out of memory for the lines");
    if (good)
        fputs("image,function,file,line", export->file);
    for (uint32_t i = 0; good && i < graph.column_count; i++)
        fprintf(export->file, ",%s", graph.columns[i].name);
    if (good)
        fputc('\n', export->file);
    for (size_t i = 0; good && i < graph.lines.count; i++)
        put_line(&graph, lines[i], export->file);
    free(lines);
    call_graph_free(&graph);
    return good;
}
