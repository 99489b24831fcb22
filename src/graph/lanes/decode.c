/* µops become steps: the distance of an edge becomes a row (graph/lanes/layout.h), if the ring
 * still holds it and the edge can matter. */
#include <stdlib.h>
#include <string.h>

#include "graph/lanes/layout.h"
#include "graph/lanes/weights.h"
#include "graph/places.h"

enum { FAR = GRAPH_FAR + 1 };
/* Most rows of weights that a µop may need. */
enum { WEIGHTS_OF_UOP = 22, FEW = 32 };

struct lanes_decoder {
    struct graph_machine machine;
    uint32_t bandwidth; /* the edges of dispatch and commit bandwidth go back so far at most */
    struct graph_places places;
    const struct categories *categories;
    const struct lanes_slots *slots;
    uint64_t number; /* of the next µop in the fragment */
    uint32_t last_flags, last_insn;
    int64_t reach; /* the latest µop behind which a cycle of fetch has ended */
    uint32_t stores, misses;
    uint32_t writes; /* of stores, in the fragment */
    /* For each of the latest µops: if it is the n-th store, counted from 1, 2n + 1; if it is the
     * n-th miss, 2n; 0: neither. */
    uint32_t ordinal_at[FAR];
    struct lanes_weights weights;
    uint32_t executions[OP_COUNT][8][FEW]; /* rows of weights plus 1; 0: not yet known */
};

static inline uint32_t smaller(uint32_t a, uint32_t b) {
    return a < b ? a : b;
}

static inline uint32_t larger(uint32_t a, uint32_t b) {
    return a > b ? a : b;
}

struct lanes_decoder *lanes_decoder_new(const struct graph_machine *machine,
                                        const struct categories *categories,
                                        const struct lanes_slots *slots) {
    struct lanes_decoder *decoder = calloc(1, sizeof *decoder);
    if (!decoder)
        return NULL;
    decoder->machine = *machine;
    decoder->categories = categories;
    decoder->slots = slots;
    decoder->bandwidth =
        larger(machine->fetch_room, larger(machine->dispatch_width, machine->commit_width));
    lanes_weights_init(&decoder->weights, categories);
    lanes_decoder_begin(decoder);
    if (graph_places_new(&decoder->places, machine, GRAPH_FAR))
        return decoder;
    free(decoder);
    return NULL;
}

void lanes_decoder_free(struct lanes_decoder *decoder) {
    if (decoder)
        free(decoder->places.last);
    free(decoder);
}

void lanes_decoder_begin(struct lanes_decoder *decoder) {
    decoder->number = 0;
    decoder->reach = -1;
    decoder->writes = 0;
    decoder->last_flags = 0;
}

void lanes_fill_weights(const struct lanes_decoder *decoder, struct lanes_group *group) {
    lanes_weights_fill(&decoder->weights, group);
}

/* ---- rows ---- */

/* The row `distance` µops behind row `at` of the µop at hand; NEVER if that is before the fragment,
 * or farther than `reach`, where the edge does not matter. */
static inline uint32_t back(const struct lanes_decoder *decoder, struct lanes_ring ring,
                            uint32_t at, uint32_t distance, uint32_t reach) {
    uint32_t most = decoder->number < reach ? (uint32_t)decoder->number : reach;
    /* A distance of 0 is the largest of all. */
    return distance - 1 < most ? lanes_behind(ring, at, distance) : (uint32_t)LANES_NEVER_ROW;
}

static inline uint32_t complete_back(const struct lanes_decoder *decoder,
                                     const struct lanes_layout *layout, uint32_t distance) {
    return back(decoder, layout->complete, layout->at.complete, distance,
                layout->complete.rows - 1);
}

static inline uint32_t execute_back(const struct lanes_decoder *decoder,
                                    const struct lanes_layout *layout, uint32_t distance) {
    return back(decoder, layout->execute, layout->at.execute, distance, layout->execute.rows - 1);
}

static inline uint32_t commit_back(const struct lanes_decoder *decoder,
                                   const struct lanes_layout *layout, uint32_t distance) {
    return back(decoder, layout->commit, layout->at.commit, distance, layout->commit.rows);
}

