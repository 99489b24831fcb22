/* The chip against a naive one that steps through every cycle of every core and knows neither runs
 * of plain turns nor cores that rest: the same counts for random programs on random chips. */
#include "unit/chip_fixture.h"

#include "branch/branch.h"
#include "memory/frame.h"

/* ---- the naive chip ---- */

enum { MAX_LINES = 4096 };

/* Keys in the order of their last use, the latest first, of each set. */
struct naive_cache {
    uint64_t keys[MAX_LINES];
    uint32_t sets, ways, shift;
};

static struct naive_cache naive_cache(uint64_t size, uint32_t ways, uint32_t line) {
    return (struct naive_cache){.sets = (uint32_t)(size / ways / line),
                                .ways = ways,
                                .shift = (uint32_t)__builtin_ctz(line)};
}

/* Whether it was there; now it is. 0 is no key. */
static bool use(struct naive_cache *cache, uint64_t address) {
    uint64_t key = (address >> cache->shift) + 1;
    uint64_t *set = cache->keys + (address >> cache->shift) % cache->sets * cache->ways;
    uint32_t at = 0;
    while (at < cache->ways - 1 && set[at] != key)
        at++;
    bool found = set[at] == key;
    memmove(set + 1, set, at * sizeof *set);
    set[0] = key;
    return found;
}

struct naive_thread {
    const struct program_fixture *program;
    uint32_t space, insn, line_of_insn, access, line_of_access; /* what it is at */
    uint64_t ready, look; /* cycles of its issue, and of its next look-up */
    uint64_t last_line;
    bool has_line; /* all lines of its instruction */
    bool walked;   /* the translation that it needs next is known */
    bool done;
    struct branch_predictor *predictor;
    struct chip_thread_statistics now, first;
};

struct naive_core {
    struct naive_cache l1i, l1d, itlb, dtlb;
    struct naive_thread thread[4];
    uint32_t last;
};

struct naive {
    const struct machine *machine;
    struct naive_core core[4];
    struct naive_cache l2;
    uint64_t bank[8];
};

/* When the line is at the core, asked for in this cycle. */
static uint64_t naive_l2(struct naive *naive, uint64_t physical, uint64_t cycle, bool *hit) {
    const struct machine *machine = naive->machine;
    uint64_t *bank = &naive->bank[physical / machine->l2.line % machine->chip.l2_banks];
    uint64_t from = cycle > *bank ? cycle : *bank;
    *bank = from + machine->chip.bank_interval;
    *hit = use(&naive->l2, physical);
    return from + machine->l2.latency + (*hit ? 0 : machine->dram.latency);
}

/* A translation is waited for once, even if other threads evict it meanwhile; it is then not put
 * into the TLB again. */
static bool naive_translates(struct naive_cache *tlb, struct naive_thread *thread, uint64_t line) {
    uint64_t key = line * 16 + ((uint64_t)thread->space << 52);
    if (thread->walked) {
        thread->walked = false;
        struct naive_cache before = *tlb;
        if (!use(tlb, key))
            *tlb = before;
        return true;
    }
    thread->walked = !use(tlb, key);
    return !thread->walked;
}

static void add(struct chip_thread_statistics *now, enum suspension cause, uint64_t cycles) {
    now->events[cause] += cycles > 0;
    now->cycles_in[cause] += cycles;
}

static const struct static_insn *insn_of(const struct naive_thread *thread) {
    return &thread->program->insns[thread->program->dynamic[thread->insn].insn];
}

/* The thread's look-ups of this cycle: of each line of its instruction but where it is the one
 * looked up last. */
