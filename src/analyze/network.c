#include "analyze/network.h"

#include <stdlib.h>

void network_free(struct network *network) {
    free(network->arcs);
    free(network->first);
    free(network->incident);
    *network = (struct network){0};
}

static void list_arcs(struct network *network, const struct cfg *cfg, const struct cfg_edge *outer,
                      uint32_t outer_count) {
    struct network_arc *arc = network->arcs;
    for (uint32_t b = 0; b < cfg->block_count; b++)
        *arc++ = (struct network_arc){network_head(b), network_tail(b)};
    for (uint32_t e = 0; e < cfg->edge_count; e++)
        *arc++ =
            (struct network_arc){network_tail(cfg->edges[e].from), network_head(cfg->edges[e].to)};
    for (uint32_t e = 0; e < outer_count; e++) {
        uint32_t from = outer[e].from;
        bool ends = from != CFG_NONE && cfg->blocks[from].out_count == 0;
        *arc++ = (struct network_arc){ends ? network_tail(from) : network_head(from),
                                      network_head(outer[e].to)};
    }
}

/* Counts, sums, and fills in from the back, which leaves the sums at the beginnings. */
static void list_incident(struct network *network) {
    uint32_t *first = network->first;
    for (uint32_t a = 0; a < network->arc_count; a++) {
        first[network->arcs[a].from]++;
        first[network->arcs[a].to]++;
    }
    for (uint32_t n = 1; n <= network->node_count; n++)
        first[n] += first[n - 1];
    for (uint32_t a = network->arc_count; a-- > 0;) {
        network->incident[--first[network->arcs[a].from]] = a;
        network->incident[--first[network->arcs[a].to]] = a;
    }
}

bool network_make(struct network *network, const struct cfg *cfg, const struct cfg_edge *outer,
                  uint32_t outer_count, struct error *error) {
    *network = (struct network){0};
    network->arc_count = cfg->block_count + cfg->edge_count + outer_count;
    network->node_count = 1 + 2 * cfg->block_count;
    network->arcs = calloc(network->arc_count + (size_t)1, sizeof *network->arcs);
    network->first = calloc(network->node_count + (size_t)1, sizeof *network->first);
    network->incident = calloc(2 * (size_t)network->arc_count + 1, sizeof *network->incident);
    if (!network->arcs || !network->first || !network->incident)
        return error_set(error, "out of memory for the flow of a procedure");
    list_arcs(network, cfg, outer, outer_count);
    list_incident(network);
    return true;
}
