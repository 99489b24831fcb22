/* DCPI Fig. 2: blocks in the order of their addresses, above each instruction that stalls a
 * bubble of the causes that are left. Those not worth showing are folded. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "program/source_text.h"
#include "report/annotation.h"
#include "report/profile_report.h"
#include "util/file_name.h"
#include "util/text.h"

enum { TEXT_BYTES = 512, MOST_MARKS = 3, BUBBLE_LINES = 3 };

struct printer {
    const struct annotation *annotation;
    const struct annotation_style *style;
    const struct page *page;
    const char *bold, *dim, *plain;
    FILE *file;
    struct source_text *sources; /* NULL: source lines are not wanted */
    unsigned marks, address, insn, culprits, exact, waits, cpi; /* columns; 0: there is no such
                                                                   column */
    bool *shown;                                                /* by block */
    bool told[UINT8_MAX + 1];                                   /* letters whose meaning was told */
    struct annotation_place place;                              /* last told */
};

enum { VALUES = 11, CPI = 14, WAITS = 10, LATE_CPI = 9, INSN_LEAST = 24, EXACT_LEAST = 20 };
#define LEAST_SHARE 0.001

static const struct cfg *graph_of(const struct printer *printer) {
    return &printer->annotation->input.analysis->cfg;
}

/* ---- figures ---- */

/* 12,345,678, or 123 M. */
static struct text value_text(double value) {
    return value < 1e8 ? text_grouped((uint64_t)(value + 0.5)) : text_count((uint64_t)value);
}

/* "12,345,678 samples", "1 sample". */
static void print_values(double value, const char *unit, FILE *file) {
    size_t length = strlen(unit);
    if (round(value) == 1 && length && unit[length - 1] == 's')
        length--;
    fprintf(file, "%s %.*s", value_text(value).s, (int)length, unit);
}

/* Cycles of a block: "8", "140", "13.4". */
static const char *cycles_text(double cycles, char text[32]) {
    double rounded = round(cycles);
    bool whole = fabs(cycles - rounded) < 0.05 || cycles >= 100;
    snprintf(text, 32, whole ? "%.0f" : "%.1f", cycles);
    return text;
}

/* Cycles of an instruction: "1.0cy"; below one a digit more. */
static const char *cy_text(double cycles, char text[32]) {
    snprintf(text, 32, cycles < 0.95 && cycles >= 0.005 ? "%.2fcy" : "%.1fcy", cycles);
    return text;
}

/* ---- head ---- */

void annotation_text_head(const struct profile_set *set, const struct profile_event *event,
                          double total, const struct page *page) {
    FILE *file = page->file;
    fputs(page->bold, file);
    profile_set_text(set, file);
    fputs(page->plain, file);
    profile_event_text(event, total, "", page);
}

static void print_sums(const struct printer *printer) {
    const struct annotation *annotation = printer->annotation;
    const struct procedure_profile *profile = annotation->input.profile;
    struct text_printer line;
    FILE *file = text_printer_begin(&line);
    if (!file)
        return;
    print_values(profile->sum, annotation->input.event->unit, file);
    fprintf(file, ", %s %% of all", text_percent(profile->sum, profile->total).s);
    if (!annotation_is_late(annotation) && annotation->executed > 0)
        fprintf(file, "; best case %.2f CPI, actual %.2f CPI",
                annotation->best / annotation->executed, annotation->cycles / annotation->executed);
    char *text = text_printer_end(&line);
    if (text)
        page_wrap(printer->page, text, NULL, "", "  ");
    free(text);
}

