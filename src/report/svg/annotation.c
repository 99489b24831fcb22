/* A procedure's control-flow graph: a box for each block, warmer the more cycles it has, edges as
 * wide as they are often taken, those that lead up dashed. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/annotation.h"
#include "report/graph_layout.h"
#include "report/svg.h"
#include "util/order.h"
#include "util/text.h"

enum {
    MOST_BLOCKS = 150,
    MOST_EDGES = 600,
    LINES = 4,
    LINE_HEIGHT = 14,
    PADDING = 7,
    HEAD = 62,
    ROW_WIDTH = 1600,
    LINE_BYTES = 160
};

struct picture {
    const struct annotation *annotation;
    struct graph_layout layout;
    uint32_t *blocks;  /* by node */
    uint32_t *nodes;   /* by block; CFG_NONE: not shown */
    uint32_t *numbers; /* of the graph's edges, by edge of the layout */
    double most;       /* executions of an edge */
    FILE *out;
};

static const struct cfg *graph_of(const struct picture *picture) {
    return &picture->annotation->input.analysis->cfg;
}

/* ---- blocks ---- */

/* Letters of all stalls that show in the block, each once. */
static void block_letters(const struct annotation *annotation, const struct cfg_block *block,
                          char letters[ANNOTATION_LETTERS]) {
    size_t used = 0;
    letters[0] = 0;
    for (uint32_t i = block->first_insn; i < block->first_insn + block->insn_count; i++) {
        char bubble[ANNOTATION_LETTERS];
        for (const char *c = annotation_bubble(annotation, i, bubble); *c; c++)
            if (!strchr(letters, *c)) {
                letters[used++] = *c;
                letters[used] = 0;
            }
    }
}

static void describe(const struct annotation *annotation, uint32_t number,
                     char lines[LINES][LINE_BYTES]) {
    const struct analysis *analysis = annotation->input.analysis;
    const struct cfg_block *block = &analysis->cfg.blocks[number];
    const struct annotation_block *sums = &annotation->blocks[number];
    char letters[ANNOTATION_LETTERS];
    uint32_t last = block->first_insn + block->insn_count - 1;
    block_letters(annotation, block, letters);
    snprintf(lines[0], LINE_BYTES, "%" PRIx64 " to %" PRIx64 ", %" PRIu32 " instruction%s",
             annotation_address(annotation, block->first_insn),
             annotation_address(annotation, last), block->insn_count,
             text_plural(block->insn_count));
    if (sums->executions > 0)
        snprintf(lines[1], LINE_BYTES, "%s times (%s)",
                 text_count((uint64_t)(sums->executions + 0.5)).s,
                 annotation->input.exact
                     ? "counted"
                     : confidence_name(analysis->frequency.blocks[number].confidence));
    else
        snprintf(lines[1], LINE_BYTES, "executions not known");
    if (annotation_is_late(annotation) && sums->executions > 0)
        snprintf(lines[2], LINE_BYTES, "CPI %.2f", sums->actual / block->insn_count);
    else if (annotation_is_late(annotation))
        snprintf(lines[2], LINE_BYTES, "CPI not known");
    else if (sums->executions > 0)
        snprintf(lines[2], LINE_BYTES, "CPI %.2f, best case %.2f", sums->actual / block->insn_count,
                 sums->best / block->insn_count);
    else
        snprintf(lines[2], LINE_BYTES, "best case CPI %.2f", sums->best / block->insn_count);
    snprintf(lines[3], LINE_BYTES, "%s %% of its %s%s%s",
             text_percent(sums->cycles, annotation->input.profile->sum_cycles).s,
             annotation->input.event->unit, *letters ? ": " : "", letters);
}

static double width_of(const struct annotation *annotation, uint32_t block) {
    enum { CHARACTER = 6 }; /* a little more than most of sans-serif of 11 */
    char lines[LINES][LINE_BYTES];
    unsigned most = 0;
    describe(annotation, block, lines);
    for (int i = 0; i < LINES; i++)
        most = text_columns(lines[i]) > most ? text_columns(lines[i]) : most;
    return most * CHARACTER + 2 * PADDING;
}

