/* Regions out of hand-made captures: which chunks their traces hold, and what each mistake is
 * called.
 *
 * The stream: three blocks of 10 instructions, loops of 9 nops and a jump. A chunk of a thread
 * enters one of them 100 times, so it holds 1000 instructions. */
#include "unit/trace_script.h"

#include <sys/stat.h>
#include <unistd.h>

#include "temporary.h"
#include "trace/region_source.h"
#include "trace/region_windows.h"
#include "trace/thread_event_list.h"

enum { CHUNK_EVENTS = 100, CHUNK = 1000, REGIONS = 8 };

static const char LOOP[] = "\x90\x90\x90\x90\x90\x90\x90\x90\x90\xeb\xf5";
static const struct capture_image IMAGE = {"/bin/prog", {1, 2, 3}, 3};

static struct script script;
static uint64_t events[3][CHUNK_EVENTS];
static char folder[TEMPORARY_BYTES];
static char paths[REGIONS][256];
static struct capture_region regions[REGIONS];

static void begin(void) {
    script_begin(&script, ISA_X86_64);
    for (uint32_t block = 0; block < 3; block++) {
        for (int i = 0; i < CHUNK_EVENTS; i++)
            events[block][i] = event_block(block);
        script_block(&script, 0, 0x1000 + 0x100 * block, 10, LOOP, 11);
    }
    memset(regions, 0, sizeof regions);
}

/* `count` chunks of a thread, which enter one block. */
static void chunks(uint32_t thread, uint32_t block, int count) {
    while (count-- > 0)
        script_data(&script, thread, events[block], CHUNK_EVENTS);
}

static void reached(uint32_t marker, uint64_t position) {
    script_add(&script, ITEM_MARKER)->marker = (struct item_marker){marker, position};
}

static struct capture_region region(uint32_t id, uint32_t thread, uint64_t first,
                                    uint64_t instructions) {
    return (struct capture_region){
        .id = id,
        .thread = thread,
        .first = first,
        .instructions = instructions,
        .start = {.image = 0, .offset = 0x1234, .count = 7},
        .end = {.image = 0, .offset = 0x1238, .count = 9},
        .path = paths[id],
    };
}

static size_t completed;
static void count_complete(void *context, const struct capture_region *region) {
    assert_ptr_equal(context, &completed);
    assert_int_equal(region->state, REGION_COMPLETE);
    assert_int_equal(access(region->path, R_OK), 0);
    completed++;
}

static uint32_t pauses;
static uint64_t paused_until;
static void count_pause(void *context, uint32_t thread, uint64_t until) {
    assert_ptr_equal(context, &script);
    assert_int_equal(thread, 0);
    pauses++;
    paused_until = until;
}

static uint64_t other_threads; /* times a region's own instructions */

/* Captures the first `count` regions with a warm-up of 1500; the error, "" when there is none. */
static const char *capture(size_t count) {
    static struct error error;
    struct item_source source = {
        .next = script_next, .close = script_close, .pause = count_pause, .context = &script};
    pauses = 0;
    struct region_capture_options options = {.images = &IMAGE,
                                             .image_count = 1,
                                             .warm_up = 1500,
                                             .other_threads = other_threads,
                                             .complete = count_complete,
                                             .context = &completed};
    script_add(&script, ITEM_END)->end = (struct trace_exit){.known = true};
    script.at = 0;
    error = (struct error){0};
    completed = 0;
    struct region_capture *capture = region_capture_from(&options, regions, count, &source, &error);
    bool good = capture && region_capture_run(capture, &error);
    region_capture_close(capture);
    assert_int_equal(good, error.message[0] == 0);
    return error.message;
}

/* Instructions of a trace, which has one thread, and static ones. */
static void assert_trace(const char *path, uint64_t insns, uint32_t static_insns) {
    struct error error = {0};
    struct trace_batch batch;
    uint64_t count = 0;
    struct trace *trace = trace_open(path, &error);
    assert_non_null(trace);
    while (trace_next(trace, &batch, &error) > 0) {
        assert_int_equal(batch.thread, 0);
        assert_int_equal(batch.process, 0);
        count += batch.insn_count;
    }
    assert_string_equal(error.message, "");
    assert_int_equal(count, insns);
    assert_int_equal(trace_code(trace)->insn_count, static_insns);
    assert_false(trace_is_cut(trace));
    assert_int_equal(trace_note_count(trace), 1);
    assert_non_null(strstr(trace_note(trace, 0), "region "));
    trace_close(trace);
}

