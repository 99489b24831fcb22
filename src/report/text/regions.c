/* Regions by place in the run, then the numbers of clusters that were tried. */
#include <inttypes.h>
#include <stdlib.h>

#include "region/scatter.h"
#include "report/regions.h"
#include "report/table.h"
#include "util/order.h"
#include "util/text.h"

static int by_slice(const void *left, const void *right, void *context) {
    const struct region_point *points = context;
    const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return ascending(points[a].slice, points[b].slice);
}

bool regions_report_init(struct regions_report *report, const struct profiled_runs *profile,
                         const struct region_choice *choice, const struct choose_settings *settings,
                         bool loaded) {
    *report = (struct regions_report){
        .profile = profile, .choice = choice, .settings = settings, .loaded = loaded};
    report->order = malloc((choice->point_count + (size_t)1) * sizeof *report->order);
    if (!report->order)
        return false;
    for (uint32_t i = 0; i < choice->point_count; i++) {
        report->order[i] = i;
        report->chosen_instructions += profile->slices[choice->points[i].slice].instructions;
    }
    if (!loaded && settings->selection.method == SELECT_SIMPOINT) {
        const uint32_t most = settings->selection.clusters.max_clusters;
        report->scatter = region_scatter(&profile->points, choice, &report->scatter_count);
        report->bound =
            choice->tried[choice->chosen].clusters == most && most < profile->points.count;
    }
    qsort_r(report->order, choice->point_count, sizeof *report->order, by_slice, choice->points);
    return true;
}

void regions_report_free(struct regions_report *report) {
    free(report->order);
    free(report->scatter);
    report->order = NULL;
    report->scatter = NULL;
}

static uint32_t count_threads(const struct profiled_runs *profile) {
    uint32_t count = 1;
    for (size_t i = 1; i < profile->points.count; i++) {
        const struct run_slice *a = &profile->slices[i - 1], *b = &profile->slices[i];
        count += a->run != b->run || a->process != b->process || a->thread != b->thread;
    }
    return count;
}

static const char *origin_of(const struct regions_report *report) {
    return report->loaded                                          ? "from SimPoint's files"
           : report->settings->selection.method == SELECT_SIMPOINT ? "one for each phase"
           : report->settings->selection.method == SELECT_RANDOM   ? "drawn at random"
                                                                   : "at even distances";
}

static void head(const struct regions_report *report, FILE *out) {
    const struct page page = page_of(out, false);
    const struct profiled_runs *profile = report->profile;
    uint64_t total = profiled_runs_instructions(profile);
    uint32_t threads = count_threads(profile);
    for (size_t i = 0; i < profile->run_count; i++) {
        char path[4096], number[32] = "", of[32] = "";
        const struct profiled_run *run = &profile->runs[i];
        text_clean(path, sizeof path, run->path);
        if (profile->run_count > 1)
            snprintf(number, sizeof number, "run %zu  ", i);
        if (profile->run_count == 1 && threads > 1)
            snprintf(of, sizeof of, " of %" PRIu32 " threads", threads);
        page_print(&page, "%s%s: %s instructions in %s slice%s%s%s", number, path,
                   text_count(run->instructions).s, text_grouped(run->count).s,
                   text_plural(run->count), of,
                   run->has_table ? "" : ", without markers (no file of slices)");
    }
    page_print(&page, "%" PRIu32 " region%s, %s instructions, %s %% of them, %s",
               report->choice->point_count, text_plural(report->choice->point_count),
               text_count(report->chosen_instructions).s,
               text_percent((double)report->chosen_instructions, (double)total).s,
               origin_of(report));
    fputc('\n', out);
}

