/* A week of a machine from minutes of it: replays the samples of a recorded store, merge after
 * merge as the daemon does, over as many images as are asked for.
 *
 *     store_week RECORDED WEEK IMAGES MERGES SAMPLES EPOCHS UNSEEN [STEP]
 *
 * Each of the SAMPLES is drawn from those recorded, with its process and event. An image beyond
 * those recorded is a copy of one of them, with the profiles of its processes. A week also samples
 * instructions that minutes have not met: with UNSEEN times the probability that the next sample of
 * a profile would be new (Good and Turing: its samples met once, over its samples), a sample goes
 * to an instruction near the one drawn. STEP: so many merges are a slice of time, told apart in the
 * last two epochs. Prints sizes and times as one line of JSON. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/store.h"
#include "util/array.h"
#include "util/clock.h"

enum { NEAR = 16 }; /* instructions to either side, of four bytes */

/* What was recorded of one image, process and event. */
struct source {
    struct store_image image;
    char *command, *executable, *event;
    struct store_value *values;
    size_t count;
    double unseen; /* probability that a sample is new */
    size_t first;  /* of its values in the table of draws */
};

struct week {
    struct source *sources;
    size_t source_count, source_capacity;
    struct store_event event;
    size_t value_count;     /* of all sources */
    uint32_t *value_source; /* by value */
    double *sums;           /* cumulative weights of the values */
    uint32_t copies, image_count, images;
    uint32_t *image_of; /* by source: which of the recorded images */
    uint32_t *counts;   /* of this merge, by copy and value */
    struct store_value *batch;
    uint64_t random;
    double unseen;
    struct store_slice slice; /* of this merge */
};

static void stop(const char *message) {
    fprintf(stderr, "store_week: %s\n", message);
    exit(1);
}

static void *need(void *memory) {
    if (!memory)
        stop("out of memory");
    return memory;
}