/* Instructions of its threads, of which there are `count`. */
static void assert_threads(const char *path, const uint64_t *insns, uint32_t count,
                           const char *note) {
    struct error error = {0};
    struct trace_batch batch;
    uint64_t counts[4] = {0};
    struct trace *trace = trace_open(path, &error);
    assert_non_null(trace);
    while (trace_next(trace, &batch, &error) > 0) {
        assert_true(batch.thread < count);
        counts[batch.thread] += batch.insn_count;
    }
    assert_string_equal(error.message, "");
    assert_int_equal(trace_thread_count(trace), count);
    for (uint32_t i = 0; i < count; i++)
        assert_int_equal(counts[i], insns[i]);
    assert_false(trace_is_cut(trace));
    assert_int_equal(trace_note_count(trace), note ? 2 : 1);
    if (note)
        assert_string_equal(trace_note(trace, 1), note);
    trace_close(trace);
}

static void threads_around_a_region(void) {
    begin();
    regions[0] = region(1, 1, 2100, 1100);
    chunks(0, 1, 1); /* before the trace begins */
    chunks(1, 0, 1);
    chunks(0, 1, 2);
    chunks(1, 0, 1);
    reached(0, 2100);
    chunks(0, 2, 3);
    chunks(2, 0, 1);
    script_thread_end(&script, 2);
    chunks(1, 1, 1);
    chunks(0, 2, 1);
    reached(1, 3200);
    chunks(0, 0, 5); /* behind the end, though the chunk that holds it is still to come */
    chunks(3, 0, 1);
    chunks(1, 1, 1);
    chunks(0, 0, 1);
}

/* Between the markers everything of all threads, before the first what there is since the trace
 * begins; the region's own thread is the first, and can be read alone. */
static void all_threads_between_two_points(void **state) {
    (void)state;
    other_threads = 100;
    threads_around_a_region();
    assert_string_equal(capture(1), "");
    assert_int_equal(region_trace_start(&regions[0]), 2100);
    assert_int_equal(region_trace_end(&regions[0]), 3200);
    assert_int_equal(regions[0].trace_threads, 3);
    assert_false(regions[0].others_cut);
    assert_threads(paths[1], (const uint64_t[]){4000, 6000, 1000}, 3,
                   "the region in other threads of this trace: 1 (thread 0 of the process) 2000 to "
                   "6000, 2 (thread 0 of the process) 0 to 1000");
    struct error error;
    struct trace_batch batch;
    uint64_t insns = 0;
    struct trace *trace = trace_open(paths[1], &error);
    trace_only(trace, 0);
    while (trace_next(trace, &batch, &error) > 0) {
        assert_int_equal(batch.thread, 0);
        insns += batch.insn_count;
    }
    assert_int_equal(insns, 4000);
    trace_close(trace);

    /* Its first chunk is that of the start, and comes after what others executed behind it. */
    begin();
    regions[0] = region(1, 1, 0, 1100);
    chunks(0, 1, 1);
    reached(0, 0);
    chunks(0, 2, 3);
    chunks(1, 1, 1);
    chunks(0, 1, 1);
    reached(1, 1100);
    chunks(0, 2, 1);
    chunks(1, 1, 1);
    assert_string_equal(capture(1), "");
    assert_threads(paths[1], (const uint64_t[]){2000, 4000}, 2,
                   "the region in other threads of this trace: 1 (thread 0 of the process) 0 to "
                   "4000");

    other_threads = 0;
    threads_around_a_region();
    assert_string_equal(capture(1), "");
    assert_threads(paths[1], (const uint64_t[]){4000}, 1, NULL);
}

/* Events come with the chunks that they belong to: the region's own thread is 0 here, that which is
 * made there 2. What others did before the trace begins is left out, and so are all of them when it
 * holds one thread. */
