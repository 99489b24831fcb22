/* Traces of regions in memory: what the first reader finds, what the second, and when their writer
 * is to wait.
 *
 * A block has 10 instructions and loads once, in the ninth; a chunk enters it 100 times and holds
 * 1000 instructions. Its last load comes with the next chunk, as captures may have it. */
#include "unit/script_stream.h"

#include <pthread.h>

enum { ENTRIES = 100, CHUNK = 1000, CHUNKS = 5, EVENTS = 2 * ENTRIES, LACKING = 2 };

static const char LOOP[] = "\x90\x90\x90\x90\x90\x90\x90\x90\x8b\x06\xeb\xf4";
static uint64_t events[EVENTS + 1]; /* the load of the chunk before first */
static struct script script;

/* CHUNKS chunks of thread 0; all but the first begin with a load. */
static void begin(void) {
    script_begin(&script, ISA_X86_64);
    const uint64_t load = event_access(false, 2, 8, 0x2000);
    for (uint32_t i = 0; i < EVENTS; i += 2) {
        events[i] = load;
        events[i + 1] = event_block(0);
    }
    script_block(&script, 0, 0x1000, 10, LOOP, 12);
    for (uint32_t i = 0; i < CHUNKS; i++)
        script_data(&script, 0, events + (i == 0), EVENTS - (i == 0));
    script_add(&script, ITEM_END)->end = (struct trace_exit){.known = false};
}

static void put(struct region_stream *stream, size_t from, size_t to) {
    script_put(&script, stream, from, to);
}

struct found {
    uint64_t instructions, loads, passed;
};

static struct found read_all(struct region_stream *stream) {
    struct error error;
    struct trace_batch batch;
    struct found found = {0, 0, 0};
    struct trace *trace = region_stream_open(stream, &error);
    assert_non_null(trace);
    while (trace_next(trace, &batch, &error) > 0) {
        found.instructions += batch.insn_count;
        found.loads += batch.access_count;
        found.passed += batch.passed;
    }
    trace_close(trace);
    return found;
}

/* The region begins with the fourth chunk: of the chunks before it the second reader finds the
 * last. The last load of all is in no chunk, so that
 * the last block ends before it, without two instructions. */
static void is_read_twice(void **state) {
    (void)state;
    begin();
    struct region_streams *streams = region_streams_new();
    struct region_stream *stream = region_stream_new(streams, 3 * CHUNK);
    put(stream, 0, script.count);
    region_stream_end(stream);
    struct found found = read_all(stream);
    assert_int_equal(found.instructions, CHUNKS * CHUNK - LACKING);
    assert_int_equal(found.loads, CHUNKS * ENTRIES - 1);
    assert_int_equal(found.passed, 0);
    found = read_all(stream);
    assert_int_equal(found.passed, 2 * CHUNK);
    assert_int_equal(found.instructions, 3 * CHUNK - LACKING);
    assert_int_equal(found.loads, 3 * ENTRIES - 1);
    region_stream_leave(stream);
    region_streams_free(streams);
}

/* The region begins within the second chunk, which is then the first to be found again. */
static void begins_within_a_chunk(void **state) {
    (void)state;
    begin();
    struct region_streams *streams = region_streams_new();
    struct region_stream *stream = region_stream_new(streams, CHUNK + CHUNK / 2);
    put(stream, 0, script.count);
    region_stream_end(stream);
    read_all(stream);
    assert_int_equal(read_all(stream).passed, CHUNK);
    region_stream_leave(stream);
    region_streams_free(streams);
}

static void *read_in_thread(void *stream) {
    static struct found found;
    found = read_all(stream);
    return &found;
}

/* The reader is there before anything is written. */
static void waits_for_the_writer(void **state) {
    (void)state;
    begin();
    pthread_t thread;
    void *found;
    struct region_streams *streams = region_streams_new();
    struct region_stream *stream = region_stream_new(streams, 0);
    assert_int_equal(pthread_create(&thread, NULL, read_in_thread, stream), 0);
    for (size_t i = 0; i < script.count; i++)
        put(stream, i, i + 1);
    region_stream_end(stream);
    assert_int_equal(pthread_join(thread, &found), 0);
    assert_int_equal(((struct found *)found)->instructions, CHUNKS * CHUNK - LACKING);
    region_stream_leave(stream);
    region_streams_free(streams);
}

/* 32 MB of events are much; a reader who goes, with whatever is left, makes room. */
static void full(void **state) {
    (void)state;
    enum { MANY = 1 << 20, TIMES = 5 };
    uint64_t *many = calloc(MANY, sizeof *many);
    const struct item item = {.kind = ITEM_DATA,
                              .data = {.insn_count = 1, .event_count = MANY, .events = many}};
    struct error error;
    begin();
    struct region_streams *streams = region_streams_new();
    struct region_stream *stream = region_stream_new(streams, 0);
    assert_non_null(many);
    put(stream, 0, 2);
    assert_false(region_streams_full(streams));
    for (int i = 0; i < TIMES; i++)
        put_item(stream, item);
    assert_true(region_streams_full(streams));
    region_streams_wait(streams); /* nobody reads: it comes back all the same */
    struct trace *trace = region_stream_open(stream, &error);
    assert_non_null(trace);
    assert_true(region_streams_full(streams));
    trace_close(trace);
    assert_false(region_streams_full(streams));
    region_stream_leave(stream);
    region_streams_free(streams);
    region_stream_end(stream);
    free(many);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_read_twice),
        cmocka_unit_test(begins_within_a_chunk),
        cmocka_unit_test(waits_for_the_writer),
        cmocka_unit_test(full),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
