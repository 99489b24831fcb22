/* A simulation that also tells what upgrades of its machine would save (model/forecast.h), where
 * the model can tell.
 *
 *     forecasting_start(&forecasting, machine, ideal, windows, &error)
 *     options.instructions = forecasting_observer(&forecasting)
 *     forecasting_end(&forecasting, &result)     adds to it; result may be NULL
 */
#ifndef CULPRIT_CMD_FORECASTING_H
#define CULPRIT_CMD_FORECASTING_H

#include "model/forecast.h"

struct forecasting {
    struct forecast *forecast; /* NULL: it cannot */
    struct instruction_observer observer;
};

/* forecasting_end() either way. */
bool forecasting_start(struct forecasting *forecasting, const struct machine *machine,
                       uint32_t ideal, struct tap_windows windows, struct error *error);
const struct instruction_observer *forecasting_observer(const struct forecasting *forecasting);
/* After the simulation. */
void forecasting_end(struct forecasting *forecasting, struct forecast_result *result);

#endif
