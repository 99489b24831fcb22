/* A register depends on a counter if the instruction that read it wrote the register, or one that
 * read such a register; what goes by way of memory is not followed. */
#include "simulate/lock_counters.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "util/array.h"
#include "util/hash_index.h"

enum {
    COUNTERS = 1 << 16, /* at most, that are remembered */
    WRITERS = 8,        /* of one: those that wrote last */
    BRANCHES = 6,       /* likewise, of which it is remembered how they went */
    PUTS = 1 << 16,     /* of one, that have not been taken */
    ALL_PUTS = 1 << 20, /* of all */
    FEW_INSNS = 8,      /* between a counter's first read and its write */
    OWN_PUTS = 8,       /* the first of them, among which a thread looks for its own */
    NO_COUNTER = UINT32_MAX,
    NO_OUTCOME = UINT32_MAX
};

/* A write, and the section that it was in. */
struct place {
    uint64_t written; /* instructions of the thread up to and with it */
    uint32_t thread, section;
    bool counts; /* it depends on what was read there before */
};

struct counter {
    uint64_t address;
    uint32_t writer_count, branch_count;
    struct place writers[WRITERS];
    struct branch {
        uint32_t insn;    /* that reads */
        uint32_t outcome; /* static instruction behind the branch; NO_OUTCOME: none yet */
        bool waited;
    } branches[BRANCHES];
    bool uncounted; /* takings have not been as many as puts, or it was set */
    struct place *puts;
    size_t put_first, put_count, put_capacity; /* those before the first are taken */
};

struct lock_counters {
    const struct code *code;
    unsigned __int128 *touched; /* by static instruction: the registers that it reads or writes */
    bool *is_system;            /* by image: is_of_system() */
    struct counter *counters;
    size_t count, capacity;
    struct hash_index index;
    size_t puts; /* of all */
    bool failed;
};

/* ---- sections ---- */

void lock_section_begin(struct lock_section *section, uint32_t number, uint64_t begin) {
    section->number = number;
    section->begin = begin;
    section->source_count = section->look_count = 0;
    section->sets = (struct look_sets){.uncounted = 0};
    section->held = 0;
}

void lock_section_bind(struct lock_section *section, uint32_t writer, uint64_t written) {
    for (uint32_t i = 0; i < section->source_count; i++)
        if (section->sources[i].writer == writer) {
            if (section->sources[i].written < written)
                section->sources[i].written = written;
            return;
        }
    if (section->source_count < SECTION_SOURCES)
        section->sources[section->source_count++] =
            (struct trace_order){.reader = section->begin, .writer = writer, .written = written};
}

bool lock_section_knows(const struct lock_section *section, uint32_t writer, uint64_t written) {
    const uint32_t count =
        section->known_count < SECTION_SOURCES ? section->known_count : SECTION_SOURCES;
    return any_where(i, count,
                     section->known[i].writer == writer && section->known[i].written >= written);
}

void lock_section_end(struct lock_section *section) {
    section->number = 0;
    for (uint32_t i = 0; i < section->source_count; i++) {
        const struct trace_order *source = &section->sources[i];
        uint32_t at =
            section->known_count < SECTION_SOURCES ? section->known_count : SECTION_SOURCES;
        at = (uint32_t)index_where(n, at, section->known[n].writer == source->writer);
        if (at == section->known_count || at == SECTION_SOURCES)
            at = section->known_count++ % SECTION_SOURCES;
        section->known[at] = *source;
    }
}

static bool may_bind(const struct lock_section *section, const struct place *place) {
    return lock_section_may_bind(section, place->thread, place->section);
}

static look_set set_of(uint32_t number) {
    return (look_set)(1U << number);
}

static_assert(SECTION_LOOKS <= 8 * sizeof(look_set), "a bit for each look");

/* ---- counters ---- */

/* 0: no register. */
static unsigned __int128 bit_of(uint8_t reg) {
    return reg < REG_COUNT ? (unsigned __int128)1 << reg : 0;
}

