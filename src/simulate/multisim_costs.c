/* A ratio is of weighted sums; its error is told by differences of neighbours, whose variance is
 * twice that of each. */
#include "simulate/multisim_costs.h"

#include <math.h>
#include <string.h>

#include "core/core.h"
#include "tap/tap.h"

void multisim_sums_add(struct multisim_sums *sums, struct multisim_weighted *before, double weight,
                       double all, double save) {
    const struct multisim_weighted now = {weight * all, weight * save};
    const bool first = before->cycles == 0 && before->saved == 0;
    const double cycles = now.cycles - before->cycles, saved = now.saved - before->saved;
    /* It stands for itself once; the variance of a difference is twice that of each. */
    const double part = fmax(0, 1 - 1 / weight) / (first ? 1 : 2);
    sums->cycles += now.cycles;
    sums->saved += now.saved;
    sums->cycles_squared += part * cycles * cycles;
    sums->cycles_saved += part * cycles * saved;
    sums->saved_squared += part * saved * saved;
    *before = now;
}

void sampled_multisim_sum(struct sampled_multisim_result *sum,
                          const struct sampled_multisim_result *more) {
    sum->cells += more->cells;
    sum->instructions += more->instructions;
    double *to = (double *)sum->costs;
    const double *from = (const double *)more->costs;
    for (size_t i = 0; i < sizeof sum->costs / sizeof *to; i++)
        to[i] += from[i];
}

/* ---- costs ---- */

uint32_t multisim_events(uint32_t category) {
    switch (1u << category) {
    case IDEAL_IMISS:
        return PSV_DR_L1 | PSV_DR_TLB;
    case IDEAL_DMISS:
        return PSV_DATA_MISS | PSV_DR_SQ;
    case IDEAL_BMISP:
        return PSV_FL_MB;
    case IDEAL_STFWD:
        return PSV_ST_FW;
    default:
        return 0;
    }
}

struct multisim_run_cycles multisim_run_cycles(const struct pics_cell *cells, uint64_t count) {
    struct multisim_run_cycles cycles = {0};
    for (uint64_t i = 0; i < count; i++) {
        const double more = (double)cells[i].units / CYCLE_UNITS;
        cycles.all += more;
        for (uint32_t category = 0; category < MULTISIM_CATEGORIES; category++) {
            const uint32_t events = multisim_events(category);
            if (events ? cells[i].psv & events : !cells[i].psv)
                cycles.events[category] += more;
        }
    }
    return cycles;
}

/* Number of the cost of a category or a pair. */
static uint32_t cost_of(uint32_t set) {
    uint32_t a = (uint32_t)__builtin_ctz(set), b = 31 - (uint32_t)__builtin_clz(set);
    if (a == b)
        return a;
    return MULTISIM_CATEGORIES + a * (2 * MULTISIM_CATEGORIES - a - 1) / 2 + (b - a - 1);
}

/* By sums of x and s, and x of the whole run. The variance is that of s − r x, of one cell less
 * that of the one before, for a ratio r. NAN: nothing is known. */
static struct multisim_cost estimate(const struct multisim_sums *sums, double cycles, double all) {
    if (!(sums->cycles > 0) || !(all > 0))
        return (struct multisim_cost){NAN, NAN};
    const double r = sums->saved / sums->cycles, scale = cycles / sums->cycles / all;
    const double residuals =
        sums->saved_squared - 2 * r * sums->cycles_saved + r * r * sums->cycles_squared;
    return (struct multisim_cost){r * cycles / all, 1.96 * sqrt(fmax(0, residuals)) * scale};
}

struct multisim_cost sampled_multisim_icost(const struct sampled_multisim_result *result,
                                            const struct multisim_run_cycles *run, uint32_t pair) {
    return estimate(&result->costs[cost_of(pair)][MULTISIM_TO_ALL], run->all, run->all);
}

struct multisim_cost sampled_multisim_split(const struct sampled_multisim_result *result,
                                            const struct multisim_run_cycles *run) {
    return estimate(&result->costs[MULTISIM_SPLIT][MULTISIM_TO_ALL], run->all, run->all);
}

static struct multisim_cost single(const struct sampled_multisim_result *result,
                                   const struct multisim_run_cycles *run, uint32_t category) {
    const struct multisim_sums *sums = result->costs[category];
    const struct multisim_cost to_all = estimate(&sums[MULTISIM_TO_ALL], run->all, run->all);
    const struct multisim_cost to_events =
        estimate(&sums[MULTISIM_TO_EVENTS], run->events[category], run->all);
    return to_events.half_interval < to_all.half_interval ? to_events : to_all;
}

struct multisim_cost sampled_multisim_cost(const struct sampled_multisim_result *result,
                                           const struct multisim_run_cycles *run, uint32_t set) {
    const uint32_t a = (uint32_t)__builtin_ctz(set), b = 31 - (uint32_t)__builtin_clz(set);
    const struct multisim_cost one = single(result, run, a);
    if (a == b)
        return one;
    const struct multisim_cost other = single(result, run, b);
    const struct multisim_cost both = sampled_multisim_icost(result, run, set);
    return (struct multisim_cost){one.share + other.share + both.share,
                                  sqrt(one.half_interval * one.half_interval +
                                       other.half_interval * other.half_interval +
                                       both.half_interval * both.half_interval)};
}

bool sampled_multisim_breakdown(const struct sampled_multisim_result *result,
                                const struct multisim_run_cycles *run, struct breakdown *breakdown,
                                struct error *error) {
    const char *names[MULTISIM_CATEGORIES];
    memset(breakdown, 0, sizeof *breakdown);
    if (!result->cells || !(run->all > 0))
        return true;
    for (uint32_t i = 0; i < MULTISIM_CATEGORIES; i++)
        names[i] = ideal_name(i);
    if (!breakdown_init(breakdown, MULTISIM_CATEGORIES, names, error))
        return false;
    breakdown->instructions = result->instructions;
    breakdown->cycles[0] = run->all;
    for (uint32_t a = 0; a < MULTISIM_CATEGORIES; a++)
        for (uint32_t b = a; b < MULTISIM_CATEGORIES; b++) {
            const uint32_t set = 1u << a | 1u << b;
            breakdown->cycles[set] = run->all * (1 - sampled_multisim_cost(result, run, set).share);
        }
    return true;
}
