/* The sets are sorted into groups that agree about bandwidth and window; each chunk of µops is
 * decoded once for every window and then evaluated for one group after the other, so that the rows
 * of a group stay in the cache meanwhile. Times are 32 bits from the begin of the fragment, and are
 * moved back before they grow too large. */
#include "graph/lanes.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "graph/lanes/layout.h"
#include "util/array.h"

enum { LAYOUTS = CATEGORIES_MAX + 1, HUGE_PAGE = 1 << 21, LATE = 1 << 29 };

struct graph_lanes {
    struct graph_machine machine;
    struct categories categories;
    lanes_kernel *run;        /* of wide groups; NULL: one evaluation for each set */
    lanes_kernel *run_narrow; /* NULL: groups are never narrow */
    uint64_t number;          /* of µops in the fragment */
    struct lanes_slots slots;
    struct lanes_decoder *decoder;
    struct lanes_layout *layouts[LAYOUTS];
    uint32_t layout_count;
    struct lanes_group *groups;
    uint32_t group_count;

    struct graph_evaluation **evaluations;
    int64_t *last, *total; /* of each */
};

static const struct {
    const char *name;
    lanes_kernel *run, *run_narrow; /* NULL: groups are never narrow */
} LEVELS[] = {
    [LANES_PLAIN] = {"plain", lanes_run_plain, NULL},
#if defined __x86_64__
    [LANES_AVX2] = {"avx2", lanes_run_avx2, NULL},
    [LANES_AVX2_NARROW] = {"avx2-narrow", lanes_run_avx2, lanes_run_avx2_narrow},
    [LANES_AVX512] = {"avx512", lanes_run_avx512, NULL},
    [LANES_AVX512_NARROW] = {"avx512-narrow", lanes_run_avx512, lanes_run_avx512_narrow},
#else
    [LANES_AVX2] = {"avx2", NULL, NULL},
    [LANES_AVX2_NARROW] = {"avx2-narrow", NULL, NULL},
    [LANES_AVX512] = {"avx512", NULL, NULL},
    [LANES_AVX512_NARROW] = {"avx512-narrow", NULL, NULL},
#endif
    [LANES_BEST] = {"best", NULL, NULL},
};

const char *lanes_level_name(enum lanes_level level) {
    return LEVELS[level].name;
}

bool lanes_level_usable(enum lanes_level level) {
#if defined __x86_64__
    if (level == LANES_AVX2 || level == LANES_AVX2_NARROW)
        return __builtin_cpu_supports("avx2");
    if (level == LANES_AVX512)
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
               __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
               __builtin_cpu_supports("avx512cd");
    if (level == LANES_AVX512_NARROW)
        return lanes_level_usable(LANES_AVX512) && __builtin_cpu_supports("avx512vbmi2") &&
               __builtin_cpu_supports("avx512bitalg");
#endif
    return level == LANES_PLAIN;
}

/* ---- slots ---- */

static void add_counter(struct lanes_slots *slots, struct lanes_slot *slot, uint32_t limit) {
    struct lanes_counter *counter = &slots->counters[slots->counter_count];
    while (limit >> counter->bits)
        counter->bits++;
    counter->limit = limit;
    counter->plane = slots->planes;
    slots->planes += counter->bits;
    slot->counters[slot->count++] = slots->counter_count++;
}

/* Makes the counters of a queue. A limit that other limits imply needs no counter. */
static void count_queue(struct lanes_slots *slots, const struct graph_machine *machine,
                        uint32_t queue) {
    uint32_t issue = machine->queue_issue[queue], units = 0;
    for (uint32_t pool = 0; pool < MACHINE_MAX_POOLS; pool++)
        if (machine->pool_queue[pool] == queue)
            units += machine->pool_units[pool];
    struct lanes_slot of_queue = {0};
    if (issue && issue < units)
        add_counter(slots, &of_queue, issue);
    for (uint32_t pool = 0; pool < MACHINE_MAX_POOLS; pool++) {
        if (machine->pool_queue[pool] != queue || machine->pool_units[pool] == 0)
            continue;
        slots->pools[pool] = of_queue;
        if (machine->pool_units[pool] < issue)
            add_counter(slots, &slots->pools[pool], machine->pool_units[pool]);
    }
}

