/* What it takes to code the events of a trace file, and to decode them (trace/event_code.h):
 *
 *     coding FILE.ctrace [EVENTS [ROUNDS]]
 *     12039281 events, 1.98 of each block, 0.57 bytes coded: 1.82 ns to code, 2.96 ns to decode
 *
 * The first chunks of the file, at most about EVENTS (12 million), least of ROUNDS (12) rounds.
 * What is decoded is compared to what was coded. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/event.h"
#include "trace/event_code.h"
#include "trace/item.h"
#include "util/array.h"
#include "util/clock.h"

struct chunk {
    uint64_t *events;
    size_t count;
    uint32_t thread, block_count;
    uint8_t *coded;
    size_t coded_size;
};

struct chunks {
    struct chunk *items;
    size_t count, capacity;
    uint64_t events, blocks, coded;
    size_t most;      /* events of one chunk */
    uint32_t threads; /* the highest number + 1 */
};

struct counts { /* of blocks, by process */
    uint32_t *items;
    size_t capacity;
};

static void fail(const char *what) {
    fprintf(stderr, "coding: %s\n", what);
    exit(1);
}

static void keep(struct chunks *chunks, const struct item_data *data, uint32_t block_count) {
    struct chunk chunk = {.count = data->event_count,
                          .thread = data->thread,
                          .block_count = block_count,
                          .events = malloc((data->event_count + 1) * sizeof *data->events),
                          .coded = malloc(event_code_bound(data->event_count) + EVENT_CODE_SLACK)};
    if (!chunk.events || !chunk.coded ||
        !array_push(chunks->items, chunks->capacity, chunks->count, chunk))
        fail("out of memory");
    if (chunk.count)
        memcpy(chunk.events, data->events, chunk.count * sizeof *data->events);
    chunks->events += chunk.count;
    for (size_t i = 0; i < chunk.count; i++)
        chunks->blocks += event_kind(chunk.events[i]) == EVENT_BLOCK;
    chunks->most = chunk.count > chunks->most ? chunk.count : chunks->most;
    chunks->threads = data->thread >= chunks->threads ? data->thread + 1 : chunks->threads;
}

static struct chunks read_chunks(const char *path, uint64_t most) {
    struct chunks chunks = {0};
    struct counts counts = {0};
    struct item_source source;
    struct error error;
    struct item item;
    if (!file_source_open(path, &source, &error))
        fail(error.message);
    int status = 1;
    while (chunks.events < most && (status = source.next(source.context, &item, &error)) > 0)
        if (item.kind == ITEM_CODE) {
            if (!array_zeroed_room(counts.items, counts.capacity, (size_t)item.code.process + 1))
                fail("out of memory");
            counts.items[item.code.process] = item.code.block + 1;
        } else if (item.kind == ITEM_DATA) {
            keep(&chunks, &item.data,
                 item.data.process < counts.capacity ? counts.items[item.data.process] : 0);
        }
    if (status < 0)
        fail(error.message);
    source.close(source.context);
    free(counts.items);
    return chunks;
}

static double code_all(struct chunks *chunks, struct event_predictor *predictors) {
    struct event_packing packing;
    struct error error;
    event_packing_init(&packing, event_pack_form());
    for (uint32_t i = 0; i < chunks->threads; i++)
        event_predictor_reset(&predictors[i]);
    const double start = clock_monotonic();
    for (size_t i = 0; i < chunks->count; i++) {
        struct chunk *chunk = &chunks->items[i];
        if (!event_encode(&predictors[chunk->thread], &packing, chunk->block_count, chunk->events,
                          chunk->count, chunk->coded, &chunk->coded_size, &error))
            fail(error.message);
    }
    return clock_monotonic() - start;
}

static double decode_all(const struct chunks *chunks, struct event_predictor *predictors,
                         uint64_t *events) {
    struct error error;
    double seconds = 0;
    for (uint32_t i = 0; i < chunks->threads; i++)
        event_predictor_reset(&predictors[i]);
    for (size_t i = 0; i < chunks->count; i++) {
        const struct chunk *chunk = &chunks->items[i];
        const double start = clock_monotonic();
        if (!event_decode(&predictors[chunk->thread], chunk->block_count, chunk->coded,
                          chunk->coded_size, events, chunk->count, &error))
            fail(error.message);
        seconds += clock_monotonic() - start;
        if (memcmp(events, chunk->events, chunk->count * sizeof *events) != 0)
            fail("what was decoded is not what was coded");
    }
    return seconds;
}

int main(int argc, char **argv) {
    if (argc < 2)
        fail("FILE.ctrace [EVENTS [ROUNDS]]");
    struct chunks chunks = read_chunks(argv[1], argc > 2 ? strtoull(argv[2], NULL, 10) : 12000000);
    const int rounds = argc > 3 ? atoi(argv[3]) : 12;
    struct event_predictor *predictors = calloc(chunks.threads + 1, sizeof *predictors);
    uint64_t *events = malloc((chunks.most + 1) * sizeof *events);
    double code = 1e9, decode = 1e9;
    if (!predictors || !events || !chunks.events)
        fail("no memory, or no events");
    for (int round = 0; round < rounds; round++) {
        const double coding = code_all(&chunks, predictors);
        const double decoding = decode_all(&chunks, predictors, events);
        code = coding < code ? coding : code;
        decode = decoding < decode ? decoding : decode;
    }
    for (size_t i = 0; i < chunks.count; i++) {
        chunks.coded += chunks.items[i].coded_size;
        free(chunks.items[i].events);
        free(chunks.items[i].coded);
    }
    for (uint32_t i = 0; i < chunks.threads; i++)
        event_predictor_free(&predictors[i]);
    const double of = 1e9 / (double)chunks.events;
    printf("%" PRIu64 " events, %.2f of each block, %.2f bytes coded: %.2f ns to code, %.2f ns to "
           "decode\n",
           chunks.events, (double)chunks.events / (double)(chunks.blocks + !chunks.blocks),
           (double)chunks.coded / (double)chunks.events, code * of, decode * of);
    free(chunks.items);
    free(predictors);
    free(events);
}
