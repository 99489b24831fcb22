/* Reads a window of records ahead. What a record does not say of its instruction, others of the
 * same address do: how long it is (the next one follows it), where a branch leads, whether it
 * repeats (an instruction that is no branch and follows itself has a prefix rep). Where none does,
 * lengths are those that such branches usually have.
 *
 * Records of a repeated instruction are its elements: one instruction is made of them if each of
 * its accesses steps evenly. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "isa/described.h"
#include "trace/foreign/blocks.h"
#include "trace/foreign/champsim.h"
#include "trace/foreign/foreign.h"
#include "trace/foreign_image.h"
#include "util/array.h"
#include "util/hash_index.h"
#include "util/text.h"

enum {
    WINDOW = 1 << 15,     /* records */
    PLACES_MAX = 1 << 22, /* addresses of code */
    RETURNS = 64,         /* calls that returns are matched with */
    REGISTERS = 256
};

/* What is known of the instruction at an address. */
struct place {
    uint64_t address;
    int32_t target; /* of a direct branch, as an insn_description has it; 0: not known */
    uint8_t length; /* 0: not known */
    bool repeats;
    uint8_t loads, stores; /* of one that repeats */
};

struct reader {
    struct unpack *unpack;
    struct foreign_blocks blocks;
    struct champsim_record *window;
    uint32_t at, count;                   /* in the window */
    bool ended;                           /* no record follows the window's */
    uint64_t records, elements, repeated; /* elements are records of repeated instructions */
    uint64_t gaps, odd_branches, cut_bytes;

    struct place *places;
    size_t place_capacity;
    uint32_t place_count;
    struct hash_index place_index;
    uint64_t calls[RETURNS];
    uint32_t call_count;

    uint8_t names[REGISTERS]; /* by its number there; 0: none yet, else + 1 */
    uint32_t names_given;
    uint32_t stage, notes; /* items told */
    char note[400];
};

/* ---- whether it is one ---- */

bool champsim_is(const uint8_t *bytes, size_t size) {
    const size_t count = size / CHAMPSIM_RECORD_BYTES;
    for (size_t i = 0; i < count; i++) {
        const uint8_t *at = bytes + i * CHAMPSIM_RECORD_BYTES;
        struct champsim_record record;
        champsim_decode(at, &record);
        if (!record.address || at[8] > 1 || at[9] > 1 || at[9] > at[8])
            return false;
    }
    return count > 0;
}

/* ---- places ---- */

static bool out_of_memory(const struct reader *reader, struct error *error) {
    return error_set(error, "out of memory reading trace %s", unpack_path(reader->unpack));
}

/* NULL with an error. It moves when another is made. */
static struct place *place_of(struct reader *reader, uint64_t address, struct error *error) {
    const uint64_t hash = hash_number(address);
    size_t at;
    for (uint32_t i = hash_index_first(&reader->place_index, hash, &at); i != HASH_INDEX_NONE;
         i = hash_index_next(&reader->place_index, hash, &at))
        if (reader->places[i].address == address)
            return &reader->places[i];
    if (reader->place_count == PLACES_MAX)
        return error_null(error, "%s has code at more than %d addresses: too much",
                          unpack_path(reader->unpack), PLACES_MAX);
    if (!hash_index_reserve(&reader->place_index, reader->place_index.count + 1) ||
        !array_push(reader->places, reader->place_capacity, reader->place_count,
                    (struct place){.address = address}))
        return out_of_memory(reader, error), NULL;
    hash_index_add(&reader->place_index, hash, reader->place_count - 1);
    return &reader->places[reader->place_count - 1];
}

static bool is_direct(enum branch_kind kind) {
    return kind == BRANCH_CONDITIONAL || kind == BRANCH_JUMP || kind == BRANCH_CALL;
}

static bool is_call(enum branch_kind kind) {
    return kind == BRANCH_CALL || kind == BRANCH_INDIRECT_CALL;
}

/* Bytes from one to the other if an instruction can be so long, or 0. */
static uint8_t length_between(uint64_t from, uint64_t to) {
    return to - from >= 1 && to - from <= INSN_MAX_LENGTH ? (uint8_t)(to - from) : 0;
}

