/* In a strongly connected graph two arcs are on the same cycles exactly if they are when directions
 * are ignored. A depth-first search then decides: its tree arcs are spanned by brackets, the other
 * arcs, which lead from below them to above them. Two tree arcs are equivalent if the same brackets
 * span them; a tree arc and a bracket are equivalent if no other bracket spans the arc.
 *
 * Nodes are visited from the leaves up, each with the list of the brackets open there, the latest
 * opened on top. A set of brackets is identified by its topmost bracket and its size. Where the
 * lists of several children meet, a capping bracket is put on top, which ends where the second
 * highest of the children's brackets does: so sets with the same topmost bracket and size stay the
 * same. */
#include "analyze/brackets.h"

#include <stdlib.h>
#include <string.h>

enum { NONE = CFG_NONE };

struct node {
    uint32_t number;            /* in the order in which nodes are found */
    uint32_t parent_arc;        /* NONE: the root */
    uint32_t highest;           /* least number at which a bracket from here or below ends */
    uint32_t top, bottom, size; /* of the list of brackets */
    uint32_t capping;           /* last of the capping brackets that end here */
};

/* An arc, by its number; or, numbered after all arcs, the capping bracket that begins at a node. */
struct bracket {
    uint32_t above, below;
    uint32_t recent_size, recent_class; /* of its list, when it was on top of a tree arc's */
    uint32_t capping;                   /* the next that ends where this capping bracket does */
};

struct search {
    const struct network *network;
    struct node *nodes;
    struct bracket *brackets;
    uint32_t *order; /* nodes by number */
    uint32_t *class;
    uint32_t class_count;
};

static void number_nodes(struct search *search, uint32_t *next) {
    const struct network *network = search->network;
    struct node *nodes = search->nodes;
    memcpy(next, network->first, network->node_count * sizeof *next);
    for (uint32_t n = 0; n < network->node_count; n++)
        nodes[n] = (struct node){NONE, NONE, NONE, NONE, NONE, 0, NONE};
    uint32_t node = NETWORK_OUTSIDE, found = 0;
    nodes[node].number = found;
    search->order[found++] = node;
    for (;;) {
        if (next[node] == network->first[node + 1]) {
            if (nodes[node].parent_arc == NONE)
                return;
            node = network_other(network, nodes[node].parent_arc, node);
            continue;
        }
        uint32_t arc = network->incident[next[node]++];
        uint32_t other = network_other(network, arc, node);
        if (nodes[other].number == NONE) {
            nodes[other].number = found;
            nodes[other].parent_arc = arc;
            search->order[found++] = other;
            node = other;
        }
    }
}

static void push(struct search *search, struct node *node, uint32_t bracket) {
    struct bracket *added = &search->brackets[bracket];
    added->above = NONE;
    added->below = node->top;
    added->recent_size = NONE;
    if (node->top == NONE)
        node->bottom = bracket;
    else
        search->brackets[node->top].above = bracket;
    node->top = bracket;
    node->size++;
}

static void delete (struct search *search, struct node *node, uint32_t bracket) {
    const struct bracket *gone = &search->brackets[bracket];
    if (gone->above == NONE)
        node->top = gone->below;
    else
        search->brackets[gone->above].below = gone->below;
    if (gone->below == NONE)
        node->bottom = gone->above;
    else
        search->brackets[gone->below].above = gone->above;
    node->size--;
}

/* Puts the child's list on top of the node's. */
static void append(struct search *search, struct node *node, const struct node *child) {
    if (child->size == 0)
        return;
    if (node->size == 0) {
        node->bottom = child->bottom;
    } else {
        search->brackets[node->top].above = child->bottom;
        search->brackets[child->bottom].below = node->top;
    }
    node->top = child->top;
    node->size += child->size;
}

static uint32_t smaller(uint32_t a, uint32_t b) {
    return a < b ? a : b;
}

