/* Reads the items of a live capture once: keeps the definitions of the processes in question, hands
 * each chunk to the traces whose windows it lies in (region_windows.c), and drops the rest
 * undecoded. Before the first window the emulator only counts, and between windows when all regions
 * lie in one thread; when the last region is finished, the command runs on without capture. */
#include "trace/region_capture_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/array.h"

/* ---- definitions ---- */

static bool take_header(struct region_capture *capture, const struct item_header *header,
                        struct error *error) {
    capture->header = *header;
    capture->header.command = strdup(header->command);
    capture->header.host = strdup(header->host);
    return (capture->header.command && capture->header.host) || region_capture_out_of_memory(error);
}

enum { THREAD_NEW = UINT32_MAX, THREAD_OTHER = UINT32_MAX - 1, MAX_THREADS = 1 << 20 };

static bool is_wanted(const struct region_capture *capture, uint32_t process) {
    return any_where(i, capture->windows.count, capture->windows.regions[i].process == process);
}

static bool take_process(struct region_capture *capture, const struct item_process *process,
                         struct error *error) {
    if (!array_room(capture->processes, capture->process_capacity, capture->process_count + 1))
        return region_capture_out_of_memory(error);
    struct kept_process *kept = NULL;
    uint32_t number = capture->options.process_count ? process->known : process->process;
    if (is_wanted(capture, number) && !(kept = kept_process_new(process)))
        return region_capture_out_of_memory(error);
    capture->processes[capture->process_count++] = (struct process_of_run){kept, number};
    return true;
}

static struct kept_process *find_process(const struct region_capture *capture, uint32_t process) {
    return process < capture->process_count ? capture->processes[process].kept : NULL;
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
            return region_capture_changed(image->path, error);
        case CAPTURE_OTHER:
            break;
        }
    struct kept_process *process = find_process(capture, image->process);
    return !process || kept_process_image(process, image) || region_capture_out_of_memory(error);
}

static bool take_code(struct region_capture *capture, const struct item_code *code,
                      struct error *error) {
    struct kept_process *process = find_process(capture, code->process);
    return !process || kept_process_code(process, code) || region_capture_out_of_memory(error);
}

static bool take_python(struct region_capture *capture, const struct item_python *python,
                        struct error *error) {
    struct kept_process *process = find_process(capture, python->process);
    return !process || kept_process_python(process, python) || region_capture_out_of_memory(error);
}

/* ---- regions ---- */

static struct capture_region *region_at(const struct region_capture *capture, size_t number) {
    return &capture->windows.regions[number];
}

/* The regions' thread as it is numbered in this run: it has been met. */
static uint32_t number_in_run(const struct region_capture *capture,
                              const struct region_thread *thread) {
    const size_t i = index_where(k, capture->thread_count, capture->threads[k] == thread->thread);
    return i < capture->thread_count ? (uint32_t)i : thread->thread;
}

/* Once before each region: the pause may be over while chunks from before it are still read. */
static void pause_until_next(struct region_capture *capture) {
    uint64_t until;
    const struct region_thread *thread = region_windows_idle(&capture->windows, &until);
    if (!thread || !capture->source.pause || capture->paused_before == thread->next + 1)
        return;
    capture->paused_before = thread->next + 1;
    capture->source.pause(capture->source.context, number_in_run(capture, thread), until);
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
             ", which are %" PRIu64 " to %" PRIu64 " of thread 0 of this trace",
             region->id, region->found_first, region->found_end, region->thread,
             region_trace_start(region), region_trace_end(region));
    region->trace_threads = region_writer_thread_count(&capture->writers[number]);
    region->others_cut = capture->writers[number].others_cut;
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

static uint64_t most_others(const struct region_capture *capture,
                            const struct capture_region *region) {
    uint64_t most;
    return __builtin_mul_overflow(capture->options.other_threads, region->instructions, &most)
               ? UINT64_MAX
               : most;
}

