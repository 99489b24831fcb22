#include "report/compare_report.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/array.h"
#include "util/file_name.h"

/* What of a component there is more or less of. */
static const char *const NOUNS[COMPONENT_COUNT] = {
    [COMPONENT_LLC_MISS] = "LLC misses",   [COMPONENT_MISPREDICT] = "mispredicted branches",
    [COMPONENT_FLUSH] = "flushes",         [COMPONENT_TLB_MISS] = "TLB misses",
    [COMPONENT_FORWARDING] = "forwarding", [COMPONENT_COHERENCE] = "lines of other cores",
    [COMPONENT_L1_MISS] = "L1 misses",     [COMPONENT_STORES] = "full store queue",
    [COMPONENT_FRONT_END] = "front end",   [COMPONENT_EXECUTE] = "execution"};

static double summed(const struct compared_run *run) {
    return (double)run->all.units / CYCLE_UNITS;
}

bool compare_has_threads(const struct compare_report *report) {
    return any_where(i, 2u,
                     fabs(summed(&report->runs[i]) / (double)report->runs[i].elapsed - 1) > 0.001);
}

double compare_percent(const struct compare_report *report, int64_t units) {
    const struct compared_run *before = &report->runs[0];
    return 100.0 * (double)units / CYCLE_UNITS /
           (compare_has_threads(report) ? summed(before) : (double)before->elapsed);
}

const char *compare_function(const struct compared_change *change) {
    return (change->sides[1] ? change->sides[1] : change->sides[0])->name;
}

/* Where a function was inlined on that side; NULL: it was not. */
static const char *within(const struct compared_function *function) {
    return function ? function->places[0].within : NULL;
}

/* "only before", "only after", "no longer inlined in main", "was find" of another name, or "". */
static void compare_only(const struct compare_report *report, const struct compared_change *change,
                         char *text, size_t size) {
    const uint64_t left_out = report->runs[0].most_left_out;
    if (!change->sides[0] && left_out)
        snprintf(text, size, "%s cycles before at most", text_count(left_out / CYCLE_UNITS).s);
    else if (!change->sides[0] || !change->sides[1])
        snprintf(text, size, "%s", change->sides[0] ? "only before" : "only after");
    else if (within(change->sides[0]))
        snprintf(text, size, "no longer inlined in %s", within(change->sides[0]));
    else if (within(change->sides[1]))
        snprintf(text, size, "now inlined in %s", within(change->sides[1]));
    else if (strcmp(change->sides[0]->name, change->sides[1]->name) != 0)
        snprintf(text, size, "was %s", change->sides[0]->name);
    else
        *text = 0;
}

/* Cycles without an event grow with the instructions, or with what each takes: by instructions, if
 * these explain half of the change at the cycles an instruction took before. */
static bool by_instructions(const struct compared_change *change) {
    if (!change->sides[0] || !change->sides[1])
        return true;
    const struct compared_cost *before = &change->sides[0]->cost, *after = &change->sides[1]->cost;
    const double more = (double)after->executions - (double)before->executions;
    const double each = (double)before->causes[COMPONENT_EXECUTE] / (double)before->executions;
    return more * each / (double)change->cause_units >= 0.5;
}

void compare_reason(const struct compared_change *change, char *text, size_t size) {
    const bool more = change->cause_units > 0;
    if (change->cause != COMPONENT_EXECUTE)
        snprintf(text, size, "%s", NOUNS[change->cause]);
    else if (by_instructions(change))
        snprintf(text, size, "%s instructions", more ? "more" : "fewer");
    else
        snprintf(text, size, "%s operations", more ? "slower" : "faster");
}

void compare_place(const struct compared_change *change, char *text, size_t size) {
    const struct compared_line *line = change->lines[1] ? change->lines[1] : change->lines[0];
    if (!line)
        *text = 0;
    else if (line->place->file)
        snprintf(text, size, "%s:%u", file_base_name(line->place->file), line->place->line);
    else
        snprintf(text, size, "%s+0x%llx", line->place->own_image,
                 (unsigned long long)line->place->offset);
}

