/* Graphs as short strings, so that a test states what it expects in one line:
 *
 *     0-4: fall 4, taken 9; 4-9**: taken 4; 9-a: return; entry 0
 *
 * Blocks by the offsets that they span, with a star for each loop around them; edges from outside
 * last. Flags follow in brackets. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "cfg_check.h"

struct graph_text {
    char text[4096];
    size_t length;
};

__attribute__((format(printf, 2, 3))) static inline void graph_add(struct graph_text *graph,
                                                                   const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int written = vsnprintf(graph->text + graph->length, sizeof graph->text - graph->length, format,
                            arguments);
    va_end(arguments);
    assert_true(written >= 0 && graph->length + (size_t)written < sizeof graph->text);
    graph->length += (size_t)written;
}

static inline uint32_t graph_start(const struct cfg *cfg, uint32_t block) {
    return cfg->insns[cfg->blocks[block].first_insn].offset;
}

static inline void graph_describe(const struct cfg *cfg, struct graph_text *graph) {
    static const char *const KINDS[] = {
        [EDGE_ENTRY] = "entry", [EDGE_FALL] = "fall",      [EDGE_TAKEN] = "taken",
        [EDGE_TABLE] = "table", [EDGE_RETURN] = "return",  [EDGE_TAIL] = "tail",
        [EDGE_STOP] = "stop",   [EDGE_UNKNOWN] = "unknown"};
    static const char *const FLAGS[] = {"missing",  "overlapping", "undecodable",
                                        "runs out", "unreached",   "endless"};
    graph->length = 0;
    for (uint32_t b = 0; b < cfg->block_count; b++) {
        const struct cfg_block *block = &cfg->blocks[b];
        const struct cfg_insn *last = cfg_last(cfg, block);
        graph_add(graph, "%x-%x", graph_start(cfg, b), last->offset + last->insn.length);
        for (uint32_t i = 0; i < block->loop_depth; i++)
            graph_add(graph, "*");
        for (uint32_t i = 0; i < block->out_count; i++) {
            const struct cfg_edge *edge = &cfg->edges[block->first_out + i];
            graph_add(graph, "%s %s", i ? "," : ":", KINDS[edge->kind]);
            if (edge->to != CFG_NONE)
                graph_add(graph, " %x", graph_start(cfg, edge->to));
        }
        graph_add(graph, "; ");
    }
    for (uint32_t i = cfg->edge_count - cfg->outer_count; i < cfg->edge_count; i++)
        graph_add(graph, "%s%s %x", i > cfg->edge_count - cfg->outer_count ? ", " : "",
                  KINDS[cfg->edges[i].kind], graph_start(cfg, cfg->edges[i].to));
    for (unsigned i = 0; i < 6; i++)
        if (cfg->flags >> i & 1)
            graph_add(graph, " [%s]", FLAGS[i]);
}

/* "48 89 e5 ..." -> bytes; returns how many. */
static inline size_t graph_bytes(const char *hex, uint8_t *bytes, size_t most) {
    size_t size = 0;
    unsigned byte;
    int used;
    while (size < most && sscanf(hex, " %2x%n", &byte, &used) == 1) {
        bytes[size++] = (uint8_t)byte;
        hex += used;
    }
    assert_int_equal(hex[strspn(hex, " ")], '\0');
    return size;
}

/* The graph of code, with what lies around it, is sound and as expected. */
static inline void check_graph(const struct procedure_code *code, const char *expected) {
    struct graph_text graph;
    struct cfg cfg;
    struct error error = {0};
    bool done = cfg_build(&cfg, code, &error);
    assert_string_equal(error.message, "");
    assert_true(done);
    const char *problem = cfg_problem(&cfg);
    if (problem)
        print_message("%s: %s\n", expected, problem);
    assert_null(problem);
    graph_describe(&cfg, &graph);
    assert_string_equal(graph.text, expected);
    cfg_free(&cfg);
}