static bool open_writer(struct region_capture *capture, size_t number,
                        const struct kept_process *process, struct error *error) {
    struct capture_region *region = region_at(capture, number);
    struct region_stream *stream = NULL;
    if (capture->options.streams) {
        if (!(stream = region_stream_new(capture->options.streams, region->first)))
            return region_capture_out_of_memory(error);
        capture->options.streamed(capture->options.context, region, stream);
    }
    return region_writer_open(&capture->writers[number], region->path, capture->options.compress,
                              stream, &capture->header, process, most_others(capture, region),
                              error);
}

/* Whether a chunk is of the region's process; else the region fails. */
static bool is_of_its_process(struct region_capture *capture, size_t number,
                              const struct item_data *data) {
    const struct capture_region *region = region_at(capture, number);
    if (find_process(capture, data->process) &&
        capture->processes[data->process].number == region->process)
        return true;
    region_windows_fail(&capture->windows, number,
                        "thread %" PRIu32 " belongs to process %" PRIu32
                        " in this run, not to %" PRIu32,
                        region->thread, data->process, region->process);
    region_writer_discard(&capture->writers[number]);
    return false;
}

/* With what was held before this chunk. */
static bool open_trace(struct region_capture *capture, const struct region_thread *thread,
                       size_t number, const struct item_data *data, struct error *error) {
    struct region_writer *writer = &capture->writers[number];
    struct capture_region *region = region_at(capture, number);
    const bool told = capture->windows.told;
    return (!told || region_capture_tell_held(capture, thread, region, data, error)) &&
           (region_writer_is_open(writer) ||
            open_writer(capture, number, find_process(capture, data->process), error)) &&
           (!told || region_capture_write_held(capture, thread, region, writer, error));
}

/* Writes a chunk to the trace of one region. */
static bool write_chunk(struct region_capture *capture, size_t number, const struct item_data *data,
                        struct error *error) {
    struct region_writer *writer = &capture->writers[number];
    if (!region_writer_data(writer, data, capture->chunk_events, true, error))
        return false;
    return !region_windows_written(&capture->windows, number,
                                   data->first_insn + data->insn_count) ||
           finish(capture, number, false, error);
}

/* Which of the regions' threads has this place in this process. */
static uint32_t thread_of(const struct region_capture *capture, uint32_t process,
                          uint32_t ordinal) {
    for (size_t i = 0; i < capture->windows.thread_count; i++) {
        const struct region_thread *thread = &capture->windows.threads[i];
        const struct capture_region *region =
            region_at(capture, capture->windows.order[thread->first]);
        if (region->process == process && region->ordinal == ordinal)
            return thread->thread;
    }
    return THREAD_OTHER;
}

/* The regions' thread that the data is of, found out once; NULL: none. */
static struct region_thread *find_thread(struct region_capture *capture,
                                         const struct item_data *data, bool *good) {
    struct region_windows *windows = &capture->windows;
    *good = true;
    if (!capture->options.process_count)
        return region_windows_thread(windows, data->thread);
    while (capture->thread_count <= data->thread) {
        if (!array_room(capture->threads, capture->thread_capacity, capture->thread_count + 1)) {
            *good = false;
            return NULL;
        }
        capture->threads[capture->thread_count++] = THREAD_NEW;
    }
    uint32_t *number = &capture->threads[data->thread];
    if (*number == THREAD_NEW)
        *number = data->process < capture->process_count
                      ? thread_of(capture, capture->processes[data->process].number, data->ordinal)
                      : THREAD_OTHER;
    return region_windows_thread(windows, *number);
}

/* ---- the other threads of a region's process ---- */

/* The next region, from *place on in the order of regions, whose trace holds what other threads of
 * its process execute now; SIZE_MAX: no more. */
static size_t next_shared(struct region_capture *capture, size_t *place) {
    struct region_windows *windows = &capture->windows;
    if (!capture->options.other_threads)
        return SIZE_MAX;
    while (*place < windows->count) {
        const struct region_thread *thread =
            region_windows_thread(windows, region_at(capture, windows->order[*place])->thread);
        size_t at = *place < thread->next ? thread->next : *place;
        const struct capture_region *region =
            at < thread->end ? region_at(capture, windows->order[at]) : NULL;
        if (!region || (region->state == REGION_AWAITED && !region->started)) {
            *place = thread->end; /* later ones are awaited too */
            continue;
        }
        *place = at + 1;
        if (region_writer_is_open(&capture->writers[windows->order[at]]) && !region->ended)
            return windows->order[at];
    }
    return SIZE_MAX;
}

