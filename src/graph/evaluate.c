/* Each node is the latest of its edges, in the order of the table in graph.h. The nodes of the last
 * 64 Ki µops are kept, as far as any edge reaches. */
#include "graph/evaluate.h"

#include <stdlib.h>
#include <string.h>

#include "graph/mshrs.h"

enum { NODES = GRAPH_FAR + 1 };

/* Issue slots taken of each cycle. */
struct slots {
    int64_t cycle[GRAPH_SLOTS];
    uint8_t queue[GRAPH_SLOTS][MACHINE_MAX_QUEUES], pool[GRAPH_SLOTS][MACHINE_MAX_POOLS];
};

enum { DRAINS = 64 };
static_assert((int)DRAINS > (int)GRAPH_DRAIN_MOST, "the writes of a cycle before");
struct graph_evaluation {
    struct graph_machine machine;
    const struct categories *categories;
    struct categories standard; /* used unless the caller gives its own */
    uint32_t set;               /* the categories that are idealised */
    bool bandwidth;             /* bandwidth is not idealised */
    uint32_t window;            /* the idealised window; 0: it is not idealised */
    uint64_t number;
    struct graph_uop last;
    struct graph_nodes nodes[NODES];
    struct slots slots;
    struct mshrs mshrs;
    uint64_t writes;                             /* of stores, so far */
    int64_t written[DRAINS], left[GRAPH_WRITES]; /* of the latest, as in their nodes */
};

struct graph_evaluation *graph_evaluation_new(const struct graph_machine *machine, uint32_t ideal) {
    return graph_evaluation_new_of(machine, NULL, ideal);
}

struct graph_evaluation *graph_evaluation_new_of(const struct graph_machine *machine,
                                                 const struct categories *categories,
                                                 uint32_t set) {
    struct graph_evaluation *evaluation = calloc(1, sizeof *evaluation);
    if (!evaluation)
        return NULL;
    if (!categories)
        categories_standard(&evaluation->standard);
    evaluation->categories = categories ? categories : &evaluation->standard;
    evaluation->machine = *machine;
    evaluation->set = set;
    evaluation->bandwidth = !(set & evaluation->categories->everywhere[GRAPH_PART_BANDWIDTH]);
    evaluation->window = categories_window(evaluation->categories, set, machine);
    return evaluation;
}

void graph_evaluation_free(struct graph_evaluation *evaluation) {
    free(evaluation);
}

