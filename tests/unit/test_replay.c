/* perf's records become samples in files: which address meant what, and when. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "live/address_map.h"
#include "live/perf_record.h"
#include "live/perf_ring.h"
#include "live/replay.h"
#include "live/walked_stack.h"

/* ---- address maps ---- */

static void add(struct address_map *map, uint64_t start, uint64_t end, uint64_t offset,
                uint64_t inode) {
    struct address_range range = {
        .start = start, .end = end, .offset = offset, .kind = PLACE_FILE, .file.inode = inode};
    assert_true(address_map_add(map, &range));
}

/* "inode@offset" of an address, "-" where there is nothing. */
static const char *at(const struct address_map *map, uint64_t address) {
    static char texts[8][32];
    static unsigned next;
    char *text = texts[next++ % 8];
    const struct address_range *range = address_map_find(map, address);
    if (!range)
        return "-";
    snprintf(text, 32, "%llu@%llx", (unsigned long long)range->file.inode,
             (unsigned long long)(address - range->start + range->offset));
    return text;
}

static void a_mapping_replaces_what_it_covers(void **state) {
    (void)state;
    struct address_map map = {0};
    assert_null(address_map_find(&map, 0));
    add(&map, 0x1000, 0x5000, 0x100, 1);
    add(&map, 0x2000, 0x3000, 0, 2); /* in the middle */
    assert_string_equal(at(&map, 0x1fff), "1@10ff");
    assert_string_equal(at(&map, 0x2000), "2@0");
    assert_string_equal(at(&map, 0x2fff), "2@fff");
    assert_string_equal(at(&map, 0x3000), "1@2100");
    assert_string_equal(at(&map, 0x5000), "-");
    add(&map, 0x0800, 0x1800, 0, 3); /* over the beginning */
    assert_string_equal(at(&map, 0x17ff), "3@fff");
    assert_string_equal(at(&map, 0x1800), "1@900");
    add(&map, 0x4800, 0x6000, 0, 4); /* over the end */
    assert_string_equal(at(&map, 0x47ff), "1@38ff");
    assert_string_equal(at(&map, 0x4800), "4@0");
    add(&map, 0x0800, 0x6000, 0, 5); /* over all */
    assert_int_equal(map.count, 1);
    add(&map, 0x0800, 0x6000, 0, 6); /* exactly */
    assert_int_equal(map.count, 1);
    assert_string_equal(at(&map, 0x800), "6@0");
    add(&map, 0x9000, 0x9000, 0, 7); /* nothing */
    add(&map, 0x9000, 0x8000, 0, 7);
    assert_int_equal(map.count, 1);
    address_map_free(&map);
}

/* Against an array that holds every address. */
static void random_mappings(void **state) {
    (void)state;
    enum { SPACE = 200 };
    uint64_t inode[SPACE] = {0}, start_of[SPACE] = {0};
    struct address_map map = {0};
    srand(7);
    for (uint64_t i = 1; i < 2000; i++) {
        uint64_t start = (uint64_t)rand() % SPACE, end = start + (uint64_t)rand() % 30;
        if (end > SPACE)
            end = SPACE;
        add(&map, start, end, 0, i);
        for (uint64_t address = start; address < end; address++) {
            inode[address] = i;
            start_of[address] = start;
        }
        for (uint64_t address = 0; address < SPACE; address++) {
            const struct address_range *range = address_map_find(&map, address);
            assert_int_equal(range ? range->file.inode : 0, inode[address]);
            if (range)
                assert_int_equal(address - range->start + range->offset,
                                 address - start_of[address]);
        }
    }
    address_map_free(&map);
}

/* ---- records ---- */

static size_t put_header(uint8_t *bytes, uint32_t type, uint16_t misc, uint16_t size) {
    struct perf_event_header header = {.type = type, .misc = misc, .size = size};
    memcpy(bytes, &header, sizeof header);
    return sizeof header;
}

static void put64(uint8_t *bytes, uint64_t word) {
    memcpy(bytes, &word, sizeof word);
}

