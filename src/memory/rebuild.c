/* Contents from time stamps (memory/stamps.h). Each line is read once, in the order in which lines
 * were accessed last. A set then holds the lines that were used last in it, in their order of use,
 * as a cache with LRU replacement holds them after the accesses themselves; so do TLBs, whose pages
 * were used last when the last of their lines was. Beyond the first level this is what the level
 * would hold had it seen every access: it does not know that a line which always hit further in was
 * last used here long ago.
 *
 * A line that was ever stored to is dirty. Prefetchers neither learn nor fetch: of what they
 * fetched the program has accessed what it needed. */
#include "memory/hierarchy.h"

static void read_line(struct memory *memory, const struct stamped_line *line) {
    const bool code = line->kind == STAMPED_CODE;
    const struct request request = {.cycle = memory->now,
                                    .address = line->address,
                                    .sequence = UINT64_MAX,
                                    .insn = NO_INSN,
                                    .data = !code,
                                    .store = line->kind == STAMPED_STORE,
                                    .functional = true};
    struct answer answer;
    bool missed;
    if (request.store && memory->clears_pages)
        page_set_add(&memory->stored, line->address / memory->page_size);
    if (code && memory->ideal & MEMORY_IDEAL_FETCH)
        return;
    translate(memory, code ? &memory->itlb : &memory->dtlb, memory->now, line->address, true,
              &missed);
    level_read(memory, code ? &memory->l1i : &memory->l1d, &request, &answer);
}

void memory_rebuild(struct memory *memory, const struct stamped_line *lines, size_t count,
                    struct stamped_stretch stretch) {
    const double cycles = (double)stretch.cycles / (double)(stretch.events ? stretch.events : 1);
    uint64_t passed = 0;
    for (size_t i = 0; i < count; i++) {
        const uint64_t cycle = (uint64_t)((double)lines[i].time * cycles);
        memory_pass(memory, cycle - passed);
        passed = cycle;
        read_line(memory, &lines[i]);
    }
    memory_pass(memory, stretch.cycles - passed);
}
