#include "report/host_report.h"

#include <inttypes.h>
#include <math.h>

#include "report/json_values.h"
#include "report/table.h"
#include "util/file_name.h"
#include "util/rank.h"

static const struct host_run *least_run(const struct host_report *report) {
    return &report->runs->runs[report->runs->least];
}

/* An interval of more than these shares of the measured cycles to either side is told, and too wide
 * to compare with. */
#define WIDE     0.03
#define TOO_WIDE 0.25
/* Fewer leave shares of procedures uncertain: of 100 that are half in one, 40 to 60 may be. */
#define FEW_SAMPLES 100

/* How far the measured cycles may be off, as a share of them; infinite: the system counted none. */
static double uncertainty(const struct host_run *run) {
    if (!(run->cycles > 0))
        return INFINITY;
    return fmax(run->cycles_high - run->cycles, run->cycles - run->cycles_low) / run->cycles;
}

/* Predicted cycles over measured ones, less 1. */
static double error_against(const struct host_report *report, double measured) {
    return (double)report->simulation->cycles / measured - 1;
}

/* NAN: too short to be compared. */
static double host_report_error(const struct host_report *report) {
    const struct host_run *run = least_run(report);
    return uncertainty(run) > TOO_WIDE ? NAN : error_against(report, run->cycles);
}

static double most_user(const struct host_runs *runs) {
    double most = 0;
    for (uint32_t i = 0; i < runs->count; i++)
        most = fmax(most, runs->runs[i].user);
    return most;
}

/* ---- notes ---- */

static bool add_simulated(struct host_report *report) {
    const struct simulation *simulation = report->simulation;
    const double half = simulation_interval(simulation);
    if (simulation->simulated == simulation->executed)
        return report_note(&report->report, "all of %s instructions were simulated",
                           text_count(simulation->executed).s);
    if (half < 0)
        return report_note(&report->report,
                           "%s of %s instructions were simulated for all; how far that is off is "
                           "not known",
                           text_count(simulation->simulated).s, text_count(simulation->executed).s);
    return report_note(&report->report,
                       "%s of %s instructions were simulated for all, which leaves ± %s %% of the "
                       "predicted cycles open (95 %%)",
                       text_count(simulation->simulated).s, text_count(simulation->executed).s,
                       text_percent(half, (double)simulation->cycles).s);
}

static bool add_samples(struct host_report *report) {
    const struct matched_profile *matched = report->matched;
    char sampled[256];
    if (!matched)
        return report_note(&report->report, "not by procedure: %s", report->runs->unsampled);
    live_events_describe(&report->runs->event, 1, sampled, sizeof sampled);
    bool good = report_note(&report->report, "live samples: %s, in %zu more run%s", sampled,
                            report->runs->session_count, text_plural(report->runs->session_count));
    if (matched->samples < FEW_SAMPLES)
        good &= report_note(&report->report,
                            "%s live samples are few: shares of procedures are uncertain; a longer "
                            "input, or more --runs, gives more",
                            text_count((uint64_t)matched->samples).s);
    if (matched->variants)
        good &= report_note(&report->report,
                            "the C library takes variants of its functions by the processor that "
                            "it finds: under the emulator those for AVX2 at most; variants of one "
                            "function are one row here, though their code differs");
    return good;
}

/* Beyond what interrupts and a frequency that changes make of it. */
#define NEIGHBOUR_SEEN 1.1

static bool add_neighbour(struct host_report *report) {
    const double slowdown = host_neighbour_slowdown(&report->runs->neighbour);
    if (!(slowdown > NEIGHBOUR_SEEN))
        return true;
    return report_note(&report->report,
                       "another thread of this core was at work, of another program or another "
                       "virtual machine: beside the runs independent additions took %.2f times as "
                       "long as at best, so that code with many instructions a cycle is measured "
                       "too long; a chain of additions, the clock, does not feel it",
                       slowdown);
}

bool host_report_add_worth(struct host_report *report) {
    struct report *notes = &report->report;
    bool good = true;
    if (notes->partial)
        good &= report_note(notes,
                            "PARTIAL: interrupted after %" PRIu32 " of %" PRIu32
                            " timed runs and %" PRIu32 " of %" PRIu32 " with samples",
                            report->runs->count, report->runs->wanted, report->runs->sampled,
                            report->runs->wanted);
    good &= add_neighbour(report) && add_simulated(report) && add_samples(report);
    good &= report_note(notes, "not compared: time in the kernel, and what its system calls, page "
                               "faults and interrupts leave in caches and predictors; the "
                               "simulation has user code alone");
    return good &&
           report_note(notes, "the clock is that of a chain of dependent adds, measured before "
                              "and after each run; the difference is the error of the machine "
                              "description and of the model together");
}