static void records_of_any_size(void **state) {
    (void)state;
    struct perf_record record;
    static const uint32_t TYPES[] = {
        PERF_RECORD_SAMPLE, PERF_RECORD_MMAP2, PERF_RECORD_COMM,         PERF_RECORD_FORK,
        PERF_RECORD_EXIT,   PERF_RECORD_LOST,  PERF_RECORD_LOST_SAMPLES, 9999};
    for (size_t type = 0; type < sizeof TYPES / sizeof *TYPES; type++)
        for (uint16_t size = 0; size < 160; size++) {
            uint8_t *bytes = malloc(size < 8 ? 8 : size);
            memset(bytes, 'x', size < 8 ? 8 : size);
            put_header(bytes, TYPES[type], PERF_RECORD_MISC_USER, size);
            perf_record_read(bytes, size, true, &record);
            perf_record_time(bytes, size);
            /* Names without an end. */
            if (TYPES[type] == PERF_RECORD_MMAP2 || TYPES[type] == PERF_RECORD_COMM)
                assert_false(perf_record_read(bytes, size, true, &record));
            free(bytes);
        }
}

static void a_sample_is_read(void **state) {
    (void)state;
    uint8_t bytes[40];
    struct perf_record record;
    put_header(bytes, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL, 40);
    put64(bytes + 8, 17);
    put64(bytes + 16, 0xffffffff81000000);
    put64(bytes + 24, UINT64_C(43) << 32 | 42);
    put64(bytes + 32, 99);
    assert_true(perf_record_read(bytes, 40, true, &record));
    assert_true(record.kernel);
    assert_int_equal(record.id, 17);
    assert_int_equal(record.pid, 42);
    assert_int_equal(record.tid, 43);
    assert_int_equal(record.time, 99);
    assert_int_equal(perf_record_time(bytes, 40), 99);
    assert_false(perf_record_read(bytes, 39, true, &record));
}

/* The kernel leaves the mark of build ids in records of events that did not ask for them. */
static void a_mark_of_build_ids_that_were_not_asked_for(void **state) {
    (void)state;
    enum { NAME = 72, TRAILER = NAME + 8, END = TRAILER + 24 };
    uint8_t bytes[END] = {0};
    struct perf_record record;
    put_header(bytes, PERF_RECORD_MMAP2, PERF_RECORD_MISC_MMAP_BUILD_ID, END);
    put64(bytes + 40, UINT64_C(3) << 32 | 254); /* major, minor */
    put64(bytes + 48, 77);                      /* inode */
    memcpy(bytes + NAME, "/bin/a", 7);
    assert_true(perf_record_read(bytes, END, false, &record));
    assert_int_equal(record.device, UINT64_C(254) << 32 | 3);
    assert_int_equal(record.inode, 77);
    assert_int_equal(record.build_id_size, 0);
    bytes[40] = 20;
    assert_true(perf_record_read(bytes, END, true, &record));
    assert_int_equal(record.build_id_size, 20);
}

/* Two callers in the kernel, 17 registers of user code, and a stack of which 8 bytes of 16 were
 * copied. */
static void a_sample_with_its_stack_is_read(void **state) {
    (void)state;
    enum { CHAIN = 40, REGISTERS = CHAIN + 8 * 4, STACK = REGISTERS + 8 * 18, END = STACK + 32 };
    uint8_t bytes[END] = {0};
    struct perf_record record;
    put_header(bytes, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL, END);
    put64(bytes + CHAIN, 3);
    put64(bytes + CHAIN + 8, (uint64_t)PERF_CONTEXT_KERNEL);
    put64(bytes + CHAIN + 16, 0xffffffff81000000);
    put64(bytes + CHAIN + 24, 0xffffffff81000100);
    put64(bytes + REGISTERS, PERF_SAMPLE_REGS_ABI_64);
    for (unsigned i = 0; i < 17; i++)
        put64(bytes + REGISTERS + 8 + 8 * i, 100 + i);
    put64(bytes + STACK, 16);
    put64(bytes + STACK + 8, 0x1122334455667788);
    put64(bytes + STACK + 24, 8);
    assert_true(perf_record_read(bytes, END, true, &record));
    assert_true(record.has_stack);
    assert_int_equal(record.chain_count, 3);
    /* perf counts ax, bx, cx, dx, si, di, bp, sp, ip, r8 ..., DWARF ax, dx, cx, bx, si, di, bp ...
     */
    static const unsigned PERF[UNWIND_REGISTERS] = {0,  3,  2,  1,  4,  5,  6,  7, 9,
                                                    10, 11, 12, 13, 14, 15, 16, 8};
    for (unsigned i = 0; i < UNWIND_REGISTERS; i++)
        assert_int_equal(record.registers.values[i], 100 + PERF[i]);
    assert_int_equal(record.stack.address, 107);
    assert_int_equal(record.stack.size, 8);
    assert_int_equal(record.stack.bytes[0], 0x88);
    /* Sizes that lie: of the chain, of the stack, of what was copied. */
    put64(bytes + STACK + 24, 17);
    assert_false(perf_record_read(bytes, END, true, &record));
    put64(bytes + STACK + 24, 8);
    put64(bytes + STACK, 24);
    assert_false(perf_record_read(bytes, END, true, &record));
    put64(bytes + STACK, 16);
    put64(bytes + CHAIN, UINT64_MAX / 8);
    assert_false(perf_record_read(bytes, END, true, &record));
}

