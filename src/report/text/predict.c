/* A prediction as text. */
#include <math.h>
#include <string.h>

#include "report/predict_report.h"
#include "util/text.h"

double predict_error(const struct predict_report *report, uint32_t machine, uint32_t method) {
    const double simulated =
        simulated_cpi(report->prediction, &report->prediction->machines[machine]);
    if (!report->checked || simulated == 0)
        return NAN;
    return predicted_cpi(report->prediction, predict_result(report, machine, method)) / simulated -
           1;
}

double predict_mean_error(const struct predict_report *report, uint32_t method) {
    double sum = 0;
    uint32_t known = 0;
    for (uint32_t i = 0; i < report->machine_count; i++)
        if (!isnan(predict_error(report, i, method))) {
            sum += fabs(predict_error(report, i, method));
            known++;
        }
    return known ? sum / known : NAN;
}

static const char *compensation_text(const struct predict_method *method) {
    switch (method->compensation) {
    case COMPENSATE_NONE:
        return "no compensation";
    case COMPENSATE_FIXED:
        return method->fixed == 0   ? "compensation for the oldest"
               : method->fixed == 1 ? "compensation for the youngest"
                                    : "compensation of a part of the ROB";
    case COMPENSATE_DISTANCE:
        return "distance compensation";
    case COMPENSATE_WINDOW:
        return "window compensation";
    }
    return "";
}

struct method_text predict_method_text(const struct predict_method *method, bool prefetching) {
    static const char *const WINDOWS[] = {"plain windows", "SWAM windows", "SWAM-MLP windows",
                                          "sliding reorder buffer"};
    const bool sliding = method->windows == WINDOWS_SLIDING;
    struct method_text text;
    char rest[80] = "", parts[16] = "";
    if (prefetching && method->parts != PARTS_ALL)
        snprintf(parts, sizeof parts, ", parts %s%s%s", method->parts & PART_A ? "a" : "",
                 method->parts & PART_B ? "b" : "", method->parts & PART_C ? "c" : "");
    if (!sliding)
        snprintf(rest, sizeof rest, ", %s, %s%s",
                 method->pending_hits ? "pending hits" : "pending hits taken for hits",
                 compensation_text(method), parts);
    snprintf(text.s, sizeof text.s, "%s%s%s", WINDOWS[method->windows],
             !method->ignore_mshrs ? ""
             : sliding             ? " that ignores MSHRs"
                                   : " that ignore MSHRs",
             rest);
    return text;
}

static void put_error(double error, FILE *file) {
    if (isnan(error))
        fprintf(file, "%9s", "-");
    else
        fprintf(file, "%+7.1f %%", 100 * error);
}

static void print_head(const struct predict_report *report, const struct page *page) {
    FILE *file = page->file;
    const struct hybrid_prediction *prediction = report->prediction;
    page_title(page, report->report.program, report->report.partial);
    fprintf(file, "%s instruction%s", text_count(prediction->instructions).s,
            text_plural(prediction->instructions));
    if (prediction->threads > 1)
        fprintf(file, " of %u threads", prediction->threads);
    fprintf(file, " on machine %s\n", report->report.machine->name);
}

static double per_thousand(const struct predict_report *report, double count) {
    return 1000 * count / (double)report->prediction->instructions;
}

static void print_sizes(const struct predict_report *report, const struct page *page) {
    struct hybrid_config config;
    struct error error;
    if (!predict_config(&report->machines[0], &report->methods[0], &config, &error))
        return;
    char mshrs[32] = "unlimited MSHRs", stores[32] = "";
    if (config.mshrs)
        snprintf(mshrs, sizeof mshrs, "%u MSHRs", config.mshrs);
    else if (report->methods[0].ignore_mshrs)
        strcpy(mshrs, "MSHRs ignored");
    if (config.windows == WINDOWS_SLIDING)
        snprintf(stores, sizeof stores, ", store queue of %u", config.store_queue);
    page_print(page,
               "reorder buffer of %u µops, %u wide, memory %u cycles, %s%s, L1D prefetcher %s",
               config.rob, config.width, config.latency, mshrs, stores,
               machine_prefetchers[report->machines[0].l1d.prefetcher].word);
}

