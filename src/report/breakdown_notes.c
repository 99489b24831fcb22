/* What a breakdown is worth, by the ways in which it was measured. `of` is " of LABEL" where there
 * are several programs. */
#include <inttypes.h>
#include <math.h>

#include "report/breakdown_report.h"
#include "report/trace_notes.h"
#include "util/array.h"
#include "util/text.h"

/* ---- the profiler's samples ---- */

static struct text percent(uint64_t part, uint64_t of) {
    return text_percent((double)part, of ? (double)of : 1);
}

static bool note_samples(struct report *report, const struct breakdown_samples *samples,
                         const struct shotgun_statistics *statistics, const char *of) {
    uint64_t insns = sum_over(uint64_t, i, SHOTGUN_NOTHING, statistics->sources[i]);
    uint64_t complete = statistics->outcomes[SHOTGUN_COMPLETE];
    if (samples->perfect)
        return report_note(report,
                           "profiler%s: %" PRIu64 " fragments of %" PRIu32
                           " instructions as the graph has them",
                           of, complete, samples->length);
    return report_note(report,
                       "profiler%s: %" PRIu64 " fragments of up to %" PRIu32
                       " instructions from %" PRIu64 " detailed and %" PRIu64
                       " signature samples; of their instructions %s %% had no sample "
                       "and were inferred, %s %% had none with the same signatures",
                       of, complete, samples->length, statistics->samples, statistics->skeletons,
                       percent(statistics->sources[SHOTGUN_MISSING], insns).s,
                       percent(statistics->sources[SHOTGUN_INEXACT], insns).s);
}

/* Against the paths that were executed, which the simulation knows. */
static bool note_paths(struct report *report, const struct shotgun_statistics *statistics,
                       const char *of) {
    uint64_t tried = sum_over(uint64_t, i, SHOTGUN_OUTCOMES, statistics->outcomes[i]);
    if (!statistics->validated)
        return true;
    if (tried == statistics->outcomes[SHOTGUN_COMPLETE] && statistics->errant == 0)
        return report_note(report, "profiler%s: all fragments are of paths that were executed", of);
    char left[128] = "none had left the path that was executed", targets[128] = "";
    if (statistics->errant)
        snprintf(left, sizeof left,
                 "%" PRIu64 " had left the path that was executed, of which %s %% were discarded",
                 statistics->errant, percent(statistics->errant_discarded, statistics->errant).s);
    if (statistics->targets)
        snprintf(targets, sizeof targets,
                 "; of %" PRIu64 " targets that samples gave %s %% were right", statistics->targets,
                 percent(statistics->targets_right, statistics->targets).s);
    return report_note(report,
                       "profiler%s: of %" PRIu64 " attempts at a fragment %" PRIu64
                       " were discarded; %s%s",
                       of, tried, tried - statistics->outcomes[SHOTGUN_COMPLETE], left, targets);
}

/* Code that is executed seldom has few samples: its fragments are discarded, and with them what it
 * waited for. Of ten programs the error was 4 % or less where the discarded had up to a tenth of
 * the misses and mispredictions, and 5 to 18 % where they had more. Of a short run there may also
 * be too few fragments to be like it. */
static bool is_biased(const struct shotgun_statistics *statistics) {
    const double tolerated_events = 0.1, tolerated_cpi = 0.2;
    return (double)statistics->events_discarded > tolerated_events * (double)statistics->events ||
           fabs(statistics->cpi - statistics->run_cpi) > tolerated_cpi * statistics->run_cpi;
}

static bool note_bias(struct report *report, const struct breakdown_samples *samples,
                      const struct shotgun_statistics *statistics, const char *of) {
    const uint32_t shorter = 500;
    const char *advice = samples->from_file          ? "take samples of more of the run"
                         : samples->length > shorter ? "measure more of the run, or shorter "
                                                       "fragments: --shotgun-length 500"
                                                     : "measure more of the run";
    if (!is_biased(statistics))
        return true;
    return report_note(
        report,
        "profiler%s: biased, do not rely on it: its fragments take %.3f cycles per instruction, "
        "the run %.3f, and %s %% of the misses and mispredictions are in signature samples of "
        "which none could be constructed (%s)",
        of, statistics->cpi, statistics->run_cpi,
        percent(statistics->events_discarded, statistics->events).s, advice);
}

static bool note_profiler(struct report *report, const struct breakdown_samples *samples,
                          const struct shotgun_statistics *statistics, const char *of) {
    return note_samples(report, samples, statistics, of) && note_paths(report, statistics, of) &&
           note_bias(report, samples, statistics, of);
}

/* ---- graph and simulations ---- */

/* What the pieces of the graph are worth, against the cycles of the whole run. */
static bool note_pieces(struct report *report, const struct inspection_report *pieces,
                        uint64_t cycles, const char *of) {
    const struct inspection *inspection = pieces->inspection;
    if (!inspection->fragments || !cycles)
        return true;
    double run = (double)cycles / (double)inspection->seen;
    double of_pieces = (double)inspection->cycles / (double)inspection->kept;
    return report_note(report,
                       "pieces of the graph%s: %" PRIu32 " of at most %s µops, looked at in %s; "
                       "each begins with nothing under way, and their cycles per µop are %s %% "
                       "off those of the run",
                       of, inspection->fragments, text_grouped(FRAGMENT_LENGTH).s,
                       text_duration(pieces->seconds).s,
                       text_percent(fabs(of_pieces - run), run).s);
}

