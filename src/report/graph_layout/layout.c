/* In four steps: edges that close a cycle are found by a depth-first search and turned round; each
 * node goes on the layer that the longest path to it says, and an edge over several layers gets a
 * dummy node on each; within layers nodes are ordered by the mean of their neighbours' places, as
 * long as that lessens crossings; then they are moved apart sideways, each as near as can be to its
 * neighbours. */
#include "report/graph_layout.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "util/array.h"
#include "util/order.h"

enum { SWEEPS = 12, MOVES = 16, NONE = UINT32_MAX };

/* A node of the picture, or the place where an edge passes a layer. */
struct vertex {
    uint32_t node, edge; /* one of them NONE */
    uint32_t layer;
    double width, height, x;
    double sort;
    uint32_t position; /* in its layer */
};

/* From a layer to the next. */
struct link {
    uint32_t up, down; /* vertices */
};

struct drawing {
    struct graph_layout *layout;
    struct vertex *vertices;
    size_t vertex_count, vertex_capacity;
    struct link *links;
    size_t link_count, link_capacity;
    uint32_t *ups, *up_first;     /* links of each vertex to the layer above */
    uint32_t *downs, *down_first; /* and below */
    uint32_t *order, *best;       /* vertices by layer and position */
    uint32_t *layer_first;        /* by layer, and one more */
    uint32_t layer_count;
    double *wanted;   /* x, by vertex */
    double *pool_sum; /* of pools */
    uint32_t *pool_size;
};

/* ---- cycles ---- */

struct visit {
    uint32_t node, next;
};

static uint32_t upper(const struct layout_edge *edge) {
    return edge->back ? edge->to : edge->from;
}

static uint32_t lower(const struct layout_edge *edge) {
    return edge->back ? edge->from : edge->to;
}

/* Lists edges by their upper node: first[node] .. first[node + 1] in `list`. As long as none is
 * known to lead back that is where they come from. */
static void list_edges(const struct graph_layout *layout, uint32_t *first, uint32_t *list) {
    memset(first, 0, (layout->node_count + 2u) * sizeof *first);
    for (uint32_t i = 0; i < layout->edge_count; i++)
        first[upper(&layout->edges[i]) + 2]++;
    for (uint32_t i = 2; i <= layout->node_count + 1; i++)
        first[i] += first[i - 1];
    for (uint32_t i = 0; i < layout->edge_count; i++)
        list[first[upper(&layout->edges[i]) + 1]++] = i;
}

/* Edges to a node that is still being visited close a cycle. */
static void find_back_edges(struct graph_layout *layout, const uint32_t *first,
                            const uint32_t *list, uint8_t *state, struct visit *stack) {
    enum { NEW, OPEN, DONE };
    for (uint32_t root = 0; root < layout->node_count; root++) {
        uint32_t depth = 0;
        if (state[root] != NEW)
            continue;
        stack[depth++] = (struct visit){root, first[root]};
        state[root] = OPEN;
        while (depth) {
            struct visit *top = &stack[depth - 1];
            if (top->next == first[top->node + 1]) {
                state[top->node] = DONE;
                depth--;
                continue;
            }
            struct layout_edge *edge = &layout->edges[list[top->next++]];
            edge->back = state[edge->to] == OPEN;
            if (state[edge->to] == NEW) {
                state[edge->to] = OPEN;
                stack[depth++] = (struct visit){edge->to, first[edge->to]};
            }
        }
    }
}

/* Longest paths, in topological order: a node is done when all edges from above are. */
static void find_layers(struct graph_layout *layout, const uint32_t *first, const uint32_t *list,
                        uint32_t *waiting, uint32_t *queue) {
    uint32_t head = 0, tail = 0;
    memset(waiting, 0, layout->node_count * sizeof *waiting);
    for (uint32_t i = 0; i < layout->edge_count; i++)
        if (layout->edges[i].from != layout->edges[i].to)
            waiting[lower(&layout->edges[i])]++;
    for (uint32_t i = 0; i < layout->node_count; i++) {
        layout->nodes[i].layer = 0;
        if (!waiting[i])
            queue[tail++] = i;
    }
    while (head < tail) {
        uint32_t node = queue[head++];
        for (uint32_t i = first[node]; i < first[node + 1]; i++) {
            const struct layout_edge *edge = &layout->edges[list[i]];
            uint32_t below = lower(edge);
            if (edge->from == edge->to)
                continue;
            if (layout->nodes[below].layer <= layout->nodes[node].layer)
                layout->nodes[below].layer = layout->nodes[node].layer + 1;
            if (--waiting[below] == 0)
                queue[tail++] = below;
        }
    }
}

