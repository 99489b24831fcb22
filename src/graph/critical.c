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
#define KIND(name, origin, category, report, hardware) [EDGE_##name] = {#name, category, report},
#include "graph/edges.def"
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
    int64_t time = nodes[index].time[node];
    const size_t i =
        index_where(k, count,
                    edges[k].to == node &&
                        nodes[edges[k].source].time[edges[k].from] + edges[k].weight == time);
    return i < count ? &edges[i] : NULL;
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