/* ---- rings ---- */

struct seen {
    uint64_t times[16];
    size_t count;
};

static bool see(void *context, size_t ring, const uint8_t *record, size_t size,
                struct error *error) {
    (void)error, (void)ring;
    struct seen *seen = context;
    seen->times[seen->count++] = perf_record_time(record, size);
    return true;
}

/* A sample with room for 16 KB of stack, of which 20 bytes were written, around the end of a ring
 * of eight pages: what is left of it says the same. */
static void unused_room_for_stacks_is_not_copied(void **state) {
    (void)state;
    enum { ROOM = 16384, STACK = 40 + 8 + 8, END = STACK + 8 + ROOM + 8, BEFORE = 40 };
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), size = 16 * page;
    uint8_t *mapped = calloc(1, page + size), record[END] = {0};
    struct perf_event_mmap_page *control = (struct perf_event_mmap_page *)mapped;
    struct perf_ring ring = {.mapped = mapped, .data_bytes = size};
    struct error error = {0};
    struct perf_record found;
    put_header(record, PERF_RECORD_SAMPLE, 0, END);
    put64(record + 32, 77); /* time; no callers, no registers */
    put64(record + STACK, ROOM);
    memcpy(record + STACK + 8, "twenty bytes of stack", 20);
    put64(record + STACK + 8 + ROOM, 20);
    control->data_tail = size - BEFORE;
    control->data_head = control->data_tail + END;
    memcpy(mapped + page + size - BEFORE, record, BEFORE);
    memcpy(mapped + page, record + BEFORE, END - BEFORE);
    assert_true(perf_ring_read(&ring, &error));
    assert_int_equal(control->data_tail, control->data_head);
    assert_int_equal(ring.pending_end, STACK + 8 + 24 + 8);
    assert_true(perf_record_read(ring.pending, ring.pending_end, true, &found));
    assert_int_equal(found.time, 77);
    assert_int_equal(found.stack.size, 20);
    assert_memory_equal(found.stack.bytes, "twenty bytes of stack", 20);
    /* More written than there was room for: left as it is, and not believed. */
    control->data_head = control->data_tail + END;
    put64(record + STACK + 8 + ROOM, ROOM + 8);
    memcpy(mapped + page + control->data_tail % size, record, END);
    ring.pending_end = 0;
    assert_true(perf_ring_read(&ring, &error));
    assert_int_equal(ring.pending_end, END);
    assert_false(perf_record_read(ring.pending, ring.pending_end, true, &found));
    free(ring.pending);
    free(mapped);
}

