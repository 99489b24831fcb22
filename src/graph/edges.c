/* Lists the edges of which evaluate.c takes the latest. */
#include "graph/edges.h"

struct list {
    struct graph_edge *edges;
    uint32_t count, index; /* index: of the µop they lead to */
};

/* Whether the µop takes over the store queue entry of a store of the fragment. */
static bool frees_entry(const struct graph_uop *uop, uint32_t index) {
    return uop->store_entry && uop->store_entry <= index;
}

/* The distance from a µop that takes an entry back to the one that took its entry so many entries
 * ago; 0: none. */
static uint32_t takings_back(const struct graph_uop *uop, uint32_t index, uint32_t count) {
    for (uint32_t back = 1; back <= index; back++)
        if (frees_entry(uop - back, index - back) && --count == 0)
            return back;
    return 0;
}

/* The distance in µops, of W and L from that in writes; 0: it leads to before the fragment. */
static inline __attribute__((always_inline)) uint32_t
reach(const struct graph_uop *uop, uint32_t index, enum graph_node from, uint64_t distance) {
    if (distance == 0 || distance > index)
        return 0;
    bool write = from == NODE_W || from == NODE_L;
    return write ? takings_back(uop, index, (uint32_t)distance) : (uint32_t)distance;
}

static inline struct graph_edge *add(struct list *list, enum graph_edge_kind kind, uint32_t source,
                                     enum graph_node from, enum graph_node to, int64_t weight) {
    struct graph_edge *edge = &list->edges[list->count++];
    *edge = (struct graph_edge){.source = source,
                                .weight = (int32_t)weight,
                                .from = (uint8_t)from,
                                .to = (uint8_t)to,
                                .kind = (uint8_t)kind};
    return edge;
}

/* Between nodes of the µop itself. */
static inline void add_own(struct list *list, enum graph_edge_kind kind, enum graph_node from,
                           enum graph_node to, int64_t cycles, uint32_t apart, uint32_t miss) {
    struct graph_edge *edge = add(list, kind, list->index, from, to, cycles + apart + miss);
    edge->apart = (int32_t)apart;
    edge->miss = (int32_t)miss;
}

/* Lists the edges to a node, which is constant as in evaluate.c. */
static inline __attribute__((always_inline)) void
list_to(struct list *list, const struct graph_machine *machine, const struct graph_uop *uop,
        const struct graph_nodes *nodes, enum graph_node to) {
    static const struct graph_uop none = {0};
    const uint32_t index = list->index;
    const struct graph_nodes *own = &nodes[index];
    const struct graph_uop *before = index ? uop - 1 : &none;
#define BANDWIDTH                 true
#define WINDOW                    true
#define KEEP(part, of)            true
#define WEIGHT(part, of, cycles)  (cycles)
#define EXECUTION                 (uop->execution)
#define REACHES(FROM, distance)   (reach(uop, index, NODE_##FROM, distance) != 0)
#define TIME(FROM, distance)      (own[-(int64_t)(distance)].time[NODE_##FROM])
#define CONDITION(TO, name, when) const bool name = to == NODE_##TO && (when);
#define EDGE(name, FROM, distance, TO, when, cycles)                                               \
    if (to == NODE_##TO && (when)) {                                                               \
        uint32_t back = reach(uop, index, NODE_##FROM, distance);                                  \
        if (back)                                                                                  \
            add(list, EDGE_##name, index - back, NODE_##FROM, NODE_##TO, cycles);                  \
    }
#define OWN(name, FROM, TO, when, cycles, apart, miss)                                             \
    if (to == NODE_##TO && (when))                                                                 \
        add_own(list, EDGE_##name, NODE_##FROM, NODE_##TO, cycles, apart, miss);
#include "graph/edges.def"
}

/* Adds a wait behind the edges from number `first` on. */
static void add_wait(struct list *list, uint32_t first, int64_t wait) {
    for (uint32_t i = first; i < list->count; i++) {
        list->edges[i].apart = (int32_t)wait;
        list->edges[i].weight += (int32_t)wait;
    }
}

/* How much later the write is than the latest of the edges to it, from number `first` on. */
static int64_t write_wait(const struct list *list, const struct graph_nodes *nodes,
                          uint32_t first) {
    int64_t written = nodes[list->index].written, wait = written;
    for (uint32_t i = first; i < list->count; i++) {
        const struct graph_edge *edge = &list->edges[i];
        int64_t later = written - nodes[edge->source].time[edge->from] - edge->weight;
        wait = later < wait ? later : wait;
    }
    return wait;
}

void graph_fragment_times(struct graph_evaluation *evaluation,
                          const struct graph_fragment *fragment, struct graph_nodes *nodes) {
    graph_evaluation_begin(evaluation);
    for (uint32_t i = 0; i < fragment->count; i++)
        nodes[i] = *graph_evaluate(evaluation, &fragment->uops[i]);
}

uint32_t graph_edges(const struct graph_machine *machine, const struct graph_fragment *fragment,
                     const struct graph_nodes *nodes, uint32_t index,
                     struct graph_edge edges[GRAPH_MOST_EDGES]) {
    struct list list = {.edges = edges, .index = index};
    const struct graph_uop *uop = &fragment->uops[index];
    list_to(&list, machine, uop, nodes, NODE_F);
    add_wait(&list, 0, (int64_t)uop->fetch_cache + uop->fetch_tlb);
    if (frees_entry(uop, index)) {
        uint32_t first = list.count;
        list_to(&list, machine, uop, nodes, NODE_W);
        add_wait(&list, first, write_wait(&list, nodes, first));
        list_to(&list, machine, uop, nodes, NODE_L);
    }
    list_to(&list, machine, uop, nodes, NODE_D);
    if (uop->flags & GRAPH_ELIMINATED) {
        add_own(&list, EDGE_DR, NODE_D, NODE_R, 0, 0, 0);
        add_own(&list, EDGE_RE, NODE_R, NODE_E, 0, 0, 0);
        add_own(&list, EDGE_EP, NODE_E, NODE_P, 0, 0, 0);
    } else {
        list_to(&list, machine, uop, nodes, NODE_R);
        list_to(&list, machine, uop, nodes, NODE_E);
        list_to(&list, machine, uop, nodes, NODE_P);
    }
    list_to(&list, machine, uop, nodes, NODE_C);
    return list.count;
}
