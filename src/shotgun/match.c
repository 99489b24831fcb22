/* The samples of an instruction lie together, ordered by context. Those with exactly the bits
 * looked for are found by bisection, once for each value of the newest bits that are not known,
 * which come first in the order. Only if there are none, or other bits are not known, all samples
 * of the instruction are looked at: a loop may have ten thousand. */
#include "shotgun/match.h"

#include <stdlib.h>
#include <string.h>

#include "util/order.h"
#include "util/random.h"

static int by_insn_and_context(const void *a, const void *b, void *samples) {
    const struct shotgun_sample *all = samples;
    const struct shotgun_sample *x = &all[*(const uint32_t *)a], *y = &all[*(const uint32_t *)b];
    return ascending(x->insn, y->insn) ?: ascending(x->context, y->context) ?: ascending(x, y);
}

static int by_insn_and_target(const void *a, const void *b, void *samples) {
    const struct shotgun_sample *all = samples;
    const struct shotgun_sample *x = &all[*(const uint32_t *)a], *y = &all[*(const uint32_t *)b];
    return ascending(x->insn, y->insn) ?: ascending(x->target, y->target);
}

/* With fewer samples, different targets show only that it is not always the same. */
enum { SETTLING_SAMPLES = 4 };

/* `order` is that of samples by instruction and target. */
static void find_unsettled(struct shotgun_index *index, const uint32_t *order) {
    for (uint32_t insn = 0; insn < index->insn_count; insn++) {
        uint32_t begin = index->first[insn], end = index->first[insn + 1], once = 0;
        for (uint32_t at = begin, next; at < end; at = next) {
            uint32_t target = index->samples[order[at]].target;
            for (next = at + 1; next < end && index->samples[order[next]].target == target;)
                next++;
            once += next == at + 1;
        }
        index->unsettled[insn] = end - begin >= SETTLING_SAMPLES && once > (end - begin) / 2;
    }
}

bool shotgun_index_new(struct shotgun_index *index, const struct shotgun_database *database,
                       uint32_t insn_count, struct error *error) {
    size_t count = database->sample_count;
    *index = (struct shotgun_index){.samples = database->samples, .insn_count = insn_count};
    index->order = malloc((count + 1) * sizeof *index->order);
    index->first = calloc((size_t)insn_count + 1, sizeof *index->first);
    index->only = malloc(((size_t)insn_count + 1) * sizeof *index->only);
    index->unsettled = malloc((size_t)insn_count + 1);
    if (!index->order || !index->first || !index->only || !index->unsettled) {
        shotgun_index_free(index);
        return error_set(error, "out of memory for the samples of shotgun profiling");
    }
    memset(index->only, 0xff, insn_count * sizeof *index->only);
    for (size_t i = count; i-- > 0;) {
        index->order[i] = (uint32_t)i;
        if (database->samples[i].insn >= insn_count) {
            shotgun_index_free(index);
            return error_set(error, "a sample is of an instruction that is not known");
        }
        index->first[database->samples[i].insn + 1]++;
        index->only[database->samples[i].insn] = (uint32_t)i;
    }
    for (uint32_t insn = 0; insn < insn_count; insn++)
        index->first[insn + 1] += index->first[insn];
    qsort_r(index->order, count, sizeof *index->order, by_insn_and_target, database->samples);
    find_unsettled(index, index->order);
    qsort_r(index->order, count, sizeof *index->order, by_insn_and_context, database->samples);
    return true;
}

void shotgun_index_free(struct shotgun_index *index) {
    free(index->order);
    free(index->first);
    free(index->only);
    free(index->unsettled);
    *index = (struct shotgun_index){0};
}

static const struct shotgun_sample *sample_at(const struct shotgun_index *index, uint32_t at) {
    return &index->samples[index->order[at]];
}

/* The first position from `begin` to `end` whose context is not below. */
static uint32_t bisect(const struct shotgun_index *index, uint32_t begin, uint32_t end,
                       uint64_t context) {
    return begin + (uint32_t)first_where(i, end - begin,
                                         sample_at(index, begin + (uint32_t)i)->context >= context);
}

/* How many bits are equal; the instruction's own two count more than all others. */
static unsigned closeness(uint64_t a, uint64_t b, uint64_t there) {
    bool own = context_own(a) == context_own(b);
    return context_match(a, b, there) + (own ? CONTEXT_BITS : 0);
}

static const struct shotgun_sample *closest(const struct shotgun_index *index, uint32_t begin,
                                            uint32_t end, uint64_t context, uint64_t there,
                                            uint64_t *random, unsigned *bits) {
    uint32_t chosen = begin, equal = 0;
    *bits = 0;
    for (uint32_t at = begin; at < end; at++) {
        unsigned match = closeness(sample_at(index, at)->context, context, there);
        if (equal && match < *bits)
            continue;
        equal = equal && match == *bits ? equal + 1 : 1;
        *bits = match;
        if (equal == 1 || random_fraction(random) * equal < 1)
            chosen = at;
    }
    return sample_at(index, chosen);
}

/* How many bits are missing, if they are the newest few; else more than MOST_OPEN. */
enum { MOST_OPEN = 2 * SIGNATURE_BITS };
static unsigned open_bits(uint64_t there) {
    unsigned open = CONTEXT_BITS - (unsigned)__builtin_popcountll(there);
    return there == CONTEXT_ALL >> open ? open : MOST_OPEN + 1;
}

/* One at random of the samples from `begin` to `end` that have all the bits that are there; NULL:
 * none has. */
static const struct shotgun_sample *find_exact(const struct shotgun_index *index, uint32_t begin,
                                               uint32_t end, uint64_t context, unsigned open,
                                               uint64_t *random) {
    uint32_t low[1 << MOST_OPEN], count[1 << MOST_OPEN], all = 0;
    for (uint32_t newest = 0; newest < 1u << open; newest++) {
        uint64_t whole = (context & CONTEXT_ALL >> open) | (uint64_t)newest
                                                               << (CONTEXT_BITS - open);
        low[newest] = bisect(index, begin, end, whole);
        begin = bisect(index, low[newest], end, whole + 1);
        count[newest] = begin - low[newest];
        all += count[newest];
    }
    if (!all)
        return NULL;
    uint32_t chosen = (uint32_t)(random_fraction(random) * all), newest = 0;
    for (; newest + 1 < 1u << open && chosen >= count[newest]; newest++)
        chosen -= count[newest];
    return sample_at(index, low[newest] + chosen);
}

const struct shotgun_sample *shotgun_match(const struct shotgun_index *index, uint32_t insn,
                                           uint64_t context, uint64_t there, uint64_t *random,
                                           bool *exact) {
    uint32_t begin = index->first[insn], end = index->first[insn + 1];
    *exact = false;
    if (begin == end)
        return NULL;
    const struct shotgun_sample *sample = NULL;
    unsigned bits, open = open_bits(there);
    if (open <= MOST_OPEN)
        sample = find_exact(index, begin, end, context, open, random);
    if ((*exact = sample))
        return sample;
    sample = closest(index, begin, end, context, there, random, &bits);
    *exact = bits == CONTEXT_BITS + (unsigned)__builtin_popcountll(there);
    return sample;
}

const struct shotgun_sample *shotgun_only(const struct shotgun_index *index, uint32_t insn) {
    uint32_t sample = index->only[insn];
    return sample == SHOTGUN_NONE ? NULL : &index->samples[sample];
}