static void events_of_threads(void **state) {
    (void)state;
    struct thread_event_list list;
    struct error error;
    for (other_threads = 100;; other_threads = 0) {
        begin();
        regions[0] = region(1, 1, 2100, 1100);
        script_event(&script, 0, THREAD_EVENT_CREATE, 500)->other = 1;
        chunks(0, 1, 1); /* before the trace begins */
        chunks(1, 0, 1);
        chunks(1, 0, 1);
        reached(0, 2100);
        script_event(&script, 0, THREAD_EVENT_CREATE, 300)->other = 2;
        chunks(0, 2, 1);
        script_event(&script, 2, THREAD_EVENT_WAIT, 20);
        chunks(2, 0, 1);
        script_event(&script, 1, THREAD_EVENT_WAKE, 700);
        chunks(1, 1, 1);
        reached(1, 3200);
        script_event(&script, 1, THREAD_EVENT_YIELD, 0);
        chunks(1, 1, 1);
        script_event(&script, 1, THREAD_EVENT_YIELD, 5);
        chunks(1, 1, 1);
        assert_string_equal(capture(1), "");
        assert_true(thread_events_read(paths[1], &list, &error));
        assert_int_equal(list.first[1], 2);
        assert_int_equal(list.events[0].kind, THREAD_EVENT_WAKE);
        assert_int_equal(list.events[0].position, 2700);
        assert_int_equal(list.events[1].position, 3000);
        if (!other_threads)
            break;
        assert_int_equal(list.count, 4);
        assert_int_equal(list.events[2].kind, THREAD_EVENT_CREATE);
        assert_int_equal(list.events[2].position, 300);
        assert_int_equal(list.events[2].other, 2);
        assert_int_equal(list.events[3].thread, 2);
        assert_int_equal(list.events[3].position, 20);
        assert_int_equal(list.threads[2].creator, 1);
        thread_events_free(&list);
    }
    assert_int_equal(list.count, 2);
    thread_events_free(&list);
}

/* A thread that waits has regions in which others execute any number of instructions: no more than
 * the region's own, 1100, here, before it as well as in it; then some are missing. */
static void others_are_bounded(void **state) {
    (void)state;
    other_threads = 1;
    threads_around_a_region();
    assert_string_equal(capture(1), "");
    assert_true(regions[0].others_cut);
    assert_threads(paths[1], (const uint64_t[]){4000, 2000}, 2,
                   "the region in other threads of this trace: 1 (thread 0 of the process) 1000 to "
                   "2000; left out is what other threads executed in it beyond 1100 instructions");
    other_threads = 0;
}

/* Chunks     0    1000    2000    3000    4000    5000    6000    7000
 * region 1                [2100 .. 3200)           warm-up from 600: chunks 0 to 3000
 * region 2                                    [4500 .. 6000)
 *                                             warm-up from 4500 − 4 − 1500 = 2996: chunks 2000 to
 *                                             6000, in which its end marker lies */
static void windows_of_chunks(void **state) {
    (void)state;
    begin();
    regions[0] = region(1, 0, 2100, 1100);
    regions[1] = region(2, 0, 4500, 1500);
    chunks(0, 0, 2);
    reached(0, 2100);
    chunks(0, 1, 1);
    reached(1, 3200);
    chunks(0, 1, 1);
    reached(2, 4500);
    chunks(0, 2, 2);
    reached(3, 6000);
    chunks(0, 2, 3);
    assert_string_equal(capture(2), "");
    assert_int_equal(completed, 2);
    assert_int_equal(region_trace_start(&regions[0]), 2100);
    assert_int_equal(region_trace_end(&regions[0]), 3200);
    assert_int_equal(region_skew(&regions[0]), 0);
    assert_int_equal(regions[1].trace_first, 2000);
    assert_int_equal(region_trace_start(&regions[1]), 2500);
    assert_int_equal(region_trace_end(&regions[1]), 4000);
    assert_int_equal(regions[1].trace_last, 7000);
    assert_trace(paths[1], 4000, 20); /* blocks 0 and 1 */
    assert_trace(paths[2], 5000, 20); /* blocks 1 and 2 */
}

/* A region that comes 1200 instructions early has what is there of its warm-up; a late one more of
 * it. */
static void skewed(void **state) {
    (void)state;
    begin();
    regions[0] = region(1, 0, 4500, 1000);
    regions[1] = region(2, 0, 7500, 1000);
    chunks(0, 0, 1);
    chunks(0, 0, 1);
    chunks(0, 0, 1);
    reached(0, 3300);
    chunks(0, 0, 1);
    reached(1, 4300);
    chunks(0, 0, 5);
    reached(2, 9900);
    chunks(0, 0, 1);
    reached(3, 10900);
    chunks(0, 0, 1);
    assert_string_equal(capture(2), "");
    assert_int_equal(region_skew(&regions[0]), -1200);
    assert_int_equal(region_trace_start(&regions[0]), 1300); /* from 2000: 4500 − 4 − 1500 = 2996 */
    assert_int_equal(region_skew(&regions[1]), 2400);
    /* Expected to be early as well: from 7500 − 7 − 1500 − 1200 = 4793 on. */
    assert_int_equal(region_trace_start(&regions[1]), 5900);
    assert_trace(paths[2], 7000, 10);
}

