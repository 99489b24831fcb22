#include "host/native.h"

#include "host/child.h"
#include "host/clock.h"
#include "host/lines.h"
#include "host/retention.h"
#include "host/wakes.h"

#if defined __x86_64__

static bool measure(struct host_meter *meter, const struct host_kernel *const *kernels,
                    size_t count, struct host_result *results, struct error *error) {
    struct clock_effort effort = meter->quick ? (struct clock_effort){11, 200, 0.01, 0.05}
                                              : (struct clock_effort){25, 400, 0.004, 0.2};
    const struct host_child_options options = {
        .seconds = 10, .watcher = meter->watcher, .done = meter->done};
    for (size_t i = 0; i < count; i++)
        host_meter_admits(meter, kernels[i], &results[i]);
    const bool good =
        host_child_run(kernels, count, &options, clock_measure, &effort, results, error);
    meter->done += count;
    return good;
}

static bool measure_lines(struct host_meter *meter, struct host_result *results,
                          struct error *error) {
    return host_lines_measure(meter->quick, &meter->watcher, results, error);
}

static bool measure_wakes(struct host_meter *meter, struct host_result *results,
                          struct error *error) {
    return host_wakes_measure(meter->quick, &meter->watcher, results, error);
}

static bool measure_retention(struct host_meter *meter, struct host_retention *retention,
                              struct error *error) {
    return host_retention_measure(meter->quick, &meter->watcher, retention, error);
}

bool host_native_meter(struct host_meter *meter, bool quick, const struct watcher *watcher,
                       struct error *error) {
    (void)error;
    *meter = (struct host_meter){.measure = measure,
                                 .measure_lines = measure_lines,
                                 .measure_wakes = measure_wakes,
                                 .measure_retention = measure_retention,
                                 .features = host_features(),
                                 .quick = quick,
                                 .watcher = *watcher};
    return true;
}

#else

bool host_native_meter(struct host_meter *meter, bool quick, const struct watcher *watcher,
                       struct error *error) {
    (void)meter, (void)quick, (void)watcher;
    return error_set(error, "only x86-64 processors can be calibrated");
}

#endif