static void rings_are_merged_by_time(void **state) {
    (void)state;
    static const uint64_t TIMES[2][3] = {{1, 4, 9}, {2, 3, 20}};
    uint8_t bytes[2][3 * 40 + 3] = {{0}};
    struct perf_ring rings[3] = {{0}};
    for (int ring = 0; ring < 2; ring++) {
        for (int i = 0; i < 3; i++) {
            put_header(bytes[ring] + 40 * i, PERF_RECORD_SAMPLE, 0, 40);
            put64(bytes[ring] + 40 * i + 32, TIMES[ring][i]);
        }
        rings[ring].pending = bytes[ring];
        rings[ring].pending_end = 3 * 40;
    }
    rings[1].pending_end += 3; /* a damaged rest */
    struct seen seen = {0};
    struct error error;
    assert_true(perf_rings_merge(rings, 3, 5, see, &seen, &error));
    assert_int_equal(seen.count, 4);
    assert_true(perf_rings_merge(rings, 3, UINT64_MAX, see, &seen, &error));
    const uint64_t wanted[] = {1, 2, 3, 4, 9, 20};
    assert_int_equal(seen.count, 6);
    assert_memory_equal(seen.times, wanted, sizeof wanted);
}

/* ---- replay ---- */

struct heard {
    char text[4096];
};

static bool hear_process(void *context, const struct live_process *process, struct error *error) {
    (void)error;
    struct heard *heard = context;
    size_t used = strlen(heard->text);
    snprintf(heard->text + used, sizeof heard->text - used, "%u.%u=%s ", process->key.pid,
             process->key.exec, process->command);
    return true;
}

static bool hear_file(void *context, const struct live_file *file, struct error *error) {
    (void)error;
    struct heard *heard = context;
    size_t used = strlen(heard->text);
    snprintf(heard->text + used, sizeof heard->text - used, "%s%s ", file->path,
             file->build_id_size ? "#" : "");
    return true;
}

static bool hear_sample(void *context, const struct live_sample *sample, struct error *error) {
    (void)error;
    static const char *const KINDS[] = {"file", "kernel", "anonymous", "vdso", "unknown"};
    struct heard *heard = context;
    size_t used = strlen(heard->text);
    char inode[32] = "";
    if (sample->at.place == PLACE_FILE && sample->at.file.device != LIVE_DEVICE_NONE)
        snprintf(inode, sizeof inode, "%llu", (unsigned long long)sample->at.file.inode);
    snprintf(heard->text + used, sizeof heard->text - used, "%u.%u:%s%s+%llx ", sample->process.pid,
             sample->process.exec, KINDS[sample->at.place], inode,
             (unsigned long long)sample->at.offset);
    return true;
}

static struct heard heard;
static struct replay *replay;

static int set_up(void **state) {
    (void)state;
    heard.text[0] = 0;
    struct live_sink sink = {&heard, hear_process, hear_file, hear_sample};
    replay = replay_new(&sink, NULL, NULL);
    return replay ? 0 : -1;
}
static int tear_down(void **state) {
    (void)state;
    replay_free(replay);
    return 0;
}

static void tell(struct perf_record record) {
    struct error error = {0};
    if (!replay_record(replay, &record, 0, &error))
        fail_msg("%s", error.message);
}

static void run_program(uint32_t pid, const char *name) {
    tell((struct perf_record){
        .type = PERF_RECORD_COMM, .pid = pid, .tid = pid, .exec = true, .name = name});
}

static void map_file(uint32_t pid, uint64_t start, uint64_t length, uint64_t inode,
                     const char *name) {
    tell((struct perf_record){.type = PERF_RECORD_MMAP2,
                              .pid = pid,
                              .start = start,
                              .length = length,
                              .offset = 0x100,
                              .inode = inode,
                              .name = name});
}

static void take_sample(uint32_t pid, uint64_t address, bool kernel) {
    tell((struct perf_record){
        .type = PERF_RECORD_SAMPLE, .pid = pid, .address = address, .kernel = kernel});
}

static void fork_process(uint32_t pid, uint32_t tid, uint32_t parent) {
    tell((struct perf_record){.type = PERF_RECORD_FORK, .pid = pid, .tid = tid, .parent = parent});
}

static void end_thread(uint32_t pid, uint32_t tid) {
    tell((struct perf_record){.type = PERF_RECORD_EXIT, .pid = pid, .tid = tid});
}

