/* Choosing regions from synthetic basic block vectors: programs of P phases, each a mix of its own
 * of 200 of 5,000 blocks, in runs of random length, every count ±10 %; and one without phases,
 * where every slice is a mix of its own of 12 loops. Prints the seconds of reading, projecting and
 * choosing, and the most memory so far. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "region/points.h"

enum { BLOCKS = 5000, PER_PHASE = 200, MAX_PHASES = 64, LOOPS = 12 };

static uint64_t random_state;
static uint32_t next_random(uint32_t below) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (uint32_t)(random_state >> 20) % below;
}

static struct { uint32_t block, count; } mixes[MAX_PHASES][PER_PHASE];

static void make_mixes(void) {
    random_state = 88172645463325252ull;
    for (uint32_t phase = 0; phase < MAX_PHASES; phase++)
        for (uint32_t i = 0; i < PER_PHASE; i++) {
            mixes[phase][i].block = 1 + next_random(BLOCKS);
            mixes[phase][i].count = 1 << next_random(16);
        }
}

static void must(bool good, const struct error *error) {
    if (good)
        return;
    fprintf(stderr, "%s\n", error->message);
    exit(1);
}

static void make_slice(struct bbv_set *set, uint32_t phase, uint32_t share) {
    struct error error;
    for (uint32_t i = 0; i < PER_PHASE; i++)
        must(bbv_set_block(set, mixes[phase][i].block,
                           (uint64_t)mixes[phase][i].count * share * (90 + next_random(21)),
                           &error),
             &error);
}

/* Slice after slice; phases 0: none. */
static void next_slice(struct bbv_set *set, uint32_t phases) {
    static uint32_t phase, left;
    struct error error;
    bbv_set_clear(set);
    if (phases == 0)
        for (uint32_t loop = 0; loop < LOOPS; loop++)
            make_slice(set, loop, 1 + next_random(100));
    else {
        if (left-- == 0) {
            phase = next_random(phases);
            left = next_random(200);
        }
        make_slice(set, phase % phases, 1);
    }
    must(bbv_set_slice(set, &error), &error);
}

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void choose(const char *name, uint32_t phases, uint32_t slices) {
    struct error error;
    struct projection projection;
    struct bbv_set set = {0};
    projection_init(&projection, 15, 1);
    make_mixes();
    double projecting = 0;
    for (uint32_t i = 0; i < slices; i++) {
        next_slice(&set, phases);
        double before = seconds();
        must(projection_add(&projection, &set, 0, &error), &error);
        projecting += seconds() - before;
    }
    struct region_choice choice;
    double before = seconds();
    must(region_choose(&projection, &REGION_DEFAULTS, &choice, &error), &error);
    double choosing = seconds() - before;
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("%-12s %10u %8u %8u %12.3f %12.3f %10.1f\n", name, slices, choice.tried_count,
           choice.point_count, projecting, choosing, (double)usage.ru_maxrss / 1000);
    fflush(stdout);
    region_choice_free(&choice);
    bbv_set_free(&set);
    projection_free(&projection);
}

static void read_file(const char *path, bool compress) {
    struct error error;
    struct bbv_set set = {0};
    struct bbv_writer writer;
    make_mixes();
    must(bbv_writer_open(&writer, path, compress, &error), &error);
    for (uint32_t i = 0; i < 26000; i++) {
        next_slice(&set, 20);
        must(bbv_writer_begin(&writer, &error), &error);
        for (size_t entry = 0; entry < set.entry_count; entry++)
            must(bbv_writer_block(&writer, set.blocks[entry], set.counts[entry], &error), &error);
        must(bbv_writer_end(&writer, &error), &error);
    }
    must(bbv_writer_close(&writer, &error), &error);
    struct projection projection;
    projection_init(&projection, 15, 1);
    double before = seconds();
    must(projection_read(&projection, path, &error), &error);
    printf("reading and projecting 26,000 slices of %d blocks, %s: %.3f s\n", PER_PHASE,
           compress ? "gzip" : "text", seconds() - before);
    projection_free(&projection);
    bbv_set_free(&set);
    unlink(path);
}

int main(int argc, char **argv) {
    if (argc != 2)
        return 2;
    printf("%-12s %10s %8s %8s %12s %12s %10s\n", "program", "slices", "k tried", "regions",
           "project, s", "choose, s", "peak MB");
    choose("8 phases", 8, 26000);
    choose("20 phases", 20, 26000);
    choose("60 phases", 60, 26000);
    choose("no phases", 0, 26000);
    choose("20 phases", 20, 260000);
    choose("20 phases", 20, 1000000);
    read_file(argv[1], false);
    read_file(argv[1], true);
    return 0;
}