static bool find_structure(struct graph_layout *layout) {
    size_t nodes = layout->node_count + 2u, edges = layout->edge_count + 1u;
    uint32_t *first = calloc(nodes, sizeof *first), *list = calloc(edges, sizeof *list);
    uint32_t *waiting = calloc(nodes, sizeof *waiting), *queue = calloc(nodes, sizeof *queue);
    uint8_t *state = calloc(nodes, 1);
    struct visit *stack = calloc(nodes, sizeof *stack);
    bool good = first && list && waiting && queue && state && stack;
    if (good) {
        for (uint32_t i = 0; i < layout->edge_count; i++)
            layout->edges[i].back = false;
        list_edges(layout, first, list);
        find_back_edges(layout, first, list, state, stack);
        list_edges(layout, first, list);
        find_layers(layout, first, list, waiting, queue);
    }
    free(first);
    free(list);
    free(waiting);
    free(queue);
    free(state);
    free(stack);
    return good;
}

/* ---- vertices ---- */

static bool add_vertex(struct drawing *drawing, struct vertex vertex) {
    if (!array_reserve((void **)&drawing->vertices, &drawing->vertex_capacity,
                       drawing->vertex_count + 1, sizeof *drawing->vertices))
        return false;
    drawing->vertices[drawing->vertex_count++] = vertex;
    if (vertex.layer + 1 > drawing->layer_count)
        drawing->layer_count = vertex.layer + 1;
    return true;
}

static bool add_link(struct drawing *drawing, uint32_t up, uint32_t down) {
    if (!array_reserve((void **)&drawing->links, &drawing->link_capacity, drawing->link_count + 1,
                       sizeof *drawing->links))
        return false;
    drawing->links[drawing->link_count++] = (struct link){up, down};
    return true;
}

/* Nodes have their own numbers as vertices; behind them come those where edges pass. */
static bool make_vertices(struct drawing *drawing) {
    const struct graph_layout *layout = drawing->layout;
    for (uint32_t i = 0; i < layout->node_count; i++) {
        const struct layout_node *node = &layout->nodes[i];
        if (!add_vertex(drawing, (struct vertex){i, NONE, node->layer, node->width, node->height,
                                                 .sort = i}))
            return false;
    }
    for (uint32_t i = 0; i < layout->edge_count; i++) {
        const struct layout_edge *edge = &layout->edges[i];
        assert(edge->from < layout->node_count && edge->to < layout->node_count);
        if (edge->from == edge->to)
            continue;
        uint32_t above = upper(edge), end = layout->nodes[lower(edge)].layer;
        for (uint32_t layer = layout->nodes[above].layer + 1; layer < end; layer++) {
            uint32_t here = (uint32_t)drawing->vertex_count;
            if (!add_vertex(drawing,
                            (struct vertex){NONE, i, layer, LAYOUT_LANE, 0, .sort = lower(edge)}) ||
                !add_link(drawing, above, here))
                return false;
            above = here;
        }
        if (!add_link(drawing, above, lower(edge)))
            return false;
    }
    return true;
}

static void list_links(const struct drawing *drawing, bool by_upper, uint32_t *first,
                       uint32_t *list) {
    for (size_t i = 0; i < drawing->link_count; i++)
        first[(by_upper ? drawing->links[i].up : drawing->links[i].down) + 2]++;
    for (size_t i = 2; i <= drawing->vertex_count + 1; i++)
        first[i] += first[i - 1];
    for (size_t i = 0; i < drawing->link_count; i++) {
        const struct link *link = &drawing->links[i];
        list[first[(by_upper ? link->up : link->down) + 1]++] = by_upper ? link->down : link->up;
    }
}

static bool index_vertices(struct drawing *drawing) {
    size_t vertices = drawing->vertex_count + 2, links = drawing->link_count + 1;
    drawing->ups = calloc(links, sizeof(uint32_t));
    drawing->downs = calloc(links, sizeof(uint32_t));
    drawing->up_first = calloc(vertices, sizeof(uint32_t));
    drawing->down_first = calloc(vertices, sizeof(uint32_t));
    drawing->order = calloc(vertices, sizeof(uint32_t));
    drawing->best = calloc(vertices, sizeof(uint32_t));
    drawing->pool_size = calloc(vertices, sizeof(uint32_t));
    drawing->wanted = calloc(vertices, sizeof(double));
    drawing->pool_sum = calloc(vertices, sizeof(double));
    drawing->layer_first = calloc(drawing->layer_count + 2u, sizeof(uint32_t));
    if (!drawing->ups || !drawing->downs || !drawing->up_first || !drawing->down_first ||
        !drawing->order || !drawing->best || !drawing->pool_size || !drawing->wanted ||
        !drawing->pool_sum || !drawing->layer_first)
        return false;
    list_links(drawing, false, drawing->up_first, drawing->ups);
    list_links(drawing, true, drawing->down_first, drawing->downs);
    for (size_t i = 0; i < drawing->vertex_count; i++)
        drawing->layer_first[drawing->vertices[i].layer + 2]++;
    for (uint32_t i = 2; i <= drawing->layer_count + 1; i++)
        drawing->layer_first[i] += drawing->layer_first[i - 1];
    for (uint32_t i = 0; i < drawing->vertex_count; i++)
        drawing->order[drawing->layer_first[drawing->vertices[i].layer + 1]++] = i;
    return true;
}