/* The row of a store's C. */
static uint32_t store_commit(const struct lanes_decoder *decoder, const struct lanes_layout *layout,
                             uint32_t distance) {
    if (distance == 0 || distance > decoder->number)
        return LANES_NEVER_ROW;
    uint32_t ordinal = decoder->ordinal_at[(decoder->number - distance) % FAR];
    if (ordinal % 2 && decoder->stores - (ordinal / 2 - 1) <= LANES_STORES)
        return lanes_row(layout->stores, ordinal / 2 - 1);
    return commit_back(decoder, layout, distance);
}

/* ---- steps ---- */

/* What is the same of a µop in all layouts. */
struct common {
    const struct graph_uop *uop;
    uint32_t flags; /* of steps */
    uint32_t fetch_distance, fetch_weight, execution;
    /* The distance, less 1, to the nearest C that D waits for: without the window's other edges,
     * and with them. */
    uint32_t serial, entry;
    bool alone; /* waits for nothing but a producer or two before it issues */
};

/* A distance of 0 is the farthest. */
static inline uint32_t less_one(uint32_t distance) {
    return distance - 1;
}

static void decode_fetch(struct lanes_decoder *decoder, const struct lanes_layout *layout,
                         const struct common *common, struct lanes_step *step,
                         struct lanes_extra *extra) {
    const struct graph_uop *uop = common->uop;
    step->flags |= STEP_FETCH;
    extra->cache =
        lanes_weight_of(&decoder->weights, GRAPH_PART_FETCH_CACHE, uop->insn, uop->fetch_cache);
    extra->tlb =
        lanes_weight_of(&decoder->weights, GRAPH_PART_FETCH_TLB, uop->insn, uop->fetch_tlb);
    extra->packet =
        layout->ideal ? LANES_NEVER_ROW : commit_back(decoder, layout, uop->fetch_packet);
    extra->late = LANES_NOTHING_ROW;
    if (uop->after_commit && decoder->number) {
        step->flags |= STEP_AFTER_COMMIT;
        extra->after_commit = uop->after_commit - 1;
    }
    if (decoder->last_flags & GRAPH_MISPREDICTED) {
        step->flags |= STEP_MISPREDICTED;
        extra->previous = lanes_behind(layout->complete, layout->at.complete, 1);
        extra->redirect = lanes_weight_of(&decoder->weights, GRAPH_PART_MISPREDICT,
                                          decoder->last_insn, decoder->machine.redirect);
        extra->redirect_keep =
            lanes_keep_of(&decoder->weights, GRAPH_PART_MISPREDICT, decoder->last_insn);
    }
    if (decoder->last_flags & GRAPH_LATE)
        extra->late = lanes_weight_of(&decoder->weights, GRAPH_PART_MISPREDICT, decoder->last_insn,
                                      decoder->machine.late_bubble);
}

/* The row of the last µop so many places back. */
static inline uint32_t place_back(const struct lanes_decoder *decoder, struct lanes_ring ring,
                                  uint32_t at, uint32_t places) {
    return back(decoder, ring, at, graph_places_back(&decoder->places, places), ring.rows);
}

static inline void decode_bandwidth(const struct lanes_decoder *decoder,
                                    const struct lanes_layout *layout, const struct common *common,
                                    struct lanes_step *step) {
    const struct graph_machine *machine = &decoder->machine;
    step->fetch_weight = (uint16_t)common->fetch_weight;
    step->fetch_from = common->fetch_weight
                           ? lanes_behind(layout->fetch, layout->at.fetch, common->fetch_distance)
                           : (uint32_t)LANES_NEVER_ROW;
    if (__builtin_expect(decoder->number >= decoder->bandwidth && !decoder->places.last, 1))
        return;
    step->at.room_from =
        place_back(decoder, layout->dispatch, layout->at.dispatch, machine->fetch_room);
    step->at.dispatch_from =
        place_back(decoder, layout->dispatch, layout->at.dispatch, machine->dispatch_width);
    step->at.width_from =
        place_back(decoder, layout->commit, layout->at.commit, machine->commit_width);
}

