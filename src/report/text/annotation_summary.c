/* DCPI Fig. 4: what the cycles of a procedure went to. Dynamic causes have a range, from where
 * each is the only one left to where it is left at all; the rest sums up to the total. */
#include <math.h>
#include <string.h>

#include "report/annotation.h"
#include "util/text.h"

enum { NAME_COLUMNS = 24, TRUTH_COLUMNS = 66 };

struct table {
    const struct stall_summary *summary;
    const double *truth; /* cycles by true cause: a column more; NULL: not known */
    const char *bold, *plain;
    FILE *file;
};

static double share(const struct table *table, double cycles) {
    return table->summary->total > 0 ? 100 * cycles / table->summary->total : 0;
}

static double true_cycles(const struct table *table, enum stall_cause cause) {
    return table->truth ? table->truth[cause] : 0;
}

/* "-0.0" is 0. */
static double rounded(double percent) {
    double value = round(10 * percent) / 10;
    return value == 0 ? 0 : value;
}

/* What the truth is, where it is known, behind the other columns, of which `used` are taken. */
static void end_line(const struct table *table, int used, double truth) {
    if (table->truth && !isnan(truth))
        fprintf(table->file, "%*.1f %%", TRUTH_COLUMNS - 2 - used, rounded(share(table, truth)));
    fputc('\n', table->file);
}

static void print_range(const struct table *table, enum stall_cause cause) {
    const struct stall_range *range = &table->summary->dynamic[cause];
    bool fixed = !stall_cause_is_dynamic(cause); /* the truth counts it among the static ones */
    if (fixed && range->most == 0)
        return;
    int used = fprintf(table->file, "  %c %-*s%5.1f %% to %5.1f %%", annotation_letter(cause),
                       NAME_COLUMNS, stall_cause_name(cause), rounded(share(table, range->least)),
                       rounded(share(table, range->most)));
    end_line(table, used, fixed ? NAN : true_cycles(table, cause));
}

/* `truth`: NAN where there is none. */
static void print_part(const struct table *table, char letter, const char *name, double cycles,
                       double truth) {
    int used = fprintf(table->file, "  %c %-*s%5.1f %%", letter, NAME_COLUMNS, name,
                       rounded(share(table, cycles)));
    end_line(table, used, truth);
}

static void print_sum(const struct table *table, const char *name, double cycles, double truth) {
    int used = fprintf(table->file, "    %-*s%24.1f %%", NAME_COLUMNS, name,
                       rounded(share(table, cycles)));
    end_line(table, used, truth);
}

static double print_dynamic(const struct table *table) {
    const struct stall_summary *summary = table->summary;
    size_t count;
    double truth = 0;
    const enum stall_cause *causes = annotation_dynamic_causes(&count);
    for (size_t i = 0; i < count; i++) {
        print_range(table, causes[i]);
        if (stall_cause_is_dynamic(causes[i]))
            truth += true_cycles(table, causes[i]);
    }
    print_part(table, ANNOTATION_UNEXPLAINED, "unexplained stall", summary->unexplained_stall, NAN);
    print_part(table, ' ', "unexplained gain", -summary->unexplained_gain, NAN);
    double sum = summary->explained + summary->unexplained_stall - summary->unexplained_gain;
    print_sum(table, "subtotal dynamic", sum, truth);
    return sum;
}

static double print_static(const struct table *table) {
    size_t count;
    double sum = table->summary->static_stalls[STALL_NONE], truth = 0;
    const enum stall_cause *causes = annotation_static_causes(&count);
    for (size_t i = 0; i < count; i++) {
        double cycles = table->summary->static_stalls[causes[i]];
        double known = true_cycles(table, causes[i]);
        sum += cycles;
        truth += known;
        if (cycles == 0 && known == 0)
            continue;
        print_part(table, annotation_letter(causes[i]), stall_cause_name(causes[i]), cycles, known);
    }
    if (table->summary->static_stalls[STALL_NONE] > 0)
        print_part(table, ' ', "cause not told", table->summary->static_stalls[STALL_NONE], NAN);
    print_sum(table, "subtotal static", sum, truth);
    return sum;
}

void annotation_text_summary(const struct stall_summary *summary, const double *truth, double lost,
                             const char *heading, const struct page *page) {
    FILE *file = page->file;
    struct table table = {
        .summary = summary, .truth = truth, .bold = page->bold, .plain = page->plain, .file = file};
    if (!(summary->total > 0))
        return;
    fprintf(file, "\n%s%s%s", table.bold, heading, table.plain);
    if (table.truth)
        fprintf(file, "%*s", TRUTH_COLUMNS - (int)text_columns(heading), "in truth");
    fputc('\n', file);
    double dynamic = print_dynamic(&table), fixed = print_static(&table);
    double tallied = dynamic + fixed + summary->execution + summary->sampling_error;
    print_sum(&table, "total stall", dynamic + fixed, NAN);
    print_sum(&table, "execution", summary->execution, NAN);
    print_sum(&table, "net sampling error", summary->sampling_error, NAN);
    print_sum(&table, "total tallied", tallied, NAN);
    fprintf(file, "    (%s cycles", text_count((uint64_t)(summary->total + 0.5)).s);
    if (lost > 0)
        fprintf(file, ", without %s %% of the samples, at which no instruction begins",
                text_percent(lost, lost + summary->total).s);
    fputs(")\n", file);
}
