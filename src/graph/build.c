/* A µop's edges come from its own life record and from the cycles of the µops before it. */
#include "graph/build.h"

#include <stdlib.h>
#include <string.h>

#include "core/places.h"
#include "graph/mshrs.h"
#include "graph/places.h"
#include "graph/positions.h"
#include "graph/structure.h"
#include "memory/memory.h"

/* What is kept of the latest RECENT µops, for those that follow. Cycles are the low 32 bits, as in
 * the records, and compared as differences. */
enum { RECENT = 1 << 12 };
struct recent {
    uint32_t fetch, dispatch, complete, commit;
    uint16_t data;    /* distance from a store to the producer of its data */
    bool load, woken; /* a one-cycle operation that the wakeup loop makes longer */
};

/* The last µop that issued in each cycle, indexed by the cycle's low bits. */
enum { ISSUED = 1 << 12 };
struct issued {
    uint32_t cycle, uop; /* low bits of its position */
};

/* What all µops of an operation have in common. */
struct kind {
    uint32_t flags; /* GRAPH_SHORT or GRAPH_LONG */
    uint16_t execution;
    uint8_t pool;
    bool slow; /* its unit is not pipelined */
};

/* The cycle after a load that lies in two lines has issued, in which it takes its unit once more;
 * by low bits, of the latest. */
enum { SPLITS = 1 << 8 };

struct graph_builder {
    struct graph_machine graph;
    struct graph_sink sink;
    uint32_t fetch_target_queue;
    struct machine_core core;
    uint32_t longest_break; /* cycles that fetch may lose behind a branch, and one */
    struct kind kinds[OP_COUNT];
    bool by_form;      /* what a µop takes depends on its form, too: it is taken from its life */
    bool data_apart;   /* the data of stores have units of their own */
    uint64_t number;   /* of the next µop, from the beginning of the fragment */
    uint64_t sequence; /* its own */
    struct graph_structure *structure;
    struct positions packets;
    struct graph_places places;
    struct recent recent[RECENT];
    struct issued issued[ISSUED];
    uint32_t splits[SPLITS];
    uint32_t last_flags; /* of the µop before; enum life_flags */
    struct graph_uop uops[GRAPH_CHUNK];
};

static uint16_t cycles(uint32_t count) {
    return count < GRAPH_FAR ? (uint16_t)count : GRAPH_FAR;
}

static bool is_later(uint32_t a, uint32_t b) {
    return (int32_t)(a - b) > 0;
}

static uint32_t later(uint32_t a, uint32_t b) {
    return is_later(a, b) ? a : b;
}

static void set_mshrs(const struct machine *machine, struct graph_machine *graph) {
    const struct machine_cache *levels[] = {&machine->l1d, &machine->l2, &machine->llc};
    uint32_t fewest = 0;
    for (unsigned level = LEVEL_L1; level < LEVEL_DRAM; level++) {
        const struct machine_cache *cache = levels[level];
        if (cache->present && cache->mshrs && (!fewest || cache->mshrs < fewest))
            fewest = cache->mshrs;
        graph->mshrs[level + 1] = fewest <= MSHR_MOST ? fewest : 0;
    }
}