/* ---- order within layers ---- */

static int by_sort(const void *left, const void *right, void *context) {
    const struct vertex *vertices = context;
    const struct vertex *a = &vertices[*(const uint32_t *)left];
    const struct vertex *b = &vertices[*(const uint32_t *)right];
    return ascending(a->sort, b->sort) ?: ascending(a->position, b->position);
}

static void sort_layer(struct drawing *drawing, uint32_t layer) {
    uint32_t *order = drawing->order + drawing->layer_first[layer];
    uint32_t count = drawing->layer_first[layer + 1] - drawing->layer_first[layer];
    qsort_r(order, count, sizeof *order, by_sort, drawing->vertices);
    for (uint32_t i = 0; i < count; i++)
        drawing->vertices[order[i]].position = i;
}

/* The mean of the neighbours' positions; without any it stays where it is. */
static void set_barycentres(struct drawing *drawing, uint32_t layer, const uint32_t *first,
                            const uint32_t *list) {
    for (uint32_t i = drawing->layer_first[layer]; i < drawing->layer_first[layer + 1]; i++) {
        struct vertex *vertex = &drawing->vertices[drawing->order[i]];
        uint32_t begin = first[drawing->order[i]], end = first[drawing->order[i] + 1];
        double sum = 0;
        for (uint32_t k = begin; k < end; k++)
            sum += drawing->vertices[list[k]].position;
        vertex->sort = end > begin ? sum / (end - begin) : vertex->position;
    }
}

/* Pairs of links between neighbouring layers that cross. */
static uint64_t count_crossings(const struct drawing *drawing) {
    uint64_t crossings = 0;
    for (size_t i = 0; i < drawing->link_count; i++) {
        const struct vertex *up = &drawing->vertices[drawing->links[i].up];
        const struct vertex *down = &drawing->vertices[drawing->links[i].down];
        for (uint32_t at = drawing->layer_first[up->layer] + up->position + 1;
             at < drawing->layer_first[up->layer + 1]; at++) {
            uint32_t other = drawing->order[at];
            for (uint32_t k = drawing->down_first[other]; k < drawing->down_first[other + 1]; k++)
                crossings += drawing->vertices[drawing->downs[k]].position < down->position;
        }
    }
    return crossings;
}

static void order_vertices(struct drawing *drawing) {
    size_t bytes = drawing->vertex_count * sizeof *drawing->order;
    uint64_t fewest = UINT64_MAX;
    for (uint32_t layer = 0; layer < drawing->layer_count; layer++)
        sort_layer(drawing, layer);
    for (int sweep = 0; sweep <= SWEEPS && fewest; sweep++) {
        uint64_t crossings = count_crossings(drawing);
        if (crossings < fewest) {
            fewest = crossings;
            memcpy(drawing->best, drawing->order, bytes);
        }
        for (uint32_t i = 1; i < drawing->layer_count; i++) {
            bool down = sweep % 2 == 0;
            uint32_t layer = down ? i : drawing->layer_count - 1 - i;
            set_barycentres(drawing, layer, down ? drawing->up_first : drawing->down_first,
                            down ? drawing->ups : drawing->downs);
            sort_layer(drawing, layer);
        }
    }
    memcpy(drawing->order, drawing->best, bytes);
    for (uint32_t layer = 0; layer < drawing->layer_count; layer++)
        for (uint32_t i = drawing->layer_first[layer]; i < drawing->layer_first[layer + 1]; i++)
            drawing->vertices[drawing->order[i]].position = i - drawing->layer_first[layer];
}

/* ---- coordinates ---- */

/* How far the middles of two neighbours in a layer must be apart. */
static double apart(const struct vertex *a, const struct vertex *b) {
    double gap = a->node == NONE || b->node == NONE ? LAYOUT_LANE : LAYOUT_GAP;
    return (a->width + b->width) / 2 + gap;
}

