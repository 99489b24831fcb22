/* `--tap tip:FILE` and `--tap tea:FILE`: the samples of all cores of a run in a file. The interval
 * is the period. */
#include <stdlib.h>

#include "core/places.h"
#include "samples/samples.h"
#include "samples/tracer.h"

enum { DEFAULT_PERIOD = 800000 }; /* cycles: perf's 4 kHz at 3.2 GHz (paper B §2) */

struct samples {
    const struct tracer_options *options;
    bool events;
    FILE *file;
    struct sample_writer *writer; /* NULL: no core so far */
};

static void tell_place(void *context, uint32_t insn, struct sample_place *told) {
    const struct samples *samples = context;
    const struct places *places = samples->options->places;
    const struct place *place = place_of(places, insn);
    *told = (struct sample_place){.address = place->address,
                                  .image = place->image,
                                  .offset = place->offset,
                                  .path = places->images[place->image]};
}

static void *open_samples(const struct tracer_options *options, bool events, struct error *error) {
    struct samples *samples = calloc(1, sizeof *samples);
    if (!samples)
        return error_null(error, "out of memory");
    *samples = (struct samples){.options = options, .events = events};
    if ((samples->file = fopen(options->path, "wb")))
        return samples;
    error_errno(error, "cannot write %s", options->path);
    free(samples);
    return NULL;
}

static void *open_tip(const struct tracer_options *options, struct error *error) {
    return open_samples(options, false, error);
}

static void *open_tea(const struct tracer_options *options, struct error *error) {
    return open_samples(options, true, error);
}

static bool start(struct samples *samples, struct error *error) {
    const struct tracer_run *run = samples->options->run;
    struct sample_header header = {
        .events = samples->events,
        .commit_width = run->machine->core.commit_width * most_of_place(&run->machine->core),
        .clock_hz = (uint64_t)(run->machine->clock_ghz * 1e9 + 0.5),
        .sampling = {.mode = samples->options->random ? SAMPLER_RANDOM : SAMPLER_PERIODIC,
                     .period = samples->options->interval,
                     .seed = samples->options->seed},
        .machine = run->machine->name,
        .command = run->command,
    };
    samples->writer = sample_writer_new(samples->file, samples->options->path, &header, tell_place,
                                        samples, error);
    return samples->writer;
}

static void *begin(void *tracer, struct tap_source source, struct error *error) {
    struct samples *samples = tracer;
    if (!samples->writer && !start(samples, error))
        return NULL;
    struct sample_lane *lane = sample_lane_new(samples->writer, source.process, source.thread);
    if (!lane)
        error_set(error, "out of memory");
    return lane;
}

static bool consume(void *lane, const struct tap_buffer *buffer, struct error *error) {
    struct tap_worker worker = sample_lane_worker(lane);
    return worker.consume(worker.context, buffer, error);
}

static bool end(void *lane, struct error *error) {
    (void)error;
    sample_lane_free(lane);
    return true;
}

static bool close_samples(void *tracer, const struct code *code, struct error *error) {
    struct samples *samples = tracer;
    (void)code;
    bool good = !samples->writer || sample_writer_close(samples->writer, error);
    if (fclose(samples->file) != 0 && good)
        good = error_errno(error, "cannot write %s", samples->options->path);
    free(samples);
    return good;
}

const struct tracer_kind tip_tracer = {.name = "tip",
                                       .description = "samples of TIP, as its hardware gives them",
                                       .interval = DEFAULT_PERIOD,
                                       .interval_unit = "cycles",
                                       .samples = true,
                                       .open = open_tip,
                                       .begin = begin,
                                       .consume = consume,
                                       .end = end,
                                       .close = close_samples};

const struct tracer_kind tea_tracer = {.name = "tea",
                                       .description = "samples of TEA: TIP's with events",
                                       .interval = DEFAULT_PERIOD,
                                       .interval_unit = "cycles",
                                       .samples = true,
                                       .open = open_tea,
                                       .begin = begin,
                                       .consume = consume,
                                       .end = end,
                                       .close = close_samples};
