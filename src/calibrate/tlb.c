/* Data TLBs: how many pages they translate, what a hit in the second level and a walk take besides
 * (Saavedra and Smith 1995).
 *
 * Entries: a chase of one node in each of n pages, each page's at another line, against a chase of
 * n nodes on equally many lines of few pages. So the caches do the same in both, and what is left
 * is translation. It steps up where the first level does not hold the pages any more, and again
 * behind the second. A sweep over sizes finds the steps, and another one between its points where
 * they are.
 *
 * Where the second level replaces at random the step is a long slope: then it is not known how many
 * entries there are, but what a walk costs is.
 *
 * Ways: n pages at a power of two of pages from each other, likewise. Then the entries are the ways
 * times a power of two. More pages than ways are few pages still, whose tables the near caches
 * hold, as they may not those of more pages than entries: what the walks of these take holds. */
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "calibrate/chase.h"
#include "calibrate/level.h"
#include "calibrate/parts.h"
#include "calibrate/walks.h"
#include "util/order.h"

enum { L1, L2, TLBS };
enum {
    SMALLEST = 8, /* pages */
    SIZES = 45,   /* four to the power of two, up to 16384 */
    SIZES_AT_ONCE = 8,
    ROUNDS = 4,       /* half of them, if in a hurry; of a simulated machine one */
    SIZES_BEHIND = 4, /* that are measured of the last level besides those that show it */
    FINE = 24,
    MOST_WAYS = 33,
    FEWEST_WAYS = 2,
    WAY_PAGES = 512, /* from page to page */
    TURNS = HOST_PAGE / CHASE_LINE
};
static const double MOST_RISE = 2; /* of the pages where the cost has all but reached the next level
                                      to those where it leaves its own */
static const double BEHIND_STEP = 2.5; /* times the first size behind a step: what is near it */
static const double LEAST_COST = 2;    /* cycles: a smaller step is none */

static const struct tlb {
    const char *entries, *ways, *cost; /* keys; cost: of a miss in it */
    const char *entries_what, *ways_what, *cost_what;
} KINDS[TLBS] = {
    {"dtlb.entries", "dtlb.ways", "l2tlb.latency", "L1 data TLB", "L1 data TLB ways",
     "L2 TLB hit, besides"},
    {"l2tlb.entries", "l2tlb.ways", "tlb.walk", "L2 TLB", "L2 TLB ways", "page walk, besides"}};

struct search {
    double cost[TLBS + 1]; /* of translation where one, where both levels do not have it */
    unsigned below[TLBS], above[TLBS];
    unsigned ways[TLBS]; /* 0: not known */
    double spread[TLBS]; /* of what a miss costs */
    bool costs[TLBS];    /* what a miss costs is known */
    bool found[TLBS];    /* and how many entries there are: the step is steep */
    unsigned last_low[TLBS], first_high[TLBS];
};

/* ---- the chases ---- */

/* One node in each of n pages, and n nodes in few. `sets` is not 0: pages so many times as many, in
 * so many sets. */
static void add_pair(struct kernel_list *list, struct chase pair[2], uint32_t number,
                     uint32_t sets) {
    assert(number);
    const uint32_t n = sets ? number * sets : number, lines = n < TURNS ? n : TURNS;
    const struct chase_shape apart = {.stride = sets ? WAY_PAGES * HOST_PAGE : HOST_PAGE,
                                      .cluster = sets,
                                      .step = HOST_PAGE,
                                      .pages = n,
                                      .lines = 1,
                                      .spacing = CHASE_LINE,
                                      .group = n,
                                      .turn = TURNS};
    const struct chase_shape together = {.stride = HOST_PAGE,
                                         .pages = (n + lines / 2) / lines,
                                         .lines = lines,
                                         .spacing = CHASE_LINE,
                                         .group = CHASE_GROUP};
    chase_kernel(list, &pair[0], chase_add(&pair[0], &apart), 2);
    chase_kernel(list, &pair[1], chase_add(&pair[1], &together), 2);
    pair[0].data.huge_pages = false;
    pair[1].data.huge_pages = true;
}

struct chases {
    struct chase (*pairs)[2];
    struct step_point *points; /* of each pair; y what the one of many pages takes besides */
    size_t count;
};

