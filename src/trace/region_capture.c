/* Reads the items of a live capture once: keeps the definitions of the processes in question, hands
 * each chunk to the traces whose windows it lies in (region_windows.c), and drops the rest
 * undecoded. Before the first window the emulator only counts, and between windows when all regions
 * lie in one thread; when the last region is finished, the command runs on without capture. */
#include "trace/region_capture.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program/elf_image.h"
#include "trace/item.h"
#include "trace/region_source.h"
#include "trace/region_windows.h"
#include "trace/region_writer.h"
#include "util/array.h"

enum { LEAST_SKIP = 1000000 }; /* instructions: fewer are captured for nothing, but at once */

struct region_capture {
    struct region_capture_options options;
    struct item_source source;
    bool started;
    struct region_windows windows;
    struct region_writer *writers; /* by region */
    struct capture_marker *markers;
    uint32_t *marked; /* by marker: 2 × region, and 1 for its end */

    struct item_header header;       /* strings owned */
    struct kept_process **processes; /* by number; NULL: no region lies in it */
    size_t process_count, process_capacity;
    bool image_seen; /* one that a marker lies in was mapped */
    bool enough;
    size_t paused_before; /* 1 more than the place of the region that the last pause ends before */
    volatile sig_atomic_t interrupted;
    struct trace_exit exit;
    struct region_capture_progress progress;
};

static bool out_of_memory(struct error *error) {
    return error_set(error, "out of memory while capturing regions");
}

/* ---- definitions ---- */

static bool take_header(struct region_capture *capture, const struct item_header *header,
                        struct error *error) {
    capture->header = *header;
    capture->header.command = strdup(header->command);
    capture->header.host = strdup(header->host);
    return (capture->header.command && capture->header.host) || out_of_memory(error);
}

static bool is_wanted(const struct region_capture *capture, uint32_t process) {
    for (size_t i = 0; i < capture->windows.count; i++)
        if (capture->windows.regions[i].process == process)
            return true;
    return false;
}

static bool take_process(struct region_capture *capture, const struct item_process *process,
                         struct error *error) {
    if (!array_reserve((void **)&capture->processes, &capture->process_capacity,
                       capture->process_count + 1, sizeof *capture->processes))
        return out_of_memory(error);
    struct kept_process *kept = NULL;
    if (is_wanted(capture, process->process) && !(kept = kept_process_new(process)))
        return out_of_memory(error);
    capture->processes[capture->process_count++] = kept;
    return true;
}

static struct kept_process *find_process(const struct region_capture *capture, uint32_t process) {
    return process < capture->process_count ? capture->processes[process] : NULL;
}

static bool changed(const char *path, struct error *error) {
    return error_set(error,
                     "%s is another file than the one that the regions were chosen in (its build "
                     "id differs): profile the command again",
                     path);
}

static bool take_image(struct region_capture *capture, const struct item_image *image,
                       struct error *error) {
    const struct region_capture_options *options = &capture->options;
    for (size_t i = 0; i < options->image_count; i++)
        switch (capture_image_match(&options->images[i], image->path, image->build_id,
                                    image->build_id_size)) {
        case CAPTURE_SAME:
            capture->image_seen = true;
            break;
        case CAPTURE_CHANGED:
            return changed(image->path, error);
        case CAPTURE_OTHER:
            break;
        }
    struct kept_process *process = find_process(capture, image->process);
    return !process || kept_process_image(process, image) || out_of_memory(error);
}

static bool take_code(struct region_capture *capture, const struct item_code *code,
                      struct error *error) {
    struct kept_process *process = find_process(capture, code->process);
    return !process || kept_process_code(process, code) || out_of_memory(error);
}

/* ---- regions ---- */

static struct capture_region *region_at(const struct region_capture *capture, size_t number) {
    return &capture->windows.regions[number];
}

/* Once before each region: the pause may be over while chunks from before it are still read. */
static void pause_until_next(struct region_capture *capture) {
    uint64_t until;
    const struct region_thread *thread = region_windows_idle(&capture->windows, &until);
    if (!thread || !capture->source.pause || capture->paused_before == thread->next + 1)
        return;
    capture->paused_before = thread->next + 1;
    capture->source.pause(capture->source.context, thread->thread, until);
}