static bool share_data(struct region_capture *capture, const struct item_data *data,
                       uint32_t thread, struct error *error) {
    size_t place = 0, number;
    const struct kept_process *process = find_process(capture, data->process);
    while (process && (number = next_shared(capture, &place)) != SIZE_MAX)
        if (region_at(capture, number)->thread != thread &&
            capture->writers[number].process == process &&
            !region_writer_data(&capture->writers[number], data, capture->chunk_events, false,
                                error))
            return false;
    return true;
}

static bool share_thread_end(struct region_capture *capture, uint32_t in_run, uint32_t thread,
                             struct error *error) {
    size_t place = 0, number;
    while ((number = next_shared(capture, &place)) != SIZE_MAX)
        if (region_at(capture, number)->thread != thread &&
            !region_writer_thread_ended(&capture->writers[number], in_run, error))
            return false;
    return true;
}

/* ---- chunks ---- */

/* An event at the chunk's first instruction is of the last one before it, which may lie in the
 * trace too; it came after that one's chunk. */
static bool take_events(struct region_capture *capture, const struct item_data *data) {
    size_t count = 0;
    struct thread_event event;
    while (event_queue_take_within(&capture->events, data->thread, data->first_insn,
                                   data->first_insn + data->insn_count, &event))
        if (!array_push(capture->taken, capture->taken_capacity, count, event))
            return false;
    capture->chunk_events = (struct chunk_events){capture->taken, count};
    return true;
}

static bool take_event(struct region_capture *capture, const struct thread_event *event,
                       struct error *error) {
    bool many = event->thread >= MAX_THREADS ||
                (event->other >= MAX_THREADS && event->other != THREAD_EVENT_NO_THREAD);
    return many || event_queue_add(&capture->events, event, true, error);
}

static bool take_data(struct region_capture *capture, const struct item_data *data,
                      struct error *error) {
    struct region_windows *windows = &capture->windows;
    bool good;
    if (!take_events(capture, data))
        return region_capture_out_of_memory(error);
    struct region_thread *thread = find_thread(capture, data, &good);
    if (!good)
        return region_capture_out_of_memory(error);
    if (!share_data(capture, data, thread ? thread->thread : THREAD_OTHER, error))
        return false;
    uint64_t last = data->first_insn + data->insn_count;
    capture->progress.instructions += data->insn_count;
    if (!thread)
        return true;
    thread->seen = true;
    thread->position = last;
    bool held = false;
    for (size_t i = thread->next; i < thread->end; i++) {
        size_t number = windows->order[i];
        enum window window = region_windows_judge(windows, number, data->first_insn, last);
        if (window == WINDOW_LATER)
            break;
        if (window == WINDOW_PASS)
            region_writer_discard(&capture->writers[number]);
        if (window == WINDOW_PASS || !is_of_its_process(capture, number, data))
            continue;
        held |= window == WINDOW_HOLD;
        if ((window == WINDOW_OPEN && !open_trace(capture, thread, number, data, error)) ||
            (window != WINDOW_HOLD && !write_chunk(capture, number, data, error)))
            return false;
    }
    if (!held)
        region_capture_hold_nothing(capture, thread);
    else if (!region_capture_hold(capture, thread, data, error))
        return false;
    go_on(capture, thread);
    return true;
}

