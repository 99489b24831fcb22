/* Triggers and built-in tracers over records written by hand, worked out to the byte. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "attribute/attribute.h"
#include "attribute/call_stacks.h"
#include "attribute/tracers.h"
#include "packed_life.h"
#include "tap/life.h"
#include "tap_script.h"

/* Code at 0x1000: static instruction n is 4 bytes long at 0x1000 + 4 n. */
enum { INSNS = 64 };
static struct static_insn insns[INSNS];
static struct code_image image = {.path = (char *)"/bin/made-up", .kind = CODE_IMAGE_ANONYMOUS};
static struct code code = {
    .isa = ISA_RISCV64, .insns = insns, .insn_count = INSNS, .images = &image, .image_count = 1};
static struct places *places;
static struct tap_script *script;
static char path[64];

static int set_up(void **state) {
    (void)state;
    struct error error;
    for (uint32_t i = 0; i < INSNS; i++)
        insns[i] = (struct static_insn){.address = 0x1000 + 4 * i, .offset = 4 * i, .length = 4};
    script = tap_script_new();
    snprintf(path, sizeof path, "build/tracer-%d", (int)getpid());
    places = places_new();
    return !places_learn(places, &code, &error);
}

static int tear_down(void **state) {
    (void)state;
    char blocks[80];
    snprintf(blocks, sizeof blocks, "%s.blocks", path);
    unlink(path);
    unlink(blocks);
    tap_script_free(script);
    places_free(places);
    return 0;
}

static void relearn(void) {
    struct error error;
    places_free(places);
    places = places_new();
    assert_true(places_learn(places, &code, &error));
}

static uint64_t uop(uint32_t insn, uint32_t psv) {
    return tap_uop(insn, psv, TAP_UOP_LAST);
}

static void commit(uint64_t cycle, enum tap_empty why, uint64_t empty, unsigned n,
                   const uint64_t *uops) {
    script_record(script, TAP_COMMIT, cycle, why, empty, n, uops);
}

/* ---- a tracer over the script, in one buffer ---- */

struct tracing {
    const struct tracer_kind *kind;
    void *tracer, *lane;
};

static struct tracing start_tracing(const struct tracer_kind *kind, uint64_t interval,
                                    uint32_t thread) {
    struct error error = {0};
    const struct tracer_options options = {.path = path, .interval = interval, .places = places};
    struct tracing tracing = {.kind = kind, .tracer = kind->open(&options, &error)};
    assert_non_null(tracing.tracer);
    tracing.lane = kind->begin(tracing.tracer, (struct tap_source){.thread = thread}, &error);
    assert_non_null(tracing.lane);
    return tracing;
}

static void show_buffer(struct tracing *tracing) {
    struct error error = {0};
    assert_true(tracing->kind->consume(tracing->lane, &script->buffer, &error));
    script_next_buffer(script);
}

static size_t finish_tracing(struct tracing *tracing, char *text, size_t size) {
    struct error error = {0};
    assert_true(tracing->kind->end(tracing->lane, &error));
    assert_true(tracing->kind->close(tracing->tracer, &code, &error));
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    size_t length = fread(text, 1, size - 1, file);
    fclose(file);
    text[length] = 0;
    return length;
}

static void expect_file(struct tracing *tracing, const char *expected) {
    char text[4096];
    finish_tracing(tracing, text, sizeof text);
    assert_string_equal(text, expected);
}

/* ---- triggers ---- */

struct seen {
    uint64_t calls, first_cycle, last_cycle, uops, start_uop, start_commit, closings;
    bool whole; /* the buffer itself was shown */
};

static bool see(void *context, const struct tap_buffer *buffer, struct error *error) {
    struct seen *seen = context;
    (void)error;
    const struct tap_index *index = tap_index(buffer);
    assert_non_null(index);
    if (seen->calls++ == 0) {
        seen->start_uop = buffer->start.uop;
        seen->start_commit = buffer->start.last_commit;
        seen->first_cycle = index->closing[0].cycle;
        assert_int_equal(index->closing[0].sequence, buffer->start.uop);
    }
    seen->whole = buffer == &script->buffer;
    seen->closings += index->closing_count;
    for (uint32_t i = 0; i < index->closing_count; i++) {
        struct tap_record record;
        tap_read(buffer->words + index->closing[i].word, &record);
        seen->uops += record.count;
    }
    seen->last_cycle = index->closing[index->closing_count - 1].cycle;
    return true;
}

