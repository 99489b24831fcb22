/* The reading of a breakdown in plain words: what removing the costliest causes gains, which pairs
 * are in series and which overlap, and what that means for whoever wants the program faster
 * (interaction-cost paper §2.2). */
#include <math.h>
#include <stdlib.h>

#include "report/breakdown_report.h"
#include "util/text.h"

enum { PAIRS_TOLD = 2 }; /* of each kind */

struct reading {
    const struct breakdown_report *report;
    const struct breakdown_program *program;
    const struct breakdown *shown;
    struct report *to;
    uint32_t pairs; /* in `ranked`, the largest first */
    uint32_t *ranked;
    double *shares; /* of all sets; of pairs only */
};

static double share_saved(const struct reading *reading, uint32_t set) {
    const struct breakdown *source = breakdown_source(reading->program, set);
    return breakdown_cost(source, set) / source->cycles[0];
}

static struct text saved(const struct reading *reading, uint32_t set) {
    return text_percent(share_saved(reading, set), 1);
}

static const char *first_of(const struct reading *reading, uint32_t set) {
    return reading->shown->names[__builtin_ctz(set)];
}

static const char *second_of(const struct reading *reading, uint32_t set) {
    return reading->shown->names[31 - __builtin_clz(set)];
}

static struct text times_as_fast(const struct reading *reading, uint32_t set) {
    const struct breakdown *source = breakdown_source(reading->program, set);
    return text_quantity(source->cycles[0] / source->cycles[set]);
}

/* Whether it is more than the zero that it would be printed as. */
static bool saves(const struct reading *reading, uint32_t set) {
    return share_saved(reading, set) >= 0.0005;
}

/* What is said of a set that multisim was asked for and did not simulate. */
static const char *by_graph(const struct reading *reading, uint32_t set) {
    const struct breakdown_program *program = reading->program;
    bool simulated = breakdown_source(program, set) == program->ways[WAY_MULTISIM];
    return program->ways[WAY_MULTISIM] && !simulated ? ", by the graph alone" : "";
}

static bool tell_costliest(const struct reading *reading) {
    uint32_t best = 1, best_pair = 0, count = reading->shown->count;
    bool all = reading->pairs == count * (count - 1) / 2;
    for (uint32_t i = 1; i < count; i++)
        if (share_saved(reading, 1u << i) > share_saved(reading, best))
            best = 1u << i;
    for (uint32_t i = 0; i < reading->pairs; i++) {
        uint32_t pair = reading->ranked[i];
        all &= breakdown_trusted(reading->program, pair, reading->report->threshold);
        if (!best_pair || share_saved(reading, pair) > share_saved(reading, best_pair))
            best_pair = pair;
    }
    bool changed = reading->report->changed & best;
    bool good =
        saves(reading, best)
            ? report_note(reading->to, "%s %s the run takes %s %% less time, %s times as fast%s",
                          first_of(reading, best),
                          changed ? "saves most: with this change" : "costs most: without it",
                          saved(reading, best).s, times_as_fast(reading, best).s,
                          by_graph(reading, best))
            : report_note(reading->to, reading->report->changed
                                           ? "no one of the changes saves anything"
                                           : "removing any one of the causes saves nothing");
    return good && (!best_pair || !all || !saves(reading, best_pair) ||
                    report_note(reading->to,
                                "the best two to %s together are %s and %s: %s %% less time, "
                                "%s times as fast%s",
                                reading->report->changed ? "change" : "remove",
                                first_of(reading, best_pair), second_of(reading, best_pair),
                                saved(reading, best_pair).s, times_as_fast(reading, best_pair).s,
                                by_graph(reading, best_pair)));
}