static bool fits_level(const struct lanes_slots *slots, enum lanes_level level) {
    return !any_where(i, slots->counter_count,
                      level > LANES_AVX2 && slots->counters[i].bits > LANES_BITS);
}

/* ---- groups ---- */

static struct lanes_layout *layout_of(struct graph_lanes *lanes, uint32_t window) {
    for (uint32_t i = 0; i < lanes->layout_count; i++)
        if (lanes->layouts[i]->ideal == (window != 0) &&
            (window == 0 || lanes->layouts[i]->window == window))
            return lanes->layouts[i];
    struct lanes_layout *layout = aligned_alloc(64, sizeof *layout);
    if (!layout)
        return NULL;
    memset(layout, 0, sizeof *layout);
    lanes_layout_init(layout, &lanes->machine, window);
    return lanes->layouts[lanes->layout_count++] = layout;
}

static void *allocate(size_t bytes) {
    size_t whole = (bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    void *memory = aligned_alloc(HUGE_PAGE, whole);
    if (memory) {
        /* Rows are scattered over more pages than the TLB has entries. */
        madvise(memory, whole, MADV_HUGEPAGE);
        memset(memory, 0, bytes);
    }
    return memory;
}

static size_t planes_bytes(const struct graph_lanes *lanes) {
    return (size_t)lanes->slots.planes * LANES_WORDS * LANES_PLANE_ROW;
}

static bool group_init(struct graph_lanes *lanes, struct lanes_group *group, uint32_t window) {
    group->slots = &lanes->slots;
    group->machine = &lanes->machine;
    group->layout = layout_of(lanes, window);
    group->mshrs = calloc(LANES_GROUP, sizeof *group->mshrs);
    if (!group->layout || !group->mshrs ||
        !(group->rows = allocate(group->layout->length * sizeof(int32_t))))
        return false;
    lanes_fill_weights(lanes->decoder, group);
    return (group->planes = allocate(planes_bytes(lanes))) != NULL;
}

/* Fills half a group with these sets, and what is left with the last of them. */
static void put_sets(uint32_t *lanes, const uint32_t *sets, uint32_t from, uint32_t count) {
    for (uint32_t lane = 0; lane < LANES_BOUND; lane++)
        lanes[lane] = sets[from + lane < count ? from + lane : count - 1];
}

/* Makes the groups of the sets of one window. In each, half of the sets are bound by bandwidth, or
 * all are. */
static bool add_window(struct graph_lanes *lanes, const uint32_t *bound, uint32_t bound_count,
                       const uint32_t *others, uint32_t other_count, uint32_t window) {
    for (uint32_t from = 0; from < bound_count; from += LANES_BOUND) {
        struct lanes_group *group = &lanes->groups[lanes->group_count++];
        group->free = other_count != 0;
        put_sets(group->sets, bound, from, bound_count);
        put_sets(group->sets + LANES_BOUND, group->free ? others : bound, from, bound_count);
        if (!group_init(lanes, group, window))
            return false;
    }
    return true;
}

/* Orders the sets so that those in which a µop waits long for a slot share vectors; the others then
 * need not look as far ahead. */
static void order_sets(const struct categories *categories, uint32_t *ordered) {
    const uint32_t *parts = categories->everywhere;
    uint32_t all = (1u << categories->count) - 1, made = 0;
    uint32_t misses = parts[GRAPH_PART_WALK] | parts[GRAPH_PART_MISS_L2] |
                      parts[GRAPH_PART_MISS_LLC] | parts[GRAPH_PART_MISS_DRAM] |
                      parts[GRAPH_PART_MISPREDICT];
    uint32_t of_waits = 0;
    do {
        uint32_t others = 0;
        do
            ordered[made++] = of_waits | others;
        while ((others = (others - (all & ~misses)) & (all & ~misses)));
    } while ((of_waits = (of_waits - misses) & misses));
}

static bool make_groups(struct graph_lanes *lanes) {
    enum { SETS = 1 << CATEGORIES_MAX };
    const struct categories *categories = &lanes->categories;
    uint32_t sets = 1u << categories->count, of[2][SETS], ordered[SETS] = {0};
    bool placed[SETS] = {false};
    if (!(lanes->groups = aligned_alloc(64, sets * sizeof *lanes->groups)))
        return false;
    memset(lanes->groups, 0, sets * sizeof *lanes->groups);
    order_sets(categories, ordered);
    for (uint32_t i = 0; i < sets; i++) {
        if (placed[ordered[i]])
            continue;
        uint32_t window = categories_window(categories, ordered[i], &lanes->machine);
        uint32_t count[2] = {0};
        for (uint32_t j = i; j < sets; j++) {
            uint32_t set = ordered[j];
            if (placed[set] || window != categories_window(categories, set, &lanes->machine))
                continue;
            bool is_free = set & categories->everywhere[GRAPH_PART_BANDWIDTH];
            placed[set] = true;
            of[is_free][count[is_free]++] = set;
        }
        if (!add_window(lanes, of[false], count[false], of[true], count[true], window))
            return false;
    }
    return true;
}

static bool make_evaluations(struct graph_lanes *lanes) {
    uint32_t sets = 1u << lanes->categories.count;
    lanes->evaluations = calloc(sets, sizeof *lanes->evaluations);
    lanes->last = calloc(sets, sizeof *lanes->last);
    lanes->total = calloc(sets, sizeof *lanes->total);
    if (!lanes->evaluations || !lanes->last || !lanes->total)
        return false;
    return all_where(set, sets,
                     (lanes->evaluations[set] =
                          graph_evaluation_new_of(&lanes->machine, &lanes->categories, set)));
}

/* ---- fragments ---- */

/* The cycles from the begin of the fragment to the latest C. */
static int64_t commit_of(const struct lanes_group *group, uint32_t lane) {
    return group->narrow ? ((const int16_t *)group->commit)[lane] + group->offset[lane]
                         : group->commit[lane];
}

static void begin_group(const struct graph_lanes *lanes, struct lanes_group *group) {
    if (group->narrow != (lanes->run_narrow != NULL)) {
        group->narrow = lanes->run_narrow != NULL;
        lanes_fill_weights(lanes->decoder, group);
    }
    group->paid = group->widened = 0;
    for (uint32_t lane = 0; lane < LANES_GROUP; lane++) {
        group->offset[lane] = 0;
        if (group->narrow) {
            ((int16_t *)group->fetch)[lane] = 0;
            ((int16_t *)group->dispatch)[lane] = LANES_NARROW_NEVER;
            ((int16_t *)group->commit)[lane] = LANES_NARROW_NEVER;
            ((int16_t *)group->rows)[group->layout->left.base + lane] = LANES_NARROW_NEVER;
        } else {
            group->fetch[lane] = 0;
            group->dispatch[lane] = group->commit[lane] = LANES_NEVER;
        }
        group->exact_fetch[lane] = 0;
        mshrs_begin(&group->mshrs[lane]);
    }
    memset(group->planes, 0, planes_bytes(lanes));
    memset(group->base, 0, sizeof group->base);
    memset(group->taken, 0, sizeof group->taken);
    for (uint32_t k = 0; k < LANES_BOUND / 4; k++)
        group->words[k] = group->narrow ? LANES_NARROW_NEAR : 2;
}

static void begin(struct graph_lanes *lanes) {
    for (uint32_t i = 0; i < lanes->group_count; i++) {
        struct lanes_group *group = &lanes->groups[i];
        for (uint32_t lane = 0; lane < LANES_GROUP; lane++)
            group->total[lane] += lanes->number ? commit_of(group, lane) : 0;
        begin_group(lanes, group);
    }
    lanes->number = 0;
    lanes_decoder_begin(lanes->decoder);
}

struct graph_lanes *graph_lanes_new(const struct graph_machine *machine,
                                    const struct categories *categories, enum lanes_level level,
                                    struct error *error) {
    struct graph_lanes *lanes = calloc(1, sizeof *lanes);
    if (lanes) {
        lanes->machine = *machine;
        if (categories)
            lanes->categories = *categories;
        else
            categories_standard(&lanes->categories);
        for (uint32_t queue = 0; queue < MACHINE_MAX_QUEUES; queue++)
            count_queue(&lanes->slots, machine, queue);
        while (!lanes_level_usable(level) || !fits_level(&lanes->slots, level))
            level--;
        /* What completed a window ago is before dispatch only if wakeup takes no longer. */
        bool fits =
            machine->wakeup_extra <= machine->complete_to_commit + machine->dispatch_to_issue &&
            machine->store_queue <= LANES_STORES;
        lanes->run = fits ? LEVELS[level].run : NULL;
        lanes->run_narrow = lanes_machine_is_narrow(machine) ? LEVELS[level].run_narrow : NULL;
        lanes->decoder = lanes_decoder_new(machine, &lanes->categories, &lanes->slots);
        bool made = lanes->decoder && (fits ? make_groups(lanes) : make_evaluations(lanes));
        if (made) {
            begin(lanes);
            return lanes;
        }
    }
    error_set(error, "out of memory for the lanes of the graph");
    graph_lanes_free(lanes);
    return NULL;
}

void graph_lanes_free(struct graph_lanes *lanes) {
    if (!lanes)
        return;
    for (uint32_t set = 0; lanes->evaluations && set < 1u << lanes->categories.count; set++)
        graph_evaluation_free(lanes->evaluations[set]);
    free(lanes->evaluations);
    free(lanes->last);
    free(lanes->total);
    for (uint32_t i = 0; i < lanes->group_count; i++) {
        free(lanes->groups[i].rows);
        free(lanes->groups[i].planes);
        free(lanes->groups[i].mshrs);
    }
    free(lanes->groups);
    for (uint32_t i = 0; i < lanes->layout_count; i++)
        free(lanes->layouts[i]);
    lanes_decoder_free(lanes->decoder);
    free(lanes);
}

/* Moves the times of a lane back, with its rows, until dispatch is within two periods. */
static void move(struct lanes_group *group, uint32_t lane) {
    int32_t by = (group->dispatch[lane] / MSHR_PERIOD - 1) * MSHR_PERIOD;
    if (by <= 0)
        return;
    mshrs_move(&group->mshrs[lane], by);
    int32_t *rows = (int32_t *)group->rows;
    for (uint32_t at = LANES_WEIGHTS * LANES_GROUP; at < group->layout->length; at += LANES_GROUP) {
        int32_t *cycle = &rows[at + lane];
        *cycle = *cycle - by > -LATE ? *cycle - by : -LATE;
    }
    group->fetch[lane] = group->fetch[lane] - by > -LATE ? group->fetch[lane] - by : -LATE;
    group->dispatch[lane] -= by;
    group->commit[lane] -= by;
    if (lane < LANES_BOUND)
        group->base[lane] = group->base[lane] - by > -LATE ? group->base[lane] - by : -LATE;
    group->total[lane] += by;
}

static void move_late(struct graph_lanes *lanes) {
    for (uint32_t i = 0; i < lanes->group_count; i++)
        for (uint32_t lane = 0; lane < LANES_GROUP && !lanes->groups[i].narrow; lane++)
            if (lanes->groups[i].commit[lane] > LATE)
                move(&lanes->groups[i], lane);
}

/* ---- narrow groups ---- */

#if defined __x86_64__
/* Moving a group costs as much as narrow lanes save in a number of steps, a fourth of the group's
 * rows. If a group has to be moved more often than that, except for a few times, it is faster wide;
 * narrow is then tried again at growing intervals. */
static void move_or_widen(const struct graph_lanes *lanes, struct lanes_group *group, uint32_t at) {
    uint64_t number = lanes->number + at;
    uint32_t rows = lanes_rows(group->layout, number);
    if (number >= group->paid && lanes_move_narrow(group, number)) {
        if (group->paid + rows / 2 < number)
            group->paid = number - rows / 2;
        group->paid += rows / 4;
        return;
    }
    lanes_widen(group, number);
    lanes_fill_weights(lanes->decoder, group);
    group->paid = number + ((uint64_t)4 * rows << group->widened);
    group->widened += group->widened < 8;
}

static void try_narrow(const struct graph_lanes *lanes, struct lanes_group *group) {
    uint64_t number = lanes->number;
    if (number < group->paid)
        return;
    if (lanes_narrow(group, number))
        lanes_fill_weights(lanes->decoder, group);
    group->paid = number + (group->narrow ? 0 : lanes_rows(group->layout, number));
}

static void run(const struct graph_lanes *lanes, struct lanes_group *group, uint32_t count) {
    uint32_t at = 0;
    while (group->narrow && (at = lanes->run_narrow(group, at, count)) < count)
        move_or_widen(lanes, group, at);
    if (at < count)
        lanes->run(group, at, count);
}
#else
static void try_narrow(const struct graph_lanes *lanes, struct lanes_group *group) {
    (void)lanes;
    (void)group;
}

static void run(const struct graph_lanes *lanes, struct lanes_group *group, uint32_t count) {
    lanes->run(group, 0, count);
}
#endif

static void evaluate(struct graph_lanes *lanes, const struct graph_uop *uops, uint32_t count,
                     bool first) {
    for (uint32_t set = 0; set < 1u << lanes->categories.count; set++) {
        if (first) {
            lanes->total[set] += lanes->last[set];
            graph_evaluation_begin(lanes->evaluations[set]);
        }
        for (uint32_t i = 0; i < count; i++)
            lanes->last[set] = graph_evaluate(lanes->evaluations[set], &uops[i])->commit;
    }
}

void graph_lanes_add(struct graph_lanes *lanes, const struct graph_uop *uops, uint32_t count,
                     bool first) {
    if (!lanes->run) {
        evaluate(lanes, uops, count, first);
        return;
    }
    if (first)
        begin(lanes);
    while (count) {
        for (uint32_t i = 0; i < lanes->group_count; i++)
            if (lanes->run_narrow && !lanes->groups[i].narrow)
                try_narrow(lanes, &lanes->groups[i]);
        uint32_t made = lanes_decode(lanes->decoder, lanes->layouts, lanes->layout_count,
                                     lanes->groups, lanes->group_count, uops, count);
        for (uint32_t i = 0; i < lanes->group_count; i++)
            run(lanes, &lanes->groups[i], made);
        move_late(lanes);
        lanes->number += made;
        uops += made;
        count -= made;
    }
}

void graph_lanes_times(const struct graph_lanes *lanes, double *times) {
    for (uint32_t set = 0; !lanes->run && set < 1u << lanes->categories.count; set++)
        times[set] = (double)(lanes->total[set] + lanes->last[set]);
    for (uint32_t i = 0; i < lanes->group_count; i++) {
        const struct lanes_group *group = &lanes->groups[i];
        for (uint32_t lane = 0; lane < (group->free ? LANES_GROUP : LANES_BOUND); lane++)
            times[group->sets[lane]] =
                (double)(group->total[lane] + (lanes->number ? commit_of(group, lane) : 0));
    }
}
