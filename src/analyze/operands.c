/* Two walks. The first takes each block by itself: what its instructions wait for within it, which
 * registers they name first (and so wait for what is pending at its beginning), and what is pending
 * at its end. Then, for each register, who made it flows along the edges through blocks that do not
 * name it; sets are small and only grow, so each edge is passed a few times at most. The second
 * walk counts what is pending at each instruction. */
#include "analyze/feeding.h"

#include <string.h>

#include "analyze/effect.h"
#include "util/array.h"
#include "util/order.h"

/* A register or unit and a block: the instruction that names it first in the block, or the maker of
 * what is pending at its end. */
struct passage {
    uint32_t resource, block, insn;
};
struct passages {
    struct passage *items;
    size_t count, capacity;
};

struct finder {
    const struct cfg *cfg;
    const struct machine *machine;
    struct feeding *feeding;
    struct conventions conventions;
    resource_set busy_pools;
    bool failed; /* out of memory */

    struct makers pending[RESOURCES]; /* within the block, where `is_pending` */
    resource_set is_pending;
    resource_set *named; /* by block: what was pending before it is not behind it */
    struct passages first_named, made;

    struct spread spread;
    resource_set *owed; /* at its beginning, by loads of the procedure: all registers */
};

static bool is_unit(uint32_t resource) {
    return resource >= RESOURCE_POOL;
}

/* ---- what is found ---- */

static void feed(struct finder *finder, uint32_t insn, enum feed_kind kind, uint32_t maker) {
    finder->failed |= !feeding_add(finder->feeding, insn, kind, maker);
}

static void feed_all(struct finder *finder, uint32_t insn, enum feed_kind kind,
                     const struct makers *makers) {
    for (uint32_t i = 0; i < makers->count; i++)
        feed(finder, insn, kind, makers->maker[i]);
}

static void pass(struct finder *finder, struct passages *passages, uint32_t resource,
                 uint32_t block, uint32_t insn) {
    if (!array_room(passages->items, passages->capacity, passages->count + 1)) {
        finder->failed = true;
        return;
    }
    passages->items[passages->count++] = (struct passage){resource, block, insn};
}

/* ---- a block by itself ---- */

static void make(struct finder *finder, resource_set set, uint32_t maker) {
    for (; set; set &= set - 1) {
        unsigned resource = resource_lowest(set);
        if (!(finder->is_pending & RESOURCE(resource)))
            finder->pending[resource].count = 0;
        makers_add(&finder->pending[resource], maker);
        finder->is_pending |= RESOURCE(resource);
    }
}

/* Marks pending registers as available. */
static void settle(struct finder *finder, uint32_t block, resource_set set) {
    finder->named[block] |= set;
    finder->is_pending &= ~set;
}

static resource_set scratch(const struct conventions *conventions) {
    return (RESOURCE(REG_COUNT) - 1) & ~(conventions->kept | conventions->never);
}

/* The callee may or may not have restored what it keeps: what was pending still may be. */
static void make_by_callee(struct finder *finder, uint32_t block, uint32_t call) {
    const struct conventions *conventions = &finder->conventions;
    settle(finder, block, scratch(conventions));
    make(finder, conventions->results | conventions->kept | finder->busy_pools, call);
}

/* Units that the procedure itself holds busy are in the static schedule. */
static void wait_within(struct finder *finder, uint32_t block, uint32_t insn, resource_set waits) {
    for (resource_set set = waits; set; set &= set - 1) {
        unsigned resource = resource_lowest(set);
        if (!(finder->named[block] & RESOURCE(resource)))
            pass(finder, &finder->first_named, resource, block, insn);
        if (finder->is_pending & RESOURCE(resource))
            feed_all(finder, insn, is_unit(resource) ? FEED_UNIT : FEED_LOAD,
                     &finder->pending[resource]);
    }
    settle(finder, block, waits);
}

static void walk_block(struct finder *finder, uint32_t block) {
    const struct cfg_block *it = &finder->cfg->blocks[block];
    finder->is_pending = 0;
    for (uint32_t i = it->first_insn; i < it->first_insn + it->insn_count; i++) {
        const struct insn *insn = &finder->cfg->insns[i].insn;
        struct effect effect = effect_of(insn, finder->machine, finder->busy_pools);
        wait_within(finder, block, i, effect.waits);
        if (insn->flags & INSN_SERIALISING)
            settle(finder, block, RESOURCE(REG_COUNT) - 1);
        if (effect.self)
            feed(finder, i, FEED_LOAD, i);
        make(finder, effect.loads, i);
        if (insn_calls(insn))
            make_by_callee(finder, block, i);
    }
    for (resource_set set = finder->is_pending; set; set &= set - 1) {
        unsigned resource = resource_lowest(set);
        const struct makers *makers = &finder->pending[resource];
        for (uint32_t i = 0; i < makers->count; i++)
            pass(finder, &finder->made, resource, block, makers->maker[i]);
    }
}

/* ---- along the edges, one register at a time ---- */

/* What the conventions tell of callers. Of an unknown caller nothing is known. */
static resource_set from_outside(const struct finder *finder, enum cfg_edge_kind kind) {
    const struct conventions *conventions = &finder->conventions;
    resource_set registers = kind == EDGE_ENTRY
                                 ? conventions->arguments | conventions->kept
                                 : (RESOURCE(REG_TEMPORARY) - 1) & ~conventions->never;
    return registers | finder->busy_pools;
}

