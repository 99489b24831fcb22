/* `--tap shotgun:FILE`: the samples of all cores of a run in a file. The interval is the mean
 * period of detailed samples. */
#include <inttypes.h>
#include <stdlib.h>

#include "shotgun/file.h"
#include "shotgun/lane.h"
#include "shotgun/tracer.h"

struct samples {
    const struct tracer_options *options;
    struct shotgun_database database;
};

static void *open_samples(const struct tracer_options *options, struct error *error) {
    if (options->interval < SHOTGUN_PERIOD_MIN) {
        error_set(error,
                  "a sample every %" PRIu64 " instructions is more than it can take: %d at "
                  "least",
                  options->interval, SHOTGUN_PERIOD_MIN);
        return NULL;
    }
    struct samples *samples = calloc(1, sizeof *samples);
    if (!samples)
        return error_null(error, "out of memory");
    samples->options = options;
    struct shotgun_options how = {.period = options->interval, .length = SHOTGUN_LENGTH, .seed = 1};
    shotgun_database_init(&samples->database, &how);
    struct shotgun_header nothing = {0}; /* shows at once whether the file can be written */
    if (shotgun_write(options->path, &nothing, &samples->database, NULL, error))
        return samples;
    free(samples);
    return NULL;
}

static void *begin(void *tracer, struct tap_source source, struct error *error) {
    struct samples *samples = tracer;
    (void)source;
    struct shotgun_lane *lane =
        shotgun_lane_new(samples->options->run->machine, &samples->options->places->isa,
                         &samples->database, NULL, NULL);
    if (!lane)
        error_set(error, "out of memory");
    return lane;
}

static bool end(void *lane, struct error *error) {
    (void)error;
    shotgun_lane_free(lane);
    return true;
}

static bool close_samples(void *tracer, const struct code *code, struct error *error) {
    struct samples *samples = tracer;
    const struct tracer_run *run = samples->options->run;
    struct shotgun_header header = {0};
    if (run && code)
        header = (struct shotgun_header){.machine = run->machine->name,
                                         .command = run->command,
                                         .settings = run->settings,
                                         .setting_count = run->setting_count};
    bool good = shotgun_write(samples->options->path, &header, &samples->database, code, error);
    shotgun_database_free(&samples->database);
    free(samples);
    return good;
}

const struct tracer_kind shotgun_tracer = {
    .name = "shotgun",
    .description = "samples of a shotgun profiler, as its hardware gives them",
    .records = 1 << TAP_LIFE,
    .interval = SHOTGUN_PERIOD,
    .interval_unit = "instructions",
    .open = open_samples,
    .begin = begin,
    .consume = shotgun_lane_consume,
    .end = end,
    .close = close_samples};
