/* Outer edges connect every component that control does not leave, and every one that it cannot
 * reach, with the outside. Then everything is one strongly connected component, as cycle
 * equivalence needs. */
#include "analyze/equivalence.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/brackets.h"
#include "analyze/components.h"
#include "util/array.h"

void equivalence_free(struct equivalence *equivalence) {
    free(equivalence->block_class);
    free(equivalence->edge_class);
    free(equivalence->outer);
    free(equivalence->outer_class);
    *equivalence = (struct equivalence){0};
}

void equivalence_part(struct equivalence *equivalence, const struct cfg *cfg) {
    uint32_t class = 0;
    for (uint32_t b = 0; b < cfg->block_count; b++)
        equivalence->block_class[b] = class ++;
    for (uint32_t e = 0; e < cfg->edge_count; e++)
        equivalence->edge_class[e] = class ++;
    for (uint32_t e = 0; e < equivalence->outer_count; e++)
        equivalence->outer_class[e] = class ++;
    equivalence->class_count = class;
}

static uint32_t component_of(const struct components *components, const struct cfg *cfg,
                             uint32_t block) {
    return components->of[block == CFG_NONE ? cfg->block_count : block];
}

enum { ENTERED = 1, LEFT = 2 };

static void mark_joined(const struct components *components, const struct cfg *cfg,
                        uint8_t *joined) {
    joined[component_of(components, cfg, CFG_NONE)] = ENTERED | LEFT;
    for (uint32_t e = 0; e < cfg->edge_count; e++) {
        uint32_t from = component_of(components, cfg, cfg->edges[e].from);
        uint32_t to = component_of(components, cfg, cfg->edges[e].to);
        if (from != to) {
            joined[from] |= LEFT;
            joined[to] |= ENTERED;
        }
    }
}

static bool add_outer(struct equivalence *equivalence, const struct components *components,
                      const uint8_t *joined) {
    uint32_t lacking =
        sum_over(uint32_t, c, components->count, !(joined[c] & ENTERED) + !(joined[c] & LEFT));
    equivalence->outer = malloc((lacking + (size_t)1) * sizeof *equivalence->outer);
    equivalence->outer_class = malloc((lacking + (size_t)1) * sizeof *equivalence->outer_class);
    if (!equivalence->outer || !equivalence->outer_class)
        return false;
    for (uint32_t c = 0; c < components->count; c++) {
        uint32_t head = components->head[c];
        struct cfg_edge *end = equivalence->outer + equivalence->outer_count;
        if (!(joined[c] & ENTERED))
            *end++ = (struct cfg_edge){CFG_NONE, head, EDGE_UNKNOWN};
        if (!(joined[c] & LEFT))
            *end++ = (struct cfg_edge){head, CFG_NONE, EDGE_STOP};
        equivalence->outer_count = (uint32_t)(end - equivalence->outer);
    }
    return true;
}

static bool find_outer(struct equivalence *equivalence, const struct cfg *cfg,
                       struct error *error) {
    struct components components;
    bool found = components_find(&components, cfg, error);
    if (found) {
        uint8_t *joined = calloc(components.count, 1);
        if (joined)
            mark_joined(&components, cfg, joined);
        found = joined && add_outer(equivalence, &components, joined);
        if (!found)
            error_set(error, "out of memory for the edges of a procedure");
        free(joined);
    }
    components_free(&components);
    return found;
}

static bool find_classes(struct equivalence *equivalence, const struct cfg *cfg,
                         struct error *error) {
    struct network network;
    uint32_t *class = NULL;
    bool found = network_make(&network, cfg, equivalence->outer, equivalence->outer_count, error);
    if (found) {
        class = malloc((network.arc_count + (size_t)1) * sizeof *class);
        found = class ? brackets_classes(&network, class, &equivalence->class_count, error)
                      : error_set(error, "out of memory for the classes of a procedure");
    }
    if (found) {
        const uint32_t *edge_class = class + cfg->block_count;
        const uint32_t *outer_class = edge_class + cfg->edge_count;
        memcpy(equivalence->block_class, class, cfg->block_count * sizeof *class);
        memcpy(equivalence->edge_class, edge_class, cfg->edge_count * sizeof *class);
        memcpy(equivalence->outer_class, outer_class, equivalence->outer_count * sizeof *class);
    }
    free(class);
    network_free(&network);
    return found;
}

bool equivalence_find(struct equivalence *equivalence, const struct cfg *cfg, struct error *error) {
    *equivalence = (struct equivalence){
        .block_class = malloc((cfg->block_count + (size_t)1) * sizeof *equivalence->block_class),
        .edge_class = malloc((cfg->edge_count + (size_t)1) * sizeof *equivalence->edge_class)};
    if (!equivalence->block_class || !equivalence->edge_class)
        return error_set(error, "out of memory for the classes of a procedure");
    if (cfg->flags & CFG_MISSING_EDGES) {
        equivalence_part(equivalence, cfg);
        return true;
    }
    return find_outer(equivalence, cfg, error) && find_classes(equivalence, cfg, error);
}
