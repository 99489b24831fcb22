/* The edges of a µop are listed anew for each node of the path, which is about once or twice per
 * µop. */
#include "graph/critical.h"

#include <assert.h>
#include <stdlib.h>

#include "graph/insn_rows.h"
#include "util/array.h"

static const struct {
    const char *name, *category, *description;
} PARTS[CRITICAL_PARTS] = {
    [EDGE_PD] = {"PD", "bmisp", "fetch anew after a mispredicted branch was resolved"},
    [EDGE_FL] = {"FL", "bmisp", "bubble after a branch whose target came from decode"},
    [EDGE_CF] = {"CF", "", "fetch anew after a flushing instruction or system call"},
    [EDGE_CT] = {"CT", "win", "fetch target queue full"},
    [EDGE_FB] = {"FB", "bw", "fetch broke off: taken branch, end of a fetch block"},
    [EDGE_FT] = {"FT", "bw", "no more taken branches fetched in a cycle"},
    [EDGE_FBW] = {"FBW", "bw", "fetch bandwidth"},
    [EDGE_DF] = {"DF", "bw", "no room between fetch and dispatch"},
    [EDGE_FF] = {"FF", "", "in-order fetch"},
    [EDGE_WBW] = {"WBW", "bw", "bandwidth of writes to the cache"},
    [EDGE_CW] = {"CW", "", "write after the commit of the store"},
    [EDGE_WW] = {"WW", "", "in-order writes to the cache"},
    [EDGE_WL] = {"WL", "", "write to the cache"},
    [EDGE_LL] = {"LL", "", "stores leave the store queue in order"},
    [EDGE_SQ] = {"SQ", "win", "store queue full"},
    [EDGE_CS] = {"CS", "", "serialising instruction"},
    [EDGE_CQ] = {"CQ", "win", "load queue or registers full"},
    [EDGE_ED] = {"ED", "win", "issue queue full"},
    [EDGE_CD] = {"CD", "win", "re-order buffer full"},
    [EDGE_DBW] = {"DBW", "bw", "dispatch bandwidth"},
    [EDGE_FD] = {"FD", "", "from fetch to dispatch: depth of the front end"},
    [EDGE_DD] = {"DD", "", "in-order dispatch"},
    [EDGE_PR] = {"PR", "shalu", "data dependence; wakeup loop"},
    [EDGE_SR] = {"SR", "", "load that waits for an older store"},
    [EDGE_SW] = {"SW", "stfwd",
                 "load that waits until a store that cannot forward is in the cache"},
    [EDGE_CR] = {"CR", "", "instruction that issues at the head only"},
    [EDGE_DR] = {"DR", "", "from dispatch to the first issue"},
    [EDGE_RE] = {"RE", "bw", "wait for an issue slot or a functional unit"},
    [EDGE_EP] = {"EP", "shalu, lgalu", "execution; of loads and stores address generation"},
    [EDGE_PP] = {"PP", "dmiss", "load of a line that another miss brings"},
    [EDGE_SP] = {"SP", "dl1", "forwarding from a store"},
    [EDGE_PC] = {"PC", "", "from the result to commit"},
    [EDGE_CBW] = {"CBW", "bw", "commit bandwidth"},
    [EDGE_CC] = {"CC", "", "in-order commit"},
    [PART_FETCH_MISS] = {"FF miss", "imiss", "instruction cache and TLB misses"},
    [PART_MSHR] = {"MSHR", "dmiss", "loads and writes: wait for a miss status register"},
    [PART_L1] = {"EP L1", "dl1", "loads: first-level cache, or store queue"},
    [PART_MISS] = {"EP miss", "dmiss", "loads, stores, writes: beyond the first level, TLB"},
};

const char *critical_part_name(unsigned part) {
    return PARTS[part].name;
}

const char *critical_part_category(unsigned part) {
    return PARTS[part].category;
}

const char *critical_part_description(unsigned part) {
    return PARTS[part].description;
}

void critical_free(struct critical *critical) {
    free(critical->insns);
    free(critical->rows);
    *critical = (struct critical){0};
}

const struct critical_insn *critical_find(const struct critical *critical, uint32_t insn) {
    uint32_t row = insn < critical->row_count ? critical->rows[insn] : 0;
    return row ? &critical->insns[row - 1] : NULL;
}

static struct critical_insn *row_of(struct critical *critical, uint32_t insn) {
    uint32_t *row = &critical->rows[insn];
    if (!*row) {
        if (!array_room(critical->insns, critical->capacity, critical->count + 1))
            return NULL;
        critical->insns[critical->count] = (struct critical_insn){.insn = insn};
        *row = (uint32_t)++critical->count;
    }
    return &critical->insns[*row - 1];
}

static bool charge(struct critical *critical, uint32_t insn, unsigned part, int64_t cycles) {
    if (!cycles)
        return true;
    struct critical_insn *row = row_of(critical, insn);
    if (!row)
        return false;
    row->parts[part] += cycles;
    row->cycles += cycles;
    critical->parts[part] += cycles;
    critical->cycles += cycles;
    return true;
}

static bool charge_edge(struct critical *critical, const struct graph_fragment *fragment,
                        const struct graph_edge *edge, uint32_t index) {
    bool source = edge->kind == EDGE_PD || edge->kind == EDGE_FL || edge->kind == EDGE_CF ||
                  edge->kind == EDGE_FB;
    bool write = edge->to == NODE_W || edge->to == NODE_L;
    enum critical_part apart = edge->to == NODE_F               ? PART_FETCH_MISS
                               : edge->kind == EDGE_RE || write ? PART_MSHR
                                                                : PART_L1;
    const struct graph_uop *uop = &fragment->uops[index];
    uint32_t insn = write ? uop[-(int64_t)uop->store_entry].insn : uop->insn;
    return charge(critical, source ? fragment->uops[edge->source].insn : insn, edge->kind,
                  edge->weight - edge->apart - edge->miss) &&
           charge(critical, insn, apart, edge->apart) &&
           charge(critical, insn, PART_MISS, edge->miss);
}

/* The edge that set a node; NULL: F of the first µop. */
static const struct graph_edge *setter(const struct graph_edge *edges, uint32_t count,
                                       const struct graph_nodes *nodes, uint32_t index,
                                       unsigned node) {
    int64_t time = node_time(&nodes[index], node);
    for (uint32_t i = 0; i < count; i++)
        if (edges[i].to == node &&
            node_time(&nodes[edges[i].source], edges[i].from) + edges[i].weight == time)
            return &edges[i];
    return NULL;
}

bool critical_add(struct critical *critical, const struct graph_machine *machine,
                  const struct graph_fragment *fragment, const struct graph_nodes *nodes,
                  struct error *error) {
    bool good = insn_rows_reserve((void **)&critical->rows, &critical->row_count,
                                  &critical->row_capacity, sizeof *critical->rows, fragment);
    uint32_t index = fragment->count - 1;
    unsigned node = NODE_C;
    while (good) {
        struct graph_edge edges[GRAPH_MOST_EDGES];
        uint32_t count = graph_edges(machine, fragment, nodes, index, edges);
        const struct graph_edge *edge = setter(edges, count, nodes, index, node);
        if (!edge) {
            assert(index == 0 && node == NODE_F);
            good = charge(critical, fragment->uops[0].insn, PART_FETCH_MISS, nodes[0].fetch);
            break;
        }
        good = charge_edge(critical, fragment, edge, index);
        index = edge->source;
        node = edge->from;
    }
    return good || error_set(error, "out of memory for the critical path");
}
