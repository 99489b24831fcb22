/* What a life record says of one µop, and what the cycles of the µops before it say of it. */
#include "graph/build.h"

#include <stdlib.h>

#include "graph/positions.h"
#include "graph/structure.h"
#include "memory/memory.h"

/* Cycles of the latest µops: 1 << RECENT_SHIFT of them. */
enum { RECENT = 1 << 12 };
struct recent {
    uint64_t fetch, dispatch, issue, complete, commit;
    uint16_t data;    /* distance from a store to the producer of its data */
    bool load, woken; /* a one-cycle operation that the wakeup loop makes longer */
};

struct graph_builder {
    struct machine machine;
    struct graph_machine graph;
    struct graph_sink sink;
    uint64_t number;   /* of the next µop, from the beginning of the fragment */
    uint64_t sequence; /* its own */
    struct graph_structure *structure;
    struct positions packets;
    struct recent recent[RECENT];
    struct life last;
    uint64_t drained, drain; /* cycle at which the store queue last had room again, and the store
                                whose write it had waited for */
    struct graph_uop uops[GRAPH_CHUNK];
    struct life lives[GRAPH_CHUNK];
    uint32_t count;
    bool first;
};

static uint16_t cycles(uint64_t count) {
    return count < GRAPH_FAR ? (uint16_t)count : GRAPH_FAR;
}

void graph_machine_of(const struct machine *machine, struct graph_machine *graph) {
    const struct machine_core *core = &machine->core;
    uint64_t ideal = (uint64_t)core->rob * LIFE_STORES_BACK;
    *graph = (struct graph_machine){
        .dispatch_width = core->dispatch_width,
        .commit_width = core->commit_width,
        .window = core->rob,
        .ideal_window = ideal < GRAPH_FAR ? (uint32_t)ideal : GRAPH_FAR,
        .fetch_room =
            core->fetch_buffer + 2 * INSN_MAX_UOPS + core->frontend_depth * core->dispatch_width,
        .frontend_depth = core->frontend_depth,
        .redirect = core->redirect,
        .late_bubble = 1 + machine->branch.btb_miss_penalty,
        .taken_bubble = machine->branch.taken_bubble ? 1 + machine->branch.taken_bubble : 0,
        .dispatch_to_issue = core->dispatch_to_issue,
        .wakeup_extra = core->issue_wakeup ? core->issue_wakeup - 1 : 0,
        .complete_to_commit = core->complete_to_commit,
        .l1_latency = machine->l1d.latency,
        .forward_latency = core->store_forward,
        .load_latency = machine->classes[OP_LOAD].latency,
    };
    for (uint32_t pool = 0; pool < machine->pool_count; pool++) {
        graph->pool_units[pool] = machine->pools[pool].units;
        graph->pool_queue[pool] = machine->pools[pool].queue;
    }
    for (uint32_t queue = 0; queue < machine->queue_count; queue++)
        graph->queue_issue[queue] = machine->queues[queue].issue;
}

