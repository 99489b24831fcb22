/* Ideal cores, of a run by regions, were simulated with it. The rest in two rounds: what is told of
 * lines that move comes of a simulation that watches them, which is one of the first round; what
 * depends on it, and all causes at once, are the second. */
#include "study/thread_what_if.h"

#include <stdlib.h>
#include <string.h>

#include "simulate/course_balance.h"
#include "simulate/line_traffic.h"
#include "simulate/region_forks.h"
#include "simulate/together_variants.h"
#include "study/sharing_lines.h"
#include "study/study.h"
#include "util/array.h"
#include "util/jobs.h"
#include "util/order.h"

#define LEAST_SHARE 0.01 /* of the time: what may save less is not looked at */
#define LEAST_ALONE 0.03 /* likewise by a run of its own, where that is long */
enum { PLACES = 3 /* of locks */, CANDIDATES = 24 };

/* A cause to be simulated. */
struct candidate {
    struct thread_what_if what;
    double promise; /* about what it might save, as a share */
    struct together_variant variant;
};

struct search {
    struct watch *watch;
    const struct simulation_options *options;
    const struct simulation *simulation;
    const struct together_result *together;
    struct thread_what_ifs *result;
    struct machine unlimited; /* of memory's bandwidth */
    struct line_traffic *traffic;
    struct candidate candidates[CANDIDATES];
    size_t count;
    size_t begun; /* of them: simulated, or left out */
    size_t affordable;
    uint64_t instructions; /* of the rounds before */
};

static struct candidate *add(struct search *search, enum thread_what_if_kind kind, double promise) {
    struct candidate *candidate = &search->candidates[search->count++];
    *candidate = (struct candidate){.what = {.kind = (uint8_t)kind, .waiter = UINT32_MAX},
                                    .promise = promise};
    return candidate;
}

/* Share of all cycles that have one of these events; 0: those without any. */
static double share_of(const struct simulation *simulation, uint32_t events) {
    uint64_t some = 0, all = 0;
    for (uint64_t i = 0; i < simulation->cell_count; i++) {
        const struct pics_cell *cell = &simulation->cells[i];
        all += cell->units;
        if (events ? cell->psv & events : !cell->psv)
            some += cell->units;
    }
    return all ? (double)some / (double)all : 0;
}

static void tell(struct search *search, const struct thread_what_if *what) {
    struct thread_what_ifs *result = search->result;
    if (result->count < THREAD_WHAT_IFS)
        result->items[result->count++] = *what;
}

/* ---- locks ---- */

/* The locks that one place waits for. */
struct place {
    uint32_t waiter;
    uint64_t cycles;
};
ORDER(longest_first, struct place,
      descending(a->cycles, b->cycles) ?: ascending(a->waiter, b->waiter))

static bool add_locks(struct search *search, uint32_t waiter, double promise, struct error *error) {
    const struct together_result *together = search->together;
    struct candidate *candidate = add(search, WHAT_IF_LOCK, promise);
    struct lock_remedies *locks = &candidate->variant.locks;
    candidate->what.waiter = waiter;
    locks->open = malloc((together->wait_count + 1) * sizeof *locks->open);
    if (!locks->open)
        return error_set(error, "out of memory for locks");
    for (size_t i = 0; i < together->wait_count; i++) {
        const struct together_wait *wait = &together->waits[i];
        if (wait->reason == WAIT_FOR_LOCK && wait->waiter == waiter)
            locks->open[locks->open_count++] =
                (struct lock_remedy){.address = wait->address, .process = wait->process};
    }
    lock_remedies_sort(locks);
    size_t different = 0;
    for (size_t i = 0; i < locks->open_count; i++)
        different += !i || locks->open[i].address != locks->open[i - 1].address ||
                     locks->open[i].process != locks->open[i - 1].process;
    candidate->what.count = different;
    return true;
}