/* Target − address, or 0 where that does not fit. */
static int32_t displacement(uint64_t from, uint64_t to) {
    const int64_t between = (int64_t)(to - from);
    return between == (int32_t)between ? (int32_t)between : 0;
}

static uint8_t count_of(const uint64_t *addresses, int most) {
    return sum_over(uint8_t, i, (size_t)most, addresses[i] != 0);
}

static bool learn_return(struct reader *reader, uint64_t to, struct error *error) {
    if (!reader->call_count)
        return true;
    const uint64_t call = reader->calls[--reader->call_count % RETURNS];
    const uint8_t length = length_between(call, to);
    struct place *place = length ? place_of(reader, call, error) : NULL;
    if (place)
        place->length = length;
    return place || !length;
}

static bool learn(struct reader *reader, const struct champsim_record *record,
                  const struct champsim_record *next, struct error *error) {
    const enum branch_kind kind = champsim_branch(record);
    struct place *place = place_of(reader, record->address, error);
    if (!place)
        return false;
    const bool taken = kind != BRANCH_NONE && (record->taken || kind != BRANCH_CONDITIONAL);
    if (!taken) {
        const uint8_t length = length_between(record->address, next->address);
        place->length = length ? length : place->length;
    } else if (is_direct(kind)) {
        place->target = displacement(record->address, next->address);
    }
    if (kind == BRANCH_NONE && !record->branch && next->address == record->address) {
        place->repeats = true;
        place->loads = count_of(record->loads, CHAMPSIM_LOADS);
        place->stores = count_of(record->stores, CHAMPSIM_STORES);
    }
    if (is_call(kind))
        reader->calls[reader->call_count++ % RETURNS] = record->address;
    return kind != BRANCH_RETURN || learn_return(reader, next->address, error);
}

/* ---- the window ---- */

static bool refill(struct reader *reader, struct error *error) {
    uint8_t bytes[64 * CHAMPSIM_RECORD_BYTES];
    uint32_t kept = reader->count - reader->at;
    memmove(reader->window, reader->window + reader->at, kept * sizeof *reader->window);
    const uint32_t learn_from = kept ? kept - 1 : 0;
    reader->at = 0;
    reader->count = kept;
    while (!reader->ended && reader->count < WINDOW) {
        const size_t room = (WINDOW - reader->count) * (size_t)CHAMPSIM_RECORD_BYTES;
        const size_t want = room < sizeof bytes ? room : sizeof bytes;
        const ssize_t n = unpack_bytes(reader->unpack, bytes, want, error);
        if (n < 0)
            return false;
        for (size_t i = 0; i < (size_t)n / CHAMPSIM_RECORD_BYTES; i++)
            champsim_decode(bytes + i * CHAMPSIM_RECORD_BYTES, &reader->window[reader->count++]);
        reader->ended = (size_t)n < want;
        reader->cut_bytes = (size_t)n % CHAMPSIM_RECORD_BYTES;
    }
    for (uint32_t i = learn_from; i + 1 < reader->count; i++)
        if (!learn(reader, &reader->window[i], &reader->window[i + 1], error))
            return false;
    return true;
}

/* ---- a record as an instruction ---- */

/* Names of registers are given as they come; there are fewer than numbers, then the last serves. */
static uint8_t name_of(struct reader *reader, uint8_t number) {
    enum { FIRST = REG_VECTOR, LAST = REG_TEMPORARY - 1 };
    const uint8_t general = champsim_general_of(number);
    if (number == CHAMPSIM_FLAGS)
        return REG_X86_FLAGS;
    if (!number || number == CHAMPSIM_IP || general != REG_NONE)
        return general;
    if (!reader->names[number]) {
        const uint32_t name = FIRST + reader->names_given;
        reader->names[number] = (uint8_t)(1 + (name < LAST ? name : LAST));
        reader->names_given++;
    }
    return reader->names[number] - 1;
}

/* What branches without a better clue usually take in x86-64. */
static uint8_t usual_length(enum branch_kind kind, int32_t target) {
    const bool near = target >= INT8_MIN && target <= INT8_MAX;
    switch (kind) {
    case BRANCH_CONDITIONAL:
        return near ? 2 : 6;
    case BRANCH_JUMP:
        return near ? 2 : 5;
    case BRANCH_CALL:
        return 5;
    case BRANCH_INDIRECT:
    case BRANCH_INDIRECT_CALL:
        return 2;
    default:
        return 1;
    }
}

