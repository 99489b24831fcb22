/* Layouts as in perf_event_open(2). A sample begins with what PERF_RECORD_SAMPLE_TYPE names, and
 * goes on with what PERF_RECORD_STACK_TYPE names when its event was opened so; other records end
 * with it (sample_id_all): process and thread, time, identifier. The kernel's words are in the
 * order of the processor's, on all that culprit runs on least significant byte first. */
#include "live/perf_record.h"

#include <string.h>

#include "util/little_endian.h"

enum { SAMPLE_BYTES = 40, TRAILER_BYTES = 24, MMAP_NAME_AT = 72 };

struct reading {
    const uint8_t *next, *end;
};

static bool read_word(struct reading *reading, uint64_t *word) {
    if (reading->end - reading->next < 8)
        return false;
    *word = get_u64(reading->next);
    reading->next += 8;
    return true;
}

static bool read_bytes(struct reading *reading, uint64_t size, const uint8_t **bytes) {
    if (size > (size_t)(reading->end - reading->next))
        return false;
    *bytes = reading->next;
    reading->next += size;
    return true;
}

/* The registers in the order of perf's numbers, by those of DWARF. */
static bool read_registers(struct reading *reading, struct unwind_registers *registers) {
    static const uint8_t NUMBERS[] = {0, 3, 2,  1,  4,  5,  UNWIND_RBP, UNWIND_RSP, UNWIND_RIP,
                                      8, 9, 10, 11, 12, 13, 14,         15};
    uint64_t abi;
    if (!read_word(reading, &abi))
        return false;
    for (size_t i = 0; abi != PERF_SAMPLE_REGS_ABI_NONE && i < sizeof NUMBERS; i++)
        if (!read_word(reading, &registers->values[NUMBERS[i]]))
            return false;
    registers->known = abi == PERF_SAMPLE_REGS_ABI_64   ? (1u << UNWIND_REGISTERS) - 1
                       : abi == PERF_SAMPLE_REGS_ABI_32 ? 1u << UNWIND_RIP
                                                        : 0;
    return true;
}

/* A stack of `size` bytes has room in the record; as many as `copied` says are of the stack. */
static bool read_stack(struct reading *reading, struct perf_record *record) {
    uint64_t size, copied;
    if (!read_word(reading, &size))
        return false;
    if (!size)
        return true;
    if (!read_bytes(reading, size, &record->stack.bytes) || !read_word(reading, &copied) ||
        copied > size)
        return false;
    record->stack.size = copied;
    record->stack.address = record->registers.values[UNWIND_RSP];
    return true;
}

static bool read_callers(struct reading reading, struct perf_record *record) {
    uint64_t count;
    if (!read_word(&reading, &count) || count > (size_t)(reading.end - reading.next) / 8 ||
        !read_bytes(&reading, count * 8, &record->chain))
        return false;
    record->chain_count = count;
    record->has_stack = true;
    return read_registers(&reading, &record->registers) && read_stack(&reading, record);
}

