/* Markers in a second run: each is reached where the first run says that its instruction was
 * executed for the n-th time by its thread. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "temporary.h"
#include "trace/item.h"
#include "trace/trace.h"

enum { MARKERS = 400, THREADS = 16 };

static char folder[TEMPORARY_BYTES];

static int build_guests(void **state) {
    char command[512];
    (void)state;
    if (!mkdtemp(temporary_name(folder, "markers")))
        return -1;
    snprintf(command, sizeof command,
             "cc -O1 -o %s/bare_rep tests/guests/bare_rep.c -static -nostdlib -ffreestanding "
             "-fno-stack-protector -fno-pie -no-pie -fcf-protection=none -mno-sse && "
             "cc -O1 -pthread -o %s/threads tests/guests/threads.c",
             folder, folder);
    return system(command);
}

static int remove_guests(void **state) {
    char command[512];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

/* What the first run said. */
struct expected {
    struct capture_markers wanted;
    struct capture_image images[64];
    struct capture_marker markers[MARKERS];
    uint64_t positions[MARKERS];
};

/* Executions of each static instruction by each thread. */
struct tallies {
    uint64_t *counts[THREADS];
    size_t insn_count;
};

static void grow(struct tallies *tallies, size_t insn_count) {
    for (int i = 0; i < THREADS; i++) {
        tallies->counts[i] = realloc(tallies->counts[i], insn_count * sizeof(uint64_t));
        assert_non_null(tallies->counts[i]);
        memset(tallies->counts[i] + tallies->insn_count, 0,
               (insn_count - tallies->insn_count) * sizeof(uint64_t));
    }
    tallies->insn_count = insn_count;
}

/* Standard output is TAP: what a guest writes goes elsewhere. */
static FILE *nowhere;

/* Marks every `stride`-th instruction of each thread, in the middle of blocks and at their ends. */
static void expect(char *const command[], uint64_t stride, struct expected *expected) {
    memset(expected, 0, sizeof *expected);
    struct capture_options options = {
        .command = command, .thread = -1, .descriptors = {0, fileno(nowhere), 0}};
    struct error error = {0};
    struct trace_batch batch;
    struct tallies tallies = {0};
    int status;
    struct trace *trace = trace_capture(&options, &status, &error);
    if (!trace)
        fail_msg("%s", error.message);
    while (trace_next(trace, &batch, &error) > 0) {
        const struct code *code = trace_code(trace);
        assert_true(batch.thread < THREADS);
        if (code->insn_count > tallies.insn_count)
            grow(&tallies, code->insn_count);
        for (uint32_t i = 0; i < batch.insn_count; i++) {
            uint32_t insn = batch.insns[i].insn;
            uint64_t count = ++tallies.counts[batch.thread][insn];
            size_t n = expected->wanted.count;
            if ((batch.first_insn + i) % stride || n == MARKERS)
                continue;
            expected->markers[n] = (struct capture_marker){.image = code->insns[insn].image,
                                                           .thread = batch.thread,
                                                           .offset = code->insns[insn].offset,
                                                           .count = count};
            expected->positions[n] = batch.first_insn + i;
            expected->wanted.count++;
        }
    }
    assert_string_equal(error.message, "");
    const struct code *code = trace_code(trace);
    assert_true(code->image_count <= 64);
    for (uint32_t i = 0; i < code->image_count; i++) {
        const struct code_image *image = &code->images[i];
        expected->images[i] = (struct capture_image){.path = strdup(image->path),
                                                     .build_id_size = image->build_id_size};
        memcpy(expected->images[i].build_id, image->build_id, sizeof image->build_id);
    }
    expected->wanted.images = expected->images;
    expected->wanted.image_count = code->image_count;
    expected->wanted.markers = expected->markers;
    trace_close(trace);
    for (int i = 0; i < THREADS; i++)
        free(tallies.counts[i]);
}

/* How many of the markers are reached, within `tolerance` instructions of the positions expected.
 */
