/* The reading of a breakdown in plain words: what removing the costliest causes gains, which pairs
 * are in series and which overlap, and what that means for whoever wants the program faster
 * (§2.2). */
#include <math.h>
#include <stdlib.h>

#include "report/breakdown_report.h"
#include "util/text.h"

enum { PAIRS_TOLD = 2 }; /* of each kind */

struct reading {
    const struct breakdown_report *report;
    const struct breakdown *breakdown;
    struct report *to;
};

static double share_saved(const struct reading *reading, uint32_t set) {
    return breakdown_cost(reading->breakdown, set) / reading->breakdown->cycles[0];
}

static struct text saved(const struct reading *reading, uint32_t set) {
    return text_percent(share_saved(reading, set), 1);
}

static const char *first_of(const struct reading *reading, uint32_t set) {
    return reading->breakdown->names[__builtin_ctz(set)];
}

static const char *second_of(const struct reading *reading, uint32_t set) {
    return reading->breakdown->names[31 - __builtin_clz(set)];
}

static struct text times_as_fast(const struct reading *reading, uint32_t set) {
    return text_quantity(reading->breakdown->cycles[0] / reading->breakdown->cycles[set]);
}

/* Whether it is more than the zero that it would be printed as. */
static bool saves(const struct reading *reading, uint32_t set) {
    return share_saved(reading, set) >= 0.0005;
}

static bool tell_costliest(const struct reading *reading, const uint32_t *pairs, uint32_t count) {
    const struct breakdown *breakdown = reading->breakdown;
    uint32_t best = 1, best_pair = 0;
    for (uint32_t i = 1; i < breakdown->count; i++)
        if (breakdown->cycles[1u << i] < breakdown->cycles[best])
            best = 1u << i;
    for (uint32_t i = 0; i < count; i++)
        if (!best_pair || breakdown->cycles[pairs[i]] < breakdown->cycles[best_pair])
            best_pair = pairs[i];
    bool good = saves(reading, best)
                    ? report_note(reading->to,
                                  "%s costs most: without it the run takes %s %% less time, "
                                  "%s times as fast",
                                  first_of(reading, best), saved(reading, best).s,
                                  times_as_fast(reading, best).s)
                    : report_note(reading->to, "removing any one of the causes saves nothing");
    bool all = count == breakdown->count * (breakdown->count - 1) / 2;
    return good && (!best_pair || !all || !saves(reading, best_pair) ||
                    report_note(reading->to,
                                "the best two to remove together are %s and %s: %s %% less time, "
                                "%s times as fast",
                                first_of(reading, best_pair), second_of(reading, best_pair),
                                saved(reading, best_pair).s, times_as_fast(reading, best_pair).s));
}

/* "a and b KIND (SHARE %): alone they save X and Y %, together Z %. SHARE % ENDING" */
static bool tell_pair(const struct reading *reading, uint32_t pair, const char *kind,
                      const char *ending) {
    uint32_t first = 1u << __builtin_ctz(pair), second = pair ^ first;
    double share = breakdown_share(reading->breakdown, pair);
    return report_note(
        reading->to,
        "%s and %s %s (%s%s %%): alone they save %s and %s %%, together %s %%. %s %% %s",
        first_of(reading, pair), second_of(reading, pair), kind, share > 0 ? "+" : "",
        text_percent(share, 1).s, saved(reading, first).s, saved(reading, second).s,
        saved(reading, pair).s, text_percent(fabs(share), 1).s, ending);
}

/* The costliest two that hardly touch each other. */
static bool tell_independent(const struct reading *reading, const uint32_t *pairs, uint32_t count) {
    double threshold = reading->report->threshold, most = threshold;
    uint32_t best = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t first = 1u << __builtin_ctz(pairs[i]);
        double less = fmin(share_saved(reading, first), share_saved(reading, pairs[i] ^ first));
        if (less > most && fabs(breakdown_share(reading->breakdown, pairs[i])) < threshold / 2) {
            most = less;
            best = pairs[i];
        }
    }
    return !best || report_note(reading->to,
                                "%s and %s are independent (%s %%): each saves its own, whatever "
                                "becomes of the other",
                                first_of(reading, best), second_of(reading, best),
                                text_percent(breakdown_share(reading->breakdown, best), 1).s);
}

static bool tell_pairs(const struct reading *reading, const uint32_t *pairs, uint32_t count) {
    uint32_t serial = 0, parallel = 0;
    bool good = true;
    for (uint32_t i = 0; i < count; i++) {
        double share = breakdown_share(reading->breakdown, pairs[i]);
        if (fabs(share) < reading->report->threshold)
            break; /* the largest come first */
        if (share < 0 && serial++ < PAIRS_TOLD)
            good &= tell_pair(reading, pairs[i], "are in series",
                              "are the same cycles, which removing either removes: begin with the "
                              "one that is easier to remove");
        if (share > 0 && parallel++ < PAIRS_TOLD)
            good &= tell_pair(reading, pairs[i], "overlap",
                              "go only when both are removed: neither shows its worth alone");
    }
    if (count && !serial && !parallel)
        good &= report_note(reading->to,
                            "no pair measured interacts by %s %% of the time: each cause can be "
                            "judged by its own cost",
                            text_percent(reading->report->threshold, 1).s);
    return good && tell_independent(reading, pairs, count);
}

/* The reference where it has all single causes. */
static const struct breakdown *breakdown_to_read(const struct breakdown_program *program) {
    const struct breakdown *reference = program->ways[WAY_MULTISIM];
    for (uint32_t i = 0; reference && i < reference->count; i++)
        if (isnan(reference->cycles[1u << i]))
            reference = NULL;
    return reference ? reference : breakdown_shown(program);
}

bool breakdown_read(const struct breakdown_report *report, const struct breakdown_program *program,
                    struct report *to) {
    const struct reading reading = {report, breakdown_to_read(program), to};
    uint32_t sets = breakdown_sets(reading.breakdown);
    double *icosts = calloc(sets, sizeof *icosts);
    uint32_t *pairs = calloc(sets, sizeof *pairs);
    bool good = icosts && pairs;
    if (good) {
        breakdown_icosts(reading.breakdown, icosts);
        uint32_t count = breakdown_rank(reading.breakdown, icosts, 2, 2, pairs);
        good = tell_costliest(&reading, pairs, count) && tell_pairs(&reading, pairs, count);
    }
    free(icosts);
    free(pairs);
    return good;
}
