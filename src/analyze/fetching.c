/* A line or page, once fetched, stays until something else may have evicted it: a callee, the
 * kernel, or code of the procedure that maps to the same set. So on each path from these, and from
 * the entry, its first fetch may miss, and no later one. */
#include <stdlib.h>

#include "analyze/feeding.h"
#include "analyze/spread.h"

/* Lines times blocks and calls. Beyond it, each line counts as evicted at each block. */
enum { MOST_WORK = 1 << 24 };
/* Images are loaded at multiples of this, not of larger pages. */
enum { LOAD_ALIGNMENT = 4096 };

struct fetching {
    const struct cfg *cfg;
    struct feeding *feeding;
    struct spread spread;
    enum feed_kind kind;
    uint32_t size;        /* of a line or page, in bytes */
    uint64_t base;        /* number of the procedure's first */
    uint32_t count;       /* of them */
    uint32_t sets, ways;  /* of the cache or TLB */
    uint32_t ahead;       /* lines that are fetched behind one that misses */
    uint32_t *at;         /* by block: its first instruction that reaches beyond all lines so far */
    uint32_t *calls;      /* instructions behind which other code has run, by block */
    uint32_t *first_call; /* by block, and one more */
    bool failed;
};

static void feed(struct fetching *fetching, uint32_t insn, uint32_t maker) {
    fetching->failed |= !feeding_add(fetching->feeding, insn, fetching->kind, maker);
}

static bool runs_other_code(const struct insn *insn) {
    return insn_calls(insn) || insn->flags & INSN_SYSCALL;
}

static uint32_t first_line(const struct fetching *fetching, uint32_t insn) {
    uint64_t address = fetching->cfg->code->address + fetching->cfg->insns[insn].offset;
    return (uint32_t)(address / fetching->size - fetching->base);
}

static uint32_t last_line(const struct fetching *fetching, uint32_t insn) {
    uint64_t address = fetching->cfg->code->address + fetching->cfg->insns[insn].offset +
                       fetching->cfg->insns[insn].insn.length - 1;
    return (uint32_t)(address / fetching->size - fetching->base);
}

static uint32_t block_end(const struct cfg *cfg, uint32_t block) {
    return cfg->blocks[block].first_insn + cfg->blocks[block].insn_count;
}

/* ---- one line ---- */

/* A block that lies in the line as well: after a call within it, the next fetch may miss. */
static void pass_through(struct fetching *fetching, uint32_t block, uint32_t line) {
    uint32_t first = fetching->at[block], behind = first + 1;
    while (behind < block_end(fetching->cfg, block) && first_line(fetching, behind) <= line)
        behind++;
    for (uint32_t i = fetching->first_call[block]; i < fetching->first_call[block + 1]; i++) {
        uint32_t call = fetching->calls[i];
        if (call < first)
            feed(fetching, first, call);
        else if (call + 1 < behind)
            feed(fetching, call + 1, call);
        else
            spread_leave(&fetching->spread, block, call);
    }
}

static bool lies_in(const struct fetching *fetching, uint32_t block, uint32_t line) {
    uint32_t at = fetching->at[block];
    return at < block_end(fetching->cfg, block) && first_line(fetching, at) <= line;
}

/* Whether the procedure has more lines than fit into the line's set. */
static bool crowded(const struct fetching *fetching) {
    return fetching->count + fetching->ahead > (uint64_t)fetching->sets * fetching->ways;
}

/* Whether the block lies in another line that maps to the same set, or misses in it fetch one that
 * does. */
static bool evicts(const struct fetching *fetching, uint32_t block, uint32_t line) {
    uint32_t first = first_line(fetching, fetching->cfg->blocks[block].first_insn);
    uint32_t last = last_line(fetching, block_end(fetching->cfg, block) - 1) + fetching->ahead;
    uint32_t sets = fetching->sets;
    uint32_t other = first + (line % sets + sets - first % sets) % sets;
    return (other == line ? other + sets : other) <= last;
}

/* A block that does not lie in the line. */
static void pass_by(struct fetching *fetching, uint32_t block) {
    for (uint32_t i = fetching->first_call[block]; i < fetching->first_call[block + 1]; i++)
        spread_leave(&fetching->spread, block, fetching->calls[i]);
}

static void find_line(struct fetching *fetching, uint32_t line) {
    const struct cfg *cfg = fetching->cfg;
    struct spread *spread = &fetching->spread;
    bool crowd = crowded(fetching);
    spread_begin(spread);
    for (uint32_t block = 0; block < cfg->block_count; block++)
        spread->stops[block] = lies_in(fetching, block, line);
    for (uint32_t i = cfg->edge_count - cfg->outer_count; i < cfg->edge_count; i++)
        if (cfg->edges[i].to != CFG_NONE)
            spread_enter(spread, cfg->edges[i].to, FEED_CALLER);
    for (uint32_t block = 0; block < cfg->block_count; block++) {
        if (spread->stops[block])
            pass_through(fetching, block, line);
        else
            pass_by(fetching, block);
        if (crowd && evicts(fetching, block, line))
            spread_leave(spread, block, cfg->blocks[block].first_insn);
    }
    spread_run(spread);
    for (uint32_t block = 0; block < cfg->block_count; block++) {
        if (!spread->stops[block])
            continue;
        uint32_t *at = &fetching->at[block];
        for (uint32_t i = 0; i < spread->in[block].count; i++)
            feed(fetching, *at, spread->in[block].maker[i]);
        while (*at < block_end(cfg, block) && last_line(fetching, *at) <= line)
            ++*at;
    }
}