static bool find_locks(struct search *search, double coherence, struct error *error) {
    const struct together_result *together = search->together;
    struct place *places = calloc(together->wait_count + 1, sizeof *places);
    size_t count = 0;
    uint64_t all = 0;
    bool good = true;
    if (!places)
        return error_set(error, "out of memory for locks");
    for (size_t i = 0; i < together->wait_count; i++) {
        const struct together_wait *wait = &together->waits[i];
        if (wait->reason != WAIT_FOR_LOCK)
            continue;
        const size_t at = index_where(k, count, places[k].waiter == wait->waiter);
        places[at].waiter = wait->waiter;
        places[at].cycles += wait->cycles;
        count += at == count;
        all += wait->cycles;
    }
    if (count)
        qsort(places, count, sizeof *places, longest_first);
    const double elapsed = (double)together->cycles, least = LEAST_SHARE * elapsed;
    for (size_t i = 0; good && i < count && i < PLACES && (double)places[i].cycles >= least; i++)
        good = add_locks(search, places[i].waiter, (double)places[i].cycles / elapsed, error);
    if (good && count > 1 && (double)all >= least)
        add(search, WHAT_IF_LOCKS, (double)all / elapsed)->variant.locks.all_open = true;
    if (good && (count || coherence >= LEAST_SHARE))
        add(search, WHAT_IF_NO_LOCK, (double)all / elapsed + coherence / 2)
            ->variant.locks.all_gone = true;
    free(places);
    return good;
}

/* ---- the first round ---- */

/* Of a run by regions these were simulated with it. */
static bool know_ideal(struct search *search, uint32_t bit) {
    struct region_forks *forks = search->options->together->forks;
    struct thread_what_if what = {
        .kind = WHAT_IF_IDEAL, .ideal = (uint32_t)__builtin_ctz(bit), .waiter = UINT32_MAX};
    if (!forks || !region_forks_saving(forks, bit, &what.saved, &what.interval))
        return false;
    tell(search, &what);
    return true;
}

static void find_ideal(struct search *search, uint32_t bit, double promise) {
    if (promise < LEAST_SHARE || search->options->ideal & bit || know_ideal(search, bit))
        return;
    struct candidate *candidate = add(search, WHAT_IF_IDEAL, promise);
    candidate->variant.ideal = bit;
    candidate->what.ideal = (uint32_t)__builtin_ctz(bit);
}

struct region_forks *thread_what_ifs_fork(const struct simulation_options *options,
                                          size_t regions) {
    static const uint32_t CORES[] = {/* those that find_cores() looks at, in its order */
                                     IDEAL_DMISS, IDEAL_BMISP, IDEAL_IMISS, IDEAL_SHALU,
                                     IDEAL_LGALU, IDEAL_DL1,   IDEAL_BW,    IDEAL_WIN};
    enum { ALL = sizeof CORES / sizeof *CORES, EACH = 2 /* in a region */ };
    uint32_t ideals[ALL];
    size_t count = 0;
    for (size_t i = 0; i < ALL; i++)
        if (!(options->ideal & CORES[i]))
            ideals[count++] = CORES[i];
    return region_forks_new(ideals, count, EACH, regions, jobs_processors());
}

static void find_cores(struct search *search) {
    const struct simulation *simulation = search->simulation;
    const double computing = share_of(simulation, 0);
    find_ideal(search, IDEAL_DMISS, share_of(simulation, PSV_DATA_MISS | PSV_DR_SQ));
    find_ideal(search, IDEAL_BMISP, share_of(simulation, PSV_FL_MB));
    find_ideal(search, IDEAL_IMISS, share_of(simulation, PSV_DR_L1 | PSV_DR_TLB));
    find_ideal(search, IDEAL_SHALU, computing * 0.5);
    find_ideal(search, IDEAL_LGALU, computing * 0.4);
    find_ideal(search, IDEAL_DL1, computing * 0.3);
    find_ideal(search, IDEAL_BW, computing * 0.2);
    find_ideal(search, IDEAL_WIN, 0.2);
}

static bool find_first_round(struct search *search, struct error *error) {
    const struct simulation *simulation = search->simulation;
    const double coherence = share_of(simulation, PSV_ST_CO);
    const double memory = share_of(simulation, PSV_ST_LLC | PSV_DR_SQ);
    if (coherence >= LEAST_SHARE) {
        if (!(search->traffic = line_traffic_new(search->options->machine->l1d.line, error)))
            return false;
        add(search, WHAT_IF_PADDING, 2 * coherence)->variant.traffic = search->traffic;
    }
    if (!find_locks(search, coherence, error))
        return false;
    if (memory >= LEAST_SHARE && search->options->machine->dram.bandwidth > 0) {
        search->unlimited = *search->options->machine;
        search->unlimited.dram.bandwidth = 0;
        add(search, WHAT_IF_BANDWIDTH, memory)->variant.machine = &search->unlimited;
    }
    find_cores(search);
    return true;
}

ORDER(most_promising_first, struct candidate,
      descending(a->promise, b->promise) ?: ascending(a->what.kind, b->what.kind)
                                         ?: ascending(a->what.ideal, b->what.ideal))

/* ---- the second round ---- */