static size_t reached(char *const command[], const struct expected *expected, uint64_t skip,
                      uint64_t tolerance) {
    struct capture_options options = {.command = command,
                                      .addresses = true,
                                      .thread = -1,
                                      .skip = skip,
                                      .markers = &expected->wanted,
                                      .descriptors = {0, fileno(nowhere), 0}};
    struct item_source source;
    struct item item;
    struct error error = {0};
    int status, got;
    size_t count = 0;
    uint64_t read[THREADS] = {0}; /* position of each thread */
    assert_true(capture_start(&options, &source, &status, &error));
    while ((got = source.next(source.context, &item, &error)) > 0) {
        if (item.kind == ITEM_DATA)
            read[item.data.thread] = item.data.first_insn + item.data.insn_count;
        if (item.kind != ITEM_MARKER)
            continue;
        assert_true(item.marker.marker < expected->wanted.count);
        const struct capture_marker *marker = &expected->markers[item.marker.marker];
        assert_in_range(item.marker.position + tolerance, expected->positions[item.marker.marker],
                        expected->positions[item.marker.marker] + 2 * tolerance);
        assert_true(read[marker->thread] <= item.marker.position); /* before its chunk */
        count++;
    }
    assert_int_equal(got, 0);
    source.close(source.context);
    return count;
}

static void release(struct expected *expected) {
    for (size_t i = 0; i < expected->wanted.image_count; i++)
        free((char *)expected->images[i].path);
}

static void reached_in_a_second_run(const char *name, const char *argument, uint64_t stride) {
    char path[512];
    struct expected expected;
    snprintf(path, sizeof path, *name == '/' ? "%s" : "%2$s/%1$s", name, folder);
    char *const command[] = {path, (char *)argument, NULL};
    expect(command, stride, &expected);
    assert_true(expected.wanted.count > 20);
    for (uint64_t skip = 0; skip <= 30000; skip += 15000)
        assert_int_equal(reached(command, &expected, skip, 0), expected.wanted.count);
    release(&expected);
}

/* Elements of a rep instruction count once; every instruction of the program is marked. */
static void of_rep(void **state) {
    (void)state;
    reached_in_a_second_run("bare_rep", NULL, 1);
}

static void of_a_program(void **state) {
    (void)state;
    reached_in_a_second_run("/bin/true", NULL, 307);
}

/* Each thread counts for itself. Who waits for whom differs from run to run, by a few instructions
 * of the thread library; by thousands when others keep the machine busy. */
static void of_threads(void **state) {
    (void)state;
    char path[512];
    struct expected expected;
    snprintf(path, sizeof path, "%s/threads", folder);
    char *const command[] = {path, "8", NULL};
    expect(command, 1009, &expected);
    for (uint64_t skip = 0; skip <= 30000; skip += 15000)
        assert_in_range(reached(command, &expected, skip, 10000), expected.wanted.count * 9 / 10,
                        expected.wanted.count);
    release(&expected);
}

/* A marker of a file that the command does not map, and one that its thread never comes to. */
static void never_reached(void **state) {
    (void)state;
    char *const command[] = {"/bin/true", NULL};
    struct expected expected;
    expect(command, 307, &expected);
    expected.markers[3].count += 1000000000;
    expected.markers[4].thread = 7;
    expected.images[0].build_id[0] ^= 1;
    size_t elsewhere = 0;
    for (size_t i = 0; i < expected.wanted.count; i++)
        elsewhere += expected.markers[i].image == 0 && i != 3 && i != 4;
    assert_int_equal(reached(command, &expected, 0, 0), expected.wanted.count - 2 - elsewhere);
    release(&expected);
}

static void images_match(void **state) {
    (void)state;
    struct capture_image image = {"/bin/a", {1, 2, 3}, 3}, bare = {"/bin/a", {0}, 0};
    const uint8_t same[20] = {1, 2, 3}, other[20] = {1, 2, 4};
    assert_int_equal(capture_image_match(&image, "/bin/a", same, 3), CAPTURE_SAME);
    assert_int_equal(capture_image_match(&image, "/lib/b", same, 3), CAPTURE_SAME);
    assert_int_equal(capture_image_match(&image, "/bin/a", other, 3), CAPTURE_CHANGED);
    assert_int_equal(capture_image_match(&image, "/bin/a", other, 0), CAPTURE_CHANGED);
    assert_int_equal(capture_image_match(&image, "/lib/b", other, 3), CAPTURE_OTHER);
    assert_int_equal(capture_image_match(&bare, "/bin/a", other, 0), CAPTURE_SAME);
    assert_int_equal(capture_image_match(&bare, "/bin/a", other, 3), CAPTURE_CHANGED);
    assert_int_equal(capture_image_match(&bare, "/lib/b", other, 0), CAPTURE_OTHER);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(images_match),  cmocka_unit_test(of_rep),
        cmocka_unit_test(of_a_program),  cmocka_unit_test(of_threads),
        cmocka_unit_test(never_reached),
    };
    nowhere = fopen("/dev/null", "w");
    return cmocka_run_group_tests_name("markers", tests, build_guests, remove_guests);
}
