/* Data caches: latency, size, ways, line (Saavedra and Smith 1995; lmbench).
 *
 * Size: a chase through more and more bytes, until all levels are seen, takes longer where a level
 * holds them no more. Where
 * caches replace by age this is a step from one size tried to the next; then the size is the one
 * between them that has the measured ways and a power of two of sets.
 *
 * Latency: a chase through four times what the level before holds.
 *
 * Ways: a chase of n lines that lie at a power of two from each other, all in the same set, against
 * the same pages with lines in different sets: up to the ways the level has them. What translations
 * cost is in both. Beyond the first level the lines are those of some sets that are one set of the
 * level before, which cannot hold them: so a level's ways are found after those of the level
 * before.
 *
 * Line: a chase that visits each place and another one some bytes behind it, in the second level:
 * where that is on the same line, it is in the first. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "calibrate/chase.h"
#include "calibrate/level.h"
#include "calibrate/parts.h"
#include "util/text.h"

enum {
    LEVELS = 4, /* memory is the last one */
    SMALLEST = 16 << 10,
    LARGEST = 224 << 20,
    DENSE = 4 << 20, /* up to here every even line is a node, then one of eight lines */
    SIZES = 56,
    SIZES_AT_ONCE = 7,
    SIZES_BEHIND = 4, /* that are measured of the last level besides those that show it */
    ROUNDS = 4,       /* half of them, if in a hurry; of a simulated machine one */
    MOST_WAYS = 33,
    FEWEST_WAYS = 2,
    LARGE = 8 << 20, /* caches of this size have eight ways at least, others two */
    PAIR_SPACING = 512,
    PAIR_ROUNDS = HOST_PAGE / PAIR_SPACING,
    FIRST_PAIR = 16, /* bytes */
    PAIRS = 6,
    PAIR_TRIES = 3, /* in pages of their own */
    CHASES = LEVELS - 1 + PAIRS * PAIR_TRIES
};

static const struct cache {
    const char *latency, *size, *ways, *line; /* keys */
    const char *latency_what, *size_what, *ways_what;
} CACHES[LEVELS - 1] = {
    {"l1d.load_to_use", "l1d.size", "l1d.ways", "l1d.line", "L1 load to use", "L1 size", "L1 ways"},
    {"l2.load_to_use", "l2.size", "l2.ways", NULL, "L2 load to use", "L2 size", "L2 ways"},
    {"llc.load_to_use", "llc.size", "llc.ways", NULL, "LLC load to use", "LLC size", "LLC ways"}};

/* Of the size where the latency has all but reached the next level, to that where it leaves its
 * own. */
static const double MOST_RISE = 1.5;

struct search {
    struct level levels[LEVELS];
    size_t count;
    unsigned ways[LEVELS]; /* 0: not known */
    double size[LEVELS];
    double latency[LEVELS];
    double line;
};

/* ---- sizes ---- */

static struct chase_shape whole(uint64_t bytes) {
    const uint32_t spacing = bytes > DENSE ? 4 * CHASE_LINE : CHASE_LINE;
    return (struct chase_shape){.stride = HOST_PAGE,
                                .pages = (uint32_t)(bytes / HOST_PAGE),
                                .lines = HOST_PAGE / spacing,
                                .spacing = spacing,
                                .group = CHASE_GROUP};
}

/* Four sizes to the power of two, whole pages. */
static uint64_t size_of(unsigned number) {
    return (uint64_t)(SMALLEST / 4) * (4 + number % 4) << number / 4;
}

/* Other load only adds to a latency, so one that is larger than that of a larger chase was
 * disturbed, and so was one that is not known. */
static bool is_doubtful(const struct step_point points[SIZES], unsigned number) {
    for (unsigned i = number + 1; i < SIZES; i++)
        if (points[i].y < points[number].y / LEVEL_SLOPE)
            return true;
    return !isfinite(points[number].y);
}

/* The chases from number `from` on that are wanted, and keeps what is lower than before. */
static bool measure_sizes(struct calibration *calibration, const struct chase *chases,
                          unsigned from, unsigned to, const bool wanted[SIZES],
                          struct step_point points[SIZES], struct error *error) {
    struct kernel_list list = {0};
    for (unsigned i = from; i < to; i++)
        if (wanted[i])
            chase_kernel(&list, &chases[i - from], 0, 2);
    const bool good = calibration_measure(calibration, &list, error);
    const struct host_result *result = list.results;
    for (unsigned i = from; good && i < to; i++)
        if (wanted[i])
            points[i].y = fmin(points[i].y, chase_cycles(result++));
    kernel_list_free(&list);
    return good;
}

static unsigned rounds_of(const struct host_meter *meter) {
    return meter->simulated ? 1 : meter->quick ? ROUNDS / 2 : ROUNDS;
}