struct described {
    struct insn_description description;
    bool gap; /* what follows does not follow from it */
};

static struct described describe(struct reader *reader, const struct champsim_record *record,
                                 const struct champsim_record *next, const struct place *place) {
    enum branch_kind kind = champsim_branch(record);
    const bool taken = kind != BRANCH_NONE && (record->taken || kind != BRANCH_CONDITIONAL);
    if (kind == BRANCH_NONE && record->branch && record->taken)
        kind = BRANCH_INDIRECT;
    reader->odd_branches += kind != champsim_branch(record);
    struct described made = {
        .description = {
            .branch = (uint8_t)kind,
            .repeats = place->repeats && kind == BRANCH_NONE,
            .length = place->length,
            .loads = place->repeats ? place->loads : count_of(record->loads, CHAMPSIM_LOADS),
            .stores = place->repeats ? place->stores : count_of(record->stores, CHAMPSIM_STORES)}};
    struct insn_description *description = &made.description;
    for (int i = 0; i < CHAMPSIM_WRITTEN; i++)
        description->destination[i] = name_of(reader, record->written[i]);
    for (int i = 0; i < CHAMPSIM_READ; i++)
        description->source[i] = name_of(reader, record->read[i]);
    if (is_direct(kind))
        description->target =
            taken && next ? displacement(record->address, next->address) : place->target;
    const uint8_t onwards = next ? length_between(record->address, next->address) : 0;
    if (next && !taken && kind != BRANCH_INDIRECT) {
        made.gap = !onwards;
        description->length = onwards ? onwards : description->length;
    } else if (next && is_direct(kind)) {
        made.gap = record->address + (uint64_t)(int64_t)description->target != next->address;
    }
    if (!description->length)
        description->length = usual_length(kind, description->target);
    return made;
}

/* ---- what it accesses ---- */

/* The addresses of a record, loads first. */
static uint32_t addresses_of(const struct champsim_record *record, uint64_t *addresses,
                             uint32_t *loads) {
    uint32_t count = 0;
    for (int i = 0; i < CHAMPSIM_LOADS; i++)
        if (record->loads[i])
            addresses[count++] = record->loads[i];
    *loads = count;
    for (int i = 0; i < CHAMPSIM_STORES; i++)
        if (record->stores[i])
            addresses[count++] = record->stores[i];
    return count;
}

enum { ACCESSES = CHAMPSIM_LOADS + CHAMPSIM_STORES };

/* Records from `at` on that are elements of one execution, at least 1. 0: the window ends before it
 * is known. `steps` are those of the addresses. */
static uint32_t elements_at(const struct reader *reader, const struct place *place,
                            int64_t steps[ACCESSES]) {
    const struct champsim_record *first = &reader->window[reader->at];
    uint64_t from[ACCESSES], to[ACCESSES];
    uint32_t loads, other_loads, i = 1;
    const uint32_t count = addresses_of(first, from, &loads);
    memset(steps, 0, ACCESSES * sizeof *steps);
    if (loads != place->loads || count - loads != place->stores)
        return 1;
    for (; reader->at + i < reader->count; i++) {
        const struct champsim_record *record = &first[i];
        if (record->address != first->address || addresses_of(record, to, &other_loads) != count ||
            other_loads != loads)
            return i;
        for (uint32_t k = 0; k < count; k++) {
            const int64_t step = (int64_t)(to[k] - from[k]);
            if (i == 1 && (step == 0 || step > 64 || step < -64))
                return 1;
            if (i == 1)
                steps[k] = step;
            else if (step != steps[k])
                return i;
        }
        memcpy(from, to, sizeof from);
    }
    return reader->ended || i == WINDOW ? i : 0;
}

static unsigned log2_of(uint64_t step) {
    return step == 2 ? 1 : step == 4 ? 2 : step == 8 ? 3 : 0;
}