static inline void decode_dispatch(const struct lanes_decoder *decoder,
                                   const struct lanes_layout *layout, const struct common *common,
                                   struct lanes_step *step, struct lanes_extra *extra) {
    uint32_t nearest = layout->ideal ? common->serial : common->entry;
    nearest = smaller(nearest, less_one(graph_places_back(&decoder->places, layout->window)));
    step->commit_from = nearest < decoder->number
                            ? lanes_behind(layout->commit, layout->at.commit, nearest + 1)
                            : (uint32_t)LANES_NEVER_ROW;
    if (layout->ideal || !common->uop->queue_entry)
        return;
    step->flags |= STEP_DISPATCH;
    extra->queue_entry = execute_back(decoder, layout, common->uop->queue_entry);
}

/* The row of the write so many writes ago. */
static inline uint32_t write_back(const struct lanes_decoder *decoder, struct lanes_ring ring,
                                  uint32_t ago) {
    return ago <= decoder->writes ? lanes_row(ring, decoder->writes - ago)
                                  : (uint32_t)LANES_NEVER_ROW;
}

static bool frees_entry(const struct lanes_decoder *decoder, const struct graph_uop *uop) {
    return uop->store_entry && uop->store_entry <= decoder->number;
}

static void decode_write(struct lanes_decoder *decoder, const struct lanes_layout *layout,
                         const struct graph_uop *uop, struct lanes_step *step,
                         struct lanes_extra *extra) {
    const struct graph_machine *machine = &decoder->machine;
    uint32_t window = layout->ideal ? layout->window : 0;
    uint32_t set = categories_of(decoder->categories, GRAPH_PART_WRITE, uop->insn);
    step->flags |= STEP_WRITE;
    extra->committed = store_commit(decoder, layout, uop->store_entry);
    extra->written_before = write_back(decoder, layout->written, 1);
    extra->drain_from = write_back(decoder, layout->written, machine->store_drain);
    extra->at_written = lanes_row(layout->written, decoder->writes);
    extra->write_weight = lanes_weight(&decoder->weights, set, uop->write_wait, 1);
    extra->left_before = write_back(decoder, layout->left, 1);
    extra->at_left = lanes_row(layout->left, decoder->writes);
    if (!layout->ideal || graph_more_entries(machine, window) == 0) {
        step->flags |= STEP_ENTRY;
        extra->entry_free = extra->at_left;
    } else if (decoder->writes % GRAPH_ENTRY_GROUP == 0) {
        uint32_t group = decoder->writes / GRAPH_ENTRY_GROUP;
        uint32_t ago = graph_more_entries(machine, window) / GRAPH_ENTRY_GROUP;
        step->flags |= STEP_ENTRY | STEP_GROUP_LEFT;
        extra->entry_free =
            ago <= group ? lanes_row(layout->groups_left, group - ago) : LANES_NEVER_ROW;
        extra->at_group_left = lanes_row(layout->groups_left, group);
    }
    extra->mshrs = graph_mshrs(machine, window, uop->level);
    if (mshrs_counts(uop->fill) && extra->mshrs) {
        step->flags |= STEP_WRITE_MISS;
        extra->fill = lanes_weight(&decoder->weights, set, uop->fill, 0);
    }
}

static bool has_store(const struct lanes_decoder *decoder, const struct graph_uop *uop) {
    return uop->store && uop->store <= decoder->number;
}

/* Whether the store that the load overlaps holds only a part of what it reads. */
static bool holds_part(const struct lanes_decoder *decoder, const struct graph_uop *uop) {
    return !(uop->flags & (GRAPH_COVERED | GRAPH_HUNG | GRAPH_WAITS_HEAD)) &&
           has_store(decoder, uop);
}

/* The row of what the wakeup by a source, or by the data of a store, takes beyond a cycle. */
static uint32_t wakeup_weight(struct lanes_decoder *decoder, const struct graph_uop *uop,
                              uint32_t source) {
    return uop->flags & (uint32_t)GRAPH_WAKEUP << source
               ? lanes_weight_of(&decoder->weights, GRAPH_PART_SHORT, uop->insn,
                                 decoder->machine.wakeup_extra)
               : (uint32_t)LANES_NOTHING_ROW;
}