/* From white to a warm red, by the share of the cycles. */
static void heat(double share, char colour[8]) {
    double part = fmin(1, sqrt(fmax(0, share)));
    snprintf(colour, 8, "#ff%02x%02x", (unsigned)lround(255 - 130 * part) & 255,
             (unsigned)lround(255 - 175 * part) & 255);
}

static void draw_block(const struct picture *picture, uint32_t node) {
    const struct annotation *annotation = picture->annotation;
    const struct layout_node *place = &picture->layout.nodes[node];
    uint32_t number = picture->blocks[node];
    double sum = annotation->input.profile->sum_cycles;
    char lines[LINES][LINE_BYTES], colour[8];
    heat(sum > 0 ? annotation->blocks[number].cycles / sum : 0, colour);
    describe(annotation, number, lines);
    fprintf(picture->out,
            "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"4\" fill=\"%s\" "
            "stroke=\"#555\"/>\n",
            place->x - place->width / 2, place->y + HEAD, place->width, place->height, colour);
    for (int i = 0; i < LINES; i++)
        svg_text(picture->out, place->x, place->y + HEAD + PADDING + 10 + i * LINE_HEIGHT,
                 SVG_MIDDLE, lines[i]);
}

/* ---- edges ---- */

static const char *colour_of(enum cfg_edge_kind kind, bool back) {
    if (back)
        return "#a33";
    return kind == EDGE_TAKEN || kind == EDGE_TABLE ? "#36c" : "#666";
}

/* Down, or up, in curves that begin and end upright. */
static void draw_path(const struct picture *picture, const struct layout_edge *edge) {
    const struct layout_point *points = picture->layout.points + edge->first_point;
    fprintf(picture->out, "<path d=\"M%.1f %.1f", points[0].x, points[0].y + HEAD);
    for (uint32_t i = 1; i < edge->point_count; i++) {
        double middle = (points[i - 1].y + points[i].y) / 2 + HEAD;
        if (points[i].x == points[i - 1].x)
            fprintf(picture->out, " V%.1f", points[i].y + HEAD);
        else
            fprintf(picture->out, " C%.1f %.1f %.1f %.1f %.1f %.1f", points[i - 1].x, middle,
                    points[i].x, middle, points[i].x, points[i].y + HEAD);
    }
}

/* A loop of one block: at its right side. */
static void draw_own_loop(const struct picture *picture, const struct layout_edge *edge) {
    const struct layout_node *node = &picture->layout.nodes[edge->from];
    double x = node->x + node->width / 2, y = node->y + HEAD;
    fprintf(picture->out, "<path d=\"M%.1f %.1f c%d 0 %d %.1f 0 %.1f", x, y + node->height - 10,
            LAYOUT_GAP, LAYOUT_GAP, 20 - node->height, 20 - node->height);
}

static void draw_edge(const struct picture *picture, uint32_t number) {
    const struct layout_edge *edge = &picture->layout.edges[number];
    const struct analysis *analysis = picture->annotation->input.analysis;
    const struct cfg_edge *flow = &analysis->cfg.edges[picture->numbers[number]];
    const struct frequency_estimate *estimate =
        &analysis->frequency.edges[picture->numbers[number]];
    double share = picture->most > 0 ? estimate->executions / picture->most : 0;
    if (edge->from == edge->to)
        draw_own_loop(picture, edge);
    else
        draw_path(picture, edge);
    fprintf(picture->out,
            "\" fill=\"none\" stroke=\"%s\" stroke-width=\"%.1f\"%s "
            "marker-end=\"url(#%s)\"><title>%s",
            colour_of(flow->kind, edge->back), 0.8 + 3.2 * sqrt(share),
            edge->back ? " stroke-dasharray=\"6 3\"" : "", edge->back ? "back" : "down",
            cfg_edge_kind_name(flow->kind));
    if (estimate->confidence)
        fprintf(picture->out, ", %s times (%s)",
                text_count((uint64_t)(estimate->executions + 0.5)).s,
                confidence_name(estimate->confidence));
    fputs("</title></path>\n", picture->out);
}

