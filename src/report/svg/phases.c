/* Time is cut into columns of a pixel; each shows the cluster that has most of its instructions,
 * and columns in a row that show the same are one rectangle: the picture stays small however long
 * the run was. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/regions.h"
#include "report/svg.h"
#include "util/text.h"

enum {
    COLUMNS = 1000, /* of time */
    LEFT = 92,      /* for the names of lanes and threads */
    RIGHT = 24,
    TOP = 44,
    MARK = 16, /* above a thread, for the marks of its regions */
    LANE = 9,
    BAND = 14,
    GAP = 8, /* between threads */
    BOTTOM = 40,
    MAX_LANES = 96,  /* of all threads; with more, each thread is a band */
    MAX_THREADS = 64 /* that are drawn */
};

struct thread {
    size_t first, end; /* its slices, in the profile */
    uint64_t instructions;
};

struct picture {
    const struct regions_report *report;
    FILE *out;
    struct thread threads[MAX_THREADS];
    uint32_t thread_count, more; /* threads that are not drawn */
    uint32_t clusters;
    bool lanes;
    double scale;     /* columns per instruction */
    uint64_t *shares; /* [clusters] instructions in one column */
};

/* The cluster numbers are those of labels; after a coverage some have no point. */
static uint32_t count_clusters(const struct region_choice *choice) {
    uint32_t most = 0;
    for (size_t i = 0; choice->labels && i < choice->slice_count; i++)
        most = choice->labels[i] >= most ? choice->labels[i] + 1 : most;
    return most;
}

static void find_threads(struct picture *picture, uint32_t run) {
    const struct profiled_runs *profile = picture->report->profile;
    const struct profiled_run *of = &profile->runs[run];
    uint64_t longest = 1;
    size_t end = of->first + of->count;
    for (size_t i = of->first, next; i < end; i = next) {
        const struct run_slice *slice = &profile->slices[i];
        for (next = i + 1; next < end && profile->slices[next].process == slice->process &&
                           profile->slices[next].thread == slice->thread;
             next++)
            ;
        uint64_t length = profile->slices[next - 1].first + profile->slices[next - 1].instructions;
        longest = length > longest ? length : longest;
        if (picture->thread_count < MAX_THREADS)
            picture->threads[picture->thread_count++] =
                (struct thread){.first = i, .end = next, .instructions = length};
        else
            picture->more++;
    }
    picture->scale = COLUMNS / (double)longest;
}

static double thread_height(const struct picture *picture) {
    return MARK + (picture->lanes ? LANE * (double)picture->clusters : BAND);
}

/* The most of the column `x`, UINT32_MAX: nothing runs there. `*slice` moves on. */
static uint32_t cluster_at(struct picture *picture, const struct thread *thread, uint32_t x,
                           size_t *slice) {
    const struct profiled_runs *profile = picture->report->profile;
    double from = x / picture->scale, to = (x + 1) / picture->scale;
    uint32_t best = UINT32_MAX;
    memset(picture->shares, 0, picture->clusters * sizeof *picture->shares);
    for (; *slice < thread->end; ++*slice) {
        const struct run_slice *of = &profile->slices[*slice];
        double first = (double)of->first, end = first + (double)of->instructions;
        if (first >= to)
            break;
        double part = fmin(end, to) - fmax(first, from);
        uint32_t cluster = picture->report->choice->labels[*slice];
        if (part > 0)
            picture->shares[cluster] += (uint64_t)part + 1;
        if (part > 0 && (best == UINT32_MAX || picture->shares[cluster] > picture->shares[best]))
            best = cluster;
        if (end > to)
            break; /* it reaches into the next column */
    }
    return best;
}

static void draw_piece(const struct picture *picture, uint32_t cluster, uint32_t from, uint32_t to,
                       double top) {
    fprintf(picture->out, "<rect x=\"%u\" y=\"%.0f\" width=\"%u\" height=\"%d\" fill=\"%s\"/>\n",
            LEFT + from, top + (picture->lanes ? cluster * LANE : 0), to - from,
            picture->lanes ? LANE - 1 : BAND, svg_colour(cluster).code);
}

static void draw_thread(struct picture *picture, const struct thread *thread, double top) {
    size_t slice = thread->first;
    uint32_t before = UINT32_MAX, from = 0;
    for (uint32_t x = 0; x <= COLUMNS && picture->clusters; x++) {
        uint32_t cluster = x < COLUMNS ? cluster_at(picture, thread, x, &slice) : UINT32_MAX;
        if (cluster == before)
            continue;
        if (before != UINT32_MAX)
            draw_piece(picture, before, from, x, top);
        before = cluster;
        from = x;
    }
}

static void draw_lane_names(const struct picture *picture, double top) {
    const struct region_choice *choice = picture->report->choice;
    fputs("<g font-size=\"8\">", picture->out);
    svg_text(picture->out, LEFT - 6, top - 4, SVG_END, "cluster  weight");
    fputs("</g>\n", picture->out);
    for (uint32_t i = 0; i < choice->point_count; i++) {
        char name[48];
        snprintf(name, sizeof name, "%" PRIu32 "  %s %%", choice->points[i].cluster,
                 text_percent(choice->points[i].weight, 1).s);
        fprintf(picture->out, "<g font-size=\"8\">");
        svg_text(picture->out, LEFT - 6, top + LANE * (choice->points[i].cluster + 0.8), SVG_END,
                 name);
        fprintf(picture->out, "</g>\n");
    }
}