static void decode_producers(struct lanes_decoder *decoder, const struct lanes_layout *layout,
                             const struct graph_uop *uop, struct lanes_step *step,
                             struct lanes_extra *extra) {
    uint32_t plain = 0;
    step->producer[0] = step->producer[1] = LANES_NEVER_ROW;
    extra->producers = 0;
    for (uint32_t i = 0; i < UOP_MAX_SOURCES; i++) {
        uint32_t from = complete_back(decoder, layout, uop->producer[i]);
        if (from == LANES_NEVER_ROW)
            continue;
        uint32_t wakeup = wakeup_weight(decoder, uop, i);
        if (wakeup == LANES_NOTHING_ROW && plain < 2) {
            step->producer[plain++] = from;
            continue;
        }
        step->flags |= STEP_READY;
        extra->wakeup[extra->producers] = wakeup;
        extra->producer[extra->producers++] = from;
    }
}

static void decode_ready(struct lanes_decoder *decoder, const struct lanes_layout *layout,
                         const struct common *common, struct lanes_step *step,
                         struct lanes_extra *extra) {
    const struct graph_uop *uop = common->uop;
    if (common->alone) {
        step->producer[0] = complete_back(decoder, layout, uop->producer[0]);
        step->producer[1] = complete_back(decoder, layout, uop->producer[1]);
        return;
    }
    decode_producers(decoder, layout, uop, step, extra);
    extra->head = extra->store_complete = extra->store_execute = extra->data_execute =
        LANES_NEVER_ROW;
    extra->head_weight = LANES_NOTHING_ROW;
    if (uop->flags & GRAPH_WAITS_HEAD) {
        extra->head = commit_back(decoder, layout, 1);
        if (uop->store_wait)
            extra->head_weight =
                lanes_weight_of(&decoder->weights, GRAPH_PART_WRITE, uop->insn, uop->store_wait);
    } else if (uop->flags & GRAPH_HUNG) {
        extra->store_complete = complete_back(decoder, layout, uop->store);
        extra->store_execute = execute_back(decoder, layout, uop->store);
        extra->data_execute = execute_back(decoder, layout, uop->store_data);
    } else if (holds_part(decoder, uop)) {
        uint32_t weight = lanes_weight(
            &decoder->weights, categories_of(decoder->categories, GRAPH_PART_WRITE, uop->insn),
            uop->store_wait, 1);
        if (categories_of(decoder->categories, GRAPH_PART_FORWARD, uop->insn)) {
            step->flags |= STEP_PART;
            extra->part_weight = weight;
            extra->part_keep = lanes_keep_of(&decoder->weights, GRAPH_PART_FORWARD, uop->insn);
            extra->store_commit = store_commit(decoder, layout, uop->store);
            extra->part_store = execute_back(decoder, layout, uop->store);
            extra->part_data = execute_back(decoder, layout, uop->store_data);
        } else {
            extra->head = store_commit(decoder, layout, uop->store);
            extra->head_weight = weight;
        }
    } else
        return;
    step->flags |= STEP_READY;
}

