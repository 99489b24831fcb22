/* The course of a run as JSON of the Trace Event Format, as its published description has it
 * ("Trace Event Format", the Chromium project): complete events (X) for what threads did, counters
 * (C) for CPI by component, metadata (M) for names. Perfetto and chrome://tracing show it.
 *
 * The time axis is the machine's: cycles, each as long as its clock says. What is known decides:
 *
 * - threads simulated together: a slice for each stretch that a thread ran, was ready or waited;
 * - regions that stand for the run: a slice for each phase, as long as its instructions take at the
 *   CPI of its cluster's regions, and within it the regions;
 * - recorded slices: a slice each;
 * - else one slice for each thread, from the first cycle on, with the CPI of each stretch of a run
 *   that was simulated in full.
 *
 * A window of the pipeline has tracks of its own, a µop on the first that is free, its stages
 * within it. Times are whole picoseconds, rounded at both ends, so that what is within stays
 * within. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "attribute/component.h"
#include "isa/insn.h"
#include "report/kanata.h"
#include "report/run_format.h"
#include "util/array.h"
#include "util/json_text.h"

enum { PIPELINE_PROCESS = 1000000, TEXT_BYTES = 128, PICOSECONDS = 1000000 /* of 1 µs */ };

struct writer {
    const struct report *report;
    FILE *file;
    double picoseconds; /* of a cycle */
    bool begun;
    bool failed; /* memory is out */
};

/* ---- events ---- */

static int64_t time_of(const struct writer *writer, double cycles) {
    return llround(cycles * writer->picoseconds);
}

/* In microseconds. */
static void put_time(FILE *file, const char *key, int64_t picoseconds) {
    fprintf(file, ",\"%s\":%" PRId64 ".%06" PRId64, key, picoseconds / PICOSECONDS,
            picoseconds % PICOSECONDS);
}

static void put_string(struct writer *writer, const char *text) {
    writer->failed |= !json_text_write(text, writer->file);
}

/* Begins an event; what follows are more members, then put_end(). */
static void put_event(struct writer *writer, char phase, const char *name, uint64_t process,
                      uint64_t thread) {
    fprintf(writer->file, "%s{\"ph\":\"%c\",\"pid\":%" PRIu64 ",\"tid\":%" PRIu64 ",\"name\":",
            writer->begun ? ",\n" : "\n", phase, process, thread);
    put_string(writer, name);
    writer->begun = true;
}

static void put_end(struct writer *writer) {
    fputs("}}", writer->file);
}

static void put_name(struct writer *writer, const char *what, uint64_t process, uint64_t thread,
                     const char *name) {
    put_event(writer, 'M', what, process, thread);
    fputs(",\"args\":{\"name\":", writer->file);
    put_string(writer, name);
    put_end(writer);
}

/* A slice of a track; members of its arguments follow, then put_end(). */
static void put_slice(struct writer *writer, const char *name, const char *category,
                      uint64_t process, uint64_t thread, int64_t begin, int64_t end) {
    put_event(writer, 'X', name, process, thread);
    fprintf(writer->file, ",\"cat\":\"%s\"", category);
    put_time(writer->file, "ts", begin);
    put_time(writer->file, "dur", end - begin);
    fputs(",\"args\":{", writer->file);
}

/* ---- CPI ---- */

struct cost {
    double instructions, cycles, components[COMPONENT_COUNT]; /* cycles of each */
};

static void add_units(struct cost *cost, const uint64_t units[PSV_COMBINATIONS]) {
    for (uint32_t psv = 0; psv < PSV_COMBINATIONS; psv++)
        cost->components[component_of(psv)] += (double)units[psv] / CYCLE_UNITS;
}

static void add_cost(struct cost *sum, const struct cost *cost) {
    sum->instructions += cost->instructions;
    sum->cycles += cost->cycles;
    for (int i = 0; i < COMPONENT_COUNT; i++)
        sum->components[i] += cost->components[i];
}

