/* drmemtrace, the trace of DynamoRIO after its post-processing: entries of 12 bytes, u16 type, u16
 * size, u64 address or value (clients/drcachesim/common/trace_entry.h, and "Trace Format" of its
 * documentation). An instruction comes behind its machine code, which is left out where it was told
 * before, and in front of its accesses; an instruction of type NO_FETCH is the next element of a
 * repeated string instruction. One file can have several threads. What becomes of instructions is
 * in waiting_insns.c. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/foreign/foreign.h"
#include "trace/foreign/waiting_insns.h"
#include "trace/foreign_image.h"
#include "util/little_endian.h"
#include "util/text.h"

enum { ENTRY_BYTES = 12, READ_ENTRIES = 1024, VERSION_MAX = 64 };

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

struct reader {
    struct unpack *unpack;
    uint8_t entries[READ_ENTRIES * ENTRY_BYTES];
    size_t at, count; /* entries */
    bool ended;
    uint64_t entry; /* read so far */

    struct waiting_insns insns;
    uint64_t version, file_type, window, process;
    bool in_kernel; /* what it records of the kernel is left out */
    bool several_processes;
    uint64_t kernel; /* instructions of it */

    int stage;
    uint32_t notes;
    char note[400];
};

static enum branch_kind kind_of_type(uint32_t type) {
    static const uint8_t KINDS[] = {BRANCH_NONE,        BRANCH_JUMP, BRANCH_INDIRECT,
                                    BRANCH_CONDITIONAL, BRANCH_CALL, BRANCH_INDIRECT_CALL,
                                    BRANCH_RETURN};
    if (type == ENTRY_TAKEN || type == ENTRY_UNTAKEN)
        return BRANCH_CONDITIONAL;
    return type >= ENTRY_INSTR && type <= ENTRY_RETURN ? KINDS[type - ENTRY_INSTR] : BRANCH_NONE;
}

bool drmemtrace_is(const uint8_t *bytes, size_t size) {
    if (size < 2 * ENTRY_BYTES || unpack_u16(bytes) != ENTRY_HEADER)
        return false;
    const uint64_t version = get_u64(bytes + 4);
    const uint32_t second = unpack_u16(bytes + ENTRY_BYTES);
    return version > 0 && version <= VERSION_MAX &&
           (second == ENTRY_MARKER || second == ENTRY_THREAD || second == ENTRY_PID);
}

/* ---- entries ---- */

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
    if (reader->insns.thread == UINT32_MAX || reader->in_kernel)
        return true;
    if (marker == MARKER_KERNEL_EVENT)
        waiting_insns_mark(&reader->insns, event_mark(MARK_SIGNAL, HANDLER_OF_OTHERS));
    else if (marker == MARKER_KERNEL_XFER)
        waiting_insns_mark(&reader->insns, event_mark(MARK_SIGNAL, 0));
    else if (marker == MARKER_SYSCALL)
        waiting_insns_mark(&reader->insns, event_mark(MARK_SYSCALL, value & UINT32_MAX));
    else if (marker == MARKER_WINDOW_ID && value != reader->window) {
        reader->window = value;
        waiting_insns_mark(&reader->insns, event_mark(MARK_GAP, 0));
    }
    return true;
}

static int take_entry(struct reader *reader, const uint8_t *at, struct error *error) {
    const uint32_t type = unpack_u16(at), size = unpack_u16(at + 2);
    const uint64_t value = get_u64(at + 4);
    if (type >= ENTRY_TYPES)
        return error_set(error, "an entry of unknown type %" PRIu32, type), -1;
    if (type == ENTRY_THREAD)
        return waiting_insns_thread(&reader->insns, value, error);
    if (type == ENTRY_PID) {
        reader->several_processes |= reader->process && reader->process != value;
        reader->process = value;
    } else if (type == ENTRY_MARKER) {
        return take_marker(reader, size, value, error) ? 1 : -1;
    } else if (type == ENTRY_ENCODING) {
        return waiting_insns_code(&reader->insns, at + 4, size <= 8 ? size : 8, error) ? 1 : -1;
    } else if (type == ENTRY_HEADER) {
        reader->version = value;
    } else if (reader->insns.thread == UINT32_MAX) {
        return 1;
    } else if (reader->in_kernel) {
        reader->kernel += type >= ENTRY_INSTR && type <= ENTRY_RETURN;
        waiting_insns_forget_code(&reader->insns);
    } else if ((type >= ENTRY_INSTR && type <= ENTRY_RETURN) || type == ENTRY_SYSENTER ||
               type == ENTRY_TAKEN || type == ENTRY_UNTAKEN) {
        return waiting_insns_add(&reader->insns, kind_of_type(type), size, value, error) ? 1 : -1;
    } else if (type == ENTRY_NO_FETCH) {
        waiting_insns_element(&reader->insns, value);
    } else if (type <= ENTRY_PREFETCH_WRITE) {
        waiting_insns_access(&reader->insns, type == ENTRY_WRITE, size, value);
    }
    return 1;
}

/* ---- items ---- */

/* 1: an item; 0: there is nothing more; −1: error. */
static int next_data(struct reader *reader, struct item *item, struct error *error) {
    bool flush = false;
    for (;;) {
        if (foreign_blocks_next(&reader->insns.blocks, flush, item))
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
        if (foreign_blocks_next(&reader->insns.blocks, true, item))
            return 1;
        const int status = waiting_insns_finish(&reader->insns, error);
        if (status <= 0)
            return status;
    }
}

static bool found_note(struct reader *reader, uint32_t number) {
    char *note = reader->note;
    const size_t size = sizeof reader->note;
    const uint64_t missing = reader->insns.unknown;
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
                 text_count(missing).s, text_count(reader->insns.instructions).s);
        return missing;
    case 2:
        snprintf(note, size,
                 "%s time%s what follows an instruction does not follow from it: instructions are "
                 "missing there",
                 text_count(reader->insns.gaps).s, text_plural(reader->insns.gaps));
        return reader->insns.gaps;
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
                 text_count(reader->insns.dropped).s, reader->insns.dropped == 1 ? "" : "es",
                 reader->insns.dropped == 1 ? "is" : "are");
        return reader->insns.dropped;
    }
}

enum { STAGE_DATA = FOREIGN_BEGUN, STAGE_FINISH, STAGE_NOTES, STAGE_END };
enum { NOTE_COUNT = 7 };

static int next(void *context, struct item *item, struct error *error) {
    struct reader *reader = context;
    int status;
    if (reader->stage < FOREIGN_BEGUN) {
        *item = foreign_beginning(reader->stage++, unpack_path(reader->unpack),
                                  "DynamoRIO drmemtrace", DRMEMTRACE_IMAGE);
        return 1;
    }
    switch (reader->stage) {
    case STAGE_DATA:
        if ((status = next_data(reader, item, error)))
            return status;
        reader->stage++;
        if (!waiting_insns_leave(&reader->insns, error))
            return -1;
        if (foreign_blocks_next(&reader->insns.blocks, true, item))
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
    waiting_insns_free(&reader->insns);
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
    waiting_insns_begin(&reader->insns);
    *source = (struct item_source){.next = next,
                                   .where = where,
                                   .interrupt = interrupt,
                                   .close = close_reader,
                                   .context = reader};
    return true;
}
