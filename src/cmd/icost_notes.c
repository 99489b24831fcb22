/* What a breakdown is worth, by the ways in which it was measured. */
#include <inttypes.h>
#include <math.h>

#include "cmd/icost_run.h"
#include "cmd/next.h"
#include "program/program.h"
#include "report/missing_names.h"
#include "report/trace_notes.h"
#include "util/text.h"

/* " of LABEL" where there are several programs. */
static const char *of_program(const struct icost *icost, uint32_t number, char text[64]) {
    if (icost->study.count == 1)
        return "";
    snprintf(text, 64, " of %.40s", icost->study.programs[number].label);
    return text;
}

static bool note_place(void *context, const char *text) {
    return report_note(context, "%s", text);
}

/* What the check found, and what it left out. */
static bool note_check(struct icost *icost, uint32_t number, char of[64]) {
    struct breakdown_report *report = &icost->report;
    const struct breakdown_program *row = &icost->rows[number];
    double difference;
    uint32_t set = breakdown_report_farthest(report, row, WAY_GRAPH, &difference), left = 0;
    char name[256];
    for (uint32_t i = 0; i < report->singles + report->pairs + report->others; i++)
        left += breakdown_source(row, report->rows[i]) != row->ways[WAY_MULTISIM];
    return report_note(&report->report,
                       "simulated anew%s, as a check: %" PRIu32 " machine%s in %s%s; farthest off "
                       "was the graph in %s, by %s%s %% of the time",
                       of_program(icost, number, of), row->simulations,
                       text_plural(row->simulations), text_duration(row->seconds[WAY_MULTISIM]).s,
                       left ? ", for the rows without ~ (--multisim: for all)" : ", for all rows",
                       set ? breakdown_set_name(row->ways[WAY_GRAPH], set, name, sizeof name)
                           : "none",
                       difference > 0 ? "+" : "", text_percent(difference, 1).s);
}

static bool note_ways(struct icost *icost, uint32_t number) {
    const struct icost_program *program = &icost->study.programs[number];
    const struct breakdown_program *row = &icost->rows[number];
    const struct breakdown *graph = &program->ways[WAY_GRAPH];
    struct report *report = &icost->report.report;
    char of[64];
    bool good = true;
    if (graph->cycles)
        good = report_note(
            report,
            "graph%s: from one simulation, in %s; its length is %s %% off the simulated cycles%s",
            of_program(icost, number, of), text_duration(row->seconds[WAY_GRAPH]).s,
            text_percent(fabs(graph->cycles[0] - (double)program->cycles), (double)program->cycles)
                .s,
            program->ways[WAY_MULTISIM].cycles ? ""
                                               : "; its costs were not checked (--multisim does)");
    if (program->ways[WAY_PROFILER].cycles)
        good = good && shotgun_note(report, &icost->request->shotgun, &program->shotgun,
                                    of_program(icost, number, of));
    if (icost->study.checked && program->ways[WAY_MULTISIM].cycles)
        good = good && note_check(icost, number, of);
    else if (program->ways[WAY_MULTISIM].cycles)
        good = good && report_note(report, "multisim%s: %" PRIu32 " simulation%s in %s",
                                   of_program(icost, number, of), row->simulations,
                                   text_plural(row->simulations),
                                   text_duration(row->seconds[WAY_MULTISIM]).s);
    if (program->places)
        good = good && category_places_tell(program->places, note_place, report);
    if (program->pieces.choice.parts)
        good = good && icost_path_note(&program->pieces, report, program->cycles,
                                       of_program(icost, number, of));
    if (program->simulation.thread_count > 1)
        good = good && report_note(report,
                                   "%" PRIu32 " guest threads%s: each simulated on its own core "
                                   "without sharing, cycles summed",
                                   program->simulation.thread_count, of_program(icost, number, of));
    return good;
}

static bool note_regions(struct icost *icost) {
    const struct icost_regions *regions = &icost->study.regions;
    note_lost_regions(&icost->report.report, icost->request->regions.lists[0], &regions->lost);
    return report_note(&icost->report.report,
                       "estimated from %" PRIu32 " of %" PRIu32 " regions: %s of %s instructions "
                       "simulated, with their graphs, in %s",
                       regions->done, regions->count, text_count(regions->simulated).s,
                       text_count(regions->list.instructions).s,
                       text_duration(regions->seconds).s) &&
           report_note(&icost->report.report, "what a program reuses after longer than the warm-up "
                                              "may count as a miss");
}

uint32_t icost_changed(const struct icost_request *request) {
    const struct categories *own = &request->category.categories;
    uint32_t changed = 0;
    for (uint32_t i = 0; i < own->count; i++)
        if (own->list[i].change != CATEGORY_REMOVE)
            changed |= 1u << i;
    return changed;
}

static bool note_worth(struct icost *icost) {
    struct report *report = &icost->report.report;
    bool whole = !icost->request->regions.list_count, good = whole || note_regions(icost);
    for (uint32_t i = 0; whole && i < icost->report.program_count; i++)
        good &= note_ways(icost, i);
    good = good &&
           report_note(report, "%s",
                       icost_changed(icost->request)
                           ? "what is saved is what the machine saves with a change as given, or "
                             "without that cause at all"
                           : "a cost is what a machine without that cause at all would save: a "
                             "bound on what any change to the program or machine can");
    if (whole)
        good = good && report_note(report, "caches, TLBs and predictors were empty at the start: "
                                           "in short runs their first misses weigh too much");
    return good && report_add_limits(report);
}

/* Whether no row is by the graph alone. */
static bool all_simulated(const struct icost *icost) {
    const struct breakdown_report *report = &icost->report;
    uint32_t left = 0;
    for (uint32_t i = 0; i < report->program_count; i++)
        for (uint32_t k = 0; k < report->singles + report->pairs + report->others; k++)
            left += breakdown_source(&report->programs[i], report->rows[k]) !=
                    report->programs[i].ways[WAY_MULTISIM];
    return left == 0;
}

/* Where functions are shown, why some have no names. */
static bool note_names(struct icost *icost) {
    struct report *report = &icost->report.report;
    if (!icost->request->path.parts || !report->simulation)
        return true;
    struct program *names = program_new();
    bool good = names && missing_names_note_code(
                             report, trace_code(icost->study.programs[0].input.trace), names);
    program_free(names);
    return good;
}

bool icost_note(struct icost *icost, bool partial) {
    struct report *report = &icost->report.report;
    bool unfollowed = false;
    if (partial && !report_note(report, "PARTIAL: the run was cut short; this is what was done so "
                                        "far"))
        return false;
    if (icost->study.count == 1 && icost->study.programs[0].simulation.cycles)
        report->simulation = &icost->study.programs[0].simulation;
    for (uint32_t i = 0; i < icost->study.count; i++)
        unfollowed |= icost->study.programs[i].input.trace &&
                      note_trace(report, icost->study.programs[i].input.trace);
    if (!note_names(icost))
        return false;
    const struct icost_request *request = icost->request;
    if (unfollowed && options_may_follow(&request->input))
        report->next = next_with_option("--follow", request->argc, request->output.words);
    else if (!partial && !request->multisim_given && !all_simulated(icost) &&
             !request->category.categories.count && !request->regions.list_count &&
             !request->shotgun.path)
        report->next = next_with_option("--multisim", request->argc, request->output.words);
    return note_worth(icost);
}