/* Ten commits of two, in cycles 10, 20 ... 100, of instructions 0 and 1, 2 and 3, ...; instruction
 * 2 k + 1 is loop's: insn 40. Five to a buffer. */
static struct seen see_through(const char *start, const char *stop) {
    struct trigger from = {0}, to = {0};
    struct error error = {0};
    assert_true(!start || trigger_parse(start, &from, &error));
    assert_true(!stop || trigger_parse(stop, &to, &error));
    struct seen seen = {0};
    const struct tap_worker worker = {.name = "seen", .consume = see, .context = &seen};
    struct gate *gate = gate_new(&worker, &from, &to, places);
    struct tap_worker outer = gate_worker(gate);
    tap_script_free(script);
    script = tap_script_new();
    for (uint32_t i = 0; i < 10; i++) {
        commit(10 * (i + 1), TAP_DRAINED, 0, UOPS(uop(2 * i, 0), uop(40, 0)));
        if (i % 5 == 4) {
            assert_true(outer.consume(outer.context, &script->buffer, &error));
            script_next_buffer(script);
        }
    }
    gate_free(gate);
    return seen;
}

static void triggers(void **state) {
    (void)state;
    struct seen seen = see_through(NULL, NULL);
    assert_int_equal(seen.closings, 10);
    assert_true(seen.whole);
    /* Cycles: the commits of 30, 40, 50 and 60, from the state after that of 20. */
    seen = see_through("cycle:21", "cycle:61");
    assert_int_equal(seen.first_cycle, 30);
    assert_int_equal(seen.last_cycle, 60);
    assert_int_equal(seen.closings, 4);
    assert_int_equal(seen.start_uop, 4);
    assert_int_equal(seen.start_commit, 20);
    seen = see_through("cycle:30", "cycle:60");
    assert_int_equal(seen.first_cycle, 30);
    assert_int_equal(seen.last_cycle, 50);
    /* Instruction 5 is in the third commit, 8 in the fifth: those of 30 and 40. */
    seen = see_through("insn:5", "insn:8");
    assert_int_equal(seen.first_cycle, 30);
    assert_int_equal(seen.last_cycle, 40);
    assert_int_equal(seen.uops, 4);
    /* Instruction 40 lies at 0x10a0 and commits in every cycle; 14 at 0x1038, in cycle 80. */
    seen = see_through("0x10a0:7", "0x1038");
    assert_int_equal(seen.first_cycle, 70);
    assert_int_equal(seen.last_cycle, 70);
    /* Never. */
    assert_int_equal(see_through("0x10a0:11", NULL).calls, 0);
    assert_int_equal(see_through("cycle:60", "cycle:20").calls, 0);
    /* A whole buffer is shown as it is, so that its index is shared. */
    seen = see_through("cycle:60", "cycle:1000");
    assert_int_equal(seen.calls, 1);
    assert_true(seen.whole);
}

static bool see_lives(void *context, const struct tap_buffer *buffer, struct error *error) {
    uint64_t *ends = context; /* a bit each */
    (void)error;
    for (uint32_t i = 0; i < buffer->life_count; i++)
        *ends |= UINT64_C(1) << buffer->lives[i].end;
    return true;
}

/* Lives are shown with the commits of their µops, also those that lie in the buffer behind: commits
 * in 10, 20 | 30, 40 | and lives that ended in 10 | 20, 30 | 40. */