void graph_machine_of(const struct machine *machine, struct graph_machine *graph) {
    const struct machine_core *core = &machine->core;
    const uint64_t ideal = (uint64_t)core->rob * LIFE_STORES_BACK;
    const uint32_t most = most_of_place(core), far = GRAPH_FAR / most;
    *graph = (struct graph_machine){
        .dispatch_width = core->dispatch_width,
        .store_queue = core->store_queue,
        .store_drain = core->store_drain,
        .commit_width = core->commit_width,
        .window = core->rob,
        .ideal_window = ideal < far ? (uint32_t)ideal : far,
        .most_of_place = most,
        .fetch_room =
            core->fetch_buffer + 2 * INSN_MAX_UOPS + core->frontend_depth * core->dispatch_width,
        .frontend_depth = core->frontend_depth,
        .redirect = core->redirect,
        .late_bubble = 1 + machine->branch.btb_miss_penalty,
        .taken_bubble = machine->branch.taken_bubble && !machine->branch.prediction_ahead
                            ? 1 + machine->branch.taken_bubble
                            : 0,
        .string_start = core->string_start,
        .dispatch_to_issue = core->dispatch_to_issue,
        .wakeup_extra = core->issue_wakeup ? core->issue_wakeup - 1 : 0,
        .complete_to_commit = core->complete_to_commit,
        .l1_latency = machine->l1d.latency,
        .forward_latency = core->store_forward,
        .load_latency = machine->classes[OP_LOAD].latency,
        .split_load = core->split_load,
    };
    for (uint32_t pool = 0; pool < machine->pool_count; pool++) {
        graph->pool_units[pool] = machine->pools[pool].units;
        graph->pool_queue[pool] = machine->pools[pool].queue;
        if (machine_pool_is_shared(machine, pool)) /* waits for its units are as observed */
            graph->pool_units[pool] = machine->queues[machine->pools[pool].queue].issue;
    }
    for (uint32_t queue = 0; queue < machine->queue_count; queue++)
        graph->queue_issue[queue] = machine->queues[queue].issue;
    set_mshrs(machine, graph);
}

/* The category of an operation that takes so long. */
static uint32_t category_of(unsigned operation, uint32_t latency) {
    if (operation == OP_LOAD || operation == OP_STORE || operation == OP_SYSTEM ||
        operation == OP_CLOCK || operation == OP_NOP)
        return 0;
    const bool integer = operation == OP_INT_ALU || operation == OP_BRANCH;
    return integer && latency <= 1 ? GRAPH_SHORT : GRAPH_LONG;
}

static struct kind kind_of(const struct machine *machine, unsigned operation) {
    const struct machine_class *class = &machine->classes[operation];
    return (struct kind){.flags = category_of(operation, class->latency),
                         .execution = cycles(class->latency),
                         .pool = (uint8_t) class->pool,
                         .slow =
                             class->interval > 1 || machine_pool_is_shared(machine, class->pool)};
}

/* What the bubbles of prediction come to, and the cycle that a break takes without. */
static uint32_t longest_break(const struct machine_branch *branch) {
    const uint32_t kind =
        branch->call_bubble > branch->return_bubble ? branch->call_bubble : branch->return_bubble;
    const uint32_t near = branch->near_btb_entries ? branch->near_btb_bubble : 0;
    const uint32_t all = 1 + branch->taken_bubble + kind + branch->far_bubble + near +
                         branch->indirect_bubble + branch->override_bubble;
    return all < GRAPH_BREAK_MOST ? all : GRAPH_BREAK_MOST;
}

struct graph_builder *graph_builder_new(const struct machine *machine, enum isa isa,
                                        const struct graph_sink *sink) {
    struct graph_builder *builder = calloc(1, sizeof *builder);
    if (!builder)
        return NULL;
    builder->sink = *sink;
    graph_machine_of(machine, &builder->graph);
    builder->fetch_target_queue = machine->core.fetch_target_queue;
    builder->core = machine->core;
    builder->longest_break = longest_break(&machine->branch);
    for (unsigned operation = 0; operation < OP_COUNT; operation++)
        builder->kinds[operation] = kind_of(machine, operation);
    builder->by_form = machine->form_count;
    builder->data_apart = machine->core.store_data[0];
    builder->structure = graph_structure_new(machine, isa);
    if (!builder->structure || !positions_new(&builder->packets, builder->fetch_target_queue) ||
        !graph_places_new(&builder->places, &builder->graph, builder->graph.fetch_room)) {
        graph_builder_free(builder);
        return NULL;
    }
    builder->sequence = UINT64_MAX;
    return builder;
}

void graph_builder_free(struct graph_builder *builder) {
    if (!builder)
        return;
    graph_structure_free(builder->structure);
    free(builder->packets.at);
    free(builder->places.last);
    free(builder);
}

/* ---- one µop ---- */

static inline const struct recent *recent(const struct graph_builder *builder, uint64_t back) {
    return &builder->recent[(builder->number - back) % RECENT];
}

