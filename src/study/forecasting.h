/* A simulation that also tells what would be saved: by upgrades of its machine (model/forecast.h),
 * and if causes went away (simulate/sampled_multisim.h), where they can tell.
 *
 *     forecasting_start(&forecasting, machine, ideal, windows, &error)
 *     options.instructions = forecasting.observers, options.instruction_observer_count likewise
 *     forecasting_end(&forecasting, &result)     adds to it; result may be NULL
 */
#pragma once

#include "model/forecast.h"
#include "simulate/sampled_multisim.h"

struct forecasting {
    struct forecast *forecast;         /* NULL: it cannot */
    struct sampled_multisim *multisim; /* likewise */
    struct instruction_observer observers[INSTRUCTION_OBSERVERS];
    uint32_t observer_count;
};

struct forecasting_result {
    struct forecast_result upgrades;
    struct sampled_multisim_result causes;
};

/* `windows`: what the former looks at; `draw`: what the latter simulates. forecasting_end() either
 * way. */
bool forecasting_start(struct forecasting *forecasting, const struct machine *machine,
                       uint32_t ideal, struct forecast_windows windows, struct multisim_draw draw,
                       struct error *error);
/* After the simulation. */
void forecasting_end(struct forecasting *forecasting, struct forecasting_result *result);
void forecasting_sum(struct forecasting_result *sum, const struct forecasting_result *more);