/* ---- the sentence ---- */

/* Of percentages in the sentence. */
static int digits_of(double percent) {
    return fabs(percent) < 0.1 ? 3 : 1;
}

void compare_put_change(const struct compare_report *report, const struct compared_change *change,
                        FILE *file) {
    char reason[CHANGE_REASON_BYTES], place[CHANGE_PLACE_BYTES];
    char only[CHANGE_PLACE_BYTES];
    compare_only(report, change, only, sizeof only);
    compare_reason(change, reason, sizeof reason);
    compare_place(change, place, sizeof place);
    const double percent = compare_percent(report, change->units);
    const int digits = digits_of(fabs(percent) < fabs(report->percent) ? percent : report->percent);
    fprintf(file, "%s %+.*f %% (%s%s%s%s%s", compare_function(change), digits,
            text_shown(percent, digits), only, *only ? "; " : "", reason, *place ? " at " : "",
            place);
    if (change->types[0])
        fprintf(file, ": %s %s from %" PRIu64 " to %" PRIu64 " bytes", change->types[1]->type,
                change->types[1]->type_size > change->types[0]->type_size ? "grew" : "shrank",
                change->types[0]->type_size, change->types[1]->type_size);
    fputc(')', file);
}

/* Functions that are told of and make so many times the change are not all there is to it. */
static const double MUCH_MORE = 1.25;

static int64_t change_of(const struct compared_run runs[2]) {
    return (int64_t)(runs[1].all.units - runs[0].all.units);
}

/* Whether the lines of Python make at least half of the change. */
static bool python_tells(const struct compare_report *report) {
    const int64_t all = change_of(report->runs), python = change_of(report->python);
    return (all < 0) == (python < 0) && 2 * llabs(python) >= llabs(all) && report->python_total;
}

/* The functions that make most of the change; those that change the other way are not told. */
static void choose_told(struct compare_report *report) {
    const bool python = python_tells(report);
    const struct compared_change *changes =
        python ? report->compared_python.changes : report->compared.changes;
    const size_t total = python ? report->python_total : report->total;
    const double all = compare_has_threads(report)
                           ? 100 * (summed(&report->runs[1]) / summed(&report->runs[0]) - 1)
                           : report->percent;
    const double enough = 0.8 * fabs(all);
    double sum = 0;
    for (size_t i = 0; i < total && report->told_count < COMPARE_TOLD && sum < enough; i++) {
        const struct compared_change *change = &changes[i];
        const double percent = compare_percent(report, change->units);
        if ((percent < 0) != (all < 0))
            continue;
        if (report->told_count && fabs(percent) * 20 < fabs(all))
            break;
        report->told[report->told_count++] = change;
        sum += fabs(percent);
    }
    const size_t against = index_where(i, total, (changes[i].units < 0) != (all < 0));
    if (sum > MUCH_MORE * fabs(all) && against < total)
        report->against = &changes[against];
}

static void put_changes(const struct compare_report *report, FILE *file) {
    for (unsigned i = 0; i < report->told_count; i++) {
        fputs(i ? ", " : compare_has_threads(report) ? "; summed over threads: " : ": ", file);
        compare_put_change(report, report->told[i], file);
    }
    if (report->against) {
        fputs(", against ", file);
        compare_put_change(report, report->against, file);
    }
}

/* What the median of layouts says. */
static void put_layouts(const struct compare_report *report, FILE *file) {
    const struct layout_difference *difference = &report->difference;
    const double low = layout_difference_low(difference), high = layout_difference_high(difference);
    const int digits = digits_of(report->percent);
    if (!low && !high && !report->percent) {
        fprintf(file, "no difference: the same cycles under each of %" PRIu32 " layouts",
                difference->count);
        return;
    }
    fprintf(file, "%s%+.*f %% cycles (%+.*f to %+.*f %%) over %" PRIu32 " layout%s",
            report->verdict == COMPARE_SAME ? "no difference: " : "", digits,
            text_shown(report->percent, digits), digits, text_shown(low, digits), digits,
            text_shown(high, digits), difference->count, text_plural(difference->count));
    if (report->verdict != COMPARE_SAME)
        put_changes(report, file);
}

