/* Any bytes as the costs of four slices of two threads. What is read keeps its promises, and leads
 * to a prediction. */
#include <math.h>
#include <string.h>

#include "input.h"
#include "region/prediction.h"

static void read_runs(struct profiled_runs *runs) {
    static const char text[] = "T:1:100\nT:2:100\nT:1:100\nT:2:50 :3:50\n";
    struct error error;
    struct memory_file file = memory_file(text, sizeof text - 1);
    profiled_runs_init(runs, 3, 1, false);
    require(profiled_runs_add(runs, file.path, &error));
    for (size_t i = 2; i < 4; i++) { /* there is no table that would say so */
        runs->slices[i].thread = 1;
        runs->slices[i].first -= 200;
    }
    close(file.fd);
}

static void check(const struct region_costs *costs, const struct profiled_runs *runs) {
    struct region_point points[] = {{0, 0, 0.5, 0}, {3, 1, 0.5, 1}};
    uint32_t labels[] = {0, 1, 0, 1};
    struct region_choice choice = {
        .points = points, .point_count = 2, .labels = labels, .slice_count = 4};
    struct prediction prediction;
    struct error error = {0};
    require(costs->slice_count == 4 && costs->column_count > 0);
    for (size_t i = 0; i < 4 * (size_t)costs->column_count; i++)
        require(costs->values[i] >= 0);
    require(strcmp(costs->names[COSTS_CYCLES], "cycles") == 0);
    if (prediction_make(&prediction, costs, &runs->points, &choice, 10, 1, &error))
        require(prediction.truth[COSTS_CYCLES] > 0 && prediction.spread_count == 2);
    else
        require(strcmp(error.message, "the costs have no cycles") == 0);
    prediction_free(&prediction);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct error error = {0};
    struct region_costs costs = {0};
    struct profiled_runs runs;
    struct memory_file file = memory_file(data, size);
    read_runs(&runs);
    if (region_costs_add(&costs, &runs, 0, file.path, &error))
        check(&costs, &runs);
    else
        require(error.message[0] && !strchr(error.message, '\n'));
    region_costs_free(&costs);
    profiled_runs_free(&runs);
    close(file.fd);
    return 0;
}
