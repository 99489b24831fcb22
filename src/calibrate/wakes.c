/* Waking: how late a thread runs that another processor wakes from a futex, and what the call takes
 * who wakes it. In nanoseconds: the kernel's work, and the hypervisor's, has no clock of its own.
 */
#include <stdio.h>

#include "calibrate/parts.h"
#include "host/wakes.h"

static const struct finding FINDINGS[HOST_WAKES] = {
    [HOST_WAKE_LATENCY] = {.key = "chip.wake_latency",
                           .what = "woken from a futex, until it runs",
                           .unit = "ns"},
    [HOST_WAKE_LATE] = {.what = "and after a millisecond of sleep", .unit = "ns"},
    [HOST_WAKE_CALL] = {.key = "chip.wake_cost", .what = "call that wakes it", .unit = "ns"}};

static bool run(struct calibration *calibration, struct error *error) {
    struct host_meter *meter = calibration->meter;
    struct host_result results[HOST_WAKES] = {0};
    if (meter->measure_wakes && !meter->measure_wakes(meter, results, error))
        return false;
    for (unsigned i = 0; i < HOST_WAKES; i++) {
        struct finding finding = FINDINGS[i];
        if (!meter->measure_wakes) {
            results[i].state = HOST_UNSUPPORTED;
            snprintf(results[i].failure, sizeof results[i].failure,
                     "the simulated machine has no kernel");
        }
        finding.value = results[i].cycles;
        finding_rests_on(&finding, &results[i], 1);
        calibration_found(calibration, &finding);
    }
    return true;
}

static const char *const KEYS[] = {"chip.wake_latency", "chip.wake_cost", NULL};
const struct calibrate_part calibrate_wakes = {
    .name = "wakes", .measures = "waking a thread that sleeps", .keys = KEYS, .run = run};