/* Of a single machine: what its figure is made of. */
static void print_single(const struct predict_report *report, const struct page *page) {
    FILE *file = page->file;
    const struct hybrid_prediction *prediction = report->prediction;
    const struct hybrid_result *result = predict_result(report, 0, 0);
    const struct data_counts *counts = &prediction->machines[0].counts;
    print_sizes(report, page);
    char simulated[48] = "";
    if (report->checked)
        snprintf(simulated, sizeof simulated, ", %.4f simulated",
                 simulated_cpi(prediction, prediction->machines));
    fputc('\n', file);
    page_print(page, "cycles per instruction due to long data misses: %.4f predicted%s",
               predicted_cpi(prediction, result), simulated);
    const bool prefetching = report->machines[0].l1d.prefetcher != PREFETCH_NONE;
    fprintf(file, " %s\n\n per 1000 instructions\n",
            predict_method_text(&report->methods[0], prefetching).s);
    fprintf(file, "%10.3f  loads miss the last level\n",
            per_thousand(report, (double)counts->load_misses));
    char rate[32];
    snprintf(rate, sizeof rate, "%10.3f  ", per_thousand(report, (double)counts->store_misses));
    page_wrap(page,
              report->methods[0].windows == WINDOWS_SLIDING
                  ? "stores miss it; nothing waits for them until the store queue is full"
                  : "stores miss it; the model lets nothing wait for them",
              NULL, rate, "            ");
    if (result->tardy > 0)
        fprintf(file, "%10.3f  loads overtake the prefetch of their block\n",
                per_thousand(report, result->tardy));
    if (report->methods[0].windows == WINDOWS_SLIDING) {
        fprintf(file, "%10.3f  memory latencies lost\n", per_thousand(report, result->serialized));
        fprintf(file, "%10.3f  misses that hold up the oldest µop\n",
                per_thousand(report, result->windows));
        return;
    }
    fprintf(file, "%10.3f  misses in series: the longest chains of all windows\n",
            per_thousand(report, result->serialized));
    fprintf(file, "%10.3f  windows that a miss opens\n", per_thousand(report, result->windows));
    fprintf(file, "%10.1f  µops between misses, on average (at most the reorder buffer)\n",
            result->distance);
    fprintf(file, "%10.1f  cycles hidden by work on other instructions\n",
            per_thousand(report, result->compensation));
}

static void print_row(const struct predict_report *report, uint32_t machine, FILE *file) {
    const struct machine *is = &report->machines[machine];
    const struct hybrid_prediction *prediction = report->prediction;
    struct hybrid_config config = {0};
    struct error error;
    predict_config(is, &report->methods[0], &config, &error);
    fprintf(file, "%6u %7u %9s  %-9s %10.3f %10.4f", config.rob, config.latency,
            config.mshrs ? text_grouped(config.mshrs).s : "unlimited",
            machine_prefetchers[is->l1d.prefetcher].word,
            per_thousand(report, (double)prediction->machines[machine].counts.load_misses),
            predicted_cpi(prediction, predict_result(report, machine, 0)));
    if (report->checked) {
        fprintf(file, " %10.4f ", simulated_cpi(prediction, &prediction->machines[machine]));
        put_error(predict_error(report, machine, 0), file);
    }
    fputc('\n', file);
}

static void print_table(const struct predict_report *report, FILE *file) {
    fprintf(file, "\n%s\n", predict_method_text(&report->methods[0], true).s);
    fprintf(file, "\n%6s %7s %9s  %-9s %10s %10s", "", "", "", "", "misses", "CPI");
    fprintf(file, "%s\n%6s %7s %9s  %-9s %10s %10s%s\n", report->checked ? "        CPI" : "",
            "ROB", "latency", "MSHRs", "prefetch", "per 1000", "predicted",
            report->checked ? "  simulated    error" : "");
    for (uint32_t i = 0; i < report->machine_count; i++)
        print_row(report, i, file);
}

/* Of one machine each refinement's CPI and its error, with its sign; of several the mean of errors
 * without their signs. */
static void print_refinements(const struct predict_report *report, FILE *file) {
    const bool one = report->machine_count == 1;
    fprintf(file, one ? "\n%-28s        CPI     error\n" : "\n%-28s mean |error|\n", "refinement");
    for (uint32_t i = 1; i < report->method_count; i++) {
        fprintf(file, " %-27s ", predict_refinement_names[i - 1]);
        if (one) {
            fprintf(file, "%10.4f ",
                    predicted_cpi(report->prediction, predict_result(report, 0, i)));
            put_error(predict_error(report, 0, i), file);
        } else if (isnan(predict_mean_error(report, i)))
            fprintf(file, "%12s", "-");
        else
            fprintf(file, "%10.1f %%", 100 * predict_mean_error(report, i));
        fputc('\n', file);
    }
}

void predict_text(const struct predict_report *report, const struct page *page) {
    FILE *file = page->file;
    print_head(report, page);
    if (report->machine_count == 1)
        print_single(report, page);
    else
        print_table(report, file);
    if (report->checked)
        print_refinements(report, file);
    report_text_foot(&report->report, page);
}
