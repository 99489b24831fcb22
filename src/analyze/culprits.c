/* For each instruction that stalls, everything that can run before it or feed it is a candidate for
 * the causes that suspects.h leaves, bounded by how often it ran. Candidates that explain next to
 * nothing are dropped; the others share the stall. */
#include "analyze/culprits.h"

#include <math.h>
#include <string.h>

#include "analyze/costs.h"
#include "analyze/suspects.h"
#include "util/array.h"
#include "util/order.h"

/* What explains less than this part of the stall is no culprit. */
static const double NEGLIGIBLE = 1.0 / 20;
/* Cycles within so many standard deviations are as expected. */
static const double DEVIATIONS = 2;

/* ---- what the code leaves ---- */

static uint32_t possible_of(const struct cfg *cfg, const struct machine *machine,
                            const struct feeding *feeding, uint32_t insn) {
    uint32_t causes = suspects_itself(cfg, machine, insn, feeding->outstanding[insn]);
    for (uint32_t i = 0; i < before_count(cfg, insn); i++) {
        struct before before = before_at(cfg, insn, i);
        causes |= suspects_before(cfg, machine, &before);
    }
    for (size_t i = feeding->first[insn]; i < feeding->first[insn + 1]; i++)
        causes |= suspects_fed(machine, feeding->feeds[i].kind);
    return causes;
}

bool culprits_possible(const struct cfg *cfg, const struct machine *machine, uint32_t *causes,
                       struct error *error) {
    struct feeding feeding;
    bool good = feeding_find(&feeding, cfg, machine, error);
    if (good)
        for (uint32_t insn = 0; insn < cfg->insn_count; insn++)
            causes[insn] = possible_of(cfg, machine, &feeding, insn);
    feeding_free(&feeding);
    return good;
}

/* ---- how often ---- */

struct search {
    const struct cfg *cfg;
    const struct machine *machine;
    const struct schedule *schedule;
    const struct frequency *frequency;
    const uint32_t *possible;
    const struct procedure_samples *samples;
    struct costs costs;
    struct feeding feeding;
    double entered;  /* times that control came from outside */
    double anywhere; /* times of indirect jumps that may lead anywhere */
    struct culprits *culprits;
    size_t capacity;
    double most[STALL_CAUSES]; /* of the instruction looked at: what each cause explains at most,
                                  whether its culprits stay in the list or not */
    bool failed;               /* out of memory */
};

/* INFINITY: not known. */
static double times_of(const struct frequency_estimate *estimate) {
    return estimate->source == ESTIMATE_NONE && estimate->executions == 0 ? INFINITY
                                                                          : estimate->executions;
}

static double times_of_insn(const struct search *search, uint32_t insn) {
    return times_of(&search->frequency->blocks[search->cfg->insns[insn].block]);
}

/* An edge is taken no more often than the blocks at its ends are executed. */
static double times_of_edge(const struct search *search, uint32_t number) {
    const struct cfg_edge *edge = &search->cfg->edges[number];
    double times = times_of(&search->frequency->edges[number]);
    if (edge->from != CFG_NONE)
        times = fmin(times, times_of(&search->frequency->blocks[edge->from]));
    if (edge->to != CFG_NONE)
        times = fmin(times, times_of(&search->frequency->blocks[edge->to]));
    return times;
}

static double times_before(const struct search *search, uint32_t insn,
                           const struct before *before) {
    if (before->kind == BEFORE_JUMP)
        return fmin(search->anywhere, times_of_insn(search, insn));
    return before->edge == CFG_NONE ? times_of_insn(search, insn)
                                    : times_of_edge(search, before->edge);
}

static double times_fed(const struct search *search, const struct feed *feed) {
    double times = times_of_insn(search, feed->insn);
    if (feed->maker == FEED_CALLER)
        return fmin(times, search->entered);
    if (feed->maker == FEED_SEVERAL)
        return times;
    return fmin(times, times_of_insn(search, feed->maker));
}

/* No more often than events were counted at the instruction that has them. */
static double limit(const struct search *search, double times, enum stall_event event,
                    uint32_t insn) {
    const double *events = search->samples->events[event];
    return events ? fmin(times, events[search->cfg->insns[insn].offset]) : times;
}

