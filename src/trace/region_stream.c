/* Items in an array under the lock of all streams; what they point to does not move. */
#include "trace/region_stream.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "trace/item_own.h"
#include "trace/source.h"
#include "util/array.h"

enum {
    MOST_UNREAD = 32 << 20, /* bytes of events */
    WAIT_NANOSECONDS = 20000000
};

struct region_streams {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    uint64_t unread;     /* bytes of events */
    uint32_t references; /* its owner, and streams */
    bool awaited;        /* a reader waits */
};

struct region_stream {
    struct region_streams *all;
    uint64_t first;
    struct item *items; /* DATA without events: they are gone */
    size_t count, capacity;
    struct arena arena; /* what they point to, but for events */
    size_t at;          /* of the next to read */
    uint64_t unread;    /* bytes of events, of this stream */
    uint32_t passes;    /* begun */
    bool read;          /* the first pass is over */
    bool ended;
    uint32_t references;
};

/* ---- all streams ---- */

struct region_streams *region_streams_new(void) {
    struct region_streams *all = calloc(1, sizeof *all);
    if (!all)
        return NULL;
    pthread_mutex_init(&all->lock, NULL);
    pthread_cond_init(&all->changed, NULL);
    all->references = 1;
    return all;
}

/* Under the lock, which it gives back. */
static void drop_reference(struct region_streams *all) {
    const bool last = --all->references == 0;
    pthread_mutex_unlock(&all->lock);
    if (!last)
        return;
    pthread_mutex_destroy(&all->lock);
    pthread_cond_destroy(&all->changed);
    free(all);
}

void region_streams_free(struct region_streams *streams) {
    if (!streams)
        return;
    pthread_mutex_lock(&streams->lock);
    drop_reference(streams);
}

static bool is_full(const struct region_streams *all) {
    return all->unread > MOST_UNREAD && !all->awaited;
}

bool region_streams_full(struct region_streams *streams) {
    pthread_mutex_lock(&streams->lock);
    const bool full = is_full(streams);
    pthread_mutex_unlock(&streams->lock);
    return full;
}

void region_streams_wait(struct region_streams *streams) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += WAIT_NANOSECONDS;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_mutex_lock(&streams->lock);
    if (is_full(streams))
        pthread_cond_timedwait(&streams->changed, &streams->lock, &until);
    pthread_mutex_unlock(&streams->lock);
}

/* ---- one stream ---- */

struct region_stream *region_stream_new(struct region_streams *streams, uint64_t first) {
    struct region_stream *stream = calloc(1, sizeof *stream);
    if (!stream)
        return NULL;
    stream->all = streams;
    stream->first = first;
    stream->references = 2;
    pthread_mutex_lock(&streams->lock);
    streams->references++;
    pthread_mutex_unlock(&streams->lock);
    return stream;
}

static uint64_t bytes_of(const struct item *item) {
    return item->kind == ITEM_DATA ? item->data.event_count * sizeof *item->data.events : 0;
}

static void free_events(struct item *item) {
    if (item->kind != ITEM_DATA)
        return;
    free((uint64_t *)item->data.events);
    item->data.events = NULL;
}

/* Under the lock, which it gives back: the writer or the reader has left it. */
static void leave(struct region_stream *stream) {
    struct region_streams *all = stream->all;
    if (--stream->references > 0) {
        pthread_mutex_unlock(&all->lock);
        return;
    }
    all->unread -= stream->unread;
    drop_reference(all);
    for (size_t i = 0; i < stream->count; i++)
        free_events(&stream->items[i]);
    free(stream->items);
    arena_free(&stream->arena);
    free(stream);
}

/* ---- writing ---- */

static bool make_room(struct region_stream *stream) {
    pthread_mutex_lock(&stream->all->lock);
    const bool good = array_room(stream->items, stream->capacity, stream->count + 1);
    pthread_mutex_unlock(&stream->all->lock);
    return good;
}

bool region_stream_put(struct region_stream *stream, const struct item *item, struct error *error) {
    struct item copy = *item;
    if (!make_room(stream) || !item_own(&copy, &stream->arena)) {
        free_events(&copy);
        return error_set(error, "out of memory for a region");
    }
    pthread_mutex_lock(&stream->all->lock);
    stream->items[stream->count++] = copy;
    if (!stream->read) {
        stream->unread += bytes_of(&copy);
        stream->all->unread += bytes_of(&copy);
    }
    pthread_cond_broadcast(&stream->all->changed);
    pthread_mutex_unlock(&stream->all->lock);
    return true;
}

void region_stream_end(struct region_stream *stream) {
    if (!stream)
        return;
    pthread_mutex_lock(&stream->all->lock);
    stream->ended = true;
    pthread_cond_broadcast(&stream->all->changed);
    leave(stream);
}

/* ---- reading ---- */

/* The item that was read before is needed no more: the second reader begins with the events of the
 * chunk that ends where the region begins, for its last block is whole with the next chunk. */
static void pass_item(struct region_stream *stream, struct item *item) {
    if (item->kind != ITEM_DATA || !item->data.events ||
        item->data.first_insn + item->data.insn_count >= stream->first)
        return;
    free_events(item);
    item->data.event_count = 0;
}

/* Under the lock. The next item that is there; false: there is none, and none will come. */
static bool find_next(struct region_stream *stream) {
    if (stream->passes == 1 && stream->at > 0)
        pass_item(stream, &stream->items[stream->at - 1]);
    while (stream->at == stream->count && !stream->ended) {
        stream->all->awaited = true;
        pthread_cond_broadcast(&stream->all->changed);
        pthread_cond_wait(&stream->all->changed, &stream->all->lock);
        stream->all->awaited = false;
    }
    return stream->at < stream->count;
}

static int next(void *context, struct item *item, struct error *error) {
    (void)error;
    struct region_stream *stream = context;
    pthread_mutex_lock(&stream->all->lock);
    const bool found = find_next(stream);
    if (found) {
        *item = stream->items[stream->at++];
        if (stream->passes == 1) {
            stream->unread -= bytes_of(item);
            stream->all->unread -= bytes_of(item);
            pthread_cond_broadcast(&stream->all->changed);
        }
    }
    pthread_mutex_unlock(&stream->all->lock);
    return found;
}

/* What the first reader has not read does not wait for it. */
static void close_reader(void *context) {
    struct region_stream *stream = context;
    pthread_mutex_lock(&stream->all->lock);
    stream->all->unread -= stream->unread;
    stream->unread = 0;
    stream->read = true;
    pthread_cond_broadcast(&stream->all->changed);
    pthread_mutex_unlock(&stream->all->lock);
}

struct trace *region_stream_open(struct region_stream *stream, struct error *error) {
    const struct item_source source = {.next = next, .close = close_reader, .context = stream};
    stream->passes++;
    stream->at = 0;
    return trace_from_source(&source, error);
}

void region_stream_leave(struct region_stream *stream) {
    if (!stream)
        return;
    pthread_mutex_lock(&stream->all->lock);
    leave(stream);
}