/* Of the C library, or of the dynamic loader, by its name: what they count is their own business,
 * as how much room a buffer has left. */
static bool is_of_system(const struct code_image *image) {
    static const char *const NAMES[] = {"libc.so", "libc-", "libpthread", "ld-"};
    const char *slash = image->path ? strrchr(image->path, '/') : NULL;
    return slash && any_where(i, sizeof NAMES / sizeof *NAMES,
                              !strncmp(slash + 1, NAMES[i], strlen(NAMES[i])));
}

static unsigned __int128 registers_of(const struct code *code, uint32_t insn) {
    const struct static_insn *of = &code->insns[insn];
    unsigned __int128 registers = 0;
    for (uint32_t n = 0; n < of->uop_count; n++) {
        const struct uop *uop = &code->uops[of->first_uop + n];
        for (uint32_t i = 0; i < uop->source_count; i++)
            registers |= bit_of(uop->source[i]);
        for (uint32_t i = 0; i < uop->destination_count; i++)
            registers |= bit_of(uop->destination[i]);
        registers |= uop->operation == OP_STORE ? bit_of(uop->data) : 0;
    }
    return registers;
}

struct lock_counters *lock_counters_new(const struct code *code) {
    struct lock_counters *counters = calloc(1, sizeof *counters);
    if (!counters)
        return NULL;
    counters->code = code;
    counters->is_system = calloc((size_t)code->image_count + 1, sizeof(bool));
    counters->touched = calloc((size_t)code->insn_count + 1, sizeof *counters->touched);
    if (!counters->is_system || !counters->touched) {
        lock_counters_free(counters);
        return NULL;
    }
    for (uint32_t i = 0; i < code->image_count; i++)
        counters->is_system[i] = is_of_system(&code->images[i]);
    for (uint32_t i = 0; i < code->insn_count; i++)
        counters->touched[i] = registers_of(code, i);
    return counters;
}

void lock_counters_free(struct lock_counters *counters) {
    if (!counters)
        return;
    for (size_t i = 0; i < counters->count; i++)
        free(counters->counters[i].puts);
    free(counters->counters);
    free(counters->is_system);
    free(counters->touched);
    hash_index_free(&counters->index);
    free(counters);
}

bool lock_counters_failed(const struct lock_counters *counters) {
    return counters->failed;
}

/* NO_COUNTER: there is none at this address. */
static uint32_t counter_at(const struct lock_counters *counters, uint64_t address) {
    const uint64_t hash = hash_number(address);
    size_t at;
    uint32_t i = hash_index_first(&counters->index, hash, &at);
    while (i != HASH_INDEX_NONE && counters->counters[i].address != address)
        i = hash_index_next(&counters->index, hash, &at);
    return i;
}

/* NO_COUNTER: there is no room. */
static uint32_t add_counter(struct lock_counters *counters, uint64_t address) {
    if (counters->count == COUNTERS || counters->failed)
        return NO_COUNTER;
    if (!hash_index_reserve(&counters->index, counters->count + 1) ||
        !array_push(counters->counters, counters->capacity, counters->count,
                    (struct counter){.address = address})) {
        counters->failed = true;
        return NO_COUNTER;
    }
    hash_index_add(&counters->index, hash_number(address), (uint32_t)counters->count - 1);
    return (uint32_t)counters->count - 1;
}

/* What was read by this instruction: how the branch behind it went. In place of another, if it is
 * new. */
static struct branch *branch_of(struct counter *counter, uint32_t insn) {
    const uint32_t count = counter->branch_count < BRANCHES ? counter->branch_count : BRANCHES;
    for (uint32_t i = 0; i < count; i++)
        if (counter->branches[i].insn == insn)
            return &counter->branches[i];
    struct branch *branch = &counter->branches[counter->branch_count++ % BRANCHES];
    *branch = (struct branch){.insn = insn, .outcome = NO_OUTCOME};
    return branch;
}