static void triggers_cut_lives(void **state) {
    (void)state;
    const struct {
        const char *start, *stop;
        uint64_t ends;
    } cases[] = {{"cycle:20", NULL, 1 << 20 | 1 << 30 | UINT64_C(1) << 40},
                 {"cycle:21", NULL, 1 << 30 | UINT64_C(1) << 40},
                 {"cycle:20", "cycle:30", 1 << 20},
                 {"cycle:5", "cycle:20", 1 << 10},
                 {"cycle:30", "cycle:40", 1 << 30}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct trigger from = {0}, to = {0};
        struct error error = {0};
        assert_true(trigger_parse(cases[i].start, &from, &error));
        assert_true(!cases[i].stop || trigger_parse(cases[i].stop, &to, &error));
        uint64_t ends = 0;
        const struct tap_worker worker = {
            .name = "lives", .kinds = 1 << TAP_LIFE, .consume = see_lives, .context = &ends};
        struct gate *gate = gate_new(&worker, &from, &to, places);
        struct tap_worker outer = gate_worker(gate);
        struct packed_life lives[4] = {{.end = 10}, {.end = 20}, {.end = 30}, {.end = 40}};
        static const uint32_t shown[][2] = {{0, 1}, {1, 2}, {3, 1}};
        tap_script_free(script);
        script = tap_script_new();
        for (uint32_t buffer = 0; buffer < 3; buffer++) {
            for (uint32_t k = 2 * buffer; k < 4 && k < 2 * buffer + 2; k++)
                commit(10 * (k + 1), TAP_DRAINED, 0, UOPS(uop(k, 0)));
            script->buffer.lives = lives + shown[buffer][0];
            script->buffer.life_count = shown[buffer][1];
            assert_true(outer.consume(outer.context, &script->buffer, &error));
            script_next_buffer(script);
        }
        assert_int_equal(ends, cases[i].ends);
        gate_free(gate);
    }
}

static void triggers_that_are_none(void **state) {
    (void)state;
    static const char *const wrong[] = {"",
                                        "5",
                                        "cycle:",
                                        "cycle:x",
                                        "insn:-1",
                                        "cycle:5x",
                                        "0x",
                                        "0x1:",
                                        "0x1:0",
                                        "1000:5",
                                        "insn:99999999999999999999"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct trigger trigger;
        struct error error = {0};
        assert_false(trigger_parse(wrong[i], &trigger, &error));
        assert_non_null(strstr(error.message, "is not a trigger"));
    }
}

/* ---- CSV, counters ---- */

static void run_of_four_commits(void) {
    commit(4, TAP_DRAINED, 3, UOPS(uop(0, PSV_DR_L1), uop(1, 0)));
    commit(10, TAP_DRAINED, 0, UOPS(uop(2, PSV_ST_L1 | PSV_ST_TLB)));
    commit(11, TAP_DRAINED, 0, UOPS(uop(3, PSV_FL_MB)));
    script_record(script, TAP_FLUSH, 16, TAP_FLUSHED_LAST, 2, UOPS(uop(4, PSV_FL_MO)));
    commit(20, TAP_FLUSHED_NEXT, 3, UOPS(uop(4, PSV_FL_MO)));
}

static void csv(void **state) {
    (void)state;
    struct tracing tracing = start_tracing(&csv_tracer, 1, 3);
    run_of_four_commits();
    show_buffer(&tracing);
    expect_file(&tracing,
                "thread,cycle,record,empty_cycles,empty_reason,first_uop,uops,instructions\n"
                "3,4,commit,3,drained,0,2,0x1000!DR-L1 0x1004\n"
                "3,10,commit,0,,2,1,0x1008!ST-L1+ST-TLB\n"
                "3,11,commit,0,,3,1,0x100c!FL-MB\n"
                "3,16,flush,2,flushed,4,1,0x1010!FL-MO\n"
                "3,20,commit,3,violation,4,1,0x1010!FL-MO\n");
}

/* Intervals of 8 cycles. 1 to 3 drained, 4 computing, 5 to 8 stalled | 9 stalled, 10 and 11
 * computing, 12 and 13 flushed, 14 to 16 stalled | 17 to 19 flushed, 20 computing. */
static void counters(void **state) {
    (void)state;
    struct tracing tracing = start_tracing(&counters_tracer, 8, 0);
    run_of_four_commits();
    show_buffer(&tracing);
    expect_file(&tracing, "thread,end_cycle,cycles,computing,stalled,flushed,drained,instructions,"
                          "uops,DR-L1,DR-TLB,DR-SQ,FL-MB,FL-EX,FL-MO,ST-L1,ST-TLB,ST-LLC,ST-FW,"
                          "ST-CO\n"
                          "0,8,8,1,4,0,3,2,2,1,0,0,0,0,0,0,0,0,0,0\n"
                          "0,16,8,2,4,2,0,2,2,0,0,0,1,0,0,1,1,0,0,0\n"
                          "0,20,4,1,0,3,0,1,1,0,0,0,0,0,1,0,0,0,0,0\n");
}

/* ---- binary ---- */

/* What is read back: the state and the records; those of other kinds are left out and their cycles
 * kept. */