static void decode_load(struct lanes_decoder *decoder, const struct lanes_layout *layout,
                        const struct graph_uop *uop, struct lanes_step *step,
                        struct lanes_extra *extra) {
    extra->walk = lanes_weight_of(&decoder->weights, GRAPH_PART_WALK, uop->insn, uop->walk);
    extra->miss = extra->fetched_by_weight = extra->fetched_by_keep = LANES_NOTHING_ROW;
    extra->fetched_by = LANES_NEVER_ROW;
    step->flags |= uop->walk ? STEP_BEYOND : 0;
    if (uop->miss || uop->fetched_by) {
        unsigned part = graph_miss_part(uop);
        bool pending = uop->flags & GRAPH_PENDING;
        uint32_t miss = lanes_weight_of(&decoder->weights, part, uop->insn, uop->miss);
        step->flags |= STEP_BEYOND | STEP_MISSED;
        extra->miss = pending ? (uint32_t)LANES_NOTHING_ROW : miss;
        extra->fetched_by_weight = pending ? miss : (uint32_t)LANES_NOTHING_ROW;
        extra->fetched_by = complete_back(decoder, layout, uop->fetched_by);
        if (extra->fetched_by == LANES_NEVER_ROW && pending && uop->fetched_by <= decoder->number) {
            uint32_t ordinal = decoder->ordinal_at[(decoder->number - uop->fetched_by) % FAR];
            if (ordinal && ordinal % 2 == 0 && decoder->misses - (ordinal / 2 - 1) <= LANES_MISSES)
                extra->fetched_by = lanes_row(layout->misses, ordinal / 2 - 1);
        }
        extra->fetched_by_keep = lanes_keep_of(&decoder->weights, part, uop->insn);
        extra->at_miss = lanes_row(layout->misses, decoder->misses);
    }
    if (has_store(decoder, uop) &&
        (uop->flags & (GRAPH_FORWARDED | GRAPH_COVERED) || step->flags & STEP_PART)) {
        step->flags |= STEP_FORWARD | (uop->flags & GRAPH_COVERED ? STEP_COVERED : 0);
        extra->store_commit = store_commit(decoder, layout, uop->store);
        extra->stored = complete_back(decoder, layout, uop->store);
        const uint32_t late = graph_late(&decoder->machine, uop);
        extra->forward = lanes_weight(&decoder->weights,
                                      categories_of(decoder->categories, GRAPH_PART_L1, uop->insn),
                                      graph_forward_latency(&decoder->machine, uop), late);
        extra->write_keep = uop->flags & GRAPH_FORWARDED
                                ? lanes_keep_of(&decoder->weights, GRAPH_PART_WRITE, uop->insn)
                                : (uint32_t)LANES_NOTHING_ROW;
        extra->address = lanes_weight(&decoder->weights, 0, uop->execution - late, 0);
    }
}

/* Waits for MSHRs: as observed, or by counting them. */
static void decode_mshr(struct lanes_decoder *decoder, const struct lanes_layout *layout,
                        const struct graph_uop *uop, struct lanes_step *step,
                        struct lanes_extra *extra) {
    unsigned part = graph_miss_part(uop);
    if (!layout->ideal && uop->mshr_wait) {
        step->flags |= STEP_MSHR;
        extra->mshr = lanes_weight_of(&decoder->weights, part, uop->insn, uop->mshr_wait);
    }
    uint32_t limit = graph_mshrs(&decoder->machine, layout->window, uop->level);
    if (layout->ideal && mshrs_counts(uop->fill) && limit) {
        step->flags |= STEP_MISS;
        extra->fill = lanes_weight_of(&decoder->weights, part, uop->insn, uop->fill);
        extra->mshrs = limit;
    }
}

static void decode_execution(struct lanes_decoder *decoder, const struct lanes_layout *layout,
                             const struct graph_uop *uop, struct lanes_step *step,
                             struct lanes_extra *extra) {
    if (uop->flags & GRAPH_LOAD) {
        decode_mshr(decoder, layout, uop, step, extra);
        decode_load(decoder, layout, uop, step, extra);
        return;
    }
    if (uop->flags & GRAPH_STORE) {
        extra->data = complete_back(decoder, layout, uop->producer[UOP_MAX_SOURCES]);
        const bool woken = uop->flags & (uint32_t)GRAPH_WAKEUP << UOP_MAX_SOURCES;
        extra->data_wakeup =
            uop->data_port
                ? lanes_weight(&decoder->weights,
                               categories_of(decoder->categories, GRAPH_PART_SHORT, uop->insn),
                               woken ? decoder->machine.wakeup_extra : 0, uop->data_port)
                : wakeup_weight(decoder, uop, UOP_MAX_SOURCES);
    }
}

/* The weight of EP, without what a load takes beyond the L1. */
static uint32_t find_execution(struct lanes_decoder *decoder, const struct graph_uop *uop) {
    const struct categories *categories = decoder->categories;
    if (uop->flags & GRAPH_LOAD)
        return lanes_weight(&decoder->weights, categories_of(categories, GRAPH_PART_L1, uop->insn),
                            graph_l1_latency(&decoder->machine, uop), uop->execution);
    if (uop->flags & GRAPH_STORE && uop->walk)
        return lanes_weight(&decoder->weights,
                            categories_of(categories, GRAPH_PART_WALK, uop->insn), uop->walk,
                            uop->execution);
    return lanes_weight(&decoder->weights, categories_of_execution(categories, uop), uop->execution,
                        0);
}

