/* Live capture of tests/guests/: counts against single-stepping, and what programs may do to a
 * tracer: threads, fork, closed descriptors, deaths, self-modifying code, late libraries. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "temporary.h"
#include "trace/item.h"
#include "trace/qemu/layout.h"
#include "trace/trace.h"
#include "unit/single_step.h"
#include "util/text.h"

static char folder[TEMPORARY_BYTES];

static const char *guest(const char *name) {
    static char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void build_with(const char *compiler, const char *name, const char *source,
                       const char *options) {
    char command[PATH_MAX];
    snprintf(command, sizeof command, "%s -O1 -o %s/%s tests/guests/%s.c %s", compiler, folder,
             name, source, options);
    if (system(command) != 0)
        fail_msg("cannot build: %s", command);
}

static void build_as(const char *name, const char *source, const char *options) {
    build_with("cc", name, source, options);
}

static void build(const char *name, const char *options) {
    build_as(name, name, options);
}

enum { INSNS_OF_X86_SIGNAL = 4, INSNS_OF_RISCV64_SIGNAL = 8 };
static unsigned long signals = 200; /* of tests with a timer, a thousand a second */

#define BARE                                                                                       \
    "-static -nostdlib -ffreestanding -fno-stack-protector -fno-pie -no-pie"                       \
    " -fcf-protection=none -mno-sse"
#define RISCV64 "-static -nostdlib -ffreestanding -fno-stack-protector -mno-relax"

static int build_guests(void **state) {
    static const char *const bare[] = {"bare_loop", "bare_rep",        "bare_divide",
                                       "bare_null", "bare_selfmodify", "bare_signals"};
    (void)state;
    if (!mkdtemp(temporary_name(folder, "capture")))
        return -1;
    for (size_t i = 0; i < sizeof bare / sizeof *bare; i++)
        build(bare[i], BARE);
    build_as("rounds_1", "bare_timer", BARE " -DROUNDS=1");
    build_as("rounds_3", "bare_timer", BARE " -DROUNDS=3");
    char timer[256];
    snprintf(timer, sizeof timer, BARE " -DSIGNALS=%lu", signals);
    build_as("timer", "bare_timer", timer);
    if (system("command -v riscv64-linux-gnu-gcc >/dev/null") == 0) {
        snprintf(timer, sizeof timer, RISCV64 " -DSIGNALS=%lu", signals);
        build_with("riscv64-linux-gnu-gcc", "riscv_timer", "bare_timer", timer);
        build_with("riscv64-linux-gnu-gcc", "riscv_rounds_1", "bare_timer", RISCV64 " -DROUNDS=1");
        build_with("riscv64-linux-gnu-gcc", "riscv_rounds_3", "bare_timer", RISCV64 " -DROUNDS=3");
    }
    build("threads", "-pthread");
    build("sleepers", "-pthread");
    build("dies", "-pthread");
    build("closes_all", "");
    build("draws", "");
    build("loads_late", "-ldl");
    build("scribbles", "");
    return 0;
}