/* A region is finished: none of its thread before the next unfinished one is looked at again. */
static void go_on(struct region_capture *capture, struct region_thread *thread) {
    const struct region_windows *windows = &capture->windows;
    while (thread->next < thread->end &&
           region_is_finished(region_at(capture, windows->order[thread->next])))
        thread->next++;
    if (windows->complete + windows->failed < windows->count) {
        pause_until_next(capture);
    } else if (!capture->enough) {
        capture->enough = true;
        if (capture->source.enough)
            capture->source.enough(capture->source.context);
    }
}

static bool finish(struct region_capture *capture, size_t number, bool thread_ended,
                   struct error *error) {
    struct capture_region *region = region_at(capture, number);
    char note[512];
    snprintf(note, sizeof note,
             "region %" PRIu32 ": instructions %" PRIu64 " to %" PRIu64 " of thread %" PRIu32
             ", which are %" PRIu64 " to %" PRIu64 " of this trace",
             region->id, region->found_first, region->found_end, region->thread,
             region_trace_start(region), region_trace_end(region));
    if (!region_writer_close(&capture->writers[number], note, thread_ended, &region->bytes,
                             error)) {
        region->state = REGION_FAILED;
        snprintf(region->failure, sizeof region->failure, "%.300s", error->message);
        capture->windows.complete--;
        capture->windows.failed++;
        return false;
    }
    if (capture->options.complete)
        capture->options.complete(capture->options.context, region);
    return true;
}

/* Writes a chunk to the trace of one region. */
static bool write_chunk(struct region_capture *capture, size_t number, bool open,
                        const struct item_data *data, struct error *error) {
    struct region_writer *writer = &capture->writers[number];
    const struct capture_region *region = region_at(capture, number);
    struct kept_process *process = find_process(capture, data->process);
    if (data->process != region->process || !process) {
        region_windows_fail(&capture->windows, number,
                            "thread %" PRIu32 " belongs to process %" PRIu32
                            " in this run, not to %" PRIu32,
                            region->thread, data->process, region->process);
        region_writer_discard(writer);
        return true;
    }
    if (open && !region_writer_open(writer, region->path, capture->options.compress,
                                    &capture->header, process, error))
        return false;
    if (!region_writer_data(writer, data, error))
        return false;
    return !region_windows_written(&capture->windows, number,
                                   data->first_insn + data->insn_count) ||
           finish(capture, number, false, error);
}

static bool take_data(struct region_capture *capture, const struct item_data *data,
                      struct error *error) {
    struct region_windows *windows = &capture->windows;
    struct region_thread *thread = region_windows_thread(windows, data->thread);
    uint64_t last = data->first_insn + data->insn_count;
    capture->progress.instructions += data->insn_count;
    if (!thread)
        return true;
    thread->seen = true;
    thread->position = last;
    for (size_t i = thread->next; i < thread->end; i++) {
        size_t number = windows->order[i];
        enum window window = region_windows_judge(windows, number, data->first_insn, last);
        if (window == WINDOW_LATER)
            break;
        if (window == WINDOW_PASS)
            region_writer_discard(&capture->writers[number]);
        else if (!write_chunk(capture, number, window == WINDOW_OPEN, data, error))
            return false;
    }
    go_on(capture, thread);
    return true;
}

static bool take_thread_end(struct region_capture *capture, uint32_t number, struct error *error) {
    struct region_windows *windows = &capture->windows;
    struct region_thread *thread = region_windows_thread(windows, number);
    /* When nothing more is wanted of the command, its threads seem to end. */
    if (!thread || capture->enough || capture->interrupted)
        return true;
    for (size_t i = thread->next; i < thread->end; i++) {
        size_t region = windows->order[i];
        if (!region_windows_thread_ended(windows, region))
            region_writer_discard(&capture->writers[region]);
        else if (!finish(capture, region, true, error))
            return false;
    }
    go_on(capture, thread);
    return true;
}

static void take_marker(struct region_capture *capture, const struct item_marker *marker) {
    uint32_t marked = capture->marked[marker->marker];
    if (marked & 1)
        region_windows_ended(&capture->windows, marked / 2, marker->position);
    else
        region_windows_started(&capture->windows, marked / 2, marker->position);
}

