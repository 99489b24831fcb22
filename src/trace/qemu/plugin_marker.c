/* Markers: the n-th execution of an instruction by a thread (PinPoints §3.2).
 *
 * At translation, an instruction that is a marker's site gets a callback of its own, which counts
 * for the current thread and compares with the next count that anyone waits for; all other code
 * costs nothing. What is reached is told by a record, which precedes the chunk that the block's
 * event stands in. Every translation that contains the instruction counts; the elements of a rep
 * instruction, which QEMU runs as blocks of their own, count once. */
#include "trace/qemu/plugin.h"

#include <errno.h>
#include <stdlib.h>

/* Of one site in one thread. */
struct tally {
    uint64_t count, next; /* UINT64_MAX: nobody waits */
    uint32_t target;      /* of `next` */
};

static THREAD_LOCAL struct tally *tallies; /* by site; NULL: not yet */

/* ---- what the current thread waits for ---- */

/* The first of a thread's targets. */
static uint32_t first_target(uint32_t thread) {
    const struct ring_target *targets = ring_targets(plugin.control);
    uint32_t low = 0, high = plugin.control->target_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (targets[middle].thread < thread)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct tally *make_tallies(unsigned vcpu) {
    const struct ring_target *targets = ring_targets(plugin.control);
    uint32_t thread, sites = plugin.control->site_count;
    struct tally *made = calloc(sites, sizeof *made);
    if (!made)
        return NULL;
    for (uint32_t i = 0; i < sites; i++)
        made[i].next = UINT64_MAX;
    if (!thread_number(vcpu, &thread))
        return made;
    for (uint32_t i = first_target(thread);
         i < plugin.control->target_count && targets[i].thread == thread; i++)
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
                next->thread == reached->thread && next->site == reached->site;
    tally->next = more ? next->count : UINT64_MAX;
    tally->target++;
}

/* ---- callbacks ---- */

/* userdata: the site in 63:32, instructions from this one to the end of its block in 31:0 */
static void *place_of(uint32_t site, size_t behind) {
    return (void *)(uintptr_t)((uint64_t)site << 32 | behind);
}

static __attribute__((noinline)) void tell(unsigned vcpu, struct tally *tally, uint64_t behind) {
    int saved = errno;
    struct ring_reached reached = {.record.kind = RING_REACHED,
                                   .target = tally->target,
                                   .position = thread_position() - behind};
    if (thread_number(vcpu, &reached.thread))
        process_put(&reached.record, sizeof reached, NULL, 0);
    await_next(tally);
    errno = saved;
}

static void on_marker(unsigned vcpu, void *userdata) {
    uint64_t place = (uintptr_t)userdata;
    if (__builtin_expect(!tallies, 0) && !(tallies = make_tallies(vcpu)))
        return;
    struct tally *tally = &tallies[place >> 32];
    if (__builtin_expect(++tally->count == tally->next, 0))
        tell(vcpu, tally, (uint32_t)place);
}

static void on_rep_marker(unsigned vcpu, void *userdata) {
    if (!thread_rep_continues())
        on_marker(vcpu, userdata);
}

void marker_forget(void) {
    free(tallies);
    tallies = NULL;
}

/* ---- translation ---- */

/* The first site at or behind an offset of an image. */
static uint32_t first_site(uint32_t image, uint64_t offset) {
    const struct ring_site *sites = ring_sites(plugin.control);
    uint32_t low = 0, high = plugin.control->site_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (sites[middle].image < image ||
            (sites[middle].image == image && sites[middle].offset < offset))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void marker_instrument(struct qemu_plugin_tb *tb) {
    const struct ring_site *sites = ring_sites(plugin.control);
    const uint32_t site_count = plugin.control->site_count;
    uint64_t offset;
    if (!site_count)
        return;
    uint32_t image = code_marked(tb, &offset), count = code_insn_count(tb);
    if (image == RING_UNMARKED)
        return;
    bool rep = code_rep(tb) != 0;
    uint32_t site = first_site(image, offset);
    for (uint32_t i = 0; i < count && site < site_count && sites[site].image == image; i++) {
        struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
        uint64_t at = offset + (qemu_plugin_insn_vaddr(insn) - qemu_plugin_tb_vaddr(tb));
        while (site < site_count && sites[site].image == image && sites[site].offset < at)
            site++;
        if (site < site_count && sites[site].image == image && sites[site].offset == at)
            qemu_plugin_register_vcpu_insn_exec_cb(
                insn, rep && i == count - 1 ? on_rep_marker : on_marker, QEMU_PLUGIN_CB_NO_REGS,
                place_of(site, count - i));
    }
}