/* 30 million instructions behind the first region begins the next: capture pauses, once, up to its
 * warm-up (30,000,000 − 30,000 − 1500), and goes on with a chunk that begins there. Another thread
 * with a region that is still to come: no pause; with one that is complete: as with none. */
static void far_apart(void **state) {
    (void)state;
    enum { ALONE, ANOTHER_BEFORE, ANOTHER_AFTER, CASES };
    for (int another = ALONE; another < CASES; another++) {
        begin();
        regions[0] = region(1, 0, 2100, 800);
        regions[1] = region(2, 0, 30000000, 1000);
        regions[2] = region(3, 1, 0, 1000);
        if (another == ANOTHER_BEFORE) {
            reached(4, 0);
            chunks(1, 0, 1);
            reached(5, 1000);
            chunks(1, 0, 1);
        }
        chunks(0, 0, 2);
        reached(0, 2100);
        reached(1, 2900);
        chunks(0, 0, 3);
        script.first_insn[0] = 29968000;
        chunks(0, 0, 32);
        reached(2, 30000000);
        chunks(0, 0, 1);
        reached(3, 30001000);
        chunks(0, 0, 1);
        if (another == ANOTHER_AFTER) {
            reached(4, 0);
            chunks(1, 0, 1);
            reached(5, 1000);
            chunks(1, 0, 1);
        }
        assert_string_equal(capture(another == ALONE ? 2 : 3), "");
        assert_int_equal(pauses, another != ANOTHER_AFTER);
        assert_true(another == ANOTHER_AFTER || paused_until == 29968500);
        assert_int_equal(region_trace_start(&regions[1]), 32000);
    }
}

/* The first region came 50,000 instructions late, the second not at all: capture pauses for its
 * trace until 30,000,000 − 30,000 − 1500 + 50,000. */
static void sooner_than_the_one_before(void **state) {
    (void)state;
    begin();
    regions[0] = region(2, 0, 2000, 1000);
    regions[1] = region(1, 0, 30000000, 1000);
    chunks(0, 0, 52);
    reached(0, 52000);
    reached(1, 53000);
    chunks(0, 0, 3);
    reached(2, 30000000);
    script.first_insn[0] = 30018500;
    chunks(0, 0, 1);
    const char *said = capture(2);
    if (!strstr(said, "region 1: its start marker, execution 7 of prog+0x1234, came 18500 "
                      "instructions before its trace was to begin: choose a longer --warm-up"))
        fail_msg("%s", said);
    assert_int_equal(pauses, 1);
    assert_int_equal(paused_until, 30018500);
    assert_int_equal(regions[0].state, REGION_COMPLETE);
    assert_int_equal(regions[1].state, REGION_FAILED);
}

/* The end of one is the start of the next, and the last ends with its thread; another thread runs
 * between. */
static void adjacent_until_the_end(void **state) {
    (void)state;
    begin();
    regions[0] = region(1, 1, 1000, 1000);
    regions[1] = region(2, 1, 2000, 1000);
    regions[1].end.count = 0;
    chunks(0, 0, 3);
    chunks(1, 1, 1);
    reached(0, 1000);
    chunks(1, 1, 1);
    reached(1, 2000);
    reached(2, 2000);
    chunks(0, 0, 3);
    chunks(1, 2, 1);
    script_thread_end(&script, 1);
    chunks(0, 0, 3);
    assert_string_equal(capture(2), "");
    assert_int_equal(region_trace_end(&regions[0]), 2000);
    assert_int_equal(regions[1].found_end, 3000);
    assert_trace(paths[1], 3000, 20);
    assert_trace(paths[2], 3000, 20);
}

/* The first region fails as told, the second is complete all the same. */
static void assert_first_fails(const char *message) {
    const char *said = capture(2);
    if (!strstr(said, message))
        fail_msg("'%s' does not say '%s'", said, message);
    if (!strstr(said, "region 1: ") || !strstr(said, "(1 of 2 regions are complete)"))
        fail_msg("%s", said);
    assert_int_equal(regions[0].state, REGION_FAILED);
    assert_int_equal(access(paths[1], F_OK), -1);
    assert_int_equal(regions[1].state, REGION_COMPLETE);
    assert_int_equal(access(paths[2], F_OK), 0);
}

