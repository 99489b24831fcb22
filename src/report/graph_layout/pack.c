/* Parts of a graph that nothing connects are laid out one by one and set side by side in rows, as
 * words are in lines. */
#include <assert.h>
#include <stdlib.h>

#include "report/graph_layout.h"
#include "util/array.h"

struct packing {
    struct graph_layout *layout;
    uint32_t *part_of;         /* by node: the first node of its part */
    uint32_t *local;           /* by node: its number in its part */
    struct layout_node *nodes; /* of the part at hand */
    struct layout_edge *edges;
    uint32_t *node_at, *edge_at; /* their numbers in the whole */
    size_t point_capacity;
    double x, y, row_height;
};

static uint32_t root_of(uint32_t *part_of, uint32_t node) {
    while (part_of[node] != node)
        node = part_of[node] = part_of[part_of[node]];
    return node;
}

static void find_parts(struct packing *packing) {
    const struct graph_layout *layout = packing->layout;
    for (uint32_t i = 0; i < layout->node_count; i++)
        packing->part_of[i] = i;
    for (uint32_t i = 0; i < layout->edge_count; i++) {
        uint32_t a = root_of(packing->part_of, layout->edges[i].from);
        uint32_t b = root_of(packing->part_of, layout->edges[i].to);
        packing->part_of[a > b ? a : b] = a > b ? b : a;
    }
}

static struct graph_layout take_part(struct packing *packing, uint32_t root) {
    const struct graph_layout *layout = packing->layout;
    struct graph_layout part = {.nodes = packing->nodes, .edges = packing->edges};
    for (uint32_t i = root; i < layout->node_count; i++)
        if (root_of(packing->part_of, i) == root) {
            packing->local[i] = part.node_count;
            packing->node_at[part.node_count] = i;
            part.nodes[part.node_count++] = layout->nodes[i];
        }
    for (uint32_t i = 0; i < layout->edge_count; i++)
        if (root_of(packing->part_of, layout->edges[i].from) == root) {
            packing->edge_at[part.edge_count] = i;
            part.edges[part.edge_count++] =
                (struct layout_edge){.from = packing->local[layout->edges[i].from],
                                     .to = packing->local[layout->edges[i].to]};
        }
    return part;
}

static bool put_part(struct packing *packing, const struct graph_layout *part, double width) {
    struct graph_layout *layout = packing->layout;
    if (packing->x > 0 && packing->x + part->width > width) {
        packing->x = 0;
        packing->y += packing->row_height;
        packing->row_height = 0;
    }
    if (!array_reserve((void **)&layout->points, &packing->point_capacity,
                       layout->point_count + part->point_count + 1u, sizeof *layout->points))
        return false;
    for (uint32_t i = 0; i < part->node_count; i++) {
        struct layout_node *node = &layout->nodes[packing->node_at[i]];
        *node = part->nodes[i];
        node->x += packing->x;
        node->y += packing->y;
    }
    for (uint32_t i = 0; i < part->edge_count; i++) {
        struct layout_edge *edge = &layout->edges[packing->edge_at[i]];
        edge->back = part->edges[i].back;
        edge->first_point = layout->point_count + part->edges[i].first_point;
        edge->point_count = part->edges[i].point_count;
    }
    assert(layout->points); /* there is room for one at least */
    for (uint32_t i = 0; i < part->point_count; i++)
        layout->points[layout->point_count + i] =
            (struct layout_point){part->points[i].x + packing->x, part->points[i].y + packing->y};
    layout->point_count += part->point_count;
    packing->x += part->width;
    if (part->height > packing->row_height)
        packing->row_height = part->height;
    if (packing->x > layout->width)
        layout->width = packing->x;
    if (packing->y + packing->row_height > layout->height)
        layout->height = packing->y + packing->row_height;
    return true;
}

static bool pack(struct packing *packing, double width, struct error *error) {
    const struct graph_layout *layout = packing->layout;
    find_parts(packing);
    for (uint32_t root = 0; root < layout->node_count; root++) {
        if (packing->part_of[root] != root)
            continue;
        struct graph_layout part = take_part(packing, root);
        bool good =
            graph_layout_make(&part, error) &&
            (put_part(packing, &part, width) || error_set(error, "out of memory for the picture"));
        graph_layout_free(&part);
        if (!good)
            return false;
    }
    return true;
}

bool graph_layout_pack(struct graph_layout *layout, double width, struct error *error) {
    size_t nodes = layout->node_count + 1u, edges = layout->edge_count + 1u;
    struct packing packing = {.layout = layout,
                              .part_of = calloc(nodes, sizeof(uint32_t)),
                              .local = calloc(nodes, sizeof(uint32_t)),
                              .node_at = calloc(nodes, sizeof(uint32_t)),
                              .edge_at = calloc(edges, sizeof(uint32_t)),
                              .nodes = calloc(nodes, sizeof(struct layout_node)),
                              .edges = calloc(edges, sizeof(struct layout_edge))};
    layout->points = NULL;
    layout->point_count = 0;
    layout->width = layout->height = 0;
    bool good = packing.part_of && packing.local && packing.node_at && packing.edge_at &&
                packing.nodes && packing.edges;
    good = good ? pack(&packing, width, error) : error_set(error, "out of memory for the picture");
    free(packing.part_of);
    free(packing.local);
    free(packing.node_at);
    free(packing.edge_at);
    free(packing.nodes);
    free(packing.edges);
    return good;
}
