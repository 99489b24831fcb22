/* The formats of callgrind and cachegrind, as valgrind's manual has them ("Callgrind format
 * specification"): costs by function and line; callgrind's also has calls, with what they cost
 * inclusively. How often a function was called is not in a profile: every call counts as one. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/call_graph.h"

struct writer {
    const struct export *export;
    const struct call_graph *graph;
    FILE *file;
    uint32_t *files; /* of each function (find_files()) */
    uint8_t *named;  /* of each text, as what it was written with its number: enum sort */
};

/* Numbers are of objects, of files and of functions, apart. */
enum sort { OBJECT = 1, FILE_NAME = 2, FUNCTION = 4 };

/* "(3) main" when it is first named, then "(3)". Text 0 is (1). */
static void put_name(struct writer *writer, const char *what, enum sort sort, uint32_t text) {
    fprintf(writer->file, "%s=(%" PRIu32 ")", what, text + 1);
    if (!(writer->named[text] & sort))
        fprintf(writer->file, " %s", intern_text(&writer->graph->texts, text));
    writer->named[text] |= sort;
    fputc('\n', writer->file);
}

static void put_costs(const struct writer *writer, uint32_t line, const uint64_t *costs) {
    fprintf(writer->file, "%" PRIu32, line);
    for (uint32_t i = 0; i < writer->graph->column_count; i++)
        fprintf(writer->file, " %" PRIu64, costs[i]);
    fputc('\n', writer->file);
}

static void put_events(const struct writer *writer) {
    fputs("events:", writer->file);
    for (uint32_t i = 0; i < writer->graph->column_count; i++)
        fprintf(writer->file, " %s", writer->graph->columns[i].name);
    fputc('\n', writer->file);
}

static void put_sum(const struct writer *writer, const char *what) {
    fputs(what, writer->file);
    for (uint32_t i = 0; i < writer->graph->column_count; i++)
        fprintf(writer->file, " %" PRIu64, writer->graph->totals[i]);
    fputc('\n', writer->file);
}

/* ---- callgrind ---- */

/* The file that a function is said to be in: that of the costliest of its lines, or where it calls
 * from. What was inlined into it is of others. A function may have neither, as costs are rounded:
 * its file is that of what calls the outermost ones, "???". NULL: out of memory. */
static uint32_t *find_files(const struct call_graph *graph) {
    const size_t columns = graph->column_count, count = graph->functions.count;
    uint32_t *files = malloc((count + 1) * sizeof *files);
    uint64_t *most = calloc(count + 1, sizeof *most);
    for (size_t i = 0; files && i < count; i++)
        files[i] = UINT32_MAX;
    for (uint32_t i = 0; files && most && i < graph->lines.count; i++) {
        const struct graph_line *line = graph_line_of(graph, i);
        const uint64_t cost = graph->line_costs[i * columns];
        if (files[line->function] == UINT32_MAX || cost > most[line->function]) {
            files[line->function] = line->file;
            most[line->function] = cost;
        }
    }
    for (uint32_t i = 0; files && i < graph->edges.count; i++) {
        const struct graph_line *from = &graph_edge_of(graph, i)->from;
        if (files[from->function] == UINT32_MAX)
            files[from->function] = from->file;
    }
    const uint32_t unknown = intern_find(&graph->texts, "???", strlen("???"));
    for (size_t i = 0; files && i < count; i++)
        if (files[i] == UINT32_MAX)
            files[i] = unknown;
    if (!most) {
        free(files);
        files = NULL;
    }
    free(most);
    return files;
}

/* The function that follows. */
static void put_function(struct writer *writer, uint32_t number) {
    const struct graph_function *function = graph_function_of(writer->graph, number);
    fputc('\n', writer->file);
    put_name(writer, "ob", OBJECT, function->image);
    put_name(writer, "fl", FILE_NAME, writer->files[number]);
    put_name(writer, "fn", FUNCTION, function->name);
}

static void put_calls(struct writer *writer, const struct graph_edge *edge, const uint64_t *costs) {
    const struct graph_function *callee = graph_function_of(writer->graph, edge->to);
    put_name(writer, "cob", OBJECT, callee->image);
    put_name(writer, "cfi", FILE_NAME, writer->files[edge->to]);
    put_name(writer, "cfn", FUNCTION, callee->name);
    fputs("calls=1 0\n", writer->file);
    put_costs(writer, edge->from.line, costs);
}