static void markers_that_are_not_reached(void **state) {
    (void)state;
    begin();
    regions[0] = region(1, 1, 2000, 1000);
    regions[1] = region(2, 0, 4000, 1000);
    chunks(1, 0, 2);
    script_thread_end(&script, 1);
    chunks(0, 0, 4);
    reached(2, 4000);
    chunks(0, 0, 1);
    reached(3, 5000);
    chunks(0, 0, 1);
    assert_first_fails("its start marker, execution 7 of prog+0x1234, was not reached before its "
                       "thread ended, expected at instruction 2000");

    /* Given up, 100,000 instructions and 2 % late, so that its trace does not grow for ever. */
    begin();
    regions[0] = region(1, 0, 2000, 1000);
    regions[1] = region(2, 1, 4000, 1000);
    chunks(0, 0, 110);
    chunks(1, 0, 4);
    reached(2, 4000);
    chunks(1, 0, 1);
    reached(3, 5000);
    chunks(1, 0, 1);
    assert_first_fails("was not reached by instruction 103000 of its thread, expected at 2000");

    begin();
    regions[0] = region(1, 0, 2000, 1000);
    regions[1] = region(2, 1, 4000, 1000);
    chunks(0, 0, 2);
    reached(0, 2000);
    chunks(0, 0, 110);
    chunks(1, 0, 4);
    reached(2, 4000);
    chunks(1, 0, 1);
    reached(3, 5000);
    chunks(1, 0, 1);
    assert_first_fails("its end marker, execution 9 of prog+0x1238, was not reached within 102000 "
                       "instructions, expected after 1000");

    begin();
    regions[0] = region(1, 0, 2000, 1000);
    regions[1] = region(2, 1, 4000, 1000);
    chunks(1, 0, 4);
    reached(2, 4000);
    chunks(1, 0, 1);
    reached(3, 5000);
    chunks(1, 0, 1);
    chunks(0, 0, 2);
    reached(0, 2000);
    chunks(0, 0, 1);
    assert_first_fails("was not reached: its thread ended 1000 instructions after the start");
}

static void markers_out_of_order(void **state) {
    (void)state;
    begin();
    regions[0] = region(1, 0, 2000, 1000);
    regions[1] = region(2, 0, 4000, 1000);
    chunks(0, 0, 2);
    reached(1, 2500);
    chunks(0, 0, 2);
    reached(2, 4000);
    chunks(0, 0, 1);
    reached(3, 5000);
    chunks(0, 0, 1);
    assert_first_fails("its end marker, execution 9 of prog+0x1238, came before its start");

    for (int started = 0; started < 2; started++) {
        begin();
        regions[0] = region(1, 0, 2000, 1000);
        regions[1] = region(2, 0, 4000, 1000);
        chunks(0, 0, 2);
        if (started)
            reached(0, 2000);
        chunks(0, 0, 2);
        reached(2, 4000);
        reached(1, 4500);
        chunks(0, 0, 1);
        reached(3, 5000);
        chunks(0, 0, 1);
        assert_first_fails(started ? "its end marker, execution 9 of prog+0x1238, was not reached "
                                     "before region 2 began"
                                   : "its start marker, execution 7 of prog+0x1234, was not "
                                     "reached before region 2 began");
    }

    begin();
    regions[0] = region(1, 0, 1000000, 1000);
    regions[1] = region(2, 0, 4000, 1000);
    reached(0, 300);
    chunks(0, 0, 4);
    reached(2, 4000);
    chunks(0, 0, 1);
    reached(3, 5000);
    chunks(0, 0, 1);
    assert_first_fails("came at instruction 300 of its thread, not about 1000000");
}

/* Only a program that writes over the shared memory can cause this. */
static void markers_out_of_place(void **state) {
    (void)state;
    for (int end = 0; end < 2; end++) {
        begin();
        regions[0] = region(1, 0, 2000, 1000);
        regions[1] = region(2, 1, 0, 1000);
        reached(2, 0);
        chunks(1, 0, 1);
        reached(3, 1000);
        chunks(1, 0, 1);
        chunks(0, 0, 2);
        if (end)
            reached(0, 2000);
        chunks(0, 0, 2);
        reached((uint32_t)end, 3999);
        chunks(0, 0, 2);
        assert_first_fails(end ? "end marker, execution 9 of prog+0x1238, came where its thread "
                                 "had been before"
                               : "start marker, execution 7 of prog+0x1234, came where its thread "
                                 "had been before");
    }
}