static void places(void **state) {
    (void)state;
    run_program(42, "app");
    map_file(42, 0x1000, 0x1000, 7, "/usr/bin/app (deleted)");
    map_file(42, 0x4000, 0x1000, 0, "[vdso]");
    map_file(42, 0x6000, 0x1000, 0, "//anon");
    map_file(42, 0x7000, 0x1000, 9, "/memfd:jit");
    take_sample(42, 0x1010, false);
    take_sample(42, 0x4010, false);
    take_sample(42, 0x6010, false);
    take_sample(42, 0x7010, false);
    take_sample(42, 0x9010, false);
    take_sample(42, 0x1010, true);
    assert_string_equal(heard.text,
                        "42.2=app /usr/bin/app 42.2:file7+110 42.2:vdso+10 42.2:anonymous+6010 "
                        "42.2:anonymous+7010 42.2:unknown+9010 42.2:kernel+1010 ");
}

/* A child has its parent's map until it calls exec. */
static void forks_and_execs(void **state) {
    (void)state;
    run_program(42, "sh");
    map_file(42, 0x1000, 0x1000, 7, "/bin/sh");
    fork_process(50, 50, 42);
    take_sample(50, 0x1000, false);
    run_program(50, "ls");
    take_sample(50, 0x1000, false);
    map_file(50, 0x1000, 0x1000, 8, "/bin/ls");
    take_sample(50, 0x1000, false);
    take_sample(42, 0x1000, false);
    assert_string_equal(heard.text, "42.2=sh /bin/sh 50.4=sh 50.4:file7+100 50.5=ls "
                                    "50.5:unknown+1000 /bin/ls 50.5:file8+100 42.2:file7+100 ");
}

static void threads_share_a_map(void **state) {
    (void)state;
    run_program(42, "app");
    map_file(42, 0x1000, 0x1000, 7, "/bin/app");
    fork_process(42, 43, 42);
    tell((struct perf_record){.type = PERF_RECORD_COMM, .pid = 42, .tid = 43, .name = "worker"});
    end_thread(42, 42); /* the first thread need not be the last */
    take_sample(42, 0x1000, false);
    assert_non_null(strstr(heard.text, "42.2:file7+100 "));
    assert_null(strstr(heard.text, "worker"));
    end_thread(42, 43);
    take_sample(42, 0x1000, false);
    assert_non_null(strstr(heard.text, "42.2:unknown+1000 "));
    /* The number goes to another process. */
    heard.text[0] = 0;
    fork_process(60, 60, 1);
    fork_process(42, 42, 60);
    take_sample(42, 0x1000, false);
    assert_null(strstr(heard.text, "42.2"));
}

/* One file is one key, also where the kernel tells build ids in place of numbers. */
static void build_ids_tell_files_apart(void **state) {
    (void)state;
    struct perf_record mapping = {.type = PERF_RECORD_MMAP2,
                                  .pid = 42,
                                  .start = 0x1000,
                                  .length = 0x1000,
                                  .name = "/bin/app",
                                  .build_id = {1, 2, 3},
                                  .build_id_size = 3};
    run_program(42, "app");
    tell(mapping);
    take_sample(42, 0x1010, false);
    assert_non_null(strstr(heard.text, "/bin/app# 42.2:file+10 "));
}

static void losses_are_counted(void **state) {
    (void)state;
    tell((struct perf_record){.type = PERF_RECORD_LOST, .lost = 5});
    tell((struct perf_record){.type = PERF_RECORD_LOST_SAMPLES, .lost = 2});
    take_sample(42, 0x1000, false);
    struct replay_statistics statistics;
    replay_statistics(replay, &statistics);
    assert_int_equal(statistics.lost, 7);
    assert_int_equal(statistics.samples, 1);
}

static void processes_that_ended_are_forgotten(void **state) {
    (void)state;
    struct replay_statistics statistics;
    run_program(1, "init");
    map_file(1, 0x1000, 0x1000, 9, "/sbin/init");
    for (uint32_t pid = 2; pid < 10000; pid++) {
        heard.text[0] = 0;
        tell((struct perf_record){.type = PERF_RECORD_FORK, .pid = pid, .tid = pid, .parent = 1});
        tell((struct perf_record){.type = PERF_RECORD_EXIT, .pid = pid, .tid = pid, .parent = 1});
    }
    replay_statistics(replay, &statistics);
    assert_in_range(statistics.processes, 1, 2500);
    heard.text[0] = 0;
    take_sample(1, 0x1010, false);
    assert_non_null(strstr(heard.text, "file9+110"));
}