static void count_ways_in(struct search *search) {
    const struct cfg *cfg = search->cfg;
    for (uint32_t i = cfg->edge_count - cfg->outer_count; i < cfg->edge_count; i++)
        search->entered += times_of_edge(search, i);
    for (uint32_t i = 0; i < cfg->block_count; i++)
        if (block_jumps_anywhere(cfg, i))
            search->anywhere += times_of(&search->frequency->blocks[i]);
}

/* ---- candidates ---- */

static void add(struct search *search, uint32_t insn, enum stall_cause cause, uint32_t blamed,
                double most) {
    struct culprits *culprits = search->culprits;
    if (!(search->possible[insn] & UINT32_C(1) << cause))
        return;
    if (!array_room(culprits->list, search->capacity, culprits->count + 1)) {
        search->failed = true;
        return;
    }
    culprits->list[culprits->count++] = (struct culprit){insn, (uint8_t)cause, blamed, most};
}

/* How often the instruction's own line and page may have been evicted. */
struct fetches {
    double lines, pages;
};

static void add_fetches(struct search *search, uint32_t insn, const struct fetches *fetches) {
    double times = times_of_insn(search, insn);
    add(search, insn, STALL_IMISS, CFG_NONE,
        limit(search, fmin(fetches->lines, times), EVENT_IMISS, insn) * search->costs.fill);
    add(search, insn, STALL_ITLB, CFG_NONE,
        limit(search, fmin(fetches->pages, times), EVENT_ITLB, insn) * search->costs.walk);
}

static void add_mispredict(struct search *search, uint32_t insn, const struct before *before,
                           double times) {
    uint32_t branch = before->kind == BEFORE_INSN ? before->insn : CFG_NONE;
    if (branch != CFG_NONE)
        times = limit(search, times, EVENT_MISPREDICT, branch);
    add(search, insn, STALL_MISPREDICT, branch, times * search->costs.mispredict);
}

static void add_before(struct search *search, uint32_t insn, const struct before *before) {
    uint32_t causes = suspects_before(search->cfg, search->machine, before);
    double times = times_before(search, insn, before);
    if (causes & 1U << STALL_MISPREDICT)
        add_mispredict(search, insn, before, times);
    if (causes & 1U << STALL_SYNCHRONISATION)
        add(search, insn, STALL_SYNCHRONISATION, before->insn, INFINITY);
}

static void add_access(struct search *search, uint32_t insn, uint32_t causes, uint32_t blamed,
                       double times) {
    double misses = times, walks = times;
    if (blamed != CFG_NONE) {
        misses = limit(search, times, EVENT_DMISS, blamed);
        walks = limit(search, times, EVENT_DTLB, blamed);
    }
    if (causes & 1U << STALL_DMISS)
        add(search, insn, STALL_DMISS, blamed, misses * search->costs.fill);
    if (causes & 1U << STALL_DTLB)
        add(search, insn, STALL_DTLB, blamed, walks * search->costs.walk);
}

static void add_itself(struct search *search, uint32_t insn) {
    uint32_t causes =
        suspects_itself(search->cfg, search->machine, insn, search->feeding.outstanding[insn]);
    double times = times_of_insn(search, insn);
    add_access(search, insn, causes, insn, times);
    if (causes & 1U << STALL_MISS_REGISTERS)
        add(search, insn, STALL_MISS_REGISTERS, CFG_NONE, times * search->costs.fill);
    if (causes & 1U << STALL_WRITE_BUFFER)
        add(search, insn, STALL_WRITE_BUFFER, CFG_NONE, INFINITY);
    if (causes & 1U << STALL_SYNCHRONISATION)
        add(search, insn, STALL_SYNCHRONISATION, CFG_NONE, INFINITY);
}

/* An instruction of a callee is not in the graph. */
static uint32_t blamed_for(const struct cfg *cfg, const struct feed *feed) {
    return feed->maker < cfg->insn_count && !insn_calls(&cfg->insns[feed->maker].insn) ? feed->maker
                                                                                       : CFG_NONE;
}

