/* Which sets are shown: each kind the largest first, by the mean over programs of its share of the
 * time; other sets by the largest share that a program gives them. */
#include "report/breakdown_report.h"

#include <math.h>
#include <stdlib.h>

#include "util/array.h"
#include "util/order.h"

const char *breakdown_way_name(enum breakdown_way way) {
    static const char *const NAMES[WAY_COUNT] = {
        [WAY_MULTISIM] = "multisim", [WAY_GRAPH] = "graph", [WAY_PROFILER] = "profiler"};
    return NAMES[way];
}

enum breakdown_way breakdown_way_shown(const struct breakdown_program *program) {
    return program->ways[WAY_GRAPH]      ? WAY_GRAPH
           : program->ways[WAY_MULTISIM] ? WAY_MULTISIM
                                         : WAY_PROFILER;
}

const struct breakdown *breakdown_shown(const struct breakdown_program *program) {
    return program->ways[breakdown_way_shown(program)];
}

double breakdown_share(const struct breakdown *breakdown, uint32_t set) {
    return breakdown_icost(breakdown, set) / breakdown->cycles[0];
}

const struct breakdown *breakdown_source(const struct breakdown_program *program, uint32_t set) {
    const struct breakdown *reference = program->ways[WAY_MULTISIM];
    return reference && !isnan(breakdown_icost(reference, set)) ? reference
                                                                : breakdown_shown(program);
}

bool breakdown_trusted(const struct breakdown_program *program, uint32_t set, double threshold) {
    const struct breakdown *reference = program->ways[WAY_MULTISIM];
    if (!reference || breakdown_source(program, set) == reference)
        return true;
    for (uint32_t part = (set - 1) & set; part; part = (part - 1) & set) {
        double off =
            breakdown_share(reference, part) - breakdown_share(breakdown_shown(program), part);
        if (fabs(off) >= threshold)
            return false;
    }
    return true;
}

static double known_share(const struct breakdown_program *program, uint32_t set) {
    return breakdown_share(breakdown_source(program, set), set);
}

static double known_or_0(double share) {
    return isnan(share) ? 0 : share;
}

/* Over programs, of the shares that are known. */
static double mean_share(const struct breakdown_program *programs, uint32_t count, uint32_t set) {
    const double sum = sum_over(double, i, count, known_or_0(known_share(&programs[i], set)));
    return count ? sum / count : 0;
}

static double largest_share(const struct breakdown_report *report, uint32_t set) {
    double largest = 0;
    for (uint32_t i = 0; i < report->program_count; i++)
        for (int way = 0; way < WAY_COUNT && !report->checked; way++)
            if (report->programs[i].ways[way])
                largest = fmax(largest, fabs(breakdown_share(report->programs[i].ways[way], set)));
    for (uint32_t i = 0; i < report->program_count && report->checked; i++)
        largest = fmax(largest, fabs(known_share(&report->programs[i], set)));
    return largest;
}

static uint32_t costliest(const struct breakdown_program *programs, uint32_t count) {
    uint32_t best = 0;
    for (uint32_t i = 1; i < breakdown_shown(&programs[0])->count; i++)
        if (mean_share(programs, count, 1u << i) > mean_share(programs, count, 1u << best))
            best = i;
    return best;
}

struct ranked {
    uint32_t set;
    double size;
};

ORDER(largest_first, struct ranked, descending(a->size, b->size) ?: ascending(a->set, b->set))

struct choice {
    struct breakdown_report *report;
    struct ranked *ranked;
    uint32_t count, chosen; /* of ranked[]; rows so far */
};

static void rank(struct choice *choice, uint32_t set, double size) {
    choice->ranked[choice->count++] = (struct ranked){set, size};
}

/* Makes rows of the first `most` that were ranked; returns how many. */
static uint32_t take(struct choice *choice, uint32_t most) {
    uint32_t count = choice->count < most ? choice->count : most;
    qsort(choice->ranked, choice->count, sizeof *choice->ranked, largest_first);
    for (uint32_t i = 0; i < count; i++)
        choice->report->rows[choice->chosen++] = choice->ranked[i].set;
    choice->count = 0;
    return count;
}

bool breakdown_report_choose(struct breakdown_report *report) {
    const struct breakdown *shown = breakdown_shown(&report->programs[0]);
    uint32_t sets = breakdown_sets(shown), programs = report->program_count;
    struct choice choice = {.report = report};
    report->rows = calloc(sets, sizeof *report->rows);
    choice.ranked = calloc(sets, sizeof *choice.ranked);
    if (!report->rows || !choice.ranked) {
        free(choice.ranked);
        return false;
    }
    if (report->focus == BREAKDOWN_NO_FOCUS)
        report->focus = costliest(report->programs, programs);
    uint32_t focus = 1u << report->focus;
    for (uint32_t i = 0; i < shown->count; i++)
        rank(&choice, 1u << i, mean_share(report->programs, programs, 1u << i));
    report->singles = take(&choice, UINT32_MAX);
    for (uint32_t i = 0; i < shown->count; i++)
        if (i != report->focus)
            rank(&choice, focus | 1u << i,
                 fabs(mean_share(report->programs, programs, focus | 1u << i)));
    report->pairs = take(&choice, UINT32_MAX);
    for (uint32_t set = 1; set < sets; set++) {
        uint32_t members = (uint32_t)__builtin_popcount(set);
        bool shown_above = members < 2 || (members == 2 && set & focus);
        double largest = shown_above || members > report->largest ? 0 : largest_share(report, set);
        if (largest > 0 && largest >= report->threshold)
            rank(&choice, set, largest);
    }
    report->others = take(&choice, report->top ? report->top : UINT32_MAX);
    free(choice.ranked);
    return true;
}

void breakdown_report_free(struct breakdown_report *report) {
    free(report->rows);
    report->rows = NULL;
    breakdown_free_programs(report);
    report_free(&report->report);
}

double breakdown_rest(const struct breakdown_report *report, const struct breakdown *breakdown) {
    double rest = 1;
    for (uint32_t i = 0; i < breakdown_row_count(report); i++)
        rest -= known_or_0(breakdown_share(breakdown, report->rows[i]));
    return rest;
}

double breakdown_known_rest(const struct breakdown_report *report,
                            const struct breakdown_program *program) {
    double rest = 1;
    for (uint32_t i = 0; i < breakdown_row_count(report); i++)
        rest -= known_or_0(known_share(program, report->rows[i]));
    return rest;
}

struct breakdown_error breakdown_report_error(const struct breakdown_report *report,
                                              const struct breakdown_program *program,
                                              enum breakdown_way way) {
    return breakdown_compare(program->ways[WAY_MULTISIM], program->ways[way], report->rows,
                             report->singles + report->pairs);
}

uint32_t breakdown_report_farthest(const struct breakdown_report *report,
                                   const struct breakdown_program *program, enum breakdown_way way,
                                   double *difference) {
    uint32_t farthest = 0;
    *difference = 0;
    for (uint32_t i = 0; i < breakdown_row_count(report); i++) {
        uint32_t set = report->rows[i];
        double off = breakdown_share(program->ways[way], set) -
                     breakdown_share(program->ways[WAY_MULTISIM], set);
        if (!isnan(off) && fabs(off) > fabs(*difference)) {
            *difference = off;
            farthest = set;
        }
    }
    return farthest;
}
