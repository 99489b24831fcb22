/* Objects that cannot be made for want of memory are NULL, which jansson leaves out. */
#include "report/regions.h"
#include "util/text.h"

static void set_text(json_t *object, const char *key, const char *text) {
    char clean[4096];
    json_object_set_new(object, key, json_string(text_clean(clean, sizeof clean, text)));
}

static void set_count(json_t *object, const char *key, uint64_t count) {
    json_object_set_new(object, key, json_integer((json_int_t)count));
}

static json_t *runs_json(const struct profiled_runs *profile) {
    json_t *runs = json_array();
    for (size_t i = 0; i < profile->run_count; i++) {
        const struct profiled_run *of = &profile->runs[i];
        json_t *run = json_object();
        set_text(run, "vectors", of->path);
        if (of->has_table)
            set_text(run, "command", of->table.command);
        set_count(run, "instructions", of->instructions);
        set_count(run, "slices", of->count);
        json_object_set_new(run, "markers", json_boolean(of->has_table));
        json_array_append_new(runs, run);
    }
    return runs;
}

static json_t *region_json(const struct regions_report *report, uint32_t number) {
    const struct region_point *point = &report->choice->points[report->order[number]];
    const struct run_slice *slice = &report->profile->slices[point->slice];
    json_t *region = json_object();
    set_count(region, "region", number + 1);
    set_count(region, "run", slice->run);
    set_count(region, "cluster", point->cluster);
    set_count(region, "slice", slice->first_slice);
    set_count(region, "process", slice->process);
    set_count(region, "thread", slice->thread);
    set_count(region, "first", slice->first);
    set_count(region, "instructions", slice->instructions);
    json_object_set_new(region, "weight", json_real(point->weight));
    if (report->scatter && point->cluster < report->scatter_count)
        json_object_set_new(region, "scatter", json_real(report->scatter[point->cluster]));
    json_object_set_new(
        region, "multiplier",
        json_real(point->weight * (double)profiled_runs_instructions(report->profile) /
                  (double)slice->instructions));
    return region;
}

static json_t *tried_json(const struct region_choice *choice) {
    json_t *tried = json_array();
    for (uint32_t i = 0; i < choice->tried_count; i++) {
        json_t *one = json_object();
        set_count(one, "clusters", choice->tried[i].clusters);
        json_object_set_new(one, "bic", json_real(choice->tried[i].score));
        json_object_set_new(one, "chosen", json_boolean(i == choice->chosen));
        json_array_append_new(tried, one);
    }
    return tried;
}

json_t *regions_json(const struct regions_report *report) {
    const struct choose_settings *settings = report->settings;
    json_t *object = json_object(), *regions = json_array();
    json_object_set_new(object, "runs", runs_json(report->profile));
    set_text(object, "method",
             report->loaded ? "loaded" : SELECTION_METHODS[settings->selection.method]);
    set_count(object, "instructions", profiled_runs_instructions(report->profile));
    set_count(object, "slices", report->profile->points.count);
    set_count(object, "dimensions", report->profile->points.dimensions);
    set_count(object, "max_clusters", settings->selection.clusters.max_clusters);
    set_count(object, "seeds", settings->selection.clusters.seeds);
    set_count(object, "seed", settings->selection.clusters.seed);
    set_count(object, "iterations", settings->selection.clusters.iterations);
    json_object_set_new(object, "threshold", json_real(settings->selection.clusters.threshold));
    json_object_set_new(object, "early", json_real(settings->selection.clusters.early));
    set_text(object, "nearest_in", SELECTION_SPACES[settings->selection.nearest_in]);
    json_object_set_new(object, "coverage", json_real(settings->selection.coverage));
    set_count(object, "split", settings->selection.split);
    set_count(object, "merge_slices", settings->merge_slices);
    set_count(object, "chosen_instructions", report->chosen_instructions);
    json_object_set_new(object, "max_clusters_used", json_boolean(report->bound));
    for (uint32_t i = 0; i < report->choice->point_count; i++)
        json_array_append_new(regions, region_json(report, i));
    json_object_set_new(object, "regions", regions);
    json_object_set_new(object, "tried", tried_json(report->choice));
    return object;
}