static void binary(void **state) {
    (void)state;
    struct tracing tracing = start_tracing(&binary_tracer, 1, 5);
    script_record(script, TAP_FETCH, 1, 0, 0, 2, NULL);
    run_of_four_commits();
    script_record(script, TAP_DISPATCH, 22, 0, 0, 2, NULL);
    show_buffer(&tracing);
    commit(30, TAP_DRAINED, 0, UOPS(uop(6, 0)));
    show_buffer(&tracing);
    static char bytes[1 << 14];
    size_t size = finish_tracing(&tracing, bytes, sizeof bytes), at = 1024;
    assert_memory_equal(bytes, "culprit tap 3\n", 14);
    uint64_t cycle = 0, records = 0, blocks[4] = {0};
    while (at < size) {
        uint32_t head[2];
        uint64_t length, words[256];
        memcpy(head, bytes + at, 8);
        memcpy(&length, bytes + at + 8, 8);
        assert_true(head[0] >= 1 && head[0] <= 3 && length <= sizeof words + INSNS * 24);
        blocks[head[0]]++;
        at += 16;
        if (head[0] == 2) {
            struct place place;
            memcpy(&place, bytes + at + 8 + 2 * sizeof place, sizeof place);
            assert_int_equal(place.address, 0x1008);
            assert_int_equal(length, 8 + INSNS * sizeof place);
        }
        if (head[0] == 3) {
            assert_int_equal(head[1], 5);
            memcpy(words, bytes + at, length);
            assert_int_equal(words[0], cycle);
            const uint64_t *word = words + 6, *end = words + length / 8;
            while (word < end) {
                struct tap_record record;
                word = tap_read(word, &record);
                cycle += record.delta;
                records++;
            }
            assert_ptr_equal(word, end);
        }
        at += length;
    }
    assert_int_equal(at, size);
    assert_int_equal(cycle, 30);
    assert_int_equal(records, 6);
    assert_int_equal(blocks[1], 1);
    assert_int_equal(blocks[2], 1);
    assert_int_equal(blocks[3], 2);
}

/* ---- life ---- */

static void life(void **state) {
    (void)state;
    struct tracing tracing = start_tracing(&life_tracer, 1, 0);
    struct life one = {.uop = 7,
                       .insn_number = 6,
                       .insn = 2,
                       .operation = OP_LOAD,
                       .fetch = 1,
                       .dispatch = 4,
                       .ready = 5,
                       .issue = 6,
                       .complete = 9,
                       .commit = 11,
                       .l1_latency = 2,
                       .miss_latency = 1,
                       .psv = PSV_ST_L1,
                       .store_producer = UINT64_MAX,
                       .bringer = 3,
                       .dispatch_block = DISPATCH_ROB};
    for (int i = 0; i <= UOP_MAX_SOURCES; i++)
        one.producer[i] = UINT64_MAX;
    one.producer[0] = 5;
    struct packed_life packed = pack_by_hand(&one);
    commit(11, TAP_DRAINED, 0, UOPS(uop(2, PSV_ST_L1)));
    script->buffer.lives = &packed;
    script->buffer.life_count = 1;
    show_buffer(&tracing);
    char text[4096];
    finish_tracing(&tracing, text, sizeof text);
    assert_string_equal(strchr(text, '\n') + 1,
                        "0,7,6,0x1008,0,load,0,ST-L1,1,4,5,6,9,11,0,0,0,0,2,1,rob,5    ,,3\n");
}

/* ---- basic block vectors ---- */

/* Instruction 2 branches, and so does 5: blocks 0-2, 3-5. Interval of 5 instructions: the first
 * ends with the second block, at 6; the next is 3-5 and 0-2; the last one holds a cut block. */
