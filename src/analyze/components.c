/* A depth-first search without recursion: a node remembers its parent and its next edge. The nodes
 * are the blocks and, behind them, the outside. */
#include "analyze/components.h"

#include <stdlib.h>
#include <string.h>

struct search {
    const struct cfg *cfg;
    struct components *components;
    uint32_t *number; /* by node: the order in which it was found; CFG_NONE: not found */
    uint32_t *low;    /* least number that a node below it leads to, in a component not yet whole */
    uint32_t *parent; /* CFG_NONE: a root */
    uint32_t *next;   /* edge to look at */
    uint32_t *pending; /* nodes of components not yet whole */
    uint32_t found, pending_count;
};

static uint32_t node_of(const struct cfg *cfg, uint32_t block) {
    return block == CFG_NONE ? cfg->block_count : block;
}

static uint32_t end_of_edges(const struct cfg *cfg, uint32_t node) {
    return node == cfg->block_count ? cfg->edge_count
                                    : cfg->blocks[node].first_out + cfg->blocks[node].out_count;
}

static void enter(struct search *search, uint32_t node, uint32_t parent) {
    const struct cfg *cfg = search->cfg;
    search->number[node] = search->low[node] = search->found++;
    search->parent[node] = parent;
    search->next[node] =
        node == cfg->block_count ? cfg->edge_count - cfg->outer_count : cfg->blocks[node].first_out;
    search->pending[search->pending_count++] = node;
}

static void leave(struct search *search, uint32_t node) {
    struct components *components = search->components;
    if (search->low[node] == search->number[node]) {
        uint32_t member;
        do {
            member = search->pending[--search->pending_count];
            components->of[member] = components->count;
        } while (member != node);
        uint32_t outside = search->cfg->block_count;
        bool outer = components->of[outside] == components->count;
        components->head[components->count++] = outer ? CFG_NONE : node;
    }
    uint32_t parent = search->parent[node];
    if (parent != CFG_NONE && search->low[node] < search->low[parent])
        search->low[parent] = search->low[node];
}

static void search_from(struct search *search, uint32_t root) {
    enter(search, root, CFG_NONE);
    for (uint32_t node = root; node != CFG_NONE;) {
        if (search->next[node] == end_of_edges(search->cfg, node)) {
            leave(search, node);
            node = search->parent[node];
            continue;
        }
        uint32_t to = node_of(search->cfg, search->cfg->edges[search->next[node]++].to);
        if (search->number[to] == CFG_NONE) {
            enter(search, to, node);
            node = to;
        } else if (search->components->of[to] == CFG_NONE &&
                   search->number[to] < search->low[node]) {
            search->low[node] = search->number[to];
        }
    }
}

void components_free(struct components *components) {
    free(components->of);
    free(components->head);
    *components = (struct components){0};
}

bool components_find(struct components *components, const struct cfg *cfg, struct error *error) {
    size_t nodes = (size_t)cfg->block_count + 1;
    *components = (struct components){.of = malloc(nodes * sizeof *components->of),
                                      .head = malloc(nodes * sizeof *components->head)};
    uint32_t *memory = malloc(5 * nodes * sizeof *memory);
    if (!components->of || !components->head || !memory) {
        free(memory);
        return error_set(error, "out of memory for the loops of a procedure");
    }
    struct search search = {.cfg = cfg,
                            .components = components,
                            .number = memory,
                            .low = memory + nodes,
                            .parent = memory + 2 * nodes,
                            .next = memory + 3 * nodes,
                            .pending = memory + 4 * nodes};
    memset(search.number, 0xff, nodes * sizeof *search.number);
    memset(components->of, 0xff, nodes * sizeof *components->of);
    search_from(&search, cfg->block_count);
    for (uint32_t block = 0; block < cfg->block_count; block++)
        if (search.number[block] == CFG_NONE)
            search_from(&search, block);
    free(memory);
    return true;
}