static void lists_that_do_not_belong(void **state) {
    (void)state;
    begin();
    regions[0] = region(1, 3, 2000, 1000);
    regions[1] = region(2, 0, 1000, 1000);
    chunks(0, 0, 1);
    reached(2, 1000);
    reached(3, 2000);
    chunks(0, 0, 2);
    assert_first_fails("the command has no thread 3");

    begin();
    regions[0] = region(1, 0, 2000, 1000);
    regions[0].process = 1;
    regions[1] = region(2, 1, 1000, 1000);
    chunks(0, 0, 1);
    chunks(1, 0, 1);
    reached(2, 1000);
    reached(3, 2000);
    chunks(1, 0, 2);
    assert_first_fails("thread 0 belongs to process 0 in this run, not to 1");

    begin();
    script.items[2].image.build_id[0] ^= 1;
    regions[0] = region(1, 0, 2000, 1000);
    assert_non_null(strstr(capture(1), "/bin/prog is another file than the one that the regions "
                                       "were chosen in (its build id differs)"));
    begin();
    script.items[2].image.build_id[0] ^= 1;
    script.items[2].image.path = "/bin/other";
    regions[0] = region(1, 0, 2000, 1000);
    assert_non_null(strstr(capture(1), "none of the files that the regions lie in (/bin/prog) is "
                                       "used by the command (prog -x)"));
}

static void lists_that_cannot_be(void **state) {
    (void)state;
    begin();
    regions[0] = region(1, 0, 2000, 1000);
    regions[0].start.count = 0;
    assert_non_null(strstr(capture(1), "region 1 has no markers"));
    begin();
    regions[0] = region(1, 0, 2000, 1000);
    regions[1] = region(2, 0, 2999, 1000);
    assert_non_null(strstr(capture(2), "regions 1 and 2 overlap"));
    begin();
    regions[0] = region(1, 0, UINT64_MAX - 10, 1000);
    assert_non_null(strstr(capture(1), "region 1 lies beyond any run"));
    begin();
    assert_non_null(strstr(capture(0), "0 regions"));
}

/* A warm-up of 1500 reaches over at most 3 regions of 1000; of 10 over many more. */
static void too_many_at_once(void **state) {
    (void)state;
    enum { MANY = 200 };
    static struct capture_region many[MANY];
    struct error error;
    for (uint32_t i = 0; i < MANY; i++)
        many[i] = (struct capture_region){.id = i + 1, .first = 1000 + 10 * i, .instructions = 10};
    struct region_windows windows = {.regions = many, .count = MANY, .warm_up = 1500};
    assert_false(region_windows_init(&windows, &error));
    assert_non_null(strstr(error.message, "warm-up of 1500 instructions"));
    region_windows_free(&windows);
    windows.warm_up = 500;
    assert_true(region_windows_init(&windows, &error));
    region_windows_free(&windows);
    /* Each begins to warm where the one before it ends: no two are written at once. */
    windows.warm_up = 1500;
    for (uint32_t i = 1; i < MANY; i++)
        many[i].warm_from = many[i - 1].first + many[i - 1].instructions;
    assert_true(region_windows_init(&windows, &error));
    region_windows_free(&windows);
    many[7].warm_from = many[7].first + 1;
    assert_false(region_windows_init(&windows, &error));
    region_windows_free(&windows);
}

static void a_trace_that_cannot_be_written(void **state) {
    (void)state;
    begin();
    regions[0] = region(1, 0, 1000, 1000);
    regions[0].path = "/dev/full";
    chunks(0, 0, 1);
    reached(0, 1000);
    reached(1, 2000);
    chunks(0, 0, 2);
    const char *said = capture(1);
    assert_non_null(strstr(said, "/dev/full"));
    assert_int_equal(regions[0].state, REGION_FAILED);
    struct stat status;
    assert_int_equal(stat("/dev/full", &status), 0);

    begin();
    regions[0] = region(1, 0, 1000, 1000);
    regions[0].path = "/nonexistent/x";
    chunks(0, 0, 1);
    assert_non_null(strstr(capture(1), "/nonexistent/x"));
}