/* The events of a repeated instruction: docs/trace-format.md has them. */
static uint32_t repeated_events(const struct champsim_record *first, uint32_t elements,
                                bool accesses, const int64_t *steps, uint64_t *events) {
    uint64_t addresses[ACCESSES];
    uint32_t loads, made = 0;
    const uint32_t count = accesses ? addresses_of(first, addresses, &loads) : 0;
    events[made++] = event_mark(MARK_REP, elements);
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t step = elements > 1 ? (uint64_t)llabs(steps[i]) : 1;
        const bool down = elements > 1 && steps[i] < 0;
        const uint64_t lowest = down ? addresses[i] - step * (elements - 1) : addresses[i];
        events[made++] = event_access(i >= loads, log2_of(step), 0, lowest);
        events[made++] = event_mark(MARK_SPAN, (uint64_t)down << 55 | step * elements);
    }
    return made;
}

static uint32_t plain_events(const struct champsim_record *record, uint64_t *events) {
    uint64_t addresses[ACCESSES];
    uint32_t loads;
    const uint32_t count = addresses_of(record, addresses, &loads);
    for (uint32_t i = 0; i < count; i++)
        events[i] = event_access(i >= loads, 0, 0, addresses[i]);
    return count;
}

/* 1: an instruction was added; 0: the window ends within it; −1: error. */
static int add_insn(struct reader *reader, struct error *error) {
    const struct champsim_record *record = &reader->window[reader->at];
    const struct place *place = place_of(reader, record->address, error);
    if (!place)
        return -1;
    const struct place known = *place;
    const bool repeats = known.repeats && champsim_branch(record) == BRANCH_NONE;
    int64_t steps[ACCESSES] = {0};
    const uint32_t elements = repeats ? elements_at(reader, &known, steps) : 1;
    if (!elements)
        return 0;
    const uint32_t behind = reader->at + elements;
    const struct champsim_record *next = behind < reader->count ? &reader->window[behind] : NULL;
    struct described made = describe(reader, record, next, &known);
    const struct foreign_block *open = &reader->blocks.open;
    /* A return into its own block would look as if the block had been left there. */
    if (made.description.branch == BRANCH_RETURN && next && open->insn_count &&
        next->address > open->address && next->address <= record->address)
        made.gap = true;
    uint64_t events[1 + 2 * ACCESSES];
    uint32_t loads, count;
    if (repeats) {
        uint64_t addresses[ACCESSES];
        const uint32_t accesses = addresses_of(record, addresses, &loads);
        const bool whole = loads == known.loads && accesses - loads == known.stores;
        count = repeated_events(record, whole ? elements : 0, whole, steps, events);
        reader->elements += elements;
        reader->repeated++;
    } else {
        count = plain_events(record, events);
    }
    uint8_t code[DESCRIBED_BYTES];
    insn_describe(&made.description, code);
    const struct foreign_insn insn = {.address = record->address,
                                      .code = code,
                                      .length = made.description.length,
                                      .described = true,
                                      .ends = made.description.branch != BRANCH_NONE && !made.gap,
                                      .events = events,
                                      .event_count = count};
    reader->at = behind;
    reader->records += elements;
    reader->gaps += made.gap;
    return foreign_blocks_add(&reader->blocks, &insn, error) &&
                   (!made.gap || foreign_blocks_gap(&reader->blocks, error))
               ? 1
               : -1;
}

/* ---- items ---- */

enum { STAGE_DATA = FOREIGN_BEGUN, STAGE_THREAD_END, STAGE_NOTES, STAGE_END, STAGE_DONE };

static const char *const LACKS[] = {
    ("the trace is ChampSim's: it has no machine code, so any work on registers counts as one "
     "integer operation of one cycle; what forms an address follows from kinds of registers"),
    "it has no sizes of accesses: each counts as its first byte",
    "it names no functions and no files: all code lies in [champsim]"};