static void chases_free(struct chases *chases) {
    for (size_t i = 0; chases->pairs && i < chases->count; i++) {
        chase_free(&chases->pairs[i][0]);
        chase_free(&chases->pairs[i][1]);
    }
    free(chases->pairs);
    free(chases->points);
}

/* Measures the pairs of these numbers of pages, which are points' n. `sets`: add_pair(). */
static bool measure_pairs(struct calibration *calibration, struct chases *chases, uint32_t sets,
                          struct error *error) {
    struct kernel_list list = {0};
    bool good = true;
    for (size_t i = 0; good && i < chases->count; i++) {
        add_pair(&list, chases->pairs[i], chases->points[i].n, sets);
        good = chase_good(&chases->pairs[i][0], error) && chase_good(&chases->pairs[i][1], error);
    }
    good = good && calibration_measure(calibration, &list, error);
    for (size_t i = 0; good && i < chases->count; i++)
        chases->points[i].y =
            chase_cycles(&list.results[2 * i]) - chase_cycles(&list.results[2 * i + 1]);
    kernel_list_free(&list);
    return good;
}

static bool chases_make(struct chases *chases, size_t count, struct error *error) {
    *chases = (struct chases){calloc(count, sizeof *chases->pairs),
                              calloc(count, sizeof *chases->points), count};
    return (chases->pairs && chases->points) || error_set(error, "out of memory for chases");
}

/* ---- entries ---- */

/* Levels are told apart by their ratio: as if a translation that is there took so many cycles. */
static const double BASE = 4;

ORDER(compare, double, ascending(*a, *b))

/* The middle of the points from size `from` to `to`; NAN: there are none. *spread: half of what the
 * middle half of them spans. */
static double middle_of(const struct step_point *points, unsigned number, double from, double to,
                        double *spread) {
    double heights[SIZES];
    size_t count = 0;
    for (unsigned i = 0; i < number; i++)
        if (points[i].n >= from && points[i].n <= to && isfinite(points[i].y))
            heights[count++] = points[i].y;
    qsort(heights, count, sizeof *heights, compare);
    *spread = count ? (heights[count - 1 - count / 4] - heights[count / 4]) / 2 : 0;
    return count ? heights[count / 2] : NAN;
}

/* Once more the sizes from number `from` to `to`: the lower value holds. */
static bool sweep_again(struct calibration *calibration, unsigned from, unsigned to,
                        struct step_point points[SIZES], struct error *error) {
    struct chases chases;
    bool good = chases_make(&chases, to - from, error);
    for (unsigned i = from; good && i < to; i++)
        chases.points[i - from].n = points[i].n;
    good = good && measure_pairs(calibration, &chases, 0, error);
    for (unsigned i = from; good && i < to; i++)
        points[i].y = fmin(points[i].y, BASE + chases.points[i - from].y);
    chases_free(&chases);
    return good;
}

/* What the caches do to the two chases of a pair differs from round to round on a virtual machine,
 * whose pages lie anywhere in memory, and so does other load. */
static bool sweep_sizes(struct calibration *calibration, unsigned from, unsigned to,
                        struct step_point points[SIZES], struct error *error) {
    const struct host_meter *meter = calibration->meter;
    const unsigned rounds = meter->simulated ? 1 : meter->quick ? ROUNDS / 2 : ROUNDS;
    bool good = true;
    for (unsigned i = 0; good && i < rounds && !calibration_stops(calibration); i++)
        good = sweep_again(calibration, from, to, points, error);
    return good;
}