static void bbv(void **state) {
    (void)state;
    insns[2].branch = insns[5].branch = BRANCH_CONDITIONAL;
    relearn();
    struct tracing tracing = start_tracing(&bbv_tracer, 5, 0);
    commit(1, 0, 0, UOPS(uop(0, 0), uop(1, 0), uop(2, 0), uop(3, 0)));
    show_buffer(&tracing); /* a block goes on in the next buffer */
    commit(2, 0, 0, UOPS(uop(4, 0), uop(5, 0), uop(3, 0), uop(4, 0)));
    commit(3, 0, 0, UOPS(uop(5, 0), uop(0, 0), tap_uop(1, 0, 0), uop(1, 0)));
    commit(4, 0, 0, UOPS(tap_uop(2, 0, TAP_UOP_LAST), uop(3, 0)));
    show_buffer(&tracing);
    expect_file(&tracing, "T:1:3 :2:3 \nT:1:3 :2:3 \nT:2:1 \n");
    char blocks[80], text[256] = "";
    snprintf(blocks, sizeof blocks, "%s.blocks", path);
    FILE *file = fopen(blocks, "r");
    assert_non_null(file);
    assert_true(fread(text, 1, sizeof text - 1, file) > 0);
    fclose(file);
    assert_string_equal(text, "# block image offset address\n"
                              "1 /bin/made-up 0x0 0x1000\n"
                              "2 /bin/made-up 0xc 0x100c\n");
}

/* ---- call stacks ---- */

static struct call_stacks stacks;
static struct call_thread calls;

static void begin_calls(void) {
    relearn();
    assert_true(call_stacks_init(&stacks, places));
    assert_true(call_thread_init(&calls, &stacks, 0));
}

/* A cycle for each instruction. */
static void run_calls(unsigned n, const uint32_t *path_of_insns) {
    struct error error = {0};
    for (unsigned i = 0; i < n; i++)
        commit(script->after.cycle + 1, TAP_DRAINED, 0, UOPS(uop(path_of_insns[i], 0)));
    assert_true(call_thread_consume(&calls, &script->buffer, &error));
    script_next_buffer(script);
}
#define RUN(...) run_calls(sizeof((uint32_t[]){__VA_ARGS__}) / 4, (uint32_t[]){__VA_ARGS__})

/* Cycles of the stack of functions given by their first instructions, from the thread's root. */
static uint64_t cycles_of(unsigned depth, const uint32_t *functions) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < stacks.node_count; i++) {
        uint32_t node = i;
        if (stacks.nodes[i].depth != depth)
            continue;
        unsigned level = depth;
        while (level > 0 && stacks.nodes[node].insn == functions[level - 1]) {
            node = stacks.nodes[node].parent;
            level--;
        }
        sum += level == 0 ? stacks.nodes[i].units : 0;
    }
    assert_int_equal(sum % CYCLE_UNITS, 0);
    return sum / CYCLE_UNITS;
}
#define CYCLES(...) cycles_of(sizeof((uint32_t[]){__VA_ARGS__}) / 4, (uint32_t[]){__VA_ARGS__})

static void end_calls(void) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < stacks.node_count; i++)
        sum += stacks.nodes[i].units;
    assert_int_equal(sum, script->after.cycle * CYCLE_UNITS);
    call_thread_end(&calls);
    call_stacks_end(&stacks);
}

/* f at 10 (10, 11 calls, 12, 13 returns), g at 20 (20, 21 returns), main at 0 (0, 1 calls, 2). */
static void make_functions(void) {
    insns[1].branch = insns[11].branch = BRANCH_CALL;
    insns[13].branch = insns[21].branch = BRANCH_RETURN;
}

/* main calls f, which calls g, then itself once. */
static void calls_and_recursion(void **state) {
    (void)state;
    make_functions();
    begin_calls();
    RUN(0, 1, 10, 11, 20);
    RUN(21, 12, 10, 11, 10, 11, 20, 21, 12, 13, 12, 13, 2); /* 12 goes on to 10: a jump back */
    assert_int_equal(cycles_of(0, NULL), 3);
    assert_int_equal(CYCLES(10), 2 + 1 + 2 + 2);
    assert_int_equal(CYCLES(10, 20), 2);
    assert_int_equal(CYCLES(10, 10), 2 + 2);
    assert_int_equal(CYCLES(10, 10, 20), 2);
    end_calls();
}

/* Where a span waits: g's first instruction stalls 4 cycles, and the return of g mispredicts and
 * costs 3 cycles with an empty ROB: both are g's. */
static void calls_get_waits(void **state) {
    (void)state;
    struct error error = {0};
    make_functions();
    begin_calls();
    RUN(0, 1, 10, 11);
    commit(9, TAP_DRAINED, 0, UOPS(uop(20, 0)));
    commit(10, TAP_DRAINED, 0, UOPS(uop(21, PSV_FL_MB)));
    commit(14, TAP_FLUSHED_LAST, 3, UOPS(uop(12, 0), uop(13, 0)));
    assert_true(call_thread_consume(&calls, &script->buffer, &error));
    assert_int_equal(CYCLES(10, 20), 5 + 1 + 3);
    assert_int_equal(CYCLES(10), 2 + 1);
    end_calls();
}

