/* The first reading adds up the blocks of each cluster, which gives its centroid; the second
 * compares each slice with it. Of a block that a slice x does not execute the square in |x − c|² is
 * that of c, so that |x − c|² = |c|² + sum of (x − c)² − c² over the blocks of x alone. */
#include "region/full_space.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "util/array.h"
#include "util/key_numbers.h"

/* A block in the slices of a cluster: an element of its centroid. */
struct element {
    double instructions; /* of the cluster */
    double own;          /* of the slice that is compared; 0 between slices */
};

struct centroids {
    const struct region_choice *choice;
    struct key_numbers numbers; /* cluster and block: index of the element */
    struct element *elements;
    size_t element_capacity;
    double *instructions; /* of each cluster */
    double *lengths2;     /* squared length of each centroid */
    size_t *own;          /* indices of the elements of the slice that is compared */
    size_t own_count, own_capacity;
    double *distances2;
};

/* The element; NULL: out of memory. */
static struct element *element_of(struct centroids *centroids, uint32_t cluster, uint32_t block) {
    uint32_t number = key_numbers_add(&centroids->numbers, (uint64_t)cluster << 32 | block);
    bool room =
        number != UINT32_MAX &&
        array_zeroed_room(centroids->elements, centroids->element_capacity, (size_t)number + 1);
    return room ? &centroids->elements[number] : NULL;
}

/* ---- the first reading ---- */

static bool add_slice(void *context, size_t slice, const struct bbv_set *set, struct error *error) {
    struct centroids *centroids = context;
    uint32_t cluster = centroids->choice->labels[slice];
    for (size_t i = 0; i < set->entry_count; i++) {
        struct element *element = element_of(centroids, cluster, set->blocks[i]);
        if (!element)
            return error_set(error, "out of memory for centroids");
        element->instructions += (double)set->counts[i];
        centroids->instructions[cluster] += (double)set->counts[i];
    }
    return true;
}

static void measure_lengths(struct centroids *centroids) {
    for (size_t i = 0; i < centroids->numbers.count; i++) {
        uint32_t cluster = (uint32_t)(centroids->numbers.keys[i] >> 32);
        double c = centroids->elements[i].instructions / centroids->instructions[cluster];
        centroids->lengths2[cluster] += c * c;
    }
}

/* ---- the second ---- */

/* A block may come several times, so that all of them are added up before they are compared. */
static bool collect(struct centroids *centroids, uint32_t cluster, const struct bbv_set *set) {
    if (!array_room(centroids->own, centroids->own_capacity, set->entry_count))
        return false;
    centroids->own_count = 0;
    for (size_t i = 0; i < set->entry_count; i++) {
        struct element *element = element_of(centroids, cluster, set->blocks[i]);
        if (!element)
            return false;
        if (element->own == 0)
            centroids->own[centroids->own_count++] = (size_t)(element - centroids->elements);
        element->own += (double)set->counts[i];
    }
    return true;
}

static bool compare_slice(void *context, size_t slice, const struct bbv_set *set,
                          struct error *error) {
    struct centroids *centroids = context;
    uint32_t cluster = centroids->choice->labels[slice];
    double distance2 = centroids->lengths2[cluster], instructions = 0;
    if (!collect(centroids, cluster, set))
        return error_set(error, "out of memory for a slice of %zu blocks", set->entry_count);
    for (size_t i = 0; i < set->entry_count; i++)
        instructions += (double)set->counts[i];
    for (size_t i = 0; i < centroids->own_count; i++) {
        struct element *element = &centroids->elements[centroids->own[i]];
        double c = element->instructions / centroids->instructions[cluster];
        double x = element->own / instructions;
        distance2 += (x - c) * (x - c) - c * c;
        element->own = 0;
    }
    centroids->distances2[slice] = fmax(distance2, 0); /* rounding */
    return true;
}

bool full_space_distances(const struct profiled_runs *runs, const struct region_choice *choice,
                          double *distances2, struct error *error) {
    struct centroids centroids = {.choice = choice, .distances2 = distances2};
    centroids.instructions = calloc(choice->point_count, sizeof *centroids.instructions);
    centroids.lengths2 = calloc(choice->point_count, sizeof *centroids.lengths2);
    bool good = (centroids.instructions && centroids.lengths2) ||
                error_set(error, "out of memory for %" PRIu32 " clusters", choice->point_count);
    good = good && profiled_runs_read_again(runs, add_slice, &centroids, error);
    if (good)
        measure_lengths(&centroids);
    good = good && profiled_runs_read_again(runs, compare_slice, &centroids, error);
    key_numbers_free(&centroids.numbers);
    free(centroids.elements);
    free(centroids.instructions);
    free(centroids.lengths2);
    free(centroids.own);
    return good;
}