/* ---- callers, of this very process ---- */

enum { COPIED = 1 << 16 };
static struct perf_record own;
static uint8_t copied[COPIED];

struct caught {
    struct live_frame frames[LIVE_FRAMES_MAX];
    size_t count;
    enum live_stack_end end;
    uint64_t alike;
};

static bool catch_process(void *context, const struct live_process *process, struct error *error) {
    (void)context, (void)process, (void)error;
    return true;
}
static bool catch_file(void *context, const struct live_file *file, struct error *error) {
    (void)context, (void)file, (void)error;
    return true;
}
static bool catch_sample(void *context, const struct live_sample *sample, struct error *error) {
    (void)error;
    struct caught *caught = context;
    caught->count = sample->caller_count;
    caught->end = sample->end;
    caught->alike = sample->alike;
    if (sample->caller_count)
        memcpy(caught->frames, sample->callers, sample->caller_count * sizeof *caught->frames);
    return true;
}

/* As memcpy(), which sanitizers watch: between the variables of a stack is more. */
static __attribute__((noinline, no_sanitize("address"))) void copy_stack(uint64_t from,
                                                                         uint64_t size) {
    const volatile uint8_t *stack = (const volatile uint8_t *)from;
    for (uint64_t i = 0; i < size; i++)
        copied[i] = stack[i];
}

/* The registers here and the stack from here to its end, as a sample would have them. */
static __attribute__((noinline)) void third(uint64_t stack_end) {
    uint64_t *values = own.registers.values;
    __asm__ volatile("mov %%rsp, %0; mov %%rbp, %1; mov %%rbx, %2; lea 0(%%rip), %3"
                     : "=m"(values[UNWIND_RSP]), "=m"(values[UNWIND_RBP]), "=m"(values[UNWIND_RBX]),
                       "=r"(values[UNWIND_RIP]));
    uint64_t size = stack_end - values[UNWIND_RSP];
    if (size > COPIED)
        size = COPIED;
    own.type = PERF_RECORD_SAMPLE;
    own.has_stack = true;
    own.registers.known = 1u << UNWIND_RSP | 1u << UNWIND_RBP | 1u << UNWIND_RBX | 1u << UNWIND_RIP;
    own.address = values[UNWIND_RIP];
    own.pid = own.tid = (uint32_t)getpid();
    own.stack = (struct unwind_memory){values[UNWIND_RSP], copied, size};
    copy_stack(values[UNWIND_RSP], size);
}
static __attribute__((noinline)) int second(uint64_t stack_end) {
    third(stack_end);
    return 2;
}
static __attribute__((noinline)) int first(uint64_t stack_end) {
    return second(stack_end) + 1;
}

static uint64_t stack_end(void) {
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[4096];
    unsigned long start, end = 0;
    assert_non_null(maps);
    while (fgets(line, sizeof line, maps))
        if (sscanf(line, "%lx-%lx", &start, &end) == 2 && (unsigned long)line >= start &&
            (unsigned long)line < end)
            break;
    fclose(maps);
    return end;
}

/* Whether a frame lies in a function of this program. */
static bool lies_in(const struct live_frame *frame, const void *function, uint64_t size) {
    static struct elf_image image;
    struct error error;
    uint64_t offset;
    if (!image.elf)
        assert_true(elf_image_open(&image, "/proc/self/exe", &error));
    extern const char __ehdr_start[];
    uint64_t base = image.header.e_type == ET_DYN ? (uint64_t)__ehdr_start : 0;
    assert_true(elf_image_address_to_offset(&image, (uint64_t)function - base, &offset));
    return frame->place == PLACE_FILE && frame->offset - offset < size;
}

static void catch_own(struct caught *caught) {
    static const struct live_roots ROOTS = {.proc = "/proc", .sys = "/sys", .files = ""};
    struct live_sink sink = {caught, catch_process, catch_file, catch_sample};
    struct unwinder *unwinder = unwinder_new(&ROOTS);
    struct error error = {0};
    assert_non_null(unwinder);
    struct replay *of_own = replay_new(&sink, unwinder, NULL);
    assert_non_null(of_own);
    if (!replay_attach(of_own, own.pid, &error) || !replay_record(of_own, &own, 0, &error))
        fail_msg("%s", error.message);
    replay_free(of_own);
    unwinder_free(unwinder);
}