static double cpi_of(const struct cost *cost) {
    return cost->instructions > 0 ? cost->cycles / cost->instructions : 0;
}

static uint64_t process_of(const struct writer *writer, uint32_t thread) {
    const struct simulation *simulation = writer->report->simulation;
    return 1 +
           (uint64_t)(thread < simulation->thread_count ? simulation->threads[thread].process : 0);
}

/* From here on; `cost` NULL: nothing more is known. */
static void put_cpi(struct writer *writer, uint32_t thread, int64_t at, const struct cost *cost) {
    char name[TEXT_BYTES];
    snprintf(name, sizeof name, "CPI of thread %" PRIu32, thread);
    put_event(writer, 'C', name, process_of(writer, thread), thread + UINT64_C(1));
    put_time(writer->file, "ts", at);
    fputs(",\"args\":{", writer->file);
    for (int i = COMPONENT_COUNT - 1; i >= 0; i--)
        fprintf(writer->file, "\"%s\":%.6f%s", component_key(i),
                cost && cost->instructions > 0 ? cost->components[i] / cost->instructions : 0,
                i ? "," : "");
    put_end(writer);
}

/* ---- phases and regions ---- */

/* Of each region, by itself. NULL: out of memory. */
static struct cost *region_costs(const struct simulation_regions *regions) {
    struct cost *costs = calloc(regions->simulated + 1, sizeof *costs);
    for (uint32_t i = 0; costs && i < regions->simulated; i++) {
        costs[i].instructions = (double)regions->samples[i].instructions;
        costs[i].cycles = (double)regions->samples[i].cycles;
        add_units(&costs[i], regions->samples[i].units);
    }
    return costs;
}

/* Of the regions of a cluster; if it has none, of all. */
static struct cost cluster_cost(const struct simulation_regions *regions, const struct cost *costs,
                                uint32_t cluster) {
    struct cost of_cluster = {0}, all = {0};
    for (uint32_t i = 0; i < regions->simulated; i++) {
        if (regions->samples[i].cluster == cluster)
            add_cost(&of_cluster, &costs[i]);
        add_cost(&all, &costs[i]);
    }
    return of_cluster.instructions > 0 ? of_cluster : all;
}

static void put_regions(struct writer *writer, const struct phase *phase, const struct cost *costs,
                        double begin, double cpi) {
    const struct simulation_regions *regions = &writer->report->simulation->regions;
    for (uint32_t i = 0; i < regions->simulated; i++) {
        const struct region_sample *region = &regions->samples[i];
        const uint64_t end = region->first + region->instructions;
        if (region->thread != phase->thread || region->first < phase->first ||
            end > phase->first + phase->instructions)
            continue;
        put_slice(writer, "region", "region", process_of(writer, phase->thread),
                  phase->thread + UINT64_C(1),
                  time_of(writer, begin + (double)(region->first - phase->first) * cpi),
                  time_of(writer, begin + (double)(end - phase->first) * cpi));
        fprintf(writer->file,
                "\"first\":%" PRIu64 ",\"instructions\":%" PRIu64 ",\"cycles\":%" PRIu64
                ",\"cpi\":%.6f,\"stands_for\":%" PRIu64,
                region->first, region->instructions, region->cycles, cpi_of(&costs[i]),
                region->stands_for);
        put_end(writer);
    }
}