/* Its queue had no room until one of the µops in it issued. */
static void set_queue(const struct graph_builder *builder, const struct packed_life *life,
                      struct graph_uop *uop) {
    uint64_t number = builder->number;
    const uint64_t most = (uint64_t)builder->graph.window * builder->graph.most_of_place;
    const uint64_t far = most < number ? most : number;
    const struct issued *issued = &builder->issued[life->kept.dispatch % ISSUED];
    uint32_t back = (uint32_t)number - issued->uop;
    if (issued->cycle == life->kept.dispatch && back <= far && back < RECENT)
        uop->queue_entry = (uint16_t)back;
}

/* The weight of the edge from the commit before, if fetch waited for that commit. */
static uint16_t after_commit(const struct graph_builder *builder, const struct packed_life *life) {
    const uint32_t flags = builder->last_flags;
    if (flags & LIFE_FLUSHES)
        return cycles(machine_flush_cycles(&builder->core, flags & LIFE_SYSTEM_CALL,
                                           flags & LIFE_SERIAL_END) +
                      1);
    uint32_t commit = recent(builder, 1)->commit;
    if (life->psv & PSV_FL_MO && !is_later(commit, life->fetch))
        return cycles(life->fetch - life->fetch_delay_cache - life->fetch_delay_tlb - commit + 1);
    return 0;
}

/* The cycle at which all other edges would have let it be fetched. */
static uint32_t fetchable(const struct graph_builder *builder, const struct graph_uop *uop) {
    const struct graph_machine *graph = &builder->graph;
    const struct recent *last = recent(builder, 1);
    uint32_t cycle = last->fetch, flags = builder->last_flags;
    if (flags & LIFE_MISPREDICTED)
        cycle = later(cycle, last->complete + graph->redirect);
    if (flags & LIFE_LATE)
        cycle = later(cycle, last->fetch + graph->late_bubble);
    if (flags & LIFE_TAKEN)
        cycle = later(cycle, last->fetch + graph->taken_bubble);
    if (uop->after_commit)
        cycle = later(cycle, last->commit + uop->after_commit - 1);
    if (uop->fetch_width)
        cycle = later(cycle, recent(builder, uop->fetch_width)->fetch + 1);
    if (uop->fetch_taken && uop->fetch_taken < RECENT)
        cycle = later(cycle, recent(builder, uop->fetch_taken)->fetch + 1);
    const uint32_t room = graph_places_back(&builder->places, graph->fetch_room);
    if (room && room < RECENT)
        cycle = later(cycle, recent(builder, room)->dispatch);
    if (uop->fetch_packet && uop->fetch_packet < RECENT)
        cycle = later(cycle, recent(builder, uop->fetch_packet)->commit);
    return cycle;
}

static inline void set_fetch(struct graph_builder *builder, const struct packed_life *life,
                             struct graph_uop *uop) {
    uint64_t number = builder->number;
    if (number == 0)
        return;
    bool begins = life->fetch != recent(builder, 1)->fetch; /* another packet */
    if (builder->fetch_target_queue) {
        if (begins)
            positions_add(&builder->packets, number - 1);
        uop->fetch_packet = positions_back(&builder->packets, number, builder->fetch_target_queue);
    }
    if (!begins)
        return;
    uop->after_commit = after_commit(builder, life);
    uop->fetch_cache = cycles(life->fetch_delay_cache);
    uop->fetch_tlb = cycles(life->fetch_delay_tlb);
    uint32_t waited = life->fetch_delay_cache + life->fetch_delay_tlb;
    if (is_later(life->fetch, fetchable(builder, uop) + waited)) {
        const uint32_t broke = life->fetch - waited - recent(builder, 1)->fetch;
        uop->flags |=
            (broke < builder->longest_break ? broke : builder->longest_break) * GRAPH_BREAK_UNIT;
    }
}

/* The cycle at which its operands were there. */
static uint32_t operands_there(const struct graph_builder *builder, const struct packed_life *life,
                               const struct graph_uop *uop) {
    uint32_t cycle = life->kept.dispatch + builder->graph.dispatch_to_issue;
    for (uint32_t i = 0; i < UOP_MAX_SOURCES; i++) {
        if (!uop->producer[i] || uop->producer[i] >= RECENT)
            continue;
        const struct recent *producer = recent(builder, uop->producer[i]);
        uint32_t extra = producer->woken ? builder->graph.wakeup_extra : 0;
        cycle = later(cycle, producer->complete + extra);
    }
    return cycle;
}

