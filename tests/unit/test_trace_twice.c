/* Files that are read twice: what the second reader finds, which does not depend on the file.
 *
 * A block has 10 instructions and loads once, in the ninth; a chunk enters it 1000 times and holds
 * 10,000 instructions. Chunks of threads 0 and 1 take turns. Before the last two
 * the process names its anonymous code. */
#include "unit/trace_script.h"

#include <unistd.h>

#include "temporary.h"
#include "trace/trace_twice.h"

enum { ENTRIES = 1000, CHUNK = 10000, CHUNKS = 5, EVENTS = 2 * ENTRIES };

static const char LOOP[] = "\x90\x90\x90\x90\x90\x90\x90\x90\x8b\x06\xeb\xf4";
static const struct code_symbol SYMBOLS[] = {{0x20000, 12, "interpreted"}};
static uint64_t events[EVENTS];
static struct script script;
static char path[TEMPORARY_BYTES];

static void make_script(void) {
    script_begin(&script, ISA_X86_64);
    for (uint32_t i = 0; i < EVENTS; i += 2) {
        events[i] = event_block(0);
        events[i + 1] = event_access(false, 2, 8, 0x2000);
    }
    script_block(&script, 0, 0x1000, 10, LOOP, 12);
    script_block(&script, 0, 0x20000, 10, LOOP, 12);
    script.items[script.count - 1].code.image = UINT32_MAX;
    for (uint32_t i = 0; i < CHUNKS; i++) {
        if (i == CHUNKS - 1)
            script_add(&script, ITEM_SYMBOLS)->symbols = (struct item_symbols){0, 1, SYMBOLS};
        script_data(&script, 0, events, EVENTS);
        script_data(&script, 1, events, EVENTS);
    }
    script_add(&script, ITEM_NOTE)->note = "a note";
    script_add(&script, ITEM_END)->end = (struct trace_exit){.known = true, .status = 3};
}

static int write_file(void **state) {
    (void)state;
    struct error error;
    const int file = mkstemp(temporary_name(path, "twice"));
    if (file < 0)
        return -1;
    close(file);
    make_script();
    struct file_writer *writer = file_writer_open(path, false, &error);
    for (size_t i = 0; i < script.count; i++)
        if (!file_writer_put(writer, &script.items[i], &error))
            return -1;
    return file_writer_close(writer, NULL, &error) ? 0 : -1;
}

static int remove_file(void **state) {
    (void)state;
    return unlink(path);
}

static struct trace_twice *begin(uint64_t from) {
    struct error error;
    struct trace_twice *twice = trace_twice_new(path, 0, from, &error);
    assert_non_null(twice);
    return twice;
}

struct found {
    uint64_t instructions, loads, passed;
    bool named; /* code of a symbol */
    bool noted, ended;
};

/* Reads this far at least, passing over what the chunks before `pass` hold. */
static struct found read_until(struct trace_twice *twice, uint64_t pass, uint64_t until) {
    struct error error;
    struct trace_batch batch;
    struct found found = {0};
    struct trace *trace = trace_twice_open(twice, &error);
    assert_non_null(trace);
    trace_only(trace, 0);
    int status = 1;
    while (found.instructions + found.passed < until && status > 0) {
        if (found.passed < pass)
            trace_pass(trace, pass - found.passed);
        if ((status = trace_next(trace, &batch, &error)) <= 0)
            break;
        assert_int_equal(batch.thread, 0);
        assert_int_equal(batch.first_insn, found.instructions + found.passed);
        found.instructions += batch.insn_count;
        found.loads += batch.access_count;
        found.passed += batch.passed;
    }
    assert_true(status >= 0);
    const struct code *code = trace_code(trace);
    for (uint32_t i = 0; i < code->image_count; i++)
        found.named |= code->images[i].symbol && strcmp(code->images[i].symbol, "interpreted") == 0;
    found.noted = trace_note_count(trace) == 1 && strcmp(trace_note(trace, 0), "a note") == 0;
    found.ended = trace_exit_status(trace).known && trace_exit_status(trace).status == 3;
    trace_close(trace);
    return found;
}

static struct found read_all(struct trace_twice *twice) {
    return read_until(twice, 0, UINT64_MAX);
}

/* The second reader begins in the fourth chunk, and passes over those before, but for the third if
 * that may hold a part of the block in which it begins. The file is not there any more. */
static void second_is_read_from_memory(void **state) {
    static const struct {
        uint64_t from, passed;
    } CASES[] = {{0, 0},
                 {3 * CHUNK + EVENT_MAX_BLOCK_INSNS, 3 * CHUNK},
                 {3 * CHUNK + EVENT_MAX_BLOCK_INSNS - 1, 2 * CHUNK}};
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        struct trace_twice *twice = begin(CASES[i].from);
        const struct found first = read_all(twice);
        assert_int_equal(first.instructions, CHUNKS * CHUNK);
        assert_int_equal(first.loads, CHUNKS * ENTRIES);
        assert_int_equal(first.passed, 0);
        assert_true(first.named && first.noted && first.ended);
        assert_int_equal(truncate(path, 0), 0);
        const struct found second = read_all(twice);
        assert_int_equal(second.passed, CASES[i].passed);
        assert_int_equal(second.instructions, CHUNKS * CHUNK - CASES[i].passed);
        assert_int_equal(second.loads, (CHUNKS * CHUNK - CASES[i].passed) / 10);
        assert_true(second.named && second.noted && second.ended);
        trace_twice_free(twice);
        assert_int_equal(remove_file(state), 0);
        assert_int_equal(write_file(state), 0);
    }
}

/* Also when the first has not come to the end. */
static void second_goes_on_in_the_file(void **state) {
    (void)state;
    const uint64_t from = 2 * CHUNK + EVENT_MAX_BLOCK_INSNS;
    struct trace_twice *twice = begin(from);
    const struct found first = read_until(twice, from, from);
    assert_int_equal(first.passed, 2 * CHUNK);
    assert_false(first.named || first.noted || first.ended);
    const struct found second = read_until(twice, from, UINT64_MAX);
    assert_int_equal(second.passed, 2 * CHUNK);
    assert_int_equal(second.instructions, (CHUNKS - 2) * CHUNK);
    assert_true(second.named && second.noted && second.ended);
    trace_twice_free(twice);
}

/* Errors are the file's. */
static void there_is_no_file(void **state) {
    (void)state;
    struct error error, same;
    assert_null(trace_twice_new("/no/such.ctrace", 0, 0, &error));
    assert_null(trace_open("/no/such.ctrace", &same));
    assert_string_equal(error.message, same.message);
    trace_twice_free(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(second_is_read_from_memory),
                                       cmocka_unit_test(second_goes_on_in_the_file),
                                       cmocka_unit_test(there_is_no_file)};
    return cmocka_run_group_tests(tests, write_file, remove_file);
}
