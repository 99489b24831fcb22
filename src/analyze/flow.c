/* Each node counts its arcs that are not settled; when one is left, the node settles it. No class
 * has two arcs on the same side of a node, since no cycle passes a node twice; if it has one on
 * each side, nothing follows about it. So each arc is counted down once. */
#include "analyze/flow.h"

#include <math.h>
#include <stdlib.h>

#include "analyze/network.h"
#include "util/order.h"

/* Enough for graphs of some tens of blocks. */
enum { SWEEPS = 16, SHARINGS = 8 };

/* What is left to flow through the unsettled arcs of a node, which are all on one side of it. */
struct rest {
    uint32_t node, arcs; /* with fewer than two arcs nothing is shared */
    double executions, variance;
};

struct flow {
    const struct network *network;
    struct flow_value *values; /* by class */
    uint32_t *class;           /* by arc */
    uint32_t *first, *members; /* arcs by class */
    uint32_t *unsettled;       /* by node */
    uint32_t *order;           /* classes with estimates of their own, the surest first */
    uint32_t *ready;           /* nodes with one unsettled arc, or that once had one */
    bool *settled;             /* by class */
    struct rest *rests;        /* sharing out; by node */
    double *before;            /* smoothing; by class */
    uint32_t class_count, order_count, ready_count;
    bool closed_heads; /* what enters a block is known */
};

static void flow_free(struct flow *flow) {
    free(flow->class);
    free(flow->first);
    free(flow->members);
    free(flow->unsettled);
    free(flow->order);
    free(flow->ready);
    free(flow->settled);
    free(flow->rests);
    free(flow->before);
}

static bool flow_allocate(struct flow *flow, struct error *error) {
    size_t arcs = flow->network->arc_count + (size_t)1;
    size_t nodes = flow->network->node_count, classes = flow->class_count + (size_t)1;
    flow->class = calloc(arcs, sizeof *flow->class);
    flow->first = calloc(classes, sizeof *flow->first);
    flow->members = malloc(arcs * sizeof *flow->members);
    flow->unsettled = malloc(nodes * sizeof *flow->unsettled);
    flow->order = malloc(classes * sizeof *flow->order);
    flow->ready = malloc(nodes * sizeof *flow->ready);
    flow->settled = calloc(classes, sizeof *flow->settled);
    flow->rests = malloc(nodes * sizeof *flow->rests);
    flow->before = malloc(classes * sizeof *flow->before);
    if (!flow->class || !flow->first || !flow->members || !flow->unsettled || !flow->order ||
        !flow->ready || !flow->settled || !flow->rests || !flow->before)
        return error_set(error, "out of memory for the flow of a procedure");
    return true;
}

static void list_members(struct flow *flow, const struct cfg *cfg,
                         const struct equivalence *equivalence) {
    uint32_t *class = flow->class;
    for (uint32_t b = 0; b < cfg->block_count; b++)
        *class ++ = equivalence->block_class[b];
    for (uint32_t e = 0; e < cfg->edge_count; e++)
        *class ++ = equivalence->edge_class[e];
    for (uint32_t e = 0; e < equivalence->outer_count; e++)
        *class ++ = equivalence->outer_class[e];
    uint32_t arcs = flow->network->arc_count;
    for (uint32_t a = 0; a < arcs; a++)
        flow->first[flow->class[a]]++;
    for (uint32_t c = 1; c <= flow->class_count; c++)
        flow->first[c] += flow->first[c - 1];
    for (uint32_t a = arcs; a-- > 0;)
        flow->members[--flow->first[flow->class[a]]] = a;
}

static bool is_conserved(const struct flow *flow, uint32_t node) {
    bool is_head = node % 2 == 1;
    return node != NETWORK_OUTSIDE && (flow->closed_heads || !is_head);
}

static void count_down(struct flow *flow, uint32_t node) {
    if (--flow->unsettled[node] == 1 && is_conserved(flow, node))
        flow->ready[flow->ready_count++] = node;
}