static void print_head(const struct printer *printer) {
    const struct annotation *annotation = printer->annotation;
    const struct annotation_input *input = &annotation->input;
    const struct cfg *cfg = graph_of(printer);
    FILE *file = printer->file;
    char fitted[TEXT_BYTES];
    fprintf(file, "\n%s%s%s\n", printer->bold,
            text_clip(fitted, sizeof fitted, input->name, printer->page->columns), printer->plain);
    const unsigned room = printer->page->columns > 90 ? printer->page->columns - 70 : 20;
    page_print(printer->page,
               "0x%" PRIx64 " to 0x%" PRIx64 " of %s: %" PRIu32 " instruction%s in %" PRIu32
               " block%s",
               input->code->address, input->code->address + input->code->size,
               page_fit_path(fitted, sizeof fitted, input->image, room), cfg->insn_count,
               text_plural(cfg->insn_count), cfg->block_count, text_plural(cfg->block_count));
    print_sums(printer);
    if (annotation_is_late(annotation)) {
        annotation_text_skid(annotation, printer->page);
        return;
    }
    page_print(printer->page, "best case: the schedule of machine %s%s", input->machine->name,
               input->view == VIEW_TIP ? ", cycles shared by what commits together" : "");
    report_text_chosen(&input->machine->chosen, printer->page);
}

static void print_columns(const struct printer *printer) {
    FILE *file = printer->file;
    fprintf(file, "\n%s%*s", printer->bold, (int)printer->marks, "");
    page_cell(printer->page, "address", printer->address, TEXT_RIGHT);
    fputs("  ", file);
    page_cell(printer->page, "instruction", printer->insn, TEXT_LEFT);
    page_cell(printer->page, printer->annotation->input.event->unit, VALUES, TEXT_RIGHT);
    if (printer->waits)
        page_cell(printer->page, "waits", printer->waits, TEXT_RIGHT);
    if (printer->cpi)
        page_cell(printer->page, "CPI", printer->cpi, TEXT_RIGHT);
    fputs("  ", file);
    if (printer->exact)
        page_cell(printer->page, "culprit", printer->culprits, TEXT_LEFT);
    const bool simulated = printer->annotation->input.simulated;
    fprintf(file, "%s%s\n",
            !printer->exact ? "culprit"
            : simulated     ? "  simulated"
                            : "  exact",
            printer->plain);
}

/* ---- an instruction ---- */

/* A bar for each loop around the block. */
static void print_margin(const struct printer *printer, uint32_t block) {
    uint32_t depth = graph_of(printer)->blocks[block].loop_depth;
    for (unsigned i = 0; i + 1 < printer->marks; i++)
        fputs(i < depth ? "│" : " ", printer->file);
    fputs(printer->marks ? " " : "", printer->file);
}

static const char *meaning_of(char letter) {
    if (letter == ANNOTATION_EXECUTION)
        return ANNOTATION_EXECUTION_NAME;
    for (int cause = STALL_NONE + 1; cause < STALL_CAUSES; cause++)
        if (annotation_letter((enum stall_cause)cause) == letter)
            return stall_cause_name((enum stall_cause)cause);
    return "unexplained";
}

/* The letters whose meaning was not told yet, as many as fit, but `least` of them however narrow
 * the page is; those that are told are counted. */
static void print_meanings(struct printer *printer, const char *letters, unsigned least,
                           unsigned room) {
    bool begun = false;
    for (; *letters; letters++) {
        char text[TEXT_BYTES];
        unsigned char letter = (unsigned char)*letters;
        if (printer->told[letter])
            continue;
        int length = snprintf(text, sizeof text, "%s%c = %s", begun ? ", " : "  (", *letters,
                              meaning_of(*letters));
        if (!least && (unsigned)length + 1 > room)
            break;
        fputs(text, printer->file);
        room -= (unsigned)length < room ? (unsigned)length : room;
        least = 0;
        printer->told[letter] = begun = true;
    }
    fputs(begun ? ")" : "", printer->file);
}

static bool is_told(const struct printer *printer, const char *letters) {
    for (; *letters; letters++)
        if (!printer->told[(unsigned char)*letters])
            return false;
    return true;
}