/* What was found on the way; false: there is no such note. */
static bool found_note(struct reader *reader, uint32_t number) {
    char *note = reader->note;
    const size_t size = sizeof reader->note;
    switch (number) {
    case 0:
        if (reader->elements)
            snprintf(note, size,
                     "%s of its %s records are elements of repeated string instructions, which "
                     "count as %s instruction%s",
                     text_count(reader->elements).s, text_count(reader->records).s,
                     text_count(reader->repeated).s, text_plural(reader->repeated));
        return reader->elements;
    case 1:
        if (reader->gaps)
            snprintf(note, size,
                     "%s time%s what follows an instruction does not follow from it: "
                     "instructions are missing there",
                     text_count(reader->gaps).s, text_plural(reader->gaps));
        return reader->gaps;
    case 2:
        if (reader->odd_branches)
            snprintf(note, size,
                     "%s record%s marked as a branch by no register: taken as indirect jumps",
                     text_count(reader->odd_branches).s, text_plural(reader->odd_branches));
        return reader->odd_branches;
    case 3:
        if (reader->names_given > REG_TEMPORARY - REG_VECTOR)
            snprintf(note, size,
                     "it has %" PRIu32 " registers beside the general ones: the last "
                     "share a name",
                     reader->names_given);
        return reader->names_given > REG_TEMPORARY - REG_VECTOR;
    default:
        if (reader->cut_bytes)
            snprintf(note, size, "it ends within a record: %" PRIu64 " bytes are left over",
                     reader->cut_bytes);
        return reader->cut_bytes;
    }
}
enum { LACK_COUNT = sizeof LACKS / sizeof *LACKS, NOTE_COUNT = LACK_COUNT + 5 };

static int next_data(struct reader *reader, struct item *item, struct error *error) {
    for (;;) {
        if (foreign_blocks_next(&reader->blocks, false, item))
            return 1;
        const bool short_of = reader->at + 1 >= reader->count;
        if (short_of && !reader->ended && !refill(reader, error))
            return -1;
        if (reader->at == reader->count)
            break;
        int status = add_insn(reader, error);
        if (status == 0)
            status = refill(reader, error) ? add_insn(reader, error) : -1;
        if (status < 0)
            return -1;
    }
    if (!foreign_blocks_end(&reader->blocks, 0, error))
        return -1;
    return foreign_blocks_next(&reader->blocks, true, item);
}

static int next(void *context, struct item *item, struct error *error) {
    struct reader *reader = context;
    if (reader->stage < FOREIGN_BEGUN) {
        *item = foreign_beginning(reader->stage++, unpack_path(reader->unpack), "ChampSim trace",
                                  CHAMPSIM_IMAGE);
        return 1;
    }
    switch (reader->stage) {
    case STAGE_DATA: {
        const int status = next_data(reader, item, error);
        if (status)
            return status;
        reader->stage++;
    }
        /* fall through */
    case STAGE_THREAD_END:
        reader->stage++;
        *item = (struct item){.kind = ITEM_THREAD_END};
        return 1;
    case STAGE_NOTES:
        while (reader->notes < NOTE_COUNT) {
            const uint32_t number = reader->notes++;
            if (number >= LACK_COUNT && !found_note(reader, number - LACK_COUNT))
                continue;
            *item = (struct item){.kind = ITEM_NOTE,
                                  .note = number < LACK_COUNT ? LACKS[number] : reader->note};
            return 1;
        }
        reader->stage++;
        /* fall through */
    case STAGE_END:
        reader->stage++;
        *item = (struct item){.kind = ITEM_END, .end = {.stopped = true}};
        return 1;
    default:
        return 0;
    }
}

static void where(void *context, char *text, size_t size) {
    const struct reader *reader = context;
    snprintf(text, size, "%s, record %" PRIu64, unpack_path(reader->unpack), reader->records);
}

static void interrupt(void *context) {
    unpack_interrupt(((struct reader *)context)->unpack);
}

static void close_reader(void *context) {
    struct reader *reader = context;
    unpack_close(reader->unpack);
    foreign_blocks_free(&reader->blocks);
    hash_index_free(&reader->place_index);
    free(reader->places);
    free(reader->window);
    free(reader);
}

bool champsim_source_open(struct unpack *unpack, struct item_source *source, struct error *error) {
    struct reader *reader = calloc(1, sizeof *reader);
    struct champsim_record *window = malloc(WINDOW * sizeof *window);
    if (!reader || !window) {
        error_set(error, "out of memory reading trace %s", unpack_path(unpack));
        free(reader);
        free(window);
        unpack_close(unpack);
        return false;
    }
    reader->unpack = unpack;
    reader->window = window;
    *source = (struct item_source){.next = next,
                                   .where = where,
                                   .interrupt = interrupt,
                                   .close = close_reader,
                                   .context = reader};
    return true;
}