/* The same from a table, since it is nearly always one of a few. */
static uint32_t execution_weight(struct lanes_decoder *decoder, const struct graph_uop *uop) {
    if (decoder->categories->restricted || uop->execution >= FEW ||
        (uop->flags & GRAPH_STORE && uop->walk))
        return find_execution(decoder, uop);
    uint32_t flags = uop->flags;
    uint32_t kind = (flags & (GRAPH_SHORT | GRAPH_SPLIT) ? 1 : 0) + (flags & GRAPH_LONG ? 2 : 0) +
                    (flags & GRAPH_LOAD ? 4 : 0);
    uint32_t *found = &decoder->executions[uop->operation][kind][uop->execution];
    if (!*found)
        *found = find_execution(decoder, uop) + 1;
    return *found - 1;
}

/* The most that the machine's own latencies and slots may add to a cycle in one step. */
enum { OF_MACHINE = LANES_NARROW_STEP / 2 };

bool lanes_machine_is_narrow(const struct graph_machine *machine) {
    const uint32_t latencies[] = {
        machine->frontend_depth,     machine->redirect,        machine->late_bubble,
        machine->taken_bubble,       machine->wakeup_extra,    machine->dispatch_to_issue,
        machine->complete_to_commit, machine->forward_latency, machine->l1_latency,
        machine->load_latency,       machine->split_load,      machine->string_start};
    uint64_t sum = GRAPH_SLOTS + 16;
    for (size_t i = 0; i < sizeof latencies / sizeof *latencies; i++)
        sum += latencies[i];
    return sum <= OF_MACHINE;
}

/* Whether what was observed adds more than the rest of LANES_NARROW_STEP. */
static bool is_large(const struct graph_uop *uop) {
    uint32_t sum = uop->after_commit + uop->fetch_cache + uop->fetch_tlb + uop->unit_wait +
                   uop->mshr_wait + uop->execution + uop->walk + uop->miss + uop->store_wait +
                   uop->write_wait + uop->fill;
    return sum > LANES_NARROW_STEP - OF_MACHINE;
}

enum {
    WAKEUPS = ((1 << UOP_MAX_SOURCES) - 1) * GRAPH_WAKEUP,
    WITH_EXTRA = STEP_FETCH | STEP_DISPATCH | STEP_READY | STEP_MSHR | STEP_STORE | STEP_BEYOND |
                 STEP_FORWARD | STEP_WRITE | STEP_MISS
};

static inline void decode(struct lanes_decoder *decoder, struct lanes_layout *layout,
                          uint32_t index, const struct common *common) {
    const struct graph_uop *uop = common->uop;
    struct lanes_step *step = &layout->steps[index];
    struct lanes_extra *extra = &layout->extras[layout->extra_count];
    step->flags = common->flags;
    step->extra = layout->extra_count;
    step->execution = common->execution;
    step->unit_wait = uop->unit_wait;
    step->at = layout->at;
    decode_bandwidth(decoder, layout, common, step);
    if (common->flags & STEP_FETCH || (uop->fetch_packet && !layout->ideal))
        decode_fetch(decoder, layout, common, step, extra);
    decode_dispatch(decoder, layout, common, step, extra);
    if (frees_entry(decoder, uop))
        decode_write(decoder, layout, uop, step, extra);
    if (common->flags & STEP_STORE)
        extra->at_store = lanes_row(layout->stores, decoder->stores);
    if (!(common->flags & STEP_ELIMINATED)) {
        decode_ready(decoder, layout, common, step, extra);
        if (uop->flags & (GRAPH_LOAD | GRAPH_STORE))
            decode_execution(decoder, layout, uop, step, extra);
    }
    layout->extra_count += (step->flags & WITH_EXTRA) != 0;
    lanes_move_on(layout);
}

