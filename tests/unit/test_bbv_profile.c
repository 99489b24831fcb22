/* Profiles by slices: which blocks are watched, when to look, slices and markers of a hand-made
 * trace, and exact totals of small programs, live. */
#include <fcntl.h>
#include <unistd.h>

#include "region/bbv_profile.h"
#include "temporary.h"
#include "trace/counts.h"
#include "unit/single_step.h"
#include "unit/trace_script.h"

static char folder[TEMPORARY_BYTES];
static struct error error;
static struct script script;

static const char *at(const char *name) {
    static char paths[4][256];
    static unsigned turn;
    char *path = paths[turn++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static void build(const char *name) {
    char command[512];
    snprintf(command, sizeof command,
             "cc -O1 -o %s/%s tests/guests/%s.c -static -nostdlib -ffreestanding "
             "-fno-stack-protector -fno-pie -no-pie -fcf-protection=none -mno-sse",
             folder, name, name);
    if (system(command) != 0)
        fail_msg("cannot build: %s", command);
}

static int make_folder(void **state) {
    (void)state;
    if (!mkdtemp(temporary_name(folder, "bbv-profile")))
        return -1;
    build("bare_loop");
    build("bare_rep");
    build("bare_null");
    build("bare_divide");
    build("bare_signals");
    build("bare_selfmodify");
    return 0;
}
static int remove_folder(void **state) {
    char command[256];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

/* ---- which blocks are watched ---- */

/* Each instruction of this program's own code, one behind the other. */
static void watched_x86(void **state) {
    (void)state;
    extern char __executable_start, etext;
    const uint8_t *from = (const uint8_t *)(uintptr_t)bbv_profile, *end = (const uint8_t *)&etext;
    unsigned back = 0, forward = 0, indirect = 0, returns = 0;
    assert_true(from > (const uint8_t *)&__executable_start);
    for (size_t length; from + INSN_MAX_LENGTH < end; from += length) {
        struct insn insn;
        bool good = insn_decode(ISA_X86_64, from, INSN_MAX_LENGTH, &insn);
        length = good ? insn.length : 1;
        if (!good)
            continue;
        bool jumps = insn.branch >= BRANCH_INDIRECT && insn.branch != BRANCH_RETURN;
        bool backward =
            insn.branch != BRANCH_NONE && insn.branch < BRANCH_INDIRECT && insn.target < 0;
        back += backward;
        forward += insn.branch != BRANCH_NONE && insn.branch < BRANCH_INDIRECT && insn.target > 0;
        indirect += jumps;
        returns += insn.branch == BRANCH_RETURN;
        assert_int_equal(counts_leads_back(ISA_X86_64, from, length), jumps || backward);
    }
    assert_true(back > 100 && forward > 100 && returns > 10 && indirect > 0);
}

static void watched_riscv64(void **state) {
    (void)state;
    static const struct {
        uint32_t code;
        uint8_t size;
        bool back;
    } CASES[] = {
        {0xfe000ee3, 4, true},  /* beqz zero, .-4 */
        {0x00000263, 4, false}, /* beqz zero, .+4 */
        {0xffdff0ef, 4, true},  /* jal ra, .-4 */
        {0x004000ef, 4, false}, /* jal ra, .+4 */
        {0x00008067, 4, false}, /* ret */
        {0x00028067, 4, false}, /* jr t0 */
        {0x00078067, 4, true},  /* jr a5 */
        {0x000780e7, 4, true},  /* jalr a5 */
        {0x000080e7, 4, true},  /* jalr ra */
        {0xbffd, 2, true},      /* c.j .-2 */
        {0xa009, 2, false},     /* c.j .+2 */
        {0xdffd, 2, true},      /* c.beqz a5, .-2 */
        {0xe789, 2, false},     /* c.bnez a5, .+10 */
        {0x8082, 2, false},     /* c.jr ra, ret */
        {0x8782, 2, true},      /* c.jr a5 */
        {0x9782, 2, true},      /* c.jalr a5 */
        {0x9002, 2, false},     /* c.ebreak */
        {0x853e, 2, false},     /* c.mv a0, a5 */
        {0x953e, 2, false},     /* c.add a0, a5 */
        {0x00000013, 4, false}, /* nop */
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        uint8_t bytes[4];
        memcpy(bytes, &CASES[i].code, 4);
        if (counts_leads_back(ISA_RISCV64, bytes, CASES[i].size) != CASES[i].back)
            fail_msg("%x", CASES[i].code);
    }
}

/* A slice of 64,000 of which every second instruction is in a watched block (reach 2, and 3 to
 * begin with). Half the way: 32,000 / 3 = 10,666 of watched blocks, that is 21,332 in all. The
 * reach falls by a sixteenth of the difference, to 3072 − 64 = 3008/1024; missing 42,668, half of
 * it × 1024 / 3008 = 7262. */
static void when_to_look(void **state) {
    (void)state;
    struct counts_pace pace = {.reach = COUNTS_REACH_FIRST};
    counts_plan(&pace, 64000, 0);
    assert_int_equal(pace.left, 10666);
    pace.left -= 10666;
    counts_learn(&pace, 21332);
    assert_int_equal(pace.reach, 3008);
    counts_plan(&pace, 64000, 21332);
    assert_int_equal(pace.left, 7262);
    counts_plan(&pace, 64000, 64000 - 64);
    assert_int_equal(pace.left, 0);
    counts_plan(&pace, 64000, 99999);
    assert_int_equal(pace.left, 0);
    pace.left--; /* a watched block of one instruction, behind 999 others */
    counts_learn(&pace, 99999 + 1000);
    assert_int_equal(pace.reach, COUNTS_REACH_MOST);
    assert_true(counts_due(64000, 64000, false));
    assert_false(counts_due(64000, 63999, false));
    assert_false(counts_due(64000, 64999, true));
    assert_true(counts_due(64000, 65000, true));
}

/* However the reach changes, the sum of the steps comes to an end at the slice's. */
static void looks_are_few(void **state) {
    (void)state;
    struct counts_pace pace = {.reach = COUNTS_REACH_FIRST};
    uint32_t random = 1;
    for (int slice = 0; slice < 200; slice++) {
        unsigned looks = 0, with = 1 + slice / 20 % 8; /* instructions for each watched one */
        uint64_t done = 0;
        counts_plan(&pace, 10000000, 0);
        while (!counts_due(10000000, done, false)) {
            do { /* watched blocks of up to 20 instructions */
                random = random * 1664525 + 1013904223;
                pace.left -= 1 + random % 20;
                done += (uint64_t)(1 + random % 20) * with;
            } while (pace.left > 0);
            counts_learn(&pace, done);
            counts_plan(&pace, 10000000, done);
            looks++;
        }
        assert_true(looks <= 60);
        assert_true(done < 10000000 + 10000000 / 32);
        if (slice % 20 > 10)
            assert_true(done < 10000000 + 20 * with + 64);
    }
}

/* ---- slices of a trace ---- */

static void write_trace(const char *path) {
    struct file_writer *writer = file_writer_open(path, false, &error);
    assert_non_null(writer);
    for (size_t i = 0; i < script.count; i++)
        if (!file_writer_put(writer, script.items + i, &error))
            fail_msg("%s", error.message);
    assert_true(file_writer_close(writer, NULL, &error));
}

static const char *text_of(const char *path) {
    static char text[1 << 16];
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    size_t size = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[size] = 0;
    return text;
}

/* Two blocks that overlap and end in the same backward branch, each watched:
 *
 *     block 1, 1000: nop, nop, nop, je 1000      block 2, 1002: nop, je 1000
 *
 * Slices of 6. Thread 0 executes 1 2 | 2 1 | 1: before the second 2 it has 6 instructions, and 1002
 * was executed once in each of the blocks: the marker is its third. Before the last 1 it has 12,
 * and 1000 was executed twice, in block 1 alone. Thread 1 executes 2, meanwhile. */
static void slices_and_markers(void **state) {
    (void)state;
    static const char code[] = "\x90\x90\x90\x74\xfb";
    static const uint64_t first[] = {0, 1, 1}, other[] = {1}, second[] = {0, 0};
    script_begin(&script, ISA_X86_64);
    script_block(&script, 0, 0x1000, 4, code, 5);
    script_block(&script, 0, 0x1002, 2, code + 2, 3);
    script_data(&script, 0, first, 3);
    script_data(&script, 1, other, 1);
    script_data(&script, 0, second, 2);
    script_thread_end(&script, 1);
    script_thread_end(&script, 0);
    script_add(&script, ITEM_END)->end = (struct trace_exit){.known = true};
    write_trace(at("script.ctrace"));

    struct bbv_profile_result result;
    int status;
    char vectors[256];
    snprintf(vectors, sizeof vectors, "%s", at("script.bb"));
    const struct bbv_profile_options options = {
        .trace = at("script.ctrace"), .size = 6, .path = vectors};
    if (!bbv_profile(&options, &result, &status, &error))
        fail_msg("%s", error.message);
    assert_true(result.complete);
    assert_int_equal(result.slices, 4);
    assert_int_equal(result.instructions, 18);
    assert_int_equal(result.threads, 2);
    assert_int_equal(result.blocks, 2);
    bbv_profile_result_free(&result);
    assert_string_equal(text_of(vectors), "T:1:4 :2:2 \nT:1:4 :2:2 \nT:1:4 \nT:2:2 \n");
    assert_string_equal(text_of(at("script.bb.slices")), "culprit-slices 1\n"
                                                         "isa x86_64\n"
                                                         "command prog -x\n"
                                                         "size 6\n"
                                                         "process 0 100 /bin/prog\n"
                                                         "origin 0 - 0 0 prog -x\n"
                                                         "image 0 010203 /bin/prog\n"
                                                         "block 1 0 1000 4\n"
                                                         "block 2 0 1002 2\n"
                                                         "slice 0 0 0 6 0 1000 1\n"
                                                         "slice 0 0 6 6 0 1002 3\n"
                                                         "slice 0 0 12 4 0 1000 3\n"
                                                         "thread 0 0 0\n"
                                                         "thread 1 0 1\n"
                                                         "slice 0 1 0 2 0 1002 1\n"
                                                         "end 18\n");
}

/* A block of 4 instructions faults at the third and at the second, and is then executed whole: 7 of
 * 12, all in one slice. More cannot be missing than was entered. */
static void faults(void **state) {
    (void)state;
    static const char code[] = "\x90\x90\x90\x74\xfb";
    const uint64_t events[] = {0, event_mark(MARK_EXECUTED, 2), 0, event_mark(MARK_EXECUTED, 1), 0};
    struct bbv_profile_result result;
    int status;
    char vectors[256];
    snprintf(vectors, sizeof vectors, "%s", at("faults.bb"));
    script_begin(&script, ISA_X86_64);
    script_block(&script, 0, 0x1000, 4, code, 5);
    script_data(&script, 0, events, 5);
    script_thread_end(&script, 0);
    script_add(&script, ITEM_END)->end = (struct trace_exit){.known = true};
    write_trace(at("faults.ctrace"));
    const struct bbv_profile_options options = {
        .trace = at("faults.ctrace"), .size = 100, .path = vectors};
    if (!bbv_profile(&options, &result, &status, &error))
        fail_msg("%s", error.message);
    assert_int_equal(result.instructions, 7);
    bbv_profile_result_free(&result);
    assert_string_equal(text_of(vectors), "T:1:7 \n");

    const uint64_t impossible[] = {0, event_mark(MARK_EXECUTED, 0), event_mark(MARK_EXECUTED, 0)};
    script_begin(&script, ISA_X86_64);
    script_block(&script, 0, 0x1000, 4, code, 5);
    script_data(&script, 0, impossible, 3);
    script_add(&script, ITEM_END)->end = (struct trace_exit){.known = true};
    write_trace(at("faults.ctrace"));
    assert_false(bbv_profile(&options, &result, &status, &error));
    assert_non_null(strstr(error.message, "make no sense"));
    bbv_profile_result_free(&result);
}

/* ---- live ---- */

/* Instructions by the profile, and by the counts, which know of blocks that were left early. */
static void live(const char *name, uint64_t *profiled, uint64_t *counted) {
    char program[256], vectors[256], sheet[256];
    snprintf(program, sizeof program, "%s", at(name));
    snprintf(vectors, sizeof vectors, "%s", at("live.bb"));
    snprintf(sheet, sizeof sheet, "%s", at("live.csv"));
    char *const command[] = {program, NULL};
    const struct capture_options capture = {.command = command, .thread = -1};
    struct bbv_profile_options options = {.capture = &capture, .size = 1000, .path = vectors};
    struct bbv_profile_result result;
    int status, null = open("/dev/null", O_WRONLY), out = dup(STDOUT_FILENO);
    fflush(stdout);
    dup2(null, STDOUT_FILENO); /* the guest's output is not TAP */
    bool good = bbv_profile(&options, &result, &status, &error);
    *profiled = result.instructions;
    bbv_profile_result_free(&result);
    options.counts_path = sheet;
    good = good && bbv_profile(&options, &result, &status, &error);
    dup2(out, STDOUT_FILENO);
    close(out);
    close(null);
    if (!good)
        fail_msg("%s", error.message);
    assert_int_equal(result.instructions, *profiled);
    bbv_profile_result_free(&result);
    FILE *file = fopen(sheet, "r");
    char line[512];
    *counted = 0;
    while (fgets(line, sizeof line, file))
        if (strncmp(line, "instruction,", 12) == 0)
            *counted += strtoull(strrchr(line, ',') + 1, NULL, 10);
    fclose(file);
}

static void exact_totals(void **state) {
    (void)state;
    static const char *const NAMES[] = {"bare_loop",   "bare_rep",     "bare_null",
                                        "bare_divide", "bare_signals", "bare_selfmodify"};
    enum { COUNT = sizeof NAMES / sizeof *NAMES };
    for (int i = 0; i < COUNT; i++) {
        int status;
        uint64_t profiled, counted, expected = single_step(at(NAMES[i]), &status);
        if (!expected) {
            print_message("no ptrace here\n");
            skip();
        }
        live(NAMES[i], &profiled, &counted);
        assert_int_equal(counted, expected);
        if (i < COUNT - 1)
            assert_int_equal(profiled, expected);
        else /* blocks that were written to while they ran count as whole */
            assert_true(profiled >= expected);
    }
}

/* The system call is the last but a few that unlink makes: its place is that of most instructions.
 */
static void effects(void **state) {
    (void)state;
    char file[256], vectors[256];
    snprintf(file, sizeof file, "%s", at("unlinked"));
    snprintf(vectors, sizeof vectors, "%s", at("unlink.bb"));
    fclose(fopen(file, "w"));
    char *const command[] = {"unlink", file, NULL};
    const struct capture_options capture = {
        .command = command, .thread = -1, .watch_effects = true};
    const struct bbv_profile_options options = {.capture = &capture, .size = 5000, .path = vectors};
    struct bbv_profile_result result;
    int status;
    if (!bbv_profile(&options, &result, &status, &error))
        fail_msg("%s", error.message);
    assert_non_null(result.effect.what);
    assert_non_null(strstr(result.effect.what, file));
    assert_true(result.effect.position > 5000);
    assert_true(result.effect.position < result.instructions);
    assert_true(result.instructions - result.effect.position < 10000);
    assert_int_equal(result.effect.thread, 0);
    bbv_profile_result_free(&result);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(watched_x86),        cmocka_unit_test(watched_riscv64),
        cmocka_unit_test(when_to_look),       cmocka_unit_test(looks_are_few),
        cmocka_unit_test(slices_and_markers), cmocka_unit_test(faults),
        cmocka_unit_test(exact_totals),       cmocka_unit_test(effects),
    };
    return cmocka_run_group_tests_name("bbv_profile", tests, make_folder, remove_folder);
}