static void settle(struct flow *flow, uint32_t class) {
    flow->settled[class] = true;
    for (uint32_t i = flow->first[class]; i < flow->first[class + 1]; i++) {
        const struct network_arc *arc = &flow->network->arcs[flow->members[i]];
        count_down(flow, arc->from);
        count_down(flow, arc->to);
    }
}

static void average(struct flow_value *value, double executions, double variance) {
    if (value->origin == FLOW_UNKNOWN) {
        *value = (struct flow_value){executions, variance, FLOW_FOLLOWS};
        return;
    }
    double sum = value->variance + variance;
    double weight = sum > 0 ? value->variance / sum : 0; /* of what follows */
    value->executions += weight * (executions - value->executions);
    value->variance *= 1 - weight;
    value->origin = FLOW_BOTH;
}

/* Settles the one class at a node that is not settled yet. */
static void follow(struct flow *flow, uint32_t node) {
    const struct network *network = flow->network;
    double inflow = 0, variance = 0; /* inflow minus outflow, over settled arcs */
    uint32_t last = CFG_NONE;
    for (uint32_t i = network->first[node]; i < network->first[node + 1]; i++) {
        uint32_t arc = network->incident[i];
        const struct flow_value *value = &flow->values[flow->class[arc]];
        if (!flow->settled[flow->class[arc]]) {
            last = arc;
            continue;
        }
        inflow += network->arcs[arc].to == node ? value->executions : -value->executions;
        variance += value->variance;
    }
    if (last == CFG_NONE) /* settled since, from its other end */
        return;
    double executions = network->arcs[last].to == node ? -inflow : inflow;
    average(&flow->values[flow->class[last]], executions > 0 ? executions : 0, variance);
    settle(flow, flow->class[last]);
}

static int compare_variance(const void *a, const void *b, void *context) {
    const struct flow_value *values = context;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return ascending(values[x].variance, values[y].variance) ?: ascending(x, y);
}

static void follow_all(struct flow *flow) {
    while (flow->ready_count)
        follow(flow, flow->ready[--flow->ready_count]);
}

static void run(struct flow *flow) {
    for (uint32_t node = 0; node < flow->network->node_count; node++) {
        flow->unsettled[node] = flow->network->first[node + 1] - flow->network->first[node];
        if (flow->unsettled[node] == 1 && is_conserved(flow, node))
            flow->ready[flow->ready_count++] = node;
    }
    for (uint32_t c = 0; c < flow->class_count; c++)
        if (flow->values[c].origin == FLOW_OWN)
            flow->order[flow->order_count++] = c;
    qsort_r(flow->order, flow->order_count, sizeof *flow->order, compare_variance, flow->values);
    for (uint32_t i = 0; i <= flow->order_count; i++) {
        follow_all(flow);
        if (i < flow->order_count && !flow->settled[flow->order[i]])
            settle(flow, flow->order[i]);
    }
}

/* ---- what the flow leaves open ---- */

static struct rest rest_of(const struct flow *flow, uint32_t node) {
    const struct network *network = flow->network;
    struct rest rest = {.node = node};
    uint32_t in = 0, out = 0;
    for (uint32_t i = network->first[node]; i < network->first[node + 1]; i++) {
        uint32_t arc = network->incident[i];
        const struct flow_value *value = &flow->values[flow->class[arc]];
        bool enters = network->arcs[arc].to == node;
        if (!flow->settled[flow->class[arc]]) {
            in += enters;
            out += !enters;
            continue;
        }
        rest.executions += enters ? value->executions : -value->executions;
        rest.variance += value->variance;
    }
    rest.executions = fmax(in ? -rest.executions : rest.executions, 0);
    rest.arcs = in && out ? 0 : in + out;
    return rest;
}

ORDER(compare_rests, struct rest,
      ascending(a->executions, b->executions) ?: ascending(a->node, b->node))

/* Shares it evenly, as if every way to share were as likely: each of n has a mean of 1/n and a
 * variance of (n − 1) / (n² (n + 1)) of the whole. */