static bool take_item(struct region_capture *capture, const struct item *item,
                      struct error *error) {
    switch (item->kind) {
    case ITEM_HEADER:
        return take_header(capture, &item->header, error);
    case ITEM_PROCESS:
        return take_process(capture, &item->process, error);
    case ITEM_IMAGE:
        return take_image(capture, &item->image, error);
    case ITEM_CODE:
        return take_code(capture, &item->code, error);
    case ITEM_DATA:
        return take_data(capture, &item->data, error);
    case ITEM_THREAD_END:
        return take_thread_end(capture, item->thread_ended, error);
    case ITEM_MARKER:
        take_marker(capture, &item->marker);
        return true;
    case ITEM_END:
        capture->exit = item->end;
        return true;
    default:
        return true;
    }
}

/* ---- the run ---- */

/* What is not complete will not be. */
static void give_up(struct region_capture *capture, const char *why) {
    struct region_windows *windows = &capture->windows;
    for (size_t i = 0; i < windows->count; i++) {
        if (why)
            region_windows_fail(windows, i, "%s", why);
        else
            region_windows_command_ended(windows, i);
        region_writer_discard(&capture->writers[i]);
    }
}

static bool foreign_list(const struct region_capture *capture, struct error *error) {
    const char *list_command = capture->options.list_command;
    return error_set(
        error,
        "none of the files that the regions lie in (%.200s%s) is used by '%.200s': the "
        "list is of another command%s%.200s",
        capture->options.images[0].path, capture->options.image_count > 1 ? ", ..." : "",
        capture->header.command, list_command ? ": " : "", list_command ? list_command : "");
}

static bool say_what_failed(const struct region_capture *capture, struct error *error) {
    const struct region_windows *windows = &capture->windows;
    size_t first = 0;
    if (!windows->failed)
        return true;
    if (!capture->image_seen && capture->options.image_count && !capture->interrupted)
        return foreign_list(capture, error);
    while (region_at(capture, first)->state != REGION_FAILED)
        first++;
    const struct capture_region *region = region_at(capture, first);
    return error_set(error, "region %" PRIu32 ": %s (%zu of %zu regions are complete)", region->id,
                     region->failure, windows->complete, windows->count);
}

bool region_capture_run(struct region_capture *capture, struct error *error) {
    struct item item;
    int status;
    struct error failure = {0};
    while ((status = capture->source.next(capture->source.context, &item, &failure)) > 0) {
        if (!take_item(capture, &item, &failure)) {
            status = -1;
            break;
        }
        capture->progress.complete = capture->windows.complete;
        capture->progress.failed = capture->windows.failed;
        if (capture->options.progress)
            capture->options.progress(capture->options.context, &capture->progress);
    }
    if (status < 0 && capture->source.enough)
        capture->source.enough(capture->source.context);
    give_up(capture, status < 0             ? failure.message
                     : capture->interrupted ? "the capture was interrupted"
                                            : NULL);
    if (status >= 0)
        return say_what_failed(capture, error);
    *error = failure;
    return false;
}

void region_capture_interrupt(struct region_capture *capture) {
    capture->interrupted = 1;
    if (capture->started && capture->source.interrupt)
        capture->source.interrupt(capture->source.context);
}

struct trace_exit region_capture_exit(const struct region_capture *capture) {
    return capture->exit;
}

/* ---- beginning and end ---- */

/* A file that is there under an image's path, but with another build id. */
static bool check_files(const struct region_capture_options *options, struct error *error) {
    for (size_t i = 0; i < options->image_count; i++) {
        const struct capture_image *image = &options->images[i];
        struct elf_image file = {0};
        struct error ignored;
        if (*image->path != '/' || !elf_image_open(&file, image->path, &ignored))
            continue;
        uint8_t id[sizeof image->build_id] = {0};
        size_t size = file.build_id_size < sizeof id ? file.build_id_size : sizeof id;
        memcpy(id, file.build_id, size);
        elf_image_close(&file);
        if (capture_image_match(image, image->path, id, (uint8_t)size) == CAPTURE_CHANGED)
            return changed(image->path, error);
    }
    return true;
}

