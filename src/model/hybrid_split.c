/* See hybrid_split.h. Batches lie in a small ring; one is filled again when its job has run. */
#include "model/hybrid_split.h"

#include <stdlib.h>
#include <string.h>

/* The caches and dependences of a trace with many events take as long as so many configurations. */
enum { TRACE_CONFIGS = 6 };
enum { BATCHES = 8, BATCH_EVENTS = 2048 };

struct batch {
    uint64_t ticket;
    uint32_t count;
    struct data_event events[BATCH_EVENTS];
};

struct hybrid_split {
    struct executor *executor;
    uint32_t away;               /* so many of the configurations, the first, */
    struct hybrid *there, *here; /* are evaluated there; NULL: none */
    struct batch *batches;
    uint64_t next;
};

static uint32_t share_of_second(uint32_t count) {
    return count <= TRACE_CONFIGS ? count : (count + TRACE_CONFIGS + 1) / 2;
}

struct hybrid_split *hybrid_split_new(const struct hybrid_config *configs, uint32_t count,
                                      struct executor *executor, struct error *error) {
    struct hybrid_split *split = calloc(1, sizeof *split);
    if (!split)
        return error_null(error, "out of memory for %u configurations", count);
    split->executor = executor;
    split->away = executor ? share_of_second(count) : 0;
    bool good = true;
    if (executor && !(split->batches = calloc(BATCHES, sizeof *split->batches)))
        good = error_set(error, "out of memory for data events");
    if (good && split->away)
        good = (split->there = hybrid_new(configs, split->away, error)) != NULL;
    if (good && split->away < count)
        good =
            (split->here = hybrid_new(configs + split->away, count - split->away, error)) != NULL;
    if (good)
        return split;
    hybrid_split_free(split);
    return NULL;
}

/* The other processor has seen all events. */
static void wait(struct hybrid_split *split) {
    if (split->next)
        executor_wait(split->executor, split->batches[(split->next - 1) % BATCHES].ticket);
}

void hybrid_split_free(struct hybrid_split *split) {
    if (!split)
        return;
    wait(split);
    hybrid_free(split->there);
    hybrid_free(split->here);
    free(split->batches);
    free(split);
}

static void evaluate(void *context, uint64_t argument) {
    struct hybrid_split *split = context;
    const struct batch *batch = &split->batches[argument];
    hybrid_add(split->there, batch->events, batch->count);
}

static void hand_over(struct hybrid_split *split, const struct data_event *events, uint32_t count) {
    const uint64_t number = split->next++ % BATCHES;
    struct batch *batch = &split->batches[number];
    if (batch->ticket)
        executor_wait(split->executor, batch->ticket);
    memcpy(batch->events, events, count * sizeof *events);
    batch->count = count;
    batch->ticket = executor_submit(split->executor, evaluate, split, number);
}

void hybrid_split_take(void *context, const struct data_event *events, uint32_t count) {
    struct hybrid_split *split = context;
    for (uint32_t i = 0; split->there && i < count; i += BATCH_EVENTS)
        hand_over(split, events + i, count - i < BATCH_EVENTS ? count - i : BATCH_EVENTS);
    if (split->here)
        hybrid_add(split->here, events, count);
}

struct hybrid_result hybrid_split_result(struct hybrid_split *split, uint32_t config) {
    if (config >= split->away)
        return hybrid_result(split->here, config - split->away);
    wait(split);
    return hybrid_result(split->there, config);
}
