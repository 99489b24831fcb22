/* A prediction of throughput as text. */
#include <math.h>

#include "report/table.h"
#include "report/throughput_report.h"
#include "util/text.h"

enum { NAME = 16 };

static void put_error(double error, FILE *file) {
    if (isnan(error))
        fprintf(file, " %9s", "-");
    else
        fprintf(file, " %+7.1f %%", 100 * error);
}

static void print_head(const struct throughput_report *report, const struct page *page) {
    page_title(page, report->report.program, report->report.partial);
}

/* ---- one chip ---- */

/* "0-3, 6" */
static void list_cores(const struct throughput_rows *rows, uint32_t row, uint32_t cores, char *list,
                       size_t size) {
    FILE *out = fmemopen(list, size, "w");
    if (!out)
        return;
    const char *between = "";
    for (uint32_t c = 0; c < cores; c++) {
        if (rows->row_of[c] != row)
            continue;
        uint32_t last = c;
        while (last + 1 < cores && rows->row_of[last + 1] == row)
            last++;
        fprintf(out, last > c ? "%s%u-%u" : "%s%u", between, c, last);
        between = ", ";
        c = last;
    }
    fclose(out);
}

static void print_ipcs(const double *ipc, FILE *file) {
    for (int model = 0; model < THROUGHPUT_MODELS; model++)
        fprintf(file, " %9.3f", ipc[model]);
}

static void print_core(const struct throughput_report *report, const struct throughput_rows *rows,
                       uint32_t row, FILE *file) {
    const struct throughput_row *is = &rows->rows[row];
    const struct throughput_core *core = &report->result->by_core[is->first];
    char list[256] = "", name[64];
    list_cores(rows, row, report->result->cores, list, sizeof list);
    fprintf(file, " %s", text_fit(name, sizeof name, list, 12, TEXT_LEFT));
    print_ipcs(core->ipc, file);
    if (report->simulated)
        fprintf(file, " %9.3f", is->simulated);
    fprintf(file, " %8.4f %7.1f\n", core->p, core->latency);
}

static void print_errors(const struct throughput_report *report, FILE *file) {
    fprintf(file, " %-12s", "error");
    for (int model = 0; model < THROUGHPUT_MODELS; model++)
        put_error(throughput_error(report->result->ipc[model], report->simulated->ipc), file);
    fprintf(file, "\n %-12s", "mean |error|");
    for (int model = 0; model < THROUGHPUT_MODELS; model++)
        fprintf(file, " %7.1f %%", 100 * throughput_mean_error(report, model));
    fputc('\n', file);
}

static void print_cores(const struct throughput_report *report, FILE *file) {
    struct throughput_rows rows;
    const bool checked = report->simulated;
    fprintf(file,
            "\ninstructions per cycle of a core, by model\n"
            " %-12s %9s %9s %9s %9s %9s%s  of Markov's\n"
            " %-12s %9s %9s %9s %9s %9s%s %8s %7s\n",
            "", "sum of", "sum of", "", "", "mean", checked ? "          " : "", "cores", "cycles",
            "IPCs", "Bernoulli", "Markov", "value", checked ? " simulated" : "", "p", "M");
    if (throughput_rows(report, &rows))
        for (uint32_t row = 0; row < rows.count; row++)
            print_core(report, &rows, row, file);
    throughput_rows_free(&rows);
    fprintf(file, " %-12s", "chip");
    print_ipcs(report->result->ipc, file);
    if (checked)
        fprintf(file, " %9.3f", report->simulated->ipc);
    fputc('\n', file);
    if (checked)
        print_errors(report, file);
}

/* A program's threads, on average. */
struct program_mean {
    uint32_t threads;
    struct throughput_thread predicted;
    struct throughput_checked simulated;
};

static void add_thread(struct program_mean *mean, const struct throughput_thread *thread,
                       const struct throughput_checked *checked) {
    mean->threads++;
    mean->predicted.ipc_alone += thread->ipc_alone;
    mean->predicted.ipc += thread->ipc;
    mean->predicted.ipc_shared += thread->ipc_shared;
    mean->predicted.l1d_alone += thread->l1d_alone;
    mean->predicted.l2_alone += thread->l2_alone;
    mean->predicted.extra_l1d += thread->extra_l1d;
    mean->predicted.extra_l2 += thread->extra_l2;
    for (uint32_t cause = 0; cause < SUSPENSIONS; cause++)
        mean->predicted.stalls[cause].cycles += thread->stalls[cause].cycles;
    if (checked) {
        mean->simulated.ipc += checked->ipc;
        mean->simulated.extra_l1d += checked->extra_l1d;
        mean->simulated.extra_l2 += checked->extra_l2;
    }
}

