/* The choice of regions as one JSON object; every key is documented in docs/json.md. */
#include "report/regions.h"
#include "report/json_values.h"

static json_t *runs_json(const struct profiled_runs *profile) {
    json_t *runs = json_array();
    for (size_t i = 0; i < profile->run_count; i++) {
        const struct profiled_run *run = &profile->runs[i];
        json_array_append_new(
            runs, json_pack("{s:o, s:o*, s:I, s:I, s:b}", "vectors", json_text(run->path),
                            "command", run->has_table ? json_text(run->table.command) : NULL,
                            "instructions", (json_int_t)run->instructions, "slices",
                            (json_int_t)run->count, "markers", run->has_table));
    }
    return runs;
}

static json_t *region_json(const struct regions_report *report, uint32_t number) {
    const struct region_point *point = &report->choice->points[report->order[number]];
    const struct run_slice *slice = &report->profile->slices[point->slice];
    const bool scattered = report->scatter && point->cluster < report->scatter_count;
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:f, s:o*, s:f}", "region",
                     (json_int_t)number + 1, "run", (json_int_t)slice->run, "cluster",
                     (json_int_t)point->cluster, "slice", (json_int_t)slice->first_slice, "process",
                     (json_int_t)slice->process, "thread", (json_int_t)slice->thread, "first",
                     (json_int_t)slice->first, "instructions", (json_int_t)slice->instructions,
                     "weight", point->weight, "scatter",
                     scattered ? json_real(report->scatter[point->cluster]) : NULL, "multiplier",
                     point->weight * (double)profiled_runs_instructions(report->profile) /
                         (double)slice->instructions);
}

static json_t *tried_json(const struct region_choice *choice) {
    json_t *tried = json_array();
    for (uint32_t i = 0; i < choice->tried_count; i++)
        json_array_append_new(
            tried, json_pack("{s:I, s:f, s:b}", "clusters", (json_int_t)choice->tried[i].clusters,
                             "bic", choice->tried[i].score, "chosen", i == choice->chosen));
    return tried;
}

json_t *regions_json(const struct regions_report *report) {
    const struct choose_settings *settings = report->settings;
    const struct selection_settings *selection = &settings->selection;
    const struct region_settings *clusters = &selection->clusters;
    const struct projection *points = &report->profile->points;
    json_t *regions = json_array();
    for (uint32_t i = 0; i < report->choice->point_count; i++)
        json_array_append_new(regions, region_json(report, i));
    return json_pack(
        "{s:o, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:f, s:f, s:s, s:f, s:I, s:I, s:I, s:b, "
        "s:o, "
        "s:o}",
        "runs", runs_json(report->profile), "method",
        report->loaded ? "loaded" : SELECTION_METHODS[selection->method], "instructions",
        (json_int_t)profiled_runs_instructions(report->profile), "slices",
        (json_int_t)points->count, "dimensions", (json_int_t)points->dimensions, "max_clusters",
        (json_int_t)clusters->max_clusters, "seeds", (json_int_t)clusters->seeds, "seed",
        (json_int_t)clusters->seed, "iterations", (json_int_t)clusters->iterations, "threshold",
        clusters->threshold, "early", clusters->early, "nearest_in",
        SELECTION_SPACES[selection->nearest_in], "coverage", selection->coverage, "split",
        (json_int_t)selection->split, "merge_slices", (json_int_t)settings->merge_slices,
        "chosen_instructions", (json_int_t)report->chosen_instructions, "max_clusters_used",
        report->bound, "regions", regions, "tried", tried_json(report->choice));
}