static void add_fed(struct search *search, const struct feed *feed, struct fetches *fetches) {
    uint32_t blamed = blamed_for(search->cfg, feed);
    double times = times_fed(search, feed);
    switch ((enum feed_kind)feed->kind) {
    case FEED_LINE:
        fetches->lines += times;
        break;
    case FEED_PAGE:
        fetches->pages += times;
        break;
    case FEED_UNIT:
        add(search, feed->insn, STALL_UNIT, CFG_NONE, times * search->costs.unit);
        break;
    case FEED_LOAD:
        add_access(search, feed->insn, suspects_fed(search->machine, FEED_LOAD), blamed, times);
    }
}

/* ---- those that are left ---- */

ORDER(compare, struct culprit, ascending(a->cause, b->cause) ?: ascending(a->blamed, b->blamed))

/* Merges candidates into one for each cause and instruction to blame. */
static void merge(struct culprits *culprits, size_t first) {
    size_t kept = first;
    for (size_t i = first; i < culprits->count; i++) {
        struct culprit *last = kept > first ? &culprits->list[kept - 1] : NULL;
        if (last && compare(last, &culprits->list[i]) == 0)
            last->most += culprits->list[i].most;
        else
            culprits->list[kept++] = culprits->list[i];
    }
    culprits->count = kept;
}

/* Bounds what each cause can explain, whichever instruction is to blame. */
static void bound_causes(const struct culprits *culprits, size_t first, double most[STALL_CAUSES]) {
    memset(most, 0, STALL_CAUSES * sizeof *most);
    for (size_t i = first; i < culprits->count; i++)
        most[culprits->list[i].cause] += culprits->list[i].most;
}

/* Whether any candidate of the cause explains enough alone. If only many together do, all stay. */
static bool any_alone(const struct culprits *culprits, size_t first, uint8_t cause, double enough) {
    for (size_t i = first; i < culprits->count; i++)
        if (culprits->list[i].cause == cause && culprits->list[i].most >= enough)
            return true;
    return false;
}

static void eliminate(struct culprits *culprits, size_t first, double stall,
                      const double most[STALL_CAUSES]) {
    double enough = stall * NEGLIGIBLE;
    uint32_t alone = 0;
    size_t kept = first;
    for (unsigned cause = 0; cause < STALL_CAUSES; cause++)
        alone |= any_alone(culprits, first, cause, enough) ? UINT32_C(1) << cause : 0;
    for (size_t i = first; i < culprits->count; i++) {
        struct culprit it = culprits->list[i];
        if (it.most >= enough || (most[it.cause] >= enough && !(alone & UINT32_C(1) << it.cause)))
            culprits->list[kept++] = it;
    }
    culprits->count = kept;
}

static void find_culprits(struct search *search, uint32_t insn, double stall) {
    struct culprits *culprits = search->culprits;
    size_t first = culprits->count;
    struct fetches fetches = {0};
    add_itself(search, insn);
    for (uint32_t i = 0; i < before_count(search->cfg, insn); i++) {
        struct before before = before_at(search->cfg, insn, i);
        add_before(search, insn, &before);
    }
    for (size_t i = search->feeding.first[insn]; i < search->feeding.first[insn + 1]; i++)
        add_fed(search, &search->feeding.feeds[i], &fetches);
    add_fetches(search, insn, &fetches);
    if (culprits->count > first)
        qsort(culprits->list + first, culprits->count - first, sizeof *culprits->list, compare);
    merge(culprits, first);
    bound_causes(culprits, first, search->most);
    eliminate(culprits, first, stall, search->most);
}

/* ---- an instruction's cycles ---- */

static struct insn_stall split_cycles(const struct search *search, uint32_t insn) {
    const struct procedure_samples *samples = search->samples;
    double cycles = samples->cycles[search->cfg->insns[insn].offset];
    double m = search->schedule->cycles[insn], times = times_of_insn(search, insn);
    times = isinf(times) ? 0 : times;
    struct insn_stall stall = {
        .executed = times * fmin(m, 1),
        .static_stall = times * fmax(m - 1, 0),
    };
    double expected = stall.executed + stall.static_stall, beyond = cycles - expected;
    double error = samples->period > 1 ? DEVIATIONS * sqrt(fmax(cycles, expected) * samples->period)
                                       : 1e-9 * expected;
    if (beyond > error)
        stall.stall = beyond;
    else if (beyond < -error)
        stall.gain = -beyond;
    else
        stall.error = beyond;
    return stall;
}

/* ---- the summary ---- */