static struct program_mean mean_of(const struct throughput_report *report, uint32_t program) {
    const struct throughput_result *result = report->result;
    struct program_mean mean = {0};
    for (uint32_t h = 0; h < result->cores * result->threads; h++)
        if (throughput_program(report, h) == program)
            add_thread(&mean, &result->by_thread[h],
                       report->simulated ? &report->simulated->by_thread[h] : NULL);
    return mean;
}

static void put_name(const struct throughput_report *report, uint32_t program, FILE *file) {
    char name[4 * NAME + 1];
    fprintf(file, " %s", text_fit(name, sizeof name, report->labels[program], NAME, TEXT_LEFT));
}

static void print_misses(const struct throughput_report *report, FILE *file) {
    const bool checked = report->simulated;
    const char *simulated = checked ? "    sim." : "";
    const int width = checked ? 24 : 16;
    fprintf(file, "\nper thread, on average; misses of data%s\n",
            checked ? "; sim.: simulated" : "");
    fprintf(file, " %-*s %7s%*s%*s%*s\n", NAME, "", "", width, "IPC", width, "L1D misses/1000",
            width, "L2 misses/1000");
    fprintf(file, " %-*s %7s %7s %7s%s %7s %7s%s %7s %7s%s\n", NAME, "program", "threads", "alone",
            "beside", simulated, "alone", "extra", simulated, "alone", "extra", simulated);
    for (uint32_t program = 0; program < report->program_count; program++) {
        const struct program_mean mean = mean_of(report, program);
        const struct throughput_thread *is = &mean.predicted;
        const double per = 1.0 / mean.threads;
        if (mean.threads == 0)
            continue;
        put_name(report, program, file);
        fprintf(file, " %7u %7.3f %7.3f", mean.threads, per * is->ipc_alone, per * is->ipc_shared);
        if (checked)
            fprintf(file, " %7.3f", per * mean.simulated.ipc);
        fprintf(file, " %7.3f %7.3f", 1000 * per * is->l1d_alone, 1000 * per * is->extra_l1d);
        if (checked)
            fprintf(file, " %7.3f", 1000 * per * mean.simulated.extra_l1d);
        fprintf(file, " %7.3f %7.3f", 1000 * per * is->l2_alone, 1000 * per * is->extra_l2);
        if (checked)
            fprintf(file, " %7.3f", 1000 * per * mean.simulated.extra_l2);
        fputc('\n', file);
    }
}

static void print_stalls(const struct throughput_report *report, const struct page *page) {
    static const struct {
        enum suspension cause;
        const char *name;
    } COLUMNS[] = {{SUSPENDED_L2_HIT, "L2 hit"},   {SUSPENDED_L2_MISS, "memory"},
                   {SUSPENDED_LONG, "long op"},    {SUSPENDED_FETCH, "fetch"},
                   {SUSPENDED_TRANSLATION, "TLB"}, {SUSPENDED_BRANCH, "branch"},
                   {SUSPENDED_SYSTEM, "system"}};
    enum { COLUMN_COUNT = sizeof COLUMNS / sizeof *COLUMNS };
    struct table *table = table_new(page);
    table_column(table, " program", TABLE_TEXT, .least = NAME);
    table_column(table, "  all", TABLE_FIGURE, .gap = 2);
    table_column(table, "issue", TABLE_FIGURE, .gap = 2);
    for (int i = 0; i < COLUMN_COUNT; i++)
        table_column(table, COLUMNS[i].name, TABLE_FIGURE, .gap = 2);
    for (uint32_t program = 0; program < report->program_count; program++) {
        const struct program_mean mean = mean_of(report, program);
        const double per = 1.0 / mean.threads;
        double waits = 0;
        char name[256];
        if (mean.threads == 0)
            continue;
        for (int i = 0; i < COLUMN_COUNT; i++)
            waits += per * mean.predicted.stalls[COLUMNS[i].cause].cycles;
        const double all = 1 / (per * mean.predicted.ipc);
        snprintf(name, sizeof name, " %s", report->labels[program]);
        table_cell(table, name);
        table_figure(table, "%.3f", all);
        table_figure(table, "%.3f", all - waits);
        for (int i = 0; i < COLUMN_COUNT; i++)
            table_figure(table, "%.3f", per * mean.predicted.stalls[COLUMNS[i].cause].cycles);
    }
    fputc('\n', page->file);
    page_print(page,
               "cycles of an instruction if nobody else used its core, with the extra misses");
    table_end(table);
}

