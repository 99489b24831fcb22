/* Contents from time stamps (memory/stamps.h). Each line is read once, in the order in which lines
 * were accessed last. A set then holds the lines that were used last in it, in their order of use,
 * as a cache with LRU replacement holds them after the accesses themselves; so do TLBs, whose pages
 * were used last when the last of their lines was. Beyond the first level this is what the level
 * would hold had it seen every access: it does not know that a line which always hit further in was
 * last used here long ago.
 *
 * A line that was ever stored to is dirty. Prefetchers learn, and fetch what the program may not
 * have accessed.
 *
 * Where others use the last level too (memory/retention.h), it matters how often a line came there
 * and when. How often is known; the accesses are taken to lie as far from each other as the last
 * one does from the beginning, divided by their number, and before the stretch, where it is not
 * known, too. Lines that are not of the stretch grow no older by that time: for those that others
 * took would have come ones that nobody knows, and the level would be too empty. */
#include "memory/hierarchy.h"

/* A first access and, in cycle `last`, a last one, which its translation is for. */
static void read_line(struct memory *memory, const struct stamped_line *line, uint64_t first,
                      uint64_t last) {
    const bool code = line->kind == STAMPED_CODE;
    const struct request request = {.cycle = first,
                                    .address = line->address,
                                    .sequence = UINT64_MAX,
                                    .insn = NO_INSN,
                                    .data = !code,
                                    .store = line->kind == STAMPED_STORE,
                                    .functional = true};
    struct answer answer;
    bool missed;
    if (request.store && memory->clears_pages)
        page_set_add(&memory->stored, line->address >> memory->page_shift);
    if (code && memory->ideal & MEMORY_IDEAL_FETCH)
        return;
    translate(memory, code ? &memory->itlb : &memory->dtlb, last, line->address, true, &missed);
    level_read(memory, code ? &memory->l1i : &memory->l1d, &request, &answer);
}

/* The accesses after the first one, of which the last comes in cycle `last`. */
static void come_again(struct memory *memory, uint64_t address, uint64_t count, uint64_t apart,
                       uint64_t last) {
    const size_t index = cache_find(&memory->llc, address);
    if (index == CACHE_NONE)
        return;
    retention_again(&memory->llc.retention, index, count, apart, last);
    cache_note_change(&memory->llc, index);
}

/* So do the page tables' entries for the line: where they are in the levels before, reading them
 * for its last access does not come to the last level. */
static void use_again(struct memory *memory, const struct stamped_line *line, uint64_t count,
                      uint64_t apart, uint64_t last) {
    uint64_t entries[WALK_ENTRIES];
    const uint32_t read = walk_entries(memory, line->address, entries);
    come_again(memory, line->address, count, apart, last);
    for (uint32_t i = 0; i < read; i++)
        come_again(memory, entries[i], count, apart, last);
}

void memory_rebuild(struct memory *memory, const struct stamped_line *lines, size_t count,
                    struct stamped_stretch stretch) {
    const double events = (double)(stretch.events ? stretch.events : 1);
    const double cycles = (double)stretch.cycles / events;
    const uint64_t begin = memory->now;
    for (size_t i = 0; i < count; i++) {
        const uint64_t last = (uint64_t)((double)lines[i].time * cycles);
        uint64_t apart = last, more = 0;
        if (memory->llc.retention.seen) {
            apart = last / (lines[i].again + 1u);
            more = lines[i].again + stretch.before / (apart ? apart : 1);
        }
        read_line(memory, &lines[i], begin + apart, begin + last);
        if (more)
            use_again(memory, &lines[i], more, apart, begin + last);
    }
    memory_pass(memory, stretch.cycles);
}