static bool make_sentence(struct compare_report *report) {
    struct text_printer printer;
    FILE *file = text_printer_begin(&printer);
    if (!file)
        return false;
    const int digits = digits_of(report->percent);
    const bool hardly = !report->interval && fabs(report->percent) < 0.001;
    if (report->difference.count) {
        put_layouts(report, file);
    } else if (report->verdict != COMPARE_SAME && hardly) {
        fprintf(file, "hardly a difference: %+" PRId64 " of %s cycles",
                (int64_t)(report->runs[1].elapsed - report->runs[0].elapsed),
                text_grouped(report->runs[0].elapsed).s);
    } else if (report->verdict != COMPARE_SAME) {
        fprintf(file, "%+.*f", digits, text_shown(report->percent, digits));
        if (report->interval > 0)
            fprintf(file, " ± %.*f", digits, report->interval);
        fputs(compare_has_threads(report) ? " % elapsed cycles" : " % cycles", file);
        put_changes(report, file);
    } else if (report->interval > 0)
        fprintf(file, "no difference: %+.*f ± %.*f %% cycles", digits,
                text_shown(report->percent, digits), digits, report->interval);
    else
        fputs("no difference: the same cycles", file);
    report->sentence = text_printer_end(&printer);
    return report->sentence;
}

/* ---- the whole ---- */

/* False: out of memory. */
static bool find_difference(struct compare_report *report) {
    const struct layout_cycles *before = report->layouts[0], *after = report->layouts[1];
    const uint32_t count = report->layout_count;
    if (!count)
        return true;
    for (int side = 0; side < 2; side++) {
        if (!layout_spread_of(report->layouts[side], count, &report->spreads[side]))
            return false;
        compared_run_average(&report->runs[side]);
    }
    return layout_difference_of(before, after, count, &report->difference);
}

static enum compare_verdict verdict_of(const struct compare_report *report) {
    const struct layout_difference *layouts = &report->difference;
    const double half = fmax(0, report->interval);
    const double low = layouts->count ? layout_difference_low(layouts) : report->percent - half;
    const double high = layouts->count ? layout_difference_high(layouts) : report->percent + half;
    return low > 0 ? COMPARE_SLOWER : high < 0 ? COMPARE_FASTER : COMPARE_SAME;
}

static double interval_of(const struct compare_report *report) {
    const struct compare_pairs *pairs = &report->pairs;
    if (pairs->count)
        return pairs->half < 0 ? -1 : 100 * pairs->half;
    const double before = report->runs[0].half_interval, after = report->runs[1].half_interval;
    return before < 0 || after < 0
               ? -1
               : 100 * sqrt(before * before + after * after) / (double)report->runs[0].elapsed;
}

static bool note_interval(struct compare_report *report) {
    const struct layout_difference *layouts = &report->difference;
    return report_note(&report->report,
                       "over %" PRIu32 " layouts: the median of the differences under each, and "
                       "the interval of the median, by rank, with %s %% confidence; cycles of "
                       "functions are %s%s",
                       layouts->count, text_percent(layouts->percent.confidence, 1).s,
                       report->runs[1].joined > 1 ? "means" : "those of layout 0",
                       layouts->percent.confidence < 0.95 ? "; --layouts 6 and more give 95 %"
                                                          : "");
}

static bool note_libraries(struct compare_report *report) {
    const struct compared_run *before = &report->runs[0], *after = &report->runs[1];
    bool good = true;
    for (size_t i = 0; i < before->library_count; i++)
        for (size_t k = 0; k < after->library_count; k++)
            if (!strcmp(before->libraries[i].name, after->libraries[k].name) &&
                before->libraries[i].build != after->libraries[k].build)
                good &=
                    report_note(&report->report,
                                "%s is another one than before: some of the difference may be its",
                                before->libraries[i].name);
    return good;
}