/* ---- all of them ---- */

/* Every fetch of another line may miss, and so may the first of a block. */
static void take_all_for_lost(struct fetching *fetching) {
    const struct cfg *cfg = fetching->cfg;
    for (uint32_t i = 0; i < cfg->insn_count; i++)
        if (i == cfg->blocks[cfg->insns[i].block].first_insn ||
            last_line(fetching, i) != last_line(fetching, i - 1) ||
            runs_other_code(&cfg->insns[i - 1].insn))
            feed(fetching, i, FEED_SEVERAL);
}

/* Lists the calls. Returns how many there are. */
static uint32_t find_calls(struct fetching *fetching) {
    const struct cfg *cfg = fetching->cfg;
    uint32_t count = 0;
    for (uint32_t block = 0; block < cfg->block_count; block++) {
        fetching->at[block] = cfg->blocks[block].first_insn;
        fetching->first_call[block] = count;
        for (uint32_t i = cfg->blocks[block].first_insn; i < block_end(cfg, block); i++)
            if (runs_other_code(&cfg->insns[i].insn))
                fetching->calls[count++] = i;
    }
    fetching->first_call[cfg->block_count] = count;
    return count;
}

static void find_all(struct fetching *fetching) {
    uint64_t places = (uint64_t)fetching->cfg->block_count + find_calls(fetching);
    if (places * fetching->count > MOST_WORK) {
        take_all_for_lost(fetching);
        return;
    }
    for (uint32_t line = 0; line < fetching->count && !fetching->failed; line++)
        find_line(fetching, line);
}

static bool find(struct fetching *fetching) {
    const struct cfg *cfg = fetching->cfg;
    fetching->base = cfg->code->address / fetching->size;
    fetching->count =
        (uint32_t)((cfg->code->address + cfg->code->size - 1) / fetching->size - fetching->base) +
        1;
    fetching->at = calloc(cfg->block_count, sizeof *fetching->at);
    fetching->calls = calloc(cfg->insn_count, sizeof *fetching->calls);
    fetching->first_call = calloc((size_t)cfg->block_count + 1, sizeof *fetching->first_call);
    bool good = spread_new(&fetching->spread, cfg) && fetching->at && fetching->calls &&
                fetching->first_call;
    if (good)
        find_all(fetching);
    spread_free(&fetching->spread);
    free(fetching->at);
    free(fetching->calls);
    free(fetching->first_call);
    return good && !fetching->failed;
}

static uint32_t lines_ahead(const struct machine_cache *cache) {
    const uint32_t first = cache->prefetcher == PREFETCH_NONE ? 0 : cache->prefetch_degree;
    const uint32_t second = cache->second_prefetcher == PREFETCH_NONE ? 0 : cache->second_degree;
    const uint32_t most = first > second ? first : second;
    return most ? most : cache->third_prefetcher != PREFETCH_NONE;
}

/* Without LRU replacement, only one line of a set is certain to stay. */
static bool find_lines(struct feeding *feeding, const struct cfg *cfg,
                       const struct machine_cache *cache) {
    struct fetching fetching = {
        .cfg = cfg,
        .feeding = feeding,
        .kind = FEED_LINE,
        .size = cache->line,
        .sets = (uint32_t)(cache->size / cache->ways / cache->line),
        .ways = cache->replacement == REPLACE_LRU ? cache->ways : 1,
        .ahead = lines_ahead(cache),
    };
    return find(&fetching);
}

static bool find_pages(struct feeding *feeding, const struct cfg *cfg,
                       const struct machine *machine) {
    uint32_t ways = machine->itlb.ways ? machine->itlb.ways : machine->itlb.entries;
    struct fetching fetching = {
        .cfg = cfg,
        .feeding = feeding,
        .kind = FEED_PAGE,
        .size = machine->page_size < LOAD_ALIGNMENT ? machine->page_size : LOAD_ALIGNMENT,
        .sets = machine->itlb.entries / ways,
        .ways = ways,
    };
    return find(&fetching);
}

bool feeding_find_fetches(struct feeding *feeding, const struct cfg *cfg,
                          const struct machine *machine) {
    return (!machine->l1i.present || find_lines(feeding, cfg, &machine->l1i)) &&
           (machine->itlb.entries == 0 || find_pages(feeding, cfg, machine));
}