static void print_chip(const struct throughput_report *report, const struct page *page) {
    FILE *file = page->file;
    const struct throughput_result *result = report->result;
    const double ipc = result->ipc[THROUGHPUT_BEST];
    char simulated[64] = "";
    page_print(page, "machine %s: %u core%s of %u thread%s", report->report.machine->name,
               result->cores, text_plural(result->cores), result->threads,
               text_plural(result->threads));
    if (report->simulated)
        snprintf(simulated, sizeof simulated, "; simulated %.3f", report->simulated->ipc);
    fputc('\n', file);
    page_print(page, "the chip executes %.3f instructions per cycle, %.3f a core%s", ipc,
               ipc / result->cores, simulated);
    print_cores(report, file);
    print_misses(report, file);
    print_stalls(report, page);
}

/* ---- a search ---- */

static void print_point(const struct throughput_point *point, bool simulated, FILE *file) {
    const double ipc = simulated ? point->simulated : point->ipc[THROUGHPUT_BEST];
    if (isnan(ipc))
        fprintf(file, " %7s", "-");
    else
        fprintf(file, " %7.3f", ipc);
}

/* So many columns from `first` on. */
static void print_block(const struct throughput_search *search, uint32_t first, uint32_t columns,
                        bool simulated, FILE *file) {
    const struct throughput_range *threads = &search->space.threads;
    const uint32_t all = threads->last - threads->first + 1;
    fprintf(file, "%10s", "threads");
    for (uint32_t column = first; column < first + columns; column++)
        fprintf(file, " %7u", threads->first + column);
    for (uint32_t i = 0; i < search->count; i += all) {
        const uint32_t cores = search->points[i].cores;
        fprintf(file, "\n%4u core%-1s", cores, text_plural(cores));
        for (uint32_t column = first; column < first + columns; column++)
            print_point(&search->points[i + column], simulated, file);
    }
    fputc('\n', file);
}

static void print_grid(const struct throughput_report *report, bool simulated,
                       const struct page *page) {
    FILE *file = page->file;
    const uint32_t fit = (page->columns - 10) / 8;
    const struct throughput_range *threads = &report->search->space.threads;
    const uint32_t columns = threads->last - threads->first + 1;
    fprintf(file, "\ninstructions per cycle of the chip, %s\n",
            simulated ? "simulated" : "predicted (mean value)");
    for (uint32_t first = 0; first < columns; first += fit)
        print_block(report->search, first, columns - first < fit ? columns - first : fit, simulated,
                    file);
}

/* What comes within 1 % with fewer threads is as good for less. */
static void print_best(const struct throughput_report *report, bool simulated,
                       const struct page *page) {
    const struct throughput_search *search = report->search;
    const struct throughput_point *best = throughput_best(search, simulated);
    if (!best)
        return;
    const double most = simulated ? best->simulated : best->ipc[THROUGHPUT_BEST];
    page_print(page, "best%s: %u core%s of %u thread%s, %.3f instructions per cycle, %.3f a thread",
               simulated ? " simulated" : "", best->cores, text_plural(best->cores), best->threads,
               text_plural(best->threads), most, most / (best->cores * best->threads));
    for (uint32_t i = 0; i < search->count; i++) {
        const struct throughput_point *point = &search->points[i];
        const double ipc = simulated ? point->simulated : point->ipc[THROUGHPUT_BEST];
        if (point != best && ipc >= 0.99 * most)
            page_print(page, " within 1 %%: %u core%s of %u thread%s, %.3f, %.3f a thread",
                       point->cores, text_plural(point->cores), point->threads,
                       text_plural(point->threads), ipc, ipc / (point->cores * point->threads));
    }
}

static void print_search(const struct throughput_report *report, const struct page *page) {
    FILE *file = page->file;
    const struct throughput_search *search = report->search;
    page_print(page, "machine %s with other numbers of cores and threads: %u chips",
               report->report.machine->name, search->count);
    print_grid(report, false, page);
    print_best(report, false, page);
    if (!report->checked)
        return;
    print_grid(report, true, page);
    print_best(report, true, page);
    fputc('\n', file);
    page_print(page, "error of each model, mean of absolute values over the chips");
    for (int model = 0; model < THROUGHPUT_MODELS; model++)
        fprintf(file, " %-13s %6.1f %%\n", throughput_model_names[model],
                100 * throughput_mean_error(report, model));
}

static void print_times(const struct throughput_report *report, const struct page *page) {
    char simulation[128] = "";
    if (report->checked)
        snprintf(simulation, sizeof simulation, ", simulation %s: %s times as long",
                 text_duration(report->simulation_seconds).s,
                 text_quantity(throughput_speedup(report)).s);
    fputc('\n', page->file);
    page_print(page, "processor time: profiles %s, models %s%s",
               text_duration(report->profile_seconds).s, text_duration(report->model_seconds).s,
               simulation);
}

void throughput_text(const struct throughput_report *report, const struct page *page) {
    print_head(report, page);
    if (report->search)
        print_search(report, page);
    else
        print_chip(report, page);
    print_times(report, page);
    report_text_foot(&report->report, page);
}
