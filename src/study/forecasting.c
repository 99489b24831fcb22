#include "study/forecasting.h"

bool forecasting_start(struct forecasting *forecasting, const struct machine *machine,
                       uint32_t ideal, struct forecast_windows windows, struct multisim_draw draw,
                       struct error *error) {
    *forecasting = (struct forecasting){0};
    if (forecast_fits(machine, ideal)) {
        if (!(forecasting->forecast = forecast_new(machine, windows, error)))
            return false;
        forecasting->observers[forecasting->observer_count++] =
            forecast_observer(forecasting->forecast);
    }
    if (!machine->core.in_order) {
        if (!(forecasting->multisim = sampled_multisim_new(machine, ideal, draw, error)))
            return false;
        forecasting->observers[forecasting->observer_count++] =
            sampled_multisim_observer(forecasting->multisim);
    }
    return true;
}

void forecasting_end(struct forecasting *forecasting, struct forecasting_result *result) {
    struct forecasting_result more = {0};
    if (forecasting->forecast)
        more.upgrades = forecast_result(forecasting->forecast);
    if (forecasting->multisim)
        more.causes = sampled_multisim_result(forecasting->multisim);
    if (result)
        forecasting_sum(result, &more);
    forecast_free(forecasting->forecast);
    sampled_multisim_free(forecasting->multisim);
    *forecasting = (struct forecasting){0};
}

void forecasting_sum(struct forecasting_result *sum, const struct forecasting_result *more) {
    forecast_sum(&sum->upgrades, &more->upgrades);
    sampled_multisim_sum(&sum->causes, &more->causes);
}
