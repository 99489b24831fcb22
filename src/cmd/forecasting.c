#include "cmd/forecasting.h"

bool forecasting_start(struct forecasting *forecasting, const struct machine *machine,
                       uint32_t ideal, struct tap_windows windows, struct error *error) {
    *forecasting = (struct forecasting){0};
    if (!forecast_fits(machine, ideal))
        return true;
    if (!(forecasting->forecast = forecast_new(machine, windows, error)))
        return false;
    forecasting->observer = forecast_observer(forecasting->forecast);
    return true;
}

const struct instruction_observer *forecasting_observer(const struct forecasting *forecasting) {
    return forecasting->forecast ? &forecasting->observer : NULL;
}

void forecasting_end(struct forecasting *forecasting, struct forecast_result *result) {
    if (forecasting->forecast && result) {
        const struct forecast_result more = forecast_result(forecasting->forecast);
        forecast_sum(result, &more);
    }
    forecast_free(forecasting->forecast);
    *forecasting = (struct forecasting){0};
}
