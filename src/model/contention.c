/* Threads exactly alike contribute the same distribution, raised to the power of their number by
 * squaring. A distribution is cut off at the blocks that matter: those beyond leave no room. */
#include "model/contention.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* P(k blocks come into the set), k = 0 .. ways. */
struct blocks {
    double of[LOCALITY_MAX_WAYS + 1];
};

/* ---- sums of blocks ---- */

/* sum := distribution of their sum, as far as `room`. */
static void add_blocks(struct blocks *sum, const struct blocks *more, uint32_t room) {
    for (uint32_t k = room + 1; k-- > 0;) {
        double p = 0;
        for (uint32_t i = 0; i <= k; i++)
            p += sum->of[k - i] * more->of[i];
        sum->of[k] = p;
    }
}

static void add_copies(struct blocks *sum, struct blocks each, uint32_t copies, uint32_t room) {
    while (copies) {
        if (copies & 1)
            add_blocks(sum, &each, room);
        copies >>= 1;
        if (copies) {
            const struct blocks same = each;
            add_blocks(&each, &same, room);
        }
    }
}

static double within(const struct blocks *sum, uint32_t room) {
    double p = 0;
    for (uint32_t k = 0; k <= room; k++)
        p += sum->of[k];
    return p < 1 ? p : 1;
}

/* ---- groups of circular sequences ---- */

struct group {
    uint32_t first, end; /* octaves of r */
};

/* All; or those below 2^5, single octaves, and the rest (Chen 2009 §6.2.1). */
static struct group group_of(uint32_t number, uint32_t groups) {
    enum { FIRST = 5 };
    const uint32_t last = groups - 1;
    return (struct group){number ? FIRST + number - 1 : 0,
                          number == last ? LOCALITY_OCTAVES : FIRST + number};
}

static struct circular_count sum_of(const struct circular_count *octaves, struct group group) {
    struct circular_count sum = {0};
    for (uint32_t i = group.first; i < group.end; i++) {
        sum.count += octaves[i].count;
        sum.r += octaves[i].r;
        sum.n += octaves[i].n;
        sum.time += octaves[i].time;
    }
    return sum;
}

/* ---- what another thread puts into a set ---- */

/* Bin(uses, 1 / sets) for whole `uses`, the last of `ways` being all from there on. */
static void binomial(double uses, double sets, uint32_t ways, double weight, struct blocks *to) {
    if (sets <= 1) { /* all of them */
        to->of[uses < ways ? (uint32_t)uses : ways] += weight;
        return;
    }
    const double odds = 1 / (sets - 1);
    double p = exp(uses * log1p(-1 / sets)), left = 1;
    for (uint32_t i = 0; i < ways; i++) {
        to->of[i] += weight * p;
        left -= p;
        p *= i < uses ? (uses - i) / (i + 1) * odds : 0;
    }
    to->of[ways] += weight * fmax(left, 0);
}

/* How T1 meets another thread. */
struct meeting {
    const struct locality_level *other;
    uint32_t copies;
    double speed;  /* accesses of it for each of T1's */
    double share;  /* of T1's sequences that are in sets it ever uses */
    double spread; /* sets that it uses in all */
    double uses;   /* accesses of it to a set for each of T1's to that set */
};

/* Accesses that reach the level in x accesses, for each set that they touch. */
static double uses_of_set(const struct locality_level *level, double x) {
    const double sets = locality_sets(level, x);
    const double reach = x * (double)level->accesses / (double)level->run;
    return sets > 0 ? fmax(reach / sets, 1) : 1;
}

/* Steps 3 to 5: within x of its accesses. */
static struct blocks blocks_of(const struct meeting *meeting, double x,
                               enum contention_model model) {
    const struct locality_level *other = meeting->other;
    const uint32_t ways = other->shape.ways;
    struct blocks blocks = {{0}};
    if (model == CONTENTION_BINOMIAL) {
        /* Between whole numbers of blocks a mixture, so that it is a distribution. */
        const double uses = locality_blocks(other, x), whole = floor(uses);
        blocks.of[0] = 1 - meeting->share;
        binomial(whole, meeting->spread, ways, meeting->share * (1 - (uses - whole)), &blocks);
        binomial(whole + 1, meeting->spread, ways, meeting->share * (uses - whole), &blocks);
        return blocks;
    }
    double b[LOCALITY_MAX_WAYS];
    if (model == CONTENTION_INDUCTIVE)
        contention_inductive(other, uses_of_set(other, x), b);
    else
        locality_touched(other, x, b);
    const double touched = meeting->share * fmin(locality_sets(other, x) / meeting->spread, 1);
    blocks.of[0] = 1 - touched;
    for (uint32_t i = 0; i < ways; i++)
        blocks.of[i + 1] = touched * b[i];
    return blocks;
}

/* Chandra: n of T1's accesses to the set go with at least one of the other's. */
static struct blocks prior_blocks_of(const struct meeting *meeting, double n) {
    struct blocks blocks = {{0}};
    contention_inductive(meeting->other, fmax(n * meeting->uses, 1), blocks.of + 1);
    return blocks;
}

