#include "attribute/time_series.h"

#include <stdlib.h>

#include "attribute/span.h"

enum { FIRST_WIDTH = 1024 };

struct time_series *time_series_new(bool by_cycle) {
    struct time_series *series = calloc(1, sizeof *series);
    if (series)
        series->by_cycle = by_cycle;
    return series;
}

void time_series_free(struct time_series *series) {
    if (!series)
        return;
    for (uint32_t i = 0; i < series->thread_count; i++) {
        time_buckets_free(&series->threads[i]->cycles);
        time_buckets_free(&series->threads[i]->doing);
        free(series->threads[i]);
    }
    free(series);
}

static struct series_thread *thread_new(const struct time_series *series, uint32_t process,
                                        uint32_t thread) {
    struct series_thread *made = calloc(1, sizeof *made);
    if (!made)
        return NULL;
    *made = (struct series_thread){
        .process = process,
        .thread = thread,
        .cycles = time_buckets_of(SERIES_COLUMNS, SERIES_BUCKETS, FIRST_WIDTH),
        .doing = time_buckets_of(SERIES_DOING, SERIES_BUCKETS, FIRST_WIDTH),
        .by_cycle = series->by_cycle};
    for (uint32_t psv = 0; psv < PSV_COMBINATIONS; psv++)
        made->component_of[psv] = (uint8_t)component_of(psv);
    return made;
}

struct series_thread *series_thread(struct time_series *series, uint32_t process, uint32_t thread) {
    for (uint32_t i = series->thread_count; i-- > 0;)
        if (series->threads[i]->process == process && series->threads[i]->thread == thread)
            return series->threads[i];
    if (series->thread_count == SERIES_THREADS) {
        series->left_out = true;
        return NULL;
    }
    struct series_thread *made = thread_new(series, process, thread);
    if (!made)
        series->out_of_memory = true;
    else
        series->threads[series->thread_count++] = made;
    return made;
}

bool time_series_is_whole(const struct time_series *series) {
    bool whole = !series->out_of_memory;
    for (uint32_t i = 0; i < series->thread_count; i++)
        whole &=
            !series->threads[i]->cycles.out_of_memory && !series->threads[i]->doing.out_of_memory;
    return whole;
}

/* Like the golden reference (golden.c): the cycles before a commit go to those that they are of,
 * and the cycle of the commit to its µops in equal shares. */
static bool consume(void *context, const struct tap_buffer *buffer, struct error *error) {
    struct series_thread *thread = context;
    const uint8_t *component = thread->component_of;
    for (struct closings at = closings_of(buffer); closings_next(&at);) {
        const struct tap_record *record = &at.record;
        uint64_t *sums =
            time_buckets_at(&thread->cycles, thread->by_cycle ? at.cycle : thread->position);
        if (!sums)
            return error_set(error, "out of memory for the run in time");
        if (at.span.last)
            sums[component[tap_uop_psv(at.last_uop)]] += at.span.last;
        sums[component[tap_uop_psv(record->uops[0])]] += at.span.next + at.span.share;
        if (record->kind == TAP_FLUSH)
            continue;
        uint64_t instructions = instructions_ended(record->uops[0]);
        for (unsigned i = 1; i < record->count; i++) {
            sums[component[tap_uop_psv(record->uops[i])]] += at.span.share;
            instructions += instructions_ended(record->uops[i]);
        }
        for (unsigned i = 0; i < at.span.rest; i++)
            sums[component[tap_uop_psv(record->uops[i])]]++;
        sums[SERIES_INSTRUCTIONS] += instructions;
        thread->position += instructions;
    }
    return true;
}

struct tap_worker series_worker(struct series_thread *thread) {
    return (struct tap_worker){.name = "time series", .consume = consume, .context = thread};
}