/* A line for every half cycle, at most three, and as many as the meanings of new letters need. */
static void print_bubble(struct printer *printer, uint32_t block, const char *letters,
                         double cycles) {
    char text[32];
    if (!*letters)
        return;
    const bool late = annotation_is_late(printer->annotation);
    long lines = late ? 1 : lround(2 * cycles);
    lines = lines < 1 ? 1 : lines > BUBBLE_LINES ? BUBBLE_LINES : lines;
    unsigned indent = printer->marks + printer->address + 2;
    for (long line = 0; line < lines || !is_told(printer, letters); line++) {
        print_margin(printer, block);
        fprintf(printer->file, "%*s%s%s", (int)(printer->address + 2), "", printer->dim, letters);
        unsigned used = indent + (unsigned)strlen(letters);
        if (line == 0 && !late)
            used += (unsigned)fprintf(printer->file, "%s %s", lines == BUBBLE_LINES ? " ..." : "",
                                      cy_text(cycles, text));
        const unsigned columns = printer->page->columns;
        print_meanings(printer, letters, line > 0, columns > used ? columns - used : 0);
        fprintf(printer->file, "%s\n", printer->plain);
    }
}

static void print_bubbles(struct printer *printer, uint32_t insn) {
    const struct annotation *annotation = printer->annotation;
    uint32_t block = graph_of(printer)->insns[insn].block;
    char letters[ANNOTATION_LETTERS] = "";
    size_t count, used = 0;
    double cycles = 0;
    const struct static_stall *stalls = annotation_static_stalls(annotation, insn, &count);
    for (size_t i = 0; i < count; i++) {
        char letter = annotation_letter((enum stall_cause)stalls[i].cause);
        if (stalls[i].cycles >= ANNOTATION_SHOWN_CYCLES && !memchr(letters, letter, used))
            letters[used++] = letter;
        cycles += stalls[i].cycles;
    }
    letters[used] = 0;
    if (annotation->blocks[block].cycles > 0)
        print_bubble(printer, block, letters, cycles);
    print_bubble(printer, block, annotation_bubble(annotation, insn, letters),
                 annotation_stall(annotation, insn));
}

static void describe_culprits(const struct printer *printer, uint32_t insn, char *text,
                              size_t size) {
    uint64_t addresses[ANNOTATION_BLAMED];
    size_t count, used = 0;
    annotation_blamed(printer->annotation, insn, addresses, &count);
    text[0] = 0;
    for (size_t i = 0; i < count && used < size; i++)
        used +=
            (size_t)snprintf(text + used, size - used, "%s%" PRIx64, i ? " " : "", addresses[i]);
}

/* What the simulation says, of this set or of one beside it. */
static const struct procedure_profile *exact_profile(const struct annotation_input *input) {
    return input->simulated ? input->simulated->profile : input->profile;
}

/* "62% ST-L1 30% Base": as many as fit. */
static void describe_stack(const struct printer *printer, uint32_t insn, char *text, size_t size) {
    const struct procedure_profile *profile = exact_profile(&printer->annotation->input);
    uint32_t offset = graph_of(printer)->insns[insn].offset;
    char name[TEXT_BYTES], part[TEXT_BYTES + 16];
    size_t count, used = 0;
    const struct signature_part *parts = procedure_profile_parts(profile, offset, &count);
    text[0] = 0;
    if (count && printer->annotation->input.simulated) {
        const double all = annotation_simulated_cycles(printer->annotation, insn);
        used = (size_t)snprintf(text, size, "%5.1f %%", 100 * all / profile->sum_cycles);
    }
    for (size_t i = 0; i < count && used < size; i++) {
        double share = 100 * parts[i].cycles / profile->cycles[offset];
        if (!(share >= 1))
            break;
        psv_format(parts[i].psv, name, sizeof name);
        size_t length =
            (size_t)snprintf(part, sizeof part, "%s%.0f%% %s", used ? " " : "", share, name);
        if (i > 0 && used + length > printer->exact)
            break;
        used += (size_t)snprintf(text + used, size - used, "%s", part);
    }
}