static bool list_markers(struct region_capture *capture, struct capture_markers *markers,
                         struct error *error) {
    const struct region_windows *windows = &capture->windows;
    capture->markers = calloc(2 * windows->count + 1, sizeof *capture->markers);
    capture->marked = calloc(2 * windows->count + 1, sizeof *capture->marked);
    if (!capture->markers || !capture->marked)
        return out_of_memory(error);
    *markers = (struct capture_markers){.images = capture->options.images,
                                        .image_count = capture->options.image_count,
                                        .markers = capture->markers};
    for (size_t i = 0; i < 2 * windows->count; i++) {
        const struct capture_region *region = &windows->regions[i / 2];
        const struct capture_marker *marker = i % 2 ? &region->end : &region->start;
        if (!marker->count && i % 2 == 0)
            return error_set(error,
                             "region %" PRIu32 " has no markers (its profile had no file of "
                             "slices): it cannot be found in a run",
                             region->id);
        if (!marker->count)
            continue;
        capture->marked[markers->count] = (uint32_t)i;
        capture->markers[markers->count] = *marker;
        capture->markers[markers->count++].thread = region->thread;
    }
    return true;
}

static bool prepare(struct region_capture *capture, struct capture_region *regions, size_t count,
                    struct capture_markers *markers, struct error *error) {
    if (count < 1 || count > REGION_CAPTURE_MAX)
        return error_set(error, "%zu regions: 1 to %d can be captured at once", count,
                         REGION_CAPTURE_MAX);
    for (size_t i = 0; i < count; i++) {
        regions[i].state = REGION_AWAITED;
        regions[i].started = regions[i].ended = false;
        regions[i].failure[0] = 0;
    }
    capture->windows = (struct region_windows){.regions = regions,
                                               .count = count,
                                               .images = capture->options.images,
                                               .image_count = capture->options.image_count,
                                               .warm_up = capture->options.warm_up};
    capture->writers = calloc(count, sizeof *capture->writers);
    return capture->writers ? region_windows_init(&capture->windows, error) &&
                                  list_markers(capture, markers, error)
                            : out_of_memory(error);
}

static struct region_capture *begin(const struct region_capture_options *options,
                                    struct capture_region *regions, size_t count,
                                    struct capture_markers *markers, struct error *error) {
    struct region_capture *capture = calloc(1, sizeof *capture);
    if (!capture) {
        out_of_memory(error);
        return NULL;
    }
    capture->options = *options;
    if (prepare(capture, regions, count, markers, error))
        return capture;
    region_capture_close(capture);
    return NULL;
}

struct region_capture *region_capture_from(const struct region_capture_options *options,
                                           struct capture_region *regions, size_t count,
                                           const struct item_source *source, struct error *error) {
    struct capture_markers markers;
    struct region_capture *capture = begin(options, regions, count, &markers, error);
    if (!capture) {
        source->close(source->context);
        return NULL;
    }
    capture->source = *source;
    capture->started = true;
    return capture;
}

struct region_capture *region_capture_start(const struct region_capture_options *options,
                                            struct capture_region *regions, size_t count,
                                            int *exec_status, struct error *error) {
    struct capture_markers markers;
    *exec_status = 125;
    if (!check_files(options, error))
        return NULL;
    struct region_capture *capture = begin(options, regions, count, &markers, error);
    if (!capture)
        return NULL;
    struct capture_options what = options->capture;
    uint64_t skip = region_windows_skip(&capture->windows);
    what.skip = skip < LEAST_SKIP ? 0 : skip;
    what.addresses = true;
    what.limit = 0;
    what.from_symbol = NULL;
    what.thread = -1;
    what.markers = &markers;
    capture->progress.instructions = what.skip;
    if (capture_start(&what, &capture->source, exec_status, error)) {
        capture->started = true;
        return capture;
    }
    region_capture_close(capture);
    return NULL;
}

void region_capture_close(struct region_capture *capture) {
    if (!capture)
        return;
    if (capture->started)
        capture->source.close(capture->source.context);
    for (size_t i = 0; capture->writers && i < capture->windows.count; i++)
        region_writer_discard(&capture->writers[i]);
    for (size_t i = 0; i < capture->process_count; i++)
        kept_process_free(capture->processes[i]);
    free(capture->processes);
    free(capture->writers);
    free(capture->markers);
    free(capture->marked);
    free((char *)capture->header.command);
    free((char *)capture->header.host);
    region_windows_free(&capture->windows);
    free(capture);
}