/* Each vertex as near as can be, by squares, to where it is wanted, in order and far enough apart:
 * pools of neighbours that would overlap move together (pool adjacent violators). */
static void place_layer(struct drawing *drawing, uint32_t layer) {
    const uint32_t *order = drawing->order + drawing->layer_first[layer];
    uint32_t count = drawing->layer_first[layer + 1] - drawing->layer_first[layer], pools = 0;
    double offset = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (i)
            offset += apart(&drawing->vertices[order[i - 1]], &drawing->vertices[order[i]]);
        drawing->pool_sum[pools] = drawing->wanted[order[i]] - offset;
        drawing->pool_size[pools++] = 1;
        while (pools > 1 && drawing->pool_sum[pools - 2] / drawing->pool_size[pools - 2] >
                                drawing->pool_sum[pools - 1] / drawing->pool_size[pools - 1]) {
            pools--;
            drawing->pool_sum[pools - 1] += drawing->pool_sum[pools];
            drawing->pool_size[pools - 1] += drawing->pool_size[pools];
        }
    }
    offset = 0;
    for (uint32_t i = 0, pool = 0, left = 0; i < count; i++) {
        if (i)
            offset += apart(&drawing->vertices[order[i - 1]], &drawing->vertices[order[i]]);
        if (!left)
            left = drawing->pool_size[pool++];
        left--;
        drawing->vertices[order[i]].x =
            drawing->pool_sum[pool - 1] / drawing->pool_size[pool - 1] + offset;
    }
}

static void want_neighbours(struct drawing *drawing, uint32_t layer, bool above, bool below) {
    for (uint32_t i = drawing->layer_first[layer]; i < drawing->layer_first[layer + 1]; i++) {
        uint32_t vertex = drawing->order[i], count = 0;
        double sum = 0;
        for (uint32_t k = drawing->up_first[vertex]; above && k < drawing->up_first[vertex + 1];
             k++, count++)
            sum += drawing->vertices[drawing->ups[k]].x;
        for (uint32_t k = drawing->down_first[vertex]; below && k < drawing->down_first[vertex + 1];
             k++, count++)
            sum += drawing->vertices[drawing->downs[k]].x;
        drawing->wanted[vertex] = count ? sum / count : drawing->vertices[vertex].x;
    }
}

static void place_vertices(struct drawing *drawing) {
    for (uint32_t layer = 0; layer < drawing->layer_count; layer++)
        place_layer(drawing, layer);
    for (int move = 0; move < MOVES; move++)
        for (uint32_t i = 0; i < drawing->layer_count; i++) {
            uint32_t layer = move % 2 ? drawing->layer_count - 1 - i : i;
            bool last = move + 2 >= MOVES;
            want_neighbours(drawing, layer, last || move % 2 == 0, last || move % 2 == 1);
            place_layer(drawing, layer);
        }
}

/* Sets x and y of nodes, the size of the whole, and moves all to positive coordinates. */
static void place_nodes(struct drawing *drawing, double *tops) {
    struct graph_layout *layout = drawing->layout;
    double least = 0, most = 0, y = LAYOUT_GAP;
    for (size_t i = 0; i < drawing->vertex_count; i++) {
        const struct vertex *vertex = &drawing->vertices[i];
        double left = vertex->x - vertex->width / 2, right = vertex->x + vertex->width / 2;
        least = i == 0 || left < least ? left : least;
        most = i == 0 || right > most ? right : most;
    }
    for (uint32_t layer = 0; layer < drawing->layer_count; layer++) {
        double height = 0;
        for (uint32_t i = drawing->layer_first[layer]; i < drawing->layer_first[layer + 1]; i++)
            if (drawing->vertices[drawing->order[i]].height > height)
                height = drawing->vertices[drawing->order[i]].height;
        tops[layer] = y;
        y += height + LAYOUT_LAYER_GAP;
    }
    tops[drawing->layer_count] = y;
    for (size_t i = 0; i < drawing->vertex_count; i++) {
        struct vertex *vertex = &drawing->vertices[i];
        vertex->x += LAYOUT_GAP - least;
        if (vertex->node != NONE) {
            layout->nodes[vertex->node].x = vertex->x;
            layout->nodes[vertex->node].y = tops[vertex->layer];
        }
    }
    layout->width = most - least + 2 * LAYOUT_GAP;
    layout->height = y - LAYOUT_LAYER_GAP + LAYOUT_GAP;
}

/* ---- the way of edges ---- */

/* Where an edge meets a node. */
struct port {
    uint32_t node, edge;
    bool below;    /* at its lower side */
    double toward; /* x of where it goes from there */
};

