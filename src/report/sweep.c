/* The text has the fronts, where points that take as many instructions stand once; the JSON object
 * has all points. */
#include <inttypes.h>
#include <stdlib.h>

#include "report/regions.h"
#include "util/order.h"
#include "util/text.h"

static void line(const struct sweep_point *point, FILE *out) {
    char value[32] = "";
    if (point->kind != SWEEP_CLUSTERS)
        snprintf(value, sizeof value, "%g", point->value);
    fprintf(out, "%12" PRIu32 " %12s %10.2f %% %10.2f %% %14s %9" PRIu32 "\n", point->max_clusters,
            value, 100 * point->mean_error, 100 * point->max_error,
            text_count(point->instructions).s, point->regions);
}

static int by_instructions(const void *a, const void *b) {
    const struct sweep_point *x = *(const struct sweep_point *const *)a;
    const struct sweep_point *y = *(const struct sweep_point *const *)b;
    return ascending(x->instructions, y->instructions) ?: ascending(x, y);
}

/* The points of the front, of those alike the first. */
static void front(const struct sweep *sweep, enum sweep_kind kind, FILE *out) {
    static const char *const ABOUT[SWEEP_KINDS] = {
        "most clusters, all else as asked for", "most clusters and dimensions",
        "most clusters and threshold", "most clusters and share of the run that is profiled"};
    size_t count = 0;
    const struct sweep_point **order = calloc(sweep->point_count, sizeof(struct sweep_point *));
    for (size_t i = 0; i < sweep->point_count && order; i++)
        if (sweep->points[i].kind == kind && sweep->points[i].mean_front)
            order[count++] = &sweep->points[i];
    if (count)
        qsort(order, count, sizeof *order, by_instructions);
    fprintf(out, "\n%s: the least mean error for the instructions\n", ABOUT[kind]);
    fprintf(out, "%12s %12s %12s %12s %14s %9s\n", "max-clusters",
            kind == SWEEP_CLUSTERS ? "" : SWEEP_NAMES[kind], "mean error", "max error",
            "instructions", "regions");
    for (size_t i = 0; i < count; i++)
        if (i == 0 || order[i]->instructions != order[i - 1]->instructions)
            line(order[i], out);
    free(order);
}

void sweep_text(const struct sweep *sweep, size_t input_count, FILE *out) {
    fprintf(out, "%zu settings, each of %zu input%s\n", sweep->point_count, input_count,
            text_plural(input_count));
    for (int kind = 0; kind < SWEEP_KINDS; kind++)
        front(sweep, (enum sweep_kind)kind, out);
    fputs("\nrecommended (on the fronts of mean and of maximum error, and within a point of the "
          "least mean):\n",
          out);
    if (sweep->recommended_clusters == SIZE_MAX) {
        fputs("  none is on both fronts\n", out);
        return;
    }
    fprintf(out, "  --max-clusters %" PRIu32 "\n",
            sweep->points[sweep->recommended_clusters].max_clusters);
    if (sweep->recommended_threshold != SIZE_MAX)
        fprintf(out, "  and then --threshold %g\n",
                sweep->points[sweep->recommended_threshold].value);
}

static json_t *point_json(const struct sweep_point *point) {
    const bool varies = point->kind != SWEEP_CLUSTERS;
    return json_pack("{s:I, s:o*, s:f, s:f, s:I, s:I, s:b, s:b}", "max_clusters",
                     (json_int_t)point->max_clusters, SWEEP_NAMES[point->kind],
                     varies ? json_real(point->value) : NULL, "mean_error", point->mean_error,
                     "max_error", point->max_error, "instructions", (json_int_t)point->instructions,
                     "regions", (json_int_t)point->regions, "mean_front", point->mean_front,
                     "max_front", point->max_front);
}

json_t *sweep_json(const struct sweep *sweep) {
    json_t *object = json_object();
    for (int kind = 0; kind < SWEEP_KINDS; kind++) {
        json_t *points = json_array();
        for (size_t i = 0; i < sweep->point_count; i++)
            if (sweep->points[i].kind == (enum sweep_kind)kind)
                json_array_append_new(points, point_json(&sweep->points[i]));
        json_object_set_new(object, SWEEP_NAMES[kind], points);
    }
    json_t *recommended = json_object();
    if (sweep->recommended_clusters != SIZE_MAX)
        json_object_set_new(recommended, "max_clusters",
                            json_integer(sweep->points[sweep->recommended_clusters].max_clusters));
    if (sweep->recommended_threshold != SIZE_MAX)
        json_object_set_new(recommended, "threshold",
                            json_real(sweep->points[sweep->recommended_threshold].value));
    json_object_set_new(object, "recommended", recommended);
    return object;
}
