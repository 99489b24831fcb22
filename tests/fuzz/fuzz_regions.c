/* Any bytes as basic block vectors, and, split at the first NUL, as SimPoint's two files. What is
 * read keeps its promises, comes back the same when it is written, and regions can be chosen. */
#include <math.h>
#include <string.h>

#include "input.h"
#include "region/points.h"

static bool read_set(const char *path, struct bbv_set *set) {
    struct error error;
    struct bbv_reader *reader = bbv_reader_open(path, &error);
    require(reader != NULL);
    int got;
    while ((got = bbv_reader_next(reader, set, &error)) > 0)
        ;
    require(got == 0 || (error.message[0] && !strchr(error.message, '\n')));
    bbv_reader_close(reader);
    return got == 0;
}

static void check_set(const struct bbv_set *set) {
    for (size_t i = 0; i < set->slice_count; i++) {
        const struct bbv_slice *slice = set->slices + i;
        uint64_t sum = 0;
        for (size_t entry = slice->first; entry < slice->first + slice->count; entry++) {
            require(set->blocks[entry] > 0 && set->counts[entry] > 0);
            sum += set->counts[entry];
        }
        require(sum == slice->instructions && sum > 0);
    }
}

static void check_written(const struct bbv_set *set) {
    struct error error;
    struct bbv_writer writer;
    struct bbv_set again = {0};
    struct memory_file file = memory_file("", 0);
    require(bbv_writer_open(&writer, file.path, set->slice_count % 2, &error));
    for (size_t i = 0; i < set->slice_count; i++) {
        const struct bbv_slice *slice = set->slices + i;
        require(bbv_writer_begin(&writer, &error));
        for (size_t entry = slice->first; entry < slice->first + slice->count; entry++)
            require(bbv_writer_block(&writer, set->blocks[entry], set->counts[entry], &error));
        require(bbv_writer_end(&writer, &error));
    }
    require(bbv_writer_close(&writer, &error) && read_set(file.path, &again));
    require(again.entry_count == set->entry_count && again.slice_count == set->slice_count);
    require(memcmp(again.blocks, set->blocks, set->entry_count * sizeof *set->blocks) == 0);
    require(memcmp(again.counts, set->counts, set->entry_count * sizeof *set->counts) == 0);
    bbv_set_free(&again);
    close(file.fd);
}

static void check_choice(const struct bbv_set *set) {
    struct error error;
    struct projection projection;
    struct region_choice choice;
    struct region_settings settings = REGION_DEFAULTS;
    settings.max_clusters = 9;
    settings.seeds = 2;
    projection_init(&projection, 5, 1);
    for (size_t i = 0; i < set->slice_count && i < 200; i++)
        require(projection_add(&projection, set, i, &error));
    require(region_choose(&projection, &settings, &choice, &error));
    double sum = 0;
    for (uint32_t i = 0; i < choice.point_count; i++) {
        require(choice.labels[choice.points[i].slice] == i && choice.points[i].weight > 0);
        sum += choice.points[i].weight;
    }
    require(fabs(sum - 1) < 1e-9);
    region_choice_free(&choice);
    projection_free(&projection);
}

static void check_points(const uint8_t *data, size_t size) {
    const uint8_t *split = memchr(data, 0, size);
    size_t first = split ? (size_t)(split - data) : size;
    struct memory_file slices = memory_file(data, first);
    struct memory_file weights = memory_file(data + first + !!split, size - first - !!split);
    struct region_point *points;
    struct error error;
    uint32_t count;
    if (region_points_read(&points, &count, slices.path, weights.path, &error)) {
        require(count > 0);
        for (uint32_t i = 0; i < count; i++)
            require(points[i].weight >= 0 && points[i].weight <= 1);
        for (uint32_t i = 1; i < count; i++)
            require(points[i].cluster > points[i - 1].cluster);
        free(points);
    }
    close(slices.fd);
    close(weights.fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct memory_file file = memory_file(data, size);
    struct bbv_set set = {0};
    if (read_set(file.path, &set)) {
        check_set(&set);
        check_written(&set);
        check_choice(&set);
    }
    bbv_set_free(&set);
    close(file.fd);
    check_points(data, size);
    return 0;
}