static int make_folder(void **state) {
    (void)state;
    if (!mkdtemp(temporary_name(folder, "region-capture")))
        return -1;
    for (int i = 0; i < REGIONS; i++)
        snprintf(paths[i], sizeof paths[i], "%s/r%d.ctrace", folder, i);
    return 0;
}

/* Two regions at 100,000 and 200,000 of a thread, with a warm-up of 100,000: the second's trace
 * begins at 200,000 − 200 (a thousandth to spare) − 100,000 = 99,800. Once the first is found 5,000
 * late the second would begin at 104,800; but its trace has begun, and goes on without a gap. */
static void no_gap_when_a_region_is_late(void **state) {
    (void)state;
    struct error error;
    struct capture_region regions[] = {
        {.id = 1, .first = 100000, .instructions = 1000, .start.count = 1, .end.count = 1},
        {.id = 2, .first = 200000, .instructions = 1000, .start.count = 1, .end.count = 1}};
    struct region_windows windows = {.regions = regions, .count = 2, .warm_up = 100000};
    assert_true(region_windows_init(&windows, &error));
    assert_int_equal(region_windows_judge(&windows, 0, 0, 99000), WINDOW_OPEN);
    assert_int_equal(region_windows_judge(&windows, 1, 0, 99000), WINDOW_LATER);
    assert_int_equal(region_windows_judge(&windows, 0, 99000, 103000), WINDOW_WRITE);
    assert_int_equal(region_windows_judge(&windows, 1, 99000, 103000), WINDOW_OPEN);
    region_windows_started(&windows, 0, 105000);
    assert_int_equal(region_windows_judge(&windows, 0, 103000, 104000), WINDOW_WRITE);
    assert_int_equal(region_windows_judge(&windows, 1, 103000, 104000), WINDOW_WRITE);
    region_windows_free(&windows);
}

/* Regions at 100 M and 102 M, with a warm-up of a million: the trace of the second begins at 102 M
 * − 102,000 (a thousandth to spare) − 1 M = 100,898,000, or, when the first was found 5,000 late,
 * at 102,005,000 − 20,000 (a hundredth of the distance) − 1 M = 100,985,000. */
static void little_to_spare_behind_one_that_was_found(void **state) {
    (void)state;
    enum { MILLION = 1000000 };
    for (uint32_t found = 0; found < 2; found++) {
        struct error error;
        struct capture_region regions[] = {
            {.id = 1, .first = 100 * MILLION, .instructions = 1000, .start.count = 1},
            {.id = 2, .first = 102 * MILLION, .instructions = 1000, .start.count = 1}};
        struct region_windows windows = {.regions = regions, .count = 2, .warm_up = MILLION};
        assert_true(region_windows_init(&windows, &error));
        if (found)
            region_windows_started(&windows, 0, 100 * MILLION + 5000);
        const uint64_t begin = found ? 100985000 : 100898000;
        assert_int_equal(region_windows_judge(&windows, 1, 0, begin), WINDOW_LATER);
        assert_int_equal(region_windows_judge(&windows, 1, 0, begin + 1), WINDOW_OPEN);
        region_windows_free(&windows);
    }
}

static int remove_folder(void **state) {
    (void)state;
    for (int i = 0; i < REGIONS; i++)
        unlink(paths[i]);
    return rmdir(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(windows_of_chunks),
        cmocka_unit_test(all_threads_between_two_points),
        cmocka_unit_test(events_of_threads),
        cmocka_unit_test(others_are_bounded),
        cmocka_unit_test(skewed),
        cmocka_unit_test(far_apart),
        cmocka_unit_test(sooner_than_the_one_before),
        cmocka_unit_test(adjacent_until_the_end),
        cmocka_unit_test(markers_that_are_not_reached),
        cmocka_unit_test(markers_out_of_order),
        cmocka_unit_test(markers_out_of_place),
        cmocka_unit_test(lists_that_do_not_belong),
        cmocka_unit_test(lists_that_cannot_be),
        cmocka_unit_test(too_many_at_once),
        cmocka_unit_test(no_gap_when_a_region_is_late),
        cmocka_unit_test(little_to_spare_behind_one_that_was_found),
        cmocka_unit_test(a_trace_that_cannot_be_written),
    };
    return cmocka_run_group_tests_name("region_capture", tests, make_folder, remove_folder);
}