static bool sweep(struct calibration *calibration, const struct chase *chases, unsigned from,
                  unsigned to, struct step_point points[SIZES], struct error *error) {
    bool wanted[SIZES], any = true;
    const unsigned rounds = rounds_of(calibration->meter);
    for (unsigned i = from; i < to; i++)
        wanted[i] = true;
    for (unsigned round = 0; any && round < rounds && !calibration_stops(calibration); round++) {
        if (!measure_sizes(calibration, chases, from, to, wanted, points, error))
            return false;
        any = false;
        for (unsigned i = from; i < to; i++)
            any |= wanted[i] = is_doubtful(points, i);
    }
    return true;
}

/* The sizes from number `from` to `to`. */
static bool sweep_sizes(struct calibration *calibration, unsigned from, unsigned to,
                        struct step_point points[SIZES], struct error *error) {
    struct chase *chases = calloc(to - from, sizeof *chases);
    bool good = chases || error_set(error, "out of memory for chases");
    for (unsigned i = from; good && i < to; i++) {
        const struct chase_shape shape = whole(size_of(i));
        chase_add(&chases[i - from], &shape);
        good = chase_good(&chases[i - from], error);
    }
    good = good && sweep(calibration, chases, from, to, points, error);
    for (unsigned i = from; chases && i < to; i++)
        chase_free(&chases[i - from]);
    free(chases);
    return good;
}

/* Larger and larger sizes, until all levels are seen. */
static bool find_levels(struct calibration *calibration, struct search *search,
                        struct error *error) {
    struct step_point points[SIZES];
    unsigned known = 0;
    for (unsigned i = 0; i < SIZES; i++)
        points[i] = (struct step_point){(unsigned)size_of(i), NAN};
    while (known < SIZES && !calibration_stops(calibration)) {
        const unsigned to = known + SIZES_AT_ONCE < SIZES ? known + SIZES_AT_ONCE : SIZES;
        if (!sweep_sizes(calibration, known, to, points, error))
            return false;
        known = to;
        if (levels_find(points, known - SIZES_BEHIND, search->levels, LEVELS) == LEVELS)
            break;
    }
    for (unsigned i = known; i-- > 1;)
        points[i - 1].y = fmin(points[i - 1].y, points[i].y);
    search->count = levels_find(points, known, search->levels, LEVELS);
    return true;
}

/* ---- latencies ---- */

/* Of the first level the smallest chase; of another one four times what the one before it holds,
 * and a whole group of pages. */
static uint64_t latency_bytes(const struct search *search, unsigned level) {
    const uint64_t bytes = level ? 4 * (uint64_t)search->levels[level - 1].below : SMALLEST;
    const uint64_t group = level ? CHASE_GROUP * HOST_PAGE : 0;
    return bytes > group ? bytes / HOST_PAGE * HOST_PAGE : group;
}

static void add_latency(struct kernel_list *list, struct chase *chase, const struct search *search,
                        unsigned level) {
    struct chase_shape shape = whole(latency_bytes(search, level));
    shape.lines = HOST_PAGE / CHASE_LINE;
    shape.spacing = CHASE_LINE;
    chase_kernel(list, chase, chase_add(chase, &shape), 2);
}

static void conclude_latency(struct calibration *calibration, struct search *search, unsigned level,
                             const struct host_result *result) {
    const struct level *sweep = &search->levels[level];
    struct finding finding = {
        .key = CACHES[level].latency, .what = CACHES[level].latency_what, .unit = "cycles"};
    search->latency[level] = sweep->height;
    if (finding_rests_on(&finding, result, 1)) {
        finding.value = chase_cycles(result);
        finding.spread /= CHASE_LOADS;
        if (finding.value > sweep->height * LEVEL_SLOPE) { /* disturbed since */
            finding.value = sweep->height;
            finding.spread = sweep->spread;
        }
        search->latency[level] = finding.value;
    }
    calibration_found(calibration, &finding);
}

/* ---- ways ---- */

static uint64_t power_from(uint64_t bytes) {
    uint64_t power = HOST_PAGE;
    while (power < bytes)
        power *= 2;
    return power;
}

/* From a set of a level to the same set again, in bytes, whole pages. */
static uint64_t way_bytes(const struct search *search, unsigned level) {
    const unsigned ways = search->ways[level];
    return ways ? power_from((uint64_t)search->size[level] / ways)
                : power_from(search->levels[level].below) / 4;
}

/* So many sets, `step` bytes from each other, are different ones in a level that has no more than
 * USUAL_WAYS. */