/* More and more pages, until all levels are seen. */
static bool sweep(struct calibration *calibration, struct search *search, struct error *error) {
    struct step_point points[SIZES];
    struct level levels[TLBS + 1];
    unsigned known = 0;
    for (unsigned i = 0; i < SIZES; i++)
        points[i] = (struct step_point){SMALLEST / 4 * (4 + i % 4) << i / 4, NAN};
    while (known < SIZES && !calibration_stops(calibration)) {
        const unsigned to = known + SIZES_AT_ONCE < SIZES ? known + SIZES_AT_ONCE : SIZES;
        if (!sweep_sizes(calibration, known, to, points, error))
            return false;
        known = to;
        if (levels_find(points, known - SIZES_BEHIND, levels, TLBS + 1) == TLBS + 1)
            break;
    }
    const size_t count = levels_find(points, known, levels, TLBS + 1);
    if (count)
        search->cost[0] = levels[0].height - BASE;
    for (unsigned i = 0; i + 1 < count; i++) {
        /* Farther on the caches hold less of what walks read, and do not hide as much. */
        search->cost[i + 1] = middle_of(points, SIZES, levels[i].first_high,
                                        BEHIND_STEP * levels[i].first_high, &search->spread[i]) -
                              BASE;
        search->below[i] = levels[i].below;
        search->above[i] = levels[i].above;
        search->last_low[i] = levels[i].last_low;
        search->first_high[i] = levels[i].first_high;
        search->costs[i] = search->cost[i + 1] - search->cost[i] > LEAST_COST;
        search->found[i] =
            search->costs[i] && levels[i].first_high <= MOST_RISE * levels[i].last_low;
    }
    return true;
}

/* Between the two points of the sweep, and as much on either side. */
static bool refine(struct calibration *calibration, struct search *search, unsigned kind,
                   struct error *error) {
    const double *cost = &search->cost[kind];
    const unsigned width = search->above[kind] - search->below[kind];
    const unsigned from = search->below[kind] - width / 2;
    const unsigned step = 2 * width > FINE ? 2 * width / FINE : 1;
    struct chases chases;
    bool good = chases_make(&chases, 2 * width / step + 1, error);
    for (size_t i = 0; good && i < chases.count; i++)
        chases.points[i].n = from + (unsigned)i * step;
    good = good && measure_pairs(calibration, &chases, 0, error);
    if (good)
        step_across(chases.points, chases.count, (cost[0] + cost[1]) / 2, &search->below[kind],
                    &search->above[kind]);
    chases_free(&chases);
    return good;
}

/* ---- ways ---- */

/* Behind the first level the pages are those of WAY_SETS sets, more than the first one has. */
enum { WAYS = MOST_WAYS - FEWEST_WAYS + 1, WAY_SETS = 16, FEWEST_WALKS = 6 };
/* Of what a miss takes among many pages, so much at least among few, whose tables are near. */
static const double LEAST_MISS = 1. / 3;

/* What those pages take that miss, and no more than more pages do; NAN: none miss. */
static double missing_cost(const struct step_point points[WAYS], const double cost[2]) {
    double heights[WAYS];
    size_t count = 0;
    for (unsigned i = 0; i < WAYS; i++)
        if (points[i].y > cost[0] + LEAST_MISS * (cost[1] - cost[0]))
            heights[count++] = points[i].y;
    qsort(heights, count, sizeof *heights, compare);
    return count ? fmin(heights[count / 2], cost[1]) : NAN;
}

/* Where a level replaces by age all pages of a set miss from one more than the ways on, and nearly
 * all from two more on where it only guesses at it. */
static void walks_of_few_pages(struct search *search, const struct step_point points[WAYS]) {
    const unsigned from = search->ways[L2] + 2;
    double spread;
    if (from + FEWEST_WALKS > MOST_WAYS)
        return;
    const double cost = middle_of(points, WAYS, from, MOST_WAYS, &spread);
    if (!isfinite(cost))
        return;
    search->cost[L2 + 1] = cost;
    search->spread[L2] = spread;
}

static bool find_ways(struct calibration *calibration, struct search *search, unsigned kind,
                      struct error *error) {
    const double *cost = &search->cost[kind];
    struct chases chases;
    unsigned above;
    bool good = chases_make(&chases, WAYS, error);
    for (unsigned i = 0; good && i < WAYS; i++)
        chases.points[i].n = FEWEST_WAYS + i;
    good = good && measure_pairs(calibration, &chases, kind ? WAY_SETS : 1, error);
    const double missing = good ? missing_cost(chases.points, cost) : NAN;
    if (isfinite(missing) &&
        step_across(chases.points, WAYS, (cost[0] + missing) / 2, &search->ways[kind], &above) &&
        kind == L2)
        walks_of_few_pages(search, chases.points);
    chases_free(&chases);
    return good;
}