static void enter(struct finder *finder, uint32_t resource) {
    const struct cfg *cfg = finder->cfg;
    for (uint32_t i = cfg->edge_count - cfg->outer_count; i < cfg->edge_count; i++) {
        const struct cfg_edge *edge = &cfg->edges[i];
        if (edge->to != CFG_NONE && from_outside(finder, edge->kind) & RESOURCE(resource))
            spread_enter(&finder->spread, edge->to, FEED_CALLER);
    }
}

static bool owed_by_load(const struct cfg *cfg, const struct makers *makers) {
    for (uint32_t i = 0; i < makers->count; i++) {
        uint32_t maker = makers->maker[i];
        if (maker == FEED_SEVERAL ||
            (maker < cfg->insn_count && !insn_calls(&cfg->insns[maker].insn)))
            return true;
    }
    return false;
}

struct range {
    size_t begin, end;
};

/* The passages of a register, in a list sorted by register; the range begins where the last one
 * ended. */
static struct range of_resource(const struct passages *passages, size_t begin, uint32_t resource) {
    struct range range = {begin, begin};
    while (range.end < passages->count && passages->items[range.end].resource == resource)
        range.end++;
    return range;
}

static void flow(struct finder *finder, uint32_t resource, struct range made, struct range named) {
    const struct cfg *cfg = finder->cfg;
    struct spread *spread = &finder->spread;
    spread_begin(spread);
    for (uint32_t i = 0; i < cfg->block_count; i++)
        spread->stops[i] = (finder->named[i] & RESOURCE(resource)) != 0;
    enter(finder, resource);
    for (size_t i = made.begin; i < made.end; i++)
        spread_leave(spread, finder->made.items[i].block, finder->made.items[i].insn);
    spread_run(spread);
    for (size_t i = named.begin; i < named.end; i++) {
        const struct passage *it = &finder->first_named.items[i];
        feed_all(finder, it->insn, is_unit(resource) ? FEED_UNIT : FEED_LOAD,
                 &spread->in[it->block]);
    }
    if (is_unit(resource))
        return;
    for (uint32_t i = 0; i < cfg->block_count; i++)
        if (owed_by_load(cfg, &spread->in[i]))
            finder->owed[i] |= RESOURCE(resource);
}

ORDER(compare_passages, struct passage, ascending(a->resource, b->resource))

static void sort_passages(struct passages *passages) {
    if (passages->count)
        qsort(passages->items, passages->count, sizeof *passages->items, compare_passages);
}

static void flow_all(struct finder *finder) {
    struct range made = {0, 0}, named = {0, 0};
    sort_passages(&finder->made);
    sort_passages(&finder->first_named);
    for (uint32_t resource = 0; resource < RESOURCES && !finder->failed; resource++) {
        made = of_resource(&finder->made, made.end, resource);
        named = of_resource(&finder->first_named, named.end, resource);
        if (made.begin < made.end || named.begin < named.end)
            flow(finder, resource, made, named);
    }
}

/* ---- how much is pending ---- */

/* Whether it prefetches: any number of prefetches may be on their way, as nobody waits for them. */
static bool prefetches(const struct cfg *cfg) {
    return any_where(i, cfg->insn_count, cfg->insns[i].insn.flags & INSN_PREFETCH);
}

static void count_outstanding(struct finder *finder) {
    const struct cfg *cfg = finder->cfg;
    if (prefetches(cfg)) {
        memset(finder->feeding->outstanding, UINT8_MAX, cfg->insn_count);
        return;
    }
    for (uint32_t block = 0; block < cfg->block_count; block++) {
        const struct cfg_block *it = &cfg->blocks[block];
        resource_set owed = finder->owed[block];
        for (uint32_t i = it->first_insn; i < it->first_insn + it->insn_count; i++) {
            const struct insn *insn = &cfg->insns[i].insn;
            struct effect effect = effect_of(insn, finder->machine, finder->busy_pools);
            owed &= insn->flags & INSN_SERIALISING ? 0 : ~effect.waits;
            finder->feeding->outstanding[i] = (uint8_t)resource_count(owed);
            owed |= effect.loads;
            if (insn_calls(insn))
                owed &= ~scratch(&finder->conventions);
        }
    }
}

/* ---- the whole ---- */

static bool find(struct finder *finder) {
    const struct cfg *cfg = finder->cfg;
    finder->named = calloc(cfg->block_count, sizeof *finder->named);
    finder->owed = calloc(cfg->block_count, sizeof *finder->owed);
    if (!spread_new(&finder->spread, cfg) || !finder->named || !finder->owed)
        return false;
    for (uint32_t block = 0; block < cfg->block_count && !finder->failed; block++)
        walk_block(finder, block);
    flow_all(finder);
    count_outstanding(finder);
    return !finder->failed;
}

bool feeding_find_operands(struct feeding *feeding, const struct cfg *cfg,
                           const struct machine *machine) {
    struct finder *finder = calloc(1, sizeof *finder);
    if (!finder)
        return false;
    finder->cfg = cfg;
    finder->machine = machine;
    finder->feeding = feeding;
    finder->conventions = conventions_of(cfg->code->isa);
    finder->busy_pools = machine_busy_pools(machine);
    bool good = find(finder);
    spread_free(&finder->spread);
    free(finder->named);
    free(finder->owed);
    free(finder->first_named.items);
    free(finder->made.items);
    free(finder);
    return good;
}