/* ---- text ---- */

static void print_uncertainty(const struct host_report *report, const struct page *page) {
    const struct host_run *run = least_run(report);
    const double tick = report->runs->tick;
    if (uncertainty(run) > WIDE && tick > 0)
        page_print(page,
                   "uncertain: %s to %s cycles (95 %%): the kernel tells user time from its own by "
                   "ticks of %s, %.1f in this run",
                   text_quantity(run->cycles_low).s, text_quantity(run->cycles_high).s,
                   text_duration(tick).s, (run->user + run->system) / tick);
}

static void describe_error(const struct host_report *report, char *text, size_t size) {
    const struct host_run *run = least_run(report);
    const double error = host_report_error(report);
    if (isnan(error))
        snprintf(text, size,
                 "too short here to be compared: take a longer input, of some tenths of a second");
    else if (uncertainty(run) > WIDE)
        snprintf(text, size, "%+.1f %% (%+.1f to %+.1f)", text_shown(100 * error, 1),
                 text_shown(100 * error_against(report, run->cycles_high), 1),
                 text_shown(100 * error_against(report, run->cycles_low), 1));
    else
        snprintf(text, size, "%+.1f %%", text_shown(100 * error, 1));
}

static void print_figures(const struct host_report *report, const struct page *page) {
    const struct host_runs *runs = report->runs;
    const struct host_run *run = least_run(report);
    char which[80] = "one run";
    if (runs->count > 1)
        snprintf(which, sizeof which, "the least of %" PRIu32 " runs, the most was %s", runs->count,
                 text_duration(most_user(runs)).s);
    page_print(page, "measured:  %s cycles, %s in user mode at %.2f GHz: %s",
               text_quantity(run->cycles).s, text_duration(run->user).s, 1e-9 * run->clock, which);
    print_uncertainty(report, page);
    char told[128];
    describe_error(report, told, sizeof told);
    fputs(page->bold, page->file);
    page_print(page, "predicted: %s cycles on machine %s: %s",
               text_count(report->simulation->cycles).s, report->report.machine->name, told);
    fputs(page->plain, page->file);
    page_print(page, "not compared: %s in the kernel, %s page fault%s",
               text_duration(run->system).s, text_grouped(run->faults).s, text_plural(run->faults));
}

static void put_row(const struct host_report *report, const struct matched_procedure *row,
                    struct table *table) {
    const struct matched_profile *matched = report->matched;
    table_figure(table, "%s", text_quantity(row->measured).s);
    table_figure(table, "%s %%", text_percent(row->measured, matched->measured).s);
    table_figure(table, "%s", text_quantity(row->predicted).s);
    table_figure(table, "%s %%", text_percent(row->predicted, matched->predicted).s);
    table_figure(table, "%+.1f %%",
                 text_shown(100 * (row->predicted - row->measured) / matched->measured, 1));
    table_cell(table, row->name);
    table_cell(table, file_base_name(row->image));
}

static void print_unranked(const struct matched_profile *matched, const struct page *page) {
    const char *equally = matched->equally_measured    ? "equally many live samples"
                          : matched->equally_predicted ? "equally many predicted cycles"
                                                       : NULL;
    if (matched->ranked < RANK_LEAST)
        page_print(page,
                   "too few procedures have samples for a rank correlation: %zu of at least %d",
                   matched->ranked, RANK_LEAST);
    else if (equally)
        page_print(page, "no rank correlation: the %zu hottest procedures have %s", matched->ranked,
                   equally);
}

static void print_rank(const struct matched_profile *matched, const struct page *page) {
    char repeats[80] = "";
    if (isnan(matched->rank_correlation)) {
        print_unranked(matched, page);
        return;
    }
    if (!isnan(matched->rank_repeats))
        snprintf(repeats, sizeof repeats, "; of half the runs' samples with the others': %.2f",
                 matched->rank_repeats);
    page_print(page, "rank correlation of the %zu hottest procedures, by %s live samples: %.2f%s",
               matched->ranked, text_count((uint64_t)matched->samples).s, matched->rank_correlation,
               repeats);
}

