#include "trace/foreign/waiting_insns.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "isa/described.h"
#include "util/array.h"

enum { PLACES_MAX = 1 << 22, THREADS_MAX = 1 << 16 };

/* The code at an address as it is now. */
struct place {
    uint64_t address;
    uint8_t bytes[INSN_MAX_LENGTH];
    uint8_t length; /* 0: not known */
    uint8_t branch; /* enum branch_kind */
    bool known;     /* its machine code is, and is an instruction of this length */
    bool repeats, syscall;
    int64_t target; /* of a direct branch − address */
};

/* Of an instruction: a scatter has up to 16, and as many masks. More are left out. */
enum { ACCESSES = 40 };

struct access {
    uint64_t address;
    uint32_t size;
    bool store;
};

/* An instruction that waits for its accesses and for what follows. */
struct waiting {
    uint64_t address;
    uint8_t length, branch; /* enum branch_kind, as the trace has it */
    uint32_t access_count,
        element_at; /* accesses of the first element; of the element that goes on */
    uint64_t elements;
    struct access accesses[ACCESSES];
    uint64_t last[ACCESSES]; /* addresses of the last element */
    uint64_t mark;           /* an event that follows it; 0: none */
    bool there;
};

struct thread {
    uint64_t id;
    uint64_t first_insn;
    struct waiting waiting;
};

static struct place *place_of(struct waiting_insns *insns, uint64_t address, struct error *error) {
    const uint64_t hash = hash_number(address);
    size_t at;
    for (uint32_t i = hash_index_first(&insns->place_index, hash, &at); i != HASH_INDEX_NONE;
         i = hash_index_next(&insns->place_index, hash, &at))
        if (insns->places[i].address == address)
            return &insns->places[i];
    if (insns->place_count == PLACES_MAX)
        return error_null(error, "it has code at more than %d addresses: too much", PLACES_MAX);
    if (!hash_index_reserve(&insns->place_index, insns->place_index.count + 1) ||
        !array_push(insns->places, insns->place_capacity, insns->place_count,
                    (struct place){.address = address}))
        return error_null(error, "out of memory for the trace's code");
    hash_index_add(&insns->place_index, hash, insns->place_count - 1);
    return &insns->places[insns->place_count - 1];
}

/* What comes with the instruction that is next, or was told of its address before. */
static bool learn_place(struct waiting_insns *insns, uint64_t address, uint32_t length,
                        struct error *error) {
    struct place *place = place_of(insns, address, error);
    if (!place)
        return false;
    const bool told = insns->encoding_size > 0, fits = insns->encoding_size == length;
    if (told && fits &&
        (place->length != length || memcmp(place->bytes, insns->encoding, length) != 0)) {
        struct insn insn;
        memcpy(place->bytes, insns->encoding, length);
        place->known =
            insn_decode(ISA_X86_64, place->bytes, length, &insn) && insn.length == length;
        if (place->known) {
            place->branch = insn.branch;
            place->target = insn.target;
            place->repeats = insn.flags & INSN_REP;
            place->syscall = insn.flags & INSN_SYSCALL;
        }
    } else if ((told && !fits) || (!told && place->length != length)) {
        place->known = false;
    }
    place->length = (uint8_t)length;
    insns->encoding_size = 0;
    return true;
}

/* ---- threads ---- */

/* Chunks are of one thread: what is open goes out first. */
static bool end_block(struct waiting_insns *insns, struct error *error) {
    return foreign_blocks_end(&insns->blocks, 0, error);
}

static void enter_thread(struct waiting_insns *insns, uint32_t number) {
    if (insns->thread != UINT32_MAX)
        insns->threads[insns->thread].first_insn = insns->blocks.first_insn;
    insns->thread = number;
    insns->blocks.thread = number;
    insns->blocks.first_insn = insns->threads[number].first_insn;
}

static uint32_t thread_number(struct waiting_insns *insns, uint64_t id, struct error *error) {
    const size_t i = index_where(k, insns->thread_count, insns->threads[k].id == id);
    if (i < insns->thread_count)
        return (uint32_t)i;
    if (insns->thread_count == THREADS_MAX)
        return error_set(error, "it has more than %d threads", THREADS_MAX), UINT32_MAX;
    if (!array_push(insns->threads, insns->thread_capacity, insns->thread_count,
                    (struct thread){.id = id}))
        return error_set(error, "out of memory for a thread"), UINT32_MAX;
    return insns->thread_count - 1;
}

