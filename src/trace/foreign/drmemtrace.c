/* drmemtrace, the trace of DynamoRIO after its post-processing: entries of 12 bytes, u16 type, u16
 * size, u64 address or value (clients/drcachesim/common/trace_entry.h, and "Trace Format" of its
 * documentation). An instruction comes behind its machine code, which is left out where it was told
 * before, and in front of its accesses; an instruction of type NO_FETCH is the next element of a
 * repeated string instruction. One file can have several threads. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "isa/described.h"
#include "trace/foreign/blocks.h"
#include "trace/foreign/foreign.h"
#include "trace/foreign_image.h"
#include "util/array.h"
#include "util/hash_index.h"
#include "util/little_endian.h"
#include "util/text.h"

enum { ENTRY_BYTES = 12, READ_ENTRIES = 1024 };

enum entry_type {
    ENTRY_READ = 0,
    ENTRY_WRITE = 1,
    ENTRY_PREFETCH = 2, /* of data, to ENTRY_PREFETCH_WRITE */
    ENTRY_PREFETCH_WRITE = 8,
    ENTRY_INSTR = 10, /* and branches by kind, to ENTRY_RETURN */
    ENTRY_DIRECT_JUMP,
    ENTRY_INDIRECT_JUMP,
    ENTRY_CONDITIONAL,
    ENTRY_DIRECT_CALL,
    ENTRY_INDIRECT_CALL,
    ENTRY_RETURN,
    ENTRY_THREAD = 22,
    ENTRY_THREAD_EXIT = 23,
    ENTRY_PID = 24,
    ENTRY_HEADER = 25,
    ENTRY_MARKER = 28,
    ENTRY_NO_FETCH = 29,
    ENTRY_SYSENTER = 31,
    ENTRY_ENCODING = 47,
    ENTRY_TAKEN = 48,
    ENTRY_UNTAKEN = 49,
    ENTRY_TYPES = 50
};

enum marker {
    MARKER_KERNEL_EVENT = 0,
    MARKER_KERNEL_XFER = 1,
    MARKER_FILETYPE = 9,
    MARKER_VERSION = 12,
    MARKER_WINDOW_ID = 14,
    MARKER_SYSCALL = 25,
    MARKER_SYSCALL_TRACE_START = 27,
    MARKER_SYSCALL_TRACE_END = 28,
    MARKER_SWITCH_START = 34,
    MARKER_SWITCH_END = 35
};

enum file_type {
    FILE_FILTERED = 0x01 | 0x80 | 0x100,
    FILE_ARCH_X86_64 = 0x40,
    FILE_ARCH_ANY = 0x08 | 0x10 | 0x20 | 0x40 | 0x20000
};

enum {
    PLACES_MAX = 1 << 22,
    THREADS_MAX = 1 << 16,
    ACCESSES = 40, /* of an instruction (a scatter has up to 16, and as many masks), more are left
                      out */
    VERSION_MAX = 64
};

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

struct access {
    uint64_t address;
    uint32_t size;
    bool store;
};

/* An instruction that waits for its accesses and for what follows. */
struct waiting {
    uint64_t address;
    uint8_t length, type;
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

struct reader {
    struct unpack *unpack;
    struct foreign_blocks blocks;
    uint8_t entries[READ_ENTRIES * ENTRY_BYTES];
    size_t at, count; /* entries */
    bool ended;
    uint64_t entry; /* read so far */

    uint8_t encoding[2 * INSN_MAX_LENGTH + 8];
    size_t encoding_size;
    struct place *places;
    size_t place_capacity;
    uint32_t place_count;
    struct hash_index place_index;

    struct thread *threads;
    size_t thread_capacity;
    uint32_t thread_count, thread; /* UINT32_MAX: none yet */
    uint64_t version, file_type, window, process;
    bool in_kernel; /* what it records of the kernel is left out */
    bool several_processes;
    uint64_t gaps, unknown, undecodable, dropped, kernel, instructions;

