/* Inside of this room: what a command or a trace executes, item by item (trace/item.h), for those
 * that count it. */
#pragma once

#include "trace/item.h"
#include "trace/trace.h"
#include "util/watcher.h"

struct run_items {
    const struct capture_options *capture; /* of a command; without addresses. NULL: a trace */
    const char *trace;                     /* then, the file; "-": standard input */
    uint64_t slice_size;                   /* as struct capture_options has it */
    const struct watcher *watcher;         /* told *instructions after each DATA */
    bool (*take)(void *context, const struct item *item); /* false: has failed */
    void *context;
    const uint64_t *instructions; /* so far: kept by take() */
    double *seconds;              /* becomes how long it took until the last item */
};

/* *exec_status as of capture_start(). */
bool run_items_open(const struct run_items *items, struct item_source *source, int *exec_status,
                    struct error *error);
/* To the end; of a trace no further than the watcher lets. The caller closes the source. */
bool run_items_take(const struct run_items *items, struct item_source *source, struct error *error);