/* Joins the children's lists. Returns how high the second highest of them reaches. */
static uint32_t join_children(struct search *search, uint32_t n) {
    const struct network *network = search->network;
    struct node *node = &search->nodes[n];
    uint32_t second = NONE;
    for (uint32_t i = network->first[n]; i < network->first[n + 1]; i++) {
        uint32_t arc = network->incident[i], other = network_other(network, arc, n);
        const struct node *child = &search->nodes[other];
        if (child->parent_arc != arc || child->number < node->number)
            continue;
        append(search, node, child);
        second = smaller(second, child->highest < node->highest ? node->highest : child->highest);
        node->highest = smaller(node->highest, child->highest);
    }
    return second;
}

static void end_brackets(struct search *search, uint32_t n) {
    const struct network *network = search->network;
    struct node *node = &search->nodes[n];
    for (uint32_t b = node->capping; b != NONE; b = search->brackets[b].capping)
        delete (search, node, b);
    for (uint32_t i = network->first[n]; i < network->first[n + 1]; i++) {
        uint32_t arc = network->incident[i];
        const struct node *below = &search->nodes[network_other(network, arc, n)];
        if (below->number <= node->number || below->parent_arc == arc)
            continue;
        delete (search, node, arc);
        if (search->class[arc] == NONE)
            search->class[arc] = search->class_count++;
    }
}

/* Returns how high the highest bracket that begins at the node itself reaches. */
static uint32_t begin_brackets(struct search *search, uint32_t n) {
    const struct network *network = search->network;
    struct node *node = &search->nodes[n];
    uint32_t highest = NONE;
    for (uint32_t i = network->first[n]; i < network->first[n + 1]; i++) {
        uint32_t arc = network->incident[i];
        const struct node *above = &search->nodes[network_other(network, arc, n)];
        if (above->number >= node->number || node->parent_arc == arc)
            continue;
        push(search, node, arc);
        highest = smaller(highest, above->number);
    }
    return highest;
}

/* The class of the arc to the node's parent: that of the set of brackets open at the node. */
static void name_parent_arc(struct search *search, const struct node *node) {
    uint32_t *class = search->class;
    struct bracket *top = &search->brackets[node->top];
    if (top->recent_size != node->size) {
        top->recent_size = node->size;
        top->recent_class = search->class_count++;
    }
    class[node->parent_arc] = top->recent_class;
    if (node->size == 1) /* never a capping bracket: those it stands for are there as well */
        class[node->top] = top->recent_class;
}

static void visit(struct search *search, uint32_t n) {
    struct node *node = &search->nodes[n];
    uint32_t second = join_children(search, n);
    end_brackets(search, n);
    uint32_t own = begin_brackets(search, n);
    node->highest = smaller(node->highest, own);
    if (second < own && second < node->number) {
        uint32_t cap = search->network->arc_count + n;
        struct node *end = &search->nodes[search->order[second]];
        push(search, node, cap);
        search->brackets[cap].capping = end->capping;
        end->capping = cap;
    }
    if (node->parent_arc != NONE)
        name_parent_arc(search, node);
}

bool brackets_classes(const struct network *network, uint32_t *arc_class, uint32_t *class_count,
                      struct error *error) {
    size_t nodes = network->node_count, brackets = nodes + network->arc_count;
    struct search search = {.network = network,
                            .nodes = calloc(nodes, sizeof *search.nodes),
                            .brackets = calloc(brackets, sizeof *search.brackets),
                            .order = calloc(nodes, sizeof *search.order),
                            .class = arc_class};
    uint32_t *next = malloc(nodes * sizeof *next);
    bool done = search.nodes && search.brackets && search.order && next;
    if (done) {
        memset(arc_class, 0xff, network->arc_count * sizeof *arc_class);
        number_nodes(&search, next);
        for (uint32_t i = network->node_count; i-- > 0;)
            visit(&search, search.order[i]);
        for (uint32_t arc = 0; arc < network->arc_count; arc++)
            if (network->arcs[arc].from == network->arcs[arc].to)
                arc_class[arc] = search.class_count++;
        *class_count = search.class_count;
    } else {
        error_set(error, "out of memory for the classes of a procedure");
    }
    free(search.nodes);
    free(search.brackets);
    free(search.order);
    free(next);
    return done;
}