static void share_out(struct flow *flow, const struct rest *rest) {
    const struct network *network = flow->network;
    double n = rest->arcs, whole = rest->executions;
    double variance = (whole * whole * (n - 1) / (n + 1) + rest->variance) / (n * n);
    uint8_t origin = variance > 0
                         ? FLOW_SHARED
                         : FLOW_FOLLOWS; /* with no variance, it is certain that nothing is left */
    for (uint32_t i = network->first[rest->node]; i < network->first[rest->node + 1]; i++) {
        uint32_t class = flow->class[network->incident[i]];
        if (!flow->settled[class]) {
            flow->values[class] = (struct flow_value){whole / n, variance, origin};
            settle(flow, class);
        }
    }
}

/* The smallest rests are shared first, as what follows from them depends least on how. */
static void share(struct flow *flow) {
    for (int pass = 0; pass < SHARINGS; pass++) {
        size_t count = 0;
        for (uint32_t node = 1; node < flow->network->node_count; node++)
            if (flow->unsettled[node] > 1 && is_conserved(flow, node)) {
                flow->rests[count] = rest_of(flow, node);
                count += flow->rests[count].arcs > 1;
            }
        if (count == 0)
            return;
        qsort(flow->rests, count, sizeof *flow->rests, compare_rests);
        for (size_t i = 0; i < count; i++) {
            struct rest rest = rest_of(flow, flow->rests[i].node);
            if (rest.arcs > 1)
                share_out(flow, &rest);
            follow_all(flow);
        }
    }
}

/* ---- smoothing ---- */

/* The excess of what flows into a node over what flows out, and the sum of variances. False: a
 * value there is not known. */
static bool balance(const struct flow *flow, uint32_t node, double *excess, double *variance) {
    const struct network *network = flow->network;
    *excess = *variance = 0;
    for (uint32_t i = network->first[node]; i < network->first[node + 1]; i++) {
        uint32_t arc = network->incident[i];
        const struct flow_value *value = &flow->values[flow->class[arc]];
        if (value->origin == FLOW_UNKNOWN)
            return false;
        *excess += network->arcs[arc].to == node ? value->executions : -value->executions;
        *variance += value->variance;
    }
    return *variance > 0;
}

/* Makes inflow equal outflow with the least change, each value weighted by its variance. */
static void smooth_node(struct flow *flow, uint32_t node) {
    const struct network *network = flow->network;
    double excess, variance;
    if (!is_conserved(flow, node) || !balance(flow, node, &excess, &variance))
        return;
    for (uint32_t i = network->first[node]; i < network->first[node + 1]; i++) {
        uint32_t arc = network->incident[i];
        struct flow_value *value = &flow->values[flow->class[arc]];
        double share = excess * value->variance / variance;
        double executions = value->executions + (network->arcs[arc].to == node ? -share : share);
        value->executions = executions > 0 ? executions : 0;
    }
}

/* One node after another, there and back (Kaczmarz): converges to the nearest flow without excess,
 * with distances in standard errors. What a value moves is added to its variance. */
static void smooth(struct flow *flow) {
    struct flow_value *values = flow->values;
    double *before = flow->before;
    for (uint32_t c = 0; c < flow->class_count; c++)
        before[c] = values[c].executions;
    for (int sweep = 0; sweep < SWEEPS; sweep++)
        for (uint32_t k = 1; k < flow->network->node_count; k++)
            smooth_node(flow, sweep % 2 ? flow->network->node_count - k : k);
    for (uint32_t c = 0; c < flow->class_count; c++) {
        double moved = values[c].executions - before[c];
        values[c].variance += moved * moved;
    }
}

bool flow_propagate(const struct cfg *cfg, const struct equivalence *equivalence,
                    struct flow_value *values, struct error *error) {
    struct network network;
    bool done = network_make(&network, cfg, equivalence->outer, equivalence->outer_count, error);
    if (done) {
        struct flow flow = {.network = &network,
                            .values = values,
                            .class_count = equivalence->class_count,
                            .closed_heads = !(cfg->flags & CFG_MISSING_EDGES)};
        done = flow_allocate(&flow, error);
        if (done) {
            list_members(&flow, cfg, equivalence);
            run(&flow);
            share(&flow);
            smooth(&flow);
        }
        flow_free(&flow);
    }
    network_free(&network);
    return done;
}