/* Nothing follows the last column that has anything. */
static void print_causes(const struct printer *printer, uint32_t insn) {
    char culprits[TEXT_BYTES], stack[TEXT_BYTES] = "", fitted[TEXT_BYTES];
    describe_culprits(printer, insn, culprits, sizeof culprits);
    if (printer->exact)
        describe_stack(printer, insn, stack, sizeof stack);
    if (*stack)
        fprintf(printer->file, "  %s",
                text_fit(fitted, sizeof fitted, culprits, printer->culprits, TEXT_LEFT));
    else if (*culprits)
        fprintf(printer->file, "  %s",
                text_clip(fitted, sizeof fitted, culprits, printer->culprits));
    if (*stack)
        fprintf(printer->file, "  %s", text_clip(fitted, sizeof fitted, stack, printer->exact));
}

static void print_cpi(const struct printer *printer, uint32_t insn) {
    const struct annotation *annotation = printer->annotation;
    const struct analysis *analysis = annotation->input.analysis;
    double executions = annotation->blocks[analysis->cfg.insns[insn].block].executions;
    double cpi = analysis_cpi(analysis, insn);
    char text[32] = "?";
    if (executions > 0 && !printer->waits && cpi < ANNOTATION_SHOWN_CYCLES &&
        analysis->schedule.cycles[insn] < ANNOTATION_SHOWN_CYCLES)
        snprintf(text, sizeof text, "%s",
                 annotation->input.machine->core.in_order ? "(dual issue)" : "(same cycle)");
    else if (executions > 0)
        cy_text(cpi, text);
    fprintf(printer->file, "%*s", (int)printer->cpi, text);
}

/* Of late samples: how much of the procedure's time the processor waited for it, or may have. */
static void print_waits(const struct printer *printer, uint32_t insn) {
    const struct late *late = &printer->annotation->input.analysis->late;
    const struct text share = annotation_late_share(&late->insns[insn], late->total);
    page_cell(printer->page, share.s, printer->waits, TEXT_RIGHT);
}

static bool same_place(const struct annotation_place *a, const struct annotation_place *b) {
    return a->file == b->file && a->line == b->line && a->inlined == b->inlined;
}

/* "deflate.c:1201, in UPDATE_HASH: the line itself". */
static void print_source(struct printer *printer, uint32_t insn) {
    const struct annotation *annotation = printer->annotation;
    if (!printer->sources || !annotation->places || !annotation->places[insn].file ||
        same_place(&annotation->places[insn], &printer->place))
        return;
    const struct annotation_place *place = &annotation->places[insn];
    const char *line = source_text_line(printer->sources, place->file, place->line);
    char text[4 * TEXT_BYTES], fitted[4 * TEXT_BYTES];
    snprintf(text, sizeof text, "%s:%" PRIu32 "%s%s%s%s", file_base_name(place->file), place->line,
             place->inlined ? ", in " : "", place->inlined ? place->inlined : "", line ? ": " : "",
             line ? line : "");
    print_margin(printer, graph_of(printer)->insns[insn].block);
    fprintf(printer->file, "%s%s%s\n", printer->dim,
            text_clip(fitted, sizeof fitted, text, printer->page->columns - printer->marks),
            printer->plain);
    printer->place = *place;
}

static void print_insn(struct printer *printer, uint32_t insn) {
    const struct annotation *annotation = printer->annotation;
    const struct cfg_insn *place = &graph_of(printer)->insns[insn];
    FILE *file = printer->file;
    char text[TEXT_BYTES];
    print_source(printer, insn);
    print_bubbles(printer, insn);
    print_margin(printer, place->block);
    fprintf(file, "%*" PRIx64 "  ", (int)printer->address, annotation_address(annotation, insn));
    annotation_insn_text(annotation, insn, text, sizeof text);
    page_cell(printer->page, text, printer->insn, TEXT_LEFT);
    double value = annotation->input.profile->values[place->offset];
    fprintf(file, "%*s", VALUES, value_text(value).s);
    if (printer->waits)
        print_waits(printer, insn);
    if (printer->cpi)
        print_cpi(printer, insn);
    print_causes(printer, insn);
    fputc('\n', file);
}

