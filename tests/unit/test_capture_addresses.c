/* A capture that counts blocks from somewhere on (capture_counts): tests/guests/stages.c works,
 * makes a file, a thread or a process, and works again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "temporary.h"
#include "trace/event.h"
#include "trace/trace.h"

enum {
    MANY = 1000,    /* blocks of the work: some of them access memory */
    UNTIL = 1000000 /* instructions of the 10 million, of which a chunk holds some 100,000 */
};

static char folder[TEMPORARY_BYTES], program[PATH_MAX], made[PATH_MAX];

static int build_guest(void **state) {
    char command[3 * PATH_MAX];
    (void)state;
    if (!mkdtemp(temporary_name(folder, "addresses")))
        return -1;
    snprintf(program, sizeof program, "%s/stages", folder);
    snprintf(made, sizeof made, "%s/made", folder);
    snprintf(command, sizeof command, "cc -O1 -o %s tests/guests/stages.c -pthread", program);
    return system(command);
}

static int remove_guest(void **state) {
    (void)state;
    unlink(program);
    unlink(made);
    return rmdir(folder);
}

struct seen {
    struct trace *trace;
    uint64_t insns;        /* of all chunks */
    uint64_t first_bare;   /* instructions before the first chunk of these */
    uint32_t chunks, bare; /* those of counts */
    uint32_t bare_of_rest; /* of them, of other threads, or behind the effect */
    uint32_t chunks_of_rest;
    bool reached;               /* the effect */
    uint64_t decoded, accesses; /* behind it */
};

static bool is_of_rest(const struct seen *seen, const struct trace_chunk *chunk) {
    const struct trace_effect *effect = trace_effect(seen->trace);
    return chunk->thread > 0 || (effect && chunk->first_insn >= effect->position);
}

static bool see_chunk(void *context, const struct trace_chunk *chunk, struct error *error) {
    (void)error;
    struct seen *seen = context;
    uint32_t blocks = 0, accesses = 0;
    for (uint32_t i = 0; i < chunk->event_count; i++) {
        const unsigned kind = event_kind(chunk->events[i]);
        blocks += kind == EVENT_BLOCK;
        accesses += kind == EVENT_LOAD || kind == EVENT_STORE;
    }
    const bool bare = chunk->counted, rest = is_of_rest(seen, chunk);
    assert_true(blocks < MANY || accesses || bare);
    const struct trace_effect *effect = trace_effect(seen->trace);
    if (bare && !seen->bare)
        seen->first_bare = chunk->first_insn;
    seen->insns += chunk->insn_count;
    seen->chunks++;
    seen->bare += bare;
    seen->bare_of_rest += bare && rest;
    seen->chunks_of_rest += rest && blocks >= MANY;
    seen->reached |= effect && chunk->first_insn + chunk->insn_count >= effect->position;
    return true;
}

/* Passes everything up to the effect, and decodes what is behind it. */
static struct seen run(const char *what, uint64_t until) {
    char *const command[] = {program, (char *)what, made, NULL};
    const struct capture_options options = {.command = command,
                                            .addresses = true,
                                            .counted = {until, UNTIL / 4, UNTIL, 4},
                                            .thread = -1,
                                            .follow = true,
                                            .fixed = true,
                                            .watch_effects = true};
    struct seen seen = {0};
    struct trace_batch batch;
    struct error error = {0};
    int status = 0, got;
    unlink(made);
    if (!(seen.trace = trace_capture(&options, &status, &error)))
        fail_msg("status %d: %s", status, error.message);
    trace_watch(seen.trace, see_chunk, &seen);
    for (;;) {
        const bool decodes = seen.reached;
        trace_pass(seen.trace, decodes ? 0 : UINT64_MAX);
        if ((got = trace_next(seen.trace, &batch, &error)) <= 0)
            break;
        seen.decoded += decodes ? batch.insn_count : 0;
        seen.accesses += decodes ? batch.access_count : 0;
    }
    if (got < 0)
        fail_msg("%s", error.message);
    assert_int_equal(trace_note_count(seen.trace), 0);
    trace_close(seen.trace);
    return seen;
}

static void come_back_with_an_effect(void **state) {
    (void)state;
    const struct seen all = run("file", 0), some = run("file", UNTIL);
    assert_int_equal(all.bare, 0);
    assert_true(some.bare > 0);
    assert_true(some.chunks_of_rest > 0);
    assert_int_equal(some.bare_of_rest, 0);
    assert_int_equal(some.insns, all.insns);
    assert_true(all.accesses > 0);
    assert_int_equal(some.decoded, all.decoded);
    assert_int_equal(some.accesses, all.accesses);
}

static void come_back_with_a_thread(void **state) {
    (void)state;
    const struct seen some = run("thread", UNTIL);
    assert_true(some.bare > 0);
    assert_true(some.chunks_of_rest > 0);
    assert_int_equal(some.bare_of_rest, 0);
}

/* Which is an effect, too. */
static void come_back_with_a_process(void **state) {
    (void)state;
    const struct seen some = run("fork", UNTIL);
    assert_true(some.bare > 0);
    assert_true(some.chunks_of_rest > 0);
    assert_int_equal(some.bare_of_rest, 0);
    assert_true(some.accesses > 0);
}

/* From the first chunk that begins beyond it, in every run. */
static void begins_where_it_is_asked(void **state) {
    (void)state;
    const struct seen all = run("", 0), some = run("", UNTIL), again = run("", UNTIL);
    assert_int_equal(some.insns, all.insns);
    assert_true(some.first_bare > UNTIL && some.first_bare < 2 * UNTIL);
    assert_int_equal(again.first_bare, some.first_bare);
    assert_int_equal(again.chunks, some.chunks);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(come_back_with_an_effect), cmocka_unit_test(come_back_with_a_thread),
        cmocka_unit_test(come_back_with_a_process), cmocka_unit_test(begins_where_it_is_asked)};
    return cmocka_run_group_tests(tests, build_guest, remove_guest);
}