static bool add_lines(struct search *search, bool copies, struct error *error) {
    const struct line_traffic_sum sum = line_traffic_sum(search->traffic);
    const uint64_t cycles = sum_over(uint64_t, i, sum.count,
                                     sharing_fits(&sum.lines[i], copies) ? sum.lines[i].cycles : 0);
    if ((double)cycles < LEAST_SHARE * (double)search->simulation->cycles)
        return true;
    struct candidate *candidate =
        add(search, copies ? WHAT_IF_COPIES : WHAT_IF_PADDING, (double)cycles);
    struct line_remedies *lines = &candidate->variant.lines;
    lines->line_bytes = search->options->machine->l1d.line;
    if (!(lines->items = malloc((sum.count + 1) * sizeof *lines->items)))
        return error_set(error, "out of memory for lines");
    for (size_t i = 0; i < sum.count; i++)
        if (sharing_fits(&sum.lines[i], copies))
            sharing_add_line(lines, &sum.lines[i], copies);
    line_remedies_sort(lines);
    candidate->what.count = lines->count;
    return true;
}

static bool saves(const struct search *search, const struct candidate *candidate) {
    return candidate->variant.done && !candidate->variant.traffic &&
           (double)candidate->variant.cycles <=
               (1 - LEAST_SHARE) * (double)search->together->cycles;
}

/* All lines that fit a remedy, and locks and bandwidth if they save something. */
static bool add_all(struct search *search, size_t first_round, struct error *error) {
    struct together_variant all = {.machine = NULL};
    size_t causes = 0, lines = 0;
    for (size_t i = 0; i < search->count; i++)
        lines += search->candidates[i].variant.lines.count;
    for (size_t i = 0; i < first_round; i++) {
        const struct candidate *candidate = &search->candidates[i];
        if (!saves(search, candidate))
            continue;
        if (candidate->what.kind == WHAT_IF_NO_LOCK)
            all.locks.all_gone = true;
        else if (candidate->what.kind == WHAT_IF_BANDWIDTH)
            all.machine = &search->unlimited;
        else if (candidate->what.kind <= WHAT_IF_LOCKS)
            all.locks.all_open = true;
    }
    causes = (all.machine != NULL) + (all.locks.all_gone || all.locks.all_open) + (lines != 0);
    if (causes < 2)
        return true;
    if (lines && !(all.lines.items = malloc(lines * sizeof *all.lines.items)))
        return error_set(error, "out of memory for lines");
    all.lines.line_bytes = search->options->machine->l1d.line;
    for (size_t i = first_round; i < search->count; i++) {
        const struct line_remedies *from = &search->candidates[i].variant.lines;
        memcpy(all.lines.items + all.lines.count, from->items, from->count * sizeof *from->items);
        all.lines.count += from->count;
    }
    if (lines)
        line_remedies_sort(&all.lines);
    add(search, WHAT_IF_THREADS, 0)->variant = all;
    return true;
}

/* ---- both ---- */

/* Simulates the candidates that were added since the last time, as far as the run is short enough.
 */
static bool simulate(struct search *search, struct error *error) {
    struct together_variant variants[CANDIDATES];
    const size_t first = search->begun;
    size_t count = search->count - first;
    if (count > search->affordable) {
        search->result->left_out += count - search->affordable;
        count = search->affordable;
    }
    search->affordable -= count;
    search->begun = search->count;
    for (size_t i = 0; i < count; i++)
        variants[i] = search->candidates[first + i].variant;
    watch_begin(search->watch, "what if causes were gone", "instructions",
                count * search->simulation->executed);
    const bool good = together_variants_run(search->options, variants, count, error);
    watch_end(search->watch);
    for (size_t i = 0; i < count; i++)
        search->candidates[first + i].variant = variants[i];
    return good;
}

static void candidate_free(struct candidate *candidate) {
    free(candidate->variant.lines.items);
    free(candidate->variant.locks.open);
    together_variant_free(&candidate->variant);
}

static void leave_out_small(struct search *search) {
    while (search->count && search->candidates[search->count - 1].promise < LEAST_ALONE) {
        candidate_free(&search->candidates[--search->count]);
        search->result->left_out++;
    }
}