static void naive_fetch(struct naive *naive, struct naive_core *core, struct naive_thread *thread,
                        uint64_t cycle) {
    const struct machine *machine = naive->machine;
    while (!thread->has_line && thread->look == cycle) {
        uint64_t line = insn_of(thread)->address / 16 + thread->line_of_insn;
        if (line > (insn_of(thread)->address + insn_of(thread)->length - 1) / 16) {
            thread->has_line = true;
            return;
        }
        thread->line_of_insn++;
        if (line == thread->last_line)
            continue;
        if (!naive_translates(&core->itlb, thread, line)) {
            thread->line_of_insn--;
            thread->look += machine->page_walk;
            thread->ready = thread->look + 1;
            add(&thread->now, SUSPENDED_TRANSLATION, machine->page_walk);
            return;
        }
        uint64_t physical = frame_address(thread->space, line * 16, 12);
        thread->last_line = line;
        if (use(&core->l1i, physical))
            continue;
        bool hit;
        thread->ready = naive_l2(naive, physical, cycle, &hit);
        thread->look = thread->ready - 1;
        add(&thread->now, SUSPENDED_FETCH, thread->ready - cycle - 1);
        thread->now.l1i_misses++;
        thread->now.l2_fetch_misses += !hit;
    }
}

/* Of the instruction's end: why and until when its thread waits. */
static uint32_t penalty_of(struct naive *naive, struct naive_thread *thread,
                           enum suspension *cause) {
    const struct program_fixture *program = thread->program;
    const struct machine *machine = naive->machine;
    const struct static_insn *insn = insn_of(thread);
    bool taken = program->dynamic[thread->insn].flags & DYN_TAKEN;
    uint32_t wait = machine->classes[program->uops[insn->first_uop].operation].latency - 1;
    *cause = SUSPENDED_LONG;
    if (insn->flags & INSN_SYSCALL) {
        *cause = SUSPENDED_SYSTEM;
        return machine->core.syscall_cycles + machine->core.frontend_depth - 1;
    }
    if (insn->branch == BRANCH_NONE || thread->insn + 1 == program->dynamic_count)
        return wait;
    *cause = SUSPENDED_BRANCH;
    uint64_t next = program->insns[program->dynamic[thread->insn + 1].insn].address;
    switch (branch_predict(thread->predictor, insn->address, (enum branch_kind)insn->branch,
                           insn->length, taken, next)) {
    case PREDICTED_WRONG:
        return machine->core.redirect + machine->core.frontend_depth;
    case PREDICTED_LATE:
        return machine->branch.btb_miss_penalty;
    default:
        return taken ? machine->branch.taken_bubble : 0;
    }
}

static void naive_next(struct naive_thread *thread) {
    thread->now.instructions++;
    thread->line_of_insn = thread->access = thread->line_of_access = 0;
    thread->has_line = false;
    if (++thread->insn < thread->program->dynamic_count)
        return;
    thread->insn = 0;
    thread->last_line = UINT64_MAX - 1;
    if (!thread->done)
        thread->first = thread->now;
    thread->done = true;
}

static void naive_issue(struct naive *naive, struct naive_core *core, struct naive_thread *thread,
                        uint64_t cycle) {
    const struct machine *machine = naive->machine;
    const struct dynamic_insn *dynamic = &thread->program->dynamic[thread->insn];
    uint64_t there = cycle + 1;
    enum suspension cause = SUSPENDED_LONG;
    thread->now.turns++;
    thread->now.cycles = cycle;
    bool ends = dynamic->memory_count == 0;
    if (!ends) {
        const struct memory_access *access =
            &thread->program->accesses[dynamic->memory + thread->access];
        uint64_t line = access->address / 16 + thread->line_of_access;
        if (!naive_translates(&core->dtlb, thread, line)) {
            thread->ready = cycle + machine->page_walk;
            add(&thread->now, SUSPENDED_TRANSLATION, machine->page_walk - 1);
            return;
        }
        uint64_t physical = frame_address(thread->space, line * 16, 12);
        thread->now.accesses++;
        if (!use(&core->l1d, physical)) {
            bool hit;
            there = naive_l2(naive, physical, cycle, &hit);
            cause = hit ? SUSPENDED_L2_HIT : SUSPENDED_L2_MISS;
            thread->now.l1d_misses++;
            thread->now.l2_misses += !hit;
        } else if (!access->is_store) {
            there = cycle + machine->l1d.latency;
        }
        thread->line_of_access++;
        if (line == (access->address + access->size_bytes - 1) / 16) {
            thread->line_of_access = 0;
            ends = ++thread->access == dynamic->memory_count;
        }
    }
    if (ends) {
        enum suspension other;
        uint32_t wait = penalty_of(naive, thread, &other);
        if (cycle + 1 + wait > there) {
            there = cycle + 1 + wait;
            cause = other;
        }
    }
    add(&thread->now, cause, there - cycle - 1);
    thread->ready = there;
    if (ends) {
        naive_next(thread);
        thread->look = there - 1;
    }
}