static void draw_regions(const struct picture *picture, const struct thread *thread, double top) {
    const struct regions_report *report = picture->report;
    double height = thread_height(picture) - MARK;
    for (uint32_t i = 0; i < report->choice->point_count; i++) {
        const struct region_point *point = &report->choice->points[report->order[i]];
        if (point->slice < thread->first || point->slice >= thread->end)
            continue;
        const struct run_slice *slice = &report->profile->slices[point->slice];
        double x = LEFT + (double)slice->first * picture->scale;
        double width = fmax((double)slice->instructions * picture->scale, 1);
        double lane = picture->lanes ? top + point->cluster * LANE : top;
        double middle = x + width / 2;
        fprintf(picture->out,
                "<g><title>region %" PRIu32 ", cluster %" PRIu32 ", slice %" PRIu32
                ", weight %.4f</title><line x1=\"%.1f\" y1=\"%.0f\" x2=\"%.1f\" y2=\"%.0f\" "
                "stroke=\"#888\" stroke-width=\"0.5\"/><path d=\"M%.1f %.0f l-4 -7 h8 z\" "
                "fill=\"%s\" stroke=\"#222\" stroke-width=\"0.7\"/>",
                i + 1, point->cluster, slice->first_slice, point->weight, middle, top, middle,
                top + height, middle, top, svg_colour(point->cluster).code);
        if (picture->clusters)
            fprintf(picture->out,
                    "<rect x=\"%.1f\" y=\"%.0f\" width=\"%.1f\" height=\"%d\" fill=\"none\" "
                    "stroke=\"#111\" stroke-width=\"1\"/>",
                    x, lane, width, picture->lanes ? LANE - 1 : BAND);
        fputs("</g>\n", picture->out);
    }
}

static void draw_axis(const struct picture *picture, double y) {
    double most = COLUMNS / picture->scale, step = svg_step(most, 8);
    fprintf(picture->out, "<path d=\"M%d %.0f h%d\" stroke=\"#222\" fill=\"none\"/>\n", LEFT, y,
            COLUMNS);
    for (int i = 0; i * step <= most * 1.0001; i++) {
        double at = i * step, x = LEFT + at * picture->scale;
        fprintf(picture->out, "<path d=\"M%.1f %.0f v4\" stroke=\"#222\" fill=\"none\"/>\n", x, y);
        svg_text(picture->out, x, y + 16, SVG_MIDDLE, text_quantity(at).s);
    }
    svg_text(picture->out, LEFT + COLUMNS / 2.0, y + 31, SVG_MIDDLE, "instructions of the thread");
}

static void draw_title(const struct picture *picture, const struct profiled_run *run) {
    char rest[160];
    snprintf(rest, sizeof rest, ": %s instructions, %s slices, %" PRIu32 " regions",
             text_count(run->instructions).s, text_grouped(run->count).s,
             picture->report->choice->point_count);
    svg_title(picture->out, LEFT, LEFT + COLUMNS + RIGHT,
              run->has_table ? run->table.command : run->path, rest);
}

void phases_svg(const struct regions_report *report, uint32_t run, FILE *out) {
    struct picture picture = {.report = report, .out = out};
    const struct profiled_runs *profile = report->profile;
    picture.clusters = count_clusters(report->choice);
    picture.shares = calloc(picture.clusters + 1, sizeof *picture.shares);
    if (!picture.shares)
        picture.clusters = 0;
    find_threads(&picture, run);
    picture.lanes =
        picture.clusters && (uint64_t)picture.thread_count * picture.clusters <= MAX_LANES;
    double row = thread_height(&picture) + GAP;
    double bottom = TOP + row * picture.thread_count;
    svg_begin(out, LEFT + COLUMNS + RIGHT, bottom + BOTTOM);
    draw_title(&picture, &profile->runs[run]);
    for (uint32_t i = 0; i < picture.thread_count; i++) {
        const struct thread *thread = &picture.threads[i];
        const struct run_slice *slice = &profile->slices[thread->first];
        double top = TOP + row * i + MARK;
        char name[64];
        snprintf(name, sizeof name, "%" PRIu32 "/%" PRIu32, slice->process, slice->thread);
        if (picture.thread_count > 1 || !picture.lanes)
            svg_text(out, 8, top + BAND - 3, SVG_START, name);
        if (picture.lanes)
            draw_lane_names(&picture, top);
        draw_thread(&picture, thread, top);
        draw_regions(&picture, thread, top);
    }
    if (picture.more) {
        char more[64];
        snprintf(more, sizeof more, "%" PRIu32 " more threads", picture.more);
        svg_text(out, 8, bottom + 16, SVG_START, more);
    }
    draw_axis(&picture, bottom);
    svg_end(out);
    free(picture.shares);
}