static uint64_t next_random(struct week *week) {
    uint64_t z = week->random += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static double next_fraction(struct week *week) {
    return (double)(next_random(week) >> 11) * 0x1p-53;
}

/* ---- what was recorded ---- */

static bool keep_profile(void *context, const struct store_profile *profile) {
    struct week *week = context;
    if (!array_reserve((void **)&week->sources, &week->source_capacity, week->source_count + 1,
                       sizeof *week->sources))
        stop("out of memory");
    struct source *source = &week->sources[week->source_count++];
    *source = (struct source){.image = *profile->image,
                              .command = need(strdup(profile->process->command)),
                              .executable = need(strdup(profile->process->executable)),
                              .event = need(strdup(profile->event->name)),
                              .count = profile->count,
                              .first = week->value_count};
    source->image.path = need(strdup(profile->image->path));
    source->image.root = "";
    source->values = need(malloc(profile->count * sizeof *source->values));
    memcpy(source->values, profile->values, profile->count * sizeof *source->values);
    uint64_t once = 0, samples = 0;
    for (size_t i = 0; i < profile->count; i++) {
        once += profile->values[i].value == 1;
        samples += profile->values[i].value;
    }
    source->unseen = (double)once / (double)samples;
    week->value_count += profile->count;
    return true;
}

/* Numbers the recorded images; profiles come image by image. */
static void prepare(struct week *week) {
    week->image_of = need(calloc(week->source_count, sizeof *week->image_of));
    week->sums = need(calloc(week->value_count, sizeof *week->sums));
    week->value_source = need(calloc(week->value_count, sizeof *week->value_source));
    double sum = 0;
    for (size_t i = 0; i < week->source_count; i++) {
        const struct source *source = &week->sources[i];
        week->image_count += i == 0 || source->image.id != week->sources[i - 1].image.id;
        week->image_of[i] = week->image_count - 1;
        for (size_t j = 0; j < source->count; j++) {
            week->sums[source->first + j] = sum += (double)source->values[j].value;
            week->value_source[source->first + j] = (uint32_t)i;
        }
    }
    week->copies = (week->images + week->image_count - 1) / week->image_count;
    week->counts = need(calloc(week->copies * week->value_count, sizeof *week->counts));
    week->batch = need(calloc(week->value_count, sizeof *week->batch));
}

/* ---- a merge ---- */

/* A sample of one of the copies that there are of its image. */
struct unseen {
    uint32_t copy, source;
    uint64_t offset;
};

static size_t draw_value(struct week *week) {
    double at = next_fraction(week) * week->sums[week->value_count - 1];
    size_t low = 0, high = week->value_count - 1;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (week->sums[middle] <= at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Returns how many went to *unseen. */
static size_t draw(struct week *week, uint64_t samples, struct unseen **unseen, size_t *capacity) {
    size_t count = 0;
    for (uint64_t i = 0; i < samples; i++) {
        size_t value = draw_value(week);
        uint32_t source = week->value_source[value];
        uint32_t rest = week->images - week->image_of[source];
        uint32_t copies = (rest + week->image_count - 1) / week->image_count;
        uint32_t copy = (uint32_t)(next_random(week) % copies);
        if (next_fraction(week) >= week->unseen * week->sources[source].unseen) {
            week->counts[copy * week->value_count + value]++;
            continue;
        }
        if (!array_reserve((void **)unseen, capacity, count + 1, sizeof **unseen))
            stop("out of memory");
        uint64_t offset = week->sources[source].values[value - week->sources[source].first].offset;
        uint64_t distance = 4 * (1 + next_random(week) % NEAR);
        offset = next_random(week) & 1 && offset > distance ? offset - distance : offset + distance;
        (*unseen)[count++] = (struct unseen){copy, source, offset};
    }
    return count;
}

static int by_place(const void *one, const void *other) {
    const struct unseen *a = one, *b = other;
    if (a->copy != b->copy)
        return a->copy < b->copy ? -1 : 1;
    if (a->source != b->source)
        return a->source < b->source ? -1 : 1;
    return (a->offset > b->offset) - (a->offset < b->offset);
}

static void add_values(struct week *week, struct store *store, int64_t session, uint32_t copy,
                       const struct source *source, const struct store_value *values,
                       size_t count) {
    struct error error;
    struct store_image image = source->image;
    struct store_process process = {
        .command = source->command, .executable = source->executable, .slice = week->slice};
    char path[4200];
    snprintf(path, sizeof path, "%s.%u", image.path, copy);
    if (copy) {
        image.path = path;
        image.build_id[0] ^= (uint8_t)copy;
    }
    if (!store_image(store, &image, &image.id, &error) ||
        !store_process(store, session, &process, &process.id, &error) ||
        !store_add_values(store, session, process.id, image.id, week->event.id, values, count,
                          &error))
        stop(error.message);
}

static void save_seen(struct week *week, struct store *store, int64_t session) {
    for (uint32_t copy = 0; copy < week->copies; copy++)
        for (size_t i = 0; i < week->source_count; i++) {
            const struct source *source = &week->sources[i];
            uint32_t *counts = week->counts + copy * week->value_count + source->first;
            size_t count = 0;
            for (size_t j = 0; j < source->count; j++)
                if (counts[j]) {
                    week->batch[count] = source->values[j];
                    week->batch[count++].value = counts[j];
                    counts[j] = 0;
                }
            if (count)
                add_values(week, store, session, copy, source, week->batch, count);
        }
}

static void save_unseen(struct week *week, struct store *store, int64_t session,
                        struct unseen *unseen, size_t count) {
    struct store_value *values = need(calloc(count + 1, sizeof *values));
    if (count)
        qsort(unseen, count, sizeof *unseen, by_place);
    for (size_t i = 0; i < count;) {
        const struct unseen *first = &unseen[i];
        size_t filled = 0;
        for (; i < count && unseen[i].copy == first->copy && unseen[i].source == first->source; i++)
            if (filled && values[filled - 1].offset == unseen[i].offset)
                values[filled - 1].value++;
            else
                values[filled++] = (struct store_value){.offset = unseen[i].offset, .value = 1};
        add_values(week, store, session, first->copy, &week->sources[first->source], values,
                   filled);
    }
    free(values);
}

/* Returns seconds in the store. */
static double merge(struct week *week, struct store *store, int64_t session, uint64_t samples) {
    struct error error;
    struct unseen *unseen = NULL;
    size_t capacity = 0, count = draw(week, samples, &unseen, &capacity);
    double begun = clock_monotonic();
    if (!store_begin(store, &error))
        stop(error.message);
    save_seen(week, store, session);
    save_unseen(week, store, session, unseen, count);
    if (!store_commit(store, &error))
        stop(error.message);
    free(unseen);
    return clock_monotonic() - begun;
}

static int64_t begin_epoch(struct week *week, struct store *store, int64_t start, int64_t end) {
    struct error error;
    struct store_session session = {
        .name = "daemon", .host = "machine", .weight = 1, .start = start, .end = end};
    if (!store_add_session(store, &session, &session.id, &error) ||
        !store_add_event(store, session.id, &week->event, &week->event.id, &error))
        stop(error.message);
    return session.id;
}

int main(int argc, char **argv) {
    if (argc != 8 && argc != 9)
        stop("RECORDED WEEK IMAGES MERGES SAMPLES EPOCHS UNSEEN [STEP]");
    const uint64_t step = argc == 9 ? strtoull(argv[8], NULL, 10) : 0;
    uint64_t merges = strtoull(argv[4], NULL, 10), samples = strtoull(argv[5], NULL, 10);
    uint64_t epochs = strtoull(argv[6], NULL, 10);
    struct week week = {
        .images = (uint32_t)strtoul(argv[3], NULL, 10),
        .unseen = strtod(argv[7], NULL),
        .event = {.name = "cpu-clock", .unit = "samples", .period = 192307, .period_unit = "ns"}};
    struct error error;
    struct store *recorded = store_open(argv[1], STORE_READ, &error);
    if (!recorded || !store_each_profile(recorded, NULL, keep_profile, &week, &error))
        stop(error.message);
    if (!week.source_count || !merges || !epochs || week.images < 1)
        stop("nothing to replay");
    prepare(&week);
    if (week.images < week.image_count)
        week.images = week.image_count;
    struct store *store = store_open(argv[2], STORE_WRITE, &error);
    if (!store)
        stop(error.message);
    double longest = 0, sum = 0;
    int64_t session = 0, before = 0;
    for (uint64_t i = 0; i < merges; i++) {
        if (i * epochs / merges != (i - 1) * epochs / merges || i == 0) {
            if (step && before && !store_forget_slices(store, before, &error))
                stop(error.message);
            before = session;
            session = begin_epoch(&week, store, (int64_t)(600000000000 * i),
                                  (int64_t)(600000000000 * (i + 1)));
        }
        if (step)
            week.slice =
                (struct store_slice){.begin = (int64_t)(600000000000 * (i / step * step) + 1),
                                     .end = (int64_t)(600000000000 * (i / step + 1) * step + 1)};
        double took = merge(&week, store, session, samples / merges);
        longest = took > longest ? took : longest;
        sum += took;
    }
    uint64_t bytes, unused;
    if (!store_size(store, &bytes, &unused, &error))
        stop(error.message);
    printf("{\"recorded_images\": %u, \"recorded_profiles\": %zu, \"recorded_values\": %zu, "
           "\"images\": %u, \"merges\": %" PRIu64 ", \"samples\": %" PRIu64 ", \"bytes\": %" PRIu64
           ", \"unused_bytes\": %" PRIu64 ", \"merge_seconds_mean\": %.4f, "
           "\"merge_seconds_max\": %.4f}\n",
           week.image_count, week.source_count, week.value_count, week.images, merges, samples,
           bytes, unused, sum / (double)merges, longest);
    store_close(store);
    store_close(recorded);
    return 0;
}
