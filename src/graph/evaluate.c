/* Each node is the latest of its edges, in the order of the table in graph.h. The nodes of the last
 * 64 Ki µops are kept, as far as any edge reaches. */
#include "graph/evaluate.h"

#include <stdlib.h>
#include <string.h>

enum { NODES = GRAPH_FAR + 1, SLOTS = 1 << 14 };

/* Issue slots taken of each cycle, of the latest SLOTS that any was taken of. */
struct slots {
    int64_t cycle[SLOTS];
    uint8_t queue[SLOTS][MACHINE_MAX_QUEUES], pool[SLOTS][MACHINE_MAX_POOLS];
};

struct graph_evaluation {
    struct graph_machine machine;
    uint32_t ideal;
    uint64_t number;
    struct graph_uop last;
    struct graph_nodes nodes[NODES];
    struct slots slots;
};

struct graph_evaluation *graph_evaluation_new(const struct graph_machine *machine, uint32_t ideal) {
    struct graph_evaluation *evaluation = calloc(1, sizeof *evaluation);
    if (evaluation) {
        evaluation->machine = *machine;
        evaluation->ideal = ideal;
    }
    return evaluation;
}

void graph_evaluation_restart(struct graph_evaluation *evaluation) {
    evaluation->number = 0;
    memset(&evaluation->slots, 0, sizeof evaluation->slots);
}

void graph_evaluation_free(struct graph_evaluation *evaluation) {
    free(evaluation);
}

static inline void later(int64_t *cycle, int64_t other) {
    if (other > *cycle)
        *cycle = other;
}

/* NULL: before the begin, or there is none. */
static inline const struct graph_nodes *back(const struct graph_evaluation *evaluation,
                                             uint64_t distance) {
    if (distance == 0 || distance > evaluation->number)
        return NULL;
    return &evaluation->nodes[(evaluation->number - distance) % NODES];
}

#define EDGE(cycle, distance, node, weight)                                                        \
    do {                                                                                           \
        const struct graph_nodes *from_ = back(evaluation, (distance));                            \
        if (from_)                                                                                 \
            later(&(cycle), from_->node + (int64_t)(weight));                                      \
    } while (0)

static int64_t fetch(const struct graph_evaluation *evaluation, const struct graph_uop *uop) {
    const struct graph_machine *machine = &evaluation->machine;
    uint32_t ideal = evaluation->ideal, last = evaluation->number ? evaluation->last.flags : 0;
    int64_t cycle = 0;
    EDGE(cycle, 1, fetch, 0);
    if (uop->after_commit)
        EDGE(cycle, 1, commit, uop->after_commit - 1);
    if (!(ideal & IDEAL_BMISP)) {
        if (last & GRAPH_MISPREDICTED)
            EDGE(cycle, 1, complete, machine->redirect);
        if (last & GRAPH_LATE)
            EDGE(cycle, 1, fetch, machine->late_bubble);
    }
    if (!(ideal & IDEAL_BW)) {
        EDGE(cycle, uop->fetch_width, fetch, 1);
        EDGE(cycle, uop->fetch_taken, fetch, 1);
        if (last & GRAPH_TAKEN)
            EDGE(cycle, 1, fetch, machine->taken_bubble);
        if (uop->flags & GRAPH_BREAK)
            EDGE(cycle, 1, fetch, 1);
        EDGE(cycle, machine->fetch_room, dispatch, 0);
    }
    if (!(ideal & IDEAL_WIN))
        EDGE(cycle, uop->fetch_packet, commit, 0);
    if (!(ideal & IDEAL_IMISS))
        cycle += uop->fetch_cache + uop->fetch_tlb;
    return cycle;
}

static int64_t dispatch(const struct graph_evaluation *evaluation, const struct graph_uop *uop,
                        int64_t fetched) {
    const struct graph_machine *machine = &evaluation->machine;
    uint32_t ideal = evaluation->ideal;
    int64_t cycle = fetched + machine->frontend_depth;
    EDGE(cycle, 1, dispatch, 0);
    EDGE(cycle, uop->serial, commit, 0);
    if (!(ideal & IDEAL_BW))
        EDGE(cycle, machine->dispatch_width, dispatch, 1);
    if (ideal & IDEAL_WIN) {
        EDGE(cycle, machine->ideal_window, commit, 0);
        return cycle;
    }
    EDGE(cycle, machine->window, commit, 0);
    EDGE(cycle, uop->load_entry, commit, 0);
    EDGE(cycle, uop->store_entry, commit, 1);
    if (!(ideal & IDEAL_DMISS))
        EDGE(cycle, uop->drain, commit, uop->store_wait);
    EDGE(cycle, uop->int_register, commit, 0);
    EDGE(cycle, uop->fp_register, commit, 0);
    EDGE(cycle, uop->queue_entry, execute, 0);
    return cycle;
}

/* What the wakeup loop adds behind producer i. */
static inline uint32_t wakeup(const struct graph_evaluation *evaluation,
                              const struct graph_uop *uop, uint32_t i) {
    bool extra = uop->flags & (uint32_t)GRAPH_WAKEUP << i && !(evaluation->ideal & IDEAL_SHALU);
    return extra ? evaluation->machine.wakeup_extra : 0;
}