/* The edge of fetch bandwidth that counts, with its distance; returns its weight, 0: none. */
static uint32_t fetch_edge(struct lanes_decoder *decoder, const struct graph_uop *uop,
                           uint32_t *distance) {
    int64_t number = (int64_t)decoder->number;
    *distance = 1;
    if (number == 0)
        return 0;
    const uint32_t bubble = decoder->last_flags & GRAPH_TAKEN ? decoder->machine.taken_bubble : 0;
    const uint32_t broke = graph_break(uop);
    if (bubble | broke) {
        decoder->reach = number - 1;
        return bubble > broke ? bubble : broke;
    }
    uint32_t nearest = GRAPH_FAR;
    nearest = smaller(nearest, less_one(uop->fetch_width));
    nearest = smaller(nearest, less_one(uop->fetch_taken)) + 1;
    if (nearest > LANES_FETCHES || number - nearest <= decoder->reach)
        return 0;
    decoder->reach = number - nearest;
    *distance = nearest;
    return 1;
}

static struct common find_common(struct lanes_decoder *decoder, const struct graph_uop *uop) {
    const uint32_t flags = uop->flags;
    const uint32_t fetched_rarely = (decoder->last_flags & (GRAPH_MISPREDICTED | GRAPH_LATE)) |
                                    uop->after_commit | uop->fetch_cache | uop->fetch_tlb;
    struct common common = {.uop = uop, .execution = execution_weight(decoder, uop)};
    common.flags = (is_large(uop) ? STEP_LARGE : 0) | (fetched_rarely ? STEP_FETCH : 0) |
                   (flags & GRAPH_STORE ? STEP_STORE : 0) |
                   (flags & GRAPH_ELIMINATED ? STEP_ELIMINATED : 0) |
                   (decoder->last_flags & (uint32_t)GRAPH_MICROCODED ? STEP_MICROCODE : 0) |
                   (decoder->slots->pools[uop->pool].count ? uop->pool + 1u : 0) << STEP_POOL;
    common.fetch_weight = fetch_edge(decoder, uop, &common.fetch_distance);
    common.serial = less_one(uop->serial);
    common.entry = smaller(smaller(common.serial, less_one(uop->load_entry)),
                           smaller(less_one(uop->int_register), less_one(uop->fp_register)));
    common.alone = !(uop->producer[2] | uop->producer[3] |
                     (flags & (WAKEUPS | GRAPH_WAITS_HEAD | GRAPH_HUNG))) &&
                   (flags & GRAPH_COVERED || !has_store(decoder, uop));
    return common;
}

/* Remembers what the next µop must know of this one. */
static inline void remember(struct lanes_decoder *decoder, const struct graph_uop *uop) {
    bool store = uop->flags & GRAPH_STORE;
    bool missed = uop->flags & GRAPH_LOAD && !(uop->flags & GRAPH_ELIMINATED) &&
                  (uop->miss || uop->fetched_by);
    decoder->writes += frees_entry(decoder, uop);
    decoder->ordinal_at[decoder->number % FAR] = store    ? 2 * ++decoder->stores + 1
                                                 : missed ? 2 * ++decoder->misses
                                                          : 0;
    decoder->last_flags = uop->flags;
    decoder->last_insn = uop->insn;
    decoder->number++;
}

uint32_t lanes_decode(struct lanes_decoder *decoder, struct lanes_layout *const *layouts,
                      uint32_t layout_count, struct lanes_group *groups, uint32_t group_count,
                      const struct graph_uop *uops, uint32_t count) {
    decoder->weights.groups = groups;
    decoder->weights.group_count = group_count;
    if (!lanes_weights_hold(&decoder->weights, WEIGHTS_OF_UOP)) {
        lanes_weights_clear(&decoder->weights);
        memset(decoder->executions, 0, sizeof decoder->executions);
    }
    for (uint32_t i = 0; i < layout_count; i++) {
        layouts[i]->extra_count = 0;
        if (decoder->number == 0)
            lanes_layout_begin(layouts[i], &decoder->machine);
    }
    uint32_t made = 0;
    for (; made < count && made < LANES_CHUNK; made++) {
        if (!lanes_weights_hold(&decoder->weights, WEIGHTS_OF_UOP))
            break;
        graph_places_add(&decoder->places, decoder->number, &uops[made]);
        struct common common = find_common(decoder, &uops[made]);
        for (uint32_t i = 0; i < layout_count; i++)
            decode(decoder, layouts[i], made, &common);
        remember(decoder, &uops[made]);
    }
    return made;
}
