/* Into a file: items go from the running command, or from a trace of another tool, straight to the
 * writer, undecoded. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "trace/convert.h"
#include "trace/item.h"
#include "trace/source.h"
#include "trace/trace.h"
#include "util/clock.h"
#include "util/file_name.h"
#include "util/text.h"

enum { PROGRESS_INTERVAL_MS = 100 };

static void count_item(struct capture_result *result, const struct item *item) {
    switch (item->kind) {
    case ITEM_PROCESS:
        result->processes++;
        break;
    case ITEM_DATA:
        result->instructions += item->data.insn_count;
        result->events += item->data.event_count;
        if (item->data.thread >= result->threads)
            result->threads = item->data.thread + 1;
        break;
    case ITEM_EFFECT:
        snprintf(result->effect, sizeof result->effect, "%s", item->effect.what);
        break;
    case ITEM_END:
        result->exit = item->end;
        break;
    case ITEM_CUT:
        result->cut = true;
        break;
    default:
        break;
    }
}

/* Who reads the file later did not give the limit (0: none). */
static bool note_limit(struct file_writer *writer, const struct capture_result *result,
                       uint64_t limit, struct error *error) {
    char text[160];
    if (!limit || result->instructions < limit)
        return true;
    snprintf(text, sizeof text,
             "the capture ended at its limit of %s instruction%s (--limit): what the program did "
             "then is not in the trace",
             text_grouped(limit).s, text_plural(limit));
    const struct item item = {.kind = ITEM_NOTE, .note = text};
    return file_writer_put(writer, &item, error);
}

static bool write_item(struct file_writer *writer, const struct item *item, struct error *error) {
    return item->kind == ITEM_EFFECT || item->kind == ITEM_CHILD ||
           file_writer_put(writer, item, error);
}

/* All items of the source, which it closes, into the writer, which it closes. */
static bool drain(struct item_source source, struct file_writer *writer, const char *path,
                  uint64_t limit, const struct watcher *watcher, struct capture_result *result,
                  struct error *error) {
    struct error ignored;
    double start = clock_monotonic(), reported = start;
    struct item item;
    int status = 0;
    bool written = true;
    while (!watcher_stops(watcher) && (status = source.next(source.context, &item, error)) > 0) {
        count_item(result, &item);
        written = (item.kind != ITEM_END || note_limit(writer, result, limit, error)) &&
                  write_item(writer, &item, error);
        if (!written)
            break;
        double now = clock_monotonic();
        result->seconds = now - start;
        result->bytes = file_writer_bytes(writer);
        if (now - reported >= PROGRESS_INTERVAL_MS / 1e3) {
            reported = now;
            watcher_tell(watcher, result->instructions);
        }
    }
    if (status > 0 && source.interrupt)
        source.interrupt(source.context);
    source.close(source.context);
    bool good = (status == 0 || watcher_stops(watcher)) && written;
    bool closed = file_writer_close(writer, &result->bytes, good ? error : &ignored);
    if (!result->instructions && result->bytes && strcmp(path, "-") != 0)
        file_remove_regular(path); /* of no use */
    result->seconds = clock_monotonic() - start;
    return good && closed;
}

bool trace_record(const struct capture_options *options, const char *path, bool compress,
                  const struct watcher *watcher, struct capture_result *result, int *exec_status,
                  struct error *error) {
    const struct watcher told = {watcher->progress, watcher->context, NULL};
    *result = (struct capture_result){0};
    struct file_writer *writer = file_writer_open(path, compress, error);
    if (!writer)
        return false;
    struct item_source source = {0};
    struct error ignored;
    if (!capture_start(options, &source, exec_status, error)) {
        file_writer_close(writer, NULL, &ignored);
        return false;
    }
    return drain(source, writer, path, options->limit, &told, result, error);
}

bool trace_import(const char *from, const char *path, bool compress, const struct watcher *watcher,
                  struct capture_result *result, struct error *error) {
    *result = (struct capture_result){0};
    struct item_source source = {0};
    if (!file_source_open(from, &source, error))
        return false;
    struct file_writer *writer = file_writer_open(path, compress, error);
    if (!writer) {
        source.close(source.context);
        return false;
    }
    return drain(source, writer, path, 0, watcher, result, error);
}

static struct trace *open_to_check(const char *path, enum check_depth depth, struct error *error) {
    struct item_source source = {0};
    const bool open = depth == CHECK_ALL ? file_source_open(path, &source, error)
                                         : file_source_open_parts(path, &source, error);
    return open ? trace_from_source(&source, error) : NULL;
}

bool trace_check(const char *path, enum check_depth depth, bool may_be_cut,
                 const struct watcher *watcher, struct error *error) {
    struct trace *trace = open_to_check(path, depth, error);
    struct trace_batch batch;
    uint64_t instructions = 0;
    int status = trace ? 1 : -1;
    while (status > 0 && !watcher_stops(watcher) &&
           (status = trace_next(trace, &batch, error)) > 0) {
        instructions += batch.insn_count + batch.passed;
        watcher_tell(watcher, instructions);
    }
    const bool cut = status == 0 && !may_be_cut && trace_is_cut(trace);
    trace_close(trace);
    return cut ? error_set(error, "%s is cut short after %" PRIu64 " instruction%s", path,
                           instructions, text_plural(instructions))
               : status >= 0;
}
