/* Loops of a procedure. A block counts in its innermost loop, and a loop in the one around it. */
#include <inttypes.h>
#include <stdlib.h>

#include "report/annotation.h"
#include "report/table.h"
#include "util/order.h"
#include "util/text.h"

enum { MOST_LOOPS = 10 };
static const double LEAST_SHARE = 0.001;

static const struct cfg *graph_of(const struct annotation *annotation) {
    return &annotation->input.analysis->cfg;
}

/* The edge leads to a loop's head from a block that is not in the loop. */
static bool enters(const struct cfg *cfg, const struct cfg_edge *edge) {
    uint32_t loop = edge->from == CFG_NONE ? CFG_NONE : cfg->blocks[edge->from].loop;
    uint32_t depth = cfg->blocks[edge->to].loop_depth;
    while (loop != CFG_NONE && cfg->blocks[loop].loop_depth > depth)
        loop = cfg->blocks[loop].outer_loop;
    return loop != edge->to;
}

static double entries_of(const struct annotation *annotation, const struct cfg_block *head) {
    const struct cfg *cfg = graph_of(annotation);
    const struct frequency_estimate *edges = annotation->input.analysis->frequency.edges;
    double entries = 0;
    for (uint32_t k = 0; k < head->in_count; k++) {
        uint32_t edge = cfg->in_edges[head->first_in + k];
        entries += enters(cfg, &cfg->edges[edge]) ? edges[edge].executions : 0;
    }
    return entries;
}

ORDER(by_cycles, struct annotation_loop,
      descending(a->cycles, b->cycles) ?: ascending(a->head, b->head))

ORDER(by_depth, struct annotation_loop,
      descending(a->depth, b->depth) ?: ascending(a->head, b->head))

static void list_heads(struct annotation *annotation) {
    const struct cfg *cfg = graph_of(annotation);
    for (uint32_t b = 0; b < cfg->block_count; b++)
        if (cfg->blocks[b].loop == b)
            annotation->loops[annotation->loop_count++] =
                (struct annotation_loop){.head = b,
                                         .depth = cfg->blocks[b].loop_depth,
                                         .rounds = annotation->blocks[b].executions,
                                         .entries = entries_of(annotation, &cfg->blocks[b])};
}

static void sum_up(struct annotation *annotation, const uint32_t *number) {
    const struct cfg *cfg = graph_of(annotation);
    for (uint32_t b = 0; b < cfg->block_count; b++) {
        const struct annotation_block *sums = &annotation->blocks[b];
        if (cfg->blocks[b].loop == CFG_NONE)
            continue;
        struct annotation_loop *loop = &annotation->loops[number[cfg->blocks[b].loop]];
        loop->insn_count += cfg->blocks[b].insn_count;
        loop->block_count++;
        loop->cycles += sums->cycles;
        loop->best += sums->executions * sums->best;
    }
    for (uint32_t i = 0; i < annotation->loop_count; i++) { /* the innermost first */
        const struct annotation_loop *loop = &annotation->loops[i];
        uint32_t outer = cfg->blocks[loop->head].outer_loop;
        if (outer == CFG_NONE)
            continue;
        struct annotation_loop *around = &annotation->loops[number[outer]];
        around->insn_count += loop->insn_count;
        around->block_count += loop->block_count;
        around->cycles += loop->cycles;
        around->best += loop->best;
    }
}

bool annotation_find_loops(struct annotation *annotation) {
    size_t room = graph_of(annotation)->block_count + (size_t)1;
    uint32_t *number = calloc(room, sizeof *number); /* by block: of the loop that it heads */
    annotation->loops = calloc(room, sizeof *annotation->loops);
    if (number && annotation->loops) {
        list_heads(annotation);
        qsort(annotation->loops, annotation->loop_count, sizeof *annotation->loops, by_depth);
        for (uint32_t i = 0; i < annotation->loop_count; i++)
            number[annotation->loops[i].head] = i;
        sum_up(annotation, number);
        qsort(annotation->loops, annotation->loop_count, sizeof *annotation->loops, by_cycles);
    }
    free(number);
    return number && annotation->loops;
}