static int64_t ready(const struct graph_evaluation *evaluation, const struct graph_uop *uop,
                     int64_t dispatched) {
    const struct graph_machine *machine = &evaluation->machine;
    int64_t cycle = dispatched + machine->dispatch_to_issue;
    for (uint32_t i = 0; i < UOP_MAX_SOURCES; i++)
        EDGE(cycle, uop->producer[i], complete, wakeup(evaluation, uop, i));
    uint32_t drain = evaluation->ideal & IDEAL_DMISS ? 0 : uop->store_wait;
    if (uop->flags & GRAPH_WAITS_HEAD)
        EDGE(cycle, 1, commit, drain);
    else if (uop->flags & GRAPH_HUNG) {
        EDGE(cycle, uop->store, complete, -(int64_t)machine->load_latency);
        EDGE(cycle, uop->store, execute, 0);
        EDGE(cycle, uop->store_data, execute, 0);
    } else if (!(uop->flags & GRAPH_COVERED))
        EDGE(cycle, uop->store, commit, 1 + drain);
    return cycle;
}

static int64_t complete_load(const struct graph_evaluation *evaluation, const struct graph_uop *uop,
                             int64_t executed) {
    uint32_t ideal = evaluation->ideal;
    const struct graph_machine *machine = &evaluation->machine;
    int64_t address = executed + uop->execution;
    const struct graph_nodes *store = back(evaluation, uop->store);
    if (store && ((uop->flags & GRAPH_FORWARDED && !(ideal & IDEAL_DMISS)) ||
                  (uop->flags & GRAPH_COVERED && store->commit >= executed))) {
        int64_t start = address;
        later(&start, store->complete);
        return start + (ideal & IDEAL_DL1 ? 0 : machine->forward_latency);
    }
    int64_t cycle = address + (ideal & IDEAL_DL1 ? 0 : machine->l1_latency);
    if (ideal & IDEAL_DMISS)
        return cycle;
    bool pending = uop->flags & GRAPH_PENDING;
    cycle += pending ? 0 : uop->miss;
    EDGE(cycle, uop->bringer, complete, pending ? uop->miss : 0);
    return cycle;
}

static int64_t complete(const struct graph_evaluation *evaluation, const struct graph_uop *uop,
                        int64_t executed) {
    uint32_t ideal = evaluation->ideal;
    if (uop->flags & GRAPH_LOAD)
        return complete_load(evaluation, uop, executed);
    int64_t cycle = executed;
    if (!(uop->flags & GRAPH_SHORT && ideal & IDEAL_SHALU) &&
        !(uop->flags & GRAPH_LONG && ideal & IDEAL_LGALU))
        cycle += uop->execution;
    if (uop->flags & GRAPH_STORE) {
        cycle += ideal & IDEAL_DMISS ? 0 : uop->miss;
        EDGE(cycle, uop->producer[UOP_MAX_SOURCES], complete,
             wakeup(evaluation, uop, UOP_MAX_SOURCES));
    }
    return cycle;
}

/* The first cycle from `cycle` on in which the pool and its queue have a place, which is taken. The
 * older µops have theirs already; a cycle long gone is taken to be empty. */
static int64_t take_slot(struct graph_evaluation *evaluation, int64_t cycle, uint32_t pool) {
    const struct graph_machine *machine = &evaluation->machine;
    struct slots *slots = &evaluation->slots;
    uint32_t queue = machine->pool_queue[pool];
    for (;; cycle++) {
        uint64_t at = (uint64_t)cycle % SLOTS;
        if (slots->cycle[at] > cycle)
            return cycle;
        if (slots->cycle[at] < cycle) {
            slots->cycle[at] = cycle;
            memset(slots->queue[at], 0, sizeof slots->queue[at]);
            memset(slots->pool[at], 0, sizeof slots->pool[at]);
        }
        if (slots->queue[at][queue] < machine->queue_issue[queue] &&
            slots->pool[at][pool] < machine->pool_units[pool]) {
            slots->queue[at][queue]++;
            slots->pool[at][pool]++;
            return cycle;
        }
    }
}

static int64_t execute(struct graph_evaluation *evaluation, const struct graph_uop *uop,
                       int64_t ready_at) {
    int64_t cycle = ready_at;
    if (!(evaluation->ideal & IDEAL_BW))
        cycle = take_slot(evaluation, cycle + uop->unit_wait, uop->pool);
    return evaluation->ideal & IDEAL_DMISS ? cycle : cycle + uop->mshr_wait;
}

const struct graph_nodes *graph_evaluate(struct graph_evaluation *evaluation,
                                         const struct graph_uop *uop) {
    const struct graph_machine *machine = &evaluation->machine;
    struct graph_nodes nodes;
    nodes.fetch = fetch(evaluation, uop);
    nodes.dispatch = dispatch(evaluation, uop, nodes.fetch);
    if (uop->flags & GRAPH_ELIMINATED) {
        nodes.ready = nodes.execute = nodes.complete = nodes.dispatch;
    } else {
        nodes.ready = ready(evaluation, uop, nodes.dispatch);
        nodes.execute = execute(evaluation, uop, nodes.ready);
        nodes.complete = complete(evaluation, uop, nodes.execute);
    }
    nodes.commit = nodes.complete + machine->complete_to_commit;
    EDGE(nodes.commit, 1, commit, 0);
    if (!(evaluation->ideal & IDEAL_BW))
        EDGE(nodes.commit, machine->commit_width, commit, 1);
    struct graph_nodes *kept = &evaluation->nodes[evaluation->number++ % NODES];
    *kept = nodes;
    evaluation->last = *uop;
    return kept;
}
