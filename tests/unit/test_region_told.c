/* What comes before a region is told chunk by chunk, and only the last of it is in its trace; and
 * what time stamps of it are. By hand-made captures of one block of 10 instructions: a chunk enters
 * it 100 times. */
#include "unit/trace_script.h"

#include <unistd.h>

#include "simulate/stamped_before.h"
#include "temporary.h"
#include "trace/kept_code.h"
#include "trace/region_source.h"

enum { BLOCKS = 100, CHUNK = 1000, CHUNKS = 60, FIRST = 40000, LENGTH = 3000, WRITTEN = 4000 };

static const char LOOP[] = "\x90\x90\x90\x90\x90\x90\x90\x90\x90\xeb\xf5";
static const struct capture_image IMAGE = {"/bin/prog", {1, 2, 3}, 3};

static struct script script;
static uint64_t events[BLOCKS];
static char folder[TEMPORARY_BYTES], path[256];

static struct told {
    uint64_t first, end; /* [first, end) of the chunks, which follow one another */
    uint32_t chunks;
    bool refuse;
} told;

static bool note(void *context, const struct capture_region *region, const struct item_data *data,
                 const struct kept_code *code, struct error *error) {
    struct told *so_far = context;
    assert_int_equal(region->id, 1);
    assert_int_equal(code->count, 1);
    if (so_far->refuse)
        return error_set(error, "refused");
    if (so_far->chunks++)
        assert_int_equal(data->first_insn, so_far->end);
    else
        so_far->first = data->first_insn;
    so_far->end = data->first_insn + data->insn_count;
    return true;
}

/* A region that is found so much later than expected, or earlier. */
static struct capture_region capture(int64_t later, const char *expected_error) {
    static struct error error;
    struct capture_region region = {.id = 1,
                                    .first = FIRST,
                                    .instructions = LENGTH,
                                    .start = {.image = 0, .offset = 0x1234, .count = 7},
                                    .end = {.image = 0, .offset = 0x1238, .count = 9},
                                    .path = path};
    const uint64_t found = (uint64_t)(FIRST + later);
    struct item_source source = {.next = script_next, .close = script_close, .context = &script};
    const struct region_capture_options options = {.images = &IMAGE,
                                                   .image_count = 1,
                                                   .warm_up = 20000,
                                                   .before = note,
                                                   .written = WRITTEN,
                                                   .context = &told};
    script_begin(&script, ISA_X86_64);
    for (int i = 0; i < BLOCKS; i++)
        events[i] = event_block(0);
    script_block(&script, 0, 0x1000, 10, LOOP, 11);
    for (uint64_t at = 0; at < CHUNKS * CHUNK; at += CHUNK) {
        if (at <= found && found < at + CHUNK)
            script_add(&script, ITEM_MARKER)->marker = (struct item_marker){0, found};
        if (at <= found + LENGTH && found + LENGTH < at + CHUNK)
            script_add(&script, ITEM_MARKER)->marker = (struct item_marker){1, found + LENGTH};
        script_data(&script, 0, events, BLOCKS);
    }
    script_add(&script, ITEM_END)->end = (struct trace_exit){.known = true};
    script.at = 0;
    error = (struct error){0};
    struct region_capture *capture = region_capture_from(&options, &region, 1, &source, &error);
    const bool good = capture && region_capture_run(capture, &error);
    region_capture_close(capture);
    assert_int_equal(good, !expected_error);
    if (expected_error)
        assert_string_equal(error.message, expected_error);
    return region;
}

static uint64_t instructions_of_trace(void) {
    struct error error = {0};
    struct trace_batch batch;
    uint64_t count = 0;
    struct trace *trace = trace_open(path, &error);
    assert_non_null(trace);
    while (trace_next(trace, &batch, &error) > 0)
        count += batch.insn_count;
    assert_string_equal(error.message, "");
    trace_close(trace);
    return count;
}

/* All chunks from the warm-up's begin to that in which the region begins are told, once. Its trace
 * begins with the chunk in which the last 4000 instructions before that one lie, and ends with that
 * in which the region does. */