static void check_sum(const struct blocks *blocks, uint32_t ways) {
    double sum = 0;
    for (uint32_t k = 0; k <= ways; k++)
        sum += blocks->of[k];
    assert(fabs(sum - 1) < 1e-9);
    (void)sum;
}

/* ---- one thread against the others ---- */

static double share_in_common(const struct locality_level *level,
                              const struct locality_level *other) {
    uint64_t all = 0, common = 0;
    for (uint32_t set = 0; set < level->shape.sets; set++) {
        all += level->set_sequences[set];
        if (other->set_touched[set / 64] >> set % 64 & 1)
            common += level->set_sequences[set];
    }
    return all ? (double)common / (double)all : 0;
}

static double sets_ever(const struct locality_level *level) {
    uint32_t sets = 0;
    for (uint32_t i = 0; i <= level->shape.sets / 64; i++)
        sets += (uint32_t)__builtin_popcountll(level->set_touched[i]);
    return sets ? sets : 1;
}

static struct meeting meet(const struct contention_thread *thread,
                           const struct contention_thread *other, uint32_t copies,
                           const struct contention_options *options) {
    const struct locality_level *level = thread->level, *beside = other->level;
    struct meeting meeting = {.other = beside,
                              .copies = copies,
                              .speed = other->frequency / thread->frequency,
                              .share = 1,
                              .spread = beside->shape.sets};
    meeting.uses = meeting.speed * ((double)beside->accesses / (double)beside->run) /
                   ((double)level->accesses / (double)level->run);
    if (options->sets_are_known) {
        meeting.share = share_in_common(level, beside);
        meeting.spread = sets_ever(beside);
    }
    return meeting;
}

/* Probability that the last access of such sequences, of d blocks, still hits. */
static double still_hits(const struct meeting *meetings, uint32_t count, uint32_t d,
                         const struct circular_count *sequences, enum contention_model model) {
    const uint32_t ways = meetings->other->shape.ways, room = ways - d;
    struct blocks sum = {{1}};
    for (uint32_t i = 0; i < count; i++) {
        const double of = (double)sequences->count;
        const struct blocks blocks =
            model == CONTENTION_PRIOR
                ? prior_blocks_of(&meetings[i], (double)sequences->n / of)
                : blocks_of(&meetings[i], sequences->time / of * meetings[i].speed, model);
        check_sum(&blocks, ways);
        add_copies(&sum, blocks, meetings[i].copies, room);
    }
    return within(&sum, room);
}

static double extra_of(const struct contention_thread *thread, const struct meeting *meetings,
                       uint32_t count, const struct contention_options *options) {
    const uint32_t groups = options->model == CONTENTION_PRIOR ? 1 : options->groups;
    double extra = 0;
    for (uint32_t d = 1; d <= thread->level->shape.ways; d++)
        for (uint32_t g = 0; g < groups; g++) {
            const struct circular_count sequences =
                sum_of(thread->level->circular[d - 1], group_of(g, groups));
            if (sequences.count)
                extra += (1 - still_hits(meetings, count, d, &sequences, options->model)) *
                         (double)sequences.count;
        }
    return extra * thread->scale;
}

static bool check_threads(const struct contention_thread *threads, uint32_t count,
                          const struct contention_options *options, struct error *error) {
    uint64_t all = 0;
    if (options->groups < 1 || options->groups > CONTENTION_MAX_GROUPS)
        return error_set(error, "%u groups of circular sequences: 1 to %d", options->groups,
                         CONTENTION_MAX_GROUPS);
    for (uint32_t i = 0; i < count; i++) {
        const struct cache_shape shape = threads[i].level->shape, first = threads[0].level->shape;
        if (shape.sets != first.sets || shape.ways != first.ways || shape.line != first.line)
            return error_set(error, "profiles of caches of different shapes do not go together");
        if (!(threads[i].frequency > 0) || !isfinite(threads[i].frequency))
            return error_set(error,
                             "a thread accesses memory %g times a cycle: it must be more "
                             "than 0",
                             threads[i].frequency);
        all += threads[i].copies;
    }
    return all <= CONTENTION_MAX_THREADS ||
           error_set(error, "%llu threads: the model takes up to %d", (unsigned long long)all,
                     CONTENTION_MAX_THREADS);
}

bool contention_extra(const struct contention_thread *threads, uint32_t count,
                      const struct contention_options *options, double *extra,
                      struct error *error) {
    if (!check_threads(threads, count, options, error))
        return false;
    struct meeting *meetings = calloc(count + !count, sizeof *meetings);
    if (!meetings)
        return error_set(error, "out of memory for %u threads", count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t met = 0;
        for (uint32_t j = 0; j < count; j++) {
            const uint32_t copies = threads[j].copies - (i == j);
            if (copies && threads[j].level->accesses)
                meetings[met++] = meet(&threads[i], &threads[j], copies, options);
        }
        extra[i] = met ? extra_of(&threads[i], meetings, met, options) : 0;
    }
    free(meetings);
    return true;
}
