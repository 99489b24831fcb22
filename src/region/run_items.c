#include "region/run_items.h"

#include "util/clock.h"

bool run_items_open(const struct run_items *items, struct item_source *source, int *exec_status,
                    struct error *error) {
    if (!items->capture)
        return file_source_open(items->trace, source, error);
    struct capture_options capture = *items->capture;
    capture.addresses = false;
    capture.stop = items->watcher->stop;
    capture.slice_size = items->slice_size;
    return capture_start(&capture, source, exec_status, error);
}

bool run_items_take(const struct run_items *items, struct item_source *source,
                    struct error *error) {
    const double start = clock_monotonic();
    for (;;) {
        struct item item;
        const int status = source->next(source->context, &item, error);
        if (status <= 0)
            return status == 0;
        if (!items->take(items->context, &item)) {
            if (source->interrupt)
                source->interrupt(source->context);
            return false;
        }
        *items->seconds = clock_monotonic() - start;
        if (!items->capture && watcher_stops(items->watcher))
            return true;
        if (item.kind == ITEM_DATA)
            watcher_tell(items->watcher, *items->instructions);
    }
}
