/* What the files of the collector share: collector.c (events on processors), collector_load.c (the
 * BPF program), collector_drain.c, collector_periods.c. */
#pragma once

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <pthread.h>

#include "live/bpf/table.h"
#include "live/collector.h"

/* An event on a processor. */
struct collector_counter {
    struct bpf_link *link; /* NULL: the processor is off line; owns the descriptor */
    int descriptor;
};

struct collector {
    struct live_event events[LIVE_EVENTS_MAX];
    size_t event_count;
    bool empty;
    struct table_configuration configuration;

    struct bpf_object *object;
    struct bpf_program *program;
    int buckets, places, overflow, wake; /* descriptors of maps; owned by the object */
    struct ring_buffer *announcements, *wakes;
    struct table_state *states;        /* mapped; [processors] */
    struct table_announced *announced; /* mapped; [processors] */
    size_t states_bytes, announced_bytes;
    int barrier; /* a map of maps, see collector_drain.c */

    uint32_t half; /* which every processor fills */

    /* [event][processor]; the lock is for links, between drain and the thread of periods. */
    struct collector_counter *counters;
    pthread_mutex_t lock;
    pthread_cond_t stop;
    bool stopping, thread_started;
    pthread_t periods;

    const struct live_sink *sink; /* of the drain that goes on */
    int64_t drained, now;         /* ns since 1970: the last drain, and this one */
    struct error *error;
};

/* The compiled program (collector_object.c). */
const void *collector_object(size_t *size);

/* Loads the program and maps its tables. */
bool collector_load(struct collector *collector, struct error *error);
void collector_unload(struct collector *collector);

/* Opens events on processors that have come on line, closes them on those that have gone. */
bool collector_follow_processors(struct collector *collector, struct error *error);

/* Receives announcements (libbpf's callback; `context`: the collector). */
int collector_announced(void *context, void *data, size_t size);

/* Starts and stops the thread that draws new periods. */
bool collector_start_periods(struct collector *collector, struct error *error);
void collector_stop_periods(struct collector *collector);