/* True when it waited for more than its operands, units and MSHRs: until *since. A load may have
 * issued in vain and waited then. */
static bool has_waited(const struct graph_builder *builder, const struct packed_life *life,
                       const struct graph_uop *uop, uint32_t *since) {
    const struct kept_life *kept = &life->kept;
    *since = kept->ready;
    if (is_later(kept->ready, operands_there(builder, life, uop)))
        return true;
    *since = kept->issue;
    return uop->flags & GRAPH_LOAD &&
           is_later(kept->issue, kept->ready + kept->unit_wait + kept->mshr_wait);
}

/* A load that overlaps an older store. */
static void set_store_wait(const struct graph_builder *builder, const struct packed_life *life,
                           struct graph_uop *uop) {
    uint32_t since;
    const struct recent *store = recent(builder, uop->store);
    if (life->flags & LIFE_FORWARDED && is_later(life->kept.issue, store->commit))
        uop->flags |= GRAPH_FORWARDED;
    bool waited = has_waited(builder, life, uop, &since), covered = uop->flags & GRAPH_COVERED;
    if ((waited || !covered) && store->data)
        uop->store_data = distance_to(uop->store + (uint64_t)store->data, 0);
    if (!waited)
        return;
    if (covered) {
        uop->flags |= GRAPH_HUNG;
    } else if (is_later(since, store->commit + 1)) {
        uop->store_wait = cycles(since - store->commit - 1);
    }
}

/* A µop that waits for the head waits for all older stores to drain. */
static void set_head_wait(const struct graph_builder *builder, const struct packed_life *life,
                          struct graph_uop *uop) {
    uint32_t since, commit = recent(builder, 1)->commit;
    if (life->flags & LIFE_ISSUED && has_waited(builder, life, uop, &since) &&
        is_later(since, commit))
        uop->store_wait = cycles(since - commit);
}

static inline void set_load(const struct graph_builder *builder, const struct packed_life *life,
                            struct graph_uop *uop) {
    if (life->stores_back)
        uop->store = graph_structure_store(builder->structure, life->stores_back);
    uop->fill = life->kept.fill;
    uint64_t back = life->uop - (life->kept.brought_by - 1);
    if (life->kept.brought_by && back <= builder->number && back <= GRAPH_FAR)
        uop->fetched_by = (uint16_t)back;
    if (life->kept.memory_events & MEMORY_PENDING_HIT && uop->fetched_by &&
        uop->fetched_by < RECENT) {
        const struct recent *fetch = recent(builder, uop->fetched_by);
        if (fetch->load && !is_later(fetch->complete, life->complete)) {
            uop->flags |= GRAPH_PENDING;
            uop->miss = cycles(life->complete - fetch->complete);
        }
    }
    if (uop->store && uop->store < RECENT && !(uop->flags & GRAPH_WAITS_HEAD))
        set_store_wait(builder, life, uop);
}

static bool is_split(const struct graph_builder *builder, const struct packed_life *life) {
    return builder->graph.split_load && life->flags & LIFE_LOAD && life->flags & LIFE_LONG &&
           life->kept.memory_events & MEMORY_SPLIT && !(life->flags & LIFE_FORWARDED);
}

/* Whether the µop waited for a unit that a load in two lines had once more, or is such a load. The
 * evaluation gives every µop one cycle of a unit: such a wait is as observed. */
static bool waits_for_split(const struct graph_builder *builder, const struct packed_life *life,
                            uint8_t pool) {
    const struct kept_life *kept = &life->kept;
    if (!builder->graph.split_load || !kept->unit_wait || pool != builder->kinds[OP_LOAD].pool)
        return false;
    bool found = life->flags & LIFE_LONG;
    for (uint32_t i = 0; !found && i < kept->unit_wait && i < SPLITS; i++)
        found = builder->splits[(kept->ready + i) % SPLITS] == kept->ready + i;
    return found;
}

