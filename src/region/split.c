/* Parts are first numbered cluster by cluster, then, for the choice, by their first slice. */
#include "region/split.h"

#include <stdlib.h>

#include "util/random.h"

enum { NONE = UINT32_MAX };

struct cluster {
    uint64_t instructions, passed; /* in all its slices; in those looked at so far */
    size_t slices;
    uint32_t parts, first_part;
};

struct part {
    uint32_t whole;   /* cluster */
    uint32_t number;  /* in the choice; NONE: it has no slice yet */
    uint32_t point;   /* slice */
    size_t seen;      /* slices that may be drawn, looked at so far */
    uint64_t longest; /* slice, in instructions */
    uint64_t instructions;
};

struct splitting {
    const struct projection *slices;
    struct region_choice *choice;
    struct cluster *clusters;
    struct part *parts;
    uint32_t part_count;
};

static void measure(struct splitting *splitting) {
    const struct region_choice *choice = splitting->choice;
    for (size_t i = 0; i < choice->slice_count; i++) {
        struct cluster *cluster = &splitting->clusters[choice->labels[i]];
        cluster->instructions += splitting->slices->instructions[i];
        cluster->slices++;
    }
}

/* How many parts each cluster is split into. */
static void share_out(struct splitting *splitting, uint32_t most) {
    struct cluster *clusters = splitting->clusters;
    uint32_t count = splitting->choice->point_count, given = count;
    double whole = 0;
    for (uint32_t i = 0; i < count; i++) {
        clusters[i].parts = 1;
        whole += (double)clusters[i].instructions;
    }
    while (given < most) {
        uint32_t heaviest = NONE;
        double weight = 0;
        for (uint32_t i = 0; i < count; i++) {
            const struct cluster *cluster = &clusters[i];
            double each = (double)cluster->instructions / cluster->parts;
            if (cluster->parts == 1)
                each += whole; /* before any that has two */
            if (cluster->parts < cluster->slices && each > weight) {
                heaviest = i;
                weight = each;
            }
        }
        if (heaviest == NONE)
            break;
        clusters[heaviest].parts++;
        given++;
    }
    for (uint32_t i = 0; i < count; i++) {
        clusters[i].first_part = splitting->part_count;
        for (uint32_t k = 0; k < clusters[i].parts; k++)
            splitting->parts[splitting->part_count++].whole = splitting->choice->points[i].whole;
    }
}

/* A slice belongs to the part that its middle lies in. Labels are parts from here on. */
static void label(struct splitting *splitting) {
    const struct projection *slices = splitting->slices;
    uint32_t *labels = splitting->choice->labels;
    for (size_t i = 0; i < slices->count; i++) {
        struct cluster *cluster = &splitting->clusters[labels[i]];
        double middle = (double)cluster->passed + (double)slices->instructions[i] / 2;
        uint32_t at = (uint32_t)(middle * cluster->parts / (double)cluster->instructions);
        cluster->passed += slices->instructions[i];
        labels[i] = cluster->first_part + (at < cluster->parts ? at : cluster->parts - 1);
        struct part *part = &splitting->parts[labels[i]];
        part->instructions += slices->instructions[i];
        if (slices->instructions[i] > part->longest)
            part->longest = slices->instructions[i];
    }
}

/* What is not split keeps its point. Of a part each slice takes the place of the one drawn before
 * it with a chance of one in those seen so far (Vitter 1985, algorithm R), so that all are as
 * likely; but for the short rest of a run. */
static void find_points(struct splitting *splitting, uint64_t seed) {
    const struct region_choice *choice = splitting->choice;
    for (size_t i = 0; i < choice->slice_count; i++) {
        struct part *part = &splitting->parts[choice->labels[i]];
        if (splitting->slices->instructions[i] >= part->longest / 2 &&
            random_fraction(&seed) * (double)++part->seen < 1)
            part->point = (uint32_t)i;
    }
    for (uint32_t i = 0; i < choice->point_count; i++)
        if (splitting->clusters[i].parts == 1)
            splitting->parts[splitting->clusters[i].first_part].point = choice->points[i].slice;
}

static bool put_points(struct splitting *splitting, struct error *error) {
    struct region_choice *choice = splitting->choice;
    struct region_point *points = calloc(splitting->part_count, sizeof *points);
    double total = 0;
    uint32_t count = 0;
    if (!points)
        return error_set(error, "out of memory for %u regions", splitting->part_count);
    for (uint32_t i = 0; i < splitting->part_count; i++) {
        splitting->parts[i].number = NONE;
        total += (double)splitting->parts[i].instructions;
    }
    for (size_t i = 0; i < choice->slice_count; i++) {
        struct part *part = &splitting->parts[choice->labels[i]];
        if (part->number == NONE) {
            part->number = count;
            points[count] = (struct region_point){.slice = part->point,
                                                  .cluster = count,
                                                  .whole = part->whole,
                                                  .weight = (double)part->instructions / total};
            count++;
        }
        choice->labels[i] = part->number;
    }
    free(choice->points);
    choice->points = points;
    choice->point_count = count;
    return true;
}

bool region_split(const struct projection *slices, uint32_t most, uint64_t seed,
                  struct region_choice *choice, struct error *error) {
    struct splitting splitting = {.slices = slices, .choice = choice};
    if (most <= choice->point_count)
        return true;
    splitting.clusters = calloc(choice->point_count, sizeof *splitting.clusters);
    splitting.parts = calloc(most, sizeof *splitting.parts);
    bool good = splitting.clusters && splitting.parts;
    if (good) {
        measure(&splitting);
        share_out(&splitting, most);
        label(&splitting);
        find_points(&splitting, seed);
        good = put_points(&splitting, error);
    } else {
        error_set(error, "out of memory for %u regions", most);
    }
    free(splitting.clusters);
    free(splitting.parts);
    return good;
}