static void callers_are_found(void **state) {
    (void)state;
    struct caught caught;
    assert_int_equal(first(stack_end()), 3);
    catch_own(&caught);
    assert_true(caught.count > 4);
    assert_true(lies_in(&caught.frames[0], second, 64));
    assert_true(lies_in(&caught.frames[1], first, 64));
    assert_true(lies_in(&caught.frames[2], callers_are_found, 512));
    assert_int_equal(caught.end, LIVE_STACK_WHOLE);
    /* In the kernel: behind its own callers stands what entered it, exactly. */
    uint64_t chain[] = {(uint64_t)PERF_CONTEXT_KERNEL, 0xffffffff81000000, 0xffffffff81000100,
                        0xffffffff81000200};
    own.kernel = true;
    own.chain = (const uint8_t *)chain;
    own.chain_count = 4;
    catch_own(&caught);
    assert_int_equal(caught.frames[0].place, PLACE_KERNEL);
    assert_int_equal(caught.frames[0].offset, 0xffffffff810000ff);
    assert_int_equal(caught.frames[1].offset, 0xffffffff810001ff);
    assert_true(lies_in(&caught.frames[2], third, 512));
    assert_true(lies_in(&caught.frames[3], second, 64));
    assert_int_equal(caught.end, LIVE_STACK_WHOLE);
    /* A thread of the kernel has no user code. */
    own.registers.known = 0;
    catch_own(&caught);
    assert_int_equal(caught.count, 2);
    assert_int_equal(caught.end, LIVE_STACK_WHOLE);
}

static void callers_are_cut(void **state) {
    (void)state;
    struct caught caught;
    own = (struct perf_record){0};
    assert_int_equal(first(stack_end()), 3);
    own.stack.size = 8;
    catch_own(&caught);
    assert_int_equal(caught.end, LIVE_STACK_TRUNCATED);
    /* Somewhere else altogether. */
    own.address = own.registers.values[UNWIND_RIP] = 16;
    catch_own(&caught);
    assert_int_equal(caught.end, LIVE_STACK_FAILED);
    assert_int_equal(caught.count, 0);
}

/* As the BPF program writes it: in user code, its caller and whoever called that. */
enum { WALKED_HEAD = offsetof(struct walk_stack, words) };
static const struct walk_stack WALKED = {.mark = WALK_STACK_MARK,
                                         .end = WALK_WHOLE,
                                         .has_user = 1,
                                         .count = 2,
                                         .id = 7,
                                         .address = 0x1010,
                                         .user = 0x1010,
                                         .words = {0x1023, 0x1044}};

static bool read_walked(const struct walk_stack *stack, size_t size, struct perf_record *record) {
    const uint32_t tasks[] = {42, 43};
    const uint64_t time = 99;
    static uint8_t bytes[44];
    memcpy(bytes + 24, tasks, sizeof tasks);
    memcpy(bytes + 32, &time, sizeof time);
    return walked_stack_read(bytes, (const uint8_t *)stack, size, 1, record);
}

static void a_walked_sample_is_read(void **state) {
    (void)state;
    struct walk_stack stack = WALKED;
    struct perf_record record, other;
    assert_true(read_walked(&stack, WALKED_HEAD + 16, &record));
    assert_int_equal(record.pid, 42);
    assert_int_equal(record.tid, 43);
    assert_int_equal(record.time, 99);
    assert_int_equal(record.id, 7);
    assert_int_equal(record.caller_count, 2);
    assert_int_equal(record.chain_count, 0);
    assert_int_equal(record.registers.values[UNWIND_RIP], 0x1010);
    assert_int_equal(record.end, LIVE_STACK_WHOLE);
    /* Alike are those that differ in the event alone. */
    stack.id = 8;
    assert_true(read_walked(&stack, WALKED_HEAD + 16, &other) && other.alike == record.alike);
    stack.words[1]++;
    assert_true(read_walked(&stack, WALKED_HEAD + 16, &other) && other.alike != record.alike);
    stack = WALKED;
    stack.end = WALK_FAILED;
    assert_true(read_walked(&stack, WALKED_HEAD + 16, &other) && other.alike != record.alike);
    /* What is not consistent is refused. */
    for (size_t size = 0; size < WALKED_HEAD + 16; size++)
        assert_false(read_walked(&WALKED, size, &other));
    stack = WALKED;
    stack.kernel = 3;
    assert_false(read_walked(&stack, WALKED_HEAD + 16, &other));
    stack = WALKED;
    stack.count = UINT32_MAX;
    assert_false(read_walked(&stack, sizeof stack, &other));
    /* With tops: one more, and two for each caller. */
    stack = WALKED;
    stack.has_tops = 1;
    for (uint32_t count = 0; count < 6; count++) {
        stack.count = count;
        assert_true(read_walked(&stack, sizeof stack, &other));
        assert_true(2 * other.caller_count + other.tops <= count);
    }
}