static bool put_phases(struct writer *writer) {
    const struct simulation_regions *regions = &writer->report->simulation->regions;
    struct cost *costs = region_costs(regions);
    double at = 0;
    for (size_t i = 0; costs && i < regions->phase_count && !ferror(writer->file); i++) {
        const struct phase *phase = &regions->phases[i];
        const struct cost cost = cluster_cost(regions, costs, phase->cluster);
        const double cpi = cpi_of(&cost);
        const bool last =
            i + 1 == regions->phase_count || regions->phases[i + 1].thread != phase->thread;
        char name[TEXT_BYTES];
        if (i && regions->phases[i - 1].thread != phase->thread)
            at = 0;
        const double end = at + (double)phase->instructions * cpi;
        snprintf(name, sizeof name, "phase %" PRIu32, phase->cluster);
        put_slice(writer, name, "phase", process_of(writer, phase->thread),
                  phase->thread + UINT64_C(1), time_of(writer, at), time_of(writer, end));
        fprintf(writer->file,
                "\"first\":%" PRIu64 ",\"instructions\":%" PRIu64 ",\"cycles\":%.0f,\"cpi\":%.6f",
                phase->first, phase->instructions, (double)phase->instructions * cpi, cpi);
        put_end(writer);
        put_regions(writer, phase, costs, at, cpi);
        put_cpi(writer, phase->thread, time_of(writer, at), &cost);
        at = end;
        if (last)
            put_cpi(writer, phase->thread, time_of(writer, at), NULL);
    }
    const bool good = costs;
    free(costs);
    return good;
}

/* ---- recorded slices ---- */

/* Cycles of several events at once are of none of the components. */
static struct cost record_cost(const struct slice_record *record) {
    struct cost cost = {.instructions = (double)record->instructions,
                        .cycles = (double)record->cycles};
    for (unsigned part = 0; part < PART_COMBINED; part++)
        cost.components[part ? component_of(UINT32_C(1) << (part - 1)) : COMPONENT_EXECUTE] +=
            (double)record->parts[part] / CYCLE_UNITS;
    return cost;
}

static void put_records(struct writer *writer) {
    const struct simulation *simulation = writer->report->simulation;
    uint64_t at = 0;
    for (size_t i = 0; i < simulation->slice_count && !ferror(writer->file); i++) {
        const struct slice_record *record = &simulation->slices[i];
        const bool last =
            i + 1 == simulation->slice_count || simulation->slices[i + 1].thread != record->thread;
        const struct cost cost = record_cost(record);
        if (i && simulation->slices[i - 1].thread != record->thread)
            at = 0;
        put_slice(writer, "slice", "slice", process_of(writer, record->thread),
                  record->thread + UINT64_C(1), time_of(writer, (double)at),
                  time_of(writer, (double)(at + record->cycles)));
        fprintf(writer->file,
                "\"first\":%" PRIu64 ",\"instructions\":%" PRIu64 ",\"cycles\":%" PRIu64
                ",\"cpi\":%.6f",
                record->first, record->instructions, record->cycles, cpi_of(&cost));
        put_end(writer);
        put_cpi(writer, record->thread, time_of(writer, (double)at), &cost);
        at += record->cycles;
        if (last)
            put_cpi(writer, record->thread, time_of(writer, (double)at), NULL);
    }
}

/* ---- the run in time ---- */

static const struct series_thread *series_of(const struct simulation *simulation, uint32_t thread) {
    const struct time_series *series = simulation->series;
    for (uint32_t i = 0; series && !series->by_cycle && i < series->thread_count; i++)
        if (series->threads[i]->thread == thread)
            return series->threads[i];
    return NULL;
}

static void put_stretches(struct writer *writer, const struct series_thread *thread) {
    const struct time_buckets *buckets = &thread->cycles;
    double at = 0;
    for (uint32_t i = 0; i < buckets->count && !ferror(writer->file); i++) {
        const uint64_t *sums = &buckets->sums[(size_t)i * buckets->columns];
        struct cost cost = {.instructions = (double)sums[SERIES_INSTRUCTIONS]};
        for (int k = 0; k < COMPONENT_COUNT; k++) {
            cost.components[k] = (double)sums[k] / CYCLE_UNITS;
            cost.cycles += cost.components[k];
        }
        put_cpi(writer, thread->thread, time_of(writer, at), &cost);
        at += cost.cycles;
    }
    put_cpi(writer, thread->thread, time_of(writer, at), NULL);
}

