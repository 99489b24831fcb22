/* Translation of an address: first-level TLB, second level, page walk.
 *
 * A walk takes page_walk cycles by itself. With tlb.walk_level it then reads the page's entry of
 * the last table through the caches from that level on, as loads do, so that its latency is that of
 * the level which has the entry. Eight entries share a line of 64 bytes: neighbouring pages share
 * their reads. The entry of the directory above, which covers 512 pages, is read before it unless
 * the page-directory cache has it. Higher tables are taken to be known: an entry there covers 1
 * GiB. Tables are contiguous by page number, at addresses that no program has.
 *
 * With tlb.host_tables the program runs in a virtual machine, and what its tables name are frames
 * that a host translates too, by entries of 4 KiB: the walk then reads the host's directory and
 * table for the page's frame (nested paging; Bhargava et al. 2008). Frames are scattered
 * over GUEST_FRAMES, as those of a machine that has run for a while: neighbouring pages share no
 * line of the host's table. Translations of the guest's own tables are taken to be known. A TLB's
 * entry is then of 4 KiB, also where the program's pages are larger: these save entries of its own
 * tables, and their frames are in a row, so that the host's share lines. */
#include "memory/frame.h"
#include "memory/hierarchy.h"

/* Where tables of last entries are, and how far above them their directories. */
#define TABLE_ADDRESS      (UINT64_C(1) << 63)
#define HOST_TABLE_ADDRESS (UINT64_C(5) << 61)
#define DIRECTORY_OFFSET   (UINT64_C(1) << 62)
enum {
    ENTRY_BYTES = 8,
    TABLE_SHIFT = 9,        /* 512 entries in a table */
    GUEST_FRAMES = 1 << 22, /* of 4 KiB: 16 GiB */
    FRAME_SHIFT = __builtin_ctz(MACHINE_HOST_PAGE)
};

bool walker_new(struct memory *memory, const struct machine *machine, struct error *error) {
    struct walker *walker = &memory->walker;
    const struct machine_tlb directory = {.entries = machine->directory_entries};
    walker->cycles = machine->page_walk;
    walker->entry_bytes = machine_entry_bytes(machine);
    bus_set(&walker->starts, machine->walk_interval, 1);
    walker->ahead =
        machine->walkers ? (machine->walkers - 1) * (uint64_t)machine->walk_interval : 0;
    if (!holds_new(&walker->busy, machine->walkers))
        return error_set(error, "out of memory for %u page walkers", machine->walkers);
    if (!machine->walk_level)
        return true;
    walker->reads = machine->walk_level == 2 && machine->l2.present ? &memory->l2 : &memory->l1d;
    walker->host_tables = machine->host_tables;
    return tlb_new(&walker->directory, &directory, machine->page_size << TABLE_SHIFT,
                   "page-directory cache", error) &&
           tlb_new(&walker->host_directory, &directory, 1u << (FRAME_SHIFT + TABLE_SHIFT),
                   "page-directory cache", error);
}

void walker_free(struct walker *walker) {
    holds_free(&walker->busy);
    tlb_free(&walker->directory);
    tlb_free(&walker->host_directory);
}

/* Keeps a translation that was asked for in `cycle`. */
static void keep(struct tlb *tlb, uint64_t address, uint64_t cycle, uint64_t ready,
                 bool functional) {
    tlb_insert(tlb, address, functional ? 0 : cycle, functional ? 0 : ready);
}

/* The cycle at which an entry of a table is there. */
static uint64_t read_entry(struct memory *memory, uint64_t cycle, uint64_t table, uint64_t number,
                           bool functional) {
    const struct request request = {.asked = cycle,
                                    .cycle = cycle,
                                    .address = table + number * ENTRY_BYTES,
                                    .sequence = UINT64_MAX,
                                    .insn = NO_INSN,
                                    .data = true,
                                    .unseen = true,
                                    .functional = functional};
    struct answer answer;
    level_read(memory, memory->walker.reads, &request, &answer);
    return answer.ready;
}

/* The cycle at which the last entry for an address is there: `number` of `table`, of which 512 make
 * a page, whose entry is in the directory above unless its cache has it. */
static uint64_t read_table(struct memory *memory, struct tlb *directory, uint64_t cycle,
                           uint64_t address, uint64_t table, uint64_t number, bool functional) {
    if (directory->items) {
        const uint32_t entry = tlb_use(directory, address);
        uint64_t ready;
        if (entry != TLB_NONE) {
            ready = tlb_ready(directory, entry, cycle);
        } else {
            ready = read_entry(memory, cycle, table + DIRECTORY_OFFSET, number >> TABLE_SHIFT,
                               functional);
            keep(directory, address, cycle, ready, functional);
        }
        cycle = ready > cycle ? ready : cycle;
    }
    return read_entry(memory, cycle, table, number, functional);
}

/* The frame, for the host, that holds an address. */
static uint64_t host_frame(const struct memory *memory, uint64_t address) {
    const uint64_t page = frame_address(0, address, (uint32_t)__builtin_ctz(memory->page_size));
    return (page >> FRAME_SHIFT) % GUEST_FRAMES;
}