static bool note_pairs(struct compare_report *report) {
    const struct compare_pairs *pairs = &report->pairs;
    return report_note(&report->report,
                       "estimated from %" PRIu32 " regions of the same work in both (--full "
                       "simulates every instruction)",
                       pairs->count);
}

static bool add_notes(struct compare_report *report) {
    const struct compared_run *runs = report->runs;
    bool good = true;
    if (strcmp(runs[0].machine, runs[1].machine) != 0)
        good &= report_note(&report->report, "two machines: %s before, %s after", runs[0].machine,
                            runs[1].machine);
    if (runs[0].limited || runs[1].limited)
        good &= report_note(&report->report,
                            "not all of %s was simulated: the same number of instructions need "
                            "not be the same work",
                            runs[0].limited ? runs[0].title : runs[1].title);
    if (report->compared.builds[0])
        good &= report_note(&report->report, "%s and %s are taken for two builds of one program",
                            report->compared.builds[0], report->compared.builds[1]);
    good &= note_libraries(report);
    if (report->difference.count)
        good &= note_interval(report);
    else if (compare_has_threads(report) && runs[0].elapsed != runs[1].elapsed)
        good &= report_note(&report->report,
                            "threads take turns in another order in each run, by which two runs "
                            "of one build differ, too: --layouts 6 tells whether it is more than "
                            "that");
    if (report->pairs.count)
        good &= note_pairs(report);
    if (report->interval < 0)
        good &= report_note(&report->report, "how far an estimate may be off is not known");
    return good;
}

/* How many changed, and how many of these are shown. */
static void count_changes(const struct compare_report *report, const struct compared_runs *compared,
                          size_t *count, size_t *total) {
    while (*total < compared->change_count && compared->changes[*total].units)
        ++*total;
    *count = report->top && report->top < *total ? report->top : *total;
}

bool compare_report_build(struct compare_report *report, struct error *error) {
    struct compared_run *runs = report->runs;
    if (!find_difference(report))
        return error_set(error, "out of memory for layouts");
    if (!compared_runs_find(&runs[0], &runs[1], &report->compared, error) ||
        !compared_runs_find(&report->python[0], &report->python[1], &report->compared_python,
                            error))
        return false;
    report->percent = report->difference.count
                          ? report->difference.percent.median
                          : 100 * ((double)runs[1].elapsed / (double)runs[0].elapsed - 1);
    report->interval = interval_of(report);
    report->verdict = verdict_of(report);
    count_changes(report, &report->compared, &report->count, &report->total);
    count_changes(report, &report->compared_python, &report->python_count, &report->python_total);
    choose_told(report);
    return (make_sentence(report) && add_notes(report)) ||
           error_set(error, "out of memory for the report");
}

bool compare_is_slower(const struct compare_report *report, double percent) {
    const double interval = report->difference.count ? 0 : fmax(0, report->interval);
    return report->verdict == COMPARE_SLOWER && report->percent - interval > percent;
}

void compare_report_free(struct compare_report *report) {
    compared_runs_free(&report->compared);
    compared_runs_free(&report->compared_python);
    for (int side = 0; side < 2; side++) {
        compared_run_free(&report->runs[side]);
        compared_run_free(&report->python[side]);
    }
    report_free(&report->report);
    free(report->layouts[0]);
    free(report->layouts[1]);
    free(report->sentence);
}

/* ---- under several layouts ---- */

bool compare_report_lay_out(struct compare_report *report, uint32_t count, struct error *error) {
    report->layout_count = count;
    for (int side = 0; side < 2; side++)
        if (!(report->layouts[side] = calloc(count, sizeof *report->layouts[side])))
            return error_set(error, "out of memory for what is compared");
    return true;
}

bool compare_report_take_layout(struct compare_report *report, unsigned side, uint32_t layout,
                                const char *command, const struct simulation *simulation,
                                const struct code *code, const struct machine *machine,
                                struct error *error) {
    if ((!report->relinked || !layout) &&
        !compared_run_take(&report->runs[side], command, simulation, code, machine, error))
        return false;
    report->layouts[side][layout] = layout_cycles_of(simulation);
    return true;
}
