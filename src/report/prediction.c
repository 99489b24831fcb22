/* Cycles as cycles per instruction, whose error is a percentage; all else per thousand
 * instructions, with its difference: of rates near 0 percentages say nothing. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "attribute/attribute.h"
#include "report/json_values.h"
#include "report/regions.h"
#include "util/text.h"

static void draws_text(const char *name, const struct draw_errors *errors, FILE *out) {
    fprintf(out, "%-12s %8.2f %% %10.2f %% %14.2f %%\n", name, 100 * errors->mean,
            100 * errors->deviation, 100 * errors->most_95);
}

/* Columns of 'sim --slices' in parts of a cycle, CYCLE_UNITS each, are cycles here. */
static bool is_of_units(const char *name) {
    return !strncmp(name, "units_", 6);
}

static double per_1000(const char *name) {
    return is_of_units(name) ? 1000. / CYCLE_UNITS : 1000;
}

struct label {
    char s[160];
};

/* "units_base" -> "cycles, base" */
static struct label label_of(const char *name) {
    struct label label;
    snprintf(label.s, sizeof label.s, is_of_units(name) ? "cycles, %s" : "%s",
             is_of_units(name) ? name + 6 : name);
    return label;
}

void prediction_text(const struct prediction *prediction, FILE *out) {
    const struct region_costs *costs = prediction->costs;
    double truth = prediction->truth[COSTS_CYCLES], found = prediction->predicted[COSTS_CYCLES];
    fprintf(out, "\nCPI %.4f, predicted from the regions %.4f: %+.2f %%\n", truth, found,
            text_shown(100 * (found / truth - 1), 2));
    if (costs->column_count > 1)
        fprintf(out, "\n%-32s %12s %12s %12s\n", "per 1000 instructions", "true", "predicted",
                "difference");
    for (uint32_t i = COSTS_CYCLES + 1; i < costs->column_count; i++) {
        char name[160];
        const double per = per_1000(costs->names[i]);
        text_fit(name, sizeof name, label_of(costs->names[i]).s, 32, TEXT_LEFT);
        fprintf(out, "%s %12.3f %12.3f %+12.3f\n", name, per * prediction->truth[i],
                per * prediction->predicted[i],
                per * (prediction->predicted[i] - prediction->truth[i]));
    }
    fprintf(out, "\n%" PRIu32 " draws of as many slices: errors of CPI\n%-12s %10s %12s %16s\n",
            prediction->draws, "", "mean size", "std. dev.", "95 % are below");
    draws_text("random", &prediction->random, out);
    draws_text("systematic", &prediction->systematic, out);
    if (prediction->spread_count == 0)
        return;
    fprintf(out, "\n%7s %8s %10s %10s %12s %18s\n", "cluster", "weight", "mean CPI", "its region",
            "std. dev.", "std. dev. / mean");
    for (uint32_t i = 0; i < prediction->spread_count; i++) {
        const struct cluster_spread *spread = &prediction->spreads[i];
        fprintf(out, "%7" PRIu32 " %6s %% %10.4f %10.4f %12.4f %16.1f %%\n", spread->cluster,
                text_percent(spread->weight, 1).s, spread->mean, spread->chosen, spread->deviation,
                spread->mean > 0 ? 100 * spread->deviation / spread->mean : 0);
    }
}

/* ---- JSON ---- */

static json_t *draws_json(const struct draw_errors *errors) {
    return json_pack("{s:f, s:f, s:f}", "mean_error", errors->mean, "deviation", errors->deviation,
                     "error_95", errors->most_95);
}

static json_t *column_json(const struct prediction *prediction, uint32_t column) {
    return json_pack("{s:o, s:f, s:f}", "name", json_text(prediction->costs->names[column]),
                     "true_per_1000_instructions", 1000 * prediction->truth[column],
                     "predicted_per_1000_instructions", 1000 * prediction->predicted[column]);
}

static json_t *spread_json(const struct cluster_spread *spread) {
    return json_pack("{s:I, s:f, s:f, s:f, s:f, s:f}", "cluster", (json_int_t)spread->cluster,
                     "weight", spread->weight, "mean_cpi", spread->mean, "region_cpi",
                     spread->chosen, "deviation", spread->deviation, "coefficient_of_variation",
                     spread->mean > 0 ? spread->deviation / spread->mean : 0.0);
}

json_t *prediction_json(const struct prediction *prediction) {
    json_t *columns = json_array(), *clusters = json_array();
    double truth = prediction->truth[COSTS_CYCLES], found = prediction->predicted[COSTS_CYCLES];
    for (uint32_t i = COSTS_CYCLES; i < prediction->costs->column_count; i++)
        json_array_append_new(columns, column_json(prediction, i));
    for (uint32_t i = 0; i < prediction->spread_count; i++)
        json_array_append_new(clusters, spread_json(&prediction->spreads[i]));
    return json_pack("{s:f, s:f, s:o, s:o, s:o, s:I, s:o, s:o}", "true_cpi", truth, "predicted_cpi",
                     found, "error", json_number(found / truth - 1), "columns", columns, "clusters",
                     clusters, "draws", (json_int_t)prediction->draws, "random",
                     draws_json(&prediction->random), "systematic",
                     draws_json(&prediction->systematic));
}