/* Its last write is remembered of each thread: of too many, not of who wrote least lately. */
static void note_writer(struct counter *counter, struct place place) {
    uint32_t i = 0;
    while (i < counter->writer_count && counter->writers[i].thread != place.thread)
        i++;
    if (i == WRITERS)
        i = 0;
    else if (i == counter->writer_count)
        counter->writer_count++;
    memmove(counter->writers + i, counter->writers + i + 1,
            (counter->writer_count - 1 - i) * sizeof *counter->writers);
    counter->writers[counter->writer_count - 1] = place;
}

/* ---- what is put and taken ---- */

static void count_no_more(struct lock_counters *counters, struct counter *counter) {
    counters->puts -= counter->put_count - counter->put_first;
    free(counter->puts);
    counter->puts = NULL;
    counter->put_first = counter->put_count = counter->put_capacity = 0;
    counter->uncounted = true;
}

static void put(struct lock_counters *counters, struct counter *counter, struct place place) {
    if (counter->uncounted)
        return;
    const size_t left = counter->put_count - counter->put_first;
    if (counter->put_first > left) {
        memmove(counter->puts, counter->puts + counter->put_first, left * sizeof *counter->puts);
        counter->put_first = 0;
        counter->put_count = left;
    }
    if (left == PUTS || counters->puts == ALL_PUTS) {
        count_no_more(counters, counter);
    } else if (!array_push(counter->puts, counter->put_capacity, counter->put_count, place)) {
        counters->failed = true;
        count_no_more(counters, counter);
    } else {
        counters->puts++;
    }
}

/* What the thread has put there itself, rather than what another has. */
static void take(struct lock_counters *counters, struct lock_section *section,
                 struct counter *counter) {
    struct place *puts = counter->puts + counter->put_first;
    const size_t left = counter->put_count - counter->put_first;
    if (counter->uncounted)
        return;
    if (!left) {
        count_no_more(counters, counter);
        return;
    }
    const size_t own =
        index_where(i, left < OWN_PUTS ? left : OWN_PUTS, puts[i].thread == section->thread);
    const size_t taken = own < left && own < OWN_PUTS ? own : 0;
    if (may_bind(section, &puts[taken]))
        lock_section_bind(section, puts[taken].thread, puts[taken].written);
    puts[taken] = puts[0];
    counter->put_first++;
    counters->puts--;
}

/* ---- instructions of a section ---- */

/* How its branch went is held against the last time. */
static void note_outcome(struct lock_counters *counters, struct counter_look *look) {
    struct branch *branch = branch_of(&counters->counters[look->counter], look->insn);
    look->first = branch->outcome == NO_OUTCOME;
    look->turned = !look->first && branch->outcome != look->outcome;
    look->waited = branch->waited;
    branch->outcome = look->outcome;
}

/* Without the look of a number: those behind it have the number before theirs. */
static look_set close_gap(look_set set, look_set before) {
    return (look_set)((set & before) | (set >> 1 & ~before));
}

static void forget_look(struct lock_section *section, uint32_t number) {
    struct look_sets *sets = &section->sets;
    const look_set before = (look_set)(set_of(number) - 1);
    section->look_count--;
    memmove(section->looks + number, section->looks + number + 1,
            (section->look_count - number) * sizeof *section->looks);
    sets->uncounted = close_gap(sets->uncounted, before);
    sets->fresh = close_gap(sets->fresh, before);
    sets->stores = close_gap(sets->stores, before);
    sets->indexes = close_gap(sets->indexes, before);
    sets->at_branch = close_gap(sets->at_branch, before);
    sets->decided = close_gap(sets->decided, before);
    for (uint32_t i = 0; i < REG_COUNT; i++)
        sets->of[i] = close_gap(sets->of[i], before);
}

/* The branch has gone to this instruction. */
static void decide(struct lock_counters *counters, struct lock_section *section, uint32_t insn) {
    for (uint32_t i = section->look_count; i-- > 0;) {
        struct counter_look *look = &section->looks[i];
        if (!(section->sets.at_branch & set_of(i)))
            continue;
        look->outcome = insn;
        if (look->counter != NO_COUNTER)
            note_outcome(counters, look);
    }
    section->sets.decided |= section->sets.at_branch;
    section->sets.at_branch = 0;
}

