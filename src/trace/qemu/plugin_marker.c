/* Markers: the n-th execution of an instruction by a thread (PinPoints §3.1).
 *
 * A block that contains sites of markers gets a callback of its own; all other code costs nothing.
 * A marker that is reached is reported by a record, which precedes the chunk with the block's
 * event. Every translation that contains the instruction counts; the elements of a rep instruction,
 * which QEMU runs as blocks of their own, count once. An instruction counts when its block is
 * entered: an exception before it, in the same block, is not noticed.
 *
 * Markers tend to be in innermost loops. So a thread does not count each site: it gives each block
 * a number of executions after which to look, and counts that down. The executions that are left
 * until the next count of a site that a marker needs are shared among the blocks that contain the
 * site. When a block has used up its share, all blocks are settled and shares are given anew; they
 * become smaller towards the count, which is met exactly. (gzip -9 with five regions: 4.4 s of
 * processor time with a counter for each site, 3.6 s this way.) */
#include "trace/qemu/plugin.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/order.h"

/* Of one site in one thread. */
struct tally {
    uint64_t count, next; /* UINT64_MAX: no marker waits */
    uint32_t target;      /* of `next` */
};

static THREAD_LOCAL struct tally *tallies; /* by site; NULL: not yet */
/* By number of the block; of the first thread they are in the blocks. */
static THREAD_LOCAL struct marker_share *shares;
static THREAD_LOCAL uint32_t share_count;

/* QEMU translates under a lock; blocks are only ever added, in front. */
static struct marked_block *_Atomic blocks;
static uint32_t block_count;
static _Atomic uint32_t *blocks_of; /* how many blocks contain a site */

/* ---- what the current thread waits for ---- */

static bool is_before(const struct ring_target *target, uint32_t thread) {
    return target->process < plugin.known ||
           (target->process == plugin.known && target->thread < thread);
}

static bool is_of(const struct ring_target *target, uint32_t thread) {
    return target->process == plugin.known && target->thread == thread;
}

/* The first of the targets of a thread of this process. */
static uint32_t first_target(uint32_t thread) {
    const struct ring_target *targets = ring_targets(plugin.control);
    return (uint32_t)first_where(i, plugin.control->target_count, !is_before(&targets[i], thread));
}

static struct tally *make_tallies(unsigned vcpu) {
    const struct ring_target *targets = ring_targets(plugin.control);
    uint32_t number, thread = thread_ordinal(vcpu), sites = plugin.control->site_count;
    struct tally *made = calloc(sites, sizeof *made);
    if (!made)
        return NULL;
    for (uint32_t i = 0; i < sites; i++)
        made[i].next = UINT64_MAX;
    if (!thread_number(vcpu, &number))
        return made;
    for (uint32_t i = first_target(thread);
         i < plugin.control->target_count && is_of(&targets[i], thread); i++)
        if (made[targets[i].site].next == UINT64_MAX) {
            made[targets[i].site].next = targets[i].count;
            made[targets[i].site].target = i;
        }
    return made;
}

/* The target after the one just reached, which is of the same site or another's. */
static void await_next(struct tally *tally) {
    const struct ring_target *reached = &ring_targets(plugin.control)[tally->target];
    const struct ring_target *next = reached + 1;
    bool more = tally->target + 1 < plugin.control->target_count &&
                next->process == reached->process && next->thread == reached->thread &&
                next->site == reached->site;
    tally->next = more ? next->count : UINT64_MAX;
    tally->target++;
}

/* ---- counting ---- */

static void tell(unsigned vcpu, struct tally *tally, uint64_t behind) {
    struct ring_reached reached = {.record.kind = RING_REACHED,
                                   .target = tally->target,
                                   .position = thread_position() - behind};
    if (thread_number(vcpu, &reached.thread))
        thread_tell_reached(&reached);
    await_next(tally);
}

static bool is_first(unsigned vcpu) {
    return thread_ordinal(vcpu) == 0;
}

/* NULL: it has none yet. */
static struct marker_share *share_of(struct marked_block *block, bool first) {
    if (first)
        return &block->share;
    return block->number < share_count ? &shares[block->number] : NULL;
}

/* Adds up what the blocks have used of their shares, and ends the shares. */
static void settle(bool first) {
    for (struct marked_block *block = atomic_load(&blocks); block; block = block->next) {
        struct marker_share *share = share_of(block, first);
        if (!share)
            continue;
        for (uint32_t i = 0; i < block->count; i++)
            tallies[block->marks[i].site].count += share->given - share->left;
        *share = (struct marker_share){0};
    }
}

/* Gives shares that together cannot pass a count that a marker waits for. */
static void give_shares(bool first) {
    for (struct marked_block *block = atomic_load(&blocks); block; block = block->next) {
        struct marker_share *given = share_of(block, first);
        uint64_t least = UINT64_MAX;
        for (uint32_t i = 0; i < block->count && given; i++) {
            uint32_t site = block->marks[i].site;
            const struct tally *tally = &tallies[site];
            uint64_t share = (tally->next - tally->count - 1) / atomic_load(&blocks_of[site]);
            least = tally->next != UINT64_MAX && share < least ? share : least;
        }
        if (given)
            *given = (struct marker_share){least, least};
    }
}