static int remove_guests(void **state) {
    char command[PATH_MAX];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

/* What a capture gave. */
struct seen {
    uint64_t insns, first, accesses, stored_bytes, loaded_bytes, rep_elements;
    uint64_t returns;      /* from signal handlers */
    uint64_t resumed_reps; /* repeated instructions that a signal interrupted */
    uint32_t threads, processes, untraced, images;
    bool has_libz;
    struct trace_exit exit;
    char notes[1024];
};

static struct seen capture(const struct capture_options *options) {
    struct seen seen = {0};
    struct error error = {0};
    struct trace_batch batch;
    bool returning = false; /* the instruction before: mov $15 (rt_sigreturn), %eax */
    bool returned = false;  /* the instruction before returned from a handler */
    int status = 0, got, null = open("/dev/null", O_WRONLY), out = dup(STDOUT_FILENO);
    fflush(stdout);
    dup2(options->descriptors[1] ? options->descriptors[1] : null, STDOUT_FILENO); /* not TAP */
    struct trace *trace = trace_capture(options, &status, &error);
    if (!trace) {
        dup2(out, STDOUT_FILENO);
        fail_msg("status %d: %s", status, error.message);
    }
    while ((got = trace_next(trace, &batch, &error)) > 0) {
        if (!seen.insns && batch.insn_count)
            seen.first = batch.first_insn;
        seen.accesses += batch.access_count;
        for (uint32_t i = 0; i < batch.insn_count; i++) {
            const uint16_t flags = batch.insns[i].flags;
            const uint8_t *bytes = trace_code(trace)->insns[batch.insns[i].insn].bytes;
            seen.insns += !(flags & DYN_FAULT);
            if (flags & DYN_REP)
                seen.rep_elements += batch.insns[i].repeat;
            seen.resumed_reps += returned && flags & DYN_REP;
            returned = returning && flags & DYN_SYSCALL && flags & DYN_SIGNAL;
            returning = memcmp(bytes, "\xb8\x0f\0\0", 5) == 0;
            seen.returns += returned;
        }
        for (uint32_t i = 0; i < batch.access_count; i++)
            *(batch.accesses[i].is_store ? &seen.stored_bytes : &seen.loaded_bytes) +=
                batch.accesses[i].size_bytes;
    }
    dup2(out, STDOUT_FILENO);
    close(out);
    close(null);
    if (got < 0)
        fail_msg("%s", error.message);
    seen.threads = trace_thread_count(trace);
    seen.processes = trace_process_count(trace);
    for (uint32_t i = 0; i < seen.processes; i++)
        seen.untraced += !trace_process(trace, i)->traced;
    const struct code *code = trace_code(trace);
    seen.images = code->image_count;
    for (uint32_t i = 0; i < code->image_count; i++)
        seen.has_libz |= strstr(code->images[i].path, "/libz.so") != NULL;
    seen.exit = trace_exit_status(trace);
    for (uint32_t i = 0; i < trace_note_count(trace); i++)
        strncat(seen.notes, trace_note(trace, i), sizeof seen.notes - strlen(seen.notes) - 1);
    trace_close(trace);
    return seen;
}

static struct seen run(const char *name, const char *argument) {
    char *const command[] = {(char *)guest(name), (char *)argument, NULL};
    return capture(&(struct capture_options){
        .command = command, .addresses = true, .thread = -1, .follow = true});
}

/* ---- counts ---- */

/* Instructions captured and those before, as the capture itself counts. */
static uint64_t captured(const struct capture_options *options, uint64_t *first) {
    struct item_source source;
    struct error error = {0};
    struct item item;
    int status, got;
    uint64_t insns = 0;
    *first = UINT64_MAX;
    if (!capture_start(options, &source, &status, &error))
        fail_msg("%s", error.message);
    while ((got = source.next(source.context, &item, &error)) > 0) {
        if (item.kind != ITEM_DATA)
            continue;
        if (*first == UINT64_MAX)
            *first = item.data.first_insn;
        insns += item.data.insn_count;
    }
    source.close(source.context);
    assert_int_equal(got, 0);
    return insns;
}

/* The capture itself counts as the trace does, which it finds out in another way; also what it
 * skips. An instruction that faulted does not count, nor what was behind it in its block. */
static void same_positions(const char *name, uint64_t expected) {
    enum { BEHIND = 10 };
    uint64_t first;
    char *const command[] = {(char *)guest(name), NULL};
    struct capture_options options = {.command = command, .addresses = true, .thread = -1};
    assert_int_equal(captured(&options, &first), expected);
    options.addresses = false;
    assert_int_equal(captured(&options, &first), expected);
    options.skip = expected - BEHIND;
    uint64_t behind = captured(&options, &first);
    assert_true(behind > 0 && behind <= BEHIND); /* from the next block on */
    assert_int_equal(first + behind, expected);
}

static void same_count(const char *name) {
    int status;
    uint64_t expected = single_step(guest(name), &status);
    if (!expected) {
        print_message("no ptrace here\n");
        skip();
    }
    struct seen seen = run(name, NULL);
    assert_int_equal(seen.insns, expected);
    assert_true(seen.exit.known);
    assert_int_equal(seen.exit.status, WEXITSTATUS(status));
    if (strcmp(name, "bare_selfmodify") != 0) /* blocks that it writes to count as whole there */
        same_positions(name, expected);
}

static void count_of_loop(void **state) {
    (void)state;
    same_count("bare_loop");
}

static void count_of_rep(void **state) {
    (void)state;
    same_count("bare_rep");
    struct seen seen = run("bare_rep", NULL);
    assert_int_equal(seen.rep_elements, 512 + 1000 + 0 + 1 + 300 + 1001 + 1001 + 10 * 4);
    /* loads of rep: 1301 moved, 1001 scanned, 2 × 1001 compared; the rest are returns */
    assert_in_range(seen.loaded_bytes, 1301 + 3 * 1001, 1301 + 3 * 1001 + 400);
    assert_in_range(seen.stored_bytes, 4096 + 1301 + 320, 4096 + 1301 + 320 + 400);
}

static void count_without_addresses(void **state) {
    (void)state;
    int status;
    uint64_t expected = single_step(guest("bare_rep"), &status);
    if (!expected)
        skip();
    char *const command[] = {(char *)guest("bare_rep"), NULL};
    struct seen seen = capture(&(struct capture_options){.command = command, .thread = -1});
    assert_int_equal(seen.insns, expected);
    assert_int_equal(seen.accesses, 0);
}

static void count_of_division_by_zero(void **state) {
    (void)state;
    same_count("bare_divide");
}

static void count_of_null_loads(void **state) {
    (void)state;
    same_count("bare_null");
}

static void count_of_self_modifying_code(void **state) {
    (void)state;
    same_count("bare_selfmodify");
}

static void count_of_signals(void **state) {
    (void)state;
    same_count("bare_signals");
    /* five rounds of 3 + 1 + 3 signals handled by return, two faults; what is left by a jump is not
     */
    assert_int_equal(run("bare_signals", NULL).returns, 1 + 5 * (2 + 1 + 2 + 2));
    /* The same handlers run where nothing is captured: before, behind. */
    char *const command[] = {(char *)guest("bare_signals"), NULL};
    for (uint64_t skip = 0; skip < 200; skip += 50) {
        struct seen seen = capture(
            &(struct capture_options){.command = command, .thread = -1, .skip = skip, .limit = 20});
        assert_int_equal(seen.insns, 20);
        assert_true(seen.exit.known && !seen.exit.signaled && seen.exit.status == 0);
    }
}

/* Signals anywhere: the program executes so many instructions in all, by its own count of rounds
 * and signals. A rep that is interrupted counts before and after. */
static void check_timer_signals(const char *program, bool addresses, uint64_t first_round,
                                uint64_t round, uint64_t insns_of_signal) {
    uint64_t told[2];
    FILE *file = tmpfile();
    assert_non_null(file);
    char *const command[] = {(char *)program, NULL};
    struct seen seen = capture(&(struct capture_options){
        .command = command, .addresses = addresses, .thread = -1, .descriptors[1] = fileno(file)});
    rewind(file);
    assert_int_equal(fread(told, sizeof *told, 2, file), 2);
    fclose(file);
    assert_true(told[1] >= signals);
    assert_int_equal(seen.insns - seen.resumed_reps,
                     first_round + (told[0] - 1) * round + told[1] * insns_of_signal);
    if (insns_of_signal != INSNS_OF_X86_SIGNAL)
        return;
    assert_int_equal(seen.returns, told[1]);
    /* A round fills 2046 or 2048 bytes, moves 1000, saves 512, and stores 8 for each of 50 calls,
     * sums and exchanges, and a few more. A frame is no access of the program. */
    if (addresses)
        assert_in_range(seen.stored_bytes / told[0], 2046 + 1000 + 50 * 3 * 8,
                        2048 + 1000 + 512 + 50 * 3 * 8 + 64);
}

static void count_of_timer_signals(void **state) {
    (void)state;
    int status;
    uint64_t one = single_step(guest("rounds_1"), &status);
    uint64_t three = single_step(guest("rounds_3"), &status);
    if (!one)
        skip();
    for (int addresses = 0; addresses < 2; addresses++)
        check_timer_signals(guest("timer"), addresses, one, (three - one) / 2, INSNS_OF_X86_SIGNAL);
}

/* No single-stepping here: against a run without signals. */
static void count_of_timer_signals_on_riscv64(void **state) {
    (void)state;
    if (access(guest("riscv_timer"), X_OK) != 0) {
        print_message("no riscv64-linux-gnu-gcc here\n");
        skip();
    }
    uint64_t one = run("riscv_rounds_1", NULL).insns, three = run("riscv_rounds_3", NULL).insns;
    for (int addresses = 0; addresses < 2; addresses++)
        check_timer_signals(guest("riscv_timer"), addresses, one, (three - one) / 2,
                            INSNS_OF_RISCV64_SIGNAL);
}

/* ---- windows ---- */

static void windows_are_exact(void **state) {
    (void)state;
    char *const command[] = {"/bin/true", NULL};
    uint64_t first;
    for (int addresses = 0; addresses < 2; addresses++) {
        for (uint64_t limit = 1; limit < 90000; limit = limit * 170 + 3) {
            struct capture_options options = {
                .command = command, .addresses = addresses, .thread = -1, .limit = limit};
            assert_int_equal(captured(&options, &first), limit);
            assert_int_equal(first, 0);
            assert_int_equal(capture(&options).insns, limit);
            options.skip = 30000;
            assert_int_equal(captured(&options, &first), limit);
            assert_in_range(first, 30000, 30100); /* at the end of a block */
            assert_int_equal(capture(&options).insns, limit);
        }
    }
    struct capture_options options = {.command = command, .thread = -1};
    uint64_t all = captured(&options, &first);
    options.skip = 80000;
    uint64_t rest = captured(&options, &first);
    assert_int_equal(first + rest, all);
}

static void stops_the_program_at_the_limit(void **state) {
    (void)state;
    char *const command[] = {(char *)guest("dies"), "leave", NULL};
    struct seen seen = capture(&(struct capture_options){
        .command = command, .thread = -1, .limit = 100000, .stop_at_limit = true});
    assert_int_equal(seen.insns, 100000);
    assert_false(seen.exit.known);
}

static void many_threads(void **state) {
    (void)state;
    char *const command[] = {(char *)guest("threads"), "100", NULL};
    struct capture_options options = {.command = command, .addresses = true, .thread = -1};
    struct seen seen = capture(&options);
    assert_int_equal(seen.threads, 101);
    assert_true(seen.insns > 100 * 2000 * 4);
    assert_int_equal(seen.exit.status, 0);
    uint64_t all = seen.insns;
    for (int round = 0; round < 2; round++) {
        options = (struct capture_options){.command = command,
                                           .addresses = round & 1,
                                           .thread = -1,
                                           .skip = 200000,
                                           .limit = 300000};
        seen = capture(&options);
        assert_int_equal(seen.insns, 300000);
        assert_true(seen.exit.known && seen.exit.status == 0);

        options.from_symbol = "work";
        options.skip = 0;
        seen = capture(&options);
        assert_int_equal(seen.insns, 300000);
        assert_true(seen.exit.known && seen.exit.status == 0);

        options = (struct capture_options){.command = command, .addresses = true, .thread = 5};
        seen = capture(&options);
        assert_int_equal(seen.threads, 1);
        assert_in_range(seen.insns, 2000 * 4, all / 10);
        assert_true(seen.exit.known && seen.exit.status == 0);
    }
}

enum { MOST_THREADS = 9 };

/* What each thread executed, as the capture itself counts. */
static void captured_by_thread(const struct capture_options *options,
                               uint64_t insns[MOST_THREADS]) {
    struct item_source source;
    struct error error = {0};
    struct item item;
    int status, got;
    memset(insns, 0, MOST_THREADS * sizeof *insns);
    if (!capture_start(options, &source, &status, &error))
        fail_msg("%s", error.message);
    while ((got = source.next(source.context, &item, &error)) > 0)
        if (item.kind == ITEM_DATA) {
            assert_true(item.data.thread < MOST_THREADS);
            assert_int_equal(item.data.first_insn, insns[item.data.thread]);
            insns[item.data.thread] += item.data.insn_count;
        }
    source.close(source.context);
    assert_int_equal(got, 0);
}

/* QEMU translates anew when a program maps shared memory, not when it then makes threads. */
static void threads_after_shared_memory(void **state) {
    (void)state;
    char *const command[] = {(char *)guest("threads"), "8", "shared", NULL};
    for (int addresses = 0; addresses < 2; addresses++) {
        uint64_t insns[MOST_THREADS];
        captured_by_thread(
            &(struct capture_options){.command = command, .addresses = addresses, .thread = -1},
            insns);
        for (int i = 1; i < MOST_THREADS; i++)
            assert_in_range(insns[i], 4 * 2000, 6 * 2000);
    }
}

/* Threads that work, that sleep and that wait: what one has not used goes to the others. */
static void limit_of_sleeping_threads(void **state) {
    (void)state;
    char *const command[] = {(char *)guest("sleepers"), "24", "1000", NULL};
    for (int round = 0; round < 4; round++) {
        uint64_t limit = 300000 + 1000007 * (uint64_t)round;
        struct seen seen = capture(&(struct capture_options){.command = command,
                                                             .addresses = round & 1,
                                                             .thread = -1,
                                                             .skip = round & 2 ? 200000 : 0,
                                                             .limit = limit});
        assert_int_equal(seen.insns, limit);
        assert_true(seen.exit.known && seen.exit.status == 0);
    }
}

static void assert_captures_nothing(const struct capture_options *options, const char *why) {
    struct error error = {0};
    struct trace_batch batch;
    int status = 0, got;
    struct trace *trace = trace_capture(options, &status, &error);
    assert_non_null(trace);
    while ((got = trace_next(trace, &batch, &error)) > 0)
        assert_int_equal(batch.insn_count, 0);
    assert_int_equal(got, -1);
    if (!strstr(error.message, why))
        fail_msg("\"%s\" lacks \"%s\"", error.message, why);
    trace_close(trace);
}

static void nothing_to_capture(void **state) {
    (void)state;
    char *const command[] = {"/bin/true", NULL};
    uint64_t first;
    uint64_t all = captured(&(struct capture_options){.command = command, .thread = -1}, &first);
    assert_captures_nothing(&(struct capture_options){.command = command,
                                                      .thread = -1,
                                                      .from_symbol = "no_such_function"},
                            "no_such_function was never entered");
    assert_captures_nothing(&(struct capture_options){.command = command, .thread = 1},
                            "there was no thread 1, the last was 0");
    char why[100];
    snprintf(why, sizeof why, "ended after %s instructions, within --skip 1000000",
             text_grouped(all).s);
    assert_captures_nothing(
        &(struct capture_options){.command = command, .thread = -1, .skip = 1000000}, why);
}

/* The emulator dies while it loads it, and says nothing. */
static void a_file_that_is_cut_off(void **state) {
    (void)state;
    unsigned char begin[1000];
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s", guest("cut"));
    FILE *whole = fopen("/bin/true", "r"), *cut = fopen(path, "w");
    assert_true(whole && cut);
    assert_int_equal(fread(begin, 1, sizeof begin, whole), sizeof begin);
    assert_int_equal(fwrite(begin, 1, sizeof begin, cut), sizeof begin);
    fclose(whole);
    fclose(cut);
    chmod(path, 0755);
    char *const command[] = {path, NULL};
    assert_captures_nothing(&(struct capture_options){.command = command, .thread = -1},
                            "the file is cut off or damaged");
}

/* ---- what guests do ---- */

static void deaths_are_told(void **state) {
    static const struct {
        const char *how;
        bool signaled;
        int status;
    } DEATHS[] = {{"abort", true, SIGABRT},
                  {"kill", true, SIGKILL},
                  {"null", true, SIGSEGV},
                  {"divide", true, SIGFPE},
                  {"leave", false, 9}};
    (void)state;
    for (size_t i = 0; i < sizeof DEATHS / sizeof *DEATHS; i++) {
        struct seen seen = run("dies", DEATHS[i].how);
        assert_true(seen.exit.known);
        assert_int_equal(seen.exit.signaled, DEATHS[i].signaled);
        assert_int_equal(seen.exit.status, DEATHS[i].status);
        assert_true(seen.insns > 300000);
    }
}

static void descriptors_belong_to_the_guest(void **state) {
    (void)state;
    char file[PATH_MAX], line[16];
    snprintf(file, sizeof file, "%s/written", folder);
    struct seen seen = run("closes_all", file);
    assert_int_equal(seen.exit.status, 0);
    assert_int_equal(seen.processes, 2);
    assert_int_equal(seen.threads, 2);
    FILE *written = fopen(file, "r");
    assert_non_null(written);
    int lines = 0;
    for (; fgets(line, sizeof line, written); lines++)
        assert_string_equal(line, lines < 1000 ? "line\n" : "kid.\n");
    fclose(written);
    assert_int_equal(lines, 2000);
}

static void late_libraries_are_named(void **state) {
    (void)state;
    struct seen seen = run("loads_late", NULL);
    assert_int_equal(seen.exit.status, 0);
    assert_true(seen.has_libz);
}

static void exec_is_followed(void **state) {
    (void)state;
    char *const command[] = {"sh", "-c", "/bin/true; exec sh -c 'exit 5'", NULL};
    struct capture_options options = {.command = command, .thread = -1, .follow = true};
    struct seen seen = capture(&options);
    assert_int_equal(seen.exit.status, 5);
    assert_int_equal(seen.processes, 4); /* sh, its child, true, sh */
    assert_int_equal(seen.untraced, 0);
    options.follow = false;
    seen = capture(&options);
    assert_int_equal(seen.exit.status, 5);
    assert_int_equal(seen.processes, 3); /* sh, its child, sh */
    assert_int_equal(seen.untraced, 1);
}

/* --skip and --limit count over all programs of the process. */
static void counts_go_on_after_exec(void **state) {
    (void)state;
    char *const command[] = {"sh", "-c", "exec env true", NULL};
    struct capture_options options = {.command = command, .thread = -1, .repeatable = true};
    uint64_t all = capture(&options).insns, skip = all / 4 * 3 + all / 8;
    options.skip = skip;
    assert_in_range(capture(&options).insns, all - skip - 100, all - skip); /* whole blocks */
    options.limit = all / 16;
    assert_int_equal(capture(&options).insns, all / 16);
    options.skip = 0;
    options.limit = skip;
    assert_int_equal(capture(&options).insns, skip);
}

static void same_random_numbers(void **state) {
    (void)state;
    char *const command[] = {"sort", "-R", "/etc/group", NULL};
    struct capture_options options = {
        .command = command, .thread = -1, .repeatable = true, .seed = 42};
    struct seen first = capture(&options), second = capture(&options);
    assert_int_equal(first.insns, second.insns);
}

/* By getrandom, and by reads of the devices in several ways; another seed gives others. */
static void random_numbers_however_drawn(void **state) {
    (void)state;
    char *const command[] = {(char *)guest("draws"), NULL};
    struct capture_options options = {
        .command = command, .thread = -1, .repeatable = true, .seed = 1};
    struct seen first = capture(&options), second = capture(&options);
    assert_int_equal(first.exit.status, 0);
    assert_int_equal(first.insns, second.insns);
    options.seed = 2;
    second = capture(&options);
    assert_int_not_equal(first.insns, second.insns);
}

/* No crash, no hang: an error, or an end. */
static void hostile_guests_do_no_harm(void **state) {
    (void)state;
    for (int seed = 1; seed <= 5; seed++) {
        char number[16];
        snprintf(number, sizeof number, "%d", seed);
        char *const command[] = {(char *)guest("scribbles"), number, NULL};
        struct capture_options options = {
            .command = command, .addresses = true, .thread = -1, .follow = true};
        struct error error = {0};
        struct trace_batch batch;
        int status;
        struct trace *trace = trace_capture(&options, &status, &error);
        assert_non_null(trace);
        while (trace_next(trace, &batch, &error) > 0)
            ;
        trace_close(trace);
    }
}

/* Reads `items` items, then closes: the program still runs to its end. */
static void closing_early_leaves_the_program_alone(void **state) {
    (void)state;
    char file[PATH_MAX];
    snprintf(file, sizeof file, "%s/early", folder);
    char *const command[] = {(char *)guest("closes_all"), file, NULL};
    struct capture_options options = {
        .command = command, .addresses = true, .thread = -1, .follow = true};
    for (int items = 0; items < 40; items += 13) {
        struct item_source source;
        struct error error = {0};
        struct item item;
        struct stat left;
        int status;
        unlink(file);
        assert_true(capture_start(&options, &source, &status, &error));
        for (int i = 0; i < items; i++)
            assert_int_equal(source.next(source.context, &item, &error), 1);
        source.close(source.context);
        assert_int_equal(stat(file, &left), 0);
        assert_int_equal(left.st_size, 10000);
    }
}

/* A program that would run for ever, and does not heed SIGINT. */
static void interrupt_ends_the_program(void **state) {
    (void)state;
    char *const command[] = {"sh", "-c", "trap '' INT; while :; do :; done", NULL};
    struct item_source source;
    struct error error = {0};
    struct item item;
    int status, got, items = 0;
    struct trace_exit end = {.known = true};
    assert_true(capture_start(
        &(struct capture_options){.command = command, .addresses = true, .thread = -1}, &source,
        &status, &error));
    while ((got = source.next(source.context, &item, &error)) > 0) {
        if (++items == 500)
            source.interrupt(source.context);
        if (item.kind == ITEM_END)
            end = item.end;
    }
    source.close(source.context);
    assert_int_equal(got, 0);
    assert_false(end.known);
}

/* ---- errors ---- */

static void refused(const char *program, const char *qemu, int expected, const char *words) {
    char *const command[] = {(char *)program, NULL};
    struct error error = {0};
    int status = 0;
    assert_null(
        trace_capture(&(struct capture_options){.command = command, .thread = -1, .qemu = qemu},
                      &status, &error));
    assert_int_equal(status, expected);
    if (!strstr(error.message, words))
        fail_msg("'%s' does not say '%s'", error.message, words);
    assert_null(strchr(error.message, '\n'));
}

static void errors_say_what_to_do(void **state) {
    (void)state;
    refused("/no/such/program", NULL, 127, "/no/such/program");
    refused("no-such-program", NULL, 127, "no-such-program");
    refused("/etc/passwd", NULL, 126, "/etc/passwd");
    refused("/bin/true", "/no/such/qemu", 125, "apt install qemu-user");
    setenv("CULPRIT_PLUGIN", "/no/such/plugin", 1);
    refused("/bin/true", NULL, 125, "CULPRIT_PLUGIN");
    unsetenv("CULPRIT_PLUGIN");
    /* A 32-bit header, and one of another machine. */
    unsigned char elf[64] = "\177ELF\001\001\001";
    elf[16] = 2, elf[18] = 3;
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/foreign", folder);
    for (int i = 0; i < 2; i++) {
        FILE *file = fopen(path, "w");
        fwrite(elf, 1, sizeof elf, file);
        fclose(file);
        chmod(path, 0755);
        refused(path, NULL, 126, i ? "AArch64" : "32-bit");
        elf[4] = 2, elf[18] = 183;
    }
}

/* Where launcher.c finds it: one folder above this test. */
static FILE *open_plugin(void) {
    char path[PATH_MAX + 64];
    if (!realpath("/proc/self/exe", path))
        return NULL;
    strcpy(strrchr(path, '/'), "/../libculprit-trace.so");
    return fopen(path, "r");
}

/* A copy of the plugin in which the layout is another one. */
static void make_other_plugin(const char *path) {
    const uint32_t layout = RING_LAYOUT, other = layout ^ 0x01010101;
    FILE *from = open_plugin(), *to = fopen(path, "w");
    assert_non_null(from);
    assert_non_null(to);
    fseek(from, 0, SEEK_END);
    size_t size = (size_t)ftell(from);
    char *bytes = malloc(size), *found = bytes;
    rewind(from);
    assert_int_equal(fread(bytes, 1, size, from), size);
    assert_non_null(memmem(bytes, size, &layout, sizeof layout));
    while ((found = memmem(found, size - (size_t)(found - bytes), &layout, sizeof layout)))
        memcpy(found, &other, sizeof other);
    assert_int_equal(fwrite(bytes, 1, size, to), size);
    fclose(from);
    fclose(to);
    free(bytes);
}

static void another_version_of_the_plugin_is_refused(void **state) {
    (void)state;
    char *const command[] = {"/bin/true", NULL};
    const struct capture_options options = {.command = command, .thread = -1};
    struct trace_batch batch;
    struct error error = {0};
    int exec_status, status = 1;
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/other.so", folder);
    make_other_plugin(path);
    setenv("CULPRIT_PLUGIN", path, 1);
    struct trace *trace = trace_capture(&options, &exec_status, &error);
    unsetenv("CULPRIT_PLUGIN");
    assert_non_null(trace);
    while ((status = trace_next(trace, &batch, &error)) > 0)
        continue;
    trace_close(trace);
    assert_int_equal(status, -1);
    assert_non_null(strstr(error.message, "of another version than culprit"));
}

/* Without an argument all tests; with one, those with a timer, so many signals long. */
int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(count_of_loop),
        cmocka_unit_test(count_of_rep),
        cmocka_unit_test(count_without_addresses),
        cmocka_unit_test(count_of_division_by_zero),
        cmocka_unit_test(count_of_null_loads),
        cmocka_unit_test(count_of_self_modifying_code),
        cmocka_unit_test(count_of_signals),
        cmocka_unit_test(count_of_timer_signals),
        cmocka_unit_test(count_of_timer_signals_on_riscv64),
        cmocka_unit_test(windows_are_exact),
        cmocka_unit_test(stops_the_program_at_the_limit),
        cmocka_unit_test(many_threads),
        cmocka_unit_test(threads_after_shared_memory),
        cmocka_unit_test(limit_of_sleeping_threads),
        cmocka_unit_test(nothing_to_capture),
        cmocka_unit_test(a_file_that_is_cut_off),
        cmocka_unit_test(deaths_are_told),
        cmocka_unit_test(descriptors_belong_to_the_guest),
        cmocka_unit_test(late_libraries_are_named),
        cmocka_unit_test(exec_is_followed),
        cmocka_unit_test(counts_go_on_after_exec),
        cmocka_unit_test(same_random_numbers),
        cmocka_unit_test(random_numbers_however_drawn),
        cmocka_unit_test(hostile_guests_do_no_harm),
        cmocka_unit_test(closing_early_leaves_the_program_alone),
        cmocka_unit_test(interrupt_ends_the_program),
        cmocka_unit_test(errors_say_what_to_do),
        cmocka_unit_test(another_version_of_the_plugin_is_refused),
    };
    const struct CMUnitTest timers[] = {cmocka_unit_test(count_of_timer_signals),
                                        cmocka_unit_test(count_of_timer_signals_on_riscv64)};
    if (argc < 2)
        return cmocka_run_group_tests(tests, build_guests, remove_guests);
    signals = strtoul(argv[1], NULL, 10);
    return cmocka_run_group_tests(timers, build_guests, remove_guests);
}