/* ---- threads ---- */

static void put_spans(struct writer *writer) {
    static const char *const NAMES[THREAD_STATES] = {"running", "ready",    "waits for a lock",
                                                     "waits",   "sleeping", "spinning"};
    const struct together_result *together = &writer->report->simulation->together;
    for (size_t i = 0; i < together->span_count && !ferror(writer->file); i++) {
        const struct thread_span *span = &together->spans[i];
        put_slice(writer, NAMES[span->state], "thread", process_of(writer, span->thread),
                  span->thread + UINT64_C(1), time_of(writer, (double)span->begin),
                  time_of(writer, (double)span->end));
        fprintf(writer->file, "\"cycles\":%" PRIu64, span->end - span->begin);
        put_end(writer);
    }
}

/* The whole of it. Its cycles by component are those of the run where it is the only one. */
static void put_thread(struct writer *writer, uint32_t number, bool alone) {
    const struct simulation *simulation = writer->report->simulation;
    const struct simulation_thread *thread = &simulation->threads[number];
    const bool together = simulation->together.done && number < simulation->together.thread_count;
    const uint64_t begin = together ? simulation->together.threads[number].begin : 0;
    const uint64_t end = together ? simulation->together.threads[number].end : thread->cycles;
    struct cost cost = {.instructions = (double)thread->instructions,
                        .cycles = (double)thread->cycles};
    put_slice(writer, together ? "alive" : "running", "thread", process_of(writer, number),
              number + UINT64_C(1), time_of(writer, (double)begin), time_of(writer, (double)end));
    fprintf(writer->file, "\"instructions\":%" PRIu64 ",\"cycles\":%" PRIu64 ",\"cpi\":%.6f",
            thread->instructions, thread->cycles, cpi_of(&cost));
    put_end(writer);
    const struct series_thread *stretches = series_of(simulation, number);
    if (stretches)
        put_stretches(writer, stretches);
    if (!alone || together || stretches)
        return;
    for (uint64_t i = 0; i < simulation->cell_count; i++)
        cost.components[component_of(simulation->cells[i].psv)] +=
            (double)simulation->cells[i].units / CYCLE_UNITS;
    put_cpi(writer, number, 0, &cost);
    put_cpi(writer, number, time_of(writer, (double)end), NULL);
}

static bool put_threads(struct writer *writer) {
    const struct simulation *simulation = writer->report->simulation;
    uint32_t count = 0;
    for (uint32_t i = 0; i < simulation->thread_count; i++) {
        char name[TEXT_BYTES];
        if (!simulation->threads[i].instructions)
            continue;
        count++;
        snprintf(name, sizeof name, "thread %" PRIu32, i);
        put_name(writer, "process_name", process_of(writer, i), i + UINT64_C(1),
                 writer->report->program);
        put_name(writer, "thread_name", process_of(writer, i), i + UINT64_C(1), name);
    }
    if (simulation->together.span_count) {
        put_spans(writer);
    } else if (!simulation->together.done && simulation->regions.phases &&
               simulation->regions.samples) {
        return put_phases(writer);
    } else if (simulation->slice_count) {
        put_records(writer);
    } else {
        for (uint32_t i = 0; i < simulation->thread_count; i++)
            if (simulation->threads[i].instructions)
                put_thread(writer, i, count == 1);
    }
    return true;
}

/* ---- the pipeline ---- */

struct pipeline {
    struct writer *writer;
    const struct code *code;
    uint64_t *busy; /* by track: until this cycle */
    size_t tracks, capacity;
};

/* The first track that is free; SIZE_MAX: out of memory. */
static size_t free_track(struct pipeline *pipeline, uint64_t begin, uint64_t end) {
    size_t track = 0;
    while (track < pipeline->tracks && pipeline->busy[track] > begin)
        track++;
    if (track < pipeline->tracks)
        pipeline->busy[track] = end;
    else if (!array_push(pipeline->busy, pipeline->capacity, pipeline->tracks, end))
        return SIZE_MAX;
    return track;
}

