#include "study/calibrate.h"

#include "host/native.h"
#include "util/clock.h"

bool calibrate_run_prepare(struct calibrate_run *run, struct error *error) {
    struct watcher watcher = watcher_of(run->watch);
    watcher.progress = NULL; /* parts are counted, not kernels */
    if (!run->part_count)
        for (const struct calibrate_part *const *part = calibrate_parts;
             *part && run->part_count < CALIBRATE_PARTS; part++)
            run->parts[run->part_count++] = *part;
    if (run->simulated_machine) {
        run->calibration.meter = &run->simulated.meter;
        return simulated_meter(&run->simulated, run->simulated_machine, run->quick, &watcher,
                               error);
    }
    run->calibration.meter = &run->native;
    return host_native_meter(&run->native, run->quick, &watcher, error);
}

static bool found_any(const struct calibration *calibration) {
    for (size_t i = 0; i < calibration->count; i++)
        if (calibration->findings[i].state != FINDING_UNKNOWN)
            return true;
    return form_table_says(&calibration->forms);
}

bool calibrate_run_go(struct calibrate_run *run, struct error *error) {
    const double begin = clock_monotonic();
    bool good = true;
    watch_begin(run->watch, "calibrating", "parts", run->part_count);
    for (uint32_t i = 0; good && i < run->part_count && !run->watch->signal; i++) {
        good = calibration_run(&run->calibration, run->parts[i], error);
        run->parts_run = i + !run->watch->signal;
        watch_progress(run->watch, i + 1);
    }
    watch_end(run->watch);
    run->partial = run->watch->signal != 0;
    run->seconds = clock_monotonic() - begin;
    if (good && run->partial && !found_any(&run->calibration))
        return error_set(error, "interrupted before anything was measured");
    return good;
}

void calibrate_run_free(struct calibrate_run *run) {
    calibration_free(&run->calibration);
}