static void naive_cycle(struct naive *naive, uint64_t cycle) {
    uint32_t threads = naive->machine->chip.threads;
    for (uint32_t c = 0; c < naive->machine->chip.cores; c++) {
        struct naive_core *core = &naive->core[c];
        for (uint32_t i = 1; i <= threads; i++) {
            uint32_t t = (core->last + i) % threads;
            struct naive_thread *thread = &core->thread[t];
            if (!thread->program || !thread->has_line || thread->ready > cycle)
                continue;
            naive_issue(naive, core, thread, cycle);
            core->last = t;
            break;
        }
        for (uint32_t t = 0; t < threads; t++)
            if (core->thread[t].program)
                naive_fetch(naive, core, &core->thread[t], cycle);
    }
}

static struct naive *naive_new(const struct machine *machine, const struct chip_feeder *feeder) {
    struct naive *naive = calloc(1, sizeof *naive);
    struct error error;
    assert_non_null(naive);
    naive->machine = machine;
    naive->l2 = naive_cache(machine->l2.size, machine->l2.ways, machine->l2.line);
    for (uint32_t c = 0; c < machine->chip.cores; c++) {
        struct naive_core *core = &naive->core[c];
        core->l1i = naive_cache(machine->l1i.size, machine->l1i.ways, 16);
        core->l1d = naive_cache(machine->l1d.size, machine->l1d.ways, 16);
        core->itlb = naive_cache(machine->itlb.entries * 4096ull, machine->itlb.entries, 4096);
        core->dtlb = naive_cache(machine->dtlb.entries * 4096ull, machine->dtlb.entries, 4096);
        core->last = machine->chip.threads - 1;
        for (uint32_t t = 0; t < machine->chip.threads; t++) {
            struct naive_thread *thread = &core->thread[t];
            thread->space = c * machine->chip.threads + t;
            thread->program = feeder->programs[thread->space];
            thread->ready = 1;
            thread->last_line = UINT64_MAX - 1;
            thread->predictor = branch_new(&machine->branch, &error);
            assert_non_null(thread->predictor);
        }
    }
    return naive;
}

static void naive_free(struct naive *naive) {
    for (uint32_t c = 0; c < naive->machine->chip.cores; c++)
        for (uint32_t t = 0; t < naive->machine->chip.threads; t++)
            branch_free(naive->core[c].thread[t].predictor);
    free(naive);
}

/* ---- random programs ---- */

static uint64_t random_state;
static uint32_t random_below(uint32_t below) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (uint32_t)(random_state >> 20) % below;
}

static void random_insn(struct program_fixture *program) {
    uint32_t kind = random_below(20);
    if (random_below(10) == 0)
        program->address += random_below(8) * 2;
    if (kind < 8)
        alu(program, 1, 2, 0);
    else if (kind < 9)
        operation(program, random_below(2) ? OP_INT_MUL : OP_INT_DIV, 1, 2);
    else if (kind < 14)
        load(program, 1, 2);
    else if (kind < 17)
        store(program, 1, 2);
    else if (kind < 19)
        branch(program, BRANCH_CONDITIONAL, 1);
    else
        with_flags(program, operation(program, OP_SYSTEM, 0, 0),
                   random_below(8) ? 0 : INSN_SYSCALL);
}

