/* Runs of one program, summed: places that are known stand in order, those of the run under way
 * behind them. */
#include <stdlib.h>
#include <string.h>

#include "query/compared_run.h"
#include "util/order.h"

ORDER(by_place, struct compared_place,
      strcmp(a->own_image, b->own_image) ?: ascending(a->offset, b->offset))

bool compared_run_join(struct compared_run *run, const struct compared_place *place,
                       struct error *error) {
    const struct compared_place wanted = {.own_image = place->image, .offset = place->offset};
    struct compared_place *found =
        run->known ? bsearch(&wanted, run->places, run->known, sizeof wanted, by_place) : NULL;
    if (!found)
        return compared_run_add(run, place, error);
    compared_cost_add(&found->cost, &place->cost);
    compared_cost_add(&run->all, &place->cost);
    return true;
}

void compared_run_next(struct compared_run *run) {
    if (run->count)
        qsort(run->places, run->count, sizeof *run->places, by_place);
    run->known = run->count;
    run->joined++;
}

static uint64_t part(uint64_t sum, uint32_t runs) {
    return (sum + runs / 2) / runs;
}

void compared_run_average(struct compared_run *run) {
    const uint32_t runs = run->joined;
    if (runs < 2)
        return;
    run->all = (struct compared_cost){0};
    for (size_t i = 0; i < run->count; i++) {
        struct compared_cost *cost = &run->places[i].cost;
        cost->executions = part(cost->executions, runs);
        cost->units = 0;
        for (int cause = 0; cause < COMPARED_CAUSES; cause++)
            cost->units += cost->causes[cause] = part(cost->causes[cause], runs);
        compared_cost_add(&run->all, cost);
    }
    run->elapsed = part(run->elapsed, runs);
    run->half_interval = run->half_interval < 0 ? -1 : run->half_interval / runs;
}