static bool prepare(unsigned vcpu, uint32_t number) {
    if (!tallies && !(tallies = make_tallies(vcpu)))
        return false;
    if (is_first(vcpu) || number < share_count)
        return true;
    uint32_t count = 2 * number + 16;
    struct marker_share *grown = realloc(shares, count * sizeof *grown);
    if (!grown)
        return false;
    memset(grown + share_count, 0, (count - share_count) * sizeof *grown);
    shares = grown;
    share_count = count;
    return true;
}

void marker_look(unsigned vcpu, struct marked_block *block) {
    int saved = errno;
    const bool first = is_first(vcpu);
    if (prepare(vcpu, block->number)) {
        settle(first);
        for (uint32_t i = 0; i < block->count; i++) {
            struct tally *tally = &tallies[block->marks[i].site];
            if (++tally->count == tally->next)
                tell(vcpu, tally, block->marks[i].behind);
        }
        give_shares(first);
    }
    errno = saved;
}

void marker_count(unsigned vcpu, struct marked_block *block) {
    if (block->rep.address && thread_rep_continues())
        return;
    if (__builtin_expect(block->number < share_count && shares[block->number].left, 1))
        shares[block->number].left--;
    else if (is_first(vcpu))
        marker_count_first(vcpu, block);
    else
        marker_look(vcpu, block);
}

void marker_thread_ends(uint32_t ordinal, uint32_t number) {
    const struct ring_control *control = plugin.control;
    uint32_t first = control->cut_threads ? first_target(ordinal) : control->target_count;
    struct ring_reached reached = {.record.kind = RING_REACHED,
                                   .target = RING_NO_TARGET,
                                   .thread = number,
                                   .position = thread_position()};
    if (first < control->target_count && is_of(&ring_targets(plugin.control)[first], ordinal))
        thread_tell_reached(&reached);
}

void marker_forget(void) {
    free(tallies);
    free(shares);
    tallies = NULL;
    shares = NULL;
    share_count = 0;
}

void marker_forked(void) {
    marker_forget();
    for (struct marked_block *block = atomic_load(&blocks); block; block = block->next)
        block->share = (struct marker_share){0};
}

/* ---- translation ---- */

/* The first site at or behind an offset of an image. */
static uint32_t first_site(uint32_t image, uint64_t offset) {
    const struct ring_site *sites = ring_sites(plugin.control);
    return (uint32_t)first_where(i, plugin.control->site_count,
                                 sites[i].image > image ||
                                     (sites[i].image == image && sites[i].offset >= offset));
}

static uint32_t find_marks(const struct qemu_plugin_tb *tb, uint32_t insn_count,
                           struct mark *marks) {
    const struct ring_site *sites = ring_sites(plugin.control);
    const uint32_t site_count = plugin.control->site_count;
    uint64_t offset;
    uint32_t image = code_marked(tb, &offset), count = 0;
    if (image == RING_UNMARKED)
        return 0;
    uint32_t site = first_site(image, offset);
    for (uint32_t i = 0; i < insn_count && site < site_count && sites[site].image == image; i++) {
        const struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
        uint64_t at = offset + (qemu_plugin_insn_vaddr(insn) - qemu_plugin_tb_vaddr(tb));
        while (site < site_count && sites[site].image == image && sites[site].offset < at)
            site++;
        if (site < site_count && sites[site].image == image && sites[site].offset == at)
            marks[count++] = (struct mark){site, insn_count - i};
    }
    return count;
}

/* A block translated again is the same as before: QEMU does not report when it forgets one. */
static struct marked_block *keep(const struct marked_block *block, const struct mark *marks) {
    size_t size = block->count * sizeof *marks;
    for (struct marked_block *known = atomic_load(&blocks); known; known = known->next)
        if (known->word == block->word && known->rep.address == block->rep.address &&
            known->count == block->count && memcmp(known->marks, marks, size) == 0)
            return known;
    struct marked_block *kept = malloc(sizeof *kept + size);
    if (!kept)
        return NULL;
    memcpy(kept, block, sizeof *kept);
    memcpy(kept->marks, marks, size);
    kept->number = block_count++;
    kept->next = atomic_load(&blocks);
    for (uint32_t i = 0; i < kept->count; i++)
        atomic_fetch_add(&blocks_of[marks[i].site], 1);
    atomic_store(&blocks, kept);
    return kept;
}

struct marked_block *marker_find(const struct qemu_plugin_tb *tb, const struct block *block) {
    struct mark marks[RING_MAX_BLOCK_INSNS];
    if (!plugin.control->site_count ||
        (!blocks_of && !(blocks_of = calloc(plugin.control->site_count, sizeof *blocks_of))))
        return NULL;
    struct marked_block found = {.word = (uint64_t)block->insn_count << 32 | block->number,
                                 .count = find_marks(tb, block->insn_count, marks)};
    if (block->rep)
        found.rep = *block->rep;
    return found.count ? keep(&found, marks) : NULL;
}