static struct program_fixture *random_program(void) {
    struct program_fixture *program = program_fixture_new();
    uint32_t insns = 4 + random_below(200), length = 1 + random_below(3000), at = 0;
    uint32_t bytes = 64u << random_below(10);
    for (uint32_t i = 0; i < insns; i++)
        random_insn(program);
    for (uint32_t i = 0; i < length; i++) {
        uint8_t operation = program->uops[program->insns[at].first_uop].operation;
        if (operation == OP_LOAD || operation == OP_STORE)
            execute_at(program, at, 0x100000 + random_below(bytes), 1 + random_below(20));
        else
            execute(program, at);
        bool jump = program->insns[at].branch && random_below(2);
        if (jump)
            program->dynamic[i].flags |= DYN_TAKEN;
        at = jump ? random_below(insns) : at + 1 < insns ? at + 1 : 0;
    }
    return program;
}

static struct machine random_machine(void) {
    struct machine machine = little_chip(1 + random_below(4), 1 + random_below(4));
    machine.chip.l2_banks = 1u << random_below(4);
    machine.chip.bank_interval = 1 + random_below(4);
    machine.l1i.size = 64u << random_below(5);
    machine.l1d.size = 64u << random_below(5);
    machine.l2.size = 1024u << random_below(6);
    machine.l1d.latency = 1 + random_below(3);
    machine.l2.latency = 4 + random_below(8);
    machine.dram.latency = 1 + random_below(60);
    machine.itlb.entries = 1 + random_below(4);
    machine.dtlb.entries = 1 + random_below(8);
    machine.branch = (struct machine_branch){.direction = DIRECTION_BIMODAL,
                                             .bimodal_entries = 64,
                                             .btb_entries = 16,
                                             .btb_ways = 2,
                                             .ras_entries = 4,
                                             .btb_miss_penalty = 2,
                                             .taken_bubble = 1};
    return machine;
}

static void assert_same(const struct naive_thread *thread, const struct chip_feeder *feeder,
                        uint32_t round) {
    struct chip_thread_statistics all = all_of(feeder, thread->space);
    struct chip_thread_statistics first = first_of(feeder, thread->space);
    const struct chip_thread_statistics *naive_first = thread->done ? &thread->first : &thread->now;
    if (memcmp(&all, &thread->now, sizeof all) || memcmp(&first, naive_first, sizeof first)) {
        const uint64_t *got = (const uint64_t *)&all, *right = (const uint64_t *)&thread->now;
        for (size_t i = 0; i < sizeof all / sizeof *got; i++)
            printf("%zu: %lu, naive %lu\n", i, got[i], right[i]);
        fail_msg("round %u, thread %u", round, thread->space);
    }
}

static void random_chips(void **state) {
    (void)state;
    for (uint32_t round = 0; round < 60; round++) {
        random_state = 0x9e3779b97f4a7c15ull + round;
        struct machine machine = random_machine();
        uint32_t threads = machine.chip.cores * machine.chip.threads;
        struct chip_feeder feeder = {.batch = 1 + random_below(2000)};
        for (uint32_t i = 0; i < threads; i++)
            if (random_below(8) || i == 0)
                feeder.programs[i] = random_program();
        struct naive *naive = naive_new(&machine, &feeder);
        feeder_begin(&feeder, &machine);
        uint64_t cycle = 0;
        for (uint32_t leg = 0; leg < 5; leg++) {
            uint64_t until = cycle + random_below(8000);
            run_to(&feeder, until);
            for (; cycle <= until; cycle++)
                naive_cycle(naive, cycle);
            for (uint32_t i = 0; i < threads; i++)
                if (feeder.programs[i])
                    assert_same(
                        &naive->core[i / machine.chip.threads].thread[i % machine.chip.threads],
                        &feeder, round);
        }
        naive_free(naive);
        feeder_end(&feeder);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_chips)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