/* "a and b KIND (SHARE %): alone they save X and Y %, together Z %. SHARE % ENDING" */
static bool tell_pair(const struct reading *reading, uint32_t pair, const char *kind,
                      const char *ending) {
    uint32_t first = 1u << __builtin_ctz(pair), second = pair ^ first;
    const struct breakdown *source = breakdown_source(reading->program, pair);
    double share = breakdown_share(source, pair), whole = source->cycles[0];
    return report_note(
        reading->to,
        "%s and %s %s (%s%s %%%s): alone they save %s and %s %%, together %s %%. %s %% %s",
        first_of(reading, pair), second_of(reading, pair), kind, share > 0 ? "+" : "",
        text_percent(share, 1).s, by_graph(reading, pair),
        text_percent(breakdown_cost(source, first), whole).s,
        text_percent(breakdown_cost(source, second), whole).s,
        text_percent(breakdown_cost(source, pair), whole).s, text_percent(fabs(share), 1).s,
        ending);
}

/* The costliest two that hardly touch each other. */
static bool tell_independent(const struct reading *reading) {
    double threshold = reading->report->threshold, most = threshold;
    uint32_t best = 0;
    for (uint32_t i = 0; i < reading->pairs; i++) {
        uint32_t pair = reading->ranked[i], first = 1u << __builtin_ctz(pair);
        double less = fmin(share_saved(reading, first), share_saved(reading, pair ^ first));
        if (less > most && fabs(reading->shares[pair]) < threshold / 2 &&
            breakdown_trusted(reading->program, pair, threshold)) {
            most = less;
            best = pair;
        }
    }
    return !best || report_note(reading->to,
                                "%s and %s are independent (%s %%%s): each saves its own, whatever "
                                "becomes of the other",
                                first_of(reading, best), second_of(reading, best),
                                text_percent(reading->shares[best], 1).s, by_graph(reading, best));
}

static bool tell_pairs(const struct reading *reading) {
    uint32_t serial = 0, parallel = 0;
    double threshold = reading->report->threshold;
    bool good = true, doubtful = false;
    for (uint32_t i = 0; i < reading->pairs; i++) {
        uint32_t pair = reading->ranked[i];
        bool changed = reading->report->changed & pair;
        double share = reading->shares[pair];
        if (fabs(share) < threshold)
            break; /* the largest come first */
        if (!breakdown_trusted(reading->program, pair, threshold)) {
            doubtful = true;
            continue;
        }
        if (share < 0 && serial++ < PAIRS_TOLD)
            good &= tell_pair(reading, pair, "are in series",
                              changed ? "are the same cycles, which either saves: begin with the "
                                        "one that is easier to have"
                                      : "are the same cycles, which removing either removes: begin "
                                        "with the one that is easier to remove");
        if (share > 0 && parallel++ < PAIRS_TOLD)
            good &= tell_pair(reading, pair, "overlap",
                              changed ? "take both: neither shows its worth alone"
                                      : "go only when both are removed: neither shows its worth "
                                        "alone");
    }
    if (reading->pairs && !serial && !parallel && !doubtful)
        good &= report_note(reading->to,
                            "no pair measured interacts by %s %% of the time: each cause can be "
                            "judged by its own cost",
                            text_percent(threshold, 1).s);
    return good && tell_independent(reading);
}

bool breakdown_read(const struct breakdown_report *report, const struct breakdown_program *program,
                    struct report *to) {
    const struct breakdown *shown = breakdown_shown(program);
    uint32_t sets = breakdown_sets(shown);
    struct reading reading = {.report = report,
                              .program = program,
                              .shown = shown,
                              .to = to,
                              .ranked = calloc(sets, sizeof *reading.ranked),
                              .shares = calloc(sets, sizeof *reading.shares)};
    bool good = reading.ranked && reading.shares;
    for (uint32_t set = 1; good && set < sets; set++)
        reading.shares[set] = __builtin_popcount(set) == 2
                                  ? breakdown_share(breakdown_source(program, set), set)
                                  : NAN;
    if (good) {
        reading.pairs = breakdown_rank(shown, reading.shares, 2, 2, reading.ranked);
        good = tell_costliest(&reading) && tell_pairs(&reading);
    }
    free(reading.shares);
    free(reading.ranked);
    return good;
}