static bool take_thread_end(struct region_capture *capture, uint32_t number, struct error *error) {
    struct region_windows *windows = &capture->windows;
    uint32_t in_run = number;
    if (capture->options.process_count)
        number = number < capture->thread_count ? capture->threads[number] : THREAD_OTHER;
    struct region_thread *thread = region_windows_thread(windows, number);
    /* When nothing more is wanted of the command, its threads seem to end. */
    if (capture->enough || capture->interrupted)
        return true;
    if (!share_thread_end(capture, in_run, number, error))
        return false;
    if (!thread)
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

/* The process of this run that the region lies in; NULL: it has not begun. */
static const struct kept_process *process_of(const struct region_capture *capture,
                                             const struct capture_region *region) {
    const size_t i =
        index_where(k, capture->process_count,
                    capture->processes[k].kept && capture->processes[k].number == region->process);
    return i < capture->process_count ? capture->processes[i].kept : NULL;
}

/* What other threads execute from here on belongs into the region's trace, also when it is to begin
 * with the chunk of its own thread that is still to come. */
static bool start_region(struct region_capture *capture, size_t number, uint64_t position,
                         struct error *error) {
    struct capture_region *region = region_at(capture, number);
    struct region_writer *writer = &capture->writers[number];
    const struct kept_process *process = process_of(capture, region);
    region_windows_started(&capture->windows, number, position);
    bool early = capture->options.other_threads && region->state == REGION_AWAITED && process &&
                 !region_writer_is_open(writer) && capture->windows.open < REGION_CAPTURE_MAX_OPEN;
    if (early && !open_writer(capture, number, process, error))
        return false;
    if (region_writer_is_open(writer))
        region_writer_start(writer);
    return true;
}

static bool take_marker(struct region_capture *capture, const struct item_marker *marker,
                        struct error *error) {
    uint32_t marked = capture->marked[marker->marker];
    if (marked & 1)
        region_windows_ended(&capture->windows, marked / 2, marker->position);
    else if (!region_at(capture, marked / 2)->started)
        return start_region(capture, marked / 2, marker->position, error);
    return true;
}

/* Whether all regions lie in this process: else the same address may be code of several. */
static bool is_only(const struct region_capture *capture, uint32_t process) {
    const struct region_windows *windows = &capture->windows;
    if (process >= capture->process_count)
        return false;
    return !any_where(i, windows->count,
                      windows->regions[i].process != capture->processes[process].number) &&
           windows->count > 0;
}

/* The regions' traces are closed by now. */
static bool take_symbols(struct region_capture *capture, const struct item_symbols *symbols,
                         struct error *error) {
    if (capture->symbols || !is_only(capture, symbols->process))
        return true;
    capture->symbols = calloc(symbols->count + 1, sizeof *capture->symbols);
    bool good = capture->symbols;
    for (uint32_t i = 0; good && i < symbols->count; i++) {
        const struct code_symbol *symbol = &symbols->symbols[i];
        const char *name = arena_copy(&capture->names, symbol->name, strlen(symbol->name));
        capture->symbols[capture->symbol_count++] =
            (struct code_symbol){symbol->start, symbol->size, name};
        good = name;
    }
    return good || error_set(error, "out of memory for the names of code");
}

const struct code_symbol *region_capture_symbols(const struct region_capture *capture,
                                                 size_t *count) {
    *count = capture->symbol_count;
    return capture->symbols;
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
    case ITEM_THREAD_EVENT:
        return take_event(capture, &item->event, error);
    case ITEM_THREAD_END:
        return take_thread_end(capture, item->thread_ended, error);
    case ITEM_MARKER:
        return take_marker(capture, &item->marker, error);
    case ITEM_PYTHON:
        return take_python(capture, &item->python, error);
    case ITEM_SYMBOLS:
        return take_symbols(capture, &item->symbols, error);
    case ITEM_END:
        capture->exit = item->end;
        return true;
    default:
        return true;
    }
}

/* ---- the run ---- */

static bool has_process(const struct region_capture *capture, uint32_t number) {
    return any_where(i, capture->process_count, capture->processes[i].number == number);
}

/* Fails the regions that are not complete. */
static void give_up(struct region_capture *capture, const char *why) {
    struct region_windows *windows = &capture->windows;
    const struct region_capture_options *options = &capture->options;
    for (size_t i = 0; i < windows->count; i++) {
        uint32_t process = windows->regions[i].process;
        if (why)
            region_windows_fail(windows, i, "%s", why);
        else if (process < options->process_count && !has_process(capture, process))
            region_windows_fail(windows, i, "its process (%.200s) was not started",
                                options->processes[process].command);
        else
            region_windows_command_ended(windows, i);
        region_writer_discard(&capture->writers[i]);
    }
}

static bool foreign_list(const struct region_capture *capture, struct error *error) {
    const char *list_command = capture->options.list_command;
    return error_set(
        error,
        "none of the files that the regions lie in (%.200s%s) is used by the command (%.200s): the "
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