/* What the load took beyond address generation and the L1, or the store queue: its form's. */
static uint32_t late_load(const struct graph_builder *builder, const struct packed_life *life) {
    const struct graph_machine *graph = &builder->graph;
    if (!(life->flags & LIFE_FORWARDED)) {
        const uint32_t split = is_split(builder, life) ? graph->split_load : 0;
        const uint32_t hit = graph->load_latency + graph->l1_latency + split;
        return life->kept.l1_latency > hit ? life->kept.l1_latency - hit : 0;
    }
    if (life->kept.store_back >= RECENT || life->kept.store_back > builder->number)
        return 0;
    const struct graph_uop covered = {.flags = life->flags & GRAPH_SAME};
    const uint32_t start = later(life->kept.issue + graph->load_latency,
                                 recent(builder, life->kept.store_back)->complete);
    const uint32_t took = life->complete - start, least = graph_forward_latency(graph, &covered);
    return is_later(took, least) ? took - least : 0;
}

/* Of a machine with a table of forms: as the core gave it. */
static struct kind kind_by_form(const struct graph_builder *builder,
                                const struct packed_life *life) {
    struct kind kind = builder->kinds[life->operation];
    if (life->flags & (LIFE_STORE | LIFE_ELIMINATED))
        return kind;
    if (life->flags & LIFE_LOAD) {
        kind.execution = cycles(kind.execution + late_load(builder, life));
        return kind;
    }
    kind.execution = cycles(life->complete - life->kept.issue);
    kind.flags = category_of(life->operation, kind.execution);
    kind.slow |= (life->flags & LIFE_LONG) != 0;
    return kind;
}

/* Of a store whose data have units of their own: the cycles that they took behind their producer,
 * or, if they did not wait for it, behind the store's issue, where they are part of its execution.
 * What was not seen, since the address came later, is the least: a cycle. */
static void set_data_port(const struct graph_builder *builder, const struct packed_life *life,
                          struct graph_uop *uop) {
    const struct kept_life *kept = &life->kept;
    const uint32_t resolved = kept->issue + uop->execution + uop->walk;
    const uint16_t back = uop->producer[UOP_MAX_SOURCES];
    uint32_t soonest = kept->dispatch + builder->graph.dispatch_to_issue, known = soonest;
    if (back && back < RECENT)
        known = recent(builder, back)->complete +
                (recent(builder, back)->woken ? builder->graph.wakeup_extra : 0);
    uop->data_port = 1;
    if (!is_later(life->complete, resolved))
        return;
    if (back && back < RECENT && !is_later(soonest, known))
        uop->data_port = cycles(life->complete - known);
    else
        uop->execution = cycles(life->complete - kept->issue - uop->walk);
}

static inline void set_execution(struct graph_builder *builder, const struct packed_life *life,
                                 const struct kind *kind, struct graph_uop *uop) {
    const struct kept_life *kept = &life->kept;
    uop->execution = kind->execution;
    if (kind->slow || waits_for_split(builder, life, kind->pool))
        uop->unit_wait = cycles(kept->unit_wait);
    uop->mshr_wait = cycles(kept->mshr_wait);
    if (uop->flags & (GRAPH_LOAD | GRAPH_STORE)) {
        uop->walk = kept->walk_latency;
        uop->miss = cycles(kept->miss_latency - kept->walk_latency);
        uop->level = kept->memory_level & 0xf;
        if (uop->flags & GRAPH_LOAD) {
            uop->flags |= is_split(builder, life) ? GRAPH_SPLIT : 0;
            set_load(builder, life, uop);
        } else if (uop->store_entry && kept->write_latency) {
            uop->fill = kept->fill;
            uop->write_wait = kept->write_latency - 1;
            uop->level = kept->write_level;
        }
        if (uop->flags & GRAPH_STORE && builder->data_apart)
            set_data_port(builder, life, uop);
    }
    if (kept->dispatch_block == DISPATCH_QUEUE)
        set_queue(builder, life, uop);
    if (uop->flags & GRAPH_WAITS_HEAD && builder->number)
        set_head_wait(builder, life, uop);
}