static void check(int64_t later) {
    const uint64_t found = (uint64_t)(FIRST + later), chunk = found / CHUNK * CHUNK;
    told = (struct told){0};
    const struct capture_region region = capture(later, NULL);
    assert_int_equal(region.state, REGION_COMPLETE);
    assert_int_equal(region.found_first, found);
    assert_int_equal(told.end, chunk + CHUNK);
    assert_true(told.first <= found - WRITTEN && told.first == region.told_first);
    assert_int_equal(region.trace_first, chunk - WRITTEN);
    assert_int_equal(region.trace_last, (found + LENGTH) / CHUNK * CHUNK + CHUNK);
    assert_int_equal(instructions_of_trace(), region.trace_last - region.trace_first);
}

static void found_where_it_is_expected(void **state) {
    (void)state;
    check(500);
    assert_int_equal(told.first, FIRST - 20000);
    check(0);
}

static void found_later(void **state) {
    (void)state;
    check(7700);
}

static void found_earlier(void **state) {
    (void)state;
    check(-900);
}

static void who_is_told_may_end_it(void **state) {
    (void)state;
    unlink(path);
    told = (struct told){.refuse = true};
    assert_int_equal(capture(0, "refused").state, REGION_FAILED);
    assert_int_equal(access(path, F_OK), -1);
}

/* ---- time stamps ---- */

/* Lines of 64 bytes: of what is accessed, the last first; the block's own line is code. The chunk's
 * second half, from instruction 20 on, is not stamped. */
static void stamps_end_where_caches_are_shown(void **state) {
    (void)state;
    const uint64_t chunk[] = {event_block(0), event_access(false, 3, 0, 0x9000),
                              event_block(0), event_access(true, 3, 0, 0x8000),
                              event_block(0), event_access(false, 3, 0, 0x7000)};
    const struct stamped_chunk stamped = {.events = chunk, .event_count = 6, .insn_count = 30};
    struct machine machine = {.l1d = {.line = 64}};
    struct kept_code code = {0};
    struct stamped_before result;
    struct error error;
    const struct kept_block block = {.address = 0x1000, .insn_count = 10, .size = 11};
    assert_true(kept_code_add(&code, block, (const uint8_t *)LOOP));
    struct before_region *before = before_region_new(&machine);
    assert_non_null(before);
    const struct stamped_blocks blocks = stamped_blocks_of(&code);
    assert_true(before_region_add(before, &stamped, 30, &blocks, &error));
    before_region_clear(before);
    assert_true(before_region_add(before, &stamped, 20, &blocks, &error));
    assert_true(before_region_add(before, &stamped, 0, &blocks, &error)); /* nothing of it */
    assert_true(before_region_end(before, &blocks, &result, &error));
    assert_int_equal(result.instructions, 20);
    assert_int_equal(result.count, 3);
    assert_int_equal(result.lines[0].address, 0x9000);
    assert_int_equal(result.lines[0].kind, STAMPED_LOAD);
    assert_int_equal(result.lines[1].address, 0x1000);
    assert_int_equal(result.lines[1].kind, STAMPED_CODE);
    assert_int_equal(result.lines[2].address, 0x8000);
    assert_int_equal(result.lines[2].kind, STAMPED_STORE);
    stamped_before_free(&result);
    before_region_free(before);
    kept_code_free(&code);
}

static int make_folder(void **state) {
    (void)state;
    if (!mkdtemp(temporary_name(folder, "told")))
        return -1;
    snprintf(path, sizeof path, "%s/r1.ctrace", folder);
    return 0;
}

static int remove_folder(void **state) {
    (void)state;
    unlink(path);
    return rmdir(folder);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(found_where_it_is_expected),
        cmocka_unit_test(found_later),
        cmocka_unit_test(found_earlier),
        cmocka_unit_test(who_is_told_may_end_it),
        cmocka_unit_test(stamps_end_where_caches_are_shown),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