static void walked_callers_have_places(void **state) {
    (void)state;
    struct caught caught;
    struct walk_stack stack = WALKED;
    own = (struct perf_record){0};
    first(stack_end());
    const uint64_t address = own.address;
    stack.address = stack.user = address;
    stack.words[0] = (uint64_t)second + 1;
    stack.words[1] = (uint64_t)first + 1;
    assert_true(read_walked(&stack, sizeof stack, &own));
    own.pid = own.tid = (uint32_t)getpid();
    catch_own(&caught);
    assert_int_equal(caught.count, 2);
    assert_true(lies_in(&caught.frames[0], second, 64));
    assert_true(lies_in(&caught.frames[1], first, 64));
    assert_int_equal(caught.end, LIVE_STACK_WHOLE);
    assert_true(caught.alike);
    /* In the kernel: who entered it stands between. */
    stack = WALKED;
    stack.in_kernel = 1;
    stack.kernel = 3;
    stack.count = 4;
    stack.user = address;
    const uint64_t words[] = {(uint64_t)PERF_CONTEXT_KERNEL, 0xffffffff81000000, 0xffffffff81000100,
                              (uint64_t)second + 1};
    memcpy(stack.words, words, sizeof words);
    assert_true(read_walked(&stack, sizeof stack, &own));
    own.pid = own.tid = (uint32_t)getpid();
    catch_own(&caught);
    assert_int_equal(caught.count, 3);
    assert_int_equal(caught.frames[0].offset, 0xffffffff810000ff);
    assert_true(lies_in(&caught.frames[1], third, 512));
    assert_true(lies_in(&caught.frames[2], second, 64));
    /* Where nothing is mapped they end. */
    stack.words[3] = 16;
    assert_true(read_walked(&stack, sizeof stack, &own));
    own.pid = own.tid = (uint32_t)getpid();
    catch_own(&caught);
    assert_int_equal(caught.count, 2);
    assert_int_equal(caught.end, LIVE_STACK_FAILED);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_mapping_replaces_what_it_covers),
        cmocka_unit_test(random_mappings),
        cmocka_unit_test(records_of_any_size),
        cmocka_unit_test(a_sample_is_read),
        cmocka_unit_test(a_mark_of_build_ids_that_were_not_asked_for),
        cmocka_unit_test(a_sample_with_its_stack_is_read),
        cmocka_unit_test_setup_teardown(processes_that_ended_are_forgotten, set_up, tear_down),
        cmocka_unit_test(callers_are_found),
        cmocka_unit_test(callers_are_cut),
        cmocka_unit_test(a_walked_sample_is_read),
        cmocka_unit_test(walked_callers_have_places),
        cmocka_unit_test(unused_room_for_stacks_is_not_copied),
        cmocka_unit_test(rings_are_merged_by_time),
        cmocka_unit_test_setup_teardown(places, set_up, tear_down),
        cmocka_unit_test_setup_teardown(forks_and_execs, set_up, tear_down),
        cmocka_unit_test_setup_teardown(threads_share_a_map, set_up, tear_down),
        cmocka_unit_test_setup_teardown(build_ids_tell_files_apart, set_up, tear_down),
        cmocka_unit_test_setup_teardown(losses_are_counted, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