static uint64_t address_of(const struct annotation *annotation,
                           const struct annotation_loop *loop) {
    return annotation_address(annotation, graph_of(annotation)->blocks[loop->head].first_insn);
}

enum { MOST_INDENT = 6 };

static void add_loop(const struct annotation *annotation, const struct annotation_loop *loop,
                     struct table *table) {
    int indent = loop->depth < MOST_INDENT ? (int)loop->depth : MOST_INDENT;
    const char *rounds = "?", *trips = "?", *best = "?", *each = "?";
    struct text known[4];
    if (loop->rounds > 0) {
        known[0] = text_count((uint64_t)(loop->rounds + 0.5));
        known[1] = text_quantity(loop->best / loop->rounds);
        known[2] = text_quantity(loop->cycles / loop->rounds);
        rounds = known[0].s, each = known[2].s;
        if (!annotation_is_late(annotation))
            best = known[1].s;
    }
    if (loop->rounds > 0 && loop->entries >= 0.5) {
        known[3] = text_quantity(loop->rounds / loop->entries);
        trips = known[3].s;
    }
    table_figure(table, "%*s%" PRIx64, indent, "", address_of(annotation, loop));
    table_figure(table, "%s %%",
                 text_percent(loop->cycles, annotation->input.profile->sum_cycles).s);
    table_figure(table, "%" PRIu32, loop->insn_count);
    table_cell(table, rounds);
    table_cell(table, trips);
    table_cell(table, best);
    table_cell(table, each);
}

void annotation_text_loops(const struct annotation *annotation, const struct page *page) {
    static const struct table_column COLUMNS[] = {{"loop at", TABLE_WORD, .gap = 0},
                                                  {" cycles", TABLE_FIGURE, .gap = 3},
                                                  {"insns", TABLE_FIGURE, .gap = 2, .rank = 2},
                                                  {"rounds", TABLE_FIGURE, .gap = 2},
                                                  {"each time", TABLE_FIGURE, .gap = 2, .rank = 1},
                                                  {"best case", TABLE_FIGURE, .gap = 2},
                                                  {"cycles a round", TABLE_FIGURE, .gap = 2}};
    double least = LEAST_SHARE * annotation->input.profile->sum_cycles;
    uint32_t shown = 0;
    while (shown < annotation->loop_count && shown < MOST_LOOPS &&
           annotation->loops[shown].cycles >= least)
        shown++;
    if (!shown)
        return;
    struct table *table = table_with(page, COLUMNS, sizeof COLUMNS / sizeof *COLUMNS);
    for (uint32_t i = 0; i < shown; i++)
        add_loop(annotation, &annotation->loops[i], table);
    fputc('\n', page->file);
    table_end(table);
}

json_t *annotation_loops_json(const struct annotation *annotation) {
    json_t *array = json_array();
    for (uint32_t i = 0; i < annotation->loop_count; i++) {
        const struct annotation_loop *loop = &annotation->loops[i];
        bool known = loop->rounds > 0;
        json_array_append_new(
            array,
            json_pack("{s:I, s:I, s:I, s:I, s:I, s:f, s:o, s:o, s:o, s:o}", "head",
                      (json_int_t)loop->head, "address", (json_int_t)address_of(annotation, loop),
                      "depth", (json_int_t)loop->depth, "blocks", (json_int_t)loop->block_count,
                      "instruction_count", (json_int_t)loop->insn_count, "cycles", loop->cycles,
                      "rounds", known ? json_real(loop->rounds) : json_null(), "entries",
                      loop->entries > 0 ? json_real(loop->entries) : json_null(), "best_cycles",
                      known && !annotation_is_late(annotation)
                          ? json_real(loop->best / loop->rounds)
                          : json_null(),
                      "cycles_each", known ? json_real(loop->cycles / loop->rounds) : json_null()));
    }
    return array;
}