/* ---- what was found ---- */

static struct finding unknown(const char *key, const char *what, const char *unit) {
    struct finding finding = {.key = key, .what = what, .unit = unit, .state = FINDING_UNKNOWN};
    snprintf(finding.note, sizeof finding.note, "no clear step up to %d pages",
             SMALLEST << (SIZES - 1) / 4);
    return finding;
}

/* With m pages more than entries, m sets have one more than their w ways, and these w + 1 miss. So
 * half of all pages do where the pages are (w + 1) / (w + 1/2) times the entries. Of the numbers of
 * entries that give a power of two of sets, the one that is nearest; 0: none is near. */
static unsigned exact_entries(unsigned half_miss, unsigned ways) {
    const double wanted = half_miss * (ways + 0.5) / (ways + 1.0);
    double exact = ways;
    while (ways && exact < wanted / LEVEL_SLOPE)
        exact *= 2;
    return exact < wanted * LEVEL_SLOPE ? (unsigned)exact : 0;
}

static void conclude(struct calibration *calibration, const struct search *search, unsigned kind) {
    const struct tlb *tlb = &KINDS[kind];
    struct finding entries = unknown(tlb->entries, tlb->entries_what, "pages");
    struct finding ways = unknown(tlb->ways, tlb->ways_what, "");
    struct finding cost = unknown(tlb->cost, tlb->cost_what, "cycles");
    const unsigned below = search->below[kind], above = search->above[kind];
    if (search->costs[kind]) {
        cost.state = FINDING_MEASURED;
        cost.note[0] = '\0';
        cost.value = search->cost[kind + 1] - search->cost[kind];
        cost.spread = search->spread[kind];
        snprintf(entries.note, sizeof entries.note, "no clear step: the cost rises from %u to %u",
                 search->last_low[kind], search->first_high[kind]);
    }
    if (search->found[kind]) {
        const unsigned exact = exact_entries(below, search->ways[kind]);
        const bool fits = exact != 0;
        entries.state = FINDING_MEASURED;
        entries.note[0] = '\0';
        entries.value = fits ? exact : below;
        entries.spread = fits ? 0 : (above - below - 1) / 2.0;
        ways.state = search->ways[kind] ? FINDING_MEASURED : FINDING_UNKNOWN;
        ways.value = search->ways[kind];
        ways.note[0] = '\0';
        if (!search->ways[kind]) {
            snprintf(ways.note, sizeof ways.note,
                     "%d pages at a power of two from each other are all translated%s", MOST_WAYS,
                     kind ? "" : ": fully associative");
            ways.word = "0";
            ways.state = kind ? FINDING_UNKNOWN : FINDING_MEASURED;
        }
    }
    calibration_found(calibration, &entries);
    calibration_found(calibration, &ways);
    calibration_found(calibration, &cost);
}

static bool run(struct calibration *calibration, struct error *error) {
    struct search search = {0};
    if (!sweep(calibration, &search, error))
        return false;
    for (unsigned kind = 0; kind < TLBS && !calibration_stops(calibration); kind++)
        if (search.found[kind] && !refine(calibration, &search, kind, error))
            return false;
    for (unsigned kind = 0; kind < TLBS && !calibration_stops(calibration); kind++)
        if (search.found[kind] && !find_ways(calibration, &search, kind, error))
            return false;
    for (unsigned kind = 0; kind < TLBS; kind++)
        conclude(calibration, &search, kind);
    if (search.costs[L2])
        return walks_measure(calibration, search.first_high[L2],
                             search.cost[L2 + 1] - search.cost[L2], error);
    walks_unknown(calibration, "it is not known what a walk costs");
    return true;
}

static const char *const KEYS[] = {"dtlb.entries",  "dtlb.ways", "l2tlb.entries",     "l2tlb.ways",
                                   "l2tlb.latency", "tlb.walk",  "tlb.walk_interval", NULL};
const struct calibrate_part calibrate_tlb = {
    .name = "tlb",
    .measures = "pages that the data TLBs translate, what misses cost, walks",
    .keys = KEYS,
    .run = run};
