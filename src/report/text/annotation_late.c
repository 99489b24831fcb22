/* What late samples say of a procedure: where the processor waited, and for what it can have been.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/annotation.h"
#include "report/report.h"
#include "util/text.h"

enum { NAME_COLUMNS = 24 };

static double percent_of(double cycles, double total) {
    const double value = total > 0 ? round(1000 * cycles / total) / 10 : 0;
    return value == 0 ? 0 : value;
}

/* ---- skid ---- */

static void print_measured(const struct annotation *annotation, const struct page *page) {
    const struct annotation_skid *skid = annotation->input.skid;
    const struct skid_window window = skid_window(&skid->skid);
    const uint32_t median = skid_median(&skid->skid);
    char range[64];
    if (window.least == window.most)
        snprintf(range, sizeof range, "exactly %" PRIu32, window.least);
    else
        snprintf(range, sizeof range, "%" PRIu32 " to %" PRIu32, window.least, window.most);
    page_print(page,
               "skid of %s here: median %" PRIu32 " instruction%s, %.0f %% %s behind the one that "
               "waits (%s samples of a known loop%s); samples are put back by it",
               annotation->input.event->name, median, text_plural(median), 100 * window.share,
               range, text_grouped(skid->skid.samples).s, skid->now ? ", measured now" : "");
}

void annotation_text_skid(const struct annotation *annotation, const struct page *page) {
    const struct annotation_input *input = &annotation->input;
    if (input->skid->skid.samples)
        print_measured(annotation, page);
    else if (input->event->precise)
        page_print(page, "%s is precise: the processor notes which instruction each sample is of",
                   input->event->name);
    else
        page_print(page,
                   "skid of %s: not known (%s), so taken to be 0 to %d instructions; samples are "
                   "spread over as many",
                   input->event->name, input->skid->why, SKID_ASSUMED - 1);
    page_print(page, "what can stall: by the rules of machine %s", input->machine->name);
    report_text_chosen(&input->machine->chosen, page);
    if (input->simulated)
        page_print(page, "simulated: %s on machine %s; %s %% of its cycles are here",
                   input->simulated->command, input->simulated->machine,
                   text_percent(input->simulated->profile->sum_cycles, input->simulated->cycles).s);
}

/* ---- blocks ---- */

struct text annotation_late_share(const struct late_cycles *cycles, double total) {
    struct text text;
    const double most = percent_of(cycles->most, total);
    if (cycles->least >= cycles->most / 2)
        snprintf(text.s, sizeof text.s, "%.1f %%", percent_of(cycles->likely, total));
    else
        snprintf(text.s, sizeof text.s, "≤ %.1f %%", most);
    return text;
}

static void print_executions(const struct annotation *annotation, uint32_t number, FILE *file) {
    const struct annotation_block *sums = &annotation->blocks[number];
    const struct cfg_block *block = &annotation->input.analysis->cfg.blocks[number];
    if (sums->executions > 0)
        fprintf(file, "executed %s times; %.2f CPI",
                text_count((uint64_t)(sums->executions + 0.5)).s, sums->actual / block->insn_count);
    else
        fputs("executed ? times", file);
}

static void print_simulated(const struct annotation *annotation, uint32_t number, FILE *file) {
    const struct procedure_profile *profile = annotation->input.simulated->profile;
    const struct cfg *cfg = &annotation->input.analysis->cfg;
    const struct cfg_block *block = &cfg->blocks[number];
    const uint32_t offset = cfg->insns[block->first_insn].offset;
    double cycles = 0;
    for (uint32_t i = 0; i < block->insn_count; i++)
        cycles += annotation_simulated_cycles(annotation, block->first_insn + i);
    fprintf(file, "*** simulated: %.1f %% of the time", percent_of(cycles, profile->sum_cycles));
    if (profile->executions && profile->executions[offset] > 0)
        fprintf(file, "; executed %s times; %.2f CPI",
                text_count((uint64_t)(profile->executions[offset] + 0.5)).s,
                cycles / profile->executions[offset] / block->insn_count);
}

static void print_late(const struct annotation *annotation, uint32_t number, FILE *file) {
    const struct late *late = &annotation->input.analysis->late;
    const struct late_cycles *cycles = &late->blocks[number];
    const struct cfg_block *block = &annotation->input.analysis->cfg.blocks[number];
    fprintf(file, "*** %.1f %% of the time", percent_of(cycles->likely, late->total));
    if (percent_of(cycles->least, late->total) != percent_of(cycles->most, late->total))
        fprintf(file, " (%.1f to %.1f %%)", percent_of(cycles->least, late->total),
                percent_of(cycles->most, late->total));
    fputs("; ", file);
    print_executions(annotation, number, file);
    if (block->loop_depth)
        fprintf(file, "; in %" PRIu32 " loop%s", block->loop_depth, text_plural(block->loop_depth));
}

/* A line, wrapped. */
static void wrap_line(void (*print)(const struct annotation *, uint32_t, FILE *),
                      const struct annotation *annotation, uint32_t number,
                      const struct page *page) {
    struct text_printer printer;
    FILE *file = text_printer_begin(&printer);
    if (!file)
        return;
    print(annotation, number, file);
    char *text = text_printer_end(&printer);
    if (text)
        page_wrap(page, text, NULL, "", "    ");
    free(text);
}

void annotation_text_late_block(const struct annotation *annotation, uint32_t number,
                                const struct page *page) {
    fprintf(page->file, "\n%s", page->bold);
    wrap_line(print_late, annotation, number, page);
    if (annotation->input.simulated)
        wrap_line(print_simulated, annotation, number, page);
    fputs(page->plain, page->file);
}

/* ---- summary ---- */

static void print_range(const struct late *late, char letter, const char *name,
                        enum stall_cause cause, FILE *file) {
    const struct late_range *range = &late->ranges[cause];
    if (cause == STALL_UNIT && range->most == 0)
        return; /* what an instruction's own unit takes is execution */
    fprintf(file, "  %c %-*s%5.1f %% to %5.1f %%%s\n", letter, NAME_COLUMNS, name,
            percent_of(range->least, late->total), percent_of(range->most, late->total),
            range->most == 0 ? "  excluded" : "");
}

void annotation_text_late_summary(const struct late *late, double lost, const char *heading,
                                  const struct page *page) {
    FILE *file = page->file;
    size_t count;
    const enum stall_cause *causes = annotation_dynamic_causes(&count);
    if (!(late->total > 0))
        return;
    fprintf(file, "\n%s%s%s\n", page->bold, heading, page->plain);
    for (size_t i = 0; i < count; i++)
        print_range(late, annotation_letter(causes[i]), stall_cause_name(causes[i]), causes[i],
                    file);
    print_range(late, ANNOTATION_EXECUTION, ANNOTATION_EXECUTION_NAME, STALL_NONE, file);
    fprintf(file, "    (%s cycles", text_count((uint64_t)(late->total + 0.5)).s);
    if (lost > 0)
        fprintf(file, ", without %s %% of the samples, at which no instruction begins",
                text_percent(lost, lost + late->total).s);
    fputs(")\n", file);
}