/* What follows is of this file: that of the function, or one that was inlined into it. */
static void put_file(struct writer *writer, const struct graph_line *line, uint32_t *present) {
    if (line->file == *present)
        return;
    *present = line->file;
    put_name(writer, line->file == writer->files[line->function] ? "fe" : "fi", FILE_NAME,
             line->file);
}

/* Lines and calls, both by function: of each first its lines, then its calls. */
static void put_graph(struct writer *writer, const uint32_t *lines, const uint32_t *edges) {
    const struct call_graph *graph = writer->graph;
    const size_t columns = graph->column_count;
    size_t i = 0, k = 0;
    for (uint32_t function = 0; function < graph->functions.count; function++) {
        uint32_t file = writer->files[function];
        put_function(writer, function);
        for (; i < graph->lines.count && graph_line_of(graph, lines[i])->function == function;
             i++) {
            put_file(writer, graph_line_of(graph, lines[i]), &file);
            put_costs(writer, graph_line_of(graph, lines[i])->line,
                      graph->line_costs + lines[i] * columns);
        }
        for (; k < graph->edges.count && graph_edge_of(graph, edges[k])->from.function == function;
             k++) {
            put_file(writer, &graph_edge_of(graph, edges[k])->from, &file);
            put_calls(writer, graph_edge_of(graph, edges[k]),
                      graph->edge_costs + edges[k] * columns);
        }
    }
}

static void put_notes(const struct writer *writer) {
    for (size_t i = 0; i < writer->export->note_count; i++)
        fprintf(writer->file, "desc: Note: %s\n", writer->export->notes[i]);
}

static void put_callgrind(struct writer *writer, const uint32_t *lines, const uint32_t *edges) {
    fputs("# callgrind format\nversion: 1\ncreator: culprit\npositions: line\n", writer->file);
    for (uint32_t i = 0; i < writer->graph->column_count; i++)
        fprintf(writer->file, "event: %s : %s\n", writer->graph->columns[i].name,
                writer->graph->columns[i].about);
    put_notes(writer);
    put_events(writer);
    put_sum(writer, "summary:");
    put_graph(writer, lines, edges);
    put_sum(writer, "\ntotals:");
}

/* ---- cachegrind ---- */

static bool same_place(const struct graph_line *a, const struct graph_line *b) {
    return a->function == b->function && a->file == b->file;
}

static void put_cachegrind(struct writer *writer, const uint32_t *lines, const uint32_t *edges) {
    const struct call_graph *graph = writer->graph;
    struct graph_line before = {.function = UINT32_MAX};
    (void)edges;
    fputs("desc: culprit\n", writer->file);
    put_notes(writer);
    fputs("cmd: culprit\n", writer->file);
    put_events(writer);
    for (size_t i = 0; i < graph->lines.count; i++) {
        const struct graph_line *line = graph_line_of(graph, lines[i]);
        const struct graph_function *function = graph_function_of(graph, line->function);
        if (line->file != before.file || before.function == UINT32_MAX)
            fprintf(writer->file, "fl=%s\n", intern_text(&graph->texts, line->file));
        if (!same_place(line, &before))
            fprintf(writer->file, "fn=%s\n", intern_text(&graph->texts, function->name));
        before = *line;
        put_costs(writer, line->line, graph->line_costs + lines[i] * graph->column_count);
    }
    put_sum(writer, "summary:");
}

/* ---- both ---- */

static bool write_graph(struct export *export,
                        void (*put)(struct writer *, const uint32_t *, const uint32_t *)) {
    struct call_graph graph;
    bool good = call_graph_build(&graph, export);
    uint32_t *lines = good ? call_graph_lines_sorted(&graph) : NULL;
    uint32_t *edges = good ? call_graph_edges_sorted(&graph) : NULL;
    struct writer writer = {.graph = &graph,
                            .export = export,
                            .file = export->file,
                            .files = good ? find_files(&graph) : NULL,
                            .named = calloc(graph.texts.count + 1, 1)};
    if (good && !(good = lines && edges && writer.files && writer.named))
        error_set(export->error, "out of memory for the call graph");
    if (good)
        put(&writer, lines, edges);
    free(writer.files);
    free(writer.named);
    free(lines);
    free(edges);
    call_graph_free(&graph);
    return good;
}

bool export_callgrind(struct export *export) {
    return write_graph(export, put_callgrind);
}

bool export_cachegrind(struct export *export) {
    return write_graph(export, put_cachegrind);
}