static void print_procedures(const struct host_report *report, const struct page *page) {
    static const struct table_column COLUMNS[] = {
        {"measured", TABLE_FIGURE, 0, 0, 0},  {"share", TABLE_FIGURE, 2, 0, 1},
        {"predicted", TABLE_FIGURE, 2, 0, 0}, {"share", TABLE_FIGURE, 2, 0, 1},
        {"of all", TABLE_FIGURE, 2, 0, 0},    {"procedure", TABLE_NAME, 2, 24, 0},
        {"image", TABLE_PATH, 2, 12, 2}};
    const struct matched_profile *matched = report->matched;
    size_t shown = matched->count;
    if (report->top && report->top < shown)
        shown = report->top;
    page_heading(page, "where they differ:", "cycles of procedures, the largest difference first");
    struct table *table = table_with(page, COLUMNS, sizeof COLUMNS / sizeof *COLUMNS);
    for (size_t i = 0; i < shown; i++)
        put_row(report, &matched->rows[i], table);
    table_more(table, 2, matched->count - shown);
    table_end(table);
    fputc('\n', page->file);
    print_rank(matched, page);
}

void host_report_text(const struct host_report *report, const struct page *page) {
    page_title(page, report->report.program, report->report.partial);
    print_figures(report, page);
    report_text_ideal(&report->report, page);
    if (report->matched)
        print_procedures(report, page);
    report_text_foot(&report->report, page);
}

/* ---- JSON ---- */

static json_t *run_json(const struct host_run *run) {
    return json_pack("{s:f, s:f, s:f, s:f, s:[f, f], s:I}", "user_seconds", run->user,
                     "system_seconds", run->system, "clock_ghz", 1e-9 * run->clock, "cycles",
                     run->cycles, "cycles_interval", run->cycles_low, run->cycles_high,
                     "page_faults", (json_int_t)run->faults);
}

static json_t *procedures_json(const struct host_report *report) {
    const struct matched_profile *matched = report->matched;
    json_t *rows = json_array();
    for (size_t i = 0; i < matched->count && (!report->top || i < report->top); i++) {
        const struct matched_procedure *row = &matched->rows[i];
        json_array_append_new(rows, json_pack("{s:o, s:o, s:f, s:f, s:f}", "procedure",
                                              json_text(row->name), "image", json_text(row->image),
                                              "samples", row->samples, "measured_cycles",
                                              row->measured, "predicted_cycles", row->predicted));
    }
    return rows;
}

static json_t *matched_json(const struct host_report *report) {
    const struct matched_profile *matched = report->matched;
    if (!matched)
        return json_null();
    return json_pack("{s:f, s:o, s:o, s:I, s:I, s:o}", "samples", matched->samples,
                     "rank_correlation", json_number(matched->rank_correlation), "rank_repeats",
                     json_number(matched->rank_repeats), "ranked", (json_int_t)matched->ranked,
                     "procedure_count", (json_int_t)matched->count, "procedures",
                     procedures_json(report));
}

bool host_report_json(const struct host_report *report, FILE *file, struct error *error) {
    const struct simulation *simulation = report->simulation;
    const double half = simulation_interval(simulation);
    json_t *runs = json_array();
    for (uint32_t i = 0; i < report->runs->count; i++)
        json_array_append_new(runs, run_json(&report->runs->runs[i]));
    json_t *object = json_pack(
        "{s:o, s:o, s:o, s:f, s:o, s:b, s:s, s:o, s:o, s:o, s:I, s:o, s:I, s:o, s:o, s:o}", "verb",
        json_text(report->report.verb), "program", json_text(report->report.program), "machine",
        json_text(report->report.machine->name), "clock_ghz", report->report.machine->clock_ghz,
        "ideal", json_ideal(report->report.ideal), "partial", report->report.partial, "reference",
        "host", "runs", runs, "measured", run_json(least_run(report)), "slowdown_beside",
        json_number(host_neighbour_slowdown(&report->runs->neighbour)), "cycles",
        (json_int_t)simulation->cycles, "interval",
        half < 0 ? json_null() : json_real(half / (double)simulation->cycles), "instructions",
        (json_int_t)simulation->instructions, "cycles_error",
        json_number(host_report_error(report)), "by_procedure", matched_json(report), "not_sampled",
        report->matched ? json_null() : json_text(report->runs->unsampled));
    return json_write_report(object, &report->report, file, error);
}