static void table(const struct regions_report *report, FILE *out) {
    static const struct table_column COLUMNS[] = {
        {"region", TABLE_FIGURE, .gap = 0},
        {"cluster", TABLE_FIGURE, .gap = 2, .rank = 1},
        {"slice", TABLE_FIGURE, .gap = 2},
        {"proc/thread", TABLE_FIGURE, .gap = 2, .rank = 2},
        {"from instruction", TABLE_FIGURE, .gap = 2},
        {"instructions", TABLE_FIGURE, .gap = 2},
        {"weight", TABLE_FIGURE, .gap = 2},
        {"multiplier", TABLE_FIGURE, .gap = 2, .rank = 3}};
    const struct profiled_runs *profile = report->profile;
    const bool merged = profile->run_count > 1;
    const struct page page = page_of(out, false);
    struct table *table = table_with(&page, COLUMNS, 1);
    if (merged)
        table_column(table, "run", TABLE_FIGURE, .gap = 2);
    table_columns(table, COLUMNS + 1, sizeof COLUMNS / sizeof *COLUMNS - 1);
    for (uint32_t i = 0; i < report->choice->point_count; i++) {
        const struct region_point *point = &report->choice->points[report->order[i]];
        const struct run_slice *slice = &profile->slices[point->slice];
        double multiplier = point->weight * (double)profiled_runs_instructions(profile) /
                            (double)slice->instructions;
        table_figure(table, "%" PRIu32, i + 1);
        if (merged)
            table_figure(table, "%" PRIu32, slice->run);
        table_figure(table, "%" PRIu32, point->cluster);
        table_figure(table, "%" PRIu32, slice->first_slice);
        table_figure(table, "%" PRIu32 "/%" PRIu32, slice->process, slice->thread);
        table_cell(table, text_grouped(slice->first).s);
        table_cell(table, text_grouped(slice->instructions).s);
        table_figure(table, "%s %%", text_percent(point->weight, 1).s);
        table_cell(table, text_quantity(multiplier).s);
    }
    table_end(table);
}

static void tried(const struct regions_report *report, FILE *out) {
    const struct page page = page_of(out, false);
    const struct region_choice *choice = report->choice;
    const struct region_settings *settings = &report->settings->selection.clusters;
    if (choice->tried_count == 0)
        return;
    fputc('\n', out);
    page_print(&page,
               "k-means in %" PRIu32 " dimensions, the best of %" PRIu32
               " seedings for each number of clusters tried:",
               report->profile->points.dimensions, settings->seeds);
    fprintf(out, "%9s %14s\n", "clusters", "BIC");
    for (uint32_t i = 0; i < choice->tried_count; i++)
        fprintf(out, "%9" PRIu32 " %14.1f%s\n", choice->tried[i].clusters, choice->tried[i].score,
                i != choice->chosen ? "" : "   chosen");
    page_print(&page,
               "The fewest whose score is at least %g of the way from the lowest to the highest.",
               settings->threshold);
    page_print(&page, "Of each cluster the slice nearest to its centroid %s is taken.",
               report->settings->selection.nearest_in == SPACE_FULL ? "before projection"
                                                                    : "as projected");
    if (report->settings->selection.split > choice->tried[choice->chosen].clusters)
        page_print(
            &page,
            "The heaviest were split in time, into parts one after the other, to have %" PRIu32
            " in all.",
            report->settings->selection.split);
    if (report->settings->selection.coverage < 1)
        page_print(&page, "Only the heaviest clusters that cover %g of the instructions are used.",
                   report->settings->selection.coverage);
}

/* What the choice cannot be right about. */
static void warnings(const struct regions_report *report, FILE *out) {
    const struct page page = page_of(out, false);
    const struct region_choice *choice = report->choice;
    bool far = false;
    if (report->bound)
        page_print(&page,
                   "warning: all of --max-clusters %" PRIu32
                   " are used: phases may share a cluster, try more",
                   report->settings->selection.clusters.max_clusters);
    for (uint32_t i = 0; report->scatter && i < choice->point_count; i++) {
        const struct region_point *point = &choice->points[report->order[i]];
        double scatter =
            point->cluster < report->scatter_count ? report->scatter[point->cluster] : 0;
        if (scatter <= SCATTER_FAR)
            continue;
        far = true;
        page_print(&page,
                   "warning: cluster %" PRIu32 " (%s %% of the instructions) has slices far apart: "
                   "%s %% of their vectors is not common to them",
                   point->cluster, text_percent(point->weight, 1).s, text_percent(scatter, 1).s);
    }
    if (far)
        page_print(&page, "One region does not stand for slices of unlike code: more clusters, or "
                          "shorter slices.");
}

void regions_text(const struct regions_report *report, FILE *out) {
    head(report, out);
    table(report, out);
    tried(report, out);
    warnings(report, out);
}