enum { WAY_KERNELS = 2 * (MOST_WAYS - FEWEST_WAYS + 1), WAY_SETS = 4, USUAL_WAYS = 16 };
static uint32_t way_sets(const struct search *search, unsigned level, uint64_t step) {
    uint32_t sets = level ? WAY_SETS : 1;
    while (sets > 1 && sets * step > power_from(search->levels[level].below) / USUAL_WAYS)
        sets /= 2;
    return sets;
}

static void add_ways(struct kernel_list *list, struct chase *chase, const struct search *search,
                     unsigned level) {
    const uint64_t bytes = search->levels[level].below;
    const uint64_t step = level ? way_bytes(search, level - 1) : 0;
    const uint32_t sets = way_sets(search, level, step);
    for (uint32_t n = FEWEST_WAYS; n <= MOST_WAYS; n++) {
        const struct chase_shape same = {.stride = power_from(bytes) / (bytes >= LARGE ? 8 : 2),
                                         .cluster = sets,
                                         .step = step,
                                         .pages = sets * n,
                                         .lines = 1,
                                         .spacing = CHASE_LINE,
                                         .group = sets * n,
                                         .first = (n - FEWEST_WAYS) * CHASE_LINE};
        struct chase_shape others = same;
        others.first = 0;
        others.turn = HOST_PAGE / CHASE_LINE;
        others.phase = n; /* no place is that of another chain */
        others.slot = 1;
        chase_kernel(list, chase, chase_add(chase, &same), 2);
        chase_kernel(list, chase, chase_add(chase, &others), 2);
    }
}

/* The size of so many ways and a power of two of sets that the sweep allows; 0: there is none. */
static double exact_size(const struct search *search, unsigned number, unsigned ways) {
    const struct level *level = &search->levels[number];
    double exact = ways * search->line;
    while (exact && exact < level->below)
        exact *= 2;
    return exact <= level->above ? exact : 0;
}

/* Where the frames of pages lie anywhere, so do lines in sets: the cost rises over many lines, and
 * has its first quarter long before its half. */
static bool clear_step(const struct step_point points[WAY_KERNELS / 2], double own, double next,
                       unsigned *ways, unsigned *above) {
    unsigned begin, behind;
    return step_across(points, WAY_KERNELS / 2, (own + next) / 2, ways, above) &&
           step_across(points, WAY_KERNELS / 2, (3 * own + next) / 4, &begin, &behind) &&
           4 * begin >= 3 * *ways;
}

static void conclude_ways(struct calibration *calibration, struct search *search, unsigned level,
                          const struct host_result *results) {
    struct finding finding = {
        .key = CACHES[level].ways, .what = CACHES[level].ways_what, .unit = ""};
    struct step_point points[WAY_KERNELS / 2];
    const double own = search->latency[level] - search->latency[0];
    const double next = search->levels[level + 1].height - search->latency[0];
    unsigned ways = 0, above = 0;
    for (unsigned i = 0; i < WAY_KERNELS / 2; i++) {
        const double more = chase_cycles(&results[2 * i]) - chase_cycles(&results[2 * i + 1]);
        points[i] = (struct step_point){FEWEST_WAYS + i, more};
    }
    const bool step = clear_step(points, own, next, &ways, &above);
    finding.value = ways;
    finding.spread = (above - ways - 1) / 2.0;
    const double exact = step ? exact_size(search, level, ways) : 0;
    if (exact > 0) {
        search->ways[level] = ways;
        search->size[level] = exact;
    } else {
        finding.state = FINDING_UNKNOWN;
        snprintf(finding.note, sizeof finding.note,
                 step ? "%d lines at a power of two from each other, which no size allows"
                      : "no clear step up to %d lines at a power of two from each other",
                 step ? (int)ways : MOST_WAYS);
    }
    calibration_found(calibration, &finding);
}

/* A power of two of sets, of the ways that were found. Without them a size is none that a machine
 * could have: on a virtual machine it is what others leave of the last cache. */
static void conclude_size(struct calibration *calibration, const struct search *search,
                          unsigned number) {
    const struct level *level = &search->levels[number];
    struct finding finding = {
        .key = CACHES[number].size, .what = CACHES[number].size_what, .unit = "bytes"};
    const double exact = search->size[number];
    const bool fits = exact > 0;
    finding.value = exact;
    if (!fits || level->first_high > MOST_RISE * level->last_low) {
        finding.state = FINDING_UNKNOWN;
        snprintf(finding.note, sizeof finding.note, "%s; the latency rises from %s to %s",
                 fits ? "no clear step" : "no number of ways makes it exact",
                 text_bytes((uint64_t)level->last_low).s,
                 text_bytes((uint64_t)level->first_high).s);
    }
    calibration_found(calibration, &finding);
}

/* ---- the line ---- */