/* ---- instructions ---- */

static uint32_t add_pieces(uint64_t *events, uint32_t made, uint32_t room, bool store,
                           uint64_t address, uint32_t size) {
    enum { LOG2_MAX = 7 };
    while (size > 0 && made < room) {
        const unsigned floor = 31 - (unsigned)__builtin_clz(size);
        const unsigned log2 = floor < LOG2_MAX ? floor : LOG2_MAX;
        events[made++] = event_access(store, log2, 0, address);
        address += 1u << log2;
        size -= 1u << log2;
    }
    return made;
}

static uint32_t repeated_events(const struct waiting *waiting, uint64_t *events, uint32_t room) {
    const uint64_t elements = waiting->access_count ? waiting->elements : 0;
    uint32_t made = 0;
    events[made++] = event_mark(MARK_REP, elements);
    for (uint32_t i = 0; i < waiting->access_count && made + 2 <= room; i++) {
        const struct access *access = &waiting->accesses[i];
        const bool down = elements > 1 && waiting->last[i] < access->address;
        const unsigned log2 = access->size ? 31 - (unsigned)__builtin_clz(access->size) : 0;
        events[made++] = event_access(access->store, log2 < 7 ? log2 : 7, 0,
                                      down ? waiting->last[i] : access->address);
        events[made++] =
            event_mark(MARK_SPAN, (uint64_t)down << 55 | (uint64_t)access->size * elements);
    }
    return made;
}

static uint32_t events_of(const struct waiting *waiting, bool repeats, uint64_t *events,
                          uint32_t room) {
    if (repeats)
        return repeated_events(waiting, events, room);
    uint32_t made = 0;
    for (uint32_t i = 0; i < waiting->access_count; i++)
        made = add_pieces(events, made, room, waiting->accesses[i].store,
                          waiting->accesses[i].address, waiting->accesses[i].size);
    return made;
}

/* Without machine code: its kind, and how often it accesses memory. */
static void describe(const struct waiting *waiting, const uint64_t *next, enum branch_kind kind,
                     uint8_t code[DESCRIBED_BYTES]) {
    struct insn_description description = {.length = waiting->length, .branch = (uint8_t)kind};
    memset(description.source, REG_NONE, sizeof description.source);
    memset(description.destination, REG_NONE, sizeof description.destination);
    for (uint32_t i = 0; i < waiting->access_count; i++) {
        uint8_t *count = waiting->accesses[i].store ? &description.stores : &description.loads;
        *count += *count < 15;
    }
    if (kind == BRANCH_CONDITIONAL || kind == BRANCH_JUMP || kind == BRANCH_CALL) {
        const int64_t to = next ? (int64_t)(*next - waiting->address) : 0;
        const bool taken = kind != BRANCH_CONDITIONAL || to != waiting->length;
        description.target = taken && to == (int32_t)to ? (int32_t)to : 0;
    }
    insn_describe(&description, code);
}

static bool leads_to(const struct waiting_insns *insns, const struct place *place,
                     enum branch_kind kind, uint64_t next) {
    const struct foreign_block *open = &insns->blocks.open;
    const uint64_t end = place->address + place->length;
    switch (kind) {
    case BRANCH_NONE:
        return next == end;
    case BRANCH_CONDITIONAL:
        return !place->known || next == end || next == place->address + (uint64_t)place->target;
    case BRANCH_JUMP:
    case BRANCH_CALL:
        return !place->known || next == place->address + (uint64_t)place->target;
    case BRANCH_RETURN: /* into its own block: it would look as if that had been left there */
        return !(open->insn_count && next > open->address && next <= place->address);
    default:
        return true;
    }
}