/* What the check found, and what it left out. */
static bool note_check(struct breakdown_report *breakdown, const struct breakdown_program *row,
                       const char *of) {
    double difference;
    uint32_t set = breakdown_report_farthest(breakdown, row, WAY_GRAPH, &difference), left = 0;
    char name[256];
    for (uint32_t i = 0; i < breakdown_row_count(breakdown); i++)
        left += breakdown_source(row, breakdown->rows[i]) != row->ways[WAY_MULTISIM];
    return report_note(&breakdown->report,
                       "simulated anew%s, as a check: %" PRIu32 " machine%s%s%s; farthest off "
                       "was the graph in %s, by %s%s %% of the time",
                       of, row->simulations, text_plural(row->simulations),
                       text_taken(row->seconds[WAY_MULTISIM]).s,
                       left ? ", for the rows without ~ (--multisim: for all)" : ", for all rows",
                       set ? breakdown_set_name(row->ways[WAY_GRAPH], set, name, sizeof name)
                           : "none",
                       difference > 0 ? "+" : "", text_percent(difference, 1).s);
}

static bool note_place(void *context, const char *text) {
    return report_note(context, "%s", text);
}

static bool note_program(struct breakdown_report *breakdown, const struct breakdown_program *row) {
    const struct breakdown *graph = row->ways[WAY_GRAPH], *multisim = row->ways[WAY_MULTISIM];
    struct report *report = &breakdown->report;
    char of[64] = "";
    bool good = true;
    if (breakdown->several)
        snprintf(of, sizeof of, " of %.40s", row->label);
    if (graph)
        good = report_note(
            report,
            "graph%s: from one simulation%s; its length is %s %% off the simulated cycles%s", of,
            text_taken(row->seconds[WAY_GRAPH]).s,
            text_percent(fabs(graph->cycles[0] - (double)row->cycles), (double)row->cycles).s,
            multisim ? "" : "; its costs were not checked (--multisim does)");
    if (row->shotgun)
        good = good && note_profiler(report, &breakdown->samples, row->shotgun, of);
    if (breakdown->checked && multisim)
        good = good && note_check(breakdown, row, of);
    else if (multisim)
        good = good &&
               report_note(report, "multisim%s: %" PRIu32 " simulation%s%s", of, row->simulations,
                           text_plural(row->simulations), text_taken(row->seconds[WAY_MULTISIM]).s);
    if (row->places)
        good = good && category_places_tell(row->places, note_place, report);
    if (row->inspection)
        good = good && note_pieces(report, row->inspection, row->cycles, of);
    if (row->threads > 1)
        good = good && report_note(report,
                                   "%" PRIu32 " guest threads%s: each simulated on its own core "
                                   "without sharing, cycles summed%s",
                                   row->threads, of,
                                   row->path ? "; the critical path across threads: "
                                               "together"
                                             : "");
    return good;
}

static bool note_regions(struct report *report, const struct breakdown_regions *regions) {
    note_lost_regions(report, regions->list, regions->lost);
    return report_note(report,
                       "estimated from %" PRIu32 " of %" PRIu32 " regions: %s of %s instructions "
                       "simulated, with their graphs, in %s",
                       regions->done, regions->count, text_count(regions->simulated).s,
                       text_count(regions->instructions).s, text_duration(regions->seconds).s) &&
           report_note(report, "what a program reuses after longer than the warm-up "
                               "may count as a miss");
}

bool breakdown_note(struct breakdown_report *breakdown, const struct breakdown_regions *regions) {
    struct report *report = &breakdown->report;
    bool good = !regions || note_regions(report, regions);
    for (uint32_t i = 0; !regions && i < breakdown->program_count; i++)
        good &= note_program(breakdown, &breakdown->programs[i]);
    good = good &&
           report_note(report, "%s",
                       breakdown->changed
                           ? "what is saved is what the machine saves with a change as given, or "
                             "without that cause at all"
                           : "a cost is what a machine without that cause at all would save: a "
                             "bound on what any change to the program or machine can");
    if (!regions)
        good = good && report_note(report, "caches, TLBs and predictors were empty at the start: "
                                           "in short runs their first misses weigh too much");
    return good && report_add_limits(report);
}

bool breakdown_all_simulated(const struct breakdown_report *breakdown) {
    uint32_t left = 0;
    for (uint32_t i = 0; i < breakdown->program_count; i++)
        for (uint32_t k = 0; k < breakdown_row_count(breakdown); k++)
            left += breakdown_source(&breakdown->programs[i], breakdown->rows[k]) !=
                    breakdown->programs[i].ways[WAY_MULTISIM];
    return left == 0;
}