/* g calls setjmp's like (30, 31 returns), then f calls g's friend, which jumps back (longjmp). */
static void longjmp_unwinds(void **state) {
    (void)state;
    make_functions();
    insns[31].branch = BRANCH_RETURN;
    insns[41].branch = BRANCH_CALL;
    insns[52].branch = BRANCH_CALL;
    insns[24].branch = BRANCH_INDIRECT;
    begin_calls();
    /* main: 0, 1 calls f; f: 10, 11 calls setjmp (30, 31), back at 12, goes on to 41, which calls
     * h: 50, 51, 52 calls deep: 20, 22, 23, 24, 24 jumps to 12; f returns to main. */
    RUN(0, 1, 10, 11, 30, 31, 12, 41, 50, 51, 52, 20, 22, 23, 24, 12, 13, 2);
    assert_int_equal(CYCLES(10, 30), 2);
    assert_int_equal(CYCLES(10, 50), 3);
    assert_int_equal(CYCLES(10, 50, 20), 4);
    assert_int_equal(CYCLES(10), 2 + 2 + 2);
    assert_int_equal(cycles_of(0, NULL), 3);
    end_calls();
}

/* The trace begins within f: its return leads to an unknown caller, in which calls are known. */
static void unknown_callers(void **state) {
    (void)state;
    make_functions();
    begin_calls();
    RUN(12, 13, 0, 1, 20, 21, 2);
    assert_int_equal(cycles_of(0, NULL), 2);
    assert_int_equal(CYCLES(0), 3);
    assert_int_equal(CYCLES(0, 20), 2);
    end_calls();
}

/* A stub, 5, jumps on to g at once: what is called is g. A fused pair is what is returned to: it
 * is known by its branch, one instruction behind. */
static void stubs_and_fused_pairs(void **state) {
    (void)state;
    struct error error = {0};
    make_functions();
    insns[5].branch = BRANCH_INDIRECT;
    insns[3].branch = BRANCH_CONDITIONAL;
    begin_calls();
    RUN(0, 1, 5, 20, 21);
    commit(6, TAP_DRAINED, 0, UOPS(tap_uop(3, 0, TAP_UOP_LAST | TAP_UOP_FUSED)));
    assert_true(call_thread_consume(&calls, &script->buffer, &error));
    assert_int_equal(CYCLES(20), 2);
    assert_int_equal(CYCLES(5), 1);
    assert_int_equal(cycles_of(0, NULL), 3);
    end_calls();
}

/* Recursion without end takes memory for CALL_MAX_DEPTH functions, and what comes back is right. */
static void deep_recursion(void **state) {
    (void)state;
    make_functions();
    begin_calls();
    RUN(0, 1, 10);
    for (int i = 0; i < 100000; i++)
        RUN(11, 10);
    assert_true(stacks.node_count <= CALL_MAX_DEPTH + 1);
    assert_true(calls.frame_capacity <= 1 << 16);
    for (int i = 0; i < 40000; i++)
        RUN(12, 13);
    end_calls();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(triggers, set_up, tear_down),
        cmocka_unit_test_setup_teardown(triggers_cut_lives, set_up, tear_down),
        cmocka_unit_test_setup_teardown(triggers_that_are_none, set_up, tear_down),
        cmocka_unit_test_setup_teardown(csv, set_up, tear_down),
        cmocka_unit_test_setup_teardown(counters, set_up, tear_down),
        cmocka_unit_test_setup_teardown(binary, set_up, tear_down),
        cmocka_unit_test_setup_teardown(life, set_up, tear_down),
        cmocka_unit_test_setup_teardown(bbv, set_up, tear_down),
        cmocka_unit_test_setup_teardown(calls_and_recursion, set_up, tear_down),
        cmocka_unit_test_setup_teardown(calls_get_waits, set_up, tear_down),
        cmocka_unit_test_setup_teardown(longjmp_unwinds, set_up, tear_down),
        cmocka_unit_test_setup_teardown(unknown_callers, set_up, tear_down),
        cmocka_unit_test_setup_teardown(stubs_and_fused_pairs, set_up, tear_down),
        cmocka_unit_test_setup_teardown(deep_recursion, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