/* ---- blocks ---- */

static void print_block_head(const struct printer *printer, uint32_t number) {
    const struct annotation *annotation = printer->annotation;
    const struct cfg_block *block = &graph_of(printer)->blocks[number];
    const struct annotation_block *sums = &annotation->blocks[number];
    const struct frequency_estimate *estimate =
        &annotation->input.analysis->frequency.blocks[number];
    char best[32], actual[32], known[64] = "not known";
    double n = block->insn_count;
    if (annotation_is_late(annotation)) {
        annotation_text_late_block(annotation, number, printer->page);
        return;
    }
    if (sums->executions > 0)
        snprintf(known, sizeof known, "%s/%" PRIu32 " = %.2f CPI",
                 cycles_text(sums->actual, actual), block->insn_count, sums->actual / n);
    fprintf(printer->file, "\n%s", printer->bold);
    page_print(printer->page, "*** Best-case %s/%" PRIu32 " = %.2f CPI, actual %s",
               cycles_text(sums->best, best), block->insn_count, sums->best / n, known);
    fputs(printer->plain, printer->file);
    char times[48] = "?", loops[48] = "";
    if (sums->executions > 0)
        snprintf(times, sizeof times, "%s", text_count((uint64_t)(sums->executions + 0.5)).s);
    if (block->loop_depth)
        snprintf(loops, sizeof loops, "; in %" PRIu32 " loop%s", block->loop_depth,
                 text_plural(block->loop_depth));
    page_print(printer->page, "*** %s %% of the %s; executed %s times%s%s%s",
               text_percent(sums->cycles, annotation->input.profile->sum_cycles).s,
               annotation->input.event->unit, times,
               annotation->input.exact ? ", counted"
               : sums->executions > 0  ? ", confidence "
                                       : "",
               !annotation->input.exact && sums->executions > 0
                   ? confidence_name(estimate->confidence)
                   : "",
               loops);
}

static void print_folded(const struct printer *printer, uint32_t first, uint32_t end) {
    const struct annotation *annotation = printer->annotation;
    uint32_t insns = 0;
    double values = 0;
    for (uint32_t i = first; i < end; i++) {
        insns += graph_of(printer)->blocks[i].insn_count;
        values += annotation->blocks[i].values;
    }
    fprintf(printer->file, "\n%s… %" PRIu32 " instruction%s", printer->dim, insns,
            text_plural(insns));
    if (end - first > 1)
        fprintf(printer->file, " in %" PRIu32 " blocks", end - first);
    const char *unit = annotation->input.event->unit;
    fputs(", ", printer->file);
    if (values > 0)
        print_values(values, unit, printer->file);
    else
        fprintf(printer->file, "no %s", unit);
    fprintf(printer->file, "%s\n", printer->plain);
}

static void print_blocks(struct printer *printer) {
    const struct cfg *cfg = graph_of(printer);
    for (uint32_t i = 0, end; i < cfg->block_count; i = end) {
        end = i + 1;
        if (!printer->shown[i]) {
            while (end < cfg->block_count && !printer->shown[end])
                end++;
            print_folded(printer, i, end);
            continue;
        }
        const struct cfg_block *block = &cfg->blocks[i];
        printer->place = (struct annotation_place){0};
        print_block_head(printer, i);
        for (uint32_t k = 0; k < block->insn_count; k++)
            print_insn(printer, block->first_insn + k);
    }
}

/* ---- the whole ---- */

static void choose_blocks(struct printer *printer) {
    const struct annotation *annotation = printer->annotation;
    uint32_t count = graph_of(printer)->block_count, top = printer->style->top;
    double least = top ? LEAST_SHARE * annotation->input.profile->sum_cycles : 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct annotation_block *block = &annotation->blocks[annotation->hottest[i]];
        printer->shown[annotation->hottest[i]] =
            printer->style->full || ((block->values > 0 || block->cycles > 0) &&
                                     (!top || i < top) && block->cycles >= least);
    }
}

