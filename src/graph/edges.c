/* Lists the edges of which evaluate.c takes the latest. */
#include "graph/edges.h"

struct list {
    struct graph_edge *edges;
    uint32_t count, index; /* index: of the µop they lead to */
};

/* Adds an edge, unless its distance is 0 or leads to before the fragment. */
static inline void add(struct list *list, enum graph_edge_kind kind, uint64_t distance,
                       enum graph_node from, enum graph_node to, int64_t weight) {
    if (distance == 0 || distance > list->index)
        return;
    list->edges[list->count++] = (struct graph_edge){.source = list->index - (uint32_t)distance,
                                                     .weight = (int32_t)weight,
                                                     .from = (uint8_t)from,
                                                     .to = (uint8_t)to,
                                                     .kind = (uint8_t)kind};
}

/* Between nodes of the µop itself. */
static inline struct graph_edge *add_own(struct list *list, enum graph_edge_kind kind,
                                         enum graph_node from, enum graph_node to, int64_t weight) {
    struct graph_edge *edge = &list->edges[list->count++];
    *edge = (struct graph_edge){.source = list->index,
                                .weight = (int32_t)weight,
                                .from = (uint8_t)from,
                                .to = (uint8_t)to,
                                .kind = (uint8_t)kind};
    return edge;
}

static void add_fetch(struct list *list, const struct graph_machine *machine,
                      const struct graph_uop *uop) {
    if (list->index == 0)
        return;
    uint32_t last = uop[-1].flags, wait = (uint32_t)uop->fetch_cache + uop->fetch_tlb;
    if (last & GRAPH_MISPREDICTED)
        add(list, EDGE_PD, 1, NODE_P, NODE_F, machine->redirect + wait);
    if (last & GRAPH_LATE)
        add(list, EDGE_FL, 1, NODE_F, NODE_F, machine->late_bubble + wait);
    if (uop->after_commit)
        add(list, EDGE_CF, 1, NODE_C, NODE_F, uop->after_commit - 1 + wait);
    add(list, EDGE_CT, uop->fetch_packet, NODE_C, NODE_F, wait);
    if (last & GRAPH_TAKEN)
        add(list, EDGE_FB, 1, NODE_F, NODE_F, machine->taken_bubble + wait);
    if (uop->flags & GRAPH_BREAK)
        add(list, EDGE_FB, 1, NODE_F, NODE_F, 1 + wait);
    add(list, EDGE_FT, uop->fetch_taken, NODE_F, NODE_F, 1 + wait);
    add(list, EDGE_FBW, uop->fetch_width, NODE_F, NODE_F, 1 + wait);
    add(list, EDGE_DF, machine->fetch_room, NODE_D, NODE_F, wait);
    add(list, EDGE_FF, 1, NODE_F, NODE_F, wait);
    for (uint32_t i = 0; i < list->count; i++)
        list->edges[i].apart = (int32_t)wait;
}

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

static void add_write(struct list *list, const struct graph_machine *machine,
                      const struct graph_uop *uop, const struct graph_nodes *nodes) {
    const struct graph_nodes *own = &nodes[list->index];
    uint32_t before = takings_back(uop, list->index, 1), first = list->count;
    add(list, EDGE_WBW, takings_back(uop, list->index, machine->store_drain), NODE_W, NODE_W, 1);
    add(list, EDGE_CW, uop->store_entry, NODE_C, NODE_W, 0);
    add(list, EDGE_WW, before, NODE_W, NODE_W, 0);
    int64_t wait = own->written;
    for (uint32_t i = first; i < list->count; i++) {
        const struct graph_edge *edge = &list->edges[i];
        int64_t later = own->written - node_time(&nodes[edge->source], edge->from) - edge->weight;
        wait = later < wait ? later : wait;
    }
    for (uint32_t i = first; i < list->count; i++) {
        list->edges[i].apart = (int32_t)wait;
        list->edges[i].weight += (int32_t)wait;
    }
    add_own(list, EDGE_WL, NODE_W, NODE_L, 1 + (int64_t)uop->write_wait)->miss = uop->write_wait;
    add(list, EDGE_LL, before, NODE_L, NODE_L, 0);
}

static void add_dispatch(struct list *list, const struct graph_machine *machine,
                         const struct graph_uop *uop) {
    if (frees_entry(uop, list->index))
        add_own(list, EDGE_SQ, NODE_L, NODE_D, 0);
    add(list, EDGE_CS, uop->serial, NODE_C, NODE_D, 0);
    add(list, EDGE_CQ, uop->load_entry, NODE_C, NODE_D, 0);
    add(list, EDGE_CQ, uop->int_register, NODE_C, NODE_D, 0);
    add(list, EDGE_CQ, uop->fp_register, NODE_C, NODE_D, 0);
    add(list, EDGE_ED, uop->queue_entry, NODE_E, NODE_D, 0);
    add(list, EDGE_CD, machine->window, NODE_C, NODE_D, 0);
    add(list, EDGE_DBW, machine->dispatch_width, NODE_D, NODE_D, 1);
    add_own(list, EDGE_FD, NODE_F, NODE_D, machine->frontend_depth);
    add(list, EDGE_DD, 1, NODE_D, NODE_D, 0);
}

