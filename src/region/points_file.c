/* SimPoint's two files. Points and weights meet by the number of their cluster. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "region/points.h"
#include "util/array.h"
#include "util/order.h"

bool region_points_write(const struct region_point *points, uint32_t count,
                         const char *simpoints_path, const char *weights_path,
                         struct error *error) {
    struct stream slices = {0}, weights = {0};
    bool good =
        stream_open(&slices, simpoints_path, error) && stream_open(&weights, weights_path, error);
    for (uint32_t i = 0; i < count && good; i++) {
        char line[64];
        int size = snprintf(line, sizeof line, "%u %u\n", points[i].slice, points[i].cluster);
        good = stream_write(&slices, line, (size_t)size, error);
        size = snprintf(line, sizeof line, "%.12g %u\n", points[i].weight, points[i].cluster);
        good = good && stream_write(&weights, line, (size_t)size, error);
    }
    struct error late;
    good &= stream_close(&slices, good ? error : &late);
    good &= stream_close(&weights, good ? error : &late);
    return good;
}

struct entry {
    double value; /* a slice or a weight */
    uint32_t cluster;
};

struct entries {
    const char *path;
    struct entry *items;
    size_t count, capacity;
};

static int by_cluster(const void *a, const void *b) {
    uint32_t x = ((const struct entry *)a)->cluster, y = ((const struct entry *)b)->cluster;
    return ascending(x, y);
}

/* A line of a number and a cluster; whole numbers up to `most` when that is not 1. */
static bool take_line(struct entries *entries, const char *line, double most, struct error *error) {
    char *end;
    double value = strtod(line, &end);
    if (end == line || !(value >= 0) || value > most || (most > 1 && value != floor(value)))
        return error_set(error, most > 1 ? "no slice number" : "no weight from 0 to 1");
    const char *second = end;
    errno = 0;
    unsigned long cluster = strtoul(second, &end, 10);
    if (end == second || *second != ' ' || end[strspn(end, " \t\r\n")] || cluster >= UINT32_MAX ||
        strchr(second, '-'))
        return error_set(error, "no cluster number behind it");
    return array_push(entries->items, entries->capacity, entries->count,
                      (struct entry){.value = value, .cluster = (uint32_t)cluster}) ||
           error_set(error, "out of memory");
}

/* The entries of a file, by cluster, each once. */
static bool read_entries(struct entries *entries, const char *path, double most,
                         struct error *error) {
    *entries = (struct entries){.path = path};
    FILE *file = fopen(path, "re");
    if (!file)
        return error_errno(error, "cannot read %s", path);
    char line[256];
    uint64_t number = 0;
    bool good = true;
    while (good && fgets(line, sizeof line, file)) {
        number++;
        if (line[strspn(line, " \t\r\n")] == 0)
            continue;
        good = take_line(entries, line, most, error) ||
               error_prefix(error, "%s: line %" PRIu64, path, number);
    }
    if (good && ferror(file))
        good = error_errno(error, "cannot read %s", path);
    fclose(file);
    if (good && entries->count == 0)
        good = error_set(error, "%s: no regions in it", path);
    if (!good)
        return false;
    qsort(entries->items, entries->count, sizeof *entries->items, by_cluster);
    for (size_t i = 1; i < entries->count; i++)
        if (entries->items[i].cluster == entries->items[i - 1].cluster)
            return error_set(error, "%s: cluster %u comes twice", path, entries->items[i].cluster);
    return true;
}

static bool match(const struct entries *slices, const struct entries *weights,
                  struct error *error) {
    double sum = 0;
    for (size_t i = 0; i < slices->count || i < weights->count; i++) {
        uint32_t a = i < slices->count ? slices->items[i].cluster : UINT32_MAX;
        uint32_t b = i < weights->count ? weights->items[i].cluster : UINT32_MAX;
        if (a != b)
            return error_set(error, "%s has no cluster %u, which %s has: not of one choice",
                             a < b ? weights->path : slices->path, a < b ? a : b,
                             a < b ? slices->path : weights->path);
        sum += weights->items[i].value;
    }
    if (fabs(sum - 1) > 0.01)
        return error_set(error, "%s: the weights sum to %g, not to 1", weights->path, sum);
    return true;
}

bool region_points_read(struct region_point **points, uint32_t *count, const char *simpoints_path,
                        const char *weights_path, struct error *error) {
    struct entries slices = {0}, weights = {0};
    bool good = read_entries(&slices, simpoints_path, UINT32_MAX - 1.0, error) &&
                read_entries(&weights, weights_path, 1, error) && match(&slices, &weights, error);
    if (good) {
        *points = malloc(slices.count * sizeof **points);
        *count = (uint32_t)slices.count;
        good = *points != NULL;
        if (!good)
            error_set(error, "out of memory for %zu regions", slices.count);
    }
    for (size_t i = 0; good && i < slices.count; i++)
        (*points)[i] = (struct region_point){.slice = (uint32_t)slices.items[i].value,
                                             .cluster = slices.items[i].cluster,
                                             .whole = slices.items[i].cluster,
                                             .weight = weights.items[i].value};
    free(slices.items);
    free(weights.items);
    return good;
}
