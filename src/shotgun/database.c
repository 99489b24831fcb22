/* Arrays grow to their limits and are then halved: of each two neighbours one is kept, as a random
 * bit tells. What is kept is moved together. */
#include "shotgun/database.h"

#include <stdlib.h>
#include <string.h>

#include "util/array.h"
#include "util/random.h"

enum {
    SKELETON_GAP =
        2 /* mean distance from one signature sample to the next at the beginning, in lengths */
};

void shotgun_database_init(struct shotgun_database *database,
                           const struct shotgun_options *options) {
    *database = (struct shotgun_database){.options = *options, .random = options->seed};
}

void shotgun_database_free(struct shotgun_database *database) {
    free(database->samples);
    free(database->uops);
    free(database->starts);
    free(database->bits);
    *database = (struct shotgun_database){.options = database->options};
}

void shotgun_truth_free(struct shotgun_truth *truth) {
    free(truth->paths);
    free(truth->graphs);
    free(truth->graph_ends);
    *truth = (struct shotgun_truth){0};
}

static uint64_t random_gap(struct shotgun_database *database, uint64_t least, uint64_t mean) {
    double width = 2.0 * (double)(mean - least) + 1;
    return least + (uint64_t)(random_fraction(&database->random) * width);
}

uint64_t shotgun_sample_gap(struct shotgun_database *database) {
    return random_gap(database, CONTEXT_SPAN, database->options.period << database->sample_level);
}

uint64_t shotgun_skeleton_gap(struct shotgun_database *database) {
    return random_gap(
        database, 1, (uint64_t)database->options.length * SKELETON_GAP << database->skeleton_level);
}

static bool out_of_memory(struct error *error) {
    return error_set(error, "out of memory for the samples of shotgun profiling");
}

/* ---- detailed samples ---- */

static void halve_samples(struct shotgun_database *database) {
    size_t kept = 0, uops = 0;
    for (size_t pair = 0; pair + 1 < database->sample_count; pair += 2) {
        size_t chosen = pair + (random_fraction(&database->random) < 0.5);
        struct shotgun_sample sample = database->samples[chosen];
        memmove(database->uops + uops, database->uops + sample.first_uop,
                sample.uop_count * sizeof *database->uops);
        sample.first_uop = (uint32_t)uops;
        uops += sample.uop_count;
        database->samples[kept++] = sample;
    }
    database->sample_count = kept;
    database->uop_count = uops;
    database->sample_level++;
}

bool shotgun_add_sample(struct shotgun_database *database, const struct shotgun_sample *sample,
                        const struct shotgun_uop *uops, struct error *error) {
    if (database->sample_count == SHOTGUN_SAMPLES_MAX)
        halve_samples(database);
    if (!array_room(database->samples, database->sample_capacity, database->sample_count + 1) ||
        !array_room(database->uops, database->uop_capacity,
                    database->uop_count + sample->uop_count))
        return out_of_memory(error);
    struct shotgun_sample *added = &database->samples[database->sample_count++];
    *added = *sample;
    added->first_uop = (uint32_t)database->uop_count;
    memcpy(database->uops + database->uop_count, uops, sample->uop_count * sizeof *uops);
    database->uop_count += sample->uop_count;
    return true;
}

/* ---- signature samples ---- */

static size_t graph_begin(const struct shotgun_truth *truth, size_t number) {
    return number ? truth->graph_ends[number - 1] : 0;
}

static void move_truth(const struct shotgun_database *database, struct shotgun_truth *truth,
                       size_t to, size_t from) {
    uint32_t length = database->options.length;
    memmove(truth->paths + to * length, truth->paths + from * length,
            length * sizeof *truth->paths);
    if (!database->options.perfect)
        return;
    size_t begin = graph_begin(truth, from), count = truth->graph_ends[from] - begin;
    size_t end = graph_begin(truth, to);
    memmove(truth->graphs + end, truth->graphs + begin, count * sizeof *truth->graphs);
    truth->graph_ends[to] = end + count;
}

static void halve_skeletons(struct shotgun_database *database, struct shotgun_truth *truth) {
    uint32_t words = signature_words(database->options.length);
    size_t kept = 0;
    for (size_t pair = 0; pair + 1 < database->skeleton_count; pair += 2, kept++) {
        size_t chosen = pair + (random_fraction(&database->random) < 0.5);
        database->starts[kept] = database->starts[chosen];
        memmove(database->bits + kept * words, database->bits + chosen * words,
                words * sizeof *database->bits);
        if (truth)
            move_truth(database, truth, kept, chosen);
    }
    database->skeleton_count = kept;
    database->skeleton_level++;
    if (truth && database->options.perfect)
        truth->graph_count = graph_begin(truth, kept);
}

static bool add_truth(const struct shotgun_database *database, struct shotgun_truth *truth,
                      const uint32_t *path, const struct graph_uop *graph, size_t graph_uops) {
    size_t number = database->skeleton_count, length = database->options.length;
    if (!array_room(truth->paths, truth->path_capacity, (number + 1) * length))
        return false;
    memcpy(truth->paths + number * length, path, length * sizeof *path);
    if (!database->options.perfect)
        return true;
    if (!array_room(truth->graphs, truth->graph_capacity, truth->graph_count + graph_uops) ||
        !array_room(truth->graph_ends, truth->end_capacity, number + 1))
        return false;
    memcpy(truth->graphs + truth->graph_count, graph, graph_uops * sizeof *graph);
    truth->graph_ends[number] = truth->graph_count += graph_uops;
    return true;
}

bool shotgun_add_skeleton(struct shotgun_database *database, uint32_t start, const uint64_t *bits,
                          struct shotgun_truth *truth, const uint32_t *path,
                          const struct graph_uop *graph, size_t graph_uops, struct error *error) {
    if (database->skeleton_count == SHOTGUN_SKELETONS_MAX)
        halve_skeletons(database, truth);
    size_t number = database->skeleton_count, words = signature_words(database->options.length);
    if (!array_room(database->starts, database->start_capacity, number + 1) ||
        !array_room(database->bits, database->bits_capacity, (number + 1) * words) ||
        (truth && !add_truth(database, truth, path, graph, graph_uops)))
        return out_of_memory(error);
    database->starts[number] = start;
    memcpy(database->bits + number * words, bits, words * sizeof *bits);
    database->skeleton_count++;
    return true;
}