/* Of the longest instruction that is shown. */
static unsigned longest_insn(const struct printer *printer) {
    const struct cfg *cfg = graph_of(printer);
    unsigned longest = INSN_LEAST;
    for (uint32_t i = 0; i < cfg->insn_count; i++) {
        char text[TEXT_BYTES];
        if (!printer->shown[cfg->insns[i].block])
            continue;
        annotation_insn_text(printer->annotation, i, text, sizeof text);
        longest = text_columns(text) > longest ? text_columns(text) : longest;
    }
    return longest;
}

/* The instruction has what the other columns leave of 100, or more where it needs that; the exact
 * stack, if it is shown, what is left then. */
static void set_widths(struct printer *printer, bool exact) {
    const unsigned columns = printer->page->columns, longest = longest_insn(printer);
    printer->exact = exact ? EXACT_LEAST : 0;
    printer->culprits = exact ? 9 : 17;
    const unsigned taken = printer->marks + printer->address + 2 + VALUES + printer->waits +
                           printer->cpi + 2 + printer->culprits + (exact ? printer->exact + 2 : 0);
    const unsigned room = columns > taken ? columns - taken : 1, usual = 100 - taken;
    const unsigned most = longest > usual ? longest : usual;
    printer->insn = room < most ? room : most;
    if (exact)
        printer->exact += room - printer->insn;
}

static void lay_out(struct printer *printer) {
    const struct annotation_input *input = &printer->annotation->input;
    const struct cfg *cfg = graph_of(printer);
    uint32_t depth = 0;
    char last[32];
    for (uint32_t i = 0; i < cfg->block_count; i++)
        if (printer->shown[i] && cfg->blocks[i].loop_depth > depth)
            depth = cfg->blocks[i].loop_depth;
    printer->marks = depth ? (depth < MOST_MARKS ? depth : MOST_MARKS) + 1 : 0;
    int digits = snprintf(last, sizeof last, "%" PRIx64, input->code->address + input->code->size);
    printer->address = digits < 7 ? 7 : (unsigned)digits;
    const bool late = annotation_is_late(printer->annotation);
    const bool exact = exact_profile(input)->part_count && !input->machine->core.in_order;
    printer->waits = late ? WAITS : 0;
    printer->cpi = !late ? CPI : input->exact ? LATE_CPI : 0;
    set_widths(printer, exact);
    if (exact && printer->insn < INSN_LEAST)
        set_widths(printer, false);
}

static void print_summary(const struct annotation *annotation, const struct page *page) {
    const struct analysis *analysis = annotation->input.analysis;
    double truth[STALL_CAUSES];
    if (annotation_is_late(annotation))
        annotation_text_late_summary(&analysis->late, analysis->lost,
                                     "what can have had the time of this procedure", page);
    else
        annotation_text_summary(&analysis->culprits.summary, annotation_truth(annotation, truth),
                                analysis->lost, "where the cycles of this procedure went", page);
}

bool annotation_text(const struct annotation *annotation, const struct annotation_style *style,
                     const struct page *page) {
    struct printer printer = {.annotation = annotation,
                              .style = style,
                              .page = page,
                              .bold = page->bold,
                              .dim = page->dim,
                              .plain = page->plain,
                              .file = page->file};
    printer.shown = calloc(annotation->input.analysis->cfg.block_count, sizeof *printer.shown);
    if (style->source)
        printer.sources = source_text_new();
    bool good = printer.shown && (printer.sources || !style->source);
    if (good) {
        choose_blocks(&printer);
        lay_out(&printer);
        print_head(&printer);
        print_columns(&printer);
        print_blocks(&printer);
        annotation_text_loops(annotation, page);
        print_summary(annotation, page);
        report_text_foot(&annotation->report, page);
    }
    source_text_free(printer.sources);
    free(printer.shown);
    return good;
}