struct graph_builder *graph_builder_new(const struct machine *machine, enum isa isa,
                                        const struct graph_sink *sink) {
    struct graph_builder *builder = calloc(1, sizeof *builder);
    if (!builder)
        return NULL;
    const struct machine_core *core = &machine->core;
    builder->machine = *machine;
    builder->sink = *sink;
    graph_machine_of(machine, &builder->graph);
    builder->structure = graph_structure_new(machine, isa);
    if (!builder->structure || !positions_new(&builder->packets, core->fetch_target_queue)) {
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
    free(builder);
}

/* ---- one µop ---- */

static const struct recent *recent(const struct graph_builder *builder, uint64_t back) {
    return &builder->recent[(builder->number - back) % RECENT];
}

static uint32_t flags_of(const struct graph_builder *builder, const struct life *life) {
    static const struct {
        uint32_t life, graph;
    } same[] = {{LIFE_FIRST, GRAPH_FIRST},     {LIFE_LAST, GRAPH_LAST},
                {LIFE_FUSED, GRAPH_FUSED},     {LIFE_MISPREDICTED, GRAPH_MISPREDICTED},
                {LIFE_LATE, GRAPH_LATE},       {LIFE_TAKEN, GRAPH_TAKEN},
                {LIFE_FLUSHES, GRAPH_FLUSHES}, {LIFE_WAITS_HEAD, GRAPH_WAITS_HEAD},
                {LIFE_COVERED, GRAPH_COVERED}, {LIFE_ELIMINATED, GRAPH_ELIMINATED}};
    uint32_t flags = 0;
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        flags |= life->flags & same[i].life ? same[i].graph : 0;
    uint8_t operation = life->operation;
    if (operation == OP_LOAD)
        return flags | GRAPH_LOAD;
    if (operation == OP_STORE)
        return flags | GRAPH_STORE;
    if (operation == OP_SYSTEM || operation == OP_NOP || flags & GRAPH_ELIMINATED)
        return flags;
    bool integer = operation == OP_INT_ALU || operation == OP_BRANCH;
    bool one = integer && builder->machine.classes[operation].latency <= 1;
    return flags | (one ? GRAPH_SHORT : GRAPH_LONG);
}

/* The store queue was full: its oldest store was being written. Those that left with it waited for
 * the same write. */
static void set_drain(struct graph_builder *builder, const struct life *life,
                      struct graph_uop *uop) {
    if (life->dispatch != builder->drained) {
        builder->drained = life->dispatch;
        builder->drain = builder->number - uop->store_entry;
    }
    uop->drain = distance_to(builder->number, builder->drain);
    if (uop->drain && uop->drain < RECENT)
        uop->store_wait = cycles(life->dispatch - recent(builder, uop->drain)->commit);
}

static unsigned traits_of(const struct life *life) {
    static const struct {
        uint32_t life;
        unsigned trait;
    } same[] = {{LIFE_INT_REGISTER, TRAIT_INT_REGISTER},
                {LIFE_FP_REGISTER, TRAIT_FP_REGISTER},
                {LIFE_SERIAL, TRAIT_SERIAL},
                {LIFE_SERIAL_END, TRAIT_SERIAL_END},
                {LIFE_HOLDS_LOADS, TRAIT_HOLDS_LOADS}};
    unsigned traits = 0;
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        traits |= life->flags & same[i].life ? same[i].trait : 0;
    return traits;
}

/* What was observed of the queues. */
static void set_queues(struct graph_builder *builder, const struct life *life,
                       struct graph_uop *uop) {
    uint64_t number = builder->number;
    if (uop->store_entry && life->dispatch_block == DISPATCH_STORE_QUEUE)
        set_drain(builder, life, uop);
    if (life->dispatch_block == DISPATCH_QUEUE) {
        uint64_t far = builder->graph.window < number ? builder->graph.window : number;
        for (uint64_t back = 1; back <= far && !uop->queue_entry; back++)
            if (recent(builder, back)->issue == life->dispatch)
                uop->queue_entry = (uint16_t)back;
    }
}

/* The weight of the edge from the commit before, where fetch waited for that. */
static uint16_t after_commit(const struct graph_builder *builder, const struct life *life) {
    const struct life *last = &builder->last;
    if (builder->number == 0)
        return 0;
    if (last->flags & LIFE_SYSTEM_CALL)
        return cycles(builder->machine.core.syscall_cycles + UINT64_C(1));
    if (last->flags & LIFE_FLUSHES)
        return cycles(builder->machine.core.flush_penalty + UINT64_C(1));
    if (life->psv & PSV_FL_MO && life->fetch >= last->commit)
        return cycles(life->fetch - life->fetch_delay_cache - life->fetch_delay_tlb - last->commit +
                      1);
    return 0;
}

static uint64_t later(uint64_t a, uint64_t b) {
    return a > b ? a : b;
}

/* The cycle at which all other edges would have let it be fetched. */
static uint64_t fetchable(const struct graph_builder *builder, const struct graph_uop *uop) {
    const struct graph_machine *graph = &builder->graph;
    const struct life *last = &builder->last;
    uint64_t cycle = last->fetch;
    if (last->flags & LIFE_MISPREDICTED)
        cycle = later(cycle, last->complete + graph->redirect);
    if (last->flags & LIFE_LATE)
        cycle = later(cycle, last->fetch + graph->late_bubble);
    if (last->flags & LIFE_TAKEN)
        cycle = later(cycle, last->fetch + graph->taken_bubble);
    if (uop->after_commit)
        cycle = later(cycle, last->commit + uop->after_commit - 1);
    if (uop->fetch_width)
        cycle = later(cycle, recent(builder, uop->fetch_width)->fetch + 1);
    if (uop->fetch_taken)
        cycle = later(cycle, recent(builder, uop->fetch_taken)->fetch + 1);
    if (builder->number >= graph->fetch_room)
        cycle = later(cycle, recent(builder, graph->fetch_room)->dispatch);
    if (uop->fetch_packet)
        cycle = later(cycle, recent(builder, uop->fetch_packet)->commit);
    return cycle;
}

static void set_fetch(struct graph_builder *builder, const struct life *life,
                      struct graph_uop *uop) {
    uint64_t number = builder->number;
    uop->after_commit = after_commit(builder, life);
    if (number && life->fetch != builder->last.fetch)
        positions_add(&builder->packets, number - 1);
    uop->fetch_packet =
        positions_back(&builder->packets, number, builder->machine.core.fetch_target_queue);
    if (number == 0 || life->fetch == builder->last.fetch)
        return;
    /* Of its packet the first has waited. */
    uop->fetch_cache = cycles(life->fetch_delay_cache);
    uop->fetch_tlb = cycles(life->fetch_delay_tlb);
    uint64_t waited = life->fetch_delay_cache + life->fetch_delay_tlb;
    if (fetchable(builder, uop) + waited < life->fetch)
        uop->flags |= GRAPH_BREAK;
}

/* The cycle at which its operands were there. */
static uint64_t operands_there(const struct graph_builder *builder, const struct life *life,
                               const struct graph_uop *uop) {
    uint64_t cycle = life->dispatch + builder->graph.dispatch_to_issue;
    for (uint32_t i = 0; i < UOP_MAX_SOURCES; i++)
        if (uop->producer[i] && uop->producer[i] < RECENT)
            cycle = later(
                cycle,
                recent(builder, uop->producer[i])->complete +
                    (recent(builder, uop->producer[i])->woken ? builder->graph.wakeup_extra : 0));
    return cycle;
}

/* The cycle at which it no longer waited for anything but its operands, units and MSHRs; 0: it did
 * not. A load may have issued in vain and waited then. */
static uint64_t waited_until(const struct graph_builder *builder, const struct life *life,
                             const struct graph_uop *uop) {
    if (life->ready > operands_there(builder, life, uop))
        return life->ready;
    bool again = life->issue > life->ready + life->unit_wait + life->mshr_wait;
    return again && uop->flags & GRAPH_LOAD ? life->issue : 0;
}

/* How it waited for older stores: a load for the one it overlaps, at the head for all. */
static void set_store_wait(const struct graph_builder *builder, const struct life *life,
                           struct graph_uop *uop) {
    bool store_known = uop->store && uop->store < RECENT;
    if (store_known && life->flags & LIFE_FORWARDED &&
        life->issue > recent(builder, uop->store)->commit)
        uop->flags |= GRAPH_FORWARDED;
    uint64_t since = waited_until(builder, life, uop);
    if (since == 0)
        return;
    if (uop->flags & GRAPH_WAITS_HEAD) {
        if (builder->number && since > builder->last.commit)
            uop->store_wait = cycles(since - builder->last.commit);
    } else if (store_known && uop->flags & GRAPH_COVERED) {
        uop->flags |= GRAPH_HUNG;
        uint16_t data = recent(builder, uop->store)->data;
        if (data)
            uop->store_data = distance_to(uop->store + data, 0);
    } else if (store_known) {
        uint64_t drained = recent(builder, uop->store)->commit + 1;
        if (since > drained)
            uop->store_wait = cycles(since - drained);
    }
}

static void set_execution(struct graph_builder *builder, const struct life *life,
                          struct graph_uop *uop) {
    uint32_t latency = builder->machine.classes[life->operation].latency;
    if (builder->machine.classes[life->operation].interval > 1)
        uop->unit_wait = cycles(life->unit_wait);
    uop->mshr_wait = cycles(life->mshr_wait);
    uop->execution = cycles(latency);
    if (uop->flags & (GRAPH_LOAD | GRAPH_STORE)) {
        uop->miss = cycles(life->miss_latency);
        uop->level = life->memory_level;
        uop->tlb = (life->psv & PSV_ST_TLB) != 0;
    }
    if (uop->flags & GRAPH_LOAD) {
        if (life->stores_back)
            uop->store = graph_structure_store(builder->structure, life->stores_back);
        if (life->bringer < life->uop)
            uop->bringer = distance_to(life->uop, life->bringer);
        if (uop->bringer > builder->number)
            uop->bringer = 0;
        if (life->memory_events & MEMORY_PENDING_HIT && uop->bringer && uop->bringer < RECENT) {
            uint64_t brought = recent(builder, uop->bringer)->complete;
            if (recent(builder, uop->bringer)->load && brought <= life->complete) {
                uop->flags |= GRAPH_PENDING;
                uop->miss = cycles(life->complete - brought);
            }
        }
    }
}

static void set_producers(const struct graph_builder *builder, const struct life *life,
                          struct graph_uop *uop) {
    for (uint32_t i = 0; i <= UOP_MAX_SOURCES; i++)
        if (life->producer[i] < life->uop && life->uop - life->producer[i] <= builder->number)
            uop->producer[i] = distance_to(life->uop, life->producer[i]);
    for (uint32_t i = 0; i <= UOP_MAX_SOURCES; i++)
        if (uop->producer[i] && uop->producer[i] < RECENT &&
            recent(builder, uop->producer[i])->woken)
            uop->flags |= (uint32_t)GRAPH_WAKEUP << i;
}

static void note(struct graph_builder *builder, const struct life *life,
                 const struct graph_uop *uop) {
    uint64_t number = builder->number;
    builder->recent[number % RECENT] =
        (struct recent){.fetch = life->fetch,
                        .dispatch = life->dispatch,
                        .issue = life->issue,
                        .complete = life->complete,
                        .commit = life->commit,
                        .data = uop->producer[UOP_MAX_SOURCES],
                        .load = life->operation == OP_LOAD,
                        .woken = builder->graph.wakeup_extra && uop->flags & GRAPH_SHORT};
    builder->last = *life;
    builder->number++;
    builder->sequence = life->uop + 1;
}

static void begin(struct graph_builder *builder) {
    builder->number = 0;
    graph_structure_begin(builder->structure);
    builder->packets.count = 0;
    builder->drained = UINT64_MAX;
    builder->first = true;
}

bool graph_builder_flush(struct graph_builder *builder, struct error *error) {
    uint32_t count = builder->count;
    bool first = builder->first;
    builder->count = 0;
    builder->first = false;
    return count == 0 || builder->sink.take(builder->sink.context, builder->uops, builder->lives,
                                            count, first, error);
}

bool graph_builder_add(struct graph_builder *builder, const struct life *life,
                       struct error *error) {
    if (life->uop != builder->sequence) {
        if (!graph_builder_flush(builder, error))
            return false;
        begin(builder);
    }
    struct graph_uop *uop = &builder->uops[builder->count];
    *uop = (struct graph_uop){.insn = life->insn,
                              .flags = flags_of(builder, life),
                              .operation = life->operation,
                              .pool = (uint8_t)builder->machine.classes[life->operation].pool};
    graph_structure_add(builder->structure, uop, traits_of(life));
    set_fetch(builder, life, uop);
    set_queues(builder, life, uop);
    set_execution(builder, life, uop);
    set_producers(builder, life, uop);
    set_store_wait(builder, life, uop);
    note(builder, life, uop);
    builder->lives[builder->count] = *life;
    return ++builder->count < GRAPH_CHUNK || graph_builder_flush(builder, error);
}

static bool consume(void *context, const struct tap_buffer *buffer, struct error *error) {
    struct graph_builder *builder = context;
    for (uint32_t i = 0; i < buffer->life_count; i++) {
        struct life life;
        life_unpack(&buffer->lives[i], &life);
        if (!(life.flags & LIFE_FLUSHED) && !graph_builder_add(builder, &life, error))
            return false;
    }
    return true;
}

struct tap_worker graph_builder_worker(struct graph_builder *builder) {
    return (struct tap_worker){
        .name = "graph", .kinds = 1 << TAP_LIFE, .consume = consume, .context = builder};
}
