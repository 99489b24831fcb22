/* Lines that another core has: what a load waits for one, and a store until it is this core's.
 *
 * Loads follow a chain of lines that the other core wrote, or read. Atomic additions follow a chain
 * of lines that both have read, and one of lines of this core's own: what the first takes longer is
 * the upgrade but for the access to the L1, which it has in place. For how long a core has a line
 * that the other wants, too, is how long that one's request is on its way. Two cores that write one
 * line by turns are reported only: that is what other programs measure (half of a round). */
#include <math.h>
#include <stdio.h>

#include "calibrate/parts.h"
#include "host/lines.h"

/* Until the first addition has stored, nobody asks for the line (memory/coherence.h). */
static const double STORE_CYCLES = 3;

/* Of a load from the last cache: an L3 of the same core complex, or a mesh, takes up to some 2.5
 * times as long for another core's line; a complex beyond takes 6 times and more. */
static const double SAME_CHIP = 4;

static const char ELSEWHERE[] =
    "%.0f cycles, %.1f times a load from the last cache: the two processors do not share it";

/* Machine files say what cores take that share the last level. */
static void judge_distance(const struct calibration *calibration, struct finding *finding,
                           double modified) {
    const double last = calibration_value(calibration, "llc.load_to_use", 0);
    if (finding->state != FINDING_MEASURED || !last || modified <= SAME_CHIP * last)
        return;
    finding->state = FINDING_UNKNOWN;
    snprintf(finding->note, sizeof finding->note, ELSEWHERE, finding->value, finding->value / last);
}

static void conclude(struct calibration *calibration,
                     const struct host_result results[HOST_LINES]) {
    const double modified = results[HOST_LINE_MODIFIED].cycles;
    struct finding loads[] = {
        {.key = "chip.modified_load_to_use",
         .what = "line that another core wrote",
         .unit = "cycles"},
        {.key = "chip.clean_load_to_use", .what = "line that another core read", .unit = "cycles"}};
    static const enum host_line LINES[] = {HOST_LINE_MODIFIED, HOST_LINE_CLEAN};
    for (unsigned i = 0; i < 2; i++) {
        loads[i].value = results[LINES[i]].cycles;
        if (finding_rests_on(&loads[i], &results[LINES[i]], 1))
            judge_distance(calibration, &loads[i], modified);
        calibration_found(calibration, &loads[i]);
    }
    struct finding upgrade = {
        .key = "chip.upgrade", .what = "line that both read, until owned", .unit = "cycles"};
    if (finding_rests_on(&upgrade, &results[HOST_LINE_ATOMIC], 1) &&
        finding_rests_on(&upgrade, &results[HOST_LINE_UPGRADE], 1)) {
        const double access = calibration_value(calibration, "l1d.load_to_use", 4) - 1;
        upgrade.value =
            results[HOST_LINE_UPGRADE].cycles - results[HOST_LINE_ATOMIC].cycles + access;
        judge_distance(calibration, &upgrade, modified);
    }
    calibration_found(calibration, &upgrade);
    struct finding kept = {.key = "chip.request_latency",
                           .what = "line that both add to, kept by one",
                           .unit = "cycles"};
    if (finding_rests_on(&kept, &results[HOST_LINE_KEPT], 1)) {
        kept.value = fmax(1, results[HOST_LINE_KEPT].cycles - STORE_CYCLES);
        judge_distance(calibration, &kept, modified);
    }
    calibration_found(calibration, &kept);
    struct finding reported[] = {{.what = "atomic addition to one that it wrote"},
                                 {.what = "line written by turns, half a round"}};
    static const enum host_line REPORTED[] = {HOST_LINE_ATOMIC_TO, HOST_LINE_TURNS};
    for (unsigned i = 0; i < 2; i++) {
        reported[i].unit = "cycles";
        reported[i].value = results[REPORTED[i]].cycles;
        finding_rests_on(&reported[i], &results[REPORTED[i]], 1);
        calibration_found(calibration, &reported[i]);
    }
}

static bool run(struct calibration *calibration, struct error *error) {
    struct host_meter *meter = calibration->meter;
    struct host_result results[HOST_LINES] = {0};
    if (meter->measure_lines && !meter->measure_lines(meter, results, error))
        return false;
    for (unsigned i = 0; i < HOST_LINES && !meter->measure_lines; i++) {
        results[i].state = HOST_UNSUPPORTED;
        snprintf(results[i].failure, sizeof results[i].failure,
                 "the simulated machine has one core here");
    }
    conclude(calibration, results);
    return true;
}

static const char *const KEYS[] = {"chip.modified_transfer", "chip.clean_transfer", "chip.upgrade",
                                   "chip.request_latency", NULL};
const struct calibrate_part calibrate_transfers = {
    .name = "transfers", .measures = "lines that another core has", .keys = KEYS, .run = run};
