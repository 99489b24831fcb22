/* Steps of time begin at multiples of their length, so that longer ones hold shorter ones, and one
 * step is the same before and after a save. */
#include "live/slices.h"

#include <stdlib.h>
#include <string.h>

#include "util/array.h"
#include "util/duration.h"

bool sample_slicing_parse(const char *text, struct sample_slicing *slicing, struct error *error) {
    *slicing = (struct sample_slicing){0};
    if (!strcmp(text, "none"))
        return true;
    if (!*text)
        return error_set(error, "samples are told apart by what? (pid, thread, cpu, cgroup, "
                                "time=STEP, or none)");
    for (const char *next = text, *end; *next; next = *end ? end + 1 : end) {
        end = strchrnul(next, ',');
        const size_t length = (size_t)(end - next);
        char word[32] = "";
        double seconds;
        if (length < sizeof word)
            memcpy(word, next, length);
        if (!strcmp(word, "pid"))
            slicing->pid = true;
        else if (!strcmp(word, "thread"))
            slicing->thread = true;
        else if (!strcmp(word, "cpu"))
            slicing->processor = true;
        else if (!strcmp(word, "cgroup"))
            slicing->cgroup = true;
        else if (!strncmp(word, "time=", 5) && duration_read(word + 5, &seconds))
            slicing->step_ns = (uint64_t)(seconds * 1e9);
        else
            return error_set(error,
                             "%.*s: samples are told apart by pid, thread, cpu, cgroup, "
                             "time=STEP (of 1ms at least), with commas between, or none",
                             (int)length, next);
        if (!strncmp(word, "time=", 5) && slicing->step_ns < 1000000)
            return error_set(error, "%s: the least step of time is 1ms", word);
    }
    return true;
}

static bool same_slice(const struct sample_slice *one, const struct sample_slice *other) {
    return one->process == other->process && one->thread == other->thread &&
           one->processor == other->processor && one->begin == other->begin &&
           one->end == other->end && one->coarse == other->coarse;
}

static uint64_t hash_slice(const struct sample_slice *slice) {
    return hash_pair(hash_pair(slice->process, slice->thread),
                     hash_pair((uint64_t)slice->begin, slice->processor));
}

static uint32_t find(const struct slices *slices, const struct sample_slice *slice, uint64_t hash) {
    size_t at;
    for (uint32_t i = hash_index_first(&slices->index, hash, &at); i != HASH_INDEX_NONE;
         i = hash_index_next(&slices->index, hash, &at))
        if (same_slice(&slices->items[i], slice))
            return i;
    return UINT32_MAX;
}

static uint32_t add(struct slices *slices, const struct sample_slice *slice, uint64_t hash) {
    const uint32_t number = (uint32_t)slices->count;
    if (!array_room(slices->items, slices->capacity, slices->count + 1) ||
        !hash_index_add(&slices->index, hash, number))
        return UINT32_MAX;
    slices->items[slices->count++] = *slice;
    return number;
}

void slices_begin(struct slices *slices, const struct sample_slicing *by) {
    slices->by = *by;
    slices->step_ns = by->step_ns;
    slices->saved = slices->lengthened = 0;
}

/* Those gathered and not saved yet may be new to the store, all of them. */
static uint64_t all_slices(const struct slices *slices) {
    return slices->saved + slices->count;
}

static void lengthen_steps(struct slices *slices) {
    for (; slices->lengthened < all_slices(slices) / SLICES_LENGTHEN; slices->lengthened++)
        slices->step_ns *= 2;
}

static struct sample_slice slice_of(const struct slices *slices, uint32_t process,
                                    const struct live_sample *sample) {
    struct sample_slice slice = {.process = process, .coarse = all_slices(slices) >= SLICES_MOST};
    if (slices->by.thread && !slice.coarse)
        slice.thread = sample->thread;
    if (slices->by.processor && !slice.coarse)
        slice.processor = sample->processor;
    if (slices->step_ns && sample->time > 0) {
        const int64_t step = (int64_t)slices->step_ns;
        slice.begin = sample->time / step * step;
        slice.end = slice.begin + step;
    }
    return slice;
}

uint32_t slices_find(struct slices *slices, uint32_t process, const struct live_sample *sample) {
    const struct sample_slice slice = slice_of(slices, process, sample);
    const uint64_t hash = hash_slice(&slice);
    uint32_t number = find(slices, &slice, hash);
    if (number == UINT32_MAX)
        number = add(slices, &slice, hash);
    if (slice.coarse && !sample->lasts)
        slices->coarse += sample->count;
    lengthen_steps(slices);
    return number;
}

uint64_t slices_left(const struct slices *slices, int64_t time) {
    return slices->step_ns && time > 0 ? slices->step_ns - (uint64_t)time % slices->step_ns
                                       : UINT64_MAX;
}

void slices_clear(struct slices *slices) {
    slices->count = 0;
    hash_index_free(&slices->index);
}

void slices_free(struct slices *slices) {
    free(slices->items);
    hash_index_free(&slices->index);
    *slices = (struct slices){0};
}

size_t slices_bytes(const struct slices *slices) {
    return slices->capacity * sizeof *slices->items + hash_index_bytes(&slices->index);
}