static uint32_t add_entries(uint64_t *entries, uint64_t table, uint64_t number) {
    entries[0] = table + number * ENTRY_BYTES;
    entries[1] = table + DIRECTORY_OFFSET + (number >> TABLE_SHIFT) * ENTRY_BYTES;
    return 2;
}

uint32_t walk_entries(const struct memory *memory, uint64_t address,
                      uint64_t entries[WALK_ENTRIES]) {
    uint32_t count = 0;
    if (memory->walker.reads)
        count += add_entries(entries, TABLE_ADDRESS, address / memory->page_size);
    if (memory->walker.host_tables)
        count += add_entries(entries + count, HOST_TABLE_ADDRESS, host_frame(memory, address));
    return count;
}

/* The cycle at which the walk's reads, which begin at `cycle`, have ended. */
static uint64_t read_tables(struct memory *memory, uint64_t cycle, uint64_t address,
                            bool functional) {
    struct walker *walker = &memory->walker;
    cycle = read_table(memory, &walker->directory, cycle, address, TABLE_ADDRESS,
                       address / memory->page_size, functional);
    if (!walker->host_tables)
        return cycle;
    const uint64_t frame = host_frame(memory, address);
    return read_table(memory, &walker->host_directory, cycle, frame << FRAME_SHIFT,
                      HOST_TABLE_ADDRESS, frame, functional);
}

void memory_warm_tables(struct memory *memory, uint64_t address, uint64_t bytes) {
    const uint64_t entry = memory->walker.entry_bytes;
    if (!memory->walker.reads)
        return;
    for (uint64_t at = address & ~(entry - 1); at < address + bytes; at += entry)
        read_tables(memory, memory->now, at, true);
}

/* The cycle at which a walk that is asked for at `cycle` begins: when a walker is free and, with an
 * interval, when those that began before have had theirs, but for as many as there are walkers:
 * these begin at once (the virtual scheduling of a leaky bucket). */
static uint64_t begin_walk(struct walker *walker, uint64_t cycle) {
    const uint64_t free = holds_first_free(&walker->busy, cycle);
    uint64_t turn;
    if (!bus_cycles(&walker->starts.line))
        return free;
    bus_transfer(&walker->starts, &walker->starts.line, cycle, free, &turn);
    return turn > free + walker->ahead ? turn - walker->ahead : free;
}

/* The cycle at which a walk that is asked for at `cycle` ends. */
static uint64_t walk(struct memory *memory, uint64_t cycle, uint64_t address, bool functional) {
    struct walker *walker = &memory->walker;
    const uint64_t begin = functional ? cycle : begin_walk(walker, cycle);
    uint64_t ready = begin + walker->cycles;
    if (walker->reads)
        ready = read_tables(memory, ready, address, functional);
    if (functional)
        return ready;
    holds_take(&walker->busy, begin, ready, memory->now);
    memory->page_walks++;
    return ready;
}

/* The cycle at which a translation that the first level does not have is known. */
static uint64_t second_level(struct memory *memory, uint64_t cycle, uint64_t address,
                             bool functional) {
    struct tlb *tlb = &memory->l2tlb;
    const uint64_t looked_up = cycle + tlb->latency;
    if (tlb->entries == 0)
        return memory->second_tlb ? looked_up : walk(memory, cycle, address, functional);
    const uint32_t entry = tlb_use(tlb, address);
    if (entry != TLB_NONE) {
        const uint64_t ready = tlb_ready(tlb, entry, cycle);
        return ready > looked_up ? ready : looked_up;
    }
    const uint64_t ready = walk(memory, looked_up, address, functional);
    keep(tlb, address, cycle, ready, functional);
    return ready;
}

/* As translate() says; a miss and its wait are counted if the program asked. */
static inline uint32_t look_up(struct memory *memory, struct tlb *tlb, uint64_t cycle,
                               uint64_t address, bool functional, bool counted, bool *missed) {
    *missed = false;
    if (tlb_quick_hit(tlb, address, cycle))
        return 0;
    const uint32_t entry = tlb_use(tlb, address);
    uint64_t ready;
    if (entry != TLB_NONE) {
        ready = tlb_ready(tlb, entry, cycle);
        if (ready <= cycle)
            return 0;
    } else {
        tlb->misses += counted;
        ready = second_level(memory, cycle, address, functional);
        keep(tlb, address, cycle, ready, functional);
    }
    const uint32_t wait = ready > cycle ? (uint32_t)(ready - cycle) : 0;
    *missed = true;
    tlb->wait_cycles += counted ? wait : 0;
    return wait;
}

uint32_t translate(struct memory *memory, struct tlb *tlb, uint64_t cycle, uint64_t address,
                   bool functional, bool *missed) {
    return look_up(memory, tlb, cycle, address, functional, !functional, missed);
}

uint32_t translate_ahead(struct memory *memory, uint64_t cycle, uint64_t address, bool functional) {
    bool missed;
    return look_up(memory, &memory->dtlb, cycle, address, functional, false, &missed);
}
