/* Regions by place in the run, then the numbers of clusters that were tried. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/regions.h"
#include "util/text.h"

struct order_item {
    uint32_t slice, point;
};

static int by_slice(const void *a, const void *b) {
    uint32_t x = ((const struct order_item *)a)->slice, y = ((const struct order_item *)b)->slice;
    return (x > y) - (x < y);
}

bool regions_report_init(struct regions_report *report, const struct profiled_runs *profile,
                         const struct region_choice *choice, const struct choose_settings *settings,
                         bool loaded) {
    *report = (struct regions_report){
        .profile = profile, .choice = choice, .settings = settings, .loaded = loaded};
    struct order_item *items = malloc(choice->point_count * sizeof *items);
    report->order = malloc(choice->point_count * sizeof *report->order);
    if (!items || !report->order) {
        free(items);
        regions_report_free(report);
        return false;
    }
    for (uint32_t i = 0; i < choice->point_count; i++) {
        items[i] = (struct order_item){.slice = choice->points[i].slice, .point = i};
        report->chosen_instructions += profile->slices[choice->points[i].slice].instructions;
    }
    qsort(items, choice->point_count, sizeof *items, by_slice);
    for (uint32_t i = 0; i < choice->point_count; i++)
        report->order[i] = items[i].point;
    free(items);
    return true;
}

void regions_report_free(struct regions_report *report) {
    free(report->order);
    report->order = NULL;
}

static uint32_t count_threads(const struct profiled_runs *profile) {
    uint32_t count = 1;
    for (size_t i = 1; i < profile->points.count; i++) {
        const struct run_slice *a = &profile->slices[i - 1], *b = &profile->slices[i];
        count += a->run != b->run || a->process != b->process || a->thread != b->thread;
    }
    return count;
}

static void head(const struct regions_report *report, FILE *out) {
    const struct profiled_runs *profile = report->profile;
    uint64_t total = profiled_runs_instructions(profile);
    uint32_t threads = count_threads(profile);
    for (size_t i = 0; i < profile->run_count; i++) {
        char path[4096];
        const struct profiled_run *run = &profile->runs[i];
        text_clean(path, sizeof path, run->path);
        if (profile->run_count > 1)
            fprintf(out, "run %zu  ", i);
        fprintf(out, "%s: %s instructions in %s slice%s", path, text_count(run->instructions).s,
                text_grouped(run->count).s, text_plural(run->count));
        if (profile->run_count == 1 && threads > 1)
            fprintf(out, " of %" PRIu32 " threads", threads);
        fputs(run->has_table ? "\n" : ", without markers (no file of slices)\n", out);
    }
    fprintf(out, "%" PRIu32 " region%s, %s instructions, %s %% of them, ",
            report->choice->point_count, text_plural(report->choice->point_count),
            text_count(report->chosen_instructions).s,
            text_percent((double)report->chosen_instructions, (double)total).s);
    if (report->loaded)
        fputs("from SimPoint's files\n\n", out);
    else if (report->settings->selection.method != SELECT_SIMPOINT)
        fprintf(out, "%s\n\n",
                report->settings->selection.method == SELECT_RANDOM ? "drawn at random"
                                                                    : "at even distances");
    else
        fputs("one for each phase\n\n", out);
}

/* How many columns the largest of these numbers takes. */
static int columns_of(uint64_t most) {
    return (int)strlen(text_grouped(most).s);
}

static void table(const struct regions_report *report, FILE *out) {
    const struct profiled_runs *profile = report->profile;
    bool merged = profile->run_count > 1;
    uint64_t last = 0;
    for (uint32_t i = 0; i < report->choice->point_count; i++) {
        uint64_t first = profile->slices[report->choice->points[i].slice].first;
        last = first > last ? first : last;
    }
    int wide = columns_of(last);
    wide = wide < 16 ? 16 : wide;
    fprintf(out, "%6s %s%7s %9s %11s %*s %13s %8s %10s\n", "region", merged ? " run " : "",
            "cluster", "slice", "proc/thread", wide, "from instruction", "instructions", "weight",
            "multiplier");
    for (uint32_t i = 0; i < report->choice->point_count; i++) {
        const struct region_point *point = &report->choice->points[report->order[i]];
        const struct run_slice *slice = &profile->slices[point->slice];
        char thread[32], run[16] = "";
        snprintf(thread, sizeof thread, "%" PRIu32 "/%" PRIu32, slice->process, slice->thread);
        if (merged)
            snprintf(run, sizeof run, "%4" PRIu32 " ", slice->run);
        double multiplier = point->weight * (double)profiled_runs_instructions(profile) /
                            (double)slice->instructions;
        fprintf(out, "%6" PRIu32 " %s%7" PRIu32 " %9" PRIu32 " %11s %*s %13s %6s %% %10s\n", i + 1,
                run, point->cluster, slice->first_slice, thread, wide, text_grouped(slice->first).s,
                text_grouped(slice->instructions).s, text_percent(point->weight, 1).s,
                text_quantity(multiplier).s);
    }
}

static void tried(const struct regions_report *report, FILE *out) {
    const struct region_choice *choice = report->choice;
    const struct region_settings *settings = &report->settings->selection.clusters;
    if (choice->tried_count == 0)
        return;
    fprintf(out,
            "\nk-means in %" PRIu32 " dimensions, the best of %" PRIu32
            " seedings for each number of clusters tried:\n",
            report->profile->points.dimensions, settings->seeds);
    fprintf(out, "%9s %14s\n", "clusters", "BIC");
    for (uint32_t i = 0; i < choice->tried_count; i++)
        fprintf(out, "%9" PRIu32 " %14.1f%s\n", choice->tried[i].clusters, choice->tried[i].score,
                i != choice->chosen ? "" : "   chosen");
    fprintf(out,
            "The fewest whose score is at least %g of the way from the lowest to the highest.\n",
            settings->threshold);
    if (report->settings->selection.split > choice->tried[choice->chosen].clusters)
        fprintf(out,
                "The heaviest were split in time, into parts one after the other, to have %" PRIu32
                " in all.\n",
                report->settings->selection.split);
    if (report->settings->selection.coverage < 1)
        fprintf(out, "Only the heaviest clusters that cover %g of the instructions are used.\n",
                report->settings->selection.coverage);
}

void regions_text(const struct regions_report *report, FILE *out) {
    head(report, out);
    table(report, out);
    tried(report, out);
}