static inline void set_producers(const struct graph_builder *builder,
                                 const struct packed_life *life, struct graph_uop *uop) {
    if (builder->number >= GRAPH_FAR)
        memcpy(uop->producer, life->producer, sizeof uop->producer);
    else
        for (uint32_t i = 0; i <= UOP_MAX_SOURCES; i++)
            uop->producer[i] = life->producer[i] <= builder->number ? life->producer[i] : 0;
    if (!builder->graph.wakeup_extra)
        return;
    for (uint32_t i = 0; i <= UOP_MAX_SOURCES; i++)
        if (uop->producer[i] && uop->producer[i] < RECENT &&
            recent(builder, uop->producer[i])->woken)
            uop->flags |= (uint32_t)GRAPH_WAKEUP << i;
}

static inline void note(struct graph_builder *builder, const struct packed_life *life,
                        const struct graph_uop *uop) {
    uint32_t issue = life->flags & LIFE_ISSUED ? life->kept.issue : life->kept.dispatch;
    if (life->flags & LIFE_LONG && life->flags & LIFE_LOAD)
        builder->splits[(issue + 1) % SPLITS] = issue + 1;
    builder->issued[issue % ISSUED] = (struct issued){issue, (uint32_t)builder->number};
    builder->recent[builder->number % RECENT] =
        (struct recent){.fetch = life->fetch,
                        .dispatch = life->kept.dispatch,
                        .complete = life->complete,
                        .commit = (uint32_t)life->end,
                        .data = uop->producer[UOP_MAX_SOURCES],
                        .load = uop->flags & GRAPH_LOAD,
                        .woken = builder->graph.wakeup_extra && uop->flags & GRAPH_SHORT};
    builder->last_flags = life->flags;
    builder->number++;
}

static void add(struct graph_builder *builder, const struct packed_life *life,
                struct graph_uop *uop) {
    const struct kind *kind = &builder->kinds[life->operation];
    uint32_t flags = life->flags & GRAPH_SAME;
    struct kind by_form;
    if (builder->by_form) {
        by_form = kind_by_form(builder, life);
        kind = &by_form;
    }
    *uop = (struct graph_uop){.insn = life->insn,
                              .flags = flags & GRAPH_ELIMINATED ? flags : flags | kind->flags,
                              .operation = life->operation,
                              .pool = kind->pool};
    graph_structure_add(builder->structure, uop, life->flags);
    graph_places_add(&builder->places, builder->number, uop);
    set_producers(builder, life, uop);
    set_fetch(builder, life, uop);
    set_execution(builder, life, kind, uop);
    note(builder, life, uop);
}

static void begin(struct graph_builder *builder) {
    builder->number = 0;
    builder->last_flags = 0;
    memset(builder->issued, 0, sizeof builder->issued);
    graph_structure_begin(builder->structure);
    positions_begin(&builder->packets);
}

/* How many lives from the first on follow each other and have committed, GRAPH_CHUNK at most. */
static uint32_t run_length(const struct packed_life *lives, uint32_t count) {
    uint32_t most = count < GRAPH_CHUNK ? count : GRAPH_CHUNK, length = 0;
    while (length < most && !(lives[length].flags & LIFE_FLUSHED) &&
           lives[length].uop == lives[0].uop + length)
        length++;
    return length;
}

bool graph_builder_add(struct graph_builder *builder, const struct packed_life *lives,
                       uint32_t count, struct error *error) {
    for (uint32_t done = 0; done < count;) {
        const struct packed_life *next = lives + done;
        uint32_t length = run_length(next, count - done);
        if (length == 0) { /* squashed */
            done++;
            continue;
        }
        bool first = next->uop != builder->sequence;
        if (first)
            begin(builder);
        for (uint32_t i = 0; i < length; i++)
            add(builder, next + i, &builder->uops[i]);
        builder->sequence = next->uop + length;
        if (!builder->sink.take(builder->sink.context, builder->uops, next, length, first, error))
            return false;
        done += length;
    }
    return true;
}

static bool consume(void *context, const struct tap_buffer *buffer, struct error *error) {
    return graph_builder_add(context, buffer->lives, buffer->life_count, error);
}

struct tap_worker graph_builder_worker(struct graph_builder *builder) {
    return (struct tap_worker){
        .name = "graph", .kinds = 1 << TAP_LIFE, .consume = consume, .context = builder};
}
