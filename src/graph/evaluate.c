/* Each node is the latest of its edges (edges.def), and then waits for what is shared: issue slots,
 * units, MSHRs. The nodes of the last 64 Ki µops are kept, as far as any edge reaches. */
#include "graph/evaluate.h"

#include <stdlib.h>
#include <string.h>

#include "graph/mshrs.h"
#include "graph/places.h"

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
    struct graph_places places;
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

static uint32_t window_of(const struct graph_evaluation *evaluation) {
    return evaluation->window ? evaluation->window : evaluation->machine.window;
}

/* The most places back that an edge leads. */
static uint32_t reach_of(const struct graph_evaluation *evaluation) {
    const struct graph_machine *machine = &evaluation->machine;
    const uint32_t back[] = {machine->fetch_room, machine->dispatch_width, machine->commit_width};
    uint32_t most = window_of(evaluation);
    for (size_t i = 0; i < sizeof back / sizeof *back; i++)
        most = back[i] > most ? back[i] : most;
    return most;
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
    if (graph_places_new(&evaluation->places, machine, reach_of(evaluation)))
        return evaluation;
    free(evaluation);
    return NULL;
}

void graph_evaluation_free(struct graph_evaluation *evaluation) {
    if (evaluation)
        free(evaluation->places.last);
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

/* Whether there is a node so far back: in µops, of W and L in writes. */
static inline bool reaches(const struct graph_evaluation *evaluation, enum graph_node node,
                           uint64_t distance) {
    bool write = node == NODE_W || node == NODE_L;
    return distance != 0 && distance <= (write ? evaluation->writes : evaluation->number);
}

static inline int64_t time_back(const struct graph_evaluation *evaluation, enum graph_node node,
                                uint64_t distance) {
    if (node == NODE_W)
        return evaluation->written[(evaluation->writes - distance) % DRAINS];
    if (node == NODE_L)
        return evaluation->left[(evaluation->writes - distance) % GRAPH_WRITES];
    return evaluation->nodes[(evaluation->number - distance) % NODES].time[node];
}

/* What the idealised categories leave of a weight. */
static inline uint32_t weight(const struct graph_evaluation *evaluation, unsigned part,
                              uint32_t insn, uint32_t cycles) {
    if (!cycles)
        return 0;
    uint32_t set = categories_of(evaluation->categories, part, insn) & evaluation->set;
    return set ? categories_weight(evaluation->categories, set, cycles) : cycles;
}

/* Whether the idealised categories leave an edge. */
static inline bool keep(const struct graph_evaluation *evaluation, unsigned part, uint32_t insn) {
    return categories_keep(evaluation->categories,
                           categories_of(evaluation->categories, part, insn) & evaluation->set);
}

/* Of the execution of a µop that is not a load. */
static inline uint32_t execution(const struct graph_evaluation *evaluation,
                                 const struct graph_uop *uop) {
    uint32_t set = categories_of_execution(evaluation->categories, uop) & evaluation->set;
    return categories_weight(evaluation->categories, set, uop->execution);
}

static_assert(UOP_MAX_SOURCES == 4, "edges.def has PR of each, and of the data of a store");
/* The latest of the edges to a node. `to` is constant where this is called, so that only the edges
 * to that node are left. */
static inline __attribute__((always_inline)) int64_t
latest(const struct graph_evaluation *evaluation, const struct graph_uop *uop,
       const struct graph_nodes *own, enum graph_node to) {
    const struct graph_machine *machine = &evaluation->machine;
    const struct graph_uop *before = &evaluation->last;
    int64_t cycle = 0;
#define BANDWIDTH                 (evaluation->bandwidth)
#define WINDOW                    (!evaluation->window)
#define KEEP(part, of)            keep(evaluation, part, (of)->insn)
#define WEIGHT(part, of, cycles)  weight(evaluation, part, (of)->insn, cycles)
#define EXECUTION                 execution(evaluation, uop)
#define REACHES(FROM, distance)   reaches(evaluation, NODE_##FROM, distance)
#define TIME(FROM, distance)      time_back(evaluation, NODE_##FROM, distance)
#define CONDITION(TO, name, when) const bool name = to == NODE_##TO && (when);
#define EDGE(name, FROM, distance, TO, when, cycles)                                               \
    if (to == NODE_##TO && REACHES(FROM, distance) && (when))                                      \
        later(&cycle, TIME(FROM, distance) + (int64_t)(cycles));
#define OWN(name, FROM, TO, when, cycles, apart, miss)                                             \
    if (to == NODE_##TO && (when))                                                                 \
        later(&cycle, own->time[NODE_##FROM] + (int64_t)(cycles) + (apart) + (miss));
#include "graph/edges.def"
    return cycle;
}

static struct graph_back places_before(const struct graph_evaluation *evaluation) {
    const struct graph_machine *machine = &evaluation->machine;
    const struct graph_places *places = &evaluation->places;
    return (struct graph_back){.fetch_room = graph_places_back(places, machine->fetch_room),
                               .dispatch_width = graph_places_back(places, machine->dispatch_width),
                               .window = graph_places_back(places, window_of(evaluation)),
                               .commit_width = graph_places_back(places, machine->commit_width)};
}

static int64_t fetch(const struct graph_evaluation *evaluation, const struct graph_uop *uop,
                     const struct graph_nodes *nodes) {
    return latest(evaluation, uop, nodes, NODE_F) +
           weight(evaluation, GRAPH_PART_FETCH_CACHE, uop->insn, uop->fetch_cache) +
           weight(evaluation, GRAPH_PART_FETCH_TLB, uop->insn, uop->fetch_tlb);
}

/* The write of the store whose store queue entry the µop takes: with an MSHR if its line must be
 * fetched. */
static void write_store(struct graph_evaluation *evaluation, const struct graph_uop *uop,
                        struct graph_nodes *nodes) {
    nodes->written = latest(evaluation, uop, nodes, NODE_W);
    uint32_t fill = weight(evaluation, GRAPH_PART_WRITE, uop->insn, uop->fill);
    if (fill)
        nodes->written =
            mshrs_take(&evaluation->mshrs, time_back(evaluation, NODE_D, 1), nodes->written, fill,
                       graph_mshrs(&evaluation->machine, evaluation->window, uop->level));
    nodes->left = latest(evaluation, uop, nodes, NODE_L);
    evaluation->written[evaluation->writes % DRAINS] = nodes->written;
    evaluation->left[evaluation->writes % GRAPH_WRITES] = nodes->left;
    evaluation->writes++;
}

/* When the µop has a store queue entry in a larger store queue, if it takes over that of the latest
 * write in the machine's: when a store so many writes earlier had left, looked at once for each
 * group of entries. */
static int64_t entry_free(const struct graph_evaluation *evaluation) {
    uint64_t more = graph_more_entries(&evaluation->machine, evaluation->window);
    uint64_t last = evaluation->writes - 1;
    return last >= more && (!more || last % GRAPH_ENTRY_GROUP == 0)
               ? evaluation->left[(last - more) % GRAPH_WRITES]
               : 0;
}

static int64_t dispatch(const struct graph_evaluation *evaluation, const struct graph_uop *uop,
                        const struct graph_nodes *nodes) {
    int64_t cycle = latest(evaluation, uop, nodes, NODE_D);
    if (evaluation->window && nodes->left)
        later(&cycle, entry_free(evaluation));
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
    graph_places_add(&evaluation->places, evaluation->number, uop);
    struct graph_nodes nodes = {.back = places_before(evaluation)};
    nodes.fetch = fetch(evaluation, uop, &nodes);
    if (reaches(evaluation, NODE_C, uop->store_entry))
        write_store(evaluation, uop, &nodes);
    nodes.dispatch = dispatch(evaluation, uop, &nodes);
    if (uop->flags & GRAPH_ELIMINATED) {
        nodes.ready = nodes.execute = nodes.complete = nodes.dispatch;
    } else {
        nodes.ready = latest(evaluation, uop, &nodes, NODE_R);
        nodes.execute = execute(evaluation, uop, &nodes);
        nodes.complete = latest(evaluation, uop, &nodes, NODE_P);
    }
    nodes.commit = latest(evaluation, uop, &nodes, NODE_C);
    struct graph_nodes *kept = &evaluation->nodes[evaluation->number++ % NODES];
    *kept = nodes;
    evaluation->last = *uop;
    return kept;
}
