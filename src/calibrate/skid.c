#include "calibrate/skid.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "host/assembler.h"
#include "live/event.h"
#include "live/perf_ring.h"
#include "util/clock.h"
#include "util/random.h"

enum {
    ADDITIONS = 48, /* more than SKID_MOST */
    LINE = 64,
    LINES = 1 << 19, /* 32 MiB */
    ROUNDS = 2000,   /* of the loop between two looks at the clock */
    RING_PAGES = 64,
    LEAST_SAMPLES = 200
};
static const double SECONDS = 0.5, SAMPLES_A_SECOND = 5200;

static_assert((int)ADDITIONS > (int)SKID_MOST, "the longest skid ends in the loop");

struct loop {
    uint8_t *code; /* void *(*)(void *node, uint64_t rounds) */
    size_t code_bytes;
    size_t begins[ADDITIONS + 2]; /* of the load, the additions, and what counts */
    void **nodes;
};

/* ---- the loop ---- */

#ifdef __x86_64__
static bool assemble(struct loop *loop, struct error *error) {
    static const ZydisRegister SUMS[] = {ZYDIS_REGISTER_RCX, ZYDIS_REGISTER_RDX, ZYDIS_REGISTER_R8,
                                         ZYDIS_REGISTER_R9};
    struct assembler code = {0};
    ASSEMBLE(&code, MOV, REG(RAX), REG(RDI));
    assembler_align(&code, LINE);
    struct label again = assembler_here(&code);
    loop->begins[0] = code.size;
    ASSEMBLE(&code, MOV, REG(RAX), MEMORY(RAX, 0, 64));
    for (unsigned i = 0; i < ADDITIONS; i++) {
        loop->begins[1 + i] = code.size;
        ASSEMBLE(&code, ADD, operand_register(SUMS[i % 4]), IMMEDIATE(1));
    }
    loop->begins[1 + ADDITIONS] = code.size;
    ASSEMBLE(&code, SUB, REG(RSI), IMMEDIATE(1));
    assembler_branch(&code, ZYDIS_MNEMONIC_JNZ, &again);
    assembler_bytes(&code, "\xc3", 1); /* ret */
    bool good = assembler_finish(&code, error);
    loop->code_bytes = code.size;
    loop->code =
        mmap(NULL, loop->code_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    good = good && (loop->code != MAP_FAILED || error_errno(error, "memory for code"));
    if (good) {
        memcpy(loop->code, code.code, code.size);
        good = mprotect(loop->code, loop->code_bytes, PROT_READ | PROT_EXEC) == 0 ||
               error_errno(error, "memory for code");
    }
    assembler_free(&code);
    return good;
}
#else
static bool assemble(struct loop *loop, struct error *error) {
    (void)loop;
    return error_set(error, "this is no x86-64 processor");
}
#endif

/* One cycle through all lines (Sattolo). */
static bool link_nodes(struct loop *loop, struct error *error) {
    const size_t stride = LINE / sizeof(void *);
    uint32_t *order = malloc(LINES * sizeof *order);
    loop->nodes = aligned_alloc(LINE, (size_t)LINES * LINE);
    bool good = (order && loop->nodes) || error_set(error, "out of memory for 32 MiB of lines");
    uint64_t state = 1;
    for (uint32_t i = 0; good && i < LINES; i++)
        order[i] = i;
    for (uint32_t i = LINES - 1; good && i > 0; i--) {
        const uint32_t other = (uint32_t)(random_next(&state) % i), kept = order[i];
        order[i] = order[other];
        order[other] = kept;
    }
    for (uint32_t i = 0; good && i < LINES; i++)
        loop->nodes[order[i] * stride] = &loop->nodes[order[(i + 1) % LINES] * stride];
    free(order);
    return good;
}

/* ---- samples ---- */

static void count(const struct loop *loop, uint64_t address, uint64_t counts[SKID_MOST + 1],
                  uint64_t *samples) {
    const uint64_t offset = address - (uint64_t)(uintptr_t)loop->code;
    if (address < (uint64_t)(uintptr_t)loop->code || offset < loop->begins[0] ||
        offset >= loop->code_bytes)
        return;
    unsigned distance = 0;
    while (distance < SKID_MOST && loop->begins[distance + 1] <= offset)
        distance++;
    counts[distance]++;
    ++*samples;
}

/* Lost samples do no harm: any will do. */
static void count_ring(const struct loop *loop, const struct perf_ring *ring,
                       uint64_t counts[SKID_MOST + 1], uint64_t *samples) {
    struct perf_event_header header;
    uint64_t address;
    for (size_t at = ring->pending_begin; at + sizeof header <= ring->pending_end;
         at += header.size) {
        memcpy(&header, ring->pending + at, sizeof header);
        if (header.size < sizeof header || header.size > ring->pending_end - at)
            return;
        if (header.type != PERF_RECORD_SAMPLE || header.size < sizeof header + sizeof address)
            continue;
        memcpy(&address, ring->pending + at + sizeof header, sizeof address);
        count(loop, address, counts, samples);
    }
}

static void run(const struct loop *loop, int counter) {
    void *(*chase)(void *, uint64_t) = (void *(*)(void *, uint64_t))(uintptr_t)loop->code;
    const double start = clock_processor();
    void *node = chase(loop->nodes, ROUNDS);
    ioctl(counter, PERF_EVENT_IOC_ENABLE, 0);
    while (clock_processor() - start < SECONDS)
        node = chase(node, ROUNDS);
    ioctl(counter, PERF_EVENT_IOC_DISABLE, 0);
}

static bool sample(const struct loop *loop, const struct live_event *event, struct skid *skid,
                   struct error *error) {
    struct perf_event_attr attributes;
    struct perf_ring ring = {0};
    uint64_t counts[SKID_MOST + 1] = {0}, samples = 0;
    live_event_attributes(event, &attributes);
    const int counter =
        (int)syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (counter < 0)
        return live_event_refused(event, errno, error);
    bool good =
        perf_ring_map(&ring, counter, RING_PAGES) || error_errno(error, "a buffer for samples");
    if (good) {
        run(loop, counter);
        good = perf_ring_read(&ring, error);
        count_ring(loop, &ring, counts, &samples);
        perf_ring_close(&ring);
    }
    close(counter);
    if (!good)
        return false;
    if (samples < LEAST_SAMPLES)
        return error_set(error, "only %llu samples of %s came in half a second",
                         (unsigned long long)samples, event->name);
    *skid = (struct skid){.samples = samples};
    for (unsigned i = 0; i <= SKID_MOST; i++)
        skid->shares[i] = (double)counts[i] / (double)samples;
    return true;
}

bool skid_measure(const char *event, struct skid *skid, struct error *error) {
    struct live_event events[LIVE_EVENTS_MAX];
    struct loop loop = {.code = MAP_FAILED};
    size_t event_count;
    bool good = live_events_choose(event, SAMPLES_A_SECOND, false, events, &event_count, error) &&
                assemble(&loop, error) && link_nodes(&loop, error) &&
                sample(&loop, &events[0], skid, error);
    if (loop.code != MAP_FAILED)
        munmap(loop.code, loop.code_bytes);
    free(loop.nodes);
    return good;
}