void lock_counters_begin(struct lock_counters *counters, struct lock_section *section,
                         uint32_t insn) {
    section->begun++;
    if (section->sets.at_branch)
        decide(counters, section, insn);
    while (section->sets.uncounted) {
        const uint32_t first = (uint32_t)__builtin_ctz(section->sets.uncounted);
        if (section->looks[first].until > section->begun)
            break;
        forget_look(section, first);
    }
}

/* What a jump goes by is no number: it may be the entry of a table that the loader fills in. */
void lock_counters_read(struct lock_counters *counters, struct lock_section *section,
                        uint64_t address, bool known, uint32_t insn) {
    const struct static_insn *code = &counters->code->insns[insn];
    const uint32_t count = section->look_count;
    if (code->branch != BRANCH_NONE || counters->is_system[code->image])
        return;
    struct counter_look look = {.address = address,
                                .counter = known ? counter_at(counters, address) : NO_COUNTER,
                                .until = section->begun + FEW_INSNS,
                                .insn = insn,
                                .outcome = NO_OUTCOME};
    look.own =
        any_where(i, count, section->looks[i].address == address && section->looks[i].written);
    if (count == SECTION_LOOKS)
        forget_look(section,
                    section->sets.uncounted ? (uint32_t)__builtin_ctz(section->sets.uncounted) : 0);
    section->sets.fresh |= set_of(section->look_count);
    if (look.counter == NO_COUNTER)
        section->sets.uncounted |= set_of(section->look_count);
    section->looks[section->look_count++] = look;
}

static look_set looks_of(const struct look_sets *sets, uint8_t reg) {
    return reg < REG_COUNT ? sets->of[reg] : 0;
}

static void compute(struct lock_section *section, const struct uop *uop) {
    struct look_sets *sets = &section->sets;
    look_set depend = uop->operation == OP_LOAD ? sets->fresh : 0;
    for (uint32_t i = 0; i < uop->source_count; i++) {
        const look_set looks = looks_of(sets, uop->source[i]);
        depend |= looks;
        if (uop->operation == OP_LOAD ||
            (uop->operation == OP_STORE && uop->source[i] != uop->data))
            sets->indexes |= looks;
    }
    if (uop->operation == OP_STORE)
        sets->stores |= looks_of(sets, uop->data);
    for (uint32_t i = 0; i < uop->destination_count; i++) {
        const uint8_t reg = uop->destination[i];
        if (reg >= REG_COUNT)
            continue;
        sets->of[reg] = depend;
        section->held = depend ? section->held | bit_of(reg) : section->held & ~bit_of(reg);
    }
    if (uop->flags & UOP_BRANCH)
        sets->at_branch |= (look_set)(depend & ~sets->decided);
}

void lock_counters_compute(const struct lock_counters *counters, struct lock_section *section,
                           uint32_t insn) {
    struct look_sets *sets = &section->sets;
    sets->stores = 0;
    if (!sets->fresh && !(section->held & counters->touched[insn]))
        return;
    const struct static_insn *code = &counters->code->insns[insn];
    for (uint32_t n = 0; n < code->uop_count; n++)
        compute(section, &counters->code->uops[code->first_uop + n]);
    if (code->branch != BRANCH_CONDITIONAL)
        sets->at_branch = 0;
    sets->fresh = 0;
}

/* What the section has read of the counter since it wrote it last: whether what it writes depends
 * on that, and whether it has branched by it. */
static void note_write(struct lock_section *section, uint32_t counter, bool *depends,
                       bool *branched) {
    *depends = *branched = false;
    for (uint32_t i = 0; i < section->look_count; i++)
        if (section->looks[i].counter == counter) {
            *depends |= (section->sets.stores & set_of(i)) != 0;
            *branched |= section->looks[i].outcome != NO_OUTCOME && !section->looks[i].written;
        }
    for (uint32_t i = 0; i < section->look_count; i++) {
        struct counter_look *look = &section->looks[i];
        if (look->counter != counter || look->written)
            continue;
        look->written = *depends;
        look->taken = *depends && *branched;
    }
}