static bool read_sample(const uint8_t *bytes, size_t size, uint16_t misc,
                        struct perf_record *record) {
    if (size < SAMPLE_BYTES)
        return false;
    record->id = get_u64(bytes + 8);
    record->address = get_u64(bytes + 16);
    record->pid = get_u32(bytes + 24);
    record->tid = get_u32(bytes + 28);
    record->time = get_u64(bytes + 32);
    record->kernel = (misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;
    return size == SAMPLE_BYTES ||
           read_callers((struct reading){bytes + SAMPLE_BYTES, bytes + size}, record);
}

static bool read_mmap(const uint8_t *bytes, size_t size, bool has_build_id,
                      struct perf_record *record) {
    if (size <= MMAP_NAME_AT)
        return false;
    record->pid = get_u32(bytes + 8);
    record->tid = get_u32(bytes + 12);
    record->start = get_u64(bytes + 16);
    record->length = get_u64(bytes + 24);
    record->offset = get_u64(bytes + 32);
    if (has_build_id) {
        record->build_id_size = bytes[40];
        if (record->build_id_size > 20)
            return false;
        memcpy(record->build_id, bytes + 44, record->build_id_size);
    } else {
        record->device = (uint64_t)get_u32(bytes + 40) << 32 | get_u32(bytes + 44);
        record->inode = get_u64(bytes + 48);
        record->generation = (uint32_t)get_u64(bytes + 56);
    }
    record->name = (const char *)bytes + MMAP_NAME_AT;
    return memchr(record->name, 0, size - MMAP_NAME_AT);
}

static bool read_comm(const uint8_t *bytes, size_t size, uint16_t misc,
                      struct perf_record *record) {
    if (size <= 16)
        return false;
    record->pid = get_u32(bytes + 8);
    record->tid = get_u32(bytes + 12);
    record->exec = misc & PERF_RECORD_MISC_COMM_EXEC;
    record->name = (const char *)bytes + 16;
    return memchr(record->name, 0, size - 16);
}

/* FORK and EXIT are laid out alike. */
static bool read_task(const uint8_t *bytes, size_t size, struct perf_record *record) {
    if (size < 32)
        return false;
    record->pid = get_u32(bytes + 8);
    record->parent = get_u32(bytes + 12);
    record->tid = get_u32(bytes + 16);
    return true;
}

/* Nothing but who, when, and of which event. */
static bool read_switch(const uint8_t *trailer, uint16_t misc, struct perf_record *record) {
    record->pid = get_u32(trailer);
    record->tid = get_u32(trailer + 4);
    record->id = get_u64(trailer + 16);
    record->leaves = misc & PERF_RECORD_MISC_SWITCH_OUT;
    record->runnable = misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT;
    return true;
}

bool perf_record_read(const uint8_t *bytes, size_t size, bool build_ids,
                      struct perf_record *record) {
    struct perf_event_header header;
    if (size < sizeof header)
        return false;
    memcpy(&header, bytes, sizeof header);
    if (header.size < sizeof header || header.size > size)
        return false;
    *record = (struct perf_record){.type = header.type};
    size = header.size;
    if (header.type == PERF_RECORD_SAMPLE)
        return read_sample(bytes, size, header.misc, record);
    if (size < sizeof header + TRAILER_BYTES)
        return false;
    size -= TRAILER_BYTES;
    record->time = get_u64(bytes + size + 8);
    switch (header.type) {
    case PERF_RECORD_MMAP2:
        return read_mmap(bytes, size, build_ids && header.misc & PERF_RECORD_MISC_MMAP_BUILD_ID,
                         record);
    case PERF_RECORD_COMM:
        return read_comm(bytes, size, header.misc, record);
    case PERF_RECORD_FORK:
    case PERF_RECORD_EXIT:
        return read_task(bytes, size, record);
    case PERF_RECORD_SWITCH:
        return read_switch(bytes + size, header.misc, record);
    case PERF_RECORD_LOST: /* the event's id, then how many */
        record->lost = size >= 24 ? get_u64(bytes + 16) : 0;
        return size >= 24;
    case PERF_RECORD_LOST_SAMPLES:
        record->lost = size >= 16 ? get_u64(bytes + 8) : 0;
        return size >= 16;
    default:
        return true;
    }
}

bool perf_record_find_stack(const uint8_t *head, size_t size, size_t *at, size_t *room) {
    struct perf_event_header header;
    struct perf_record record;
    uint64_t count, bytes;
    memcpy(&header, head, sizeof header);
    const size_t known = size < PERF_RECORD_HEAD_BYTES ? size : PERF_RECORD_HEAD_BYTES;
    struct reading reading = {head + SAMPLE_BYTES, head + known};
    if (header.type != PERF_RECORD_SAMPLE || size <= SAMPLE_BYTES || !read_word(&reading, &count) ||
        count > (size_t)(reading.end - reading.next) / 8)
        return false;
    reading.next += 8 * count;
    if (!read_registers(&reading, &record.registers))
        return false;
    *at = (size_t)(reading.next - head);
    if (!read_word(&reading, &bytes) || !bytes || bytes > size || size - bytes < *at + 16)
        return false;
    *room = (size_t)bytes;
    return true;
}

uint64_t perf_record_time(const uint8_t *bytes, size_t size) {
    struct perf_event_header header;
    if (size < sizeof header)
        return 0;
    memcpy(&header, bytes, sizeof header);
    if (header.type == PERF_RECORD_SAMPLE)
        return size >= 40 ? get_u64(bytes + 32) : 0;
    return size >= sizeof header + TRAILER_BYTES ? get_u64(bytes + size - TRAILER_BYTES + 8) : 0;
}
