#include "trace/trace_twice.h"

#include <stdlib.h>
#include <string.h>

#include "trace/decode.h"
#include "trace/item_own.h"
#include "trace/source.h"
#include "util/array.h"

struct trace_twice {
    struct item_source file;
    int only;
    uint64_t before;    /* instructions that come before what the second reader looks at */
    struct item *items; /* that the first got */
    size_t count, capacity;
    size_t at; /* of the next that the second gets */
    struct arena arena;
    uint32_t readers; /* so far */
    bool ended;       /* the file */
};

static void free_events(struct item *item) {
    if (item->kind != ITEM_DATA)
        return;
    free((uint64_t *)item->data.events);
    item->data.events = NULL;
}

/* ---- the first reader ---- */

/* Whether the second reader looks at a chunk, in the order of the file. */
static bool is_read_again(struct trace_twice *twice, const struct item_data *data) {
    if (twice->only >= 0 && data->thread != (uint32_t)twice->only)
        return false;
    const bool passed = decoder_passes(data->insn_count, twice->before);
    twice->before -= data->insn_count < twice->before ? data->insn_count : twice->before;
    return !passed;
}

static bool keep_events(struct trace_twice *twice, struct item_data *data) {
    const uint64_t *events = data->events;
    const size_t size = data->event_count * sizeof *events;
    data->events = NULL;
    if (!is_read_again(twice, data)) {
        data->event_count = 0;
        return true;
    }
    uint64_t *copy = malloc(size + 1);
    if (copy && size)
        memcpy(copy, events, size);
    return (data->events = copy);
}

static bool keep(struct trace_twice *twice, const struct item *item, struct error *error) {
    struct item copy = *item;
    if ((copy.kind == ITEM_DATA ? keep_events(twice, &copy.data)
                                : item_own(&copy, &twice->arena)) &&
        array_push(twice->items, twice->capacity, twice->count, copy))
        return true;
    free_events(&copy);
    return error_set(error, "out of memory for a trace");
}

/* ---- both ---- */

static int next_of_file(struct trace_twice *twice, struct item *item, struct error *error) {
    if (twice->ended)
        return 0;
    const int status = twice->file.next(twice->file.context, item, error);
    twice->ended = status <= 0;
    return status;
}

static int next(void *context, struct item *item, struct error *error) {
    struct trace_twice *twice = context;
    if (twice->readers == 1) {
        const int status = next_of_file(twice, item, error);
        return status > 0 && !keep(twice, item, error) ? -1 : status;
    }
    if (twice->at > 0)
        free_events(&twice->items[twice->at - 1]);
    if (twice->at == twice->count)
        return next_of_file(twice, item, error);
    *item = twice->items[twice->at++];
    return 1;
}

static void where(void *context, char *text, size_t text_size) {
    const struct trace_twice *twice = context;
    if (text_size)
        *text = 0;
    if (twice->file.where)
        twice->file.where(twice->file.context, text, text_size);
}

/* The file stays open. */
static void close_reader(void *context) {
    (void)context;
}

struct trace_twice *trace_twice_new(const char *path, int only, uint64_t from,
                                    struct error *error) {
    struct trace_twice *twice = calloc(1, sizeof *twice);
    if (!twice)
        return error_null(error, "out of memory reading trace %s", path);
    twice->only = only;
    twice->before = from;
    if (file_source_open(path, &twice->file, error))
        return twice;
    free(twice);
    return NULL;
}

struct trace *trace_twice_open(struct trace_twice *twice, struct error *error) {
    const struct item_source source = {
        .next = next, .where = where, .close = close_reader, .context = twice};
    twice->readers++;
    return trace_from_source(&source, error);
}

void trace_twice_free(struct trace_twice *twice) {
    if (!twice)
        return;
    twice->file.close(twice->file.context);
    for (size_t i = 0; i < twice->count; i++)
        free_events(&twice->items[i]);
    free(twice->items);
    arena_free(&twice->arena);
    free(twice);
}