/* The thread's instruction that waits; `next`: the address of the one behind it, or NULL. */
static bool put_waiting(struct waiting_insns *insns, const uint64_t *next, struct error *error) {
    struct waiting *waiting = &insns->threads[insns->thread].waiting;
    if (!waiting->there)
        return true;
    waiting->there = false;
    const struct place *place = place_of(insns, waiting->address, error);
    if (!place)
        return false;
    enum { ROOM = 128 };
    uint64_t events[ROOM];
    uint8_t code[DESCRIBED_BYTES];
    const bool known = place->known && place->length == waiting->length;
    const enum branch_kind kind = known ? place->branch : waiting->branch;
    if (!known)
        describe(waiting, next, kind, code);
    const uint32_t count = events_of(waiting, known && place->repeats, events, ROOM);
    const bool leads = !next || leads_to(insns, place, kind, *next);
    const uint64_t mark = waiting->mark ? waiting->mark : leads ? 0 : event_mark(MARK_GAP, 0);
    insns->gaps += !leads && !waiting->mark;
    insns->unknown += !known;
    insns->instructions++;
    const struct foreign_insn insn = {.address = waiting->address,
                                      .code = known ? place->bytes : code,
                                      .length = waiting->length,
                                      .described = !known,
                                      .ends = !mark && kind != BRANCH_NONE,
                                      .events = events,
                                      .event_count = count};
    return foreign_blocks_add(&insns->blocks, &insn, error) &&
           (!mark || foreign_blocks_end(&insns->blocks, mark, error));
}

bool waiting_insns_code(struct waiting_insns *insns, const uint8_t *bytes, size_t size,
                        struct error *error) {
    if (insns->encoding_size + size > sizeof insns->encoding)
        return error_set(error, "machine code of more than one instruction");
    memcpy(insns->encoding + insns->encoding_size, bytes, size);
    insns->encoding_size += size;
    return true;
}

void waiting_insns_forget_code(struct waiting_insns *insns) {
    insns->encoding_size = 0;
}

bool waiting_insns_add(struct waiting_insns *insns, enum branch_kind branch, uint32_t size,
                       uint64_t address, struct error *error) {
    if (size == 0 || size > INSN_MAX_LENGTH)
        return error_set(error, "an instruction of %" PRIu32 " bytes", size);
    if (!put_waiting(insns, &address, error) || !learn_place(insns, address, size, error))
        return false;
    struct waiting *waiting = &insns->threads[insns->thread].waiting;
    waiting->address = address;
    waiting->length = (uint8_t)size;
    waiting->branch = (uint8_t)branch;
    waiting->access_count = waiting->element_at = 0;
    waiting->elements = 1;
    waiting->mark = 0;
    waiting->there = true;
    return true;
}

void waiting_insns_element(struct waiting_insns *insns, uint64_t address) {
    struct waiting *waiting = &insns->threads[insns->thread].waiting;
    insns->encoding_size = 0;
    if (!waiting->there || waiting->address != address)
        return;
    waiting->elements++;
    waiting->element_at = 0;
}

void waiting_insns_access(struct waiting_insns *insns, bool store, uint32_t size,
                          uint64_t address) {
    struct waiting *waiting = &insns->threads[insns->thread].waiting;
    const uint32_t at = waiting->element_at;
    if (!waiting->there || at == ACCESSES ||
        (waiting->elements > 1 && at >= waiting->access_count)) {
        insns->dropped += waiting->there;
        return;
    }
    if (waiting->elements == 1)
        waiting->accesses[waiting->access_count++] =
            (struct access){address, size ? size : 1, store};
    waiting->last[at] = address;
    waiting->element_at++;
}

void waiting_insns_mark(struct waiting_insns *insns, uint64_t mark) {
    struct waiting *waiting = &insns->threads[insns->thread].waiting;
    if (waiting->there)
        waiting->mark = mark;
}

int waiting_insns_thread(struct waiting_insns *insns, uint64_t id, struct error *error) {
    const uint32_t number = thread_number(insns, id, error);
    if (number == UINT32_MAX)
        return -1;
    if (number == insns->thread)
        return 1;
    if (insns->blocks.open.insn_count && !end_block(insns, error))
        return -1;
    if (insns->blocks.event_count)
        return 0;
    enter_thread(insns, number);
    return 1;
}

bool waiting_insns_leave(struct waiting_insns *insns, struct error *error) {
    return insns->thread == UINT32_MAX || end_block(insns, error);
}

int waiting_insns_finish(struct waiting_insns *insns, struct error *error) {
    if (insns->finished == insns->thread_count)
        return 0;
    enter_thread(insns, insns->finished++);
    return put_waiting(insns, NULL, error) && end_block(insns, error) ? 1 : -1;
}

void waiting_insns_begin(struct waiting_insns *insns) {
    *insns = (struct waiting_insns){.thread = UINT32_MAX};
}

void waiting_insns_free(struct waiting_insns *insns) {
    foreign_blocks_free(&insns->blocks);
    hash_index_free(&insns->place_index);
    free(insns->places);
    free(insns->threads);
}