/* What the wakeup loop adds behind producer i. */
static uint32_t wakeup(const struct graph_machine *machine, const struct graph_uop *uop,
                       uint32_t i) {
    return uop->flags & (uint32_t)GRAPH_WAKEUP << i ? machine->wakeup_extra : 0;
}

static void add_ready(struct list *list, const struct graph_machine *machine,
                      const struct graph_uop *uop) {
    for (uint32_t i = 0; i < UOP_MAX_SOURCES; i++)
        add(list, EDGE_PR, uop->producer[i], NODE_P, NODE_R, wakeup(machine, uop, i));
    if (uop->flags & GRAPH_WAITS_HEAD) {
        add(list, EDGE_CR, 1, NODE_C, NODE_R, uop->store_wait);
    } else if (uop->flags & GRAPH_HUNG) {
        add(list, EDGE_SR, uop->store, NODE_P, NODE_R, -(int64_t)machine->load_latency);
        add(list, EDGE_SR, uop->store, NODE_E, NODE_R, 0);
        add(list, EDGE_SR, uop->store_data, NODE_E, NODE_R, 0);
    } else if (!(uop->flags & GRAPH_COVERED)) {
        add(list, EDGE_SW, uop->store, NODE_C, NODE_R, 1 + (int64_t)uop->store_wait);
    }
    add_own(list, EDGE_DR, NODE_D, NODE_R, machine->dispatch_to_issue);
}

/* Whether a load gets its value from the store queue. */
static bool forwarded(const struct graph_uop *uop, const struct graph_nodes *nodes,
                      uint32_t index) {
    if (uop->store == 0 || uop->store > index)
        return false;
    return uop->flags & GRAPH_FORWARDED ||
           (uop->flags & GRAPH_COVERED && nodes[index - uop->store].commit >= nodes[index].execute);
}

/* E(i) → P(i): `execution`, then L1 or the store queue, then what is beyond. */
static void add_execution(struct list *list, int64_t execution, uint32_t l1, uint32_t miss) {
    struct graph_edge *edge = add_own(list, EDGE_EP, NODE_E, NODE_P, execution + l1 + miss);
    edge->apart = (int32_t)l1;
    edge->miss = (int32_t)miss;
}

static void add_complete(struct list *list, const struct graph_machine *machine,
                         const struct graph_uop *uop, const struct graph_nodes *nodes) {
    if (uop->flags & GRAPH_STORE) {
        add_execution(list, uop->execution, 0, uop->walk);
        add(list, EDGE_PR, uop->producer[UOP_MAX_SOURCES], NODE_P, NODE_P,
            wakeup(machine, uop, UOP_MAX_SOURCES));
    } else if (!(uop->flags & GRAPH_LOAD)) {
        add_execution(list, uop->execution, 0, 0);
    } else if (forwarded(uop, nodes, list->index)) {
        uint32_t latency = graph_forward_latency(machine, uop);
        add_execution(list, uop->execution, latency, 0);
        add(list, EDGE_SP, uop->store, NODE_P, NODE_P, latency);
    } else {
        bool pending = uop->flags & GRAPH_PENDING;
        add_execution(list, uop->execution, machine->l1_latency,
                      uop->walk + (pending ? 0u : uop->miss));
        add(list, EDGE_PP, uop->fetched_by, NODE_P, NODE_P, pending ? uop->miss : 0);
    }
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
    add_fetch(&list, machine, uop);
    if (frees_entry(uop, index))
        add_write(&list, machine, uop, nodes);
    add_dispatch(&list, machine, uop);
    if (uop->flags & GRAPH_ELIMINATED) {
        add_own(&list, EDGE_DR, NODE_D, NODE_R, 0);
        add_own(&list, EDGE_RE, NODE_R, NODE_E, 0);
        add_execution(&list, 0, 0, 0);
    } else {
        add_ready(&list, machine, uop);
        add_own(&list, EDGE_RE, NODE_R, NODE_E, nodes[index].execute - nodes[index].ready)->apart =
            uop->mshr_wait;
        add_complete(&list, machine, uop, nodes);
    }
    add_own(&list, EDGE_PC, NODE_P, NODE_C, machine->complete_to_commit);
    add(&list, EDGE_CBW, machine->commit_width, NODE_C, NODE_C, 1);
    add(&list, EDGE_CC, 1, NODE_C, NODE_C, 0);
    return list.count;
}