void graph_evaluation_begin(struct graph_evaluation *evaluation) {
    evaluation->number = 0;
    evaluation->writes = 0;
    mshrs_begin(&evaluation->mshrs);
    memset(&evaluation->slots, 0, sizeof evaluation->slots);
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

/* What the idealised categories leave of a weight. */
static inline uint32_t weight(const struct graph_evaluation *evaluation, unsigned part,
                              uint32_t insn, uint32_t cycles) {
    uint32_t set = categories_of(evaluation->categories, part, insn) & evaluation->set;
    return set ? categories_weight(evaluation->categories, set, cycles) : cycles;
}

/* Whether the idealised categories leave an edge. */
static inline bool keep(const struct graph_evaluation *evaluation, unsigned part, uint32_t insn) {
    return categories_keep(evaluation->categories,
                           categories_of(evaluation->categories, part, insn) & evaluation->set);
}

static int64_t fetch(const struct graph_evaluation *evaluation, const struct graph_uop *uop) {
    const struct graph_machine *machine = &evaluation->machine;
    const struct graph_uop *before = &evaluation->last;
    uint32_t last = evaluation->number ? before->flags : 0;
    int64_t cycle = 0;
    EDGE(cycle, 1, fetch, 0);
    if (uop->after_commit)
        EDGE(cycle, 1, commit, uop->after_commit - 1);
    if (last & GRAPH_MISPREDICTED && keep(evaluation, GRAPH_PART_MISPREDICT, before->insn))
        EDGE(cycle, 1, complete,
             weight(evaluation, GRAPH_PART_MISPREDICT, before->insn, machine->redirect));
    if (last & GRAPH_LATE)
        EDGE(cycle, 1, fetch,
             weight(evaluation, GRAPH_PART_MISPREDICT, before->insn, machine->late_bubble));
    if (evaluation->bandwidth) {
        EDGE(cycle, uop->fetch_width, fetch, 1);
        EDGE(cycle, uop->fetch_taken, fetch, 1);
        if (last & GRAPH_TAKEN)
            EDGE(cycle, 1, fetch, machine->taken_bubble);
        if (uop->flags & GRAPH_BREAK)
            EDGE(cycle, 1, fetch, 1);
        EDGE(cycle, machine->fetch_room, dispatch, 0);
    }
    if (!evaluation->window)
        EDGE(cycle, uop->fetch_packet, commit, 0);
    return cycle + weight(evaluation, GRAPH_PART_FETCH_CACHE, uop->insn, uop->fetch_cache) +
           weight(evaluation, GRAPH_PART_FETCH_TLB, uop->insn, uop->fetch_tlb);
}

/* The write of the store whose store queue entry the µop takes: in order, as many in a cycle as the
 * drain takes, each with an MSHR if its line must be fetched. */
static void write_store(struct graph_evaluation *evaluation, const struct graph_uop *uop,
                        struct graph_nodes *nodes) {
    const struct graph_machine *machine = &evaluation->machine;
    uint64_t number = evaluation->writes++;
    int64_t cycle = back(evaluation, uop->store_entry)->commit;
    if (number)
        later(&cycle, evaluation->written[(number - 1) % DRAINS]);
    if (evaluation->bandwidth && number >= machine->store_drain)
        later(&cycle, evaluation->written[(number - machine->store_drain) % DRAINS] + 1);
    uint32_t fill = weight(evaluation, GRAPH_PART_WRITE, uop->insn, uop->fill);
    if (fill)
        cycle = mshrs_take(&evaluation->mshrs, back(evaluation, 1)->dispatch, cycle, fill,
                           graph_mshrs(machine, evaluation->window, uop->level));
    nodes->written = evaluation->written[number % DRAINS] = cycle;
    cycle += 1 + weight(evaluation, GRAPH_PART_WRITE, uop->insn, uop->write_wait);
    if (number)
        later(&cycle, evaluation->left[(number - 1) % GRAPH_WRITES]);
    nodes->left = evaluation->left[number % GRAPH_WRITES] = cycle;
}

/* When the µop has a store queue entry, if it takes over that of the latest write: when that store
 * has left the queue. With a larger store queue: when a store so many writes earlier had left,
 * looked at once for each group of entries. */
static int64_t entry_free(const struct graph_evaluation *evaluation) {
    uint64_t more = graph_more_entries(&evaluation->machine, evaluation->window);
    uint64_t last = evaluation->writes - 1;
    return last >= more && (!more || last % GRAPH_ENTRY_GROUP == 0)
               ? evaluation->left[(last - more) % GRAPH_WRITES]
               : 0;
}

static int64_t dispatch(const struct graph_evaluation *evaluation, const struct graph_uop *uop,
                        const struct graph_nodes *nodes) {
    const struct graph_machine *machine = &evaluation->machine;
    int64_t cycle = nodes->fetch + machine->frontend_depth;
    EDGE(cycle, 1, dispatch, 0);
    EDGE(cycle, uop->serial, commit, 0);
    if (evaluation->bandwidth)
        EDGE(cycle, machine->dispatch_width, dispatch, 1);
    if (nodes->left)
        later(&cycle, entry_free(evaluation));
    if (evaluation->window) {
        EDGE(cycle, evaluation->window, commit, 0);
        return cycle;
    }
    EDGE(cycle, machine->window, commit, 0);
    EDGE(cycle, uop->load_entry, commit, 0);
    EDGE(cycle, uop->int_register, commit, 0);
    EDGE(cycle, uop->fp_register, commit, 0);
    EDGE(cycle, uop->queue_entry, execute, 0);
    return cycle;
}

/* What the wakeup loop adds behind producer i. */
static inline uint32_t wakeup(const struct graph_evaluation *evaluation,
                              const struct graph_uop *uop, uint32_t i) {
    return uop->flags & (uint32_t)GRAPH_WAKEUP << i
               ? weight(evaluation, GRAPH_PART_SHORT, uop->insn, evaluation->machine.wakeup_extra)
               : 0;
}

/* Whether the store that the load overlaps holds only a part of what it reads, and yet forwards. */
static inline bool forwards_part(const struct graph_evaluation *evaluation,
                                 const struct graph_uop *uop) {
    return !(uop->flags & (GRAPH_COVERED | GRAPH_HUNG | GRAPH_WAITS_HEAD)) &&
           !keep(evaluation, GRAPH_PART_FORWARD, uop->insn);
}

/* How long the store's write, or those of all stores before, took beyond a cycle. */
static inline uint32_t drain(const struct graph_evaluation *evaluation,
                             const struct graph_uop *uop) {
    return uop->store_wait ? weight(evaluation, GRAPH_PART_WRITE, uop->insn, uop->store_wait) : 0;
}

static int64_t ready(const struct graph_evaluation *evaluation, const struct graph_uop *uop,
                     int64_t dispatched) {
    const struct graph_machine *machine = &evaluation->machine;
    int64_t cycle = dispatched + machine->dispatch_to_issue;
    for (uint32_t i = 0; i < UOP_MAX_SOURCES; i++)
        EDGE(cycle, uop->producer[i], complete, wakeup(evaluation, uop, i));
    bool part = forwards_part(evaluation, uop);
    if (uop->flags & GRAPH_WAITS_HEAD)
        EDGE(cycle, 1, commit, drain(evaluation, uop));
    else if (uop->flags & GRAPH_HUNG || part) {
        if (!part)
            EDGE(cycle, uop->store, complete, -(int64_t)machine->load_latency);
        if (uop->store < machine->window)
            EDGE(cycle, uop->store, execute, 0);
        if (uop->store_data < machine->window)
            EDGE(cycle, uop->store_data, execute, 0);
    } else if (!(uop->flags & GRAPH_COVERED))
        EDGE(cycle, uop->store, commit, 1 + drain(evaluation, uop));
    return cycle;
}

static int64_t complete_load(const struct graph_evaluation *evaluation, const struct graph_uop *uop,
                             int64_t executed) {
    const struct graph_machine *machine = &evaluation->machine;
    int64_t address = executed + uop->execution;
    const struct graph_nodes *store = back(evaluation, uop->store);
    if (store &&
        ((uop->flags & GRAPH_FORWARDED && keep(evaluation, GRAPH_PART_WRITE, uop->insn)) ||
         (uop->flags & GRAPH_COVERED && store->commit >= executed) ||
         (forwards_part(evaluation, uop) && store->commit + drain(evaluation, uop) >= executed))) {
        int64_t start = address;
        later(&start, store->complete);
        return start +
               weight(evaluation, GRAPH_PART_L1, uop->insn, graph_forward_latency(machine, uop));
    }
    int64_t cycle = address + weight(evaluation, GRAPH_PART_L1, uop->insn, machine->l1_latency);
    if (uop->walk)
        cycle += weight(evaluation, GRAPH_PART_WALK, uop->insn, uop->walk);
    if (!uop->miss && !uop->fetched_by)
        return cycle;
    uint32_t miss = weight(evaluation, graph_miss_part(uop), uop->insn, uop->miss);
    bool pending = uop->flags & GRAPH_PENDING;
    cycle += pending ? 0 : miss;
    if (keep(evaluation, graph_miss_part(uop), uop->insn))
        EDGE(cycle, uop->fetched_by, complete, pending ? miss : 0);
    return cycle;
}

static int64_t complete(const struct graph_evaluation *evaluation, const struct graph_uop *uop,
                        int64_t executed) {
    if (uop->flags & GRAPH_LOAD)
        return complete_load(evaluation, uop, executed);
    const struct categories *categories = evaluation->categories;
    uint32_t set = categories_of_execution(categories, uop) & evaluation->set;
    int64_t cycle = executed + categories_weight(categories, set, uop->execution);
    if (uop->flags & GRAPH_STORE) {
        cycle += weight(evaluation, GRAPH_PART_WALK, uop->insn, uop->walk);
        EDGE(cycle, uop->producer[UOP_MAX_SOURCES], complete,
             wakeup(evaluation, uop, UOP_MAX_SOURCES));
    }
    return cycle;
}

/* Takes a slot in the first cycle from `cycle` on in which both the pool and its queue have one
 * free. The older µops have taken theirs already. Slots before `dispatched` are not asked for any
 * more, and those GRAPH_SLOTS later are not looked at. */
static int64_t take_slot(struct graph_evaluation *evaluation, int64_t dispatched, int64_t cycle,
                         uint32_t pool) {
    const struct graph_machine *machine = &evaluation->machine;
    struct slots *slots = &evaluation->slots;
    uint32_t queue = machine->pool_queue[pool];
    for (; cycle < dispatched + GRAPH_SLOTS; cycle++) {
        uint64_t at = (uint64_t)cycle % GRAPH_SLOTS;
        if (slots->cycle[at] != cycle) {
            slots->cycle[at] = cycle;
            memset(slots->queue[at], 0, sizeof slots->queue[at]);
            memset(slots->pool[at], 0, sizeof slots->pool[at]);
        }
        if (slots->queue[at][queue] < machine->queue_issue[queue] &&
            slots->pool[at][pool] < machine->pool_units[pool]) {
            slots->queue[at][queue]++;
            slots->pool[at][pool]++;
            break;
        }
    }
    return cycle;
}

static int64_t execute(struct graph_evaluation *evaluation, const struct graph_uop *uop,
                       const struct graph_nodes *nodes) {
    const struct graph_machine *machine = &evaluation->machine;
    int64_t cycle = nodes->ready;
    if (evaluation->bandwidth)
        cycle = take_slot(evaluation, nodes->dispatch, cycle + uop->unit_wait, uop->pool);
    if (!(uop->flags & GRAPH_LOAD))
        return cycle;
    if (!evaluation->window)
        return uop->mshr_wait
                   ? cycle + weight(evaluation, graph_miss_part(uop), uop->insn, uop->mshr_wait)
                   : cycle;
    uint32_t fill = weight(evaluation, graph_miss_part(uop), uop->insn, uop->fill);
    return fill ? mshrs_take(&evaluation->mshrs, nodes->dispatch, cycle, fill,
                             graph_mshrs(machine, evaluation->window, uop->level))
                : cycle;
}

const struct graph_nodes *graph_evaluate(struct graph_evaluation *evaluation,
                                         const struct graph_uop *uop) {
    const struct graph_machine *machine = &evaluation->machine;
    struct graph_nodes nodes;
    nodes.fetch = fetch(evaluation, uop);
    nodes.written = nodes.left = 0;
    if (back(evaluation, uop->store_entry))
        write_store(evaluation, uop, &nodes);
    nodes.dispatch = dispatch(evaluation, uop, &nodes);
    if (uop->flags & GRAPH_ELIMINATED) {
        nodes.ready = nodes.execute = nodes.complete = nodes.dispatch;
    } else {
        nodes.ready = ready(evaluation, uop, nodes.dispatch);
        nodes.execute = execute(evaluation, uop, &nodes);
        nodes.complete = complete(evaluation, uop, nodes.execute);
    }
    nodes.commit = nodes.complete + machine->complete_to_commit;
    EDGE(nodes.commit, 1, commit, 0);
    if (evaluation->bandwidth)
        EDGE(nodes.commit, machine->commit_width, commit, 1);
    struct graph_nodes *kept = &evaluation->nodes[evaluation->number++ % NODES];
    *kept = nodes;
    evaluation->last = *uop;
    return kept;
}