ORDER(by_side, struct port, ascending(a->node, b->node) ?: ascending(a->below, b->below) ?:
           ascending(a->toward, b->toward) ?: ascending(a->edge, b->edge))

static uint32_t end_point(const struct layout_edge *edge, bool at_upper) {
    return edge->first_point + (at_upper == edge->back ? edge->point_count - 1 : 0);
}

static uint32_t next_point(const struct layout_edge *edge, bool at_upper) {
    return edge->first_point + (at_upper == edge->back ? edge->point_count - 2 : 1);
}

/* Edges at one side of a node meet it side by side, in the order of where they go. */
static bool spread_ports(struct graph_layout *layout) {
    struct port *ports = calloc(2 * layout->edge_count + 1u, sizeof *ports);
    size_t count = 0;
    if (!ports)
        return false;
    for (uint32_t i = 0; i < layout->edge_count; i++)
        for (int at_upper = 0; at_upper < 2 && layout->edges[i].point_count; at_upper++) {
            const struct layout_edge *edge = &layout->edges[i];
            ports[count++] = (struct port){at_upper ? upper(edge) : lower(edge), i, at_upper,
                                           layout->points[next_point(edge, at_upper)].x};
        }
    qsort(ports, count, sizeof *ports, by_side);
    for (size_t first = 0, end; first < count; first = end) {
        for (end = first + 1; end < count && ports[end].node == ports[first].node &&
                              ports[end].below == ports[first].below;)
            end++;
        const struct layout_node *node = &layout->nodes[ports[first].node];
        double step = node->width / (double)(end - first + 1);
        for (size_t i = first; i < end; i++)
            layout->points[end_point(&layout->edges[ports[i].edge], ports[i].below)].x +=
                step * (double)(i - first + 1) - node->width / 2;
    }
    free(ports);
    return true;
}

/* Vertices where an edge passes follow each other, from its upper end to its lower. */
static bool route_edges(struct drawing *drawing, const double *tops) {
    struct graph_layout *layout = drawing->layout;
    layout->points =
        calloc(2 * (drawing->vertex_count + layout->edge_count) + 1, sizeof *layout->points);
    if (!layout->points)
        return false;
    size_t vertex = layout->node_count;
    for (uint32_t i = 0; i < layout->edge_count; i++) {
        struct layout_edge *edge = &layout->edges[i];
        edge->first_point = layout->point_count;
        edge->point_count = 0;
        if (edge->from == edge->to)
            continue;
        const struct layout_node *top = &layout->nodes[upper(edge)];
        const struct layout_node *bottom = &layout->nodes[lower(edge)];
        struct layout_point *points = layout->points + layout->point_count;
        uint32_t count = 0;
        points[count++] = (struct layout_point){top->x, top->y + top->height};
        for (; vertex < drawing->vertex_count && drawing->vertices[vertex].edge == i; vertex++) {
            const struct vertex *passed = &drawing->vertices[vertex];
            double end = tops[passed->layer + 1] - LAYOUT_LAYER_GAP;
            points[count++] = (struct layout_point){passed->x, tops[passed->layer]};
            points[count++] = (struct layout_point){passed->x, end};
        }
        points[count++] = (struct layout_point){bottom->x, bottom->y};
        for (uint32_t k = 0; edge->back && k < count / 2; k++) {
            struct layout_point swapped = points[k];
            points[k] = points[count - 1 - k];
            points[count - 1 - k] = swapped;
        }
        edge->point_count = count;
        layout->point_count += count;
    }
    return true;
}

bool graph_layout_make(struct graph_layout *layout, struct error *error) {
    struct drawing drawing = {.layout = layout};
    double *tops = NULL;
    bool good = find_structure(layout) && make_vertices(&drawing) && index_vertices(&drawing) &&
                (tops = calloc(drawing.layer_count + (size_t)1, sizeof *tops));
    if (good) {
        order_vertices(&drawing);
        place_vertices(&drawing);
        place_nodes(&drawing, tops);
        good = route_edges(&drawing, tops) && spread_ports(layout);
    }
    free(tops);
    free(drawing.vertices);
    free(drawing.links);
    free(drawing.ups);
    free(drawing.downs);
    free(drawing.up_first);
    free(drawing.down_first);
    free(drawing.order);
    free(drawing.best);
    free(drawing.layer_first);
    free(drawing.wanted);
    free(drawing.pool_sum);
    free(drawing.pool_size);
    return good || error_set(error, "out of memory for the picture");
}

void graph_layout_free(struct graph_layout *layout) {
    free(layout->points);
    layout->points = NULL;
    layout->point_count = 0;
}