/* Sums the static stalls of an instruction by cause, as far as its M is above 1. */
static void sum_static(const struct search *search, const size_t *at, size_t end, double cycles,
                       struct stall_summary *summary) {
    double all = 0;
    for (size_t i = *at; i < end; i++)
        all += search->schedule->stalls[i].cycles;
    if (all <= 0)
        summary->static_stalls[STALL_NONE] += cycles;
    else
        for (size_t i = *at; i < end; i++)
            summary->static_stalls[search->schedule->stalls[i].cause] +=
                cycles * search->schedule->stalls[i].cycles / all;
}

/* Divides a stall among its causes, including causes whose culprits explain too little to be
 * listed: otherwise the ranges would not contain what those do explain. */
static void sum_dynamic(const struct search *search, double stall, struct stall_summary *summary) {
    double most[STALL_CAUSES], all = 0;
    if (!(stall > 0))
        return;
    for (unsigned cause = 0; cause < STALL_CAUSES; cause++) {
        most[cause] = fmin(search->most[cause], stall);
        all += most[cause];
    }
    for (unsigned cause = 0; cause < STALL_CAUSES; cause++) {
        double others = all - most[cause];
        summary->dynamic[cause].most += most[cause];
        summary->dynamic[cause].least += fmin(most[cause], fmax(stall - others, 0));
    }
    double explained = fmin(all, stall);
    summary->explained += explained;
    summary->unexplained_stall += stall - explained;
}

static void sum_insn(const struct search *search, uint32_t insn, size_t *static_at) {
    struct culprits *culprits = search->culprits;
    const struct insn_stall *it = &culprits->insns[insn];
    const struct schedule *schedule = search->schedule;
    struct stall_summary *summary = &culprits->summary;
    size_t end = *static_at;
    while (end < schedule->stall_count && schedule->stalls[end].insn == insn)
        end++;
    sum_static(search, static_at, end, it->static_stall, summary);
    *static_at = end;
    sum_dynamic(search, it->stall, summary);
    summary->total += search->samples->cycles[search->cfg->insns[insn].offset];
    summary->execution += it->executed;
    summary->unexplained_gain += it->gain;
    summary->sampling_error += it->error;
}

/* ---- the whole ---- */

static bool find(struct search *search, struct error *error) {
    const struct cfg *cfg = search->cfg;
    struct culprits *culprits = search->culprits;
    culprits->first = calloc((size_t)cfg->insn_count + 1, sizeof *culprits->first);
    culprits->insns = calloc(cfg->insn_count, sizeof *culprits->insns);
    if (!culprits->first || !culprits->insns)
        return error_set(error, "out of memory for the culprits of %u instructions",
                         cfg->insn_count);
    if (!feeding_find(&search->feeding, cfg, search->machine, error))
        return false;
    count_ways_in(search);
    size_t static_at = 0;
    for (uint32_t insn = 0; insn < cfg->insn_count; insn++) {
        struct insn_stall *stall = &culprits->insns[insn];
        *stall = split_cycles(search, insn);
        culprits->first[insn] = (uint32_t)culprits->count;
        if (stall->stall > 0)
            find_culprits(search, insn, stall->stall);
        if (search->failed)
            return error_set(error, "out of memory for %zu culprits", culprits->count);
        stall->explained = culprits->count > culprits->first[insn];
        sum_insn(search, insn, &static_at);
    }
    culprits->first[cfg->insn_count] = (uint32_t)culprits->count;
    return true;
}

bool culprits_find(struct culprits *culprits, const struct cfg *cfg, const struct machine *machine,
                   const struct schedule *schedule, const struct frequency *frequency,
                   const uint32_t *possible, const struct procedure_samples *samples,
                   struct error *error) {
    *culprits = (struct culprits){0};
    struct search search = {
        .cfg = cfg,
        .machine = machine,
        .schedule = schedule,
        .frequency = frequency,
        .possible = possible,
        .samples = samples,
        .costs = costs_of(machine),
        .culprits = culprits,
    };
    bool good = find(&search, error);
    feeding_free(&search.feeding);
    return good;
}

void culprits_free(struct culprits *culprits) {
    free(culprits->list);
    free(culprits->first);
    free(culprits->insns);
    *culprits = (struct culprits){0};
}