static bool simulate_all(struct search *search, struct error *error) {
    const uint64_t each = search->simulation->executed + 1 +
                          (uint64_t)THREAD_WHAT_IF_BEGUN * search->together->thread_count;
    search->affordable = THREAD_WHAT_IF_INSTRUCTIONS / each;
    if (search->affordable < THREAD_WHAT_IF_LEAST)
        search->affordable = THREAD_WHAT_IF_LEAST;
    if (!find_first_round(search, error))
        return false;
    qsort(search->candidates, search->count, sizeof *search->candidates, most_promising_first);
    if (search->options->together->forks)
        leave_out_small(search);
    const size_t first_round = search->count;
    /* Some are for what the first round brings to light. */
    const size_t kept = !search->traffic ? 0 : search->affordable < 8 ? 1 : 3;
    search->affordable -= kept;
    if (!simulate(search, error))
        return false;
    search->affordable += kept;
    if (search->traffic && line_traffic_failed(search->traffic))
        return error_set(error, "out of memory for lines");
    return (!search->traffic ||
            (add_lines(search, false, error) && add_lines(search, true, error))) &&
           add_all(search, first_round, error) && simulate(search, error);
}

/* ---- the result ---- */

static void reckon(struct search *search, enum thread_what_if_kind kind, double saved) {
    const double elapsed = (double)search->together->cycles;
    if (saved > 0)
        tell(search, &(struct thread_what_if){.kind = (uint8_t)kind,
                                              .reckoned = true,
                                              .waiter = UINT32_MAX,
                                              .saved = saved / elapsed});
}

static void reckon_all(struct search *search) {
    const struct together_result *together = search->together;
    const uint32_t demand = course_demand(together->counts);
    const uint32_t cores = demand < together->cores ? demand : together->cores;
    reckon(search, WHAT_IF_BARRIER, course_balance_saves(together->counts, cores, COURSE_BARRIER));
    reckon(search, WHAT_IF_EVENT, course_balance_saves(together->counts, cores, COURSE_EVENT));
    reckon(search, WHAT_IF_SERIAL, course_spread_saves(together->counts, cores));
}

ORDER(largest_first, struct thread_what_if,
      descending(a->saved, b->saved)
      ?: ascending(a->kind, b->kind)
      ?: ascending(a->ideal, b->ideal))

/* What is more than another remedy of the same cause, or more at once, is only told if it saves
 * more than that. */
static bool adds_nothing(const struct thread_what_ifs *result, const struct thread_what_if *what) {
    const enum thread_what_if_kind kind = what->kind;
    if (kind != WHAT_IF_LOCKS && kind != WHAT_IF_NO_LOCK && kind != WHAT_IF_THREADS)
        return false;
    for (size_t i = 0; i < result->count; i++) {
        const struct thread_what_if *other = &result->items[i];
        const bool part = kind == WHAT_IF_THREADS ? !other->reckoned : other->kind < kind;
        if (other != what && other->kind != WHAT_IF_IDEAL && part &&
            other->saved + LEAST_SHARE > what->saved)
            return true;
    }
    return false;
}

static void leave_out_repeated(struct thread_what_ifs *result) {
    struct thread_what_ifs kept = *result;
    kept.count = 0;
    for (size_t i = 0; i < result->count; i++)
        if (!adds_nothing(result, &result->items[i]))
            kept.items[kept.count++] = result->items[i];
    *result = kept;
}

static void tell_all(struct search *search) {
    struct thread_what_ifs *result = search->result;
    const double elapsed = (double)search->together->cycles;
    for (size_t i = 0; i < search->count; i++) {
        struct candidate *candidate = &search->candidates[i];
        if (!candidate->variant.done || candidate->variant.traffic)
            continue;
        candidate->what.saved = 1 - (double)candidate->variant.cycles / elapsed;
        tell(search, &candidate->what);
    }
    reckon_all(search);
    leave_out_repeated(result);
    if (result->count)
        qsort(result->items, result->count, sizeof *result->items, largest_first);
}

bool thread_what_ifs_find(struct watch *watch, const struct simulation_options *options,
                          const struct simulation *simulation, struct thread_what_ifs *result,
                          struct error *error) {
    struct search *search = calloc(1, sizeof *search);
    *result = (struct thread_what_ifs){.count = 0};
    if (!search)
        return error_set(error, "out of memory");
    *search = (struct search){.watch = watch,
                              .options = options,
                              .simulation = simulation,
                              .together = &simulation->together,
                              .result = result};
    bool good = true;
    if (simulation->together.done && !simulation->interrupted && simulation->together.cycles) {
        good = simulate_all(search, error);
        result->interrupted = watch->signal != 0;
        if (good)
            tell_all(search);
    }
    for (size_t i = 0; i < search->count; i++)
        candidate_free(&search->candidates[i]);
    line_traffic_free(search->traffic);
    free(search);
    return good;
}