static void add_line(struct kernel_list *list, struct chase *chases, uint64_t bytes) {
    const uint32_t pages = (uint32_t)(bytes / HOST_PAGE);
    const struct chase_shape shape = {.stride = HOST_PAGE,
                                      .pages = pages,
                                      .lines = PAIR_ROUNDS,
                                      .spacing = PAIR_SPACING,
                                      .group = pages};
    for (unsigned i = 0; i < PAIRS * PAIR_TRIES; i++)
        chase_kernel(list, &chases[i],
                     chase_add_pairs(&chases[i], &shape, FIRST_PAIR << i / PAIR_TRIES), 2);
}

/* The fastest try: where the frames of many pages are in the same sets of the second level, it
 * cannot hold them, and loads take longer, never less. */
static double pair_cycles(const struct host_result results[PAIR_TRIES]) {
    double fastest = chase_cycles(&results[0]);
    for (unsigned i = 1; i < PAIR_TRIES; i++)
        fastest = fmin(fastest, chase_cycles(&results[i]));
    return fastest;
}

static void conclude_line(struct calibration *calibration, struct search *search,
                          const struct host_result *results) {
    struct finding finding = {.key = CACHES[0].line, .what = "L1 line", .unit = "bytes"};
    const double first = search->latency[0], second = search->latency[1];
    unsigned shared = 0;
    search->line = 64;
    while (shared < PAIRS &&
           pair_cycles(results + (size_t)shared * PAIR_TRIES) < (first + 3 * second) / 4)
        shared++;
    if (finding_rests_on(&finding, results, PAIRS * PAIR_TRIES)) {
        finding.spread = 0;
        if (shared && shared < PAIRS)
            finding.value = search->line = FIRST_PAIR << shared;
        else
            finding.state = FINDING_UNKNOWN;
    }
    calibration_found(calibration, &finding);
}

/* ---- all ---- */

static bool no_levels(struct calibration *calibration, size_t count) {
    for (unsigned level = 0; level < LEVELS - 1; level++) {
        struct finding finding = {
            .key = CACHES[level].size, .what = CACHES[level].size_what, .state = FINDING_UNKNOWN};
        snprintf(finding.note, sizeof finding.note,
                 "chases of 16 KiB to 224 MiB show %zu clear levels", count);
        calibration_found(calibration, &finding);
    }
    return true;
}

static bool measure_latencies(struct calibration *calibration, struct search *search,
                              struct error *error) {
    const unsigned caches = (unsigned)search->count - 1;
    struct chase *chases = calloc(CHASES, sizeof *chases), *next = chases;
    struct kernel_list list = {0};
    bool good = chases || error_set(error, "out of memory for chases");
    for (unsigned level = 0; good && level < caches; level++)
        add_latency(&list, next++, search, level);
    if (good)
        add_line(&list, next, latency_bytes(search, 1));
    for (unsigned i = 0; good && i < CHASES; i++)
        good = chase_good(&chases[i], error);
    good = good && calibration_measure(calibration, &list, error);
    for (unsigned level = 0; good && level < caches; level++)
        conclude_latency(calibration, search, level, list.results + level);
    if (good)
        conclude_line(calibration, search, list.results + caches);
    kernel_list_free(&list);
    for (unsigned i = 0; chases && i < CHASES; i++)
        chase_free(&chases[i]);
    free(chases);
    return good;
}

static bool measure_ways(struct calibration *calibration, struct search *search, unsigned level,
                         struct error *error) {
    struct chase chase = {0};
    struct kernel_list list = {0};
    add_ways(&list, &chase, search, level);
    const bool good = chase_good(&chase, error) && calibration_measure(calibration, &list, error);
    if (good) {
        conclude_ways(calibration, search, level, list.results);
        conclude_size(calibration, search, level);
    }
    kernel_list_free(&list);
    chase_free(&chase);
    return good;
}

static bool measure_levels(struct calibration *calibration, struct search *search,
                           struct error *error) {
    bool good = measure_latencies(calibration, search, error);
    for (unsigned level = 0; good && level + 1 < search->count; level++)
        good = measure_ways(calibration, search, level, error);
    return good;
}

static bool run(struct calibration *calibration, struct error *error) {
    struct search search = {0};
    if (!find_levels(calibration, &search, error))
        return false;
    if (search.count < 3)
        return no_levels(calibration, search.count);
    return calibration_stops(calibration) || measure_levels(calibration, &search, error);
}

static const char *const KEYS[] = {"l1d.latency", "l1d.size", "l1d.ways", "l1d.line",
                                   "l2.latency",  "l2.size",  "l2.ways",  "llc.latency",
                                   "llc.size",    "llc.ways", NULL};
const struct calibrate_part calibrate_caches = {
    .name = "caches",
    .measures = "latency, size, ways and line of the data caches",
    .keys = KEYS,
    .run = run};