/* How often, beside the edge's beginning. */
static void draw_label(const struct picture *picture, uint32_t number) {
    const struct layout_edge *edge = &picture->layout.edges[number];
    const struct frequency_estimate *estimate =
        &picture->annotation->input.analysis->frequency.edges[picture->numbers[number]];
    if (!estimate->confidence || edge->from == edge->to)
        return;
    const struct layout_point *points = picture->layout.points + edge->first_point;
    double x = (points[0].x * 2 + points[1].x) / 3, y = (points[0].y * 2 + points[1].y) / 3 + HEAD;
    fprintf(picture->out, "<g font-size=\"9\" stroke=\"#fff\" stroke-width=\"2.5\" "
                          "paint-order=\"stroke\">");
    svg_text(picture->out, x + 5, y + 3, SVG_START,
             text_count((uint64_t)(estimate->executions + 0.5)).s);
    fputs("</g>\n", picture->out);
}

/* ---- the whole ---- */

static void draw_head(const struct picture *picture) {
    const struct annotation *annotation = picture->annotation;
    const struct cfg *cfg = graph_of(picture);
    FILE *out = picture->out;
    char line[LINE_BYTES * 4], name[LINE_BYTES];
    fprintf(
        out,
        "<defs><marker id=\"down\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" "
        "markerWidth=\"8\" markerHeight=\"8\" markerUnits=\"userSpaceOnUse\" orient=\"auto\">"
        "<path d=\"M0 0L8 4L0 8z\" fill=\"#555\"/></marker><marker id=\"back\" viewBox=\"0 0 8 8\" "
        "refX=\"7\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" "
        "markerUnits=\"userSpaceOnUse\" orient=\"auto\"><path d=\"M0 0L8 4L0 8z\" "
        "fill=\"#a33\"/></marker></defs>\n");
    text_clip(name, sizeof name, annotation->input.name, 60);
    snprintf(line, sizeof line, "%s: %s %s, schedule of %s", name,
             text_count((uint64_t)(annotation->input.profile->sum + 0.5)).s,
             annotation->input.event->unit, annotation->input.machine->name);
    fputs("<g font-size=\"14\" font-weight=\"bold\">", out);
    svg_text(out, LAYOUT_GAP, 22, SVG_START, line);
    fputs("</g>\n", out);
    snprintf(line, sizeof line,
             "Wide edges are taken often; blue: taken branch, grey: falls through, dashed: back.");
    svg_text(out, LAYOUT_GAP, 40, SVG_START, line);
    snprintf(line, sizeof line,
             "Letters: p mispredict, d D-cache, D DTLB, i I-cache, I ITLB, w "
             "write buffer, m miss registers, y synchronisation, ? unexplained");
    svg_text(out, LAYOUT_GAP, 54, SVG_START, line);
    if (picture->layout.node_count < cfg->block_count) {
        snprintf(line, sizeof line,
                 "Of %" PRIu32 " blocks %" PRIu32 " are shown, those with most cycles.",
                 cfg->block_count, picture->layout.node_count);
        svg_text(out, LAYOUT_GAP, 68, SVG_START, line);
    }
}