/* It is a counter from now on, and what the section read of it was that. NO_COUNTER: there is no
 * room. */
static uint32_t begin_counter(struct lock_counters *counters, struct lock_section *section,
                              uint64_t address) {
    const uint32_t counter = add_counter(counters, address);
    for (uint32_t i = 0; i < section->look_count && counter != NO_COUNTER; i++) {
        struct counter_look *look = &section->looks[i];
        if (look->address != address)
            continue;
        section->sets.uncounted &= (look_set)~set_of(i);
        look->counter = counter;
        if (look->outcome != NO_OUTCOME)
            note_outcome(counters, look);
    }
    return counter;
}

void lock_counters_write(struct lock_counters *counters, struct lock_section *section,
                         uint64_t address, bool has_read, uint64_t place) {
    uint32_t number = counter_at(counters, address);
    struct place here = {.written = place, .thread = section->thread, .section = section->number};
    bool depends, branched;
    if (number == NO_COUNTER &&
        (!has_read || (number = begin_counter(counters, section, address)) == NO_COUNTER))
        return;
    note_write(section, number, &depends, &branched);
    here.counts = depends;
    struct counter *counter = &counters->counters[number];
    if (!depends)
        count_no_more(counters, counter);
    else if (branched)
        take(counters, section, counter);
    else
        put(counters, counter, here);
    if (!has_read)
        counter->writer_count = 0;
    note_writer(counter, here);
}

/* ---- its end ---- */

/* To which writes: to none, to those that count, or to all. */
enum bound { BOUND_TO_NONE, BOUND_TO_COUNTS, BOUND_TO_ALL };
static enum bound bound_to(const struct lock_section *section, uint32_t number) {
    const struct counter_look *look = &section->looks[number];
    if (look->taken || look->counter == NO_COUNTER)
        return BOUND_TO_NONE;
    if (look->written || look->own)
        return look->turned ? BOUND_TO_COUNTS : BOUND_TO_NONE;
    if (look->waited || (section->woken && look->outcome != NO_OUTCOME))
        return BOUND_TO_ALL;
    const bool unknown = look->outcome == NO_OUTCOME && !(section->sets.indexes & set_of(number));
    return unknown || look->first || look->turned ? BOUND_TO_COUNTS : BOUND_TO_NONE;
}

/* To who has written what the section read besides, it is bound by that: who takes an item out of a
 * queue waits for that item, not for the last of those that have been counted. */
static void bind_look(struct lock_counters *counters, struct lock_section *section, uint32_t number,
                      uint32_t by_message) {
    const struct counter_look *look = &section->looks[number];
    const enum bound bound = bound_to(section, number);
    if (bound == BOUND_TO_NONE)
        return;
    const struct counter *counter = &counters->counters[look->counter];
    for (uint32_t i = 0; i < counter->writer_count; i++) {
        const struct place *place = &counter->writers[i];
        if ((bound == BOUND_TO_ALL || place->counts) && may_bind(section, place) &&
            !any_where(n, by_message, section->sources[n].writer == place->thread))
            lock_section_bind(section, place->thread, place->written);
    }
}

/* What it branched by before it went to wait is what it waits for. */
static void note_wait(struct lock_counters *counters, const struct lock_section *section) {
    for (uint32_t i = 0; i < section->look_count; i++) {
        const struct counter_look *look = &section->looks[i];
        if (look->counter != NO_COUNTER && look->outcome != NO_OUTCOME && !look->written &&
            !look->own)
            branch_of(&counters->counters[look->counter], look->insn)->waited = true;
    }
}

void lock_counters_end(struct lock_counters *counters, struct lock_section *section, bool waits) {
    const uint32_t by_message = section->source_count;
    for (uint32_t i = 0; i < section->look_count && !waits; i++)
        bind_look(counters, section, i, by_message);
    section->woken = waits;
    if (waits)
        note_wait(counters, section);
}