static void name_uop(const struct pipeline *pipeline, const struct life *life, char *text,
                     size_t size) {
    snprintf(text, size, "?");
    if (life->insn < pipeline->code->insn_count) {
        const struct static_insn *insn = &pipeline->code->insns[life->insn];
        insn_text(pipeline->code->isa, insn->bytes, insn->length, insn->address, text, size);
    }
}

static bool visit_uop(void *context, const struct life *life, const struct kanata_stage *stages,
                      size_t count) {
    struct pipeline *pipeline = context;
    struct writer *writer = pipeline->writer;
    char text[TEXT_BYTES], events[TEXT_BYTES];
    if (!count || stages[0].begin == stages[count - 1].end)
        return true;
    const size_t track = free_track(pipeline, stages[0].begin, stages[count - 1].end);
    if (track == SIZE_MAX) {
        writer->failed = true;
        return false;
    }
    name_uop(pipeline, life, text, sizeof text);
    psv_format(life->psv, events, sizeof events);
    put_slice(writer, text, "uop", PIPELINE_PROCESS, track + 1,
              time_of(writer, (double)stages[0].begin),
              time_of(writer, (double)stages[count - 1].end));
    fprintf(writer->file,
            "\"instruction\":%" PRIu64 ",\"uop\":%u,\"flushed\":%s,\"events\":", life->insn_number,
            life->uop_index, life->flags & LIFE_FLUSHED ? "true" : "false");
    put_string(writer, events);
    put_end(writer);
    for (size_t i = 0; i < count; i++) {
        put_slice(writer, stages[i].name, "stage", PIPELINE_PROCESS, track + 1,
                  time_of(writer, (double)stages[i].begin), time_of(writer, (double)stages[i].end));
        fprintf(writer->file, "\"cycles\":%" PRIu64, stages[i].end - stages[i].begin);
        put_end(writer);
    }
    return !ferror(writer->file);
}

static void put_pipeline(struct writer *writer, struct kanata *kanata) {
    struct pipeline pipeline = {.writer = writer, .code = writer->report->functions.code};
    if (!kanata || !kanata_count(kanata) || !pipeline.code)
        return;
    put_name(writer, "process_name", PIPELINE_PROCESS, 1, "pipeline of the first thread");
    kanata_each(kanata, visit_uop, &pipeline);
    for (size_t i = 0; i < pipeline.tracks; i++) {
        char name[TEXT_BYTES];
        snprintf(name, sizeof name, "in flight %zu", i + 1);
        put_name(writer, "thread_name", PIPELINE_PROCESS, i + 1, name);
    }
    free(pipeline.busy);
}

bool trace_events_write(const struct run_record *run, FILE *file, struct error *error) {
    const struct machine *machine = run->report->machine;
    struct writer writer = {
        .report = run->report, .file = file, .picoseconds = 1000 / machine->clock_ghz};
    fputs("{\"displayTimeUnit\":\"ns\",\"otherData\":{\"program\":", file);
    put_string(&writer, run->report->program);
    fputs(",\"machine\":", file);
    put_string(&writer, machine->name);
    fprintf(file,
            ",\"clock_ghz\":%.6g,\"cycles\":%" PRIu64 ",\"instructions\":%" PRIu64
            ",\"thread_spans_dropped\":%" PRIu64 "},\n\"traceEvents\":[",
            machine->clock_ghz, run->report->simulation->cycles,
            run->report->simulation->instructions, run->report->simulation->together.spans_dropped);
    if (!put_threads(&writer))
        writer.failed = true;
    put_pipeline(&writer, run->pipeline);
    fputs("\n]}\n", file);
    if (ferror(file))
        return error_errno(error, "writing the trace");
    return !writer.failed || error_set(error, "out of memory for the trace");
}
