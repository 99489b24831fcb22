/* Choosing regions from synthetic basic block vectors. Prints the seconds of reading, projecting
 * and choosing, and the most memory so far. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "region/points.h"
#include "synthetic_slices.h"
#include "util/clock.h"

static void choose(const char *name, uint32_t phases, uint32_t slices) {
    struct error error;
    struct projection projection;
    struct bbv_set set = {0};
    projection_init(&projection, 15, 1);
    make_mixes();
    double projecting = 0;
    for (uint32_t i = 0; i < slices; i++) {
        next_slice(&set, phases);
        double before = clock_processor();
        must(projection_add(&projection, &set, 0, &error), &error);
        projecting += clock_processor() - before;
    }
    struct region_choice choice;
    double before = clock_processor();
    must(region_choose(&projection, &REGION_DEFAULTS, &choice, &error), &error);
    double choosing = clock_processor() - before;
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
    double before = clock_processor();
    must(projection_read(&projection, path, &error), &error);
    printf("reading and projecting 26,000 slices of %d blocks, %s: %.3f s\n", PER_PHASE,
           compress ? "gzip" : "text", clock_processor() - before);
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