/* Of many the hottest, in the order of their addresses; the entry is always among them. */
static void choose_blocks(struct picture *picture) {
    const struct annotation *annotation = picture->annotation;
    uint32_t count = graph_of(picture)->block_count, shown = 0;
    for (uint32_t i = 0; i < count; i++)
        picture->nodes[i] = CFG_NONE;
    picture->nodes[0] = 0;
    for (uint32_t i = 0; i < count && i < MOST_BLOCKS; i++)
        if (count <= MOST_BLOCKS || annotation->blocks[annotation->hottest[i]].cycles > 0)
            picture->nodes[annotation->hottest[i]] = 0;
    for (uint32_t i = 0; i < count; i++)
        if (picture->nodes[i] != CFG_NONE) {
            picture->nodes[i] = shown;
            picture->blocks[shown] = i;
            picture->layout.nodes[shown++] = (struct layout_node){
                .width = width_of(annotation, i), .height = LINES * LINE_HEIGHT + 2 * PADDING};
        }
    picture->layout.node_count = shown;
}

static int by_executions(const void *left, const void *right, void *context) {
    const struct frequency_estimate *estimates = context;
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return descending(estimates[a].executions, estimates[b].executions) ?: ascending(a, b);
}

/* Between blocks that are shown; of very many those taken most often. */
static void choose_edges(struct picture *picture) {
    const struct cfg *cfg = graph_of(picture);
    const struct frequency_estimate *estimates =
        picture->annotation->input.analysis->frequency.edges;
    struct graph_layout *layout = &picture->layout;
    uint32_t count = 0;
    for (uint32_t i = 0; i < cfg->edge_count; i++) {
        const struct cfg_edge *edge = &cfg->edges[i];
        if (edge->from != CFG_NONE && edge->to != CFG_NONE &&
            picture->nodes[edge->from] != CFG_NONE && picture->nodes[edge->to] != CFG_NONE)
            picture->numbers[count++] = i;
    }
    if (count > MOST_EDGES) {
        qsort_r(picture->numbers, count, sizeof *picture->numbers, by_executions,
                (void *)estimates);
        count = MOST_EDGES;
    }
    for (uint32_t i = 0; i < count; i++) {
        const struct cfg_edge *edge = &cfg->edges[picture->numbers[i]];
        layout->edges[i] = (struct layout_edge){.from = picture->nodes[edge->from],
                                                .to = picture->nodes[edge->to]};
        picture->most = fmax(picture->most, estimates[picture->numbers[i]].executions);
    }
    layout->edge_count = count;
}

static void draw(const struct picture *picture) {
    const struct graph_layout *layout = &picture->layout;
    double width = fmax(layout->width, 640), height = layout->height + HEAD;
    svg_begin(picture->out, width, height);
    draw_head(picture);
    for (uint32_t i = 0; i < layout->edge_count; i++)
        draw_edge(picture, i);
    for (uint32_t i = 0; i < layout->node_count; i++)
        draw_block(picture, i);
    for (uint32_t i = 0; i < layout->edge_count; i++)
        draw_label(picture, i);
    svg_end(picture->out);
}

bool annotation_svg(const struct annotation *annotation, FILE *file, struct error *error) {
    const struct cfg *cfg = &annotation->input.analysis->cfg;
    struct picture picture = {.annotation = annotation, .out = file};
    picture.blocks = calloc(cfg->block_count, sizeof *picture.blocks);
    picture.nodes = calloc(cfg->block_count, sizeof *picture.nodes);
    picture.numbers = calloc(cfg->edge_count + 1u, sizeof *picture.numbers);
    picture.layout.nodes = calloc(cfg->block_count, sizeof *picture.layout.nodes);
    picture.layout.edges = calloc(cfg->edge_count + 1u, sizeof *picture.layout.edges);
    bool good = (picture.blocks && picture.nodes && picture.numbers && picture.layout.nodes &&
                 picture.layout.edges) ||
                error_set(error, "out of memory for the picture");
    if (good) {
        choose_blocks(&picture);
        choose_edges(&picture);
        good = graph_layout_pack(&picture.layout, ROW_WIDTH, error);
    }
    if (good)
        draw(&picture);
    graph_layout_free(&picture.layout);
    free(picture.layout.nodes);
    free(picture.layout.edges);
    free(picture.blocks);
    free(picture.nodes);
    free(picture.numbers);
    return good;
}