    int stage;
    uint32_t notes, finished;
    char note[400];
};

bool drmemtrace_is(const uint8_t *bytes, size_t size) {
    if (size < 2 * ENTRY_BYTES || unpack_u16(bytes) != ENTRY_HEADER)
        return false;
    const uint64_t version = get_u64(bytes + 4);
    const uint32_t second = unpack_u16(bytes + ENTRY_BYTES);
    return version > 0 && version <= VERSION_MAX &&
           (second == ENTRY_MARKER || second == ENTRY_THREAD || second == ENTRY_PID);
}

/* ---- code ---- */

static struct place *place_of(struct reader *reader, uint64_t address, struct error *error) {
    const uint64_t hash = hash_number(address);
    size_t at;
    for (uint32_t i = hash_index_first(&reader->place_index, hash, &at); i != HASH_INDEX_NONE;
         i = hash_index_next(&reader->place_index, hash, &at))
        if (reader->places[i].address == address)
            return &reader->places[i];
    if (reader->place_count == PLACES_MAX)
        return error_null(error, "it has code at more than %d addresses: too much", PLACES_MAX);
    if (!hash_index_reserve(&reader->place_index, reader->place_index.count + 1) ||
        !array_push(reader->places, reader->place_capacity, reader->place_count,
                    (struct place){.address = address}))
        return error_null(error, "out of memory for the trace's code");
    hash_index_add(&reader->place_index, hash, reader->place_count - 1);
    return &reader->places[reader->place_count - 1];
}

static enum branch_kind kind_of_type(uint32_t type) {
    static const uint8_t KINDS[] = {BRANCH_NONE,        BRANCH_JUMP, BRANCH_INDIRECT,
                                    BRANCH_CONDITIONAL, BRANCH_CALL, BRANCH_INDIRECT_CALL,
                                    BRANCH_RETURN};
    if (type == ENTRY_TAKEN || type == ENTRY_UNTAKEN)
        return BRANCH_CONDITIONAL;
    return type >= ENTRY_INSTR && type <= ENTRY_RETURN ? KINDS[type - ENTRY_INSTR] : BRANCH_NONE;
}

/* What comes with the instruction that is next, or was told of its address before. */
static bool learn_place(struct reader *reader, uint64_t address, uint32_t length,
                        struct error *error) {
    struct place *place = place_of(reader, address, error);
    if (!place)
        return false;
    const bool told = reader->encoding_size > 0, fits = reader->encoding_size == length;
    if (told && fits &&
        (place->length != length || memcmp(place->bytes, reader->encoding, length) != 0)) {
        struct insn insn;
        memcpy(place->bytes, reader->encoding, length);
        place->known =
            insn_decode(ISA_X86_64, place->bytes, length, &insn) && insn.length == length;
        if (place->known) {
            place->branch = insn.branch;
            place->target = insn.target;
            place->repeats = insn.flags & INSN_REP;
            place->syscall = insn.flags & INSN_SYSCALL;
        }
        reader->undecodable += !place->known;
    } else if ((told && !fits) || (!told && place->length != length)) {
        place->known = false;
    }
    place->length = (uint8_t)length;
    reader->encoding_size = 0;
    return true;
}

/* ---- threads ---- */

/* Chunks are of one thread: what is open goes out first. */
static bool leave_thread(struct reader *reader, struct error *error) {
    return reader->thread == UINT32_MAX || foreign_blocks_end(&reader->blocks, 0, error);
}

static void enter_thread(struct reader *reader, uint32_t number) {
    if (reader->thread != UINT32_MAX)
        reader->threads[reader->thread].first_insn = reader->blocks.first_insn;
    reader->thread = number;
    reader->blocks.thread = number;
    reader->blocks.first_insn = reader->threads[number].first_insn;
}

static uint32_t thread_number(struct reader *reader, uint64_t id, struct error *error) {
    const size_t i = index_where(k, reader->thread_count, reader->threads[k].id == id);
    if (i < reader->thread_count)
        return (uint32_t)i;
    if (reader->thread_count == THREADS_MAX)
        return error_set(error, "it has more than %d threads", THREADS_MAX), UINT32_MAX;
    if (!array_push(reader->threads, reader->thread_capacity, reader->thread_count,
                    (struct thread){.id = id}))
        return error_set(error, "out of memory for a thread"), UINT32_MAX;
    return reader->thread_count - 1;
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

static bool leads_to(const struct reader *reader, const struct place *place, enum branch_kind kind,
                     uint64_t next) {
    const struct foreign_block *open = &reader->blocks.open;
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
static bool put_waiting(struct reader *reader, const uint64_t *next, struct error *error) {
    struct waiting *waiting = &reader->threads[reader->thread].waiting;
    if (!waiting->there)
        return true;
    waiting->there = false;
    const struct place *place = place_of(reader, waiting->address, error);
    if (!place)
        return false;
    enum { ROOM = 128 };
    uint64_t events[ROOM];
    uint8_t code[DESCRIBED_BYTES];
    const bool known = place->known && place->length == waiting->length;
    const enum branch_kind kind = known ? place->branch : kind_of_type(waiting->type);
    if (!known)
        describe(waiting, next, kind, code);
    const uint32_t count = events_of(waiting, known && place->repeats, events, ROOM);
    const bool leads = !next || leads_to(reader, place, kind, *next);
    const uint64_t mark = waiting->mark ? waiting->mark : leads ? 0 : event_mark(MARK_GAP, 0);
    reader->gaps += !leads && !waiting->mark;
    reader->unknown += !known;
    reader->instructions++;
    const struct foreign_insn insn = {.address = waiting->address,
                                      .code = known ? place->bytes : code,
                                      .length = waiting->length,
                                      .described = !known,
                                      .ends = !mark && kind != BRANCH_NONE,
                                      .events = events,
                                      .event_count = count};
    return foreign_blocks_add(&reader->blocks, &insn, error) &&
           (!mark || foreign_blocks_end(&reader->blocks, mark, error));
}

static bool take_insn(struct reader *reader, uint32_t type, uint32_t size, uint64_t address,
                      struct error *error) {
    if (size == 0 || size > INSN_MAX_LENGTH)
        return error_set(error, "an instruction of %" PRIu32 " bytes", size);
    if (!put_waiting(reader, &address, error) || !learn_place(reader, address, size, error))
        return false;
    struct waiting *waiting = &reader->threads[reader->thread].waiting;
    waiting->address = address;
    waiting->length = (uint8_t)size;
    waiting->type = (uint8_t)type;
    waiting->access_count = waiting->element_at = 0;
    waiting->elements = 1;
    waiting->mark = 0;
    waiting->there = true;
    return true;
}

static void take_element(struct reader *reader, uint64_t address) {
    struct waiting *waiting = &reader->threads[reader->thread].waiting;
    reader->encoding_size = 0;
    if (!waiting->there || waiting->address != address)
        return;
    waiting->elements++;
    waiting->element_at = 0;
}

static void take_access(struct reader *reader, bool store, uint32_t size, uint64_t address) {
    struct waiting *waiting = &reader->threads[reader->thread].waiting;
    const uint32_t at = waiting->element_at;
    if (!waiting->there || at == ACCESSES ||
        (waiting->elements > 1 && at >= waiting->access_count)) {
        reader->dropped += waiting->there;
        return;
    }
    if (waiting->elements == 1)
        waiting->accesses[waiting->access_count++] =
            (struct access){address, size ? size : 1, store};
    waiting->last[at] = address;
    waiting->element_at++;
}

/* Behind the instruction that waits, if there is one. */
static void mark_waiting(struct reader *reader, uint64_t mark) {
    struct waiting *waiting = &reader->threads[reader->thread].waiting;
    if (waiting->there)
        waiting->mark = mark;
}

static bool take_marker(struct reader *reader, uint32_t marker, uint64_t value,
                        struct error *error) {
    switch (marker) {
    case MARKER_VERSION:
        reader->version = value;
        return true;
    case MARKER_FILETYPE:
        reader->file_type |= value;
        if ((value & FILE_ARCH_ANY) & ~(uint64_t)FILE_ARCH_X86_64)
            return error_set(error, "it was not recorded on x86-64, the only architecture of "
                                    "drmemtrace that is read here");
        return true;
    case MARKER_SYSCALL_TRACE_START:
    case MARKER_SWITCH_START:
        reader->in_kernel = true;
        return true;
    case MARKER_SYSCALL_TRACE_END:
    case MARKER_SWITCH_END:
        reader->in_kernel = false;
        return true;
    default:
        break;
    }
    if (reader->thread == UINT32_MAX || reader->in_kernel)
        return true;
    if (marker == MARKER_KERNEL_EVENT)
        mark_waiting(reader, event_mark(MARK_SIGNAL, HANDLER_OF_OTHERS));
    else if (marker == MARKER_KERNEL_XFER)
        mark_waiting(reader, event_mark(MARK_SIGNAL, 0));
    else if (marker == MARKER_SYSCALL)
        mark_waiting(reader, event_mark(MARK_SYSCALL, value & UINT32_MAX));
    else if (marker == MARKER_WINDOW_ID && value != reader->window) {
        reader->window = value;
        mark_waiting(reader, event_mark(MARK_GAP, 0));
    }
    return true;
}

/* 1; 0: the thread is another, and what is of the one before has to go out first; −1: error. */
static int take_thread(struct reader *reader, uint64_t id, struct error *error) {
    const uint32_t number = thread_number(reader, id, error);
    if (number == UINT32_MAX)
        return -1;
    if (number == reader->thread)
        return 1;
    if (reader->blocks.open.insn_count && !leave_thread(reader, error))
        return -1;
    if (reader->blocks.event_count)
        return 0;
    enter_thread(reader, number);
    return 1;
}

static int take_entry(struct reader *reader, const uint8_t *at, struct error *error) {
    const uint32_t type = unpack_u16(at), size = unpack_u16(at + 2);
    const uint64_t value = get_u64(at + 4);
    if (type >= ENTRY_TYPES)
        return error_set(error, "an entry of unknown type %" PRIu32, type), -1;
    if (type == ENTRY_THREAD)
        return take_thread(reader, value, error);
    if (type == ENTRY_PID) {
        reader->several_processes |= reader->process && reader->process != value;
        reader->process = value;
    } else if (type == ENTRY_MARKER) {
        return take_marker(reader, size, value, error) ? 1 : -1;
    } else if (type == ENTRY_ENCODING) {
        const size_t n = size <= 8 ? size : 8;
        if (reader->encoding_size + n > sizeof reader->encoding)
            return error_set(error, "machine code of more than one instruction"), -1;
        memcpy(reader->encoding + reader->encoding_size, at + 4, n);
        reader->encoding_size += n;
    } else if (type == ENTRY_HEADER) {
        reader->version = value;
    } else if (reader->thread == UINT32_MAX) {
        return 1;
    } else if (reader->in_kernel) {
        reader->kernel += type >= ENTRY_INSTR && type <= ENTRY_RETURN;
        reader->encoding_size = 0;
    } else if ((type >= ENTRY_INSTR && type <= ENTRY_RETURN) || type == ENTRY_SYSENTER ||
               type == ENTRY_TAKEN || type == ENTRY_UNTAKEN) {
        return take_insn(reader, type, size, value, error) ? 1 : -1;
    } else if (type == ENTRY_NO_FETCH) {
        take_element(reader, value);
    } else if (type <= ENTRY_PREFETCH_WRITE) {
        take_access(reader, type == ENTRY_WRITE, size, value);
    }
    return 1;
}

/* ---- items ---- */

/* 1: an item; 0: there is nothing more; −1: error. */
static int next_data(struct reader *reader, struct item *item, struct error *error) {
    bool flush = false;
    for (;;) {
        if (foreign_blocks_next(&reader->blocks, flush, item))
            return 1;
        if (reader->at == reader->count) {
            const ssize_t n =
                unpack_bytes(reader->unpack, reader->entries, sizeof reader->entries, error);
            if (n < 0)
                return -1;
            reader->at = 0;
            reader->count = (size_t)n / ENTRY_BYTES;
            reader->ended = reader->count == 0;
        }
        if (reader->ended)
            return 0;
        const int status = take_entry(reader, reader->entries + reader->at * ENTRY_BYTES, error);
        if (status < 0)
            return -1;
        flush = status == 0;
        reader->at += (size_t)status;
        reader->entry += (uint64_t)status;
    }
}

/* The last instructions of all threads. */
static int finish_data(struct reader *reader, struct item *item, struct error *error) {
    for (;;) {
        if (foreign_blocks_next(&reader->blocks, true, item))
            return 1;
        if (reader->finished == reader->thread_count)
            return 0;
        enter_thread(reader, reader->finished++);
        if (!put_waiting(reader, NULL, error) || !leave_thread(reader, error))
            return -1;
    }
}

static bool found_note(struct reader *reader, uint32_t number) {
    char *note = reader->note;
    const size_t size = sizeof reader->note;
    const uint64_t missing = reader->unknown;
    switch (number) {
    case 0:
        snprintf(note, size,
                 "the trace is DynamoRIO's (drmemtrace, version %" PRIu64
                 "): it names no functions "
                 "and no files, all code lies in [drmemtrace]",
                 reader->version);
        return true;
    case 1:
        snprintf(note, size,
                 "%s of its %s instructions have no machine code: they have no operands in "
                 "registers, and any work of theirs is one integer operation of one cycle",
                 text_count(missing).s, text_count(reader->instructions).s);
        return missing;
    case 2:
        snprintf(note, size,
                 "%s time%s what follows an instruction does not follow from it: instructions are "
                 "missing there",
                 text_count(reader->gaps).s, text_plural(reader->gaps));
        return reader->gaps;
    case 3:
        snprintf(note, size,
                 "it was filtered as it was recorded: instructions or accesses are missing");
        return reader->file_type & FILE_FILTERED;
    case 4:
        snprintf(note, size, "%s instruction%s of the kernel %s left out",
                 text_count(reader->kernel).s, text_plural(reader->kernel),
                 reader->kernel == 1 ? "is" : "are");
        return reader->kernel;
    case 5:
        snprintf(note, size, "it has several processes: their threads count as those of one");
        return reader->several_processes;
    default:
        snprintf(note, size, "%s access%s that no instruction has room for %s left out",
                 text_count(reader->dropped).s, reader->dropped == 1 ? "" : "es",
                 reader->dropped == 1 ? "is" : "are");
        return reader->dropped;
    }
}

enum { STAGE_HEADER, STAGE_PROCESS, STAGE_IMAGE, STAGE_DATA, STAGE_FINISH, STAGE_NOTES, STAGE_END };
enum { NOTE_COUNT = 7 };

static int next(void *context, struct item *item, struct error *error) {
    struct reader *reader = context;
    const char *path = unpack_path(reader->unpack);
    int status;
    switch (reader->stage) {
    case STAGE_HEADER:
        reader->stage++;
        *item = (struct item){.kind = ITEM_HEADER,
                              .header = {.isa = ISA_X86_64,
                                         .command = path,
                                         .host = "DynamoRIO drmemtrace",
                                         .addresses = true}};
        return 1;
    case STAGE_PROCESS:
        reader->stage++;
        *item = (struct item){.kind = ITEM_PROCESS,
                              .process = {.parent = UINT32_MAX,
                                          .forker = UINT32_MAX,
                                          .known = UINT32_MAX,
                                          .command = path,
                                          .executable = DRMEMTRACE_IMAGE,
                                          .traced = true}};
        return 1;
    case STAGE_IMAGE:
        reader->stage++;
        *item = (struct item){
            .kind = ITEM_IMAGE,
            .image = {.path = DRMEMTRACE_IMAGE, .kind = CODE_IMAGE_ANONYMOUS, .end = UINT64_MAX}};
        return 1;
    case STAGE_DATA:
        if ((status = next_data(reader, item, error)))
            return status;
        reader->stage++;
        if (reader->thread != UINT32_MAX && !leave_thread(reader, error))
            return -1;
        if (foreign_blocks_next(&reader->blocks, true, item))
            return 1;
        /* fall through */
    case STAGE_FINISH:
        if ((status = finish_data(reader, item, error)))
            return status;
        reader->stage++;
        /* fall through */
    case STAGE_NOTES:
        while (reader->notes < NOTE_COUNT)
            if (found_note(reader, reader->notes++)) {
                *item = (struct item){.kind = ITEM_NOTE, .note = reader->note};
                return 1;
            }
        reader->stage++;
        *item = (struct item){.kind = ITEM_END, .end = {.stopped = true}};
        return 1;
    default:
        return 0;
    }
}

static void where(void *context, char *text, size_t size) {
    const struct reader *reader = context;
    snprintf(text, size, "%s, entry %" PRIu64, unpack_path(reader->unpack), reader->entry);
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
    free(reader->threads);
    free(reader);
}

bool drmemtrace_source_open(struct unpack *unpack, struct item_source *source,
                            struct error *error) {
    struct reader *reader = calloc(1, sizeof *reader);
    if (!reader) {
        error_set(error, "out of memory reading trace %s", unpack_path(unpack));
        unpack_close(unpack);
        return false;
    }
    reader->unpack = unpack;
    reader->thread = UINT32_MAX;
    *source = (struct item_source){.next = next,
                                   .where = where,
                                   .interrupt = interrupt,
                                   .close = close_reader,
                                   .context = reader};
    return true;
}
